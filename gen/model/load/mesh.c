/* SPDX-License-Identifier: BSD-3-Clause */
/* Mesh of an application whose neighbours exchange the cells at their borders. */
#include "gen/model/load/mesh.h"

#include <math.h>

#include "libwriter/base/detmath.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

/* slow: share of the deviation of ln(layers) that changes only over SLOW_PHASES phases. first: share of extra
 * layers in phase 0, in which the solver cannot start from a previous solution. [A] */
static const double slow = 0.8, first = 0.25;
enum { SLOW_PHASES = 9 };

/* Cells before block `at` along a dimension. Blocks differ by at most one cell, since the mesh size need not be
 * a multiple of the number of blocks. */
static uint64_t cells_before(const struct model_load *m, uint32_t dimension, uint32_t at) {
    const uint64_t cells = m->cells[dimension], side = m->side[dimension];
    return at * (cells / side) + at * (cells % side) / side;
}

double model_load_face(const struct model_load *m, uint32_t object, uint32_t dimension) {
    uint32_t at[3];
    double face = 1;
    model_load_index(m, object, at);
    for (uint32_t d = 0; d < m->params.dims; d++) {
        face *= d == dimension ? 1 : (double)(cells_before(m, d, at[d] + 1) - cells_before(m, d, at[d]));
    }
    return face;
}

static double normal(const struct model_load *m, uint32_t phase, uint32_t part) {
    uint32_t w[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_MESH, phase, part, 0, w);
    return hpcw_i_normal(w[0], w[1]);
}

/* Returns the number of layers in a phase. It changes slowly, as the state of the simulated solver does. */
static uint32_t layers_of(const struct model_load *m, uint32_t phase) {
    const struct model_load_params *p = &m->params;
    const uint32_t knot = phase / SLOW_PHASES;
    const double part = (double)(phase % SLOW_PHASES) / SLOW_PHASES;
    const double between = (1 - part) * normal(m, knot, 1) + part * normal(m, knot + 1, 1);
    const double z = slow * between / sqrt((1 - part) * (1 - part) + part * part) +
                     sqrt(1 - slow * slow) * normal(m, phase, 0);
    const double more = p->layers_sd > 0 && phase == 0 ? 1 + first : 1;
    const double layers = p->layers * more * hpcw_i_exp(p->layers_sd * z) + 0.5;
    return layers < 1 ? 1 : layers < MODEL_LOAD_MOST_LAYERS ? (uint32_t)layers : MODEL_LOAD_MOST_LAYERS;
}

hpcw_status model_load_fill_mesh(struct model_load *m, hpcw_error *err) {
    const struct model_load_params *p = &m->params;
    double face = sizeof(double);
    for (uint32_t d = 0; d < 3; d++) {
        uint32_t w[4];
        hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_MESH, d, 2, 0, w);
        m->cells[d] = (uint64_t)p->cells * m->side[d] + (uint64_t)(hpcw_i_uniform(w[0]) * m->side[d]);
        face *= d > 0 && d < p->dims ? p->cells + 1 : 1;
    }
    uint32_t most = 0;
    for (uint32_t k = 0; k < p->phases; k++) {
        struct model_load_phase *f = &m->phase[k];
        f->layers = layers_of(m, k);
        f->mean_ns *= (double)f->layers / p->layers;
        f->median_ns *= (double)f->layers / p->layers;
        most = f->layers > most ? f->layers : most;
    }
    return face * most <= (double)MODEL_LOAD_MOST_BYTES
               ? HPCW_OK
               : hpcw_i_fail(
                     err, HPCW_ERANGE,
                     "load.cells, load.layers: expected at most %g bytes between two objects in a phase, "
                     "got %g",
                     (double)MODEL_LOAD_MOST_BYTES, face * most);
}
