/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader returns the values that the writer wrote. Also tests what the writer and the reader refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libreader/counter/counter.h"
#include "tests/support/counter_cases.h"
#include "tests/support/files.h"

static char path[300];

static int begin(void **state) {
    (void)scratch_set_up(state);
    (void)snprintf(path, sizeof path, "%s/a.counter", scratch);
    return 0;
}

static hpcw_counter_options options(uint32_t count, const char *unit) {
    hpcw_counter_options o;
    hpcw_counter_options_init(&o);
    o.count = count;
    o.unit = unit;
    o.durability = HPCW_SYNC_NONE;
    return o;
}

static unsigned char *written(uint32_t ranks, size_t *size) {
    const hpcw_counter_options o = options(ranks, "messages");
    hpcw_error err = {.message = ""};
    if (counter_case_write(path, NULL, &o, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    unsigned char *data = read_file(path, size);
    assert_non_null(data);
    return data;
}

static hpcw_status verdict(const unsigned char *data, size_t size, hpcw_error *err) {
    struct read_counter *reader;
    hpcw_status s = read_counter_open_memory("image", data, size, &reader, err);
    if (s == HPCW_OK) {
        s = read_counter_verify(reader, err);
        read_counter_free(reader);
    }
    return s;
}

static void sizes(void **state) {
    (void)state;
    assert_int_equal(hpcw_counter_file_size(1), 48);
    assert_int_equal(hpcw_counter_file_size(HPCW_COUNTER_MAX_RANKS), 40 + (UINT64_C(8) << 26));
}

static void values_come_back(void **state) {
    (void)state;
    static const uint32_t ranks[] = {1, 2, 512, 513, 1300}; /* the reader sums 512 values at once */
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        size_t size;
        free(written(ranks[i], &size));
        assert_int_equal(size, hpcw_counter_file_size(ranks[i]));
        struct read_counter *reader;
        hpcw_error err = {.message = ""};
        bool is;
        assert_int_equal(read_counter_probe(path, &is, &err), HPCW_OK);
        assert_true(is);
        if (read_counter_open(path, &reader, &err) != HPCW_OK || read_counter_verify(reader, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        assert_int_equal(read_counter_info(reader)->ranks, ranks[i]);
        assert_string_equal(read_counter_info(reader)->unit, "messages");
        for (uint32_t rank = 0; rank < ranks[i]; rank++) {
            uint64_t value;
            assert_int_equal(read_counter_values(reader, rank, 1, &value, NULL), HPCW_OK);
            assert_true(value == counter_case_value(rank));
        }
        assert_int_equal(read_counter_values(reader, ranks[i], 1, &(uint64_t){0}, NULL), HPCW_EINVAL);
        read_counter_free(reader);
    }
}

static void damaged_files_are_refused(void **state) {
    (void)state;
    enum { UNIT_AT = 16, UNIT_END = UNIT_AT + sizeof "messages" };
    size_t size;
    hpcw_error err;
    unsigned char *data = written(3, &size);
    assert_int_equal(verdict(data, size, &err), HPCW_OK);
    for (size_t cut = 0; cut < size; cut++) {
        assert_int_equal(verdict(data, cut, &err), HPCW_ETRUNCATED);
    }
    for (size_t bit = 0; bit < 8 * size; bit++) {
        /* A changed or added letter gives another valid unit. */
        if (bit / 8 < UNIT_AT || bit / 8 >= UNIT_END) {
            data[bit / 8] ^= (unsigned char)(1u << bit % 8);
            if (verdict(data, size, &err) == HPCW_OK) {
                fail_msg("byte %zu, bit %zu: expected a refusal, got none", bit / 8, bit % 8);
            }
            data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
    }
    data = realloc(data, size + 1);
    assert_non_null(data);
    data[size] = 0;
    assert_int_equal(verdict(data, size + 1, &err), HPCW_EFORMAT);
    assert_string_equal(err.message, "image: size: expected 64 bytes for 3 ranks, got 65");
    free(data);
}

static void misuse_is_refused(void **state) {
    (void)state;
    hpcw_counter *c = NULL;
    hpcw_counter_options o = options(2, "a unit that is too long");
    assert_int_equal(hpcw_counter_open(path, NULL, &o, &c, NULL), HPCW_EINVAL);
    o = options(2, "");
    assert_int_equal(hpcw_counter_open(path, NULL, &o, &c, NULL), HPCW_EINVAL);
    o = options(0, "events");
    assert_int_equal(hpcw_counter_open(path, NULL, &o, &c, NULL), HPCW_ERANGE);
    o = options(HPCW_COUNTER_MAX_RANKS + 1, "events");
    assert_int_equal(hpcw_counter_open(path, NULL, &o, &c, NULL), HPCW_ERANGE);
    o = options(2, "events");
    assert_int_equal(hpcw_counter_open(NULL, NULL, &o, &c, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_counter_open(path, NULL, &o, NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_counter_close(NULL, NULL), HPCW_EINVAL);
    hpcw_counter_free(NULL);

    int entries = count_entries(scratch);
    hpcw_error err;
    assert_int_equal(hpcw_counter_open(path, NULL, &o, &c, NULL), HPCW_OK);
    assert_int_equal(hpcw_counter_write(c, 2, 1, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_counter_write(c, 1, 1, NULL), HPCW_OK);
    assert_int_equal(hpcw_counter_write(c, 1, 1, NULL), HPCW_ESTATE);
    assert_int_equal(hpcw_counter_close(c, &err), HPCW_ESTATE);
    assert_non_null(strstr(err.message, "a.counter: rank 0: expected a value before the close, got none"));
    assert_int_equal(hpcw_counter_write(c, 0, 1, NULL), HPCW_ESTATE);
    assert_int_equal(hpcw_counter_close(c, NULL), HPCW_ESTATE);
    hpcw_counter_free(c);
    assert_int_equal(count_entries(scratch), entries);
}

/* A caller that cannot continue gives a reason, which close reports. */
static void abandoned(void **state) {
    (void)state;
    hpcw_counter *c;
    hpcw_error err = {.code = HPCW_ENOMEM, .message = "no memory for the values"};
    hpcw_counter_options o = options(1, "events");
    assert_int_equal(hpcw_counter_open(path, NULL, &o, &c, NULL), HPCW_OK);
    hpcw_counter_abandon(c, &err);
    assert_int_equal(hpcw_counter_write(c, 0, 1, NULL), HPCW_OK);
    err = (hpcw_error){.code = HPCW_OK};
    assert_int_equal(hpcw_counter_close(c, &err), HPCW_ENOMEM);
    assert_string_equal(err.message, "no memory for the values");
    hpcw_counter_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(misuse_is_refused),
        cmocka_unit_test(abandoned),
    };
    return cmocka_run_group_tests(tests, begin, scratch_tear_down);
}
