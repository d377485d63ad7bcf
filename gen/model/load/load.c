/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/load/load.h"

#include <math.h>
#include <string.h>

#include "gen/model/draw/grid.h"
#include "gen/model/load/mesh.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

/* ---- building ---- */

static const double ln2 = 0.69314718055994531;

/* Returns how far the mean load has risen by a phase: 0 in phase 1, 1 at the end of the rise. */
static double risen(const struct model_load_params *p, uint32_t phase) {
    uint32_t rise = p->rise != 0 ? p->rise : (uint32_t)((uint64_t)p->phases * 35 / 100);
    return phase <= 1 || rise == 0 ? (phase > 1 ? 1 : 0) : phase - 1 >= rise ? 1 : (double)(phase - 1) / rise;
}

/* LEAST_STEPS: smallest number of levels in MODEL_COURSE_STEPS; the largest one is LEAST_STEPS + STEPS - 1.
 * BURST_ONE_IN: a phase begins a burst with probability 1 / BURST_ONE_IN. BURST_PHASES: longest burst, phases. */
enum { LEAST_STEPS = 3, STEPS = 4, BURST_ONE_IN = 8, BURST_PHASES = 4 };

static void draw_course(const struct model_load *m, uint32_t a, uint32_t b, uint32_t word[4]) {
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_COURSE, a, b, 0, word);
}

static double level_of(const struct model_load *m, uint32_t phase) {
    uint32_t w[4];
    draw_course(m, 0, 0, w);
    const uint32_t steps = LEAST_STEPS + w[1] % STEPS;
    const uint32_t step = (uint32_t)((uint64_t)phase * steps / m->params.phases);
    draw_course(m, step, 1, w);
    return hpcw_i_uniform(w[0]);
}

static bool is_in_burst(const struct model_load *m, uint32_t phase) {
    for (uint32_t back = 0; back < BURST_PHASES && back < phase; back++) {
        uint32_t w[4];
        draw_course(m, phase - back, 2, w);
        if (w[0] % BURST_ONE_IN == 0 && w[1] % BURST_PHASES >= back) {
            return true;
        }
    }
    return false;
}

/* Position of a phase's load between the first value (0) and the last value (1). */
static double share_of(const struct model_load *m, uint32_t phase) {
    uint32_t w[4];
    draw_course(m, 0, 0, w);
    const int drawn = MODEL_COURSE_RAMP + (int)(w[0] % (MODEL_COURSE_BURSTS + 1 - MODEL_COURSE_RAMP));
    switch (m->params.course == MODEL_COURSE_AUTO ? drawn : m->params.course) {
    case MODEL_COURSE_FLAT:
        return 1;
    case MODEL_COURSE_DECAY:
        return 1 - risen(&m->params, phase);
    case MODEL_COURSE_STEPS:
        return level_of(m, phase);
    case MODEL_COURSE_BURSTS:
        return is_in_burst(m, phase) ? 1 : 0;
    default:
        return risen(&m->params, phase);
    }
}

/* Share of the variance of ln(load) that is drawn anew in a phase. It changes by the same factor from phase to
 * phase. */
static double fresh_share(const struct model_load_params *p, uint32_t phase) {
    const double first = 1 - p->variance.persistence_first;
    const double last = 1 - p->variance.persistence;
    const double passed = phase > 1 ? (double)(phase - 1) / (p->phases - 2) : 0;
    if (first == 0 || last == 0) {
        return passed == 1 ? last : first; /* a share of 0 has no factor that leads to or from another share */
    }
    return first * hpcw_i_exp(passed * ln2 * hpcw_i_log2(last / first));
}

static void fill_phases(struct model_load *m) {
    const struct model_load_params *p = &m->params;
    uint32_t open[3];
    uint32_t dimensions = 0;
    double sigma = -1, mean = 1;
    for (uint32_t d = 0; d < 3; d++) {
        if (m->grid[d] > 1) {
            open[dimensions++] = d;
        }
    }
    for (uint32_t k = 0; k < p->phases; k++) {
        const double r = share_of(m, k);
        const double fresh = fresh_share(p, k);
        struct model_load_phase *f = &m->phase[k];
        f->lasting = sqrt(1 - fresh);
        f->fresh = sqrt(fresh);
        f->sigma = p->sigma_first + r * (p->sigma_last - p->sigma_first);
        if (f->sigma != sigma) {
            sigma = f->sigma;
            mean = model_load_mean_of_exp(&m->tail, sigma);
        }
        f->mean_ns = 1e6 * (p->mean_first_ms + r * (p->mean_last_ms - p->mean_first_ms));
        f->median_ns = f->mean_ns / mean;
        uint32_t w[4];
        hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_NEIGHBOUR, k, 0, 0, w);
        f->swap_dimension = dimensions > 0 ? open[w[0] % dimensions] : 0;
        f->swap_offset = w[1] >> 31;
    }
    if (p->setup.own) {
        m->phase[0].sigma = p->setup.sigma;
        const double over_median = m->setup_tail.knots > 0
                                       ? model_load_mean_of_exp(&m->setup_tail, p->setup.sigma)
                                       : hpcw_i_exp(0.5 * p->setup.sigma * p->setup.sigma);
        m->phase[0].mean_ns = 1e6 * p->mean_first_ms * p->setup.factor;
        m->phase[0].median_ns = m->phase[0].mean_ns / over_median;
    }
}

/* Fills the smooth field. Along each dimension it is a first-order autoregression: two ranks have the correlation
 * of two neighbours, raised to the power of their distance. With many ranks, the field is scaled to mean 0 and
 * variance 1, so that all seeds give the same amount of work. */
static void fill_field(struct model_load *m) {
    const double old = m->params.variance.correlation, new = sqrt(1 - old * old);
    const uint32_t stride[3] = {m->grid[1] * m->grid[2], m->grid[2], 1};
    for (uint32_t r = 0; r < m->ranks; r++) {
        uint32_t w[4];
        hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_HOME, r, 0, 0, w);
        m->field[r] = hpcw_i_normal(w[0], w[1]);
    }
    for (int d = 0; d < 3; d++) {
        for (uint32_t r = stride[d]; m->grid[d] > 1 && r < m->ranks; r++) {
            if (r / stride[d] % m->grid[d] != 0) {
                m->field[r] = old * m->field[r - stride[d]] + new * m->field[r];
            }
        }
    }
    if (m->ranks < MODEL_LOAD_MANY_RANKS) {
        return;
    }
    double sum = 0, squares = 0;
    for (uint32_t r = 0; r < m->ranks; r++) {
        sum += m->field[r];
        squares += m->field[r] * m->field[r];
    }
    const double mean = sum / m->ranks;
    const double scale = 1 / sqrt(squares / m->ranks - mean * mean);
    for (uint32_t r = 0; r < m->ranks; r++) {
        m->field[r] = (m->field[r] - mean) * scale;
    }
}

/* Draws for each rank the share of its places that have an object. */
static void fill_places(struct model_load *m) {
    const double spread = m->params.fill_spread;
    for (uint32_t r = 0; m->fill_threshold != NULL && r < m->ranks; r++) {
        uint32_t w[4];
        hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_EXISTS, r, 1, 0, w);
        const double z = hpcw_i_normal(w[0], w[1]);
        m->fill_threshold[r] =
            hpcw_i_threshold(m->params.fill * hpcw_i_exp(spread * z - 0.5 * spread * spread));
    }
}

/* Returns whether the hot spot covers the middle of an object in some phase. */
static bool hotspot_reaches(const struct model_load *m) {
    const struct model_load_params *p = &m->params;
    double beside2 = 0;
    for (uint32_t d = 1; d < p->dims; d++) {
        beside2 += m->side[d] % 2 == 0 ? 0.25 : 0;
    }
    for (uint32_t k = 0; k < p->scenario.phases && p->scenario.first + k < p->phases; k++) {
        double centre = model_load_centre(m, p->scenario.first + k);
        double off = centre - ((uint32_t)centre + 0.5);
        if (off * off + beside2 < m->radius * m->radius) {
            return true;
        }
    }
    return false;
}

/* Sets the phases of the scenario, and the number of ranks or the radius that it affects. */
static hpcw_status place_scenario(struct model_load *m, hpcw_error *err) {
    struct model_load_params *p = &m->params;
    if (p->scenario.kind == MODEL_SCENARIO_NONE) {
        return HPCW_OK;
    }
    p->scenario.first = p->scenario.first != 0 ? p->scenario.first : (p->phases + 3) / 4;
    p->scenario.phases = p->scenario.phases != 0 ? p->scenario.phases : (p->phases + 3) / 4;
    if (p->scenario.first >= p->phases) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "load.scenario_first: expected a phase below load.phases = %u, got %u", p->phases,
                           p->scenario.first);
    }
    double hits = (p->scenario.share != 0 ? p->scenario.share : 0.02) * m->ranks;
    m->hits = hits < 1 ? 1 : (uint32_t)(hits + 0.5);
    if (p->scenario.kind == MODEL_SCENARIO_HOTSPOT) {
        double step = 1.0 / p->scenario.phases;
        double share = p->scenario.share != 0 ? p->scenario.share : step > 0.1 ? step : 0.1;
        m->radius = share * m->side[0];
        m->radius = p->scenario.share == 0 && m->radius < 1 ? 1 : m->radius;
        if (!hotspot_reaches(m)) {
            return hpcw_i_fail(
                err, HPCW_EINVAL,
                "load.scenario_share: expected a radius that reaches the middle of an object, got "
                "%g of an object's side",
                m->radius);
        }
    }
    return HPCW_OK;
}

hpcw_status model_load_init(struct model_load *m, const struct model_load_params *params,
                            const struct model_machine *machine, hpcw_error *err) {
    memset(m, 0, sizeof *m);
    if (params->noise.min_ms > params->noise.max_ms) {
        return hpcw_i_fail(err, HPCW_EINVAL, "load.noise_min: expected at most load.noise_max = %g ms, got %g",
                           params->noise.max_ms, params->noise.min_ms);
    }
    if (params->edge.unit % sizeof(double) != 0) {
        return hpcw_i_fail(err, HPCW_EINVAL, "load.edge_unit: expected a multiple of 8 bytes, got %u",
                           params->edge.unit);
    }
    m->params = *params;
    m->machine = machine;
    m->seed = machine->seed;
    m->ranks = machine->ranks;
    m->per_rank = params->objects * params->collections;
    if (m->per_rank > MODEL_LOAD_MOST_OBJECTS / m->ranks) {
        return hpcw_i_fail(
            err, HPCW_ERANGE,
            "load.objects * load.collections: expected at most 3 * 2^30 objects, got %u on each of %u ranks",
            m->per_rank, m->ranks);
    }
    m->objects = m->per_rank * m->ranks;
    model_grid_shape(m->ranks, params->dims, m->grid);
    model_grid_shape(params->objects, params->dims, m->block);
    for (int d = 0; d < 3; d++) {
        m->side[d] = m->grid[d] * m->block[d];
    }
    if (params->comm == MODEL_COMM_STENCIL) {
        m->channels = (uint32_t)params->edge.far + (params->edge.far > (uint32_t)params->edge.far);
        m->channels = m->channels > params->edge.far_channels ? m->channels : params->edge.far_channels;
        m->kinds = 7 + m->channels;
    } else if (params->comm == MODEL_COMM_MESH) {
        m->kinds = 2 * params->dims;
    } else if (params->comm == MODEL_COMM_SAMPLE && params->groups == 0) {
        return hpcw_i_fail(err, HPCW_EINVAL, "load.groups: expected at least 1 with load.comm=sample, got 0");
    }
    /* The allowed sizes are equally spaced in ln(bytes), over six standard deviations. The smallest is drawn
     * between the lower end and the first step above it. */
    uint32_t w[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_SIZES, 0, 0, 0, w);
    m->least_ln_bytes = params->edge.bytes_mean -
                        params->edge.bytes_sd *
                            (3 - (params->edge.sizes > 0 ? 6 * hpcw_i_uniform(w[0]) / params->edge.sizes : 0));
    m->swap_threshold = params->balancer.kind == MODEL_BALANCER_NONE ? hpcw_i_threshold(params->migration) : 0;
    m->most = m->per_rank;
    if (params->balancer.interval == 0) {
        m->params.balancer.interval = params->phases < 16 ? 1 : params->phases / 8;
    }
    m->phase = hpcw_i_calloc(params->phases, sizeof *m->phase);
    m->field = hpcw_i_calloc(m->ranks, sizeof *m->field);
    m->fill_threshold = params->fill_spread > 0 ? hpcw_i_calloc(m->ranks, sizeof *m->fill_threshold) : NULL;
    if (m->phase == NULL || m->field == NULL || (params->fill_spread > 0 && m->fill_threshold == NULL)) {
        model_load_free(m);
        return hpcw_i_fail_memory(err, "load", params->phases, "phases");
    }
    hpcw_status s = model_load_tail_init(&m->tail, params->skew, "load.time_table", params->time_table, err);
    if (s == HPCW_OK) {
        s = model_load_tail_init(&m->setup_tail, 0, "load.setup_table", params->setup.table, err);
    }
    if (s == HPCW_OK) {
        fill_phases(m);
        s = params->comm == MODEL_COMM_MESH ? model_load_fill_mesh(m, err) : HPCW_OK;
    }
    if (s == HPCW_OK) {
        fill_field(m);
        fill_places(m);
        s = place_scenario(m, err);
    }
    if (s != HPCW_OK) {
        model_load_free(m);
    }
    return s;
}

static void free_placements(struct model_load_placement *p, size_t count) {
    for (size_t i = 0; p != NULL && i < count; i++) {
        hpcw_i_free(p[i].first);
        hpcw_i_free(p[i].object);
        hpcw_i_free(p[i].time_ns);
    }
    hpcw_i_free(p);
}

void model_load_free(struct model_load *m) {
    free_placements(m->trial, (size_t)m->placements * model_load_iterations(m));
    free_placements(m->placement, m->placements);
    m->placement = m->trial = NULL;
    m->placements = 0;
    hpcw_i_free(m->phase);
    hpcw_i_free(m->field);
    hpcw_i_free(m->fill_threshold);
    m->phase = NULL;
    m->field = NULL;
    m->fill_threshold = NULL;
}
