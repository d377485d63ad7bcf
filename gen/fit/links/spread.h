/* SPDX-License-Identifier: BSD-3-Clause */
/* Spread and outliers of timings, by the place of the partner: same, near or far node. Tools that find slow links
 * use these figures. */
#ifndef HPCW_GEN_FIT_LINKS_SPREAD_H
#define HPCW_GEN_FIT_LINKS_SPREAD_H

#include <stddef.h>

/* Place of the partner of a timing: in the rank's node, in a near node (at most 8 numbers away) or in a far
 * node. Nodes are numbered in the order of ranks. */
enum gen_fit_place { GEN_FIT_IN_NODE, GEN_FIT_NEAR, GEN_FIT_FAR, GEN_FIT_PLACES };

struct gen_fit_timing {
    enum gen_fit_place place;
    double seconds;
};

/* A timing is far out if it lies more than this many median absolute deviations (MAD) above the median. */
#define GEN_FIT_FAR_OUT 5

/* Spread of the timings at one place. All members are 0 with fewer than GEN_FIT_LEAST_VALUES timings. */
struct gen_fit_spread {
    double timings, median_s, deviation_s; /* the MAD */
    double far_out;  /* number of timings more than GEN_FIT_FAR_OUT MAD above the median */
    double excess_s; /* median excess of the far out timings over the median */
};

/* Computes the spread at each place. Sorts the timings. */
void gen_fit_spread_of(struct gen_fit_timing *t, size_t count, struct gen_fit_spread spread[GEN_FIT_PLACES]);

/* gen_fit_far_out: share of the timings that are far out at their place. gen_fit_mean_spread: mean of MAD /
 * median over the timings. Both return NaN without timings. */
double gen_fit_far_out(const struct gen_fit_spread spread[GEN_FIT_PLACES]);
double gen_fit_mean_spread(const struct gen_fit_spread spread[GEN_FIT_PLACES]);

#endif
