/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/draw/permute.h"

#include <assert.h>

enum { ROUNDS = 4 };

/* Bits of half a block. The network permutes blocks of the smallest even number of bits that can hold count -
 * 1. */
static uint32_t half_bits(uint32_t count) {
    uint32_t bits = 1;
    while (bits < 16 && (UINT64_C(1) << 2 * bits) < count) {
        bits++;
    }
    return bits;
}

static uint32_t scrambled(const struct model_permutation *p, uint32_t half, uint32_t round) {
    uint32_t w[4];
    hpcw_i_draw(p->seed, p->purpose, half, round, p->key, w);
    return w[0];
}

uint32_t model_permute(const struct model_permutation *p, uint32_t x) {
    assert(x < p->count);
    const uint32_t bits = half_bits(p->count);
    const uint32_t mask = ((uint32_t)1 << bits) - 1;
    do {
        uint32_t left = x >> bits;
        uint32_t right = x & mask;
        for (uint32_t round = 0; round < ROUNDS; round++) {
            uint32_t next = left ^ (scrambled(p, right, round) & mask);
            left = right;
            right = next;
        }
        x = left << bits | right;
    } while (x >= p->count);
    return x;
}

uint32_t model_permute_back(const struct model_permutation *p, uint32_t y) {
    assert(y < p->count);
    const uint32_t bits = half_bits(p->count);
    const uint32_t mask = ((uint32_t)1 << bits) - 1;
    do {
        uint32_t left = y >> bits;
        uint32_t right = y & mask;
        for (uint32_t round = ROUNDS; round-- > 0;) {
            uint32_t before = right ^ (scrambled(p, left, round) & mask);
            right = left;
            left = before;
        }
        y = left << bits | right;
    } while (y >= p->count);
    return y;
}
