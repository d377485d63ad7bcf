/* SPDX-License-Identifier: BSD-3-Clause */
/* The spread of timings in a place, and the timings far out of it. Finders of slow links look at these. */
#ifndef HPCW_GEN_FIT_LINKS_SPREAD_H
#define HPCW_GEN_FIT_LINKS_SPREAD_H

#include <stddef.h>

/* Where the partner of a timing is; nodes are counted in the order of the ranks, and near ones are a few nodes apart. */
enum gen_fit_place { GEN_FIT_IN_NODE, GEN_FIT_NEAR, GEN_FIT_FAR, GEN_FIT_PLACES };

struct gen_fit_timing {
    enum gen_fit_place place;
    double seconds;
};

/* Median absolute deviations (MAD) beyond which a timing lies far out. */
#define GEN_FIT_FAR_OUT 5

/* The spread of the timings of a place. It is all zeros for fewer than GEN_FIT_LEAST_VALUES of them. */
struct gen_fit_spread {
    double timings, median_s, deviation_s; /* the MAD */
    double far_out;                        /* those above the median by more than GEN_FIT_FAR_OUT MAD */
    double excess_s;                       /* median of what these exceed the median by */
};

/* Sorts the timings. */
void gen_fit_spread_of(struct gen_fit_timing *t, size_t count, struct gen_fit_spread spread[GEN_FIT_PLACES]);

/* The share of all timings that are far out in their place, and the mean of MAD over median; NaN without timings. */
double gen_fit_far_out(const struct gen_fit_spread spread[GEN_FIT_PLACES]);
double gen_fit_mean_spread(const struct gen_fit_spread spread[GEN_FIT_PLACES]);

#endif
