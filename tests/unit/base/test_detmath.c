/* SPDX-License-Identifier: BSD-3-Clause */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libwriter/base/detmath.h"
#include "libwriter/base/rng.h"

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Number of doubles between two finite values of the same sign. */
static uint64_t ulps(double a, double b) {
    uint64_t x = bits_of(a), y = bits_of(b);
    return x > y ? x - y : y - x;
}

/* Returns values evenly spaced over lo .. hi. */
static double spread(uint32_t index, double lo, double hi) {
    uint32_t w[4];
    hpcw_i_draw(3, HPCW_I_FOR_TIMING, index, 0, 0, w);
    double u = ((double)w[0] * 0x1p32 + (double)w[1]) * 0x1p-64;
    return lo + (hi - lo) * u;
}

static void test_exp_against_libm(void **state) {
    (void)state;
    enum { POINTS = 1 << 20 };
    static const double ranges[][2] = {{-745, 709.7}, {-1, 1}, {-40, 40}, {-0x1p-20, 0x1p-20}};
    uint64_t worst = 0;
    for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
        for (uint32_t i = 0; i < POINTS / 4; i++) {
            double x = spread(i, ranges[r][0], ranges[r][1]);
            uint64_t d = ulps(hpcw_i_exp(x), exp(x));
            worst = d > worst ? d : worst;
        }
    }
    print_message("exp: at most %" PRIu64 " ulp from libm\n", worst);
    assert_true(worst <= 1);
}

static void test_log2_against_libm(void **state) {
    (void)state;
    enum { POINTS = 1 << 20 };
    uint64_t worst = 0;
    for (uint32_t i = 0; i < POINTS; i++) {
        double x = i % 2 == 0 ? spread(i, 0.5, 2) : exp(spread(i, -744, 709));
        double y = log2(x);
        if (y == 0) {
            continue;
        }
        uint64_t d = ulps(fabs(hpcw_i_log2(x)), fabs(y));
        assert_true(signbit(hpcw_i_log2(x)) == signbit(y));
        worst = d > worst ? d : worst;
    }
    print_message("log2: at most %" PRIu64 " ulp from libm\n", worst);
    assert_true(worst <= 3);
}

static void test_special_values(void **state) {
    (void)state;
    assert_true(hpcw_i_exp(0) == 1);
    assert_true(hpcw_i_exp(-0.0) == 1);
    assert_true(hpcw_i_exp(710) == INFINITY);
    assert_true(hpcw_i_exp(INFINITY) == INFINITY);
    assert_true(hpcw_i_exp(-INFINITY) == 0);
    assert_true(hpcw_i_exp(-746) == 0);
    assert_true(hpcw_i_exp(-744.4) == DBL_TRUE_MIN);
    assert_true(isnan(hpcw_i_exp(NAN)));
    assert_true(isfinite(hpcw_i_exp(709.78)));
    assert_true(ulps(hpcw_i_exp(-720.0), exp(-720.0)) <= 1); /* subnormal */

    assert_true(hpcw_i_log2(0) == -INFINITY);
    assert_true(hpcw_i_log2(INFINITY) == INFINITY);
    assert_true(isnan(hpcw_i_log2(NAN)));
    assert_true(isnan(hpcw_i_log2(-1)));
    for (int e = -1074; e <= 1023; e++) {
        assert_true(hpcw_i_log2(ldexp(1, e)) == e);
    }
}

/* Every compiler and machine gives the same bits, since written data depend on them. */
static void test_bits_are_pinned(void **state) {
    (void)state;
    uint64_t hash = 0xcbf29ce484222325;
    for (uint32_t i = 0; i < 10000; i++) {
        const uint64_t results[] = {
            bits_of(hpcw_i_exp(spread(i, -700, 700))),
            bits_of(hpcw_i_log2(spread(i, 0, 2))),
        };
        for (size_t k = 0; k < sizeof results / sizeof results[0]; k++) {
            hash = (hash ^ results[k]) * 0x100000001b3;
        }
    }
    assert_int_equal(bits_of(hpcw_i_exp(1)), 0x4005bf0a8b14576a);
    assert_int_equal(bits_of(hpcw_i_log2(10)), 0x400a934f0979a371);
    assert_int_equal(hash, 0xc15f86a7691692fc);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp_against_libm),
        cmocka_unit_test(test_log2_against_libm),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_bits_are_pinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
