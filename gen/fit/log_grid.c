/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log_grid.h"

#include <stdlib.h>

#include "gen/model/draw/grid.h"

/* Neighbours differ in one dimension, by a step. */
static bool are_neighbours(const uint32_t side[3], bool periodic, uint32_t a, uint32_t b) {
    uint32_t at[2][3];
    uint32_t steps = 0;
    model_grid_position(side, a, at[0]);
    model_grid_position(side, b, at[1]);
    for (int d = 0; d < 3; d++) {
        const uint32_t apart = (uint32_t)abs((int)at[0][d] - (int)at[1][d]);
        steps += periodic && apart + 1 == side[d] && apart > 0 ? 1 : apart;
    }
    return steps == 1;
}

/* How many pairs there are, each way counted. */
static double neighbours_of(const uint32_t side[3], bool periodic, uint32_t ranks) {
    double neighbours = 0;
    for (int d = 0; d < 3; d++) {
        neighbours += periodic && side[d] > 2 ? 2.0 * ranks : 2.0 * ranks * (1 - 1.0 / side[d]);
    }
    return neighbours;
}

/* All pairs but those that both have are differences; what sends to each other is the same for all grids. */
static double differences(const struct hpcw_i_table *pair, uint32_t ranks, uint32_t iterations,
                          struct gen_fit_log_grid grid) {
    uint64_t key[HPCW_I_TABLE_KEY];
    const uint64_t *times;
    uint32_t side[3];
    uint64_t both = 0;
    model_grid_shape(ranks, grid.dims, side);
    for (size_t at = 0; (times = hpcw_i_table_next(pair, &at, key)) != NULL;) {
        both += are_neighbours(side, grid.periodic, (uint32_t)key[0], (uint32_t)key[1]) ? *times : 0;
    }
    return neighbours_of(side, grid.periodic, ranks) - 2.0 * (double)both / iterations;
}

struct gen_fit_log_grid gen_fit_log_grid(const struct hpcw_i_table *pair, uint32_t ranks, uint32_t iterations,
                                         struct gen_fit_log_grid usual) {
    struct gen_fit_log_grid best = usual;
    double least = differences(pair, ranks, iterations, usual);
    for (uint32_t k = 0; k < 6; k++) {
        const struct gen_fit_log_grid grid = {1 + k / 2, k % 2 == 1};
        const double here = differences(pair, ranks, iterations, grid);
        if (here < least) {
            least = here;
            best = grid;
        }
    }
    return best;
}
