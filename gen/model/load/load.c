/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/load/load.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "gen/model/draw/grid.h"
#include "gen/model/draw/permute.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

static const char *const scenario_names[] = {"none", "spike", "ramp", "hotspot", NULL};

#define PARAM(name, kind, field, ...) UI_PARAM(struct model_load_params, "load." name, kind, field, __VA_ARGS__)

/* Sources in brackets: L = the 32-rank data set of the LB-analysis-framework, A = assumption. */
const struct ui_param model_load_param[] = {
    PARAM("phases", U32, phases, 1, 1048576, NULL, "number of phases, one per iteration of the simulated run"),
    PARAM("dims", U32, dims, 1, 3, NULL, "dimensions of the objects' index space"),
    PARAM("objects", U32, objects, 1, 4096, NULL, "migratable objects per rank and collection [L]"),
    PARAM("collections", U32, collections, 1, 8, NULL, "collections on the index space"),
    PARAM("periodic", BOOL, periodic,
          .help = "the index space is periodic: objects at opposite ends are neighbours"),
    PARAM("subphases", U32, subphases, 0, 1024, NULL, "subphases per phase; 0: none"),
    PARAM("mean_first", F64, mean_first_ms, 1e-6, 1e6, "ms", "mean load of an object in phase 1 [L]"),
    PARAM("mean_last", F64, mean_last_ms, 1e-6, 1e6, "ms", "mean load of an object at the end of the rise [L]"),
    PARAM("sigma_first", F64, sigma_first, 0, 3, NULL, "standard deviation of ln(load) in phase 1 [L]"),
    PARAM("sigma_last", F64, sigma_last, 0, 3, NULL,
          "standard deviation of ln(load) at the end of the rise [L]"),
    PARAM("rise", U32, rise, 0, 1048576, NULL, "number of phases of the rise; 0: 35 % of all [L]"),
    PARAM("persistence", F64, persistence, 0, 1, NULL,
          "share of the variance of ln(load) that lasts for the whole run [L]"),
    PARAM("alike", F64, alike, 0, 1, NULL,
          "share of the lasting variance that objects of one home have in common [L]"),
    PARAM("epoch", U32, epoch, 0, 1048576, NULL,
          "phases after which the other share is drawn again; 0: 5 % of all [L]"),
    PARAM("jitter", F64, jitter, 0, 1, NULL,
          "standard deviation of the change of ln(load) between neighbouring phases [L]"),
    PARAM("setup_factor", F64, setup_factor, 1e-3, 1e6, NULL,
          "mean load in phase 0, as a multiple of that in phase 1 [L]"),
    PARAM("setup_sigma", F64, setup_sigma, 0, 3, NULL, "standard deviation of ln(load) in phase 0 [L]"),
    PARAM("migration", F64, migration, 0, 1, NULL, "share of the objects that migrate before a phase [A]"),
    PARAM("groups", U32, groups, 0, 64, NULL,
          "object groups, with a member on every rank [L: 7 with the handler]"),
    PARAM("far_edges", F64, far_edges, 0, 8, NULL, "distant senders per object [A]"),
    PARAM("edge_bytes_mean", F64, edge_bytes_mean, 0, 30, NULL, "mean of ln(bytes) of an edge in a phase [L]"),
    PARAM("edge_bytes_sd", F64, edge_bytes_sd, 0, 5, NULL, "standard deviation of ln(bytes) [L]"),
    PARAM("edge_messages_mean", F64, edge_messages_mean, 0, 15, NULL,
          "mean of ln(messages) of an edge in a phase [L]"),
    PARAM("edge_messages_sd", F64, edge_messages_sd, 0, 4, NULL, "standard deviation of ln(messages) [L]"),
    PARAM("broadcast_every", U32, broadcast_every, 0, 1048576, NULL,
          "phases between broadcasts of the first object; 0: none [A]"),
    PARAM("block_objects", U32, block_objects, 0, 4096, NULL,
          "objects that share a memory block, for balancers with a memory model; 0: no memory values"),
    PARAM("block_bytes", SIZE, block_bytes, 1, 0x1p40, "bytes", "median size of a shared memory block [A]"),
    PARAM("footprint", SIZE, footprint_bytes, 1, 0x1p40, "bytes", "median memory of an object [A]"),
    PARAM("scenario", CHOICE, scenario, .choices = scenario_names,
          .help = "injected imbalance: none, spike (some ranks' objects are heavy for some phases), "
                  "ramp (they grow heavy and stay so) or hotspot (a heavy region that crosses the "
                  "index space)"),
    PARAM("scenario_first", U32, scenario_first, 1, 1048576, NULL, "first phase of the scenario"),
    PARAM("scenario_phases", U32, scenario_phases, 1, 1048576, NULL, "number of phases of the scenario"),
    PARAM("scenario_share", F64, scenario_share, 0, 1, NULL,
          "share of the ranks in the scenario, or radius of the hot spot as a share of the index space"),
    PARAM("scenario_factor", F64, scenario_factor, 1, 1e6, NULL, "factor of loads at the peak of the scenario"),
};
const size_t model_load_param_count = sizeof model_load_param / sizeof model_load_param[0];

void model_load_params_init(struct model_load_params *params) {
    *params = (struct model_load_params){
        .phases = 40,
        .dims = 2,
        .objects = 8,
        .collections = 1,
        .subphases = 2,
        .mean_first_ms = 1.6,
        .mean_last_ms = 7,
        .sigma_first = 0.05,
        .sigma_last = 0.6,
        .persistence = 0.95,
        .alike = 0.65, /* with 8 objects per rank, some of them moved, the CV of rank loads is 0.47 */
        .jitter = 0.03,
        .setup_factor = 20,
        .setup_sigma = 1.5,
        .migration = 0.005,
        .groups = 6,
        .far_edges = 0.5,
        .edge_bytes_mean = 7.9,
        .edge_bytes_sd = 2.05,
        .edge_messages_mean = 1.95,
        .edge_messages_sd = 1.34,
        .broadcast_every = 10,
        .block_bytes = 1 << 20,
        .footprint_bytes = 1 << 18,
        .scenario_first = 10,
        .scenario_phases = 10,
        .scenario_share = 0.02,
        .scenario_factor = 4,
    };
}

/* ---- building ---- */

/* Share of the rise up to this phase: 0 in phase 1. */
static double risen(const struct model_load_params *p, uint32_t phase) {
    uint32_t rise = p->rise != 0 ? p->rise : (uint32_t)((uint64_t)p->phases * 35 / 100);
    return phase <= 1 || rise == 0 ? (phase > 1 ? 1 : 0) : phase - 1 >= rise ? 1 : (double)(phase - 1) / rise;
}

static void fill_phases(struct model_load *m) {
    const struct model_load_params *p = &m->params;
    uint32_t epoch = p->epoch != 0 ? p->epoch : (uint32_t)((uint64_t)p->phases * 5 / 100);
    epoch = epoch != 0 ? epoch : 1;
    for (uint32_t k = 0; k < p->phases; k++) {
        double r = risen(p, k);
        m->phase[k] = (struct model_load_phase){
            .mean_ns = 1e6 * (p->mean_first_ms + r * (p->mean_last_ms - p->mean_first_ms)),
            .sigma = p->sigma_first + r * (p->sigma_last - p->sigma_first),
            .epoch = k / epoch,
        };
    }
    m->phase[0].mean_ns = 1e6 * p->mean_first_ms * p->setup_factor;
    m->phase[0].sigma = p->setup_sigma;
}

hpcw_status model_load_init(struct model_load *m, const struct model_load_params *params,
                            const struct model_machine *machine, hpcw_error *err) {
    memset(m, 0, sizeof *m);
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
    m->channels = (uint32_t)params->far_edges + (params->far_edges > (uint32_t)params->far_edges);
    m->swap_threshold = hpcw_i_threshold(params->migration);
    m->lanes = model_lanes(model_simd_best());
    m->phase = hpcw_i_calloc(params->phases, sizeof *m->phase);
    if (m->phase == NULL) {
        return hpcw_i_fail_memory(err, "load", params->phases, "phases");
    }
    fill_phases(m);
    return HPCW_OK;
}

void model_load_free(struct model_load *m) {
    hpcw_i_free(m->phase);
    m->phase = NULL;
}

/* ---- objects ---- */

void model_load_index(const struct model_load *m, uint32_t object, uint32_t at[3]) {
    uint32_t in_block[3];
    model_grid_position(m->grid, model_load_home(m, object), at);
    model_grid_position(m->block, model_load_slot(m, object) % m->params.objects, in_block);
    for (int d = 0; d < 3; d++) {
        at[d] = at[d] * m->block[d] + in_block[d];
    }
}

/* The object of a collection at a position. */
static uint32_t object_at(const struct model_load *m, uint32_t collection, const uint32_t at[3]) {
    uint32_t home[3];
    uint32_t in_block[3];
    for (int d = 0; d < 3; d++) {
        home[d] = at[d] / m->block[d];
        in_block[d] = at[d] % m->block[d];
    }
    return model_grid_cell(m->grid, home) * m->per_rank + collection * m->params.objects +
           model_grid_cell(m->block, in_block);
}

/* ---- ranks of objects ---- */

/* The rank that swaps objects with this one before a phase; itself if it has no partner. */
static uint32_t partner_of(const struct model_load *m, uint32_t rank, uint32_t phase) {
    const struct model_permutation order = {m->ranks, phase, m->seed, HPCW_I_FOR_LOAD_PAIRING};
    uint32_t position = model_permute(&order, rank) ^ 1;
    return position < m->ranks ? model_permute_back(&order, position) : rank;
}

/* Pairs of ranks in a batch. */
enum { PAIRS = 256 };

/* Whether a pair swaps the objects of a slot. */
static bool swaps(const struct model_load *m, uint32_t rank, uint32_t partner, uint32_t phase, uint32_t slot) {
    uint32_t w[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_SWAP, rank < partner ? rank : partner, phase, slot / 4, w);
    return w[slot % 4] < m->swap_threshold;
}

uint32_t model_load_object(const struct model_load *m, uint32_t rank, uint32_t slot, uint32_t phase) {
    for (uint32_t k = phase; k > 0 && m->swap_threshold != 0; k--) {
        uint32_t partner = partner_of(m, rank, k);
        rank = swaps(m, rank, partner, k, slot) ? partner : rank;
    }
    return rank * m->per_rank + slot;
}

void model_load_begin(const struct model_load *m, uint32_t rank, uint32_t *object,
                      struct model_load_cursor *cursor) {
    *cursor = (struct model_load_cursor){.rank = rank, .object = object};
    for (uint32_t slot = 0; slot < m->per_rank; slot++) {
        object[slot] = rank * m->per_rank + slot;
    }
}

void model_load_next(const struct model_load *m, struct model_load_cursor *cursor) {
    cursor->phase++;
    cursor->arrived = 0;
    uint32_t partner = m->swap_threshold != 0 ? partner_of(m, cursor->rank, cursor->phase) : cursor->rank;
    uint32_t lower = partner < cursor->rank ? partner : cursor->rank;
    for (uint32_t first = 0; partner != cursor->rank && first < m->per_rank; first += 4) {
        uint32_t w[4];
        hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_SWAP, lower, cursor->phase, first / 4, w);
        for (uint32_t k = 0; k < 4 && first + k < m->per_rank; k++) {
            if (w[k] < m->swap_threshold) {
                cursor->object[first + k] = model_load_object(m, partner, first + k, cursor->phase - 1);
                cursor->arrived++;
            }
        }
    }
}

/* Swaps slots 4 q to 4 q + 3 of pairs of ranks, where they do. */
static void swap_slots(const struct model_load *m, uint32_t *object, uint32_t phase, uint32_t q,
                       const uint32_t *lower, const uint32_t *upper, uint32_t pairs) {
    uint32_t word[4][PAIRS];
    const uint32_t slots = m->per_rank - 4 * q < 4 ? m->per_rank - 4 * q : 4;
    const struct model_draws draws = {m->seed, HPCW_I_FOR_LOAD_SWAP, pairs, lower, phase, q};
    m->lanes->words(&draws, slots, word[0]);
    for (uint32_t k = 0; k < slots; k++) {
        const uint32_t *w = word[0] + (size_t)k * pairs;
        for (uint32_t i = 0; i < pairs; i++) {
            if (w[i] < m->swap_threshold) {
                uint32_t *a = object + (size_t)lower[i] * m->per_rank + 4 * q + k;
                uint32_t *b = object + (size_t)upper[i] * m->per_rank + 4 * q + k;
                uint32_t moved = *a;
                *a = *b;
                *b = moved;
            }
        }
    }
}

void model_load_move(const struct model_load *m, uint32_t *object, uint32_t phase) {
    if (m->swap_threshold == 0) {
        return;
    }
    const struct model_permutation order = {m->ranks, phase, m->seed, HPCW_I_FOR_LOAD_PAIRING};
    const uint32_t all = m->ranks / 2;
    for (uint32_t done = 0; done < all; done += PAIRS) {
        uint32_t rank[2 * PAIRS];
        uint32_t lower[PAIRS];
        uint32_t upper[PAIRS];
        const uint32_t pairs = all - done < PAIRS ? all - done : PAIRS;
        model_permute_back_run(&order, m->lanes, 2 * done, 2 * pairs, rank);
        for (uint32_t i = 0; i < pairs; i++) {
            uint32_t a = rank[2 * i];
            uint32_t b = rank[2 * i + 1];
            lower[i] = a < b ? a : b;
            upper[i] = a < b ? b : a;
        }
        for (uint32_t q = 0; 4 * q < m->per_rank; q++) {
            swap_slots(m, object, phase, q, lower, upper, pairs);
        }
    }
}

/* ---- work ---- */

bool model_load_is_hit(const struct model_load *m, uint32_t home) {
    uint32_t w[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_SCENARIO, home, 0, 0, w);
    return w[0] < hpcw_i_threshold(m->params.scenario_share);
}

double model_load_centre(const struct model_load *m, uint32_t phase) {
    return ((double)phase - m->params.scenario_first + 0.5) / m->params.scenario_phases * m->side[0];
}

/* The factor falls linearly from the centre to 1 at the radius. */
static double hotspot(const struct model_load *m, uint32_t object, uint32_t phase) {
    const struct model_load_params *p = &m->params;
    uint32_t at[3];
    model_load_index(m, object, at);
    double radius = p->scenario_share * m->side[0];
    double distance2 = 0;
    for (uint32_t d = 0; d < p->dims; d++) {
        double centre = d == 0 ? model_load_centre(m, phase) : 0.5 * m->side[d];
        double off = at[d] + 0.5 - centre;
        distance2 += off * off;
    }
    return distance2 >= radius * radius ? 1 : 1 + (p->scenario_factor - 1) * (1 - sqrt(distance2) / radius);
}

double model_load_scenario(const struct model_load *m, uint32_t object, uint32_t phase) {
    const struct model_load_params *p = &m->params;
    if (p->scenario == MODEL_SCENARIO_NONE || phase < p->scenario_first) {
        return 1;
    }
    bool over = phase - p->scenario_first >= p->scenario_phases;
    switch ((enum model_scenario)p->scenario) {
    case MODEL_SCENARIO_SPIKE:
        return !over && model_load_is_hit(m, model_load_home(m, object)) ? p->scenario_factor : 1;
    case MODEL_SCENARIO_RAMP: {
        double grown = over ? 1 : (double)(phase - p->scenario_first + 1) / p->scenario_phases;
        return model_load_is_hit(m, model_load_home(m, object)) ? 1 + (p->scenario_factor - 1) * grown : 1;
    }
    case MODEL_SCENARIO_HOTSPOT:
        return over ? 1 : hotspot(m, object, phase);
    case MODEL_SCENARIO_NONE:
        break;
    }
    return 1;
}

/* Rounds to the nearest. */
static uint64_t at_least_1(double x) {
    return x < 1 ? 1 : x < 0x1p62 ? (uint64_t)(x + 0.5) : UINT64_C(1) << 62;
}

/* The change between neighbouring phases is the difference of two draws. */
static const double jitter_scale = 0.70710678118654752;

uint64_t model_load_time(const struct model_load *m, uint32_t object, uint32_t phase, double slowness) {
    const struct model_load_params *p = &m->params;
    const struct model_load_phase *f = &m->phase[phase];
    uint32_t home[4];
    uint32_t own[4];
    uint32_t epoch[4];
    uint32_t jitter[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_OBJECT, object, 0, 0, own);
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_JITTER, object, phase, 0, jitter);
    double z;
    if (phase == 0) {
        z = hpcw_i_normal(own[2], own[3]);
    } else {
        hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_HOME, model_load_home(m, object), 0, 0, home);
        hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_EPOCH, object, f->epoch, 0, epoch);
        double lasting = sqrt(p->alike) * hpcw_i_normal(home[0], home[1]) +
                         sqrt(1 - p->alike) * hpcw_i_normal(own[0], own[1]);
        z = sqrt(p->persistence) * lasting + sqrt(1 - p->persistence) * hpcw_i_normal(epoch[0], epoch[1]);
    }
    double change = jitter_scale * p->jitter * hpcw_i_normal(jitter[0], jitter[1]);
    /* The mean of a log-normal is above its median by half the variance. */
    double ns = f->mean_ns * hpcw_i_exp(f->sigma * z - 0.5 * f->sigma * f->sigma + change);
    return at_least_1(ns * slowness * model_load_scenario(m, object, phase));
}

/* The first of the last `parts` parts, of what is left: an equal share, plus or minus a quarter. */
static uint64_t part_of(uint64_t left, uint32_t word, uint32_t parts) {
    double share = (0.75 + 0.5 * hpcw_i_uniform(word)) / parts;
    uint64_t ns = parts == 1 ? left : (uint64_t)((double)left * share);
    return ns < left ? ns : left;
}

void model_load_split(const struct model_load *m, uint32_t object, uint64_t time_ns, uint64_t *part) {
    const uint32_t parts = m->params.subphases;
    uint32_t w[4] = {0};
    uint64_t left = time_ns;
    for (uint32_t k = 0; k < parts; k++) {
        if (k % 4 == 0) {
            hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_SUBPHASE, object, k / 4, 0, w);
        }
        part[k] = part_of(left, w[k % 4], parts - k);
        left -= part[k];
    }
}

void model_load_times(const struct model_load *m, const uint32_t *object, uint32_t count, uint32_t phase,
                      const double *slowness, uint64_t *time_ns) {
    assert(count <= MODEL_LOAD_AT_ONCE);
    if (phase == 0) { /* once in a run, and with its own distribution */
        for (uint32_t i = 0; i < count; i++) {
            time_ns[i] = model_load_time(m, object[i], phase, slowness[i]);
        }
        return;
    }
    const struct model_load_params *p = &m->params;
    const struct model_load_phase *f = &m->phase[phase];
    uint32_t home[MODEL_LOAD_AT_ONCE];
    double z[4][MODEL_LOAD_AT_ONCE];
    for (uint32_t i = 0; i < count; i++) {
        home[i] = model_load_home(m, object[i]);
    }
    const struct model_draws draws[4] = {
        {m->seed, HPCW_I_FOR_LOAD_HOME, count, home, 0, 0},
        {m->seed, HPCW_I_FOR_LOAD_OBJECT, count, object, 0, 0},
        {m->seed, HPCW_I_FOR_LOAD_EPOCH, count, object, f->epoch, 0},
        {m->seed, HPCW_I_FOR_LOAD_JITTER, count, object, phase, 0},
    };
    for (int k = 0; k < 4; k++) {
        m->lanes->normals(&draws[k], z[k]);
    }
    const double common = sqrt(p->alike), own = sqrt(1 - p->alike);
    const double lasting = sqrt(p->persistence), passing = sqrt(1 - p->persistence);
    for (uint32_t i = 0; i < count; i++) {
        double of_object = lasting * (common * z[0][i] + own * z[1][i]) + passing * z[2][i];
        double change = jitter_scale * p->jitter * z[3][i];
        z[0][i] = f->sigma * of_object - 0.5 * f->sigma * f->sigma + change;
    }
    m->lanes->exps(z[0], count);
    for (uint32_t i = 0; i < count; i++) {
        z[0][i] = f->mean_ns * z[0][i] * slowness[i];
    }
    for (uint32_t i = 0; p->scenario != MODEL_SCENARIO_NONE && i < count; i++) {
        z[0][i] *= model_load_scenario(m, object[i], phase);
    }
    for (uint32_t i = 0; i < count; i++) {
        time_ns[i] = at_least_1(z[0][i]);
    }
}

void model_load_next_parts(const struct model_load *m, const uint32_t *object, uint32_t count, uint32_t first,
                           uint64_t *left, uint64_t *part) {
    const uint32_t parts = m->params.subphases;
    const uint32_t here = parts - first < 4 ? parts - first : 4;
    uint32_t word[4 * MODEL_LOAD_AT_ONCE];
    const struct model_draws draws = {m->seed, HPCW_I_FOR_LOAD_SUBPHASE, count, object, first / 4, 0};
    assert(count <= MODEL_LOAD_AT_ONCE && first < parts);
    m->lanes->words(&draws, here, word);
    for (uint32_t k = 0; k < here; k++) {
        for (uint32_t i = 0; i < count; i++) {
            part[(size_t)k * count + i] = part_of(left[i], word[k * count + i], parts - first - k);
            left[i] -= part[(size_t)k * count + i];
        }
    }
}

uint64_t model_load_other(const struct model_load *m, uint32_t rank, uint32_t which, uint32_t phase,
                          double slowness) {
    /* As in real files, the first groups have no work of their own; the handler always has some. */
    if (which > 0 && which - 1 < m->params.groups / 2) {
        return 0;
    }
    uint32_t w[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_OTHER, rank, which, phase, w);
    double median_ns = which == 0 ? 100e3 : 20e3;
    return at_least_1(median_ns * hpcw_i_exp(0.5 * hpcw_i_normal(w[0], w[1])) * slowness);
}

/* ---- messages ---- */

static uint32_t add_sender(uint32_t object, uint32_t candidate, uint32_t *sender, uint32_t count) {
    bool is_new = candidate != object;
    for (uint32_t i = 0; i < count; i++) {
        is_new = is_new && sender[i] != candidate;
    }
    if (is_new) {
        sender[count++] = candidate;
    }
    return count;
}

uint32_t model_load_senders(const struct model_load *m, uint32_t object,
                            uint32_t sender[MODEL_LOAD_MOST_SENDERS]) {
    const uint32_t collection = model_load_collection(m, object);
    uint32_t count = 0;
    uint32_t at[3];
    model_load_index(m, object, at);
    for (uint32_t d = 0; d < m->params.dims; d++) {
        for (uint32_t up = 0; up < 2; up++) {
            uint32_t there[3] = {at[0], at[1], at[2]};
            bool outside = up ? at[d] + 1 == m->side[d] : at[d] == 0;
            if (outside && !m->params.periodic) {
                continue;
            }
            there[d] = outside ? (up ? 0 : m->side[d] - 1) : up ? at[d] + 1 : at[d] - 1;
            count = add_sender(object, object_at(m, collection, there), sender, count);
        }
    }
    if (m->params.collections > 1) {
        uint32_t before = (collection + m->params.collections - 1) % m->params.collections;
        count = add_sender(object, object_at(m, before, at), sender, count);
    }
    for (uint32_t channel = 0; channel < m->channels; channel++) {
        double share = m->params.far_edges - channel;
        const struct model_permutation to = {m->objects, channel, m->seed, HPCW_I_FOR_LOAD_FAR};
        uint32_t from = model_permute_back(&to, object);
        uint32_t w[4];
        hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_FAR_USED, from, channel, 0, w);
        if (w[0] < hpcw_i_threshold(share)) {
            count = add_sender(object, from, sender, count);
        }
    }
    return count;
}

struct model_load_volume model_load_volume(const struct model_load *m, uint32_t from, uint32_t to,
                                           uint32_t phase) {
    const struct model_load_params *p = &m->params;
    uint32_t w[4];
    uint32_t now[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_EDGE, from, to, 0, w);
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_EDGE_PHASE, from, to, phase, now);
    /* Bytes and messages have a correlation of 0.6, and change by about 10 % from phase to phase [A]. */
    double z = hpcw_i_normal(w[0], w[1]);
    double z_messages = 0.6 * z + 0.8 * hpcw_i_normal(w[2], w[3]);
    double change = 0.1 * hpcw_i_normal(now[0], now[1]);
    double change_messages = 0.1 * hpcw_i_normal(now[2], now[3]);
    uint64_t messages =
        at_least_1(hpcw_i_exp(p->edge_messages_mean + p->edge_messages_sd * z_messages + change_messages));
    uint64_t bytes = at_least_1(hpcw_i_exp(p->edge_bytes_mean + p->edge_bytes_sd * z + change));
    return (struct model_load_volume){.bytes = bytes > messages ? bytes : messages, .messages = messages};
}

/* ---- memory ---- */

struct model_load_memory model_load_memory(const struct model_load *m, uint32_t object) {
    const struct model_load_params *p = &m->params;
    assert(p->block_objects > 0);
    uint32_t per_home = (m->per_rank + p->block_objects - 1) / p->block_objects;
    uint32_t block = model_load_home(m, object) * per_home + model_load_slot(m, object) / p->block_objects;
    uint32_t shared[4];
    uint32_t own[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_MEMORY, block, 0, 0, shared);
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_MEMORY, object, 1, 0, own);
    double footprint = (double)p->footprint_bytes * hpcw_i_exp(0.4 * hpcw_i_normal(own[0], own[1]));
    return (struct model_load_memory){
        .block = block,
        .block_bytes =
            at_least_1((double)p->block_bytes * hpcw_i_exp(0.6 * hpcw_i_normal(shared[0], shared[1]))),
        .footprint = at_least_1(footprint),
        .working = at_least_1(footprint * 0.5 * hpcw_i_uniform(own[2])),
        .serialized = at_least_1(footprint * 0.9),
    };
}
