/* SPDX-License-Identifier: BSD-3-Clause */
/* The grid on which most ranks that send to each other are neighbours, as those of the model of loads are. */
#ifndef HPCW_GEN_FIT_LOG_GRID_H
#define HPCW_GEN_FIT_LOG_GRID_H

#include <stdbool.h>

#include "libwriter/base/table.h"

struct gen_fit_log_grid {
    uint32_t dims;
    bool periodic;
};

/*
 * Of grids with 1 to 3 dimensions, open or periodic, that with the fewest differences from who sends to whom: neighbours that
 * do not, and others that do. `usual` if no other one has fewer. `pair`: from, to -> in how many iterations, a uint64_t.
 */
struct gen_fit_log_grid gen_fit_log_grid(const struct hpcw_i_table *pair, uint32_t ranks, uint32_t iterations,
                                         struct gen_fit_log_grid usual);

#endif
