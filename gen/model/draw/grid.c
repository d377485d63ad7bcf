/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/draw/grid.h"

#include <assert.h>

/* Returns the largest divisor of n whose `power`-th power is at most n. */
static uint32_t near_root(uint32_t n, uint32_t power) {
    uint32_t best = 1;
    for (uint64_t d = 2; (power == 3 ? d * d * d : d * d) <= n; d++) {
        if (n % d == 0) {
            best = (uint32_t)d;
        }
    }
    return best;
}

void model_grid_shape(uint32_t n, uint32_t dims, uint32_t side[3]) {
    assert(n >= 1 && dims >= 1 && dims <= 3);
    side[0] = n;
    side[1] = side[2] = 1;
    for (uint32_t d = dims - 1; d > 0; d--) {
        side[d] = near_root(side[0], d + 1);
        side[0] /= side[d];
    }
}
