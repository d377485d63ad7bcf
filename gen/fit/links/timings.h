/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics of timings: distributions by place, means of ranks, and the correlation of a timing with the next
 * one. */
#ifndef HPCW_GEN_FIT_LINKS_TIMINGS_H
#define HPCW_GEN_FIT_LINKS_TIMINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "gen/fit/links/spread.h"
#include "gen/fit/pairs.h"
#include "gen/fit/sketch.h"

enum gen_fit_place gen_fit_place_of(uint32_t node_a, uint32_t node_b);

/* Seconds (a picosecond): below the resolution of any clock. */
#define GEN_FIT_LEAST_TIMING 1e-12

/* Sketches: one for each place, and GEN_FIT_OF_RANK for ranks' mean timings with other nodes. `step` pairs
 * ln(seconds) of a timing with another node with that of the next step. */
enum { GEN_FIT_OF_RANK = GEN_FIT_PLACES, GEN_FIT_TIMINGS };
struct gen_fit_timings {
    struct gen_fit_sketch *sketch[GEN_FIT_TIMINGS];
    struct gen_fit_pairs step;
};

/* Returns false when memory runs out; free it also then. */
bool gen_fit_timings_init(struct gen_fit_timings *t);
void gen_fit_timings_clear(struct gen_fit_timings *t);
void gen_fit_timings_free(struct gen_fit_timings *t);

/* Sums over the current row's timings with other nodes. fastest: ln(seconds) of the fastest. before: ln(seconds)
 * of the last timing, NaN if that was within the node. */
struct gen_fit_row_so_far {
    double sum, count, fastest, before;
};
#define GEN_FIT_NO_ROW                                                                                         \
    { 0, 0, INFINITY, NAN }

void gen_fit_timings_add(struct gen_fit_timings *t, struct gen_fit_row_so_far *row, enum gen_fit_place place,
                         double seconds);
void gen_fit_timings_end(struct gen_fit_timings *t, const struct gen_fit_row_so_far *row);

#endif
