/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads our logs with the independent reader: complete logs by all its rules, and damaged ones, which it
 * refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libreader/clog2/clog2.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/bytes.h"
#include "libwriter/io/json.h"
#include "tests/support/clog2_cases.h"
#include "tests/support/files.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

struct image {
    unsigned char *data;
    size_t size;
};

/* Writes a log in slices of `segments` segments, or in one slice if 0. Returns the bytes of the log. */
static struct image image_of(struct clog2_case *c, size_t segments) {
    char dir[256], path[512];
    scratch_make(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/app.clog2", dir);
    hpcw_error err;
    if (clog2_case_write(c, path, segments, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    struct image m;
    m.data = read_file(path, &m.size);
    assert_non_null(m.data);
    scratch_remove(dir);
    return m;
}

static hpcw_status judge(const struct image *m, unsigned flags, hpcw_error *err) {
    struct read_clog2 *reader = NULL;
    hpcw_status s = read_clog2_open_memory(m->data, m->size, &reader, err);
    if (s == HPCW_OK) {
        s = read_clog2_verify(reader, flags, err);
        read_clog2_free(reader);
    }
    return s;
}

static void logs_keep_all_rules(void **state) {
    (void)state;
    static const struct {
        uint32_t ranks, steps, block_size;
        size_t segments;
    } cases[] = {{2, 1, 65536, 0}, {1, 3, 256, 0}, {5, 40, 2048, 0}, {3, 9000, 65536, 1}, {60, 20, 1 << 20, 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct clog2_case c;
        clog2_case_make(&c, cases[i].ranks, cases[i].steps);
        c.options.block_size = cases[i].block_size;
        struct image m = image_of(&c, cases[i].segments);
        hpcw_error err;
        if (judge(&m, READ_CLOG2_STRICT, &err) != HPCW_OK) {
            fail_msg("case %zu: %s", i, err.message);
        }
        free(m.data);
        clog2_case_free(&c);
    }
}

/* The program of hpcw/clog2.h, with three ranks. */
static void one_call_writes_a_log(void **state) {
    (void)state;
    hpcw_clog2_record record[] = {
        {.kind = HPCW_CLOG2_STATE_DEF, .as.state = {300, 600, 601, "blue", "Compute", NULL}},
        {.time = 0.5, .kind = HPCW_CLOG2_BARE, .as.event = 600},
        {.time = 0.75, .rank = 2, .kind = HPCW_CLOG2_BARE, .as.event = 600},
        {.time = 1.25, .rank = 2, .kind = HPCW_CLOG2_BARE, .as.event = 601},
        {.time = 1.5, .kind = HPCW_CLOG2_BARE, .as.event = 601},
    };
    char dir[256], path[512], other[512];
    scratch_make(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/app.clog2", dir);
    (void)snprintf(other, sizeof other, "%s/other.clog2", dir);
    hpcw_clog2_options options;
    hpcw_clog2_options_init(&options);
    options.ranks = 3;
    options.states = 1;
    hpcw_error err;
    struct read_clog2 *reader = NULL;
    if (hpcw_clog2_write(path, &options, record, COUNT(record), &err) != HPCW_OK ||
        read_clog2_open(path, &reader, &err) != HPCW_OK ||
        read_clog2_verify(reader, READ_CLOG2_STRICT, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(read_clog2_info(reader)->ranks, 3);
    assert_int_equal(read_clog2_info(reader)->comms, 4);
    size_t events = 0;
    bool more = true;
    read_clog2_rewind(reader);
    while (more) {
        struct read_clog2_item item;
        assert_int_equal(read_clog2_next(reader, &item, &more, &err), HPCW_OK);
        events += more && item.kind == HPCW_CLOG2_BARE;
    }
    assert_int_equal(events, 4);
    read_clog2_free(reader);

    record[3].as.event = 602; /* not defined */
    assert_int_equal(hpcw_clog2_write(other, &options, record, COUNT(record), &err), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_write(other, NULL, record, COUNT(record), &err), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_write(other, &options, NULL, 1, &err), HPCW_EINVAL);
    options.ranks = UINT32_MAX;
    assert_true(hpcw_clog2_write(other, &options, record, 1, &err) < 0);
    assert_int_equal(count_entries(dir), 1);

    /* hpcw_clog2_write, with the records as one table, writes the same bytes as one slice. */
    struct clog2_case c;
    clog2_case_make(&c, 3, 20);
    struct image m = image_of(&c, 0);
    size_t size;
    assert_int_equal(hpcw_clog2_write(other, &c.options, c.record, c.count, &err), HPCW_OK);
    unsigned char *bytes = read_file(other, &size);
    assert_true(same_bytes("one call", bytes, size, m.data, m.size));
    free(bytes);
    free(m.data);
    clog2_case_free(&c);
    scratch_remove(dir);
}

static void records_come_back(void **state) {
    (void)state;
    struct clog2_case c;
    clog2_case_make(&c, 4, 30);
    c.options.block_size = 1024;
    struct image m = image_of(&c, 0);
    struct read_clog2 *reader = NULL;
    assert_int_equal(read_clog2_open_memory(m.data, m.size, &reader, NULL), HPCW_OK);
    const struct read_clog2_info *info = read_clog2_info(reader);
    assert_int_equal(info->ranks, 4);
    assert_int_equal(info->threads, 1);
    assert_int_equal(info->states, 2);
    assert_int_equal(info->solos, 1);
    assert_int_equal(info->comms, 5);
    for (size_t i = 0; i < c.count; i++) {
        struct read_clog2_item item;
        bool more;
        assert_int_equal(read_clog2_next(reader, &item, &more, NULL), HPCW_OK);
        assert_true(more);
        const hpcw_clog2_record *r = &c.record[i];
        assert_true(item.time == r->time);
        assert_int_equal(item.rank, r->rank);
        assert_int_equal(item.kind, r->kind);
        if (r->kind == HPCW_CLOG2_WITH_CARGO) {
            assert_memory_equal(item.payload + 8, r->as.cargo.bytes, 32);
        } else if (r->kind == HPCW_CLOG2_MESSAGE) {
            assert_int_equal(hpcw_i_get_u32(item.payload + 8, true), r->as.message.peer_rank);
            assert_int_equal(hpcw_i_get_u32(item.payload + 12, true), r->as.message.tag);
            assert_int_equal(hpcw_i_get_u32(item.payload + 16, true), r->as.message.size);
        } else if (r->kind == HPCW_CLOG2_STATE_DEF) {
            assert_string_equal((const char *)item.payload + 16, r->as.state.colour);
            assert_string_equal((const char *)item.payload + 40, r->as.state.name);
        }
    }
    read_clog2_free(reader);
    free(m.data);
    clog2_case_free(&c);
}

/* ---- rules ----------------------------------------------------------------------------------------------- */

/* Index of the n-th record of a kind (and event) in a case. */
static size_t nth(const struct clog2_case *c, hpcw_clog2_kind kind, int32_t event, size_t n) {
    for (size_t i = 0; i < c->count; i++) {
        if (c->record[i].kind == kind && (event == 0 || c->record[i].as.event == event) && n-- == 0) {
            return i;
        }
    }
    fail_msg("no such record");
    return 0;
}

static void drop(struct clog2_case *c, size_t i) {
    memmove(&c->record[i], &c->record[i + 1], (--c->count - i) * sizeof *c->record);
}

/* Swaps two records, but keeps their times. */
static void swap(struct clog2_case *c, size_t i, size_t k) {
    hpcw_clog2_record r = c->record[i];
    c->record[i] = c->record[k];
    c->record[k] = r;
    c->record[k].time = c->record[i].time;
    c->record[i].time = r.time;
}

/* Breaks one rule per case. The reader must name the rule, and say whether clog2TOslog2 would fail, too. */
static void broken_rules_are_named(void **state) {
    (void)state;
    enum { CASES = 15 };
    static const struct {
        bool fatal;
        enum read_clog2_rule rule;
    } want[CASES] = {
        {true, READ_CLOG2_COMM},        {false, READ_CLOG2_END_ALONE},    {false, READ_CLOG2_START_ALONE},
        {false, READ_CLOG2_NESTING},    {false, READ_CLOG2_NESTING},      {false, READ_CLOG2_BACKWARD},
        {false, READ_CLOG2_MESSAGE},    {false, READ_CLOG2_MESSAGE_SIZE}, {false, READ_CLOG2_EQUAL},
        {false, READ_CLOG2_DEFINITION}, {false, READ_CLOG2_CARGO},        {true, READ_CLOG2_EMPTY},
        {false, READ_CLOG2_DEFINITION}, {false, READ_CLOG2_DEFINITION},   {false, READ_CLOG2_TABLE},
    };
    static hpcw_clog2_comm_id other = {.random = 99};
    for (int i = 0; i < CASES; i++) {
        struct clog2_case c;
        clog2_case_make(&c, 3, 4);
        size_t a;
        switch (i) {
        case 0: /* the log has no record that rank 1 is a member of the world */
            drop(&c, nth(&c, HPCW_CLOG2_COMM_EVENT, 0, 2));
            break;
        case 1:
            drop(&c, nth(&c, HPCW_CLOG2_BARE, 600, 0));
            break;
        case 2:
            drop(&c, nth(&c, HPCW_CLOG2_BARE, 601, 11));
            break;
        case 3: /* 602 comes before 601 */
            a = nth(&c, HPCW_CLOG2_BARE, 601, 0);
            swap(&c, a, a + 1);
            break;
        case 4: /* a state nested in itself */
            c.record[nth(&c, HPCW_CLOG2_BARE, 601, 0)].as.event = 600;
            break;
        case 5: /* swaps a send of rank 2 with the receive on rank 0 */
            swap(&c, nth(&c, HPCW_CLOG2_MESSAGE, HPCW_CLOG2_SEND, 2),
                 nth(&c, HPCW_CLOG2_MESSAGE, HPCW_CLOG2_RECEIVE, 0));
            break;
        case 6:
            drop(&c, nth(&c, HPCW_CLOG2_MESSAGE, HPCW_CLOG2_RECEIVE, 11));
            break;
        case 7:
            c.record[nth(&c, HPCW_CLOG2_MESSAGE, HPCW_CLOG2_RECEIVE, 3)].as.message.size++;
            break;
        case 8: /* the last report is there twice */
            assert_true(c.count < c.room);
            c.record[c.count] = c.record[c.count - 1];
            c.count++;
            break;
        case 9:
            drop(&c, nth(&c, HPCW_CLOG2_STATE_DEF, 0, 1));
            break;
        case 10: /* a text longer than the cargo */
            c.record[nth(&c, HPCW_CLOG2_WITH_CARGO, 5000, 0)].as.cargo.bytes[9] = 23;
            break;
        case 11:
            c.count = nth(&c, HPCW_CLOG2_EVENT_DEF, 0, 0) + 1;
            break;
        case 12: /* late */
            a = nth(&c, HPCW_CLOG2_EVENT_DEF, 0, 0);
            swap(&c, a, nth(&c, HPCW_CLOG2_WITH_CARGO, 5000, 0));
            break;
        case 13: /* a second time, at the end */
            assert_true(c.count < c.room);
            a = c.count++;
            c.record[a] = c.record[nth(&c, HPCW_CLOG2_STATE_DEF, 0, 1)];
            c.record[a].time = c.record[a - 1].time;
            break;
        default:
            c.record[nth(&c, HPCW_CLOG2_COMM_EVENT, 0, 1)].as.comm.id = &other;
            break;
        }
        struct image m = image_of(&c, 0);
        hpcw_error err = {.message = ""};
        hpcw_status loose = judge(&m, 0, &err);
        hpcw_status strict = judge(&m, READ_CLOG2_STRICT, &err);
        const char *text = read_clog2_rule_text(want[i].rule);
        bool named = strstr(err.message, text) != NULL &&
                     (i != 8 || strstr(err.message, " s again, on rank 0 of communicator 0") != NULL);
        if (strict != HPCW_EFORMAT || !named || (loose != HPCW_OK) != want[i].fatal) {
            fail_msg("case %d: loose %d, strict %d, expected %s: %s", i, (int)loose, (int)strict, text,
                     err.message);
        }
        free(m.data);
        clog2_case_free(&c);
    }
}

/* ---- damage ---------------------------------------------------------------------------------------------- */

/* Changes every byte of a log in turn. CLOG-2 has no checksums, so the strict reader can miss changes of times,
 * tags, texts and identities, but no others. */
static void damage_is_seen_or_harmless(void **state) {
    (void)state;
    struct clog2_case c;
    clog2_case_make(&c, 2, 2);
    c.options.block_size = 512;
    struct image m = image_of(&c, 0);
    hpcw_error err;
    unsigned refused = 0;
    for (size_t i = 0; i < m.size; i++) {
        m.data[i] ^= 0x41;
        hpcw_status loose = judge(&m, 0, &err);
        hpcw_status strict = judge(&m, READ_CLOG2_STRICT, &err);
        assert_true(strict != HPCW_OK || loose == HPCW_OK);
        assert_true(i >= 1024 || strict != HPCW_OK); /* every byte of the preamble matters */
        refused += strict != HPCW_OK;
        m.data[i] ^= 0x41;
    }
    assert_true(refused > m.size * 3 / 4);
    for (size_t size = 0; size < m.size; size++) {
        struct image cut = {m.data, size};
        assert_int_not_equal(judge(&cut, 0, &err), HPCW_OK);
    }
    struct image longer = {realloc(m.data, m.size + 1), m.size + 1};
    assert_non_null(longer.data);
    longer.data[m.size] = 0;
    assert_int_equal(judge(&longer, 0, &err), HPCW_EFORMAT);
    free(longer.data);
    clog2_case_free(&c);
}

/* ---- report ---------------------------------------------------------------------------------------------- */

static double at(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    assert_true(cJSON_IsNumber(item));
    return item->valuedouble;
}

static cJSON *report_of(struct read_clog2 *reader) {
    struct hpcw_i_buf buf = {0};
    struct hpcw_i_json json;
    hpcw_i_json_open_buf(&json, &buf, NULL);
    hpcw_i_json_begin_object(&json);
    assert_int_equal(read_clog2_report(reader, &json, NULL), HPCW_OK);
    hpcw_i_json_end_object(&json);
    hpcw_error err;
    if (hpcw_i_json_finish(&json, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    cJSON *root = cJSON_ParseWithLength((const char *)buf.data, buf.size);
    assert_non_null(root);
    hpcw_i_buf_free(&buf);
    return root;
}

static void the_report_adds_up(void **state) {
    (void)state;
    struct clog2_case c;
    clog2_case_make(&c, 3, 4);
    swap(&c, nth(&c, HPCW_CLOG2_MESSAGE, HPCW_CLOG2_SEND, 2),
         nth(&c, HPCW_CLOG2_MESSAGE, HPCW_CLOG2_RECEIVE, 0));
    struct image m = image_of(&c, 0);
    struct read_clog2 *reader = NULL;
    assert_int_equal(read_clog2_open_memory(m.data, m.size, &reader, NULL), HPCW_OK);
    cJSON *root = report_of(reader);
    assert_true(at(root, "ranks") == 3);
    assert_true(at(root, "records") == (double)c.count);
    assert_true(at(root, "messages") == 12);
    assert_true(at(root, "message_bytes") == 3 * (1000 + 1001 + 1002 + 1003));
    assert_true(at(root, "backward_messages") == 1);
    assert_true(at(root, "pairs") == 3);
    const cJSON *profile = cJSON_GetObjectItemCaseSensitive(root, "profile");
    assert_int_equal(cJSON_GetArraySize(profile), 3);
    const cJSON *compute = cJSON_GetArrayItem(profile, 0);
    assert_true(at(compute, "state") == 300);
    assert_true(at(compute, "count") == 12);
    /* A state "Compute" takes 3 steps of time on rank 0, 5 on rank 1, and 7 on rank 2. A step is 2^-20 s. */
    assert_true(at(compute, "least_s") == 4 * 3 / 1048576.0);
    assert_true(at(compute, "most_s") == 4 * 7 / 1048576.0);
    assert_true(at(compute, "most_rank") == 2);
    assert_true(at(cJSON_GetArrayItem(profile, 2), "event") == 5000);
    cJSON_Delete(root);
    read_clog2_free(reader);
    free(m.data);
    clog2_case_free(&c);
}

/* Two states, one inside the other, do not end. The report has the offset of the outer state. */
static void the_report_has_the_first_offset(void **state) {
    (void)state;
    struct clog2_case c;
    clog2_case_make(&c, 3, 4);
    drop(&c, nth(&c, HPCW_CLOG2_BARE, 601, 11));
    drop(&c, nth(&c, HPCW_CLOG2_WITH_CARGO, 603, 11));
    struct image m = image_of(&c, 0);
    struct read_clog2 *reader = NULL;
    assert_int_equal(read_clog2_open_memory(m.data, m.size, &reader, NULL), HPCW_OK);
    cJSON *root = report_of(reader);
    const cJSON *problem = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(root, "problems"), 0);
    assert_true(at(problem, "count") == 2);
    struct read_clog2_item item;
    uint64_t last_start = 0;
    read_clog2_rewind(reader);
    for (bool more = true; more && read_clog2_next(reader, &item, &more, NULL) == HPCW_OK;) {
        if (more && item.kind == HPCW_CLOG2_BARE && hpcw_i_get_u32(item.payload, true) == 600) {
            last_start = item.offset;
        }
    }
    assert_true(at(problem, "first_offset") == (double)last_start);
    cJSON_Delete(root);
    read_clog2_free(reader);
    free(m.data);
    clog2_case_free(&c);
}

/* ---- counting events while reading ----------------------------------------------------------------------- */

struct watched {
    unsigned sends, receives, met, computes, exchanges;
};

static void watch_message(void *context, const struct read_clog2_end *e) {
    struct watched *w = context;
    unsigned *count = e->send ? &w->sends : &w->receives;
    const unsigned step = *count / 3;
    const unsigned rank = *count % 3;
    ++*count;
    assert_int_equal(e->rank, rank);
    assert_int_equal(e->peer, e->send ? (rank + 1) % 3 : (rank + 2) % 3);
    assert_int_equal(e->tag, (int32_t)step);
    assert_int_equal(e->bytes, 1000 + (int32_t)step);
    assert_true(e->meets == !e->send);
    assert_true(!e->meets || (e->other > 0 && e->other < e->time));
    w->met += e->meets;
}

static void watch_state(void *context, const struct read_clog2_stretch *s) {
    struct watched *w = context;
    assert_true(s->from < s->to);
    if (strcmp(s->name, "Compute") == 0) {
        assert_null(s->cargo);
        w->computes++;
    } else {
        assert_non_null(s->cargo);
        assert_int_equal(hpcw_i_get_u32(s->cargo, true), w->exchanges++ / 3);
        assert_true(hpcw_i_get_u64(s->cargo + 4, true) == UINT64_C(1) << 40);
    }
}

static void a_watch_sees_messages_and_cargo(void **state) {
    (void)state;
    struct clog2_case c;
    clog2_case_make(&c, 3, 4);
    struct image m = image_of(&c, 0);
    struct read_clog2 *reader = NULL;
    struct watched w = {0};
    assert_int_equal(read_clog2_open_memory(m.data, m.size, &reader, NULL), HPCW_OK);
    const struct read_clog2_watch watch = {.context = &w, .state = watch_state, .message = watch_message};
    assert_int_equal(read_clog2_watch(reader, &watch, NULL), HPCW_OK);
    assert_int_equal(w.sends, 12);
    assert_int_equal(w.receives, 12);
    assert_int_equal(w.met, 12);
    assert_int_equal(w.computes, 12);
    assert_int_equal(w.exchanges, 12);
    read_clog2_free(reader);
    free(m.data);
    clog2_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_keep_all_rules),    cmocka_unit_test(records_come_back),
        cmocka_unit_test(broken_rules_are_named), cmocka_unit_test(damage_is_seen_or_harmless),
        cmocka_unit_test(the_report_adds_up),     cmocka_unit_test(the_report_has_the_first_offset),
        cmocka_unit_test(one_call_writes_a_log),  cmocka_unit_test(a_watch_sees_messages_and_cargo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
