/* SPDX-License-Identifier: BSD-3-Clause */
/* The VOM reader with texts assembled by hand: everything is read, in pieces of any size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libreader/vom/vom.h"
#include "libwriter/base/buf.h"
#include "tests/support/vom_image.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* ---- a log of all events -------------------------------------------------------------------------------- */

static void say(struct hpcw_i_buf *log, const char *fmt, ...) HPCW_PRINTF(2, 3);
static void say(struct hpcw_i_buf *log, const char *fmt, ...) {
    char text[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    assert_true(hpcw_i_buf_append_str(log, text));
}

static void say_members(struct hpcw_i_buf *log, const char *what, const struct read_vom_members *m) {
    static const char *const types[] = {"null", "bool", "int", "float", "text", "nested"};
    if (m->present) {
        say(log, " %s(", what);
        for (size_t i = 0; i < m->count; i++) {
            const struct read_vom_member *v = &m->item[i];
            assert_int_equal(strlen(v->key), v->key_size);
            say(log, "%s%s:%s=%s/%zu/%g", i > 0 ? " " : "", v->key, types[v->type], v->text, v->text_size,
                v->number);
        }
        say(log, ")");
    }
}

static void say_entity(struct hpcw_i_buf *log, const struct read_vom_entity *e) {
    if (e->kind != READ_VOM_OBJECT) {
        say(log, " %s%" PRIu64, e->kind == READ_VOM_NODE ? "node" : "block", e->id);
        return;
    }
    say(log, e->has_id ? " #%" PRIu64 : " seq%" PRIu64, e->has_id ? e->id : e->seq_id);
    say(log, "@%" PRIu32 "%s", e->home, e->migratable ? "m" : "");
    if (e->has_collection_id) {
        say(log, "c%" PRIu64, e->collection_id);
    }
    if (e->has_objgroup_id) {
        say(log, "g%" PRIu64, e->objgroup_id);
    }
    for (uint32_t d = 0; d < e->dimensions; d++) {
        say(log, "%c%" PRIu64, d == 0 ? '[' : ',', e->index[d]);
    }
    say(log, e->dimensions > 0 ? "]" : "");
}

static hpcw_status log_metadata(void *context, const struct read_vom_metadata *m, hpcw_error *err) {
    (void)err;
    const struct read_vom_intervals *lists[] = {&m->identical_list, &m->identical_range, &m->skipped_list,
                                                &m->skipped_range};
    say(context, "meta %d", m->has_type);
    if (m->has_rank) {
        say(context, " rank %" PRIu32, m->rank);
    }
    if (m->has_rank_alpha) {
        say(context, " alpha %g", m->rank_alpha);
    }
    if (m->has_shared_node) {
        say(context, " host %" PRIu32 "/%" PRIu32 " %" PRIu32 "/%" PRIu32, m->shared_node.id,
            m->shared_node.num_nodes, m->shared_node.rank, m->shared_node.size);
    }
    for (size_t k = 0; k < 4 && m->has_phases; k++) {
        for (size_t i = 0; i < lists[k]->count; i++) {
            say(context, " %c%" PRIu64 "-%" PRIu64, "iIsS"[k], lists[k] -> item[i].first,
                lists[k]->item[i].last);
        }
    }
    if (m->has_count) {
        say(context, " count %" PRIu64, m->count);
    }
    say_members(context, "attributes", &m->attributes);
    say(context, "\n");
    return HPCW_OK;
}

static hpcw_status log_phase_begin(void *context, uint64_t number, hpcw_error *err) {
    (void)err;
    say(context, "phase %" PRIu64 "\n", number);
    return HPCW_OK;
}

static hpcw_status log_task(void *context, const struct read_vom_task *t, hpcw_error *err) {
    (void)err;
    say(context, "task %" PRIu64, t->number);
    say_entity(context, &t->entity);
    say(context, " on %" PRIu32 " %s %.17g", t->node, t->resource, t->time);
    for (uint32_t k = 0; k < t->subphases; k++) {
        say(context, "%s%g", k == 0 ? " = " : " + ", t->subphase_time[k]);
    }
    assert_int_equal(t->has_subphases, t->subphases > 0);
    say_members(context, "attributes", &t->attributes);
    say_members(context, "user", &t->user_defined);
    say(context, "\n");
    return HPCW_OK;
}

static hpcw_status log_communication(void *context, const struct read_vom_communication *c, hpcw_error *err) {
    (void)err;
    say(context, "%s %" PRIu64 ":", read_vom_category_name(c->category), c->number);
    say_entity(context, &c->from);
    say(context, " ->");
    say_entity(context, &c->to);
    say(context, " %g in %" PRIu64 "\n", c->bytes, c->messages);
    return HPCW_OK;
}

static hpcw_status log_phase_end(void *context, const struct read_vom_phase *p, hpcw_error *err) {
    (void)err;
    say(context, "end %" PRIu64 " id %" PRIu64 ": %" PRIu64 " + %" PRIu64 "%s, %" PRIu64, p->number, p->id,
        p->tasks, p->communications, p->has_communications ? "" : " none", p->iterations);
    say_members(context, "user", &p->user_defined);
    say(context, "\n");
    return HPCW_OK;
}

static struct read_vom_events log_events(struct hpcw_i_buf *log, bool iterations) {
    return (struct read_vom_events){.context = log,
                                    .metadata = log_metadata,
                                    .phase_begin = log_phase_begin,
                                    .task = log_task,
                                    .communication = log_communication,
                                    .phase_end = log_phase_end,
                                    .iteration_begin = iterations ? log_phase_begin : NULL,
                                    .iteration_end = iterations ? log_phase_end : NULL};
}

/* Reads a file, `step` phases at a time; with `reopen`, each time with a new handle. Returns a log of all
 * events. */
static char *log_of(const void *data, size_t size, bool iterations, uint64_t step, bool reopen) {
    struct hpcw_i_buf log = {0};
    struct read_vom_events events = log_events(&log, iterations);
    struct read_vom_position place = {0};
    struct read_vom_facts facts = {0};
    struct read_vom *reader = NULL;
    hpcw_error err = {0};
    for (uint64_t done = 0; !facts.ended; done += step) {
        assert_int_equal(facts.phases, done);
        if (reader == NULL) {
            assert_int_equal(read_vom_open_memory("m", data, size, READ_VOM_ANY_RANK, 0, &reader, &err),
                             HPCW_OK);
            if (done > 0) {
                assert_int_equal(read_vom_resume(reader, &place, &err), HPCW_OK);
            }
        }
        if (read_vom_run(reader, step, &events, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        read_vom_facts(reader, &facts);
        read_vom_position(reader, &place);
        if (reopen) {
            read_vom_free(reader);
            reader = NULL;
        }
    }
    read_vom_free(reader);
    assert_true(hpcw_i_buf_append(&log, "", 1));
    return (char *)log.data;
}

static const char log_0[] =
    "meta 1 rank 0 alpha 1.5 host 0/1 0/2 i1-1 S2-3 count 5 attributes(label:text=first/5/0 level:int=-3/2/-3 "
    "weight:float=0.5/3/0.5)\n"
    "phase 0\n"
    "SendRecv 0: #262151@1m -> #262147@0mc7[0,4] 1456 in 26\n"
    "SendRecv 1: #262147@0mc7[0,4] -> #5@1 64 in 2\n"
    "SendRecv 2: #0@0 -> #1@0 8 in 1\n"
    "SendRecv 3: #1@0 -> #1@0 16 in 1\n"
    "Broadcast 4: #262151@1m -> #262147@0mc7[0,4] 250 in 3\n"
    "CollectionToNode 5: #262147@0mc7[0,4] -> node1 32 in 1\n"
    "NodeToCollection 6: node1 -> #262147@0mc7[0,4] 33 in 1\n"
    "CollectionToNodeBcast 7: #262147@0mc7[0,4] -> node1 34 in 1\n"
    "NodeToCollectionBcast 8: node0 -> #262147@0mc7[0,4] 35 in 1\n"
    "WriteShared 9: block3 -> node1 8192 in 0\n"
    "ReadOnlyShared 10: block3 -> node1 512 in 1\n"
    "task 0 #262147@0mc7[0,4] on 0 cpu 0.375 = 0.25 + 0.125 attributes(kind:text=a/3/0 level:int=2/1/2 "
    "scale:float=1e-05/5/1e-05) user(deep:nested={\"x\":[1,{\"y\":null}]}/20/0 flag:bool=true/4/0 "
    "nothing:null=null/4/0 "
    "shared_id:int=-1/2/-1 task_working_bytes:float=1048576.0/9/1.04858e+06)\n"
    "task 1 #1@0 on 0 cpu 0.0009765625 = 0.000976562\n"
    "task 2 #0@0 on 0 cpu 0\n"
    "end 0 id 0: 3 + 11, 0\n"
    "phase 1\n"
    "task 0 #262151@1mc7[1,4] on 0 cpu 1 = 1 user()\n"
    "end 1 id 4: 1 + 0 none, 0\n";

static void everything_is_read(void **state) {
    (void)state;
    const char *text = vom_rank[0];
    size_t packed_size;
    unsigned char *packed = vom_compress(text, strlen(text), 8, 20, false, &packed_size);
    for (uint64_t step = 1; step <= 3; step++) {
        for (int reopen = 0; reopen < 2; reopen++) {
            char *plain = log_of(text, strlen(text), true, step, reopen);
            char *inflated = log_of(packed, packed_size, true, step, reopen);
            assert_string_equal(plain, log_0);
            assert_string_equal(inflated, log_0);
            free(plain);
            free(inflated);
        }
    }
    free(packed);
}

static void iterations_are_told_on_request(void **state) {
    (void)state;
    char *all = log_of(vom_rank[1], strlen(vom_rank[1]), true, UINT64_MAX, false);
    char *without = log_of(vom_rank[1], strlen(vom_rank[1]), false, UINT64_MAX, false);
    const char *iteration =
        "phase 0\nSendRecv 0: #262151@1mc7[1,4] -> #262151@1mc7[1,4] 9 in 1\n"
        "task 0 #262151@1mc7[1,4] on 1 cpu 2\nend 0 id 0: 1 + 1, 0 user(step:float=1.0/3/1)\n";
    assert_non_null(strstr(all, iteration));
    assert_null(strstr(without, iteration));
    assert_non_null(strstr(without, "end 0 id 0: 4 + 4, 1\n"));
    free(all);
    free(without);
}

static void an_old_form_is_read(void **state) {
    (void)state;
    static const char log[] = "phase 0\n"
                              "task 0 seq0@0mc7 on 0 cpu 2\n"
                              "task 1 seq18446744073709551615@0 on 0 gpu 1\n"
                              "SendRecv 0: seq0@0mc7 -> seq18446744073709551615@0 4 in 1\n"
                              "end 0 id 0: 2 + 1, 0\n";
    char *got = log_of(vom_old, strlen(vom_old), false, UINT64_MAX, false);
    assert_string_equal(got, log);
    free(got);
    got = log_of(vom_old, strlen(vom_old), false, 1, true);
    assert_string_equal(got, log);
    free(got);

    struct read_vom *reader;
    struct read_vom_facts facts;
    const struct read_vom_events none = {0};
    assert_int_equal(read_vom_open_memory("m", vom_old, strlen(vom_old), 0, 0, &reader, NULL), HPCW_OK);
    assert_int_equal(read_vom_run(reader, UINT64_MAX, &none, NULL), HPCW_OK);
    read_vom_facts(reader, &facts);
    assert_true(facts.ended && facts.old_form && !facts.compressed);
    assert_int_equal(facts.text_size, strlen(vom_old));
    assert_int_equal(facts.file_size, strlen(vom_old));
    assert_int_equal(facts.phases, 1);
    assert_int_equal(facts.rank, 0);
    read_vom_free(reader);
}

/* A file of a thousand phases, read in pieces of any size, gives the same as at once. */
static void pieces_make_no_difference(void **state) {
    (void)state;
    struct hpcw_i_buf text = {0};
    say(&text, "{\"metadata\":{\"rank\":0,\"type\":\"LBDatafile\"},\"phases\":[");
    for (int p = 0; p < 1000; p++) {
        say(&text,
            "%s{\"id\":%d,\"tasks\":[{\"entity\":{\"collection_id\":7,\"home\":0,\"id\":262147,\"index\":[%d],"
            "\"migratable\":true,\"type\":\"object\"},\"node\":0,\"resource\":\"c\\u0070u\",\"time\":%d.5}]}",
            p > 0 ? " ,\n" : "", p, p, p);
    }
    say(&text, "]}");
    size_t packed_size;
    unsigned char *packed = vom_compress(text.data, text.size, 5, 18, false, &packed_size);
    char *whole = log_of(text.data, text.size, false, UINT64_MAX, false);
    static const uint64_t steps[] = {1, 7, 100, 999, 1000};
    for (size_t i = 0; i < COUNT(steps); i++) {
        char *plain = log_of(text.data, text.size, false, steps[i], true);
        char *inflated = log_of(packed, packed_size, false, steps[i], true);
        assert_string_equal(plain, whole);
        assert_string_equal(inflated, whole);
        free(plain);
        free(inflated);
    }
    free(whole);
    free(packed);
    hpcw_i_buf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_read),
        cmocka_unit_test(iterations_are_told_on_request),
        cmocka_unit_test(an_old_form_is_read),
        cmocka_unit_test(pieces_make_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
