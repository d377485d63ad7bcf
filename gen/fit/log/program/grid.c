/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/program/grid.h"

void fit_grid_sides(struct fit_grid grid, uint32_t ranks, uint32_t side[3]) {
    model_grid_shape(ranks, grid.dims > 0 ? grid.dims : 1, side);
    for (uint32_t d = 0; grid.reversed && d < grid.dims / 2; d++) {
        const uint32_t other = side[d];
        side[d] = side[grid.dims - 1 - d];
        side[grid.dims - 1 - d] = other;
    }
}

uint32_t fit_grid_place(struct fit_grid grid, uint32_t rank, uint32_t ranks) {
    uint32_t side[3], at[3], place = 0;
    fit_grid_sides(grid, ranks, side);
    model_grid_position(side, rank, at);
    for (uint32_t d = 0; d < grid.dims; d++) {
        place = 3 * place + (at[d] == 0 ? 0 : at[d] + 1 < side[d] ? 1 : 2);
    }
    return place;
}
