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

static const char *const comm_names[] = {"stencil", "sample", "none", NULL};
static const char *const balancer_names[] = {"none", "greedy", "tempered", NULL};
static const char *const scenario_names[] = {"none", "spike", "ramp", "hotspot", NULL};

#define PARAM(name, kind, field, ...) UI_PARAM(struct model_load_params, "load." name, kind, field, __VA_ARGS__)

/* Sources in brackets: L = the 32-rank data set of the LB-analysis-framework, A = assumption. */
const struct ui_param model_load_param[] = {
    PARAM("phases", U32, phases, 1, 1048576, NULL, "number of phases, one per iteration of the simulated run"),
    PARAM("dims", U32, dims, 1, 3, NULL, "dimensions of the objects' index space"),
    PARAM("objects", U32, objects, 1, MODEL_LOAD_MOST_PLACES, NULL,
          "places for migratable objects per rank and collection [L]"),
    PARAM("fill", F64, fill, 0, 1, NULL,
          "share of the places that have an object, so that ranks have different numbers of them [L]"),
    PARAM("fill_spread", F64, fill_spread, 0, 3, NULL,
          "standard deviation of ln(share) between the ranks, where some have many more objects than others"),
    PARAM("collections", U32, collections, 1, 8, NULL, "collections on the index space"),
    PARAM("periodic", BOOL, periodic,
          .help = "the index space is periodic: objects at opposite ends are neighbours"),
    PARAM("subphases", U32, subphases, 0, 1024, NULL, "subphases per phase; 0: none"),
    PARAM("mean_first", F64, mean_first_ms, 1e-6, 1e6, "ms", "mean load of an object in phase 1 [L]"),
    PARAM("mean_last", F64, mean_last_ms, 1e-6, 1e6, "ms", "mean load of an object at the end of the rise [L]"),
    PARAM("sigma_first", F64, sigma_first, 0, 10, NULL, "standard deviation of ln(load) in phase 1 [L]"),
    PARAM("sigma_last", F64, sigma_last, 0, 10, NULL,
          "standard deviation of ln(load) at the end of the rise [L]"),
    PARAM("rise", U32, rise, 0, 1048576, NULL, "number of phases of the rise; 0: 35 % of all [L]"),
    PARAM("skew", F64, skew, 0, 1, NULL,
          "how much more ln(load) spreads above its median than below; 0: equally, but for the largest loads "
          "[L]"),
    PARAM("time_table", STRING, time_table, .size = sizeof((struct model_load_params *)0)->time_table,
          .help = "the distribution of ln(load) as a table, in place of load.skew: its reach and its values at "
                  "scores "
                  "of a normal distribution evenly from -reach to reach, in hundredths; or none"),
    PARAM("persistence", F64, persistence, 0, 1, NULL,
          "share of the variance of ln(load) that lasts for the whole run; the rest is new in every phase [L]"),
    PARAM("problem", U32, problem, 0, 4294967295.0, NULL,
          "number of the problem: which places have an object, and what lasts of its work; 0: from the seed"),
    PARAM("alike", F64, alike, 0, 1, NULL,
          "share of the lasting variance that varies smoothly over the ranks [L]"),
    PARAM("correlation", F64, correlation, 0, 0.99, NULL,
          "correlation of this share between neighbouring ranks [L]"),
    PARAM("setup", BOOL, setup, .help = "phase 0 sets up, with loads of its own; otherwise it is as phase 1"),
    PARAM("setup_factor", F64, setup_factor, 1e-3, 1e6, NULL,
          "mean load in phase 0, as a multiple of that in phase 1 [L]"),
    PARAM("setup_table", STRING, setup_table, .size = sizeof((struct model_load_params *)0)->setup_table,
          .help = "the distribution of ln(load) in phase 0 as a table, as load.time_table; or none"),
    PARAM("setup_sigma", F64, setup_sigma, 0, 3, NULL, "standard deviation of ln(load) in phase 0 [L]"),
    PARAM("noise", F64, noise, 0, 1, NULL,
          "probability that the system interrupts a rank in a phase; the object that runs takes longer [A]"),
    PARAM("noise_min", F64, noise_min_ms, 0, 1e6, "ms", "shortest interruption [A]"),
    PARAM("noise_max", F64, noise_max_ms, 0, 1e6, "ms", "longest interruption [A]"),
    PARAM(
        "jitter", F64, jitter, 0, 1, NULL,
        "what the system adds to the time of a rank in a phase, as a share: the median, once for the rank and "
        "once for its host [A]"),
    PARAM("preemptions", F64, preemptions, 0, 1000, NULL,
          "how often in a second of computing a rank loses its core, for 0.25 to 25 ms [A]"),
    PARAM("warm_up", F64, warm_up, 0, 100, NULL,
          "what phase 0 takes longer because memory and caches are new, as a share; half of it is left in each "
          "next phase [A]"),
    PARAM(
        "migration", F64, migration, 0, 1, NULL,
        "share of the objects that migrate to a neighbouring rank before a phase, if there is no balancer [A]"),
    PARAM(
        "balancer", CHOICE, balancer, .choices = balancer_names,
        .help =
            "load balancer of the application: none, greedy (what ranks have above the mean is placed longest "
            "object first, each on the rank with the least load) or tempered (after vt's TemperedLB: ranks "
            "give "
            "objects to ranks that they heard of)"),
    PARAM("balancer_interval", U32, balancer_interval, 0, 1048576, NULL,
          "phases between two runs of the balancer, each of which takes 4 bytes of memory per object; 0: an "
          "eighth of all"),
    PARAM("balancer_iterations", U32, balancer_iterations, 1, 64, NULL, "iterations of tempered in a run"),
    PARAM("groups", U32, groups, 0, 64, NULL,
          "object groups, with a member on every rank [L: 7 with the handler]"),
    PARAM(
        "comm", CHOICE, comm, .choices = comm_names,
        .help =
            "who sends to whom: stencil (objects to their neighbours), sample (kinds and volumes as measured: "
            "objects to groups of their rank and back, handlers to other ranks, a broadcast in every phase "
            "[L]) "
            "or none (only handlers to other ranks); the next ones are of the stencil"),
    PARAM("far_edges", F64, far_edges, 0, 8, NULL, "distant senders per object [A]"),
    PARAM("far_channels", U32, far_channels, 0, 8, NULL,
          "equally likely ways to a distant sender, so that objects have different numbers; 0: the fewest"),
    PARAM("edge_bytes_mean", F64, edge_bytes_mean, 0, 30, NULL, "mean of ln(bytes) of an edge in a phase [L]"),
    PARAM("edge_bytes_sd", F64, edge_bytes_sd, 0, 5, NULL, "standard deviation of ln(bytes) [L]"),
    PARAM("edge_messages_mean", F64, edge_messages_mean, 0, 15, NULL,
          "mean of ln(messages) of an edge in a phase [L]"),
    PARAM("edge_messages_sd", F64, edge_messages_sd, 0, 4, NULL, "standard deviation of ln(messages) [L]"),
    PARAM("edge_follows", F64, edge_follows, 0, 1, NULL,
          "share of the deviation of ln(bytes) that follows the work at both ends of an edge [L]"),
    PARAM("edge_phases", U32, edge_phases, 0, 1048576, NULL,
          "phases after which volumes change, as when a mesh is refined; 0: they never change [A]"),
    PARAM("handler_time", F64, handler_ms, 1e-6, 1e6, "ms", "median time of a rank's handler in a phase [A]"),
    PARAM("handler_bytes_mean", F64, handler_bytes_mean, 0, 30, NULL,
          "mean of ln(bytes) that handlers send to each other in a phase [L]"),
    PARAM("handler_bytes_sd", F64, handler_bytes_sd, 0, 5, NULL, "standard deviation of ln(bytes) [L]"),
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
    PARAM("scenario_first", U32, scenario_first, 0, 1048576, NULL,
          "first phase of the scenario; 0: after a quarter of the phases"),
    PARAM("scenario_phases", U32, scenario_phases, 0, 1048576, NULL,
          "number of phases of the scenario; 0: a quarter of all"),
    PARAM("scenario_share", F64, scenario_share, 0, 1, NULL,
          "share of the ranks in the scenario, at least one; or radius of the hot spot as a share of the index "
          "space; 0: 2 % of the ranks, or a radius of 10 %, or of what the hot spot moves in a phase"),
    PARAM("scenario_factor", F64, scenario_factor, 1, 1e6, NULL,
          "factor of loads at the peak of the scenario; doubled until the imbalance in some phase is 1.2 times "
          "that "
          "without the scenario"),
};
const size_t model_load_param_count = sizeof model_load_param / sizeof model_load_param[0];

void model_load_params_init(struct model_load_params *params) {
    *params = (struct model_load_params){
        .phases = 40,
        .dims = 2,
        .objects = 9,
        .fill = 0.9,
        .collections = 1,
        .subphases = 2,
        .mean_first_ms = 1.6,
        .mean_last_ms = 7,
        .sigma_first = 0.05,
        .sigma_last = 0.475,
        .skew = 0.75,
        .time_table = "none",
        .persistence = 0.89,
        .alike = 0.62,
        .correlation = 0.48,
        .setup = true,
        .setup_table = "none",
        .setup_factor = 20,
        .setup_sigma = 1.5,
        .noise = 5e-5,
        .noise_min_ms = 60, /* shorter ones do not stand out of what changes from phase to phase */
        .noise_max_ms = 240,
        .jitter = 0.002,
        .preemptions = 0.1,
        .warm_up = 0.4,
        .migration = 0.002,
        .balancer_iterations = 8,
        .groups = 6,
        .far_edges = 0.2,
        .edge_bytes_mean = 9.93,
        .edge_bytes_sd = 1.78,
        .edge_messages_mean = 1.95,
        .edge_messages_sd = 1.34,
        .edge_follows = 0.52,
        .edge_phases = 8,
        .handler_ms = 0.1,
        .handler_bytes_mean = MODEL_LOAD_HANDLER_MEAN,
        .handler_bytes_sd = MODEL_LOAD_HANDLER_SD,
        .broadcast_every = 10,
        .block_bytes = 1 << 20,
        .footprint_bytes = 1 << 18,
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
    uint32_t open[3];
    uint32_t dimensions = 0;
    double sigma = -1, mean = 1;
    for (uint32_t d = 0; d < 3; d++) {
        if (m->grid[d] > 1) {
            open[dimensions++] = d;
        }
    }
    for (uint32_t k = 0; k < p->phases; k++) {
        double r = risen(p, k);
        struct model_load_phase *f = &m->phase[k];
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
    if (p->setup) {
        m->phase[0].sigma = p->setup_sigma;
        const double over_median = m->setup_tail.knots > 0
                                       ? model_load_mean_of_exp(&m->setup_tail, p->setup_sigma)
                                       : hpcw_i_exp(0.5 * p->setup_sigma * p->setup_sigma);
        m->phase[0].mean_ns *= p->setup_factor;
        m->phase[0].median_ns = m->phase[0].mean_ns / over_median;
    }
}

/* Along each dimension a first-order autoregression, whose correlation is that of neighbours to the power of the distance.
 * With many ranks, mean and variance become exact, so that different seeds have the same amount of work. */
static void fill_field(struct model_load *m) {
    const double old = m->params.correlation, new = sqrt(1 - old * old);
    const uint32_t stride[3] = {m->grid[1] * m->grid[2], m->grid[2], 1};
    uint32_t home[MODEL_LOAD_AT_ONCE];
    for (uint32_t r = 0; r < m->ranks; r += MODEL_LOAD_AT_ONCE) {
        const uint32_t count = m->ranks - r < MODEL_LOAD_AT_ONCE ? m->ranks - r : MODEL_LOAD_AT_ONCE;
        for (uint32_t i = 0; i < count; i++) {
            home[i] = r + i;
        }
        m->lanes->normals(&(struct model_draws){m->problem_seed, HPCW_I_FOR_LOAD_HOME, count, home, 0, 0},
                          m->field + r);
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

/* The share of the places that have an object differs between the ranks. */
static void fill_places(struct model_load *m) {
    const double spread = m->params.fill_spread;
    for (uint32_t r = 0; m->fill_threshold != NULL && r < m->ranks; r++) {
        uint32_t w[4];
        hpcw_i_draw(m->problem_seed, HPCW_I_FOR_LOAD_EXISTS, r, 1, 0, w);
        const double z = hpcw_i_normal(w[0], w[1]);
        m->fill_threshold[r] =
            hpcw_i_threshold(m->params.fill * hpcw_i_exp(spread * z - 0.5 * spread * spread));
    }
}

/* Whether the hot spot reaches the middle of an object in some phase. */
static bool hotspot_reaches(const struct model_load *m) {
    const struct model_load_params *p = &m->params;
    double beside2 = 0;
    for (uint32_t d = 1; d < p->dims; d++) {
        beside2 += m->side[d] % 2 == 0 ? 0.25 : 0;
    }
    for (uint32_t k = 0; k < p->scenario_phases && p->scenario_first + k < p->phases; k++) {
        double centre = model_load_centre(m, p->scenario_first + k);
        double off = centre - ((uint32_t)centre + 0.5);
        if (off * off + beside2 < m->radius * m->radius) {
            return true;
        }
    }
    return false;
}

/* Gives the scenario its time and place. */
static hpcw_status place_scenario(struct model_load *m, hpcw_error *err) {
    struct model_load_params *p = &m->params;
    if (p->scenario == MODEL_SCENARIO_NONE) {
        return HPCW_OK;
    }
    p->scenario_first = p->scenario_first != 0 ? p->scenario_first : (p->phases + 3) / 4;
    p->scenario_phases = p->scenario_phases != 0 ? p->scenario_phases : (p->phases + 3) / 4;
    if (p->scenario_first >= p->phases) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "load.scenario_first: expected a phase below load.phases = %u, got %u", p->phases,
                           p->scenario_first);
    }
    double hits = (p->scenario_share != 0 ? p->scenario_share : 0.02) * m->ranks;
    m->hits = hits < 1 ? 1 : (uint32_t)(hits + 0.5);
    if (p->scenario == MODEL_SCENARIO_HOTSPOT) {
        double step = 1.0 / p->scenario_phases;
        double share = p->scenario_share != 0 ? p->scenario_share : step > 0.1 ? step : 0.1;
        m->radius = share * m->side[0];
        m->radius = p->scenario_share == 0 && m->radius < 1 ? 1 : m->radius;
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
    if (params->noise_min_ms > params->noise_max_ms) {
        return hpcw_i_fail(err, HPCW_EINVAL, "load.noise_min: expected at most load.noise_max = %g ms, got %g",
                           params->noise_max_ms, params->noise_min_ms);
    }
    m->params = *params;
    m->machine = machine;
    m->seed = machine->seed;
    m->problem_seed = hpcw_i_numbered_seed(params->problem, m->seed);
    m->problem_seed = hpcw_i_numbered_seed(params->problem, m->seed);
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
        m->channels = (uint32_t)params->far_edges + (params->far_edges > (uint32_t)params->far_edges);
        m->channels = m->channels > params->far_channels ? m->channels : params->far_channels;
        m->kinds = 7 + m->channels;
    } else if (params->comm == MODEL_COMM_SAMPLE && params->groups == 0) {
        return hpcw_i_fail(err, HPCW_EINVAL, "load.groups: expected at least 1 with load.comm=sample, got 0");
    }
    m->swap_threshold = params->balancer == MODEL_BALANCER_NONE ? hpcw_i_threshold(params->migration) : 0;
    m->most = m->per_rank;
    if (params->balancer_interval == 0) {
        m->params.balancer_interval = params->phases < 16 ? 1 : params->phases / 8;
    }
    m->lanes = model_lanes(model_simd_best());
    m->phase = hpcw_i_calloc(params->phases, sizeof *m->phase);
    m->field = hpcw_i_calloc(m->ranks, sizeof *m->field);
    m->fill_threshold = params->fill_spread > 0 ? hpcw_i_calloc(m->ranks, sizeof *m->fill_threshold) : NULL;
    if (m->phase == NULL || m->field == NULL || (params->fill_spread > 0 && m->fill_threshold == NULL)) {
        model_load_free(m);
        return hpcw_i_fail_memory(err, "load", params->phases, "phases");
    }
    hpcw_status s = model_load_tail_init(&m->tail, params->skew, "load.time_table", params->time_table, err);
    if (s == HPCW_OK) {
        s = model_load_tail_init(&m->setup_tail, 0, "load.setup_table", params->setup_table, err);
    }
    if (s == HPCW_OK) {
        fill_phases(m);
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

/* ---- objects ---- */

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
    hpcw_i_draw(m->problem_seed, HPCW_I_FOR_LOAD_EXISTS, object, 0, 0, w);
    return w[0] < threshold;
}

double model_load_mean_objects(const struct model_load *m) {
    return 1 + (m->per_rank - 1) * (m->params.fill < 1 ? m->params.fill : 1);
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
    const uint32_t d = m->phase[phase].swap_dimension;
    const uint32_t offset = m->phase[phase].swap_offset;
    const uint32_t stride = d == 0 ? m->grid[1] * m->grid[2] : d == 1 ? m->grid[2] : 1;
    const uint32_t at = rank / stride % m->grid[d];
    if ((at ^ offset) % 2 == 0) {
        return at + 1 < m->grid[d] ? rank + stride : rank;
    }
    return at > 0 ? rank - stride : rank;
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
    assert(m->placements == 0);
    for (uint32_t k = phase; k > 0 && m->swap_threshold != 0; k--) {
        uint32_t partner = partner_of(m, rank, k);
        rank = swaps(m, rank, partner, k, slot) ? partner : rank;
    }
    return rank * m->per_rank + slot;
}

/* ---- placements by a balancer ---- */

uint32_t model_load_iterations(const struct model_load *m) {
    return m->params.balancer == MODEL_BALANCER_NONE       ? 0
           : m->params.balancer == MODEL_BALANCER_TEMPERED ? m->params.balancer_iterations
                                                           : 1;
}

/* Phase 0 sets up: what it took says nothing of the next ones. */
static uint32_t placement_of(const struct model_load *m, uint32_t phase) {
    const uint32_t every = m->params.balancer_interval;
    return every > 1 ? phase / every : phase > 0 ? phase - 1 : 0;
}

bool model_load_balances(const struct model_load *m, uint32_t phase) {
    return m->placements > 0 && phase > 0 && placement_of(m, phase) != placement_of(m, phase - 1);
}

const struct model_load_placement *model_load_placement(const struct model_load *m, uint32_t phase) {
    return m->placements > 0 ? &m->placement[placement_of(m, phase)] : NULL;
}

const struct model_load_placement *model_load_trial(const struct model_load *m, uint32_t phase,
                                                    uint32_t iteration) {
    return m->trial == NULL ? NULL
                            : &m->trial[(size_t)placement_of(m, phase) * model_load_iterations(m) + iteration];
}

/* Copies the list of the rank. */
static void fetch(const struct model_load *m, struct model_load_cursor *cursor) {
    const struct model_load_placement *p = model_load_placement(m, cursor->phase);
    const uint32_t first = p->first[cursor->rank];
    cursor->count = p->first[cursor->rank + 1] - first;
    memcpy(cursor->object, p->object + first, cursor->count * sizeof *cursor->object);
}

/* The next phase of a rank with a balancer. */
static void fetch_next(const struct model_load *m, struct model_load_cursor *cursor) {
    if (!model_load_balances(m, cursor->phase)) {
        return;
    }
    const struct model_load_placement *old = model_load_placement(m, cursor->phase - 1);
    uint32_t before = old->first[cursor->rank];
    fetch(m, cursor);
    for (uint32_t i = 0; i < cursor->count; i++) {
        while (before < old->first[cursor->rank + 1] && old->object[before] < cursor->object[i]) {
            before++;
        }
        cursor->arrived += before == old->first[cursor->rank + 1] || old->object[before] != cursor->object[i];
    }
    cursor->changed = true;
}

uint32_t model_load_find(const struct model_load *m, const struct model_load_cursor *cursor, uint32_t object) {
    uint32_t low = m->placements > 0 ? 0 : model_load_slot(m, object);
    uint32_t high = m->placements > 0 ? cursor->count : low;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (cursor->object[middle] < object) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < cursor->count && cursor->object[low] == object ? low : UINT32_MAX;
}

/* ---- placements without ---- */

void model_load_begin(const struct model_load *m, uint32_t rank, uint32_t *object,
                      struct model_load_cursor *cursor) {
    *cursor = (struct model_load_cursor){.rank = rank, .count = m->per_rank, .object = object};
    if (m->placements > 0) {
        fetch(m, cursor);
        return;
    }
    for (uint32_t slot = 0; slot < m->per_rank; slot++) {
        object[slot] = rank * m->per_rank + slot;
    }
}

void model_load_next(const struct model_load *m, struct model_load_cursor *cursor) {
    cursor->phase++;
    cursor->arrived = 0;
    cursor->changed = false;
    if (m->placements > 0) {
        fetch_next(m, cursor);
        return;
    }
    uint32_t partner = m->swap_threshold != 0 ? partner_of(m, cursor->rank, cursor->phase) : cursor->rank;
    uint32_t lower = partner < cursor->rank ? partner : cursor->rank;
    for (uint32_t first = 0; partner != cursor->rank && first < m->per_rank; first += 4) {
        uint32_t w[4];
        hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_SWAP, lower, cursor->phase, first / 4, w);
        for (uint32_t k = 0; k < 4 && first + k < m->per_rank; k++) {
            if (w[k] < m->swap_threshold) {
                cursor->object[first + k] = model_load_object(m, partner, first + k, cursor->phase - 1);
                cursor->arrived += model_load_exists(m, cursor->object[first + k]);
                cursor->changed = true;
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
    for (uint32_t r = 0; r < m->ranks;) {
        uint32_t lower[PAIRS];
        uint32_t upper[PAIRS];
        uint32_t pairs = 0;
        for (; r < m->ranks && pairs < PAIRS; r++) {
            upper[pairs] = partner_of(m, r, phase);
            lower[pairs] = r;
            pairs += upper[pairs] > r;
        }
        for (uint32_t q = 0; pairs > 0 && 4 * q < m->per_rank; q++) {
            swap_slots(m, object, phase, q, lower, upper, pairs);
        }
    }
}

const uint32_t *model_load_on_rank(const struct model_load *m, const uint32_t *object, uint32_t phase,
                                   uint32_t rank, uint32_t *count) {
    const struct model_load_placement *p = model_load_placement(m, phase);
    *count = p != NULL ? p->first[rank + 1] - p->first[rank] : m->per_rank;
    return p != NULL ? p->object + p->first[rank] : object + (size_t)rank * m->per_rank;
}

void model_load_ranks(const struct model_load *m, const uint32_t *object, uint32_t phase, uint32_t *rank) {
    for (uint32_t r = 0; r < m->ranks; r++) {
        for (uint32_t slot = 0; slot < m->per_rank; slot++) {
            rank[object != NULL ? *object++ : r * m->per_rank + slot] = r;
        }
    }
    const struct model_load_placement *p = model_load_placement(m, phase);
    for (uint32_t r = 0; p != NULL && p->first != NULL && r < m->ranks; r++) {
        for (uint32_t i = p->first[r]; i < p->first[r + 1]; i++) {
            rank[p->object[i]] = r;
        }
    }
}

/* ---- work ---- */

bool model_load_is_hit(const struct model_load *m, uint32_t home) {
    const struct model_permutation order = {m->ranks, 0, m->seed, HPCW_I_FOR_LOAD_SCENARIO};
    return model_permute(&order, home) < m->hits;
}

double model_load_centre(const struct model_load *m, uint32_t phase) {
    return ((double)phase - m->params.scenario_first + 0.5) / m->params.scenario_phases * m->side[0];
}

/* The factor falls linearly from the centre to 1 at the radius. */
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

/* The smooth field at an object: between the middles of the nearest homes, with variance 1. */
static double field_at(const struct model_load *m, uint32_t object) {
    const double rho = m->params.correlation;
    uint32_t home[3];
    uint32_t in_block[3];
    int64_t step[3] = {0};
    double share[3] = {0}; /* of the next home along each dimension */
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

static double lasting_of(const struct model_load *m, uint32_t object, double own) {
    return sqrt(m->params.alike) * field_at(m, object) + sqrt(1 - m->params.alike) * own;
}

double model_load_lasting(const struct model_load *m, uint32_t object) {
    uint32_t own[4];
    hpcw_i_draw(m->problem_seed, HPCW_I_FOR_LOAD_OBJECT, object, 0, 0, own);
    return lasting_of(m, object, hpcw_i_normal(own[0], own[1]));
}

void model_load_lastings(const struct model_load *m, const uint32_t *object, uint32_t count, double *lasting) {
    m->lanes->normals(&(struct model_draws){m->problem_seed, HPCW_I_FOR_LOAD_OBJECT, count, object, 0, 0},
                      lasting);
    for (uint32_t i = 0; i < count; i++) {
        lasting[i] = lasting_of(m, object[i], lasting[i]);
    }
}

uint64_t model_load_time(const struct model_load *m, uint32_t object, double lasting, uint32_t phase,
                         double slowness) {
    const struct model_load_params *p = &m->params;
    const struct model_load_phase *f = &m->phase[phase];
    uint32_t w[4];
    double z;
    if (phase == 0 && p->setup) {
        hpcw_i_draw(m->problem_seed, HPCW_I_FOR_LOAD_OBJECT, object, 0, 0, w);
        z = hpcw_i_normal(w[2], w[3]);
        z = m->setup_tail.knots > 0 ? model_load_bend_by_table(&m->setup_tail, z) : z;
    } else {
        hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_PHASE, object, phase, 0, w);
        z = model_load_bend(&m->tail, sqrt(p->persistence) * lasting +
                                          sqrt(1 - p->persistence) * hpcw_i_normal(w[0], w[1]));
    }
    double ns = f->median_ns * hpcw_i_exp(f->sigma * z) * slowness;
    return at_least_1(ns * model_load_scenario(m, object, phase));
}

/* The first of the last `parts` parts, of what is left: an equal share, plus or minus a quarter that lasts, and a tenth
 * that does not. */
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

void model_load_times(const struct model_load *m, const uint32_t *object, const double *lasting, uint32_t count,
                      uint32_t phase, const double *slowness, uint64_t *time_ns) {
    assert(count <= MODEL_LOAD_AT_ONCE);
    if (phase == 0 && m->params.setup) { /* once in a run, and with its own distribution */
        for (uint32_t i = 0; i < count; i++) {
            time_ns[i] = model_load_time(m, object[i], lasting[i], phase, slowness[i]);
        }
        return;
    }
    const struct model_load_params *p = &m->params;
    const struct model_load_phase *f = &m->phase[phase];
    const struct model_load_tail tail = m->tail;
    const double old = sqrt(p->persistence), new = sqrt(1 - p->persistence);
    double z[MODEL_LOAD_AT_ONCE];
    m->lanes->normals(&(struct model_draws){m->seed, HPCW_I_FOR_LOAD_PHASE, count, object, phase, 0}, z);
    for (uint32_t i = 0; i < count; i++) {
        z[i] = old * lasting[i] + new *z[i];
    }
    for (uint32_t i = 0; tail.knots == 0 && i < count; i++) {
        z[i] = f->sigma * model_load_bend_by_form(&tail, z[i]);
    }
    for (uint32_t i = 0; tail.knots > 0 && i < count; i++) {
        z[i] = f->sigma * model_load_bend_by_table(&tail, z[i]);
    }
    m->lanes->exps(z, count);
    for (uint32_t i = 0; i < count; i++) {
        z[i] = f->median_ns * z[i] * slowness[i];
    }
    for (uint32_t i = 0; p->scenario != MODEL_SCENARIO_NONE && i < count; i++) {
        z[i] *= model_load_scenario(m, object[i], phase);
    }
    for (uint32_t i = 0; i < count; i++) {
        time_ns[i] = at_least_1(z[i]);
    }
}

uint64_t model_load_interruption(const struct model_load *m, uint32_t rank, uint32_t phase, uint32_t *slot) {
    const struct model_load_params *p = &m->params;
    uint32_t w[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_NOISE, rank, phase, 0, w);
    *slot = (uint32_t)((uint64_t)w[2] * m->per_rank >> 32);
    double ms = p->noise_min_ms + (p->noise_max_ms - p->noise_min_ms) * hpcw_i_uniform(w[1]);
    return w[0] < hpcw_i_threshold(p->noise) ? (uint64_t)(ms * 1e6) : 0;
}

/* As in real files, the first groups have no work of their own; the handler always has some. */
static double other_median_ns(const struct model_load *m, uint32_t which) {
    return which == 0 ? 1e6 * m->params.handler_ms : which - 1 < m->params.groups / 2 ? 0 : 20e3;
}

uint64_t model_load_other(const struct model_load *m, uint32_t rank, uint32_t which, uint32_t phase,
                          double slowness) {
    const double median_ns = other_median_ns(m, which);
    uint32_t w[4];
    if (median_ns == 0) {
        return 0;
    }
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_OTHER, rank, which, phase, w);
    return at_least_1(median_ns * hpcw_i_exp(0.5 * hpcw_i_normal(w[0], w[1])) * slowness);
}

void model_load_add_others(const struct model_load *m, uint32_t first, uint32_t count, uint32_t which,
                           uint32_t phase, const double *slowness, uint64_t *sum) {
    const double median_ns = other_median_ns(m, which);
    uint32_t rank[MODEL_LOAD_AT_ONCE];
    double x[MODEL_LOAD_AT_ONCE];
    assert(count <= MODEL_LOAD_AT_ONCE);
    if (median_ns == 0) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        rank[i] = first + i;
    }
    m->lanes->normals(&(struct model_draws){m->seed, HPCW_I_FOR_LOAD_OTHER, count, rank, which, phase}, x);
    for (uint32_t i = 0; i < count; i++) {
        x[i] = 0.5 * x[i];
    }
    m->lanes->exps(x, count);
    for (uint32_t i = 0; i < count; i++) {
        sum[i] += at_least_1(median_ns * x[i] * slowness[i]);
    }
}

/* ---- messages ---- */

static uint32_t add_sender(const struct model_load *m, uint32_t object, uint32_t candidate, uint32_t kind,
                           struct model_load_edge *edge, uint32_t count) {
    bool is_new = candidate != object && model_load_exists(m, candidate);
    for (uint32_t i = 0; i < count; i++) {
        is_new = is_new && edge[i].from != candidate;
    }
    if (is_new) {
        edge[count++] = (struct model_load_edge){candidate, kind};
    }
    return count;
}

uint32_t model_load_senders(const struct model_load *m, uint32_t object,
                            struct model_load_edge edge[MODEL_LOAD_MOST_KINDS]) {
    const uint32_t collection = model_load_collection(m, object);
    uint32_t count = 0;
    uint32_t at[3];
    if (m->params.comm != MODEL_COMM_STENCIL) {
        return 0;
    }
    model_load_index(m, object, at);
    for (uint32_t d = 0; d < m->params.dims; d++) {
        for (uint32_t up = 0; up < 2; up++) {
            uint32_t there[3] = {at[0], at[1], at[2]};
            bool outside = up ? at[d] + 1 == m->side[d] : at[d] == 0;
            if (outside && !m->params.periodic) {
                continue;
            }
            there[d] = outside ? (up ? 0 : m->side[d] - 1) : up ? at[d] + 1 : at[d] - 1;
            count = add_sender(m, object, object_at(m, collection, there), 2 * d + up, edge, count);
        }
    }
    if (m->params.collections > 1) {
        uint32_t before = (collection + m->params.collections - 1) % m->params.collections;
        count = add_sender(m, object, object_at(m, before, at), 6, edge, count);
    }
    for (uint32_t channel = 0; channel < m->channels; channel++) {
        const double share =
            m->params.far_channels > 0 ? m->params.far_edges / m->channels : m->params.far_edges - channel;
        const struct model_permutation to = {m->objects, channel, m->seed, HPCW_I_FOR_LOAD_FAR};
        uint32_t from = model_permute_back(&to, object);
        uint32_t w[4];
        hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_FAR_USED, from, channel, 0, w);
        if (w[0] < hpcw_i_threshold(share)) {
            count = add_sender(m, object, from, 7 + channel, edge, count);
        }
    }
    return count;
}

/* Which of the periods with equal volumes a phase is in. */
static uint32_t period_of(const struct model_load *m, uint32_t phase) {
    return m->params.edge_phases == 0 ? 0 : phase / m->params.edge_phases;
}

/* When volumes change, bytes and messages do by about 10 % [A]. */
static double change_in(uint32_t period) {
    return period == 0 ? 0 : 0.1;
}

/* A standard deviation of the sum of two neighbours' work, which is alike. */
static const double sum_of_two = 1.6;

/* With MODEL_COMM_SAMPLE: ln(messages) between handlers, ln(bytes) from objects to their group, and how much of its
 * deviation follows the work, so that work and bytes of an object have a correlation of 0.65 [L]. */
static const double sample_messages_mean = 3.45, sample_messages_sd = 1.33;
static const double group_mean = 10.53, group_sd = 0.54, group_follows = 0.69;
enum { GROUP_MESSAGES = 25 };

/* The kinds whose volumes do not vary [L]. */
static const struct model_load_volume sample_volume[] = {
    [MODEL_LOAD_FROM_GROUP - MODEL_LOAD_TO_GROUP] = {212, 1},
    [MODEL_LOAD_TO_OTHER_GROUP - MODEL_LOAD_TO_GROUP] = {168, 1},
    [MODEL_LOAD_TO_ITSELF - MODEL_LOAD_TO_GROUP] = {168, 1},
    [MODEL_LOAD_BROADCAST - MODEL_LOAD_TO_GROUP] = {376, 2},
};

struct model_load_flow model_load_flow(const struct model_load *m, uint32_t owner, uint32_t kind,
                                       double follows) {
    const struct model_load_params *p = &m->params;
    const bool handlers = kind >= MODEL_LOAD_MOST_KINDS;
    uint32_t w[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_EDGE, owner, kind, 0, w);
    double z = hpcw_i_normal(w[0], w[1]);
    if (kind == MODEL_LOAD_TO_GROUP) {
        z = group_follows * follows + sqrt(1 - group_follows * group_follows) * z;
        return (struct model_load_flow){.ln_bytes = group_mean + group_sd * z};
    }
    if (!handlers) {
        z = p->edge_follows * follows / sum_of_two + sqrt(1 - p->edge_follows * p->edge_follows) * z;
    }
    /* Bytes and messages have a correlation of 0.6 [A]. */
    double z_messages = 0.6 * z + 0.8 * hpcw_i_normal(w[2], w[3]);
    const bool sample = p->comm == MODEL_COMM_SAMPLE;
    return (struct model_load_flow){
        .ln_bytes = handlers ? p->handler_bytes_mean + p->handler_bytes_sd * z
                             : p->edge_bytes_mean + p->edge_bytes_sd * z,
        .ln_messages = (sample ? sample_messages_mean : p->edge_messages_mean) +
                       (sample ? sample_messages_sd : p->edge_messages_sd) * z_messages,
    };
}

/* Applications send whole numbers of doubles. */
enum { ELEMENT = 8 };

static uint64_t whole_elements(double bytes) {
    return bytes < ELEMENT                         ? ELEMENT
           : bytes < (double)MODEL_LOAD_MOST_BYTES ? (uint64_t)(bytes / ELEMENT + 0.5) * ELEMENT
                                                   : MODEL_LOAD_MOST_BYTES;
}

struct model_load_volume model_load_volume(const struct model_load *m, uint32_t owner, uint32_t kind,
                                           struct model_load_flow flow, uint32_t phase) {
    uint32_t now[4];
    if (kind >= MODEL_LOAD_TO_GROUP) {
        return kind > MODEL_LOAD_TO_GROUP
                   ? sample_volume[kind - MODEL_LOAD_TO_GROUP]
                   : (struct model_load_volume){whole_elements(hpcw_i_exp(flow.ln_bytes)), GROUP_MESSAGES};
    }
    const uint32_t period = period_of(m, phase);
    const double change = change_in(period);
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_EDGE_PHASE, owner, kind, period, now);
    uint64_t bytes = whole_elements(hpcw_i_exp(flow.ln_bytes + change * hpcw_i_normal(now[0], now[1])));
    uint64_t messages = at_least_1(hpcw_i_exp(flow.ln_messages + change * hpcw_i_normal(now[2], now[3])));
    return (struct model_load_volume){.bytes = bytes,
                                      .messages = messages < bytes / ELEMENT ? messages : bytes / ELEMENT};
}

void model_load_bytes(const struct model_load *m, const uint32_t *owner, uint32_t kind, const double *ln_bytes,
                      uint32_t count, uint32_t phase, uint64_t *bytes) {
    const uint32_t period = period_of(m, phase);
    const double change = change_in(period);
    double x[MODEL_LOAD_AT_ONCE];
    assert(count <= MODEL_LOAD_AT_ONCE);
    m->lanes->normals(&(struct model_draws){m->seed, HPCW_I_FOR_LOAD_EDGE_PHASE, count, owner, kind, period},
                      x);
    for (uint32_t i = 0; i < count; i++) {
        x[i] = ln_bytes[i] + change * x[i];
    }
    m->lanes->exps(x, count);
    for (uint32_t i = 0; i < count; i++) {
        bytes[i] = whole_elements(x[i]);
    }
}

/* ---- memory ---- */

double model_load_held(const struct model_load *m, uint32_t object, double lasting, double sigma) {
    uint32_t own[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_MEMORY, object, 1, 0, own);
    const double half = 0.70710678118654752; /* of the variance follows the work */
    double z = half * lasting + half * hpcw_i_normal(own[0], own[1]);
    return hpcw_i_exp(sigma * z - 0.5 * sigma * sigma);
}

struct model_load_memory model_load_memory(const struct model_load *m, uint32_t object, double lasting) {
    const struct model_load_params *p = &m->params;
    assert(p->block_objects > 0);
    uint32_t per_home = (m->per_rank + p->block_objects - 1) / p->block_objects;
    uint32_t block = model_load_home(m, object) * per_home + model_load_slot(m, object) / p->block_objects;
    uint32_t shared[4];
    uint32_t own[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_MEMORY, block, 0, 0, shared);
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_MEMORY, object, 1, 0, own);
    double footprint = (double)p->footprint_bytes * model_load_held(m, object, lasting, 0.4);
    return (struct model_load_memory){
        .block = block,
        .block_bytes =
            at_least_1((double)p->block_bytes * hpcw_i_exp(0.6 * hpcw_i_normal(shared[0], shared[1]))),
        .footprint = at_least_1(footprint),
        .working = at_least_1(footprint * 0.5 * hpcw_i_uniform(own[2])),
        .serialized = at_least_1(footprint * 0.9),
    };
}
