/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks on a grid with sides as equal as possible. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_GRID_H
#define HPCW_GEN_FIT_LOG_PROGRAM_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "gen/model/draw/grid.h"

struct fit_grid {
    uint32_t dims; /* 0 to 3 */
    /* Ranks that follow each other are neighbours in the last dimension. false: it is the shortest one; true: the
     * longest. */
    bool reversed;
};

/* Sides in the order in which ranks are counted, for model_grid_position and model_grid_cell. */
void fit_grid_sides(struct fit_grid grid, uint32_t ranks, uint32_t side[3]);

/* A rank's place: in each dimension it is the first one, the last one or between them. */
enum { FIT_PLACES = 27 };

/* Returns the number of a rank's place, with a digit to the base 3 for each dimension. */
uint32_t fit_grid_place(struct fit_grid grid, uint32_t rank, uint32_t ranks);

#endif
