/* SPDX-License-Identifier: BSD-3-Clause */
/* Random permutations of any length without a table. Each entry and its inverse take constant time and memory. */
#ifndef HPCW_GEN_MODEL_DRAW_PERMUTE_H
#define HPCW_GEN_MODEL_DRAW_PERMUTE_H

#include <stdint.h>

#include "libwriter/base/rng.h"

/* A random permutation of 0 .. count - 1: a balanced Feistel network of four rounds on the next power of four.
 * If a result is not below `count`, the network is applied again: on average, fewer than four times. The draws
 * have the coordinates (half, round, key). */
struct model_permutation {
    uint32_t count, key;
    uint64_t seed;
    enum hpcw_i_purpose purpose;
};

/* model_permute returns the image of x. model_permute_back returns the x whose image is y. */
uint32_t model_permute(const struct model_permutation *p, uint32_t x);
uint32_t model_permute_back(const struct model_permutation *p, uint32_t y);

#endif
