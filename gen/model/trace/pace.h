/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a rank takes for calls that do not wait, and for the code between them. Quantiles are those of recorded programs
 * (doc/realism.md, "Calls"): a floor, a body, and a tail that reaches thousands of times the median, as whatever is
 * interrupted gets longer. What follows each other is alike: in an iteration all calls of a rank are a little slow or
 * fast, and a call is slow whose code and data are not in the caches.
 */
#ifndef HPCW_GEN_MODEL_TRACE_PACE_H
#define HPCW_GEN_MODEL_TRACE_PACE_H

#include <stdint.h>

/* The high bits of a word choose one of this many quantiles, the low bits interpolate. */
enum { MODEL_TRACE_QUANTILES = 1024 };

/* Quantiles over the median: of calls, and of the time between two of them. */
struct model_trace_delays {
    double call[MODEL_TRACE_QUANTILES + 1], gap[MODEL_TRACE_QUANTILES + 1];
};
void model_trace_delays_fill(struct model_trace_delays *delays);

/* The last cell is the tail: a Pareto distribution with exponent 1, cut at a hundred times its beginning. */
static inline double model_trace_late(const double *quantile, uint32_t word) {
    const uint32_t at = word >> 22;
    const double within = (word & 0x3fffff) * 0x1p-22;
    return at + 1 < MODEL_TRACE_QUANTILES ? quantile[at] + within * (quantile[at + 1] - quantile[at])
                                          : quantile[at] / (1 - 0.99 * within);
}
_Static_assert(MODEL_TRACE_QUANTILES == 1 << 10, "the high bits of a word");

/* A rank in an iteration. */
struct model_trace_pace {
    uint64_t random;
    double slow; /* factor of all calls */
    double cold_ns,
        cold_call_ns; /* what the next gap and the next call take longer; later ones take less and less of it */
    double behind;    /* with its work in this iteration: see iteration.c */
};

/* `tempo`: the factor of all ranks. */
void model_trace_pace_begin(struct model_trace_pace *p, double tempo, const uint32_t word[4]);

static inline uint32_t model_trace_pace_word(struct model_trace_pace *p) {
    p->random = p->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(p->random >> 32);
}

/* Nanoseconds of the next one. `quantile`: of model_trace_delays; `cold_ns`: of the same kind. */
static inline uint64_t model_trace_spend(struct model_trace_pace *p, const double *quantile, double median_ns,
                                         double *cold_ns) {
    const double ns = median_ns * p->slow * model_trace_late(quantile, model_trace_pace_word(p)) + *cold_ns;
    *cold_ns *= 0.02;
    return (uint64_t)ns;
}

/* The caches hold other data now: what is before the next call takes up to this much longer, and at least half of it. */
static inline void model_trace_chill(struct model_trace_pace *p, double most_ns) {
    p->cold_ns += most_ns * (0.5 + 0.5 * (model_trace_pace_word(p) * 0x1p-32));
}

#endif
