/* SPDX-License-Identifier: BSD-3-Clause */
/* Failures of JSON writing: wrong calls, values that JSON cannot represent, and sinks and allocations that fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>

#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/io/json.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

typedef void write_fn(struct hpcw_i_json *j);

static const struct hpcw_i_json_options indented = {.indent = true};
static const struct hpcw_i_json_options smallest = {.buffer_size = 1};

static void write_some(struct hpcw_i_json *j) {
    hpcw_i_json_begin_object(j);
    hpcw_i_json_put_u64(j, "number", 1);
    hpcw_i_json_put_str(j, "text", "more than ten bytes");
    hpcw_i_json_key(j, "list");
    hpcw_i_json_begin_array(j);
    hpcw_i_json_f64(j, 0.5);
    hpcw_i_json_null(j);
    hpcw_i_json_end_array(j);
    hpcw_i_json_end_object(j);
}

/* Writes about 3 MB of all values that can make the buffer grow. */
static void write_long(struct hpcw_i_json *j) {
    static char text[30000];
    memset(text, 'x', sizeof text);
    text[0] = text[sizeof text - 1] = '"';
    hpcw_i_json_begin_array(j);
    for (int i = 0; i < 30; i++) {
        hpcw_i_json_str_n(j, text + 1, sizeof text - 2);
        hpcw_i_json_str_n(j, text, sizeof text);
        for (int k = 0; k < 500; k++) {
            write_some(j);
        }
        char *p = hpcw_i_json_reserve(j, HPCW_I_JSON_RESERVE);
        if (p != NULL) {
            memset(p, '1', HPCW_I_JSON_RESERVE);
            hpcw_i_json_commit(j, p + HPCW_I_JSON_RESERVE);
        }
    }
    hpcw_i_json_end_array(j);
}

/* ---- Misuse ---------------------------------------------------------------------------------------------- */

static void no_value(struct hpcw_i_json *j) {
    (void)j;
}
static void two_values(struct hpcw_i_json *j) {
    hpcw_i_json_u64(j, 1);
    hpcw_i_json_u64(j, 2);
}
static void value_without_key(struct hpcw_i_json *j) {
    hpcw_i_json_begin_object(j);
    hpcw_i_json_str(j, "value");
    hpcw_i_json_end_object(j);
}
static void container_without_key(struct hpcw_i_json *j) {
    hpcw_i_json_begin_object(j);
    hpcw_i_json_begin_array(j);
    hpcw_i_json_end_array(j);
    hpcw_i_json_end_object(j);
}
static void key_without_value(struct hpcw_i_json *j) {
    hpcw_i_json_begin_object(j);
    hpcw_i_json_key(j, "k");
    hpcw_i_json_end_object(j);
}
static void two_keys(struct hpcw_i_json *j) {
    hpcw_i_json_begin_object(j);
    hpcw_i_json_key(j, "k");
    hpcw_i_json_put_u64(j, "k", 1);
    hpcw_i_json_end_object(j);
}
static void key_in_array(struct hpcw_i_json *j) {
    hpcw_i_json_begin_array(j);
    hpcw_i_json_put_bool(j, "k", true);
    hpcw_i_json_end_array(j);
}
static void key_at_top(struct hpcw_i_json *j) {
    hpcw_i_json_put_str(j, "k", "v");
}
static void wrong_end(struct hpcw_i_json *j) {
    hpcw_i_json_begin_array(j);
    hpcw_i_json_end_object(j);
}
static void other_wrong_end(struct hpcw_i_json *j) {
    hpcw_i_json_begin_object(j);
    hpcw_i_json_end_array(j);
}
static void end_at_top(struct hpcw_i_json *j) {
    hpcw_i_json_end_array(j);
}
static void one_end_more(struct hpcw_i_json *j) {
    hpcw_i_json_begin_array(j);
    hpcw_i_json_end_array(j);
    hpcw_i_json_end_array(j);
}
static void unfinished(struct hpcw_i_json *j) {
    hpcw_i_json_begin_array(j);
    hpcw_i_json_begin_object(j);
    hpcw_i_json_end_object(j);
}
static void too_deep(struct hpcw_i_json *j) {
    for (int i = 0; i <= HPCW_I_JSON_DEPTH; i++) {
        hpcw_i_json_begin_array(j);
    }
    for (int i = 0; i <= HPCW_I_JSON_DEPTH; i++) {
        hpcw_i_json_end_array(j);
    }
}
static void too_large_a_reservation(struct hpcw_i_json *j) {
    assert_null(hpcw_i_json_reserve(j, HPCW_I_JSON_RESERVE + 1));
    hpcw_i_json_commit(j, NULL);
}
static void reservation_without_key(struct hpcw_i_json *j) {
    hpcw_i_json_begin_object(j);
    assert_null(hpcw_i_json_reserve(j, 10));
    hpcw_i_json_commit(j, NULL);
    hpcw_i_json_end_object(j);
}
static void not_a_number(struct hpcw_i_json *j) {
    hpcw_i_json_begin_object(j);
    hpcw_i_json_put_f64(j, "time", (double)NAN);
    hpcw_i_json_end_object(j);
}
static void infinite(struct hpcw_i_json *j) {
    hpcw_i_json_f64(j, -(double)INFINITY);
}

static void misuse(void **state) {
    (void)state;
    static const struct {
        write_fn *write;
        hpcw_status status;
        const char *message;
    } rows[] = {
        {no_value, HPCW_ESTATE, "level 0, byte 0: expected the first value, got the end of the text"},
        {two_values, HPCW_ESTATE, "level 0, byte 1: expected the end of the text, got a value"},
        {value_without_key, HPCW_ESTATE,
         "level 1, byte 1: expected a key or the end of an object, got a value"},
        {container_without_key, HPCW_ESTATE, "expected a key or the end of an object, got a value"},
        {key_without_value, HPCW_ESTATE, "byte 5: expected the value of a key, got the end of an object"},
        {two_keys, HPCW_ESTATE, "expected the value of a key, got a key"},
        {key_in_array, HPCW_ESTATE, "expected a value or the end of an array, got a key"},
        {key_at_top, HPCW_ESTATE, "expected the first value, got a key"},
        {wrong_end, HPCW_ESTATE, "expected a value or the end of an array, got the end of an object"},
        {other_wrong_end, HPCW_ESTATE, "expected a key or the end of an object, got the end of an array"},
        {end_at_top, HPCW_ESTATE, "expected the first value, got the end of an array"},
        {one_end_more, HPCW_ESTATE, "expected the end of the text, got the end of an array"},
        {unfinished, HPCW_ESTATE,
         "level 1, byte 3: expected a value or the end of an array, got the end of the text"},
        {too_deep, HPCW_ESTATE, "level 64, byte 64: expected a value or the end of an array, got"},
        {too_large_a_reservation, HPCW_ESTATE, "a reservation beyond the limit"},
        {reservation_without_key, HPCW_ESTATE, "expected a key or the end of an object, got a value"},
        {not_a_number, HPCW_EINVAL, "level 1, byte 8: expected the value of a key, got NaN or an infinity"},
        {infinite, HPCW_EINVAL, "NaN or an infinity"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int layout = 0; layout < 2; layout++) {
            struct hpcw_i_json j;
            struct hpcw_i_buf buf = {0};
            hpcw_error err;
            hpcw_i_json_open_buf(&j, &buf, layout == 0 ? NULL : &indented);
            rows[i].write(&j);
            if (hpcw_i_json_status(&j) != HPCW_OK) {
                write_some(&j); /* calls after a failure are ignored */
                assert_int_equal(hpcw_i_json_status(&j), rows[i].status);
            }
            assert_int_equal(hpcw_i_json_finish(&j, &err), rows[i].status);
            assert_int_equal(err.code, rows[i].status);
            if (layout == 0 && strstr(err.message, rows[i].message) == NULL) {
                fail_msg("expected \"%s\" in \"%s\"", rows[i].message, err.message);
            }
            assert_true(buf.size == 0);
            hpcw_i_buf_free(&buf);
        }
    }
}

static void never_opened_or_closed(void **state) {
    (void)state;
    struct hpcw_i_json j = {0};
    hpcw_error err;
    hpcw_i_json_free(&j);
    assert_int_equal(hpcw_i_json_finish(&j, &err), HPCW_ESTATE);

    j = (struct hpcw_i_json){0};
    hpcw_i_json_u64(&j, 1);
    assert_int_equal(hpcw_i_json_finish(&j, NULL), HPCW_ESTATE);

    struct hpcw_i_buf buf = {0};
    hpcw_i_json_open_buf(&j, &buf, NULL);
    hpcw_i_json_u64(&j, 1);
    assert_int_equal(hpcw_i_json_finish(&j, &err), HPCW_OK);
    hpcw_i_json_free(&j);
    hpcw_i_json_u64(&j, 2);
    assert_int_equal(hpcw_i_json_finish(&j, &err), HPCW_ESTATE);
    assert_true(buf.size == 1 && buf.data[0] == '1');
    hpcw_i_buf_free(&buf);
}

/* ---- Failures from below --------------------------------------------------------------------------------- */

static void sink_without_space(void **state) {
    (void)state;
    static const uint64_t limits[] = {0, 1, 65535, 65536, 200000, 1000000};
    for (size_t i = 0; i < COUNT(limits); i++) {
        hpcw_sink *inner = NULL, *sink = NULL;
        struct hpcw_i_json j;
        hpcw_error err = {0};
        assert_int_equal(hpcw_sink_open_null(&inner, NULL), HPCW_OK);
        assert_int_equal(hpcw_sink_open_limited(inner, limits[i], 0, &sink, NULL), HPCW_OK);
        hpcw_i_json_open_sink(&j, sink, &smallest);
        write_long(&j);
        assert_int_equal(hpcw_i_json_status(&j), HPCW_ENOSPC);
        assert_int_equal(hpcw_i_json_finish(&j, &err), HPCW_ENOSPC);
        assert_int_equal(err.code, HPCW_ENOSPC);
        assert_true(err.message[0] != '\0');
        hpcw_sink_free(sink);
    }

    /* A short text stays in the buffer until the end, so the failure comes from hpcw_i_json_finish. */
    hpcw_sink *inner = NULL, *sink = NULL;
    struct hpcw_i_json j;
    hpcw_error err = {0};
    assert_int_equal(hpcw_sink_open_null(&inner, NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_open_limited(inner, 10, 0, &sink, NULL), HPCW_OK);
    hpcw_i_json_open_sink(&j, sink, NULL);
    write_some(&j);
    assert_int_equal(hpcw_i_json_status(&j), HPCW_OK);
    assert_int_equal(hpcw_i_json_finish(&j, &err), HPCW_ENOSPC);
    assert_int_equal(err.code, HPCW_ENOSPC);
    hpcw_sink_free(sink);
}

static int allocations_left;

static bool allow_some(size_t size) {
    (void)size;
    return allocations_left-- > 0;
}

static void no_memory(void **state) {
    (void)state;
    hpcw_sink *sink = NULL;
    struct hpcw_i_json j;
    hpcw_error err;
    assert_int_equal(hpcw_sink_open_null(&sink, NULL), HPCW_OK);
    allocations_left = 0;
    hpcw_i_mem_gate = allow_some;
    hpcw_i_json_open_sink(&j, sink, NULL);
    hpcw_i_mem_gate = NULL;
    write_some(&j);
    assert_int_equal(hpcw_i_json_finish(&j, &err), HPCW_ENOMEM);
    assert_int_equal(err.code, HPCW_ENOMEM);
    hpcw_sink_free(sink);

    int failures = 0;
    for (int allowed = 0; allowed < 30; allowed++) {
        struct hpcw_i_buf buf = {0};
        hpcw_i_json_open_buf(&j, &buf, NULL);
        allocations_left = allowed;
        hpcw_i_mem_gate = allow_some;
        write_long(&j);
        hpcw_i_mem_gate = NULL;
        hpcw_status status = hpcw_i_json_finish(&j, &err);
        assert_true(status == HPCW_OK || (status == HPCW_ENOMEM && buf.size == 0));
        failures += status != HPCW_OK;
        hpcw_i_buf_free(&buf);
    }
    assert_true(failures > 0 && failures < 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misuse),
        cmocka_unit_test(never_opened_or_closed),
        cmocka_unit_test(sink_without_space),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests_name("json_failures", tests, NULL, NULL);
}
