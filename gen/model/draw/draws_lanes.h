/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements draws.h for one instruction set. Before this file, include its lane operations (lanes_*.h) and
 * define LANES_TABLE as the name of the table. */
#include <string.h>

#include "gen/model/draw/draws.h"
#include "gen/model/draw/lanes_random.h"
#include "libwriter/base/detmath.h"

/* Vectors of draws computed side by side, so that the processor can overlap them. */
enum { DRAW_VECTORS = 2 * AT_ONCE, DRAW_LANES = DRAW_VECTORS * LANES };

static inline __attribute__((always_inline)) void draw(const struct model_draws *d, const uint32_t *a,
                                                       vu c[DRAW_VECTORS][4]) {
    UNROLL for (int v = 0; v < DRAW_VECTORS; v++) {
        c[v][0] = u_load32(a + v * LANES);
        c[v][1] = u_set(d->b);
        c[v][2] = u_set(d->c);
        c[v][3] = u_set(d->purpose);
    }
    philox(d->seed, c, DRAW_VECTORS);
}

static inline __attribute__((always_inline)) void draw_normals(const struct model_draws *d, const uint32_t *a,
                                                               double *z) {
    vu c[DRAW_VECTORS][4];
    draw(d, a, c);
    UNROLL for (int v = 0; v < DRAW_VECTORS; v++) {
        d_store(z + v * LANES, d_mul(halves(c[v][0], c[v][1]), d_set(HPCW_I_NORMAL_SCALE)));
    }
}

static void normals(const struct model_draws *d, double *z) {
    const uint32_t rest = d->count % DRAW_LANES, whole = d->count - rest;
    for (uint32_t k = 0; k < whole; k += DRAW_LANES) {
        draw_normals(d, d->a + k, z + k);
    }
    if (rest != 0) {
        uint32_t a[DRAW_LANES] = {0};
        double last[DRAW_LANES];
        memcpy(a, d->a + whole, rest * sizeof *a);
        draw_normals(d, a, last);
        memcpy(z + whole, last, rest * sizeof *last);
    }
}

static inline __attribute__((always_inline)) void draw_words(const struct model_draws *d, const uint32_t *a,
                                                             uint32_t words, uint32_t *word, size_t row) {
    vu c[DRAW_VECTORS][4];
    draw(d, a, c);
    for (uint32_t k = 0; k < words; k++) {
        UNROLL for (int v = 0; v < DRAW_VECTORS; v++) {
            u_store32(word + k * row + v * LANES, c[v][k]);
        }
    }
}

static void words(const struct model_draws *d, uint32_t words, uint32_t *word) {
    const uint32_t rest = d->count % DRAW_LANES, whole = d->count - rest;
    for (uint32_t k = 0; k < whole; k += DRAW_LANES) {
        draw_words(d, d->a + k, words, word + k, d->count);
    }
    if (rest != 0) {
        uint32_t a[DRAW_LANES] = {0};
        uint32_t last[4][DRAW_LANES];
        memcpy(a, d->a + whole, rest * sizeof *a);
        draw_words(d, a, words, last[0], DRAW_LANES);
        for (uint32_t k = 0; k < words; k++) {
            memcpy(word + (size_t)k * d->count + whole, last[k], rest * sizeof *last[k]);
        }
    }
}

/* Handles very large values and NaN lane by lane; they do not occur in practice. */
static __attribute__((noinline)) vd exp_one_by_one(vd x) {
    double lane[LANES];
    d_store(lane, x);
    for (int i = 0; i < LANES; i++) {
        lane[i] = hpcw_i_exp(lane[i]);
    }
    return d_load(lane);
}

/* Does the operations of hpcw_i_exp in the same order. */
static inline __attribute__((always_inline)) vd exp_vector(vd x) {
    /* Positive doubles compare like their bits as integers. */
    vu size = u_and(d_as_u(x), u_set(INT64_MAX));
    if (u_less(size, d_as_u(d_set(700.0))) != (1u << LANES) - 1) {
        return exp_one_by_one(x);
    }
    const vd shift = d_set(HPCW_I_EXP_SHIFT);
    vd shifted = d_add(d_mul(x, d_set(HPCW_I_ONE_OVER_LN2)), shift);
    vd k = d_sub(shifted, shift);
    vd r_high = d_sub(x, d_mul(k, d_set(HPCW_I_LN2_HIGH))), r_low = d_mul(k, d_set(HPCW_I_LN2_LOW));
    vd r = d_sub(r_high, r_low);
    vd y = d_set(hpcw_i_exp_term[0]);
    UNROLL for (int i = 1; i < HPCW_I_EXP_TERMS; i++) {
        y = d_add(d_mul(y, r), d_set(hpcw_i_exp_term[i]));
    }
    y = d_add(d_add(d_mul(y, d_mul(r, r)), d_sub(d_sub(r_high, r), r_low)), r);
    y = d_add(y, d_set(1.0));
    /* The low bits of the shifted number are an integer k. Moved to the exponent, they give 2^k. */
    return d_mul(y, u_as_d(u_left(u_add(d_as_u(shifted), u_set(1023)), 52)));
}

static void exps(double *x, uint32_t count) {
    const uint32_t rest = count % LANES, whole = count - rest;
    for (uint32_t k = 0; k < whole; k += LANES) {
        d_store(x + k, exp_vector(d_load(x + k)));
    }
    if (rest != 0) {
        double last[LANES] = {0};
        memcpy(last, x + whole, rest * sizeof *last);
        d_store(last, exp_vector(d_load(last)));
        memcpy(x + whole, last, rest * sizeof *last);
    }
}

const struct model_lanes LANES_TABLE = {.normals = normals, .words = words, .exps = exps};
