/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/report/compare.h"

enum { TRIALS = 8 };

/* A sweep of points whose runs take this many ms, each a little longer than the one before. */
static void sweep(struct bench_results *r, struct bench_point *point, struct bench_trial trial[][TRIALS],
                  size_t points, const unsigned *ms) {
    *r = (struct bench_results){.points = points, .point = point};
    for (size_t i = 0; i < points; i++) {
        point[i] = (struct bench_point){
            .mode = BENCH_FSYNC, .bytes = 1000000, .trials = TRIALS, .trial = trial[i], .twin = SIZE_MAX};
        (void)snprintf(point[i].id, sizeof point[i].id, "point-%zu", i);
        for (uint32_t k = 0; k < TRIALS; k++) {
            trial[i][k] = (struct bench_trial){
                .repetition = k + 1, .total_ns = ms[i] * UINT64_C(1000000) + k * 1000 + i, .written_ns = 1};
        }
        assert_int_equal(bench_results_rate(&point[i], NULL), HPCW_OK);
    }
}

static void what_is_clear_is_told_from_what_is_not(void **state) {
    (void)state;
    static struct bench_results a, b;
    static struct bench_point pa[4], pb[4];
    static struct bench_trial ta[4][TRIALS], tb[4][TRIALS];
    sweep(&a, pa, ta, 4, (const unsigned[]){10, 10, 10, 10});
    sweep(&b, pb, tb, 4, (const unsigned[]){5, 20, 10, 10});
    pb[3].fate = BENCH_FAILED; /* no pair */
    pb[2].record_size = 1;
    struct bench_comparison c;
    assert_int_equal(bench_compare(&a, &b, &c, NULL), HPCW_OK);
    assert_int_equal(c.pairs, 3);
    assert_string_equal(bench_pair_verdict(&c.pair[0]), "faster");
    assert_string_equal(bench_pair_verdict(&c.pair[1]), "slower");
    assert_string_equal(bench_pair_verdict(&c.pair[2]), "no difference shown");
    assert_true(c.pair[2].other_size && !c.pair[1].other_size);
    assert_true(c.pair[0].change > 0.99 && c.pair[0].change < 1.01);
    /* 8 against 8: 2 of 12870 orders, times three pairs. */
    assert_true(c.pair[0].p > 1.55e-4 && c.pair[0].p < 1.56e-4);
    assert_true(c.pair[0].corrected == 3 * c.pair[0].p);
    assert_true(c.least > 4.66e-4 && c.least < 4.67e-4);
    bench_comparison_free(&c);
}

static void few_trials_are_said_to_show_nothing(void **state) {
    (void)state;
    static struct bench_results a, b;
    static struct bench_point pa[1], pb[1];
    static struct bench_trial ta[1][TRIALS], tb[1][TRIALS];
    sweep(&a, pa, ta, 1, (const unsigned[]){10});
    sweep(&b, pb, tb, 1, (const unsigned[]){1});
    pa[0].trials = pb[0].trials = 3;
    struct bench_comparison c;
    assert_int_equal(bench_compare(&a, &b, &c, NULL), HPCW_OK);
    assert_string_equal(bench_pair_verdict(&c.pair[0]), "no difference shown");
    assert_true(c.least > BENCH_COMPARE_LEVEL);
    bench_comparison_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_clear_is_told_from_what_is_not),
        cmocka_unit_test(few_trials_are_said_to_show_nothing),
    };
    return cmocka_run_group_tests_name("bench_compare", tests, NULL, NULL);
}
