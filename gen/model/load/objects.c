/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests whether places for objects are empty; computes their positions in the index space. */
#include "gen/model/draw/grid.h"
#include "gen/model/load/load.h"
#include "libwriter/base/rng.h"

void model_load_index(const struct model_load *m, uint32_t object, uint32_t at[3]) {
    uint32_t in_block[3];
    model_grid_position(m->grid, model_load_home(m, object), at);
    model_grid_position(m->block, model_load_slot(m, object) % m->params.objects, in_block);
    for (int d = 0; d < 3; d++) {
        at[d] = at[d] * m->block[d] + in_block[d];
    }
}

bool model_load_exists(const struct model_load *m, uint32_t object) {
    uint32_t w[4];
    const uint64_t threshold = m->fill_threshold != NULL ? m->fill_threshold[model_load_home(m, object)]
                                                         : hpcw_i_threshold(m->params.fill);
    if (threshold > UINT32_MAX || model_load_slot(m, object) == 0) {
        return true;
    }
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_EXISTS, object, 0, 0, w);
    return w[0] < threshold;
}

double model_load_mean_objects(const struct model_load *m) {
    return 1 + (m->per_rank - 1) * (m->params.fill < 1 ? m->params.fill : 1);
}
