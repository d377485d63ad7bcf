/* SPDX-License-Identifier: BSD-3-Clause */
/* The fast path of the VOM reader gives the same values and numbers as the parser, for valid and invalid texts
 * in any spelling. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libreader/vom/json/number.h"
#include "libreader/vom/private.h"
#include "libreader/vom/set/verify.h"
#include "libwriter/base/numfmt.h"
#include "tests/support/random.h"
#include "tests/support/vom_image.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* ---- records and failures of a text ---- */

/* All fields of all records, without the padding of structs, then the failure. */
struct outcome {
    struct hpcw_i_buf records;
    hpcw_status status[2]; /* status of reading, and of the strict check */
    char message[2][1024];
};

static void keep(struct outcome *o, const void *data, size_t size) {
    assert_true(hpcw_i_buf_append(&o->records, data, size));
}
#define KEEP(o, field) keep(o, &(field), sizeof(field))

static void keep_entity(struct outcome *o, const struct read_vom_entity *e) {
    KEEP(o, e->kind);
    KEEP(o, e->has_id);
    KEEP(o, e->has_seq_id);
    KEEP(o, e->has_home);
    KEEP(o, e->has_migratable);
    KEEP(o, e->has_collection_id);
    KEEP(o, e->has_objgroup_id);
    KEEP(o, e->migratable);
    KEEP(o, e->id);
    KEEP(o, e->seq_id);
    KEEP(o, e->home);
    KEEP(o, e->collection_id);
    KEEP(o, e->objgroup_id);
    KEEP(o, e->dimensions);
    keep(o, e->index, e->dimensions * sizeof e->index[0]);
}

static hpcw_status keep_task(void *context, const struct read_vom_task *t, hpcw_error *err) {
    (void)err;
    struct outcome *o = context;
    KEEP(o, t->number);
    keep_entity(o, &t->entity);
    KEEP(o, t->node);
    keep(o, t->resource, strlen(t->resource) + 1);
    KEEP(o, t->time);
    KEEP(o, t->has_subphases);
    keep(o, t->subphase_time, t->subphases * sizeof t->subphase_time[0]);
    KEEP(o, t->attributes.count);
    KEEP(o, t->attributes.present);
    KEEP(o, t->user_defined.count);
    KEEP(o, t->user_defined.present);
    return HPCW_OK;
}

static hpcw_status keep_communication(void *context, const struct read_vom_communication *c, hpcw_error *err) {
    (void)err;
    struct outcome *o = context;
    KEEP(o, c->number);
    KEEP(o, c->category);
    KEEP(o, c->bytes);
    KEEP(o, c->messages);
    keep_entity(o, &c->from);
    keep_entity(o, &c->to);
    return HPCW_OK;
}

static hpcw_status keep_iteration(void *context, uint64_t number, hpcw_error *err) {
    (void)err;
    KEEP(context, number);
    return HPCW_OK;
}

static void read_text(const char *text, size_t size, unsigned flags, struct outcome *o) {
    const struct read_vom_events events = {.context = o,
                                           .task = keep_task,
                                           .communication = keep_communication,
                                           .iteration_begin = keep_iteration};
    struct read_vom *reader;
    hpcw_error err[2] = {{0}};
    assert_int_equal(read_vom_open_memory("m", text, size, READ_VOM_ANY_RANK, flags, &reader, NULL), HPCW_OK);
    o->records.size = 0;
    o->status[0] = read_vom_run(reader, UINT64_MAX, &events, &err[0]);
    read_vom_free(reader);
    o->status[1] = read_vom_verify_memory("m", text, size, flags | READ_VOM_STRICT, &err[1]);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(o->message[i], sizeof o->message[i], "%s", err[i].message);
    }
}

static void expect_equal(const struct outcome *a, const struct outcome *b) {
    for (int i = 0; i < 2; i++) {
        assert_int_equal(a->status[i], b->status[i]);
        assert_string_equal(a->message[i], b->message[i]);
    }
    assert_int_equal(a->records.size, b->records.size);
    assert_memory_equal(a->records.data, b->records.data, a->records.size);
}

/* ---- spellings ------------------------------------------------------------------------------------------- */

static void usual_records_are_taken(void **state) {
    (void)state;
    static const char *const tasks[] = {
        "{\"entity\":{\"home\":0,\"id\":1,\"migratable\":false,\"type\":\"object\"},\"node\":0,"
        "\"resource\":\"cpu\",\"time\":0.5}",
        "{\"entity\":{\"collection_id\":7,\"home\":0,\"id\":262147,\"index\":[0,4],\"migratable\":true,"
        "\"type\":\"object\"},\"node\":0,\"resource\":\"gpu\",\"subphases\":[{\"id\":0,\"time\":1e-05},"
        "{\"id\":1,\"time\":0.00031375000025946065}],\"time\":0.125}",
    };
    static const char communication[] =
        "{\"bytes\":64.0,\"from\":{\"home\":1,\"id\":3145756,\"migratable\":false,\"objgroup_id\":786435,"
        "\"type\":\"object\"},\"messages\":1,\"to\":{\"home\":0,\"id\":262147,\"migratable\":true,"
        "\"type\":\"object\"},\"type\":\"Broadcast\"}";
    const struct read_vom_spec task_spec = {.slot = READ_VOM_S_TASK};
    const struct read_vom_spec communication_spec = {.slot = READ_VOM_S_COMMUNICATION};
    const struct read_vom_events none = {0};
    char text[512] = "";
    struct read_vom *reader;
    /* Reading a whole file first allocates the memory for subphases. */
    assert_int_equal(
        read_vom_open_memory("m", vom_rank[0], strlen(vom_rank[0]), READ_VOM_ANY_RANK, 0, &reader, NULL),
        HPCW_OK);
    assert_int_equal(read_vom_run(reader, UINT64_MAX, &none, NULL), HPCW_OK);
    for (size_t i = 0; i <= COUNT(tasks); i++) {
        const bool task = i < COUNT(tasks);
        const char *record = task ? tasks[i] : communication;
        memset(text, 0, sizeof text);
        (void)snprintf(text, sizeof text - READ_VOM_PAD, "%s", record);
        const unsigned char *from = (const unsigned char *)text;
        assert_ptr_equal(read_vom_take_whole(reader, task ? &task_spec : &communication_spec, from),
                         from + strlen(record));
        for (size_t cut = 1; cut < strlen(record); cut++) {
            memset(text, 0, sizeof text);
            memcpy(text, record, cut);
            assert_null(read_vom_take_whole(reader, task ? &task_spec : &communication_spec, from));
        }
    }
    read_vom_free(reader);
}

/* Returns the text with a blank before each token. */
static char *spaced(const char *text) {
    char *out = malloc(2 * strlen(text) + 1);
    assert_non_null(out);
    size_t n = 0;
    bool in_string = false;
    for (; *text != '\0'; text++) {
        const bool quote = *text == '"'; /* the texts have no escaped quotes */
        if (!in_string && strchr("{}[],:\"", *text) != NULL) {
            out[n++] = ' ';
        }
        in_string = in_string != quote;
        out[n++] = *text;
    }
    out[n] = '\0';
    return out;
}

static void spelling_makes_no_difference(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(vom_rank); i++) {
        struct outcome o[4];
        memset(o, 0, sizeof o);
        char *blanks = spaced(vom_rank[i]);
        /* Keys in another order are not read by the fast path. */
        char *other = vom_edit(vom_rank[i], "\"home\":1,\"id\":262151", "\"id\":262151,\"home\":1");
        read_text(vom_rank[i], strlen(vom_rank[i]), 0, &o[0]);
        read_text(vom_rank[i], strlen(vom_rank[i]), READ_VOM_PARSED, &o[1]);
        read_text(blanks, strlen(blanks), 0, &o[2]);
        read_text(other, strlen(other), 0, &o[3]);
        assert_int_equal(o[0].status[0], HPCW_OK);
        assert_int_equal(o[3].status[1], HPCW_EFORMAT);
        o[3].status[1] = o[0].status[1];
        (void)snprintf(o[3].message[1], sizeof o[3].message[1], "%s", o[0].message[1]);
        for (size_t k = 1; k < COUNT(o); k++) {
            expect_equal(&o[0], &o[k]);
            hpcw_i_buf_free(&o[k].records);
        }
        hpcw_i_buf_free(&o[0].records);
        free(blanks);
        free(other);
    }
}

/* Replaces each byte by other bytes. Fast path and parser must refuse the same texts with the same message. */
static void damage_is_told_alike(void **state) {
    (void)state;
    static const char others[] = "09.,}]\"{x ";
    struct outcome whole = {.status = {0}}, parsed = {.status = {0}};
    for (size_t i = 0; i < COUNT(vom_rank); i++) {
        const size_t size = strlen(vom_rank[i]);
        char *text = vom_edit(vom_rank[i], "{", "{");
        for (size_t at = 1; at < size; at++) {
            for (size_t k = 0; others[k] != '\0'; k++) {
                text[at] = others[k];
                read_text(text, size, 0, &whole);
                read_text(text, size, READ_VOM_PARSED, &parsed);
                expect_equal(&whole, &parsed);
            }
            text[at] = vom_rank[i][at];
        }
        free(text);
    }
    hpcw_i_buf_free(&whole.records);
    hpcw_i_buf_free(&parsed.records);
}

/* ---- numbers --------------------------------------------------------------------------------------------- */

/* Expects the nearest double, as of strtod. found: the fast path must find it. */
static void expect_double(const char *number, bool found) {
    char text[128] = "";
    (void)snprintf(text, sizeof text - READ_VOM_PAD, "%s", number);
    const double nearest = strtod(text, NULL);
    double got = 0;
    bool is_float;
    const unsigned char *end = read_vom_double((const unsigned char *)text, &got, &is_float);
    if (end == NULL ? found : !(got == nearest)) {
        fail_msg("%s: expected %.17g, got %.17g", text, nearest, got);
    }
    assert_true(end == NULL || end == (const unsigned char *)text + strlen(text));
    assert_true(end == NULL || is_float == (strpbrk(text, ".eE") != NULL));
}

static void doubles_are_the_nearest(void **state) {
    (void)state;
    static const char *const found[] = {"0.0",
                                        "0e0",
                                        "0E-400",
                                        "0.000000000000000000000000000000",
                                        "1",
                                        "123456789012345678",
                                        "9007199254740993e1",
                                        "0.30000000000000004",
                                        "1e22",
                                        "1e+23",
                                        "8.5e+55",
                                        "9007199254740993e+30",
                                        "1.7976931348623157e+307",
                                        "2.2250738585072014e-276",
                                        "0.00031375000025946065",
                                        "12345678.12345678",
                                        "1e0000000000000000000005"};
    static const char *const maybe[] = {"9007199254740992.0",
                                        "9007199254740993.0",
                                        "9007199254740995.0",
                                        "18446744073709551615.0",
                                        "2.2250738585072011e-308",
                                        "5e-324",
                                        "2.4703282292062327e-324",
                                        "1.7976931348623157e+308",
                                        "1e-400",
                                        "9007199254740992.5",
                                        "4503599627370496.50000",
                                        "1.0e-292",
                                        "1e-293",
                                        "18446744073709551616.0",
                                        "0.1e-100000"};
    for (size_t i = 0; i < COUNT(found); i++) {
        expect_double(found[i], true);
    }
    for (size_t i = 0; i < COUNT(maybe); i++) {
        expect_double(maybe[i], false);
    }
    uint64_t random = 1;
    for (int i = 0; i < 200000; i++) {
        char text[64];
        double drawn;
        uint64_t bits = random_word(&random) >> 1;
        memcpy(&drawn, &bits, sizeof drawn);
        if (drawn >= 1e-275 && drawn <= 1e300) {
            /* Numbers that are exactly a double, and whose digits exceed 2^53, are left to the C library. */
            *hpcw_i_fmt_f64(text, drawn, HPCW_I_FLOAT_JSON) = '\0';
            expect_double(text, drawn < 1e6 || drawn > 1e18);
        }
        /* Numbers near the middle between two doubles, and random digits with random exponents. */
        (void)snprintf(text, sizeof text, "%.18e", drawn);
        if (drawn >= 0 && drawn <= 1e300) {
            expect_double(text, false);
        }
        const uint64_t digits = random_word(&random) >> random_below(&random, 64);
        (void)snprintf(text, sizeof text, "%" PRIu64 ".%03" PRIu64 "e%d", digits / 1000, digits % 1000,
                       (int)random_below(&random, 601) - 300);
        expect_double(text, false);
    }
}

static void what_is_no_number(void **state) {
    (void)state;
    static const char *const rows[] = {
        "",    "x",   ".5",  "-1",   "+1",  "00",  "01.5", "1.",
        "1.e", "1e",  "1e+", "1e-x", "1.x", "0x1", "1E",   "18446744073709551616",
        "e5",  "1.5e"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        unsigned char text[64] = "";
        double number;
        bool is_float;
        memcpy(text, rows[i], strlen(rows[i]));
        const unsigned char *end = read_vom_double(text, &number, &is_float);
        assert_true(end == NULL || strcmp(rows[i], "0x1") == 0);
    }
    for (unsigned digits = 1; digits <= 20; digits++) {
        unsigned char text[64] = "18446744073709551615";
        uint64_t count, expected = 0;
        for (unsigned d = 0; d < digits; d++) {
            expected = 10 * expected + (text[d] - '0');
        }
        text[digits] = '}';
        assert_ptr_equal(read_vom_count(text, &count), text + digits);
        assert_true(count == expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_records_are_taken), cmocka_unit_test(spelling_makes_no_difference),
        cmocka_unit_test(damage_is_told_alike),    cmocka_unit_test(doubles_are_the_nearest),
        cmocka_unit_test(what_is_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
