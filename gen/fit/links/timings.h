/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics of timings: the distribution for each place of the partner, the mean timings of ranks, and the
 * correlation of successive timings. */
#ifndef HPCW_GEN_FIT_LINKS_TIMINGS_H
#define HPCW_GEN_FIT_LINKS_TIMINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "gen/fit/links/spread.h"
#include "gen/fit/pairs.h"
#include "gen/fit/sketch.h"

enum gen_fit_place gen_fit_place_of(uint32_t node_a, uint32_t node_b);

/* A shorter timing, in seconds, counts as 0. No clock resolves a picosecond. */
#define GEN_FIT_LEAST_TIMING 1e-12

/* sketch: distributions of the timings at each place and, in [GEN_FIT_OF_RANK], of each rank's mean timing with
 * other nodes. step: pairs of ln(seconds) of two successive timings of a rank, both with other nodes. */
enum { GEN_FIT_OF_RANK = GEN_FIT_PLACES, GEN_FIT_TIMINGS };
struct gen_fit_timings {
    struct gen_fit_sketch *sketch[GEN_FIT_TIMINGS];
    struct gen_fit_pairs step;
};

/* Returns false when memory runs out. Call gen_fit_timings_free even then. */
bool gen_fit_timings_init(struct gen_fit_timings *t);
void gen_fit_timings_clear(struct gen_fit_timings *t);
void gen_fit_timings_free(struct gen_fit_timings *t);

/* Sums over the timings with other nodes in the row that is being added. fastest: ln(seconds) of the fastest of
 * them. before: ln(seconds) of the previous timing; NaN if it was within the node. */
struct gen_fit_row_so_far {
    double sum, count, fastest, before;
};
#define GEN_FIT_NO_ROW                                                                                         \
    { 0, 0, INFINITY, NAN }

void gen_fit_timings_add(struct gen_fit_timings *t, struct gen_fit_row_so_far *row, enum gen_fit_place place,
                         double seconds);
void gen_fit_timings_end(struct gen_fit_timings *t, const struct gen_fit_row_so_far *row);

#endif
