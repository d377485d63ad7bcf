/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes many draws (base/rng.h) and exponentials (base/detmath.h) at a time, in the lanes of vector
 * registers. Every instruction set gives the same bits as the scalar functions. */
#ifndef HPCW_GEN_MODEL_DRAW_DRAWS_H
#define HPCW_GEN_MODEL_DRAW_DRAWS_H

#include <stdint.h>

#include "gen/model/draw/simd.h"
#include "libwriter/base/rng.h"

/* The draws with the coordinates (a[i], b, c), i = 0 .. count - 1. */
struct model_draws {
    uint64_t seed;
    enum hpcw_i_purpose purpose;
    uint32_t count;
    const uint32_t *a; /* [count] */
    uint32_t b, c;
};

struct model_lanes {
    /* z[i] = hpcw_i_normal of the first two words. */
    void (*normals)(const struct model_draws *draws, double *z);
    /* Stores the first `words` words of each draw, 1 to 4: word[k][i] in rows of `count`. */
    void (*words)(const struct model_draws *draws, uint32_t words, uint32_t *word);
    /* x[i] = hpcw_i_exp(x[i]) */
    void (*exps)(double *x, uint32_t count);
};

/* Returns NULL if this instruction set is not available. */
const struct model_lanes *model_lanes(enum model_simd simd);

/* Private to draws.c. */
extern const struct model_lanes model_lanes_scalar;
extern const struct model_lanes model_lanes_avx2;

#endif
