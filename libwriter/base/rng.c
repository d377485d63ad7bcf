/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/base/rng.h"

#include <assert.h>

__extension__ typedef unsigned __int128 uint128;

void hpcw_i_philox(const uint32_t counter[4], uint64_t seed, uint32_t out[4]) {
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < HPCW_I_PHILOX_ROUNDS; round++) {
        uint64_t p0 = (uint64_t)HPCW_I_PHILOX_MULTIPLIER_0 * c0;
        uint64_t p1 = (uint64_t)HPCW_I_PHILOX_MULTIPLIER_1 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += HPCW_I_PHILOX_INCREMENT_0;
        k1 += HPCW_I_PHILOX_INCREMENT_1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

void hpcw_i_draw(uint64_t seed, enum hpcw_i_purpose purpose, uint32_t a, uint32_t b, uint32_t c,
                 uint32_t out[4]) {
    hpcw_i_philox((const uint32_t[4]){a, b, c, (uint32_t)purpose}, seed, out);
}

double hpcw_i_normal(uint32_t word0, uint32_t word1) {
    uint32_t sum = (word0 & 0xffff) + (word0 >> 16) + (word1 & 0xffff) + (word1 >> 16);
    return (double)((int32_t)sum - HPCW_I_NORMAL_CENTRE) * HPCW_I_NORMAL_SCALE;
}

double hpcw_i_uniform(uint32_t word) {
    return ((double)word + 1.0) * 0x1p-32;
}

uint64_t hpcw_i_threshold(double probability) {
    const double all = 0x1p32;
    double scaled = probability * all;
    if (!(scaled > 0)) { /* also true for a NaN */
        return 0;
    }
    return scaled >= all ? (uint64_t)1 << 32 : (uint64_t)scaled;
}

uint64_t hpcw_i_below(uint64_t bound, uint64_t seed, enum hpcw_i_purpose purpose, uint32_t a, uint32_t b) {
    assert(bound > 0);
    /* Reject the values of the low word below 2^64 mod bound. Otherwise some results would occur more often than
     * others. */
    const uint64_t surplus = (0 - bound) % bound;
    for (uint32_t attempt = 0;; attempt++) {
        uint32_t w[4];
        hpcw_i_draw(seed, purpose, a, b, attempt, w);
        for (int half = 0; half < 4; half += 2) {
            uint128 product = (uint128)((uint64_t)w[half + 1] << 32 | w[half]) * bound;
            if ((uint64_t)product >= surplus) {
                return (uint64_t)(product >> 64);
            }
        }
    }
}

void hpcw_i_shuffle(uint32_t *item, uint32_t count, uint64_t seed, enum hpcw_i_purpose purpose,
                    uint32_t permutation, uint32_t first_slot) {
    for (uint32_t i = count; i-- > 1;) {
        uint32_t j = (uint32_t)hpcw_i_below((uint64_t)i + 1, seed, purpose, first_slot + i, permutation);
        uint32_t t = item[i];
        item[i] = item[j];
        item[j] = t;
    }
}
