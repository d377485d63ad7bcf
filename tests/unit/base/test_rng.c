/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libwriter/base/rng.h"

/* Known answers from the list of the authors of Philox. */
static void test_known_answers(void **state) {
    (void)state;
    static const struct {
        uint32_t counter[4];
        uint64_t key;
        uint32_t out[4];
    } cases[] = {
        {{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         0xffffffffffffffff,
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         0x299f31d0a4093822,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t out[4];
        hpcw_i_philox(cases[i].counter, cases[i].key, out);
        assert_memory_equal(out, cases[i].out, sizeof out);
    }
}

static void test_draw_is_the_counter_in_order(void **state) {
    (void)state;
    uint32_t by_draw[4], by_counter[4];
    hpcw_i_draw(42, HPCW_I_FOR_TIMING, 7, 8, 9, by_draw);
    hpcw_i_philox((const uint32_t[4]){7, 8, 9, 2}, 42, by_counter);
    assert_memory_equal(by_draw, by_counter, sizeof by_draw);
}

static void test_normal(void **state) {
    (void)state;
    enum { DRAWS = 1 << 18 };
    assert_true(hpcw_i_normal(0, 0) == -HPCW_I_NORMAL_MAX);
    assert_true(hpcw_i_normal(UINT32_MAX, UINT32_MAX) == HPCW_I_NORMAL_MAX);
    assert_true(hpcw_i_normal(0xffff0000, 0xffff0000) == 0);
    assert_true(HPCW_I_NORMAL_SCALE == sqrt(3) / 65536);
    double sum[5] = {0};
    for (uint32_t i = 0; i < DRAWS; i++) {
        uint32_t w[4];
        hpcw_i_draw(1, HPCW_I_FOR_TIMING, i, 0, 0, w);
        double z = hpcw_i_normal(w[0], w[1]), power = 1;
        for (int k = 0; k < 5; k++) {
            sum[k] += power;
            power *= z;
        }
    }
    assert_true(fabs(sum[1] / DRAWS) < 0.008); /* 4 standard errors */
    assert_true(fabs(sum[2] / DRAWS - 1) < 0.01);
    assert_true(fabs(sum[3] / DRAWS) < 0.02);
    assert_true(fabs(sum[4] / DRAWS - 2.7) < 0.04); /* four uniforms: 3 - 1.2 / 4 */
}

static void test_uniform_and_threshold(void **state) {
    (void)state;
    assert_true(hpcw_i_uniform(0) == 0x1p-32);
    assert_true(hpcw_i_uniform(UINT32_MAX) == 1);
    assert_int_equal(hpcw_i_threshold(0), 0);
    assert_int_equal(hpcw_i_threshold(-1), 0);
    assert_int_equal(hpcw_i_threshold(NAN), 0);
    assert_int_equal(hpcw_i_threshold(0.5), 0x80000000);
    assert_int_equal(hpcw_i_threshold(1), 0x100000000);
    assert_int_equal(hpcw_i_threshold(25), 0x100000000);
    assert_int_equal(hpcw_i_threshold(INFINITY), 0x100000000);
}

static void test_below_is_even(void **state) {
    (void)state;
    enum { DRAWS = 120000 };
    static const uint32_t bounds[] = {1, 2, 3, 7, 10, 24};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        uint32_t count[24] = {0};
        for (uint32_t k = 0; k < DRAWS; k++) {
            uint64_t x = hpcw_i_below(bounds[i], 5, HPCW_I_FOR_STEPS, k, bounds[i]);
            assert_true(x < bounds[i]);
            count[x]++;
        }
        double expected = (double)DRAWS / bounds[i], chi = 0;
        for (uint32_t x = 0; x < bounds[i]; x++) {
            chi += (count[x] - expected) * (count[x] - expected) / expected;
        }
        /* a chi-squared value has the mean bounds - 1 and the variance 2 (bounds - 1); five standard deviations
         * are allowed */
        assert_true(chi <= bounds[i] - 1 + 5 * sqrt(2.0 * (bounds[i] - 1)));
    }
}

/* With a bound just above 2^63, half of all random words are rejected. Otherwise low results would occur twice
 * as often. */
static void test_below_rejects(void **state) {
    (void)state;
    enum { DRAWS = 20000 };
    const uint64_t bound = ((uint64_t)1 << 63) + 1;
    uint32_t lower_half = 0, even = 0;
    for (uint32_t k = 0; k < DRAWS; k++) {
        uint64_t x = hpcw_i_below(bound, 6, HPCW_I_FOR_STEPS, k, 0);
        assert_true(x < bound);
        lower_half += x < bound / 2;
        even += x % 2 == 0;
    }
    assert_in_range(lower_half, DRAWS / 2 - 350, DRAWS / 2 + 350);
    assert_in_range(even, DRAWS / 2 - 350, DRAWS / 2 + 350);
    /* Without rejection, each result would be half of its first random word. About half of the results must be
     * different. */
    uint32_t differ = 0;
    for (uint32_t k = 0; k < 64; k++) {
        uint32_t w[4];
        hpcw_i_draw(6, HPCW_I_FOR_STEPS, k, 0, 0, w);
        uint64_t first = (uint64_t)w[1] << 32 | w[0];
        differ += hpcw_i_below(bound, 6, HPCW_I_FOR_STEPS, k, 0) != first >> 1;
    }
    assert_in_range(differ, 10, 54);
}

static void test_below_largest(void **state) {
    (void)state;
    uint32_t w[4];
    hpcw_i_draw(9, HPCW_I_FOR_STEPS, 3, 4, 0, w);
    /* A random word x > 0 is scaled to floor(x * (2^64 - 1) / 2^64), which is x - 1. */
    assert_int_equal(hpcw_i_below(UINT64_MAX, 9, HPCW_I_FOR_STEPS, 3, 4), ((uint64_t)w[1] << 32 | w[0]) - 1);
}

static void test_shuffle_gives_every_order(void **state) {
    (void)state;
    enum { ROUNDS = 24000 };
    uint32_t seen[24] = {0};
    for (uint32_t p = 0; p < ROUNDS; p++) {
        uint32_t v[4] = {0, 1, 2, 3}, code = 0, used = 0;
        hpcw_i_shuffle(v, 4, 11, HPCW_I_FOR_TASKS, p, 0);
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t smaller = 0;
            for (uint32_t k = i + 1; k < 4; k++) {
                smaller += v[k] < v[i];
            }
            code = code * (4 - i) + smaller;
            used |= 1u << v[i];
        }
        assert_int_equal(used, 15);
        seen[code]++;
    }
    double chi = 0;
    for (int i = 0; i < 24; i++) {
        chi += (seen[i] - 1000.0) * (seen[i] - 1000.0) / 1000.0;
    }
    assert_true(chi < 23 + 5 * sqrt(46));
}

/* Files of old seeds must not change. */
static void test_shuffle_is_pinned(void **state) {
    (void)state;
    static const uint32_t expected[8] = {6, 3, 2, 4, 0, 1, 5, 7};
    uint32_t v[8] = {0, 1, 2, 3, 4, 5, 6, 7}, parts[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    hpcw_i_shuffle(v, 8, 1, HPCW_I_FOR_STEPS, 0, 0);
    assert_memory_equal(v, expected, sizeof v);
    hpcw_i_shuffle(parts, 4, 1, HPCW_I_FOR_TASKS, 0, 0);
    hpcw_i_shuffle(parts + 4, 4, 1, HPCW_I_FOR_TASKS, 0, 4);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(parts[i] / 4, i / 4);
    }
    hpcw_i_shuffle(v, 0, 1, HPCW_I_FOR_STEPS, 0, 0);
    hpcw_i_shuffle(v, 1, 1, HPCW_I_FOR_STEPS, 0, 0);
    assert_memory_equal(v, expected, sizeof v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_draw_is_the_counter_in_order),
        cmocka_unit_test(test_normal),
        cmocka_unit_test(test_uniform_and_threshold),
        cmocka_unit_test(test_below_is_even),
        cmocka_unit_test(test_below_rejects),
        cmocka_unit_test(test_below_largest),
        cmocka_unit_test(test_shuffle_gives_every_order),
        cmocka_unit_test(test_shuffle_is_pinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
