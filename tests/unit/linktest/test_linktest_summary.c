/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures are exact: the same for any order and grouping of times. The vector loop is compared with plain
 * arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libwriter/base/bytes.h"
#include "libwriter/format/linktest/summary.h"
#include "tests/support/random.h"

static uint64_t random_time(uint64_t *rng) {
    uint64_t t = random_word(rng) >> (12 + random_below(rng, 50));
    return t == 0 ? 1 : t;
}

static void seconds_are_the_nearest_doubles(void **state) {
    (void)state;
    assert_true(hpcw_i_linktest_seconds(2000000) == 2.00e-6);
    assert_true(hpcw_i_linktest_seconds(1) == 1e-12);
    assert_true(hpcw_i_linktest_seconds(123456789) == 123.456789e-6);
    assert_true(hpcw_i_linktest_seconds((UINT64_C(1) << 52) - 1) == 4503.599627370495);
}

static void rows_are_encoded_as_one_by_one(void **state) {
    (void)state;
    enum { MOST = 5000 };
    static uint64_t time[MOST];
    static unsigned char out[8 * MOST + 8];
    uint64_t rng = 5;
    for (size_t count = 0; count <= MOST; count += 1 + count / 7) {
        hpcw_linktest_range want;
        hpcw_linktest_range got;
        hpcw_i_linktest_range_clear(&want);
        hpcw_i_linktest_range_clear(&got);
        for (size_t i = 0; i < count; i++) {
            time[i] = random_time(&rng);
            hpcw_i_linktest_range_add(&want, time[i]);
        }
        memset(out, 0xaa, sizeof out);
        size_t at = count % 3; /* the output may have any alignment */
        assert_int_equal(hpcw_i_linktest_encode_times(time, count, out + at, &got), count);
        assert_memory_equal(&want, &got, sizeof got);
        for (size_t i = 0; i < count; i++) {
            assert_true(hpcw_i_get_f64(out + at + 8 * i, false) == (double)time[i] / 1e12);
        }
        assert_int_equal(out[at + 8 * count], 0xaa);
    }
}

static void the_first_bad_time_is_found(void **state) {
    (void)state;
    static uint64_t time[4200];
    static unsigned char out[8 * 4200];
    static const uint64_t bad[] = {0, UINT64_C(1) << 52, UINT64_MAX, (UINT64_C(1) << 63) + 1};
    for (size_t i = 0; i < 4200; i++) {
        time[i] = i + 1;
    }
    for (size_t at = 0; at < 4200; at = at * 2 + 1) {
        for (size_t k = 0; k < 4; k++) {
            hpcw_linktest_range range;
            hpcw_i_linktest_range_clear(&range);
            time[at] = bad[k];
            time[4199] = bad[3 - k];
            assert_int_equal(hpcw_i_linktest_encode_times(time, 4200, out, &range), at);
            time[at] = at + 1;
            time[4199] = 4200;
        }
    }
}

static void ranges_merge_in_any_grouping(void **state) {
    (void)state;
    uint64_t rng = 8;
    for (unsigned round = 0; round < 200; round++) {
        hpcw_linktest_range all;
        hpcw_linktest_range part[5];
        hpcw_i_linktest_range_clear(&all);
        for (size_t k = 0; k < 5; k++) {
            hpcw_i_linktest_range_clear(&part[k]);
        }
        for (unsigned i = 0; i < 300; i++) {
            uint64_t t = random_time(&rng);
            hpcw_i_linktest_range_add(&all, t);
            hpcw_i_linktest_range_add(&part[random_below(&rng, 5)], t);
        }
        for (size_t left = 5; left > 1; left--) {
            size_t i = random_below(&rng, left);
            hpcw_linktest_range last = part[left - 1];
            if (i != left - 1) {
                hpcw_linktest_range_merge(&part[i], &last);
            } else {
                hpcw_linktest_range_merge(&part[0], &last);
            }
        }
        assert_memory_equal(&all, &part[0], sizeof all);
    }
}

/* Sums beyond 64 bits: 2^20 merges of the longest times. */
static void sums_do_not_wrap(void **state) {
    (void)state;
    hpcw_linktest_range r;
    hpcw_i_linktest_range_clear(&r);
    hpcw_i_linktest_range_add(&r, (UINT64_C(1) << 52) - 1);
    for (unsigned doubling = 0; doubling < 40; doubling++) {
        hpcw_linktest_range twice = r;
        hpcw_linktest_range_merge(&r, &twice);
    }
    assert_true(r.count == UINT64_C(1) << 40);
    assert_true(r.sum_high == (((UINT64_C(1) << 52) - 1) >> 24) && r.sum_low == UINT64_MAX << 40);
    assert_true(hpcw_i_linktest_mean_seconds(&r) == 4503.599627370495);
    assert_true(r.max_ps == r.min_ps);
}

static void means_are_exact(void **state) {
    (void)state;
    hpcw_linktest_range none;
    hpcw_i_linktest_range_clear(&none);
    assert_true(hpcw_i_linktest_mean_seconds(&none) == 0);
    assert_true(none.count == 0 && none.min_ps == UINT64_MAX && none.max_ps == 0);
    uint64_t rng = 13;
    for (unsigned round = 0; round < 2000; round++) {
        hpcw_linktest_range r = {.count = 1 + random_below(&rng, UINT64_C(1) << random_below(&rng, 50))};
        uint64_t mean = random_time(&rng);
        uint64_t rest = random_below(&rng, r.count);
        unsigned __int128 sum = (unsigned __int128)mean * r.count + rest;
        r.sum_low = (uint64_t)sum;
        r.sum_high = (uint64_t)(sum >> 64);
        double want = ((double)mean + (double)rest / (double)r.count) / 1e12;
        assert_true(hpcw_i_linktest_mean_seconds(&r) == want);
    }
    /* The mean of integers is exact. */
    hpcw_linktest_range pair = {2, 2000000, 2500000, 4500000, 0};
    assert_true(hpcw_i_linktest_mean_seconds(&pair) == 2.25e-6);
}

static int by_rule(const void *a_, const void *b_) {
    const hpcw_linktest_slow *a = a_;
    const hpcw_linktest_slow *b = b_;
    if (a->time_ps != b->time_ps) {
        return a->time_ps > b->time_ps ? -1 : 1;
    }
    if (a->from != b->from) {
        return a->from < b->from ? -1 : 1;
    }
    return a->to < b->to ? -1 : a->to > b->to;
}

/* Of equal times, the ranks decide which stay in the list, not the order of insertion. */
static void ties_do_not_depend_on_the_order(void **state) {
    (void)state;
    enum { N = 20, ALL = N * (N - 1) };
    uint64_t rng = 21;
    for (unsigned round = 0; round < 300; round++) {
        static hpcw_linktest_slow all[ALL];
        size_t n = 0;
        for (uint32_t i = 0; i < N; i++) {
            for (uint32_t k = 0; k < N; k++) {
                if (i != k) {
                    all[n++] = (hpcw_linktest_slow){1 + random_below(&rng, 1 + round % 7), 0, i, k};
                }
            }
        }
        for (size_t i = n - 1; i > 0; i--) {
            size_t k = random_below(&rng, i + 1);
            hpcw_linktest_slow swap = all[i];
            all[i] = all[k];
            all[k] = swap;
        }
        size_t wanted = random_below(&rng, N + 1);
        hpcw_linktest_slow kept[N];
        struct hpcw_i_linktest_slowest slowest = {kept, 0, wanted};
        for (size_t i = 0; i < n; i++) {
            hpcw_i_linktest_slowest_add(&slowest, &all[i]);
        }
        qsort(all, n, sizeof *all, by_rule);
        assert_int_equal(slowest.count, wanted);
        hpcw_linktest_sort_slow(kept, wanted);
        assert_memory_equal(kept, all, wanted * sizeof *kept);
    }
    hpcw_linktest_sort_slow(NULL, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_are_the_nearest_doubles),
        cmocka_unit_test(rows_are_encoded_as_one_by_one),
        cmocka_unit_test(the_first_bad_time_is_found),
        cmocka_unit_test(ranges_merge_in_any_grouping),
        cmocka_unit_test(sums_do_not_wrap),
        cmocka_unit_test(means_are_exact),
        cmocka_unit_test(ties_do_not_depend_on_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
