/* SPDX-License-Identifier: BSD-3-Clause */
/* Random permutations of any length without a table. Each entry and its inverse take constant time and memory. */
#ifndef HPCW_GEN_MODEL_DRAW_PERMUTE_H
#define HPCW_GEN_MODEL_DRAW_PERMUTE_H

#include <stdint.h>

#include "libwriter/base/rng.h"

/* A permutation of 0 .. count - 1. Its draws have the coordinates (half, round, key). It is a balanced Feistel
 * network of four rounds on the next power of four. The network is repeated until the result is in range: fewer
 * than four times on average. */
struct model_permutation {
    uint32_t count, key;
    uint64_t seed;
    enum hpcw_i_purpose purpose;
};

/* The permutation of x < count, and its inverse. */
uint32_t model_permute(const struct model_permutation *p, uint32_t x);
uint32_t model_permute_back(const struct model_permutation *p, uint32_t y);

#endif
