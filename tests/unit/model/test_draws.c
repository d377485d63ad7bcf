/* SPDX-License-Identifier: BSD-3-Clause */
/* Many draws and exponentials at once: every instruction set gives the bits of the scalar functions, for every
 * length. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen/model/draw/draws.h"
#include "libwriter/base/detmath.h"

enum { MOST = 200, SPARE = 64 };

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void draws_of(const struct model_lanes *lanes, uint32_t count) {
    uint32_t a[MOST];
    double z[MOST + SPARE];
    uint32_t word[4 * MOST + SPARE];
    for (uint32_t i = 0; i < count; i++) {
        a[i] = i * UINT32_C(2654435761);
    }
    const struct model_draws draws = {
        UINT64_C(0x9e3779b97f4a7c15), HPCW_I_FOR_NOISE_DETOUR, count, a, 0xfffffffe - count, count * 7};
    memset(z, 0x5a, sizeof z);
    lanes->normals(&draws, z);
    for (uint32_t words = 1; words <= 4; words++) {
        memset(word, 0x5a, sizeof word);
        lanes->words(&draws, words, word);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t w[4];
            hpcw_i_draw(draws.seed, draws.purpose, a[i], draws.b, draws.c, w);
            assert_int_equal(bits_of(z[i]), bits_of(hpcw_i_normal(w[0], w[1])));
            for (uint32_t k = 0; k < words; k++) {
                assert_int_equal(word[k * count + i], w[k]);
            }
        }
        assert_int_equal(word[words * count], 0x5a5a5a5a); /* nothing was written after them */
    }
    for (uint32_t i = count; i < count + SPARE; i++) {
        assert_int_equal(bits_of(z[i]), UINT64_C(0x5a5a5a5a5a5a5a5a));
    }
}

static void draws_are_the_same(void **state) {
    (void)state;
    for (int simd = 0; simd < MODEL_SIMD_COUNT; simd++) {
        const struct model_lanes *lanes = model_lanes((enum model_simd)simd);
        assert_int_equal(lanes != NULL, model_simd_available((enum model_simd)simd));
        for (uint32_t count = 0; lanes != NULL && count <= MOST; count++) {
            draws_of(lanes, count);
        }
    }
    assert_non_null(model_lanes(MODEL_SIMD_NONE));
    assert_null(model_lanes(MODEL_SIMD_COUNT));
}

/* Powers of two come from the low bits of a sum. Tests all of them, and some numbers that take the slow path. */
static void exponentials_are_the_same(void **state) {
    (void)state;
    static const double special[] = {0.0,    -0.0,     1.0,       -1.0,  699.9999, 700.0,
                                     -700.0, 709.5,    709.8,     1e300, -745.1,   -745.3,
                                     -1e300, INFINITY, -INFINITY, NAN,   DBL_MIN,  5e-324};
    enum { SPECIAL = sizeof special / sizeof special[0] };
    for (int simd = 0; simd < MODEL_SIMD_COUNT; simd++) {
        const struct model_lanes *lanes = model_lanes((enum model_simd)simd);
        for (uint32_t round = 0; lanes != NULL && round < 3000; round++) {
            const uint32_t count = round % (MOST + 1);
            double x[MOST + 1] = {0};
            double y[MOST + 1];
            for (uint32_t i = 0; i < count; i++) {
                uint32_t w[4];
                hpcw_i_draw(5, HPCW_I_FOR_TIMING, round, i, 0, w);
                x[i] = (hpcw_i_uniform(w[0]) - 0.5) * (w[2] % 3 == 0 ? 1 : w[2] % 3 == 1 ? 60 : 1399);
                x[i] = w[1] % 500 == 0 ? special[w[3] % SPECIAL] : x[i];
            }
            memcpy(y, x, sizeof y);
            y[count] = 4;
            lanes->exps(y, count);
            for (uint32_t i = 0; i < count; i++) {
                assert_int_equal(bits_of(y[i]), bits_of(hpcw_i_exp(x[i])));
            }
            assert_true(y[count] == 4);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_are_the_same),
        cmocka_unit_test(exponentials_are_the_same),
    };
    return cmocka_run_group_tests_name("draws", tests, NULL, NULL);
}
