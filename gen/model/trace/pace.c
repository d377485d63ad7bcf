/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/trace/pace.h"

#include <stddef.h>

#include "libwriter/base/detmath.h"
#include "libwriter/base/rng.h"

/* A point of a distribution: the share of values below `ratio` times the median. */
struct point {
    double share, ratio;
};

/* doc/realism.md, "Calls". The last point begins the tail. */
static const struct point call[] = {{0, 0.65}, {0.01, 0.72}, {0.05, 0.83}, {0.25, 0.94},
                                    {0.5, 1},  {0.75, 1.06}, {0.9, 1.17},  {0.95, 1.35},
                                    {0.99, 3}, {0.995, 6},   {1, 20}};
static const struct point gap[] = {{0, 0.5},    {0.01, 0.6}, {0.05, 0.75}, {0.25, 0.9}, {0.5, 1}, {0.75, 1.1},
                                   {0.9, 1.35}, {0.95, 1.7}, {0.99, 3.5},  {0.995, 7},  {1, 25}};

/* The logarithm is linear between two points. */
static void fill(const struct point *point, double *quantile) {
    const double ln2 = 0.69314718055994531;
    for (uint32_t i = 0; i <= MODEL_TRACE_QUANTILES; i++) {
        const double share = (double)i / MODEL_TRACE_QUANTILES;
        while (share > point[1].share) {
            point++;
        }
        const double part = (share - point->share) / (point[1].share - point->share);
        quantile[i] = point->ratio * hpcw_i_exp(part * ln2 * hpcw_i_log2(point[1].ratio / point->ratio));
    }
}

void model_trace_delays_fill(struct model_trace_delays *delays) {
    fill(call, delays->call);
    fill(gap, delays->gap);
}

void model_trace_pace_begin(struct model_trace_pace *p, double tempo, const uint32_t word[4]) {
    *p = (struct model_trace_pace){
        .random = (uint64_t)word[0] << 32 | word[1],
        .slow = tempo * hpcw_i_exp(0.06 * hpcw_i_normal(word[2], word[3])),
    };
}
