/* SPDX-License-Identifier: BSD-3-Clause */
/* Basic parts: checked sizes, bytes in either order, growable buffers, and the hook for allocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libwriter/base/array.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/table.h"

static void sums_and_products_are_checked(void **state) {
    (void)state;
    uint64_t r = 0;
    assert_true(hpcw_i_add_u64(UINT64_MAX - 1, 1, &r) && r == UINT64_MAX);
    assert_false(hpcw_i_add_u64(UINT64_MAX, 1, &r));
    assert_true(hpcw_i_mul_u64(UINT32_MAX, UINT32_MAX, &r) && r == UINT64_C(0xfffffffe00000001));
    assert_false(hpcw_i_mul_u64(UINT64_C(1) << 32, UINT64_C(1) << 32, &r));
    assert_true(hpcw_i_mul_u64(UINT64_MAX, 0, &r) && r == 0);
    size_t z = 0;
    assert_true(hpcw_i_mul_size(SIZE_MAX, 1, &z) && z == SIZE_MAX);
    assert_false(hpcw_i_mul_size(SIZE_MAX / 2 + 1, 2, &z));
}

static void rounding_up_is_checked(void **state) {
    (void)state;
    uint64_t r = 0;
    assert_true(hpcw_i_round_up_u64(0, 512, &r) && r == 0);
    assert_true(hpcw_i_round_up_u64(1, 512, &r) && r == 512);
    assert_true(hpcw_i_round_up_u64(512, 512, &r) && r == 512);
    assert_true(hpcw_i_round_up_u64(201, 100, &r) && r == 300);
    assert_true(hpcw_i_round_up_u64(UINT64_MAX, 1, &r) && r == UINT64_MAX);
    assert_true(hpcw_i_round_up_u64(UINT64_MAX - 4095, 4096, &r) && r == UINT64_MAX - 4095);
    assert_false(hpcw_i_round_up_u64(UINT64_MAX - 4094, 4096, &r));
}

static void bytes_go_both_ways(void **state) {
    (void)state;
    unsigned char b[9] = {0};
    hpcw_i_put_u16(b + 1, 0x0102, false);
    assert_memory_equal(b, "\0\2\1", 3);
    hpcw_i_put_u16(b + 1, 0x0102, true);
    assert_memory_equal(b, "\0\1\2", 3);
    hpcw_i_put_u32(b + 1, 0x01020304, false);
    assert_memory_equal(b, "\0\4\3\2\1", 5);
    hpcw_i_put_u32(b + 1, 0x01020304, true);
    assert_memory_equal(b, "\0\1\2\3\4", 5);
    hpcw_i_put_u64(b + 1, UINT64_C(0x0102030405060708), false);
    assert_memory_equal(b, "\0\10\7\6\5\4\3\2\1", 9);
    hpcw_i_put_u64(b + 1, UINT64_C(0x0102030405060708), true);
    assert_memory_equal(b, "\0\1\2\3\4\5\6\7\10", 9);
    assert_true(hpcw_i_get_u64(b + 1, true) == UINT64_C(0x0102030405060708));
    assert_true(hpcw_i_get_u64(b + 1, false) == UINT64_C(0x0807060504030201));
    assert_true(hpcw_i_get_u32(b + 1, true) == 0x01020304 && hpcw_i_get_u16(b + 1, false) == 0x0201);
    hpcw_i_put_f64(b + 1, 1.0, true);
    assert_memory_equal(b + 1, "\x3f\xf0\0\0\0\0\0\0", 8);
    assert_true(hpcw_i_get_f64(b + 1, true) == 1.0);
    hpcw_i_put_f64(b + 1, -2.5, false);
    assert_true(hpcw_i_get_f64(b + 1, false) == -2.5);
}

static void buffers_grow_and_keep(void **state) {
    (void)state;
    struct hpcw_i_buf b = {0};
    assert_true(hpcw_i_buf_append(&b, NULL, 0));
    for (unsigned i = 0; i < 10000; i++) {
        unsigned char c = (unsigned char)i;
        assert_true(hpcw_i_buf_append(&b, &c, 1));
    }
    assert_true(hpcw_i_buf_append_str(&b, "end"));
    assert_int_equal(b.size, 10003);
    assert_true(b.capacity < 2 * b.size + 256);
    for (unsigned i = 0; i < 10000; i++) {
        assert_int_equal(b.data[i], (unsigned char)i);
    }
    assert_memory_equal(b.data + 10000, "end", 3);
    assert_true(hpcw_i_buf_reserve(&b, 5));
    assert_int_equal(b.size, 10003);
    hpcw_i_buf_free(&b);
    assert_null(b.data);
    assert_int_equal(b.size + b.capacity, 0);
    hpcw_i_buf_free(&b);
}

static _Bool no_large(size_t size) {
    return size < 1000;
}

static void without_memory_nothing_changes(void **state) {
    (void)state;
    struct hpcw_i_buf b = {0};
    assert_true(hpcw_i_buf_append_str(&b, "kept"));
    hpcw_i_mem_gate = no_large;
    char big[2000] = {0};
    assert_false(hpcw_i_buf_append(&b, big, sizeof big));
    assert_false(hpcw_i_buf_reserve(&b, SIZE_MAX));
    assert_null(hpcw_i_malloc(1000));
    assert_null(hpcw_i_realloc(NULL, 1000));
    hpcw_i_mem_gate = NULL;
    assert_int_equal(b.size, 4);
    assert_memory_equal(b.data, "kept", 4);
    hpcw_i_buf_free(&b);
}

static void arrays_grow(void **state) {
    (void)state;
    size_t capacity = 0, moves = 0;
    uint64_t *item = NULL;
    for (size_t i = 0; i < 10000; i++) {
        size_t before = capacity;
        item = hpcw_i_grow(item, &capacity, i + 1, sizeof *item);
        assert_non_null(item);
        assert_true(capacity > i);
        moves += capacity != before;
        item[i] = i;
    }
    assert_in_range(moves, 2, 20); /* the buffer must not move for each item */
    for (size_t i = 0; i < 10000; i++) {
        assert_int_equal(item[i], i);
    }
    /* A large request grows at once; with enough room, the address stays the same. */
    item = hpcw_i_grow(item, &capacity, 7 * capacity, sizeof *item);
    assert_non_null(item);
    assert_in_range(capacity, 70000, SIZE_MAX);
    assert_ptr_equal(hpcw_i_grow(item, &capacity, capacity, sizeof *item), item);
    /* If the size overflows or memory runs out, buffer and capacity do not change. */
    size_t before = capacity;
    assert_null(hpcw_i_grow(item, &capacity, SIZE_MAX / sizeof *item + 1, sizeof *item));
    hpcw_i_mem_gate = no_large;
    assert_null(hpcw_i_grow(item, &capacity, capacity + 1, sizeof *item));
    hpcw_i_mem_gate = NULL;
    assert_int_equal(capacity, before);
    assert_int_equal(item[9999], 9999);
    hpcw_i_free(item);
}

/* Makes the i-th key; many keys differ in a single word. */
static const uint64_t *nth_key(uint64_t i, uint64_t key[HPCW_I_TABLE_KEY]) {
    key[0] = i % 7 << 40;
    key[1] = i / 7 % 11;
    key[2] = i / 77;
    return key;
}

/* Checks that the table has exactly the first `keys` multiples of `step`, with their numbers as values. */
static void holds(const struct hpcw_i_table *d, uint64_t keys, uint64_t step) {
    uint64_t key[HPCW_I_TABLE_KEY], sum = 0;
    size_t count = 0;
    assert_int_equal(d->count, (keys + step - 1) / step);
    for (uint64_t i = 0; i < keys; i++) {
        const uint64_t *value = hpcw_i_table_find(d, nth_key(i, key));
        assert_true(i % step == 0 ? value != NULL && *value == i : value == NULL);
    }
    const uint64_t *value;
    for (size_t at = 0; (value = hpcw_i_table_next(d, &at, key)) != NULL; count++) {
        uint64_t own[HPCW_I_TABLE_KEY];
        assert_memory_equal(key, nth_key(*value, own), sizeof own);
        sum += *value;
    }
    assert_int_equal(count, d->count);
    assert_int_equal(sum, step * (count * (count - 1) / 2));
}

static void keys_are_found(void **state) {
    (void)state;
    enum { KEYS = 7 * 11 * 300 };
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct hpcw_i_table d = {.key_words = 3, .value_size = sizeof(uint64_t), .seed = seed * UINT64_MAX / 3};
        uint64_t key[HPCW_I_TABLE_KEY] = {0};
        size_t at = 0;
        assert_null(hpcw_i_table_find(&d, key));
        assert_null(hpcw_i_table_next(&d, &at, key));
        for (uint64_t i = 0; i < KEYS; i++) {
            bool fresh = false;
            uint64_t *value = hpcw_i_table_add(&d, nth_key(i, key), &fresh);
            assert_non_null(value);
            assert_true(fresh && *value == 0);
            *value = i;
            assert_ptr_equal(hpcw_i_table_add(&d, key, &fresh), value);
            assert_false(fresh);
        }
        holds(&d, KEYS, 1);
        assert_in_range(hpcw_i_table_bytes(&d), 33 * KEYS, 2 * 33 * KEYS);
        for (uint64_t i = 0; i < KEYS; i++) {
            if (i % 5 != 0) {
                hpcw_i_table_remove(&d, hpcw_i_table_find(&d, nth_key(i, key)));
            }
        }
        holds(&d, KEYS, 5);
        size_t bytes = hpcw_i_table_bytes(&d);
        hpcw_i_table_clear(&d);
        holds(&d, 0, 1);
        assert_int_equal(hpcw_i_table_bytes(&d), bytes);
        *(uint64_t *)hpcw_i_table_add(&d, nth_key(0, key), NULL) = 0;
        holds(&d, 1, 1);
        hpcw_i_table_clear(&d); /* the table used little of its memory, so the memory is freed */
        assert_int_equal(hpcw_i_table_bytes(&d), 0);
        hpcw_i_table_free(&d);
    }
}

/* A table does not change when memory runs out. Also tests a set (keys without values) and values of one byte. */
static void small_and_no_values(void **state) {
    (void)state;
    struct hpcw_i_table set = {.key_words = 2}, mark = {.key_words = 1, .value_size = 1};
    uint64_t i = 0;
    bool fresh;
    hpcw_i_mem_gate = no_large;
    for (uint64_t key[2] = {1, 1}; hpcw_i_table_add(&set, key, &fresh) != NULL; key[1]++) {
        assert_true(fresh);
    }
    for (i = 0; i < 60; i++) {
        unsigned char *m = hpcw_i_table_add(&mark, &i, NULL);
        assert_non_null(m);
        *m = (unsigned char)(i + 1);
    }
    hpcw_i_mem_gate = NULL;
    assert_in_range(set.count, 24, 60);
    const uint64_t gone[2] = {1, 0};
    for (uint64_t key[2] = {1, 2}; key[1] < set.count; key[1]++) {
        assert_non_null(hpcw_i_table_find(&set, key));
    }
    size_t count = set.count;
    while (set.count > 0) {
        uint64_t key[HPCW_I_TABLE_KEY];
        size_t at = 0;
        hpcw_i_table_remove(&set, hpcw_i_table_next(&set, &at, key));
        assert_null(hpcw_i_table_find(&set, key));
        assert_int_equal(set.count, --count);
    }
    assert_null(hpcw_i_table_find(&set, gone));
    for (i = 0; i < 60; i++) {
        assert_int_equal(*(unsigned char *)hpcw_i_table_find(&mark, &i), i + 1);
    }
    hpcw_i_table_free(&set);
    hpcw_i_table_free(&mark);
}

static void nothing_is_still_a_place(void **state) {
    (void)state;
    void *p[] = {hpcw_i_malloc(0), hpcw_i_calloc(0, 8), hpcw_i_calloc(8, 0), hpcw_i_realloc(NULL, 0)};
    for (size_t i = 0; i < sizeof p / sizeof p[0]; i++) {
        assert_non_null(p[i]);
        hpcw_i_free(p[i]);
    }
    assert_null(hpcw_i_calloc(SIZE_MAX / 2, 3));
    hpcw_i_free(NULL);
    char *copy = hpcw_i_strdup("text");
    assert_string_equal(copy, "text");
    hpcw_i_free(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_products_are_checked),
        cmocka_unit_test(rounding_up_is_checked),
        cmocka_unit_test(bytes_go_both_ways),
        cmocka_unit_test(buffers_grow_and_keep),
        cmocka_unit_test(without_memory_nothing_changes),
        cmocka_unit_test(arrays_grow),
        cmocka_unit_test(keys_are_found),
        cmocka_unit_test(small_and_no_values),
        cmocka_unit_test(nothing_is_still_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
