/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>

#include "bench/measure/stats.h"
#include "libwriter/base/mem.h"

static void near(double got, double expected, double tolerance) {
    if (!(fabs(got - expected) <= tolerance)) {
        fail_msg("expected %.17g within %g, got %.17g", expected, tolerance, got);
    }
}

static struct bench_stats of(const double *x, size_t n, double level) {
    struct bench_stats s;
    hpcw_error err;
    if (bench_stats_of(x, n, level, &s, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    return s;
}

/* Values by hand: 2 3 5 7 11 13 have the mean 41/6, and the squared distances from it sum to 581/6. R's mean,
 * sd, mad and quantile agree. */
static void small_samples_are_exact(void **state) {
    (void)state;
    const double x[] = {7, 2, 13, 3, 11, 5};
    struct bench_stats s = of(x, 6, 0.95);
    assert_int_equal(s.count, 6);
    near(s.min, 2, 0);
    near(s.max, 13, 0);
    near(s.mean, 41.0 / 6, 1e-15);
    near(s.sd, sqrt(581.0 / 30), 1e-15);
    near(s.median, 6, 0);
    near(s.q25, 3.5, 0);
    near(s.q75, 10, 0);
    near(s.mad, 3.5, 0); /* distances 1 4 7 3 5 1; sorted 1 1 3 4 5 7 */
    near(s.ci_low, 2, 0);
    near(s.ci_high, 13, 0);
    near(s.ci_coverage, 1 - 2.0 / 64, 0);
    near(x[0], 7, 0); /* the input keeps its order */
}

static void one_and_two_values(void **state) {
    (void)state;
    const double x[] = {4, 8};
    struct bench_stats s = of(x, 1, 0.95);
    near(s.median, 4, 0);
    near(s.sd, 0, 0);
    near(s.mad, 0, 0);
    near(s.q25, 4, 0);
    near(s.ci_coverage, 0, 0);
    s = of(x, 2, 0.95);
    near(s.median, 6, 0);
    near(s.sd, sqrt(8), 1e-15);
    near(s.ci_low, 4, 0);
    near(s.ci_high, 8, 0);
    near(s.ci_coverage, 0.5, 0);
}

static void quantiles_stay_between_their_neighbours(void **state) {
    (void)state;
    const double same[] = {0.1, 0.1, 0.1, 0.1};
    const double big[] = {-1.7e308, 1.7e308};
    for (int i = 0; i <= 100; i++) {
        near(bench_stats_quantile(same, 4, i / 100.0), 0.1, 0);
        assert_true(isfinite(bench_stats_quantile(big, 2, i / 100.0)));
    }
    near(bench_stats_quantile(big, 2, 0.5), 0, 0);
    const double x[] = {1, 2, 3, 4};
    near(bench_stats_quantile(x, 4, 0), 1, 0);
    near(bench_stats_quantile(x, 4, 1), 4, 0);
    near(bench_stats_quantile(x, 4, 0.1), 1.3, 1e-15);
}

/* Tables of distribution-free intervals, with ranks from 1: 1-5 of 5 values (93.75 %), 2-9 of 10, 6-15 of 20,
 * 18-33 of 50. */
static void ranks_of_the_interval_agree_with_tables(void **state) {
    (void)state;
    static const struct {
        size_t n;
        double level;
        size_t low, high; /* from 1 */
        double coverage;
    } rows[] = {
        {5, 0.95, 1, 5, 0.9375},       {6, 0.95, 1, 6, 0.96875},       {8, 0.95, 1, 8, 0.9921875},
        {9, 0.95, 2, 8, 0.9609375},    {10, 0.95, 2, 9, 0.978515625},  {20, 0.95, 6, 15, 0.9586105},
        {50, 0.95, 18, 33, 0.9671609}, {10, 0.99, 1, 10, 0.998046875}, {100, 0.95, 40, 61, 0.9647998},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t low, high;
        double coverage = bench_stats_median_ranks(rows[i].n, rows[i].level, &low, &high);
        assert_int_equal(low + 1, rows[i].low);
        assert_int_equal(high + 1, rows[i].high);
        near(coverage, rows[i].coverage, 1e-7);
    }
}

static void large_counts_continue_the_small_ones(void **state) {
    (void)state;
    size_t low, high, low2, high2;
    double first = bench_stats_median_ranks(1000, 0.95, &low, &high);
    double second = bench_stats_median_ranks(1001, 0.95, &low2, &high2);
    assert_true(low2 >= low && low2 <= low + 1);
    assert_int_equal(high + low, 999);
    assert_int_equal(high2 + low2, 1000);
    near(first, second, 0.004);
    assert_true(first >= 0.95 && second >= 0.95);
    (void)bench_stats_median_ranks(1000000, 0.95, &low, &high);
    near((double)low, 500000 - 1.96 * 500, 2);
}

/* Of many samples of 11 uniform numbers, the interval must contain the true median with the promised frequency. */
static void the_interval_covers_the_median_as_often_as_promised(void **state) {
    (void)state;
    enum { SAMPLES = 20000, N = 11 };
    uint64_t r = 88172645463325252;
    int inside = 0;
    double promised = 0;
    for (int k = 0; k < SAMPLES; k++) {
        double x[N];
        for (int i = 0; i < N; i++) {
            r ^= r << 13;
            r ^= r >> 7;
            r ^= r << 17;
            x[i] = (double)(r >> 11) * 0x1p-53;
        }
        struct bench_stats s = of(x, N, 0.9);
        promised = s.ci_coverage;
        inside += s.ci_low <= 0.5 && 0.5 <= s.ci_high;
    }
    assert_true(promised >= 0.9);
    near((double)inside / SAMPLES, promised, 0.006); /* four standard errors */
}

static void small_spread_on_a_large_offset_survives(void **state) {
    (void)state;
    enum { N = 100000 };
    double *x = malloc(N * sizeof *x);
    assert_non_null(x);
    for (int i = 0; i < N; i++) {
        x[i] = 1e9 + (i % 2 == 0 ? 0.5 : -0.5);
    }
    struct bench_stats s = of(x, N, 0.95);
    near(s.mean, 1e9, 0);
    near(s.sd, 0.5 * sqrt((double)N / (N - 1)), 1e-12);
    free(x);
}

static _Bool no_memory(size_t size) {
    (void)size;
    return 0;
}

static void bad_input_is_refused(void **state) {
    (void)state;
    double x[] = {1, 2, 3};
    struct bench_stats s;
    hpcw_error err;
    assert_int_equal(bench_stats_of(x, 0, 0.95, &s, &err), HPCW_EINVAL);
    assert_int_equal(bench_stats_of(x, 3, 0, &s, &err), HPCW_EINVAL);
    assert_int_equal(bench_stats_of(x, 3, 1, &s, &err), HPCW_EINVAL);
    x[1] = strtod("nan", NULL);
    assert_int_equal(bench_stats_of(x, 3, 0.95, &s, &err), HPCW_EINVAL);
    assert_string_equal(err.message, "value 1 of 3: expected a finite number, got nan");
    x[1] = 2;
    hpcw_i_mem_gate = no_memory;
    hpcw_status status = bench_stats_of(x, 3, 0.95, &s, NULL);
    hpcw_i_mem_gate = NULL;
    assert_int_equal(status, HPCW_ENOMEM);
}

static void students_t(void **state) {
    (void)state;
    static const struct {
        size_t df;
        double tail, t;
    } table[] = {{1, 0.025, 12.7062}, {2, 0.025, 4.30265},   {3, 0.005, 5.84091},  {4, 0.05, 2.13185},
                 {9, 0.01, 2.82144},  {10, 0.0005, 4.58689}, {120, 0.025, 1.97993}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        assert_float_equal(bench_stats_student(table[i].df, table[i].tail), table[i].t, 1e-4);
    }
    assert_float_equal(bench_stats_student(1000000, 0.025), 1.96, 0.003);
    assert_true(isinf(bench_stats_student(0, 0.1)));
}

static void one_wild_value_moves_a_trimmed_mean_little(void **state) {
    (void)state;
    double mean, variance;
    size_t df;
    double x[] = {3, 1, 1000, 2, 4};
    assert_int_equal(bench_stats_trimmed(x, 5, &mean, &variance, &df, NULL), HPCW_OK);
    assert_int_equal(df, 2);
    assert_float_equal(mean, 3, 1e-12);
    /* With the ends replaced by their neighbours (2 2 3 4 4), the squared deviations sum to 4. This is divided by
     * 3 * 2. */
    assert_float_equal(variance, 4.0 / 6, 1e-12);
    assert_int_equal(bench_stats_trimmed(x, 4, &mean, &variance, &df, NULL), HPCW_OK);
    assert_int_equal(df, 3); /* four values are too few to trim any */
    assert_float_equal(mean, 251.5, 1e-9);
    assert_int_equal(bench_stats_trimmed(x, 1, &mean, &variance, &df, NULL), HPCW_OK);
    assert_int_equal(df, 0);
    assert_int_equal(bench_stats_trimmed(x, 0, &mean, &variance, &df, NULL), HPCW_EINVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(students_t),
        cmocka_unit_test(one_wild_value_moves_a_trimmed_mean_little),
        cmocka_unit_test(small_samples_are_exact),
        cmocka_unit_test(one_and_two_values),
        cmocka_unit_test(quantiles_stay_between_their_neighbours),
        cmocka_unit_test(ranks_of_the_interval_agree_with_tables),
        cmocka_unit_test(large_counts_continue_the_small_ones),
        cmocka_unit_test(the_interval_covers_the_median_as_often_as_promised),
        cmocka_unit_test(small_spread_on_a_large_offset_survives),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
