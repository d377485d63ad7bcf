/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of objects and handlers in a phase, and the memory that objects hold. */
#include <assert.h>
#include <math.h>

#include "gen/model/draw/grid.h"
#include "gen/model/draw/permute.h"
#include "gen/model/load/load.h"
#include "gen/model/load/round.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/rng.h"

/* ---- work ---- */

bool model_load_is_hit(const struct model_load *m, uint32_t home) {
    const struct model_permutation order = {m->ranks, 0, m->seed, HPCW_I_FOR_LOAD_SCENARIO};
    return model_permute(&order, home) < m->hits;
}

double model_load_centre(const struct model_load *m, uint32_t phase) {
    return ((double)phase - m->params.scenario.first + 0.5) / m->params.scenario.phases * m->side[0];
}

/* The factor of an object's time falls linearly from the centre of the hot spot to 1 at its radius. */
static double hotspot(const struct model_load *m, uint32_t object, uint32_t phase) {
    const struct model_load_params *p = &m->params;
    uint32_t at[3];
    model_load_index(m, object, at);
    const double radius = m->radius;
    double distance2 = 0;
    for (uint32_t d = 0; d < p->dims; d++) {
        double centre = d == 0 ? model_load_centre(m, phase) : 0.5 * m->side[d];
        double off = at[d] + 0.5 - centre;
        distance2 += off * off;
    }
    return distance2 >= radius * radius ? 1 : 1 + (p->scenario.factor - 1) * (1 - sqrt(distance2) / radius);
}

double model_load_scenario(const struct model_load *m, uint32_t object, uint32_t phase) {
    const struct model_load_params *p = &m->params;
    if (p->scenario.kind == MODEL_SCENARIO_NONE || phase < p->scenario.first) {
        return 1;
    }
    bool over = phase - p->scenario.first >= p->scenario.phases;
    switch ((enum model_scenario)p->scenario.kind) {
    case MODEL_SCENARIO_SPIKE:
        return !over && model_load_is_hit(m, model_load_home(m, object)) ? p->scenario.factor : 1;
    case MODEL_SCENARIO_RAMP: {
        double grown = over ? 1 : (double)(phase - p->scenario.first + 1) / p->scenario.phases;
        return model_load_is_hit(m, model_load_home(m, object)) ? 1 + (p->scenario.factor - 1) * grown : 1;
    }
    case MODEL_SCENARIO_HOTSPOT:
        return over ? 1 : hotspot(m, object, phase);
    case MODEL_SCENARIO_NONE:
        break;
    }
    return 1;
}

/* Returns the smooth field at an object: interpolated between the middles of the nearest ranks' blocks, with
 * variance 1. */
static double field_at(const struct model_load *m, uint32_t object) {
    const double rho = m->params.variance.correlation;
    uint32_t home[3];
    uint32_t in_block[3];
    int64_t step[3] = {0};
    double share[3] = {0}; /* weight of the neighbouring block along each dimension */
    double variance = 1;
    model_grid_position(m->grid, model_load_home(m, object), home);
    model_grid_position(m->block, model_load_slot(m, object) % m->params.objects, in_block);
    for (uint32_t d = 0; d < m->params.dims; d++) {
        const int64_t stride = d == 0 ? (int64_t)m->grid[1] * m->grid[2] : d == 1 ? m->grid[2] : 1;
        double off = (in_block[d] + 0.5) / m->block[d] - 0.5;
        bool ends = off < 0 ? home[d] == 0 : home[d] + 1 == m->grid[d];
        if (off != 0 && !ends) {
            share[d] = off < 0 ? -off : off;
            step[d] = off < 0 ? -stride : stride;
            double rest = 1 - share[d];
            variance *= rest * rest + share[d] * share[d] + 2 * rest * share[d] * rho;
        }
    }
    double sum = 0;
    for (uint32_t corner = 0; corner < 1u << m->params.dims; corner++) {
        int64_t at = model_load_home(m, object);
        double weight = 1;
        for (uint32_t d = 0; d < m->params.dims; d++) {
            weight *= corner >> d & 1 ? share[d] : 1 - share[d];
            at += corner >> d & 1 ? step[d] : 0;
        }
        sum += weight * m->field[at];
    }
    return sum / sqrt(variance);
}

double model_load_lasting(const struct model_load *m, uint32_t object) {
    const double alike = m->params.variance.alike;
    uint32_t w[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_OBJECT, object, 0, 0, w);
    return sqrt(alike) * field_at(m, object) + sqrt(1 - alike) * hpcw_i_normal(w[0], w[1]);
}

uint64_t model_load_time(const struct model_load *m, uint32_t object, double lasting, uint32_t phase,
                         double slowness) {
    const struct model_load_params *p = &m->params;
    const struct model_load_phase *f = &m->phase[phase];
    uint32_t w[4];
    double z;
    if (phase == 0 && p->setup.own) {
        hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_OBJECT, object, 0, 0, w);
        z = hpcw_i_normal(w[2], w[3]);
        z = m->setup_tail.knots > 0 ? model_load_bend_by_table(&m->setup_tail, z) : z;
    } else {
        hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_PHASE, object, phase, 0, w);
        z = model_load_bend(&m->tail, f->lasting * lasting + f->fresh * hpcw_i_normal(w[0], w[1]));
    }
    const double ns =
        f->median_ns * hpcw_i_exp(f->sigma * z) * slowness * model_load_scenario(m, object, phase);
    return model_load_at_least_1(fmin(ns, MODEL_LOAD_MOST_NS / m->per_rank));
}

/* Returns the next part of a time, of which `left` remains for `parts` parts: an equal share, changed by up to a
 * quarter by a draw for all phases and by up to a tenth by a draw for this phase [A in params.c]. */
static uint64_t part_of(uint64_t left, uint32_t lasting, uint32_t word, uint32_t parts) {
    double share = (0.75 + 0.5 * hpcw_i_uniform(lasting)) * (0.9 + 0.2 * hpcw_i_uniform(word)) / parts;
    uint64_t ns = parts == 1 ? left : (uint64_t)((double)left * share);
    return ns < left ? ns : left;
}

void model_load_split(const struct model_load *m, uint32_t object, uint32_t phase, uint64_t time_ns,
                      uint64_t *part) {
    const uint32_t parts = m->params.subphases;
    uint32_t lasting[4] = {0};
    uint32_t w[4] = {0};
    uint64_t left = time_ns;
    for (uint32_t k = 0; k < parts; k++) {
        if (k % 4 == 0) {
            hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_SUBPHASE, object, k / 4, 0, lasting);
            hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_SUBPHASE, object, k / 4, phase + 1, w);
        }
        part[k] = part_of(left, lasting[k % 4], w[k % 4], parts - k);
        left -= part[k];
    }
}

uint64_t model_load_interruption(const struct model_load *m, uint32_t rank, uint32_t phase, uint32_t *slot) {
    const struct model_load_params *p = &m->params;
    uint32_t w[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_NOISE, rank, phase, 0, w);
    *slot = (uint32_t)((uint64_t)w[2] * m->per_rank >> 32);
    double ms = p->noise.min_ms + (p->noise.max_ms - p->noise.min_ms) * hpcw_i_uniform(w[1]);
    return w[0] < hpcw_i_threshold(p->noise.probability)
               ? (uint64_t)(ms * 1e6 * model_load_disturbed(m, rank, phase))
               : 0;
}

/* As in real files, the first half of the groups has no work. A handler has work. If a program is simulated,
 * its time is in handler_ns. */
static double other_median_ns(const struct model_load *m, uint32_t which) {
    if (which == 0 && m->programmed) {
        return 0;
    }
    return which == 0 ? 1e6 * m->params.handler.ms : which - 1 < m->params.groups / 2 ? 0 : MODEL_LOAD_GROUP_NS;
}

uint64_t model_load_other(const struct model_load *m, uint32_t rank, uint32_t which, uint32_t phase,
                          double slowness) {
    const double median_ns = other_median_ns(m, which);
    uint32_t w[4];
    if (which == 0 && m->handler_ns != NULL) {
        return m->handler_ns[(size_t)phase * m->ranks + rank];
    }
    if (median_ns == 0) {
        return 0;
    }
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_OTHER, rank, which, phase, w);
    const double sigma = 0.5; /* standard deviation of ln(time) [A in params.c] */
    return model_load_at_least_1(median_ns * hpcw_i_exp(sigma * hpcw_i_normal(w[0], w[1])) * slowness);
}

/* ---- memory: all numbers are assumptions ---- */

double model_load_held(const struct model_load *m, uint32_t object, double lasting, double sigma) {
    uint32_t own[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_MEMORY, object, 1, 0, own);
    const double half = 0.70710678118654752; /* half of the variance follows the object's work */
    double z = half * lasting + half * hpcw_i_normal(own[0], own[1]);
    return hpcw_i_exp(sigma * z - 0.5 * sigma * sigma);
}

struct model_load_memory model_load_memory(const struct model_load *m, uint32_t object, double lasting) {
    const struct model_load_params *p = &m->params;
    assert(p->memory.block_objects > 0);
    uint32_t per_home = (m->per_rank + p->memory.block_objects - 1) / p->memory.block_objects;
    uint32_t block =
        model_load_home(m, object) * per_home + model_load_slot(m, object) / p->memory.block_objects;
    uint32_t shared[4];
    uint32_t own[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_MEMORY, block, 0, 0, shared);
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_MEMORY, object, 1, 0, own);
    double footprint = (double)p->memory.footprint_bytes * model_load_held(m, object, lasting, 0.4);
    return (struct model_load_memory){
        .block = block,
        .block_bytes =
            model_load_at_least_1((double)p->memory.block_bytes *
                                  hpcw_i_exp(p->memory.block_sd * hpcw_i_normal(shared[0], shared[1]))),
        .footprint = model_load_at_least_1(footprint),
        .working = model_load_at_least_1(footprint * 0.5 * hpcw_i_uniform(own[2])),
        .serialized = model_load_at_least_1(footprint * 0.9),
    };
}
