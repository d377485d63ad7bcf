/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers for inputs that need not be the same in later versions. */
#ifndef HPCW_BENCH_MEASURE_RANDOM_H
#define HPCW_BENCH_MEASURE_RANDOM_H

#include <stdint.h>

/* splitmix64: 64 bits, for any start value. */
static inline uint64_t bench_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

#endif
