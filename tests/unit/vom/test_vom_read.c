/* SPDX-License-Identifier: BSD-3-Clause */
/* <hpcw/vom_read.h>: records that are read equal the file's, and can be written again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hpcw/vom_read.h>

#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "tests/support/files.h"
#include "tests/support/vom_again.h"
#include "tests/support/vom_image.h"

/* The amount of memory in use is queried differently between systems. */
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 33)
#define KNOWS_USE
#include <malloc.h>
#endif
#endif

static char path[300];

/* Writes a text to the scratch directory, and sets `path` to its name. */
static void put(unsigned rank, const char *text, bool compressed) {
    vom_put(scratch, rank, text, compressed);
    (void)snprintf(path, sizeof path, "%s/data.%u.json%s", scratch, rank, compressed ? ".br" : "");
}

/* Returns the text of rank 0 without a NUL in a string, which public records cannot have. */
static char *rank_0(void) {
    return vom_edit(vom_rank[0], "a\\u0000b", "a b");
}

static hpcw_vom_reader *opened(void) {
    hpcw_vom_reader *r;
    hpcw_error err = {0};
    if (hpcw_vom_reader_open(path, &r, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    return r;
}

/* ---- records ---- */

struct seen {
    hpcw_vom_reader *reader;
    unsigned metadata, phases, tasks, edges, ends, iterations;
};

static hpcw_status see_metadata(void *context, const hpcw_vom_metadata *m) {
    struct seen *seen = context;
    seen->metadata++;
    assert_true(m->has_rank && m->rank == 0 && m->phase_count == 5);
    assert_true(m->node.id == 0 && m->node.num_nodes == 1 && m->node.rank == 0 && m->node.size == 2);
    assert_true(m->has_rank_alpha && m->rank_alpha == 1.5);
    assert_true(m->identical_count == 1 && m->identical[0].first == 1 && m->identical[0].last == 1);
    assert_true(m->skipped_count == 1 && m->skipped[0].first == 2 && m->skipped[0].last == 3);
    assert_int_equal(m->attribute_count, 3);
    assert_true(m->attributes[0].type == HPCW_VOM_TEXT && strcmp(m->attributes[0].text, "first") == 0);
    assert_true(m->attributes[1].type == HPCW_VOM_INTEGER && m->attributes[1].integer == -3);
    assert_true(m->attributes[2].type == HPCW_VOM_FLOAT && m->attributes[2].number == 0.5);
    return HPCW_OK;
}

static hpcw_status see_phase(void *context, uint64_t number) {
    struct seen *seen = context;
    assert_int_equal(number, seen->phases++);
    return HPCW_OK;
}

static void same_id(const hpcw_vom_entity *e, uint64_t id, uint32_t home) {
    assert_true(e->id == id && e->home == home && e->migratable == ((id & 3) == 3) && !e->by_seq_id);
}

static hpcw_status see_edge(void *context, const hpcw_vom_edge *e) {
    struct seen *seen = context;
    const hpcw_vom_category categories[] = {HPCW_VOM_SEND_RECV,
                                            HPCW_VOM_SEND_RECV,
                                            HPCW_VOM_SEND_RECV,
                                            HPCW_VOM_SEND_RECV,
                                            HPCW_VOM_BROADCAST,
                                            HPCW_VOM_COLLECTION_TO_NODE,
                                            HPCW_VOM_NODE_TO_COLLECTION,
                                            HPCW_VOM_COLLECTION_TO_NODE_BCAST,
                                            HPCW_VOM_NODE_TO_COLLECTION_BCAST,
                                            HPCW_VOM_WRITE_SHARED,
                                            HPCW_VOM_READ_ONLY_SHARED};
    assert_int_equal(e->category, categories[seen->edges]);
    switch (seen->edges++) {
    case 0:
        same_id(&e->from, 262151, 1);
        assert_true(e->from.collection_id == 0 && e->from.index == NULL && e->from.dimensions == 0);
        same_id(&e->to, 262147, 0);
        assert_true(e->to.collection_id == 7 && e->to.dimensions == 2 && e->to.index[1] == 4);
        assert_true(e->bytes == 1456 && e->messages == 26);
        break;
    case 5:
        same_id(&e->from, 262147, 0);
        assert_true(e->node == 1 && e->to.id == 0);
        break;
    case 8:
        same_id(&e->to, 262147, 0);
        assert_true(e->node == 0 && e->from.id == 0);
        break;
    case 9:
        assert_true(e->shared_id == 3 && e->node == 1 && e->bytes == 8192 && e->messages == 0);
        break;
    default:
        break;
    }
    return HPCW_OK;
}

static hpcw_status see_task(void *context, const hpcw_vom_task *t) {
    struct seen *seen = context;
    assert_true(!t->whole_ns && strcmp(t->resource, "cpu") == 0);
    switch (seen->tasks++) {
    case 0:
        same_id(&t->entity, 262147, 0);
        assert_true(t->time_s == 0.375 && t->subphases == 2);
        assert_true(t->subphase_s[0] == 0.25 && t->subphase_s[1] == 0.125);
        assert_true(t->attribute_count == 3 && t->value_count == 5);
        assert_true(strcmp(t->attributes[0].text, "a b") == 0 && t->attributes[2].number == 1e-5);
        assert_true(strcmp(t->values[0].key, "deep") == 0 && t->values[0].type == HPCW_VOM_JSON);
        assert_string_equal(t->values[0].text, "{\"x\":[1,{\"y\":null}]}");
        assert_true(t->values[1].type == HPCW_VOM_BOOLEAN && t->values[1].integer == 1);
        assert_true(t->values[2].type == HPCW_VOM_JSON && strcmp(t->values[2].text, "null") == 0);
        assert_string_equal(t->values[2].key, "nothing");
        assert_true(t->values[3].type == HPCW_VOM_INTEGER && t->values[3].integer == -1);
        assert_true(t->values[4].type == HPCW_VOM_FLOAT && t->values[4].number == 1048576);
        break;
    case 1:
        same_id(&t->entity, 1, 0);
        assert_true(t->entity.index == NULL && t->attributes == NULL && t->values == NULL);
        break;
    case 2:
        assert_true(t->entity.id == 0 && t->subphases == 0 && t->subphase_s == NULL);
        break;
    default:
        assert_true(t->time_s == 1);
        break;
    }
    return HPCW_OK;
}

static hpcw_status see_end(void *context, const hpcw_vom_section *p) {
    struct seen *seen = context;
    assert_int_equal(p->number, seen->ends);
    assert_int_equal(p->id, seen->ends == 0 ? 0 : 4);
    assert_int_equal(p->edges, seen->ends == 0 ? 11 : 0);
    assert_int_equal(p->tasks, seen->ends == 0 ? 3 : 1);
    assert_true(p->iterations == 0 && p->values == NULL && p->value_count == 0);
    seen->ends++;
    return HPCW_OK;
}

static hpcw_vom_watch watch_of(struct seen *seen) {
    return (hpcw_vom_watch){.context = seen,
                            .metadata = see_metadata,
                            .begin_phase = see_phase,
                            .edge = see_edge,
                            .task = see_task,
                            .end_phase = see_end};
}

/* Reads the records in one call, or in one call for each phase. */
static void records_are_those_of_the_file(void **state) {
    (void)state;
    char *text = rank_0();
    for (unsigned row = 0; row < 4; row++) {
        const bool compressed = row % 2 == 1, steps = row / 2 == 1;
        put(0, text, compressed);
        hpcw_vom_reader *r = opened();
        struct seen seen = {.reader = r};
        const hpcw_vom_watch watch = watch_of(&seen);
        const hpcw_vom_info *info = hpcw_vom_reader_info(r);
        hpcw_error err;
        assert_true(info->compressed == compressed && !info->ended && !info->has_rank && info->phases == 0);
        for (unsigned phase = 0; steps && phase < 2; phase++) {
            assert_int_equal(hpcw_vom_reader_watch(r, 1, &watch, &err), HPCW_OK);
            assert_true(info->phases == phase + 1 && seen.ends == phase + 1 && info->ended == (phase == 1));
            assert_true(info->has_rank && info->rank == 0);
        }
        assert_int_equal(hpcw_vom_reader_watch(r, UINT64_MAX, &watch, &err), HPCW_OK);
        assert_true(info->ended && info->phases == 2 && info->text_size == strlen(text));
        assert_true(seen.metadata == 1 && seen.phases == 2 && seen.edges == 11 && seen.tasks == 4);
        /* After the end of the file, no phases follow. */
        assert_int_equal(hpcw_vom_reader_watch(r, UINT64_MAX, &watch, NULL), HPCW_OK);
        assert_int_equal(seen.phases, 2);
        hpcw_vom_reader_free(r);
    }
    free(text);
}

/* Tasks of an old file: no metadata, and seq_id in place of id. */
static hpcw_status see_old(void *context, const hpcw_vom_task *t) {
    unsigned *tasks = context;
    assert_true(t->entity.by_seq_id && t->entity.id == 0);
    assert_true(t->entity.seq_id == (*tasks == 0 ? 0 : UINT64_MAX));
    ++*tasks;
    return HPCW_OK;
}

#define TASK_ON(resource)                                                                                      \
    "{\"entity\":{\"home\":0,\"id\":1,\"migratable\":false,\"type\":\"object\"},\"node\":0,\"resource\":"      \
    "\"" resource "\",\"time\":0.5}"

static hpcw_status see_resource(void *context, const hpcw_vom_task *t) {
    static const char *const resource[] = {"cpu", "gpu0", "x", ""};
    assert_string_equal(t->resource, resource[(*(unsigned *)context)++]);
    return HPCW_OK;
}

/* The first task is read by the parser, the others by the fast path for whole records. */
static void resources_have_any_length(void **state) {
    (void)state;
    unsigned tasks = 0;
    const hpcw_vom_watch watch = {.context = &tasks, .task = see_resource};
    put(0,
        "{\"metadata\":{\"rank\":0,\"type\":\"LBDatafile\"},\"phases\":[{\"id\":0,\"tasks\":[" TASK_ON(
            "cpu") "," TASK_ON("gpu0") "," TASK_ON("x") "," TASK_ON("") "]}]}",
        false);
    hpcw_vom_reader *r = opened();
    assert_int_equal(hpcw_vom_reader_watch(r, UINT64_MAX, &watch, NULL), HPCW_OK);
    assert_int_equal(tasks, 4);
    hpcw_vom_reader_free(r);
}

static hpcw_status no_metadata(void *context, const hpcw_vom_metadata *m) {
    (void)context;
    (void)m;
    return HPCW_EFORMAT;
}

static void the_old_form(void **state) {
    (void)state;
    unsigned tasks = 0;
    const hpcw_vom_watch watch = {.context = &tasks, .metadata = no_metadata, .task = see_old};
    put(0, vom_old, false);
    hpcw_vom_reader *r = opened();
    assert_int_equal(hpcw_vom_reader_watch(r, UINT64_MAX, &watch, NULL), HPCW_OK);
    assert_true(tasks == 2 && hpcw_vom_reader_info(r)->has_rank);
    hpcw_vom_reader_free(r);
}

/* The text of an object or array has no blanks, though the file has some. */
static hpcw_status see_nested(void *context, const hpcw_vom_task *t) {
    assert_true(t->value_count == 5 && strcmp(t->values[0].key, "a") == 0);
    assert_string_equal(t->values[0].text,
                        "{\"b\":[],\"c\":{},\"d\":[1.50,-2e3,true,false,null,\"\",[\"\"]],\"b\":\"x y\"}");
    assert_string_equal(t->values[1].text, "[\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\\u007f\"]");
    assert_string_equal(t->values[2].text, "{\"\\u00e4\\u20ac\":\"\\ud834\\udd1e!\"}");
    assert_true(strcmp(t->values[3].key, "d") == 0 && t->values[3].type == HPCW_VOM_INTEGER);
    assert_string_equal(t->values[4].text, "[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]");
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(t->values[i].type, i == 3 ? HPCW_VOM_INTEGER : HPCW_VOM_JSON);
    }
    ++*(unsigned *)context;
    return HPCW_OK;
}

static void arrays_and_objects(void **state) {
    (void)state;
    unsigned tasks = 0;
    const hpcw_vom_watch watch = {.context = &tasks, .task = see_nested};
    char *text =
        vom_edit(vom_smallest, "\"time\":0.5",
                 "\"time\":0.5,\"user_defined\":{\"a\":{ \"b\" :[ ],\n\"c\":{ },\"d\":[1.50 ,-2e3,true,"
                 "false, null, \"\", [\"\"]], \"b\":\"x y\"},"
                 "\"b\":[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\u001F\x7f\"],"
                 "\"c\":{\"\xc3\xa4\\u20AC\":\"\xf0\x9d\x84\x9e!\"},\"d\":7,"
                 "\"e\":[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]}");
    put(0, text, false);
    hpcw_vom_reader *r = opened();
    hpcw_error err = {.message = ""};
    if (hpcw_vom_reader_watch(r, UINT64_MAX, &watch, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(tasks, 1);
    hpcw_vom_reader_free(r);
    free(text);
}

/* User-defined values of more than 4 MiB are refused. */
static void too_large(void **state) {
    (void)state;
    enum { SIZE = 1 << 20 };
    char *many = malloc(6 * SIZE);
    assert_non_null(many);
    size_t n = (size_t)sprintf(many, "\"time\":0.5,\"user_defined\":{\"a\":[");
    for (int i = 0; i < 5; i++) {
        n += (size_t)sprintf(many + n, "%s\"", i == 0 ? "" : ",");
        memset(many + n, 'x', SIZE - 8);
        n += SIZE - 8;
        many[n++] = '"';
    }
    (void)sprintf(many + n, "]}");
    char *text = vom_edit(vom_smallest, "\"time\":0.5", many);
    put(0, text, false);
    hpcw_vom_reader *r = opened();
    hpcw_error err;
    assert_int_equal(hpcw_vom_reader_watch(r, UINT64_MAX, &(hpcw_vom_watch){0}, &err), HPCW_ERANGE);
    assert_non_null(strstr(err.message, "expected values of at most 4194304 bytes in all, got more"));
    hpcw_vom_reader_free(r);
    free(text);
    free(many);
}

/* Integers of 64 bits are exact, larger ones are rounded. */
static hpcw_status see_large(void *context, const hpcw_vom_task *t) {
    if (t->value_count > 0) {
        assert_true(t->values[0].type == HPCW_VOM_INTEGER && t->values[0].integer == INT64_MAX);
        assert_true(t->values[1].type == HPCW_VOM_INTEGER && t->values[1].integer == INT64_MIN);
        assert_true(t->values[2].type == HPCW_VOM_FLOAT && t->values[2].number == 0x1p63);
        assert_true(t->values[3].type == HPCW_VOM_BOOLEAN && t->values[3].integer == 0);
        ++*(unsigned *)context;
    }
    return HPCW_OK;
}

static void large_integers(void **state) {
    (void)state;
    unsigned tasks = 0;
    const hpcw_vom_watch watch = {.context = &tasks, .task = see_large};
    char *text = vom_edit(vom_smallest, "\"time\":0.5",
                          "\"time\":0.5,\"user_defined\":{\"a\":9223372036854775807,\"b\":-9223372036854775808,"
                          "\"c\":9223372036854775808,\"d\":false}");
    put(0, text, false);
    hpcw_vom_reader *r = opened();
    assert_int_equal(hpcw_vom_reader_watch(r, UINT64_MAX, &watch, NULL), HPCW_OK);
    assert_int_equal(tasks, 1);
    hpcw_vom_reader_free(r);
    free(text);
}

/* Lists and ranges of skipped phases are merged into ranges, sorted by first phase. */
static hpcw_status see_lists(void *context, const hpcw_vom_metadata *m) {
    static const hpcw_vom_range skipped[] = {{2, 2}, {5, 6}, {8, 8}};
    assert_int_equal(m->skipped_count, 3);
    assert_memory_equal(m->skipped, skipped, sizeof skipped);
    ++*(unsigned *)context;
    return HPCW_OK;
}

static void lists_are_in_order(void **state) {
    (void)state;
    unsigned files = 0;
    const hpcw_vom_watch watch = {.context = &files, .metadata = see_lists};
    char *text = vom_edit(vom_rank[1], "\"list\":[],\"range\":[[2,3]]", "\"list\":[2,8],\"range\":[[5,6]]");
    put(0, text, false);
    hpcw_vom_reader *r = opened();
    assert_int_equal(hpcw_vom_reader_watch(r, UINT64_MAX, &watch, NULL), HPCW_OK);
    assert_int_equal(files, 1);
    hpcw_vom_reader_free(r);
    free(text);
}

/* ---- written again ---- */

/* Writes the records of both ranks again, byte for byte. Before, the texts are edited to what the writer
 * accepts, and to its format of numbers. */
static void what_is_read_can_be_written(void **state) {
    (void)state;
    static const char *const edits[][2] = {
        {"a\\u0000b", "a\\u00e4b"},
        {"2.5e+2", "250.0"},
        {",\"user_defined\":{}", ""},
    };
    for (unsigned rank = 0; rank < 2; rank++) {
        char *text = vom_edit(vom_rank[rank], "", "");
        for (size_t i = 0; rank == 0 && i < sizeof edits / sizeof edits[0]; i++) {
            char *edited = vom_edit(text, edits[i][0], edits[i][1]);
            free(text);
            text = edited;
        }
        hpcw_vom_options o;
        hpcw_error err;
        char to[300];
        size_t size;
        hpcw_vom_options_init(&o);
        o.rank = rank;
        o.ranks = 2;
        o.allow = HPCW_VOM_ALLOW_TEXT_VALUES | HPCW_VOM_ALLOW_UNEVEN_SUBPHASES;
        put(rank, text, rank == 1);
        (void)snprintf(to, sizeof to, "%s/again", scratch);
        if (vom_again(path, to, &o, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        unsigned char *got = read_file(to, &size);
        assert_true(same_bytes("again", (const unsigned char *)text, strlen(text), got, size));
        free(got);
        free(text);
    }
}

/* ---- callbacks ---- */

/* Context of a callback that fails at its call `last`. A call of the reader within a callback is refused. */
struct stopping {
    hpcw_vom_reader *reader;
    unsigned calls, last;
};

static hpcw_status stop_later(struct stopping *s) {
    hpcw_error err;
    assert_int_equal(hpcw_vom_reader_watch(s->reader, 1, &(hpcw_vom_watch){0}, &err), HPCW_ESTATE);
    assert_non_null(strstr(err.message, "expected a call outside of callbacks"));
    assert_non_null(hpcw_vom_reader_info(s->reader));
    assert_true(s->calls < s->last);
    return ++s->calls == s->last ? HPCW_ENOSPC : HPCW_OK;
}

static hpcw_status stop_metadata(void *context, const hpcw_vom_metadata *m) {
    (void)m;
    return stop_later(context);
}

static hpcw_status stop_begin(void *context, uint64_t number) {
    (void)number;
    return stop_later(context);
}

static hpcw_status stop_edge(void *context, const hpcw_vom_edge *e) {
    (void)e;
    return stop_later(context);
}

static hpcw_status stop_task(void *context, const hpcw_vom_task *t) {
    (void)t;
    return stop_later(context);
}

static hpcw_status stop_end(void *context, const hpcw_vom_section *s) {
    (void)s;
    return stop_later(context);
}

static void callbacks_end_a_run(void **state) {
    (void)state;
    struct stopping s = {.calls = 0};
    const struct {
        hpcw_vom_watch watch;
        unsigned calls; /* number of callback calls for the whole file */
    } rows[] = {
        {{.context = &s, .metadata = stop_metadata}, 1},
        {{.context = &s, .begin_phase = stop_begin}, 2},
        {{.context = &s, .edge = stop_edge}, 5},
        {{.context = &s, .task = stop_task}, 6},
        {{.context = &s, .end_phase = stop_end}, 2},
        {{.context = &s, .begin_iteration = stop_begin, .edge = stop_edge}, 7},
        {{.context = &s, .begin_iteration = stop_begin, .end_iteration = stop_end}, 2},
        {{&s, stop_metadata, stop_begin, stop_edge, stop_task, stop_end, stop_begin, stop_end}, 20},
    };
    put(1, vom_rank[1], false);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (s.last = 1; s.last <= rows[i].calls + 1; s.last++) {
            const bool stops = s.last <= rows[i].calls;
            hpcw_error err = {.code = HPCW_OK};
            s.reader = opened();
            s.calls = 0;
            assert_int_equal(hpcw_vom_reader_watch(s.reader, UINT64_MAX, &rows[i].watch, &err),
                             stops ? HPCW_ENOSPC : HPCW_OK);
            assert_int_equal(s.calls, stops ? s.last : rows[i].calls);
            if (stops) {
                assert_int_equal(err.code, HPCW_ENOSPC);
                assert_non_null(strstr(err.message, "callback: expected HPCW_OK, got HPCW_ENOSPC"));
                assert_int_equal(hpcw_vom_reader_watch(s.reader, 1, &rows[i].watch, &err), HPCW_ESTATE);
                assert_false(hpcw_vom_reader_info(s.reader)->ended);
            }
            hpcw_vom_reader_free(s.reader);
        }
    }
}

/* ---- memory ---- */

static size_t allocations; /* that succeed */

static bool some_memory(size_t size) {
    (void)size;
    return allocations > 0 && allocations-- > 0;
}

/* Each allocation fails once. */
static void memory_runs_out(void **state) {
    (void)state;
    char *text = rank_0();
    for (int compressed = 0; compressed < 2; compressed++) {
        size_t failures = 0;
        put(0, text, compressed == 1);
        for (hpcw_status s = HPCW_ENOMEM; s != HPCW_OK; failures++) {
            struct seen seen = {.reader = NULL};
            const hpcw_vom_watch watch = watch_of(&seen);
            hpcw_vom_reader *r;
            hpcw_error err;
            allocations = failures;
            hpcw_i_mem_gate = some_memory;
            s = hpcw_vom_reader_open(path, &r, &err);
            assert_true((r != NULL) == (s == HPCW_OK));
            if (s == HPCW_OK) {
                s = hpcw_vom_reader_watch(r, UINT64_MAX, &watch, &err);
            }
            hpcw_vom_reader_free(r);
            hpcw_i_mem_gate = NULL;
            assert_true(s == HPCW_OK || s == HPCW_ENOMEM);
        }
        assert_true(failures > 10);
    }
    free(text);
}

/* ---- refusals ---- */

static hpcw_status count_task(void *context, const hpcw_vom_task *t) {
    (void)t;
    ++*(unsigned *)context;
    return HPCW_OK;
}

#ifdef KNOWS_USE
static hpcw_status any_metadata(void *context, const hpcw_vom_metadata *m) {
    (void)context;
    assert_true(m->skipped_count == 1 << 19 && m->identical_count == 1 << 19 && m->attribute_count == 52000);
    return HPCW_OK;
}

static hpcw_status any_end(void *context, const hpcw_vom_section *p) {
    (void)context;
    assert_int_equal(p->value_count, p->id == 0 ? 52000 : 4);
    return HPCW_OK;
}
#endif

/* All records before the fault are returned, and none after the failure. */
static void failures_stay(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
        unsigned tasks; /* before */
        hpcw_status status;
        const char *part;
    } rows[] = {
        {"a\\u0000b", "a\\u0000b", 0, HPCW_ENOTSUP,
         "phases[0].tasks[0] at offset 2216: expected texts without NUL, got \"a\" before one"},
        {"\"kind\":\"a\\u0000b\"", "\"ki\\u0000nd\":\"b\"", 0, HPCW_ENOTSUP, "got \"ki\" before one"},
        {"\"kind\":\"a\\u0000b\",\"level\":2,\"scale\":1e-05},\"entity\":",
         "\"kind\":\"\"},\"bad\":1,\"entity\":", 0, HPCW_EFORMAT, "expected a key of the schema, got \"bad\""},
        {"a\\u0000b", "\"}]", 0, HPCW_EFORMAT, "expected JSON, got at offset"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned tasks = 0;
        const hpcw_vom_watch watch = {.context = &tasks, .task = count_task};
        hpcw_error err;
        char *text = vom_edit(vom_rank[0], rows[i].from, rows[i].to);
        put(0, text, i % 2 == 1);
        hpcw_vom_reader *r = opened();
        assert_int_equal(hpcw_vom_reader_watch(r, UINT64_MAX, &watch, &err), rows[i].status);
        if (strstr(err.message, rows[i].part) == NULL) {
            fail_msg("expected \"%s\", got \"%s\"", rows[i].part, err.message);
        }
        assert_int_equal(hpcw_vom_reader_watch(r, UINT64_MAX, &watch, &err), HPCW_ESTATE);
        assert_int_equal(tasks, rows[i].tasks);
        hpcw_vom_reader_free(r);
        free(text);
    }
    char *cut = vom_edit(vom_smallest, "0.5}]}]}", "0.5}]}");
    unsigned tasks = 0;
    put(0, cut, false);
    hpcw_vom_reader *r = opened();
    assert_int_equal(
        hpcw_vom_reader_watch(r, UINT64_MAX, &(hpcw_vom_watch){.context = &tasks, .task = count_task}, NULL),
        HPCW_ETRUNCATED);
    assert_int_equal(tasks, 1);
    hpcw_vom_reader_free(r);
    free(cut);
}

#ifdef KNOWS_USE
static size_t peak;

/* Updates the peak of the memory in use. */
static bool see_memory(size_t size) {
    const struct mallinfo2 m = mallinfo2();
    const size_t now = m.uordblks + m.hblkhd + size;
    peak = now > peak ? now : peak;
    return true;
}

static void add(struct hpcw_i_buf *b, const char *text) {
    assert_true(hpcw_i_buf_append_str(b, text));
}

/* Adds `count` numbers from 0 on, each between two texts. */
static void add_numbers(struct hpcw_i_buf *b, unsigned count, const char *before, const char *after) {
    for (unsigned i = 0; i < count; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "%s%s%u%s", i > 0 ? "," : "", before, i, after);
        add(b, text);
    }
}

/* A file that reaches all limits at once: lists, many values, long values, the largest brotli window. */
static void memory_has_a_limit(void **state) {
    (void)state;
    struct hpcw_i_buf b = {0}, values[2] = {{0}, {0}};
    add(&values[0], "{");
    add_numbers(&values[0], 52000, "\"k", "\":1");
    add(&values[0], "}");
    char *letters = calloc(1, 1000001);
    assert_non_null(letters);
    memset(letters, 'x', 1000000);
    for (unsigned i = 0; i < 4; i++) {
        add(&values[1], i == 0 ? "{" : ",");
        add_numbers(&values[1], 1, (const char[][3]){"\"a", "\"b", "\"c", "\"d"}[i], "\":\"");
        add(&values[1], letters);
        add(&values[1], "\"");
    }
    add(&values[1], "}");
    assert_true(hpcw_i_buf_append(&values[0], "", 1) && hpcw_i_buf_append(&values[1], "", 1));
    const char *many = (const char *)values[0].data, *large = (const char *)values[1].data;
    add(&b, "{\"metadata\":{\"attributes\":");
    add(&b, many);
    for (unsigned i = 0; i < 2; i++) {
        add(&b, i == 0 ? ",\"phases\":{\"identical_to_previous\":{\"list\":[" : ",\"skipped\":{\"list\":[");
        add_numbers(&b, 1 << 18, "", "");
        add(&b, "],\"range\":[");
        add_numbers(&b, 1 << 18, "[1,", "]");
        add(&b, "]}");
    }
    add(&b, "},\"rank\":0,\"type\":\"LBDatafile\"},\"phases\":[");
    for (unsigned i = 0; i < 2; i++) {
        const char *v = i == 0 ? many : large;
        add(&b, i == 0 ? "{\"id\":0,\"tasks\":[{\"attributes\":" : ",{\"id\":1,\"tasks\":[{\"attributes\":");
        add(&b, v);
        add(&b, ",\"entity\":{\"home\":0,\"id\":1,\"migratable\":false,\"type\":\"object\"},\"node\":0,"
                "\"resource\":\"cpu\",\"time\":0.5,\"user_defined\":");
        add(&b, v);
        add(&b, "}],\"user_defined\":");
        add(&b, v);
        add(&b, "}");
    }
    add(&b, "]}");
    size_t size;
    unsigned char *stream = vom_compress(b.data, b.size, 1, 24, false, &size);
    (void)snprintf(path, sizeof path, "%s/data.0.json", scratch);
    FILE *f = fopen(path, "wb");
    assert_true(f != NULL && fwrite(stream, 1, size, f) == size && fclose(f) == 0);
    free(stream);
    free(letters);
    hpcw_i_buf_free(&b);
    hpcw_i_buf_free(&values[0]);
    hpcw_i_buf_free(&values[1]);

    unsigned tasks = 0;
    const hpcw_vom_watch watch = {
        .context = &tasks, .metadata = any_metadata, .task = count_task, .end_phase = any_end};
    peak = 0;
    (void)see_memory(0);
    const size_t before = peak;
    hpcw_i_mem_gate = see_memory;
    hpcw_vom_reader *r = opened();
    hpcw_status s = hpcw_vom_reader_watch(r, UINT64_MAX, &watch, NULL);
    hpcw_vom_reader_free(r);
    hpcw_i_mem_gate = NULL;
    assert_true(s == HPCW_OK && tasks == 2);
    assert_true(peak - before >= (size_t)1 << 20 && peak - before <= (size_t)128 << 20);
}
#endif

static void refusals(void **state) {
    (void)state;
    put(0, vom_smallest, false);
    hpcw_vom_reader *r = opened(), *none = r;
    assert_int_equal(hpcw_vom_reader_open(NULL, &none, NULL), HPCW_EINVAL);
    assert_null(none);
    assert_int_equal(hpcw_vom_reader_open(path, NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_vom_reader_open("/nowhere/data.0.json", &none, NULL), HPCW_ENOENT);
    assert_int_equal(hpcw_vom_reader_open(scratch, &none, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_vom_reader_watch(NULL, 1, &(hpcw_vom_watch){0}, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_vom_reader_watch(r, 1, NULL, NULL), HPCW_EINVAL);
    assert_null(hpcw_vom_reader_info(NULL));
    hpcw_vom_reader_free(NULL);
    hpcw_vom_reader_free(r);
    put(0, "", false);
    assert_int_equal(hpcw_vom_reader_open(path, &none, NULL), HPCW_ETRUNCATED);
    put(0, "\x11", false); /* first byte of a brotli stream with a large window */
    assert_int_equal(hpcw_vom_reader_open(path, &none, NULL), HPCW_EFORMAT);
    assert_null(none);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_those_of_the_file),
        cmocka_unit_test(resources_have_any_length),
        cmocka_unit_test(the_old_form),
        cmocka_unit_test(arrays_and_objects),
        cmocka_unit_test(too_large),
        cmocka_unit_test(large_integers),
        cmocka_unit_test(lists_are_in_order),
        cmocka_unit_test(what_is_read_can_be_written),
        cmocka_unit_test(callbacks_end_a_run),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(failures_stay),
        cmocka_unit_test(refusals),
#ifdef KNOWS_USE
        cmocka_unit_test(memory_has_a_limit),
#endif
    };
    return cmocka_run_group_tests_name("vom_read", tests, scratch_set_up, scratch_tear_down);
}
