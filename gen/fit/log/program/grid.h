/* SPDX-License-Identifier: BSD-3-Clause */
/* A grid of all ranks, with sides as equal as possible. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_GRID_H
#define HPCW_GEN_FIT_LOG_PROGRAM_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "gen/model/draw/grid.h"

struct fit_grid {
    uint32_t dims; /* 0 to 3 */
    /* Successive ranks are neighbours in the last dimension. false: the last dimension is the shortest one;
     * true: it is the longest one. */
    bool reversed;
};

/* Fills the sides of the grid, in the order of dimensions that model_grid_position and model_grid_cell
 * expect. */
void fit_grid_sides(struct fit_grid grid, uint32_t ranks, uint32_t side[3]);

/* Number of places of ranks on a grid. The place says for each dimension whether the rank is at the begin, inside
 * or at the end. */
enum { FIT_PLACES = 27 };

/* Returns the place of a rank as a number: for each dimension a digit to the base 3, which is 0 at the begin, 1
 * inside and 2 at the end. */
uint32_t fit_grid_place(struct fit_grid grid, uint32_t rank, uint32_t ranks);

#endif
