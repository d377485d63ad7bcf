/* SPDX-License-Identifier: BSD-3-Clause */
/* Boxes of cells: the layout of ranks or objects in one to three dimensions. */
#ifndef HPCW_GEN_MODEL_DRAW_GRID_H
#define HPCW_GEN_MODEL_DRAW_GRID_H

#include <stdint.h>

/* Computes the sides of a box of n >= 1 cells in 1 to 3 dimensions. side[0] >= side[1] >= ...; they are as
 * nearly equal as the divisors of n allow; side[dims .. 2] = 1. The last dimension changes fastest with the cell
 * number. */
void model_grid_shape(uint32_t n, uint32_t dims, uint32_t side[3]);

static inline void model_grid_position(const uint32_t side[3], uint32_t cell, uint32_t at[3]) {
    at[2] = cell % side[2];
    at[1] = cell / side[2] % side[1];
    at[0] = cell / side[2] / side[1];
}

static inline uint32_t model_grid_cell(const uint32_t side[3], const uint32_t at[3]) {
    return (at[0] * side[1] + at[1]) * side[2] + at[2];
}

#endif
