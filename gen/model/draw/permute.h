/* SPDX-License-Identifier: BSD-3-Clause */
/* Random permutations of any length without a table: each entry, and its inverse, in constant time and memory. */
#ifndef HPCW_GEN_MODEL_DRAW_PERMUTE_H
#define HPCW_GEN_MODEL_DRAW_PERMUTE_H

#include <stdint.h>

#include "gen/model/draw/draws.h"
#include "libwriter/base/rng.h"

/* A permutation of 0 .. count - 1; its draws are (half, round, key). Four rounds of a balanced Feistel network on the
 * next power of four, repeated until the result is in range (fewer than four times on average). */
struct model_permutation {
    uint32_t count, key;
    uint64_t seed;
    enum hpcw_i_purpose purpose;
};

/* Both directions; x < count. */
uint32_t model_permute(const struct model_permutation *p, uint32_t x);
uint32_t model_permute_back(const struct model_permutation *p, uint32_t y);

/* model_permute_back of first .. first + count - 1 into x[count]. */
void model_permute_back_run(const struct model_permutation *p, const struct model_lanes *lanes, uint32_t first,
                            uint32_t count, uint32_t *x);

#endif
