/* SPDX-License-Identifier: BSD-3-Clause */
/* base/rng.h in lanes. Before this file, include the lane operations of an instruction set (lanes_*.h).
 *
 * Integers are in the low halves of 64-bit lanes. The high half may be undefined if only multiplications follow,
 * since they read low halves only. */
#ifndef HPCW_GEN_MODEL_DRAW_LANES_RANDOM_H
#define HPCW_GEN_MODEL_DRAW_LANES_RANDOM_H

#include "libwriter/base/rng.h"

/* Bits of the double 2^52. OR-ing an integer n < 2^52 into them gives the double 2^52 + n. */
#define TWO_52_BITS 0x4330000000000000

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 10")
#endif

static inline void philox_round(vu c[4], uint32_t key0, uint32_t key1) {
    vu p0 = u_mul32(u_set(HPCW_I_PHILOX_MULTIPLIER_0), c[0]);
    vu p1 = u_mul32(u_set(HPCW_I_PHILOX_MULTIPLIER_1), c[2]);
    c[0] = u_xor3(u_high(p1), c[1], u_set(key0));
    c[1] = p1;
    c[2] = u_xor3(u_high(p0), c[3], u_set(key1));
    c[3] = p0;
}

/* Computes several Philox blocks at a time, round by round. The operations of a single block depend on each
 * other, those of different blocks overlap. If a counter word is constant in a loop, the compiler moves the
 * operations on it out of the loop. */
static inline __attribute__((always_inline)) void philox(uint64_t seed, vu c[][4], int blocks) {
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
    UNROLL for (int round = 0; round < HPCW_I_PHILOX_ROUNDS; round++) {
        UNROLL for (int b = 0; b < blocks; b++) {
            philox_round(c[b], key0, key1);
        }
        key0 += HPCW_I_PHILOX_INCREMENT_0;
        key1 += HPCW_I_PHILOX_INCREMENT_1;
    }
}

/* Sum of the four 16-bit halves of two words, less its mean: the integer from which hpcw_i_normal is made. */
static inline vd halves(vu word0, vu word1) {
    const vu low_halves = u_set(0x0000ffff0000ffff);
    vu words = u_join(word0, word1);
    vu sums = u_add(u_and(words, low_halves), u_and(u_right(words, 16), low_halves));
    vu sum = u_and(u_add(sums, u_high(sums)), u_set(0x3ffff));
    return d_sub(u_as_d(u_or(sum, u_set(TWO_52_BITS))), d_set(0x1p52 + HPCW_I_NORMAL_CENTRE));
}

#endif
