/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers for property tests, the same on every machine and in every run. */
#ifndef HPCW_TESTS_SUPPORT_RANDOM_H
#define HPCW_TESTS_SUPPORT_RANDOM_H

#include <stdint.h>

/* SplitMix64; `*state` is the seed. */
static inline uint64_t random_word(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Returns 0 .. bound - 1, uniform enough for tests. */
static inline uint64_t random_below(uint64_t *state, uint64_t bound) {
    return random_word(state) % bound;
}

#endif
