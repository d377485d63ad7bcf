/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of the row makers: the functions that compute the timings of a rank, one for each instruction set.
 * Private to the LinkTest model. */
#ifndef HPCW_GEN_MODEL_LINKTEST_ROW_H
#define HPCW_GEN_MODEL_LINKTEST_ROW_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "gen/model/linktest/linktest.h"
#include "libwriter/base/rng.h"

/* Computes x / divisor for x < 2^30 as (x * factor) >> shift. */
struct model_divider {
    uint32_t factor, shift;
};

/* Number of extra entries at the end of the arrays with an entry per step, since the code works on whole
 * vectors. */
enum { MODEL_ROW_PAD = 16 };

#define MODEL_NO_REGION_PAIR UINT32_MAX

struct model_linktest_row {
    const uint32_t *partner; /* [count] */
    uint64_t *time_ps;       /* [count] */
    uint32_t count, first_step;
    uint32_t rank, permutation;
    uint64_t seed, job_seed;

    /* Undisturbed time to a rank of another node n, ps: fixed[n] + wait[n] * congestion of the link */
    const double *fixed, *wait;
    struct model_divider to_node;
    const double *own_node; /* [ppn] undisturbed time to each rank of the own node, ps */
    uint32_t own_first, ppn;

    /* congestion[k] is the congestion of step k between two regions, region_pair[k]. Most ranks have the same
     * region pair in a step, so the next rank reuses the value. */
    uint32_t *region_pair;    /* [steps + MODEL_ROW_PAD], or NULL without congestion */
    double *congestion;       /* [steps + MODEL_ROW_PAD] */
    const uint32_t *window;   /* [steps + MODEL_ROW_PAD] */
    const double *background; /* [steps + MODEL_ROW_PAD] */
    const uint32_t *region;   /* [nodes] */
    uint32_t own_region;
    double congestion_step;

    /* noise, as a share of the undisturbed time: pair_scale * p^2 + message_scale * m^2, with shifted normal
     * draws p for the pair and m for the timing */
    double pair_scale, message_scale;
    uint64_t tail_threshold;
    double tail_ps, tail_max_ps, messages;
    uint32_t *delayed; /* [count] out: indices of the timings with a delay, ascending */
    uint32_t *delays;  /* out: number of entries of `delayed` */
};

model_linktest_row_fn model_linktest_row_scalar;
model_linktest_row_fn model_linktest_row_avx2;

/* Timings are within 1 .. 2^51 ps. In this range, adding 2^52 rounds a double to an integer. */
#define MODEL_TIME_MIN 1.0
#define MODEL_TIME_MAX 0x1p51

/* Returns a delay per message, ps: a Pareto distribution with exponent 2. */
static inline double model_linktest_tail(double tail_ps, double tail_max_ps, double messages, uint32_t word) {
    double size = tail_ps / sqrt(hpcw_i_uniform(word));
    return (size < tail_max_ps ? size : tail_max_ps) / messages;
}

#endif
