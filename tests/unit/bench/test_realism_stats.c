/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics that tests/realism uses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/realism/stats.h"

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void test_median(void **state) {
    (void)state;
    uint64_t random = 1;
    for (size_t n = 1; n < 200; n++) {
        double value[200];
        double sorted[200];
        for (size_t i = 0; i < n; i++) {
            random = random * UINT64_C(6364136223846793005) + 1;
            /* large samples have some equal values */
            value[i] = (double)((random >> 33) % (n < 100 ? n : 1000));
        }
        memcpy(sorted, value, sizeof sorted);
        qsort(sorted, n, sizeof *sorted, by_value);
        const double expected = n % 2 != 0 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
        assert_true(stats_median(value, n) == expected);
        qsort(value, n, sizeof *value, by_value);
        assert_memory_equal(value, sorted, n * sizeof *value);
    }
}

static void test_robust(void **state) {
    (void)state;
    double value[] = {9, 1, 8, 2, 1e9, 7, 3, 6, 4};
    double middle;
    double sd;
    stats_robust(value, 9, &middle, &sd);
    assert_true(middle == 6 && fabs(sd - 1.4826 * 3) < 1e-12);
}

static void test_values(void **state) {
    (void)state;
    struct stats_values s = {0};
    for (int i = 0; i < 1000000; i++) {
        stats_add(&s, i);
    }
    assert_true(s.count == 1000000 && s.min == 0 && s.max == 999999 && stats_mean(&s) == 499999.5);
    assert_true(fabs(stats_quantile(&s, 0.5) / 500000 - 1) < 0.02);
    assert_true(fabs(stats_quantile(&s, 0.9) / 900000 - 1) < 0.02);
    stats_free(&s);
}

static void test_correlation(void **state) {
    (void)state;
    struct stats_pairs up = {0};
    struct stats_pairs down = {0};
    struct stats_pairs none = {0};
    struct stats_pairs constant = {0};
    for (int i = 0; i < 100; i++) {
        stats_pair(&up, 1e6 + i, 3 * i);
        stats_pair(&down, i, 7 - 0.5 * i);
        stats_pair(&none, i % 2, i / 2 % 2);
        stats_pair(&constant, i, 5);
    }
    assert_true(fabs(stats_correlation(&up) - 1) < 1e-12);
    assert_true(fabs(stats_correlation(&down) + 1) < 1e-12);
    assert_true(fabs(stats_correlation(&none)) < 1e-12);
    assert_true(stats_correlation(&constant) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median),
        cmocka_unit_test(test_robust),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_correlation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
