/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the timings of rows: distributions by place, means of ranks, and how a timing goes with the next one. */
#ifndef HPCW_GEN_FIT_LINKS_TIMINGS_H
#define HPCW_GEN_FIT_LINKS_TIMINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "gen/fit/links/spread.h"
#include "gen/fit/pairs.h"
#include "gen/fit/sketch.h"

enum gen_fit_place gen_fit_place_of(uint32_t node_a, uint32_t node_b);

/* Picoseconds: below what any clock tells. */
#define GEN_FIT_LEAST_TIMING 1e-12

/* Timings by place, and means of ranks with other nodes; ln(seconds) of a timing with another node and of the next step. */
enum { GEN_FIT_OF_RANK = GEN_FIT_PLACES, GEN_FIT_TIMINGS };
struct gen_fit_timings {
    struct gen_fit_sketch *sketch[GEN_FIT_TIMINGS];
    struct gen_fit_pairs step;
};

/* False when memory runs out; free also then. */
bool gen_fit_timings_init(struct gen_fit_timings *t);
void gen_fit_timings_clear(struct gen_fit_timings *t);
void gen_fit_timings_free(struct gen_fit_timings *t);

/* A row so far: timings with other nodes; ln(seconds) of the fastest of these, and of the last timing if it was one. */
struct gen_fit_row_so_far {
    double sum, count, fastest, before;
};
#define GEN_FIT_NO_ROW                                                                                         \
    { 0, 0, INFINITY, NAN }

void gen_fit_timings_add(struct gen_fit_timings *t, struct gen_fit_row_so_far *row, enum gen_fit_place place,
                         double seconds);
void gen_fit_timings_end(struct gen_fit_timings *t, const struct gen_fit_row_so_far *row);

#endif
