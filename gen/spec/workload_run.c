/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a dataset's workload. The models of load and checkpoints decide what its ranks compute and write. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <hpcw/clog2.h>

#include "gen/model/load/whole.h"
#include "gen/spec/costs.h"
#include "gen/spec/dataset.h"
#include "gen/spec/edges.h"
#include "gen/spec/workload.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Loads of the ranks. The loads of a phase are computed when the first rank begins the phase. */
struct workload_loads {
    const struct gen_dataset *d;
    /* load model without the handlers' work and without noise, since the run adds both */
    struct model_load load;
    struct model_load_whole whole;
    /* [phases] NULL until the phase is computed, then the loads of all [ranks]. In a run with a scenario, [ranks]
     * loads without the scenario follow. */
    uint64_t **load_ns;
    struct gen_edges *edges;       /* NULL: the program does not call edges() */
    const struct gen_costs *costs; /* NULL: costs of faults are not wanted */
};

static hpcw_status measure_phase(struct workload_loads *l, uint32_t phase, hpcw_error *err) {
    const uint32_t ranks = l->d->ranks;
    const bool calm = l->load.params.scenario.kind != MODEL_SCENARIO_NONE;
    l->load_ns[phase] = hpcw_i_malloc((calm ? 2 : 1) * (size_t)ranks * sizeof **l->load_ns);
    if (l->load_ns[phase] == NULL) {
        return hpcw_i_fail_memory(err, "workload", ranks, "ranks");
    }
    model_load_whole_measure(&l->whole, phase);
    model_load_whole_ranks(&l->whole, l->load_ns[phase], calm ? l->load_ns[phase] + ranks : NULL);
    return l->edges != NULL ? gen_edges_add(l->edges, phase, l->whole.rank, err) : HPCW_OK;
}

static hpcw_status load_of(void *context, uint32_t rank, uint32_t phase, uint64_t *time_ns, hpcw_error *err) {
    struct workload_loads *l = context;
    const hpcw_status s = l->load_ns[phase] == NULL ? measure_phase(l, phase, err) : HPCW_OK;
    *time_ns = s == HPCW_OK ? l->load_ns[phase][rank] : 0;
    return s;
}

static hpcw_status edges_of(void *context, uint32_t rank, uint32_t phase, struct sim_lua_edges *edges,
                            hpcw_error *err) {
    struct workload_loads *l = context;
    const hpcw_status s = l->load_ns[phase] == NULL ? measure_phase(l, phase, err) : HPCW_OK;
    if (s == HPCW_OK) {
        gen_edges_of(l->edges, rank, phase, edges);
    }
    return s;
}

/* Returns the load of a rank without the fault number `clock`. Call it after load_of for the same phase. */
static uint64_t load_without(void *context, uint32_t rank, uint32_t phase, uint32_t clock) {
    const struct workload_loads *l = context;
    const struct gen_cost_fault *fault = &l->costs->fault[clock];
    const uint64_t *load_ns = l->load_ns[phase];
    return fault->kind == GEN_COST_SCENARIO ? load_ns[l->d->ranks + rank]
                                            : gen_costs_load_ns(fault, &l->load, rank, phase, load_ns[rank]);
}

static bool checkpoint_of(void *context, uint32_t rank, uint32_t phase, uint64_t *bytes) {
    const struct workload_loads *l = context;
    const struct model_checkpoint *c = &l->d->checkpoint;
    const uint32_t number = model_checkpoint_after(c, phase);
    if (number == UINT32_MAX) {
        return false;
    }
    *bytes = model_checkpoint_size(c, (uint64_t)number * c->ranks + rank);
    return true;
}

static hpcw_status loads_new(struct workload_loads *l, const struct gen_dataset *d, hpcw_error *err) {
    *l = (struct workload_loads){.d = d, .load = d->load};
    l->load.handler_ns = NULL;
    l->load.disturbed = NULL;
    l->load_ns = hpcw_i_calloc(d->load.params.phases, sizeof *l->load_ns);
    hpcw_status s = model_load_whole_new(&l->whole, &l->load, err);
    s = s == HPCW_OK && gen_workload_uses_edges(d->workload) ? gen_edges_new(&l->load, &l->edges, err) : s;
    return s != HPCW_OK || l->load_ns != NULL
               ? s
               : hpcw_i_fail_memory(err, "workload", d->load.params.phases, "phases");
}

/* Scales the load data to the times of the run. The objects of a rank take longer if noise made the rank's work
 * longer. They take less time if the program gave some of the work to other ranks. */
#define LEAST_FACTOR 1e-6 /* lower limit of the factor, so that tasks take at least a nanosecond */
static void disturb(const struct workload_loads *l, struct gen_traffic *t) {
    for (uint32_t k = 0; k < t->phases; k++) {
        for (uint32_t r = 0; r < t->ranks; r++) {
            const size_t i = (size_t)k * t->ranks + r;
            const uint64_t load_ns = l->load_ns[k] == NULL ? 0 : l->load_ns[k][r];
            const double factor = load_ns > 0 ? (double)t->work_ns[i] / (double)load_ns : 0;
            t->disturbed[i] = factor > LEAST_FACTOR ? factor : LEAST_FACTOR;
        }
    }
    hpcw_i_free(t->work_ns);
    t->work_ns = NULL;
}

static void loads_free(struct workload_loads *l) {
    for (uint32_t k = 0; l->load_ns != NULL && k < l->d->load.params.phases; k++) {
        hpcw_i_free(l->load_ns[k]);
    }
    hpcw_i_free(l->load_ns);
    gen_edges_free(l->edges);
    model_load_whole_free(&l->whole);
}

static hpcw_status open_lua(const struct gen_dataset *d, struct sim_lua **lua, hpcw_error *err) {
    const struct gen_workload *w = d->workload;
    const struct sim_lua_text text = {.name = w->name,
                                      .text = (const char *)w->text.data,
                                      .size = w->text.size,
                                      .setting = w->setting,
                                      .settings = w->settings,
                                      .ranks = d->ranks,
                                      .phases = d->load.params.phases,
                                      .seed = d->seed};
    return sim_lua_open(&text, lua, err);
}

static hpcw_status run(const struct gen_dataset *d, struct sim_lua *lua, const struct sim_observer *observer,
                       struct gen_costs *costs, uint64_t *end_ns, hpcw_error *err) {
    struct workload_loads loads;
    struct sim_lua_result result;
    struct sim_options options = {.network = &d->network,
                                  .phases = d->load.params.phases,
                                  .checkpoints = d->checkpoint.params.checkpoints,
                                  .observer = *observer,
                                  .noise = d->noise_params,
                                  .seed = d->seed};
    sim_constants_init(&options.constants);
    hpcw_status s = loads_new(&loads, d, err);
    if (s == HPCW_OK) {
        struct sim_lua_host host = {&loads, load_of, checkpoint_of, edges_of, NULL};
        if (costs != NULL && costs->count > 0) {
            options.repair = costs->repair;
            options.clocks = costs->count;
            loads.costs = costs;
            host.load_without_ns = load_without;
        }
        s = sim_lua_run(lua, &options, &host, &result, err);
        *end_ns = result.end_ns;
    }
    if (s == HPCW_OK && costs != NULL) {
        memcpy(costs->price, result.price, sizeof costs->price);
    }
    if (s == HPCW_OK && d->workload->traffic != NULL && d->workload->traffic->work_ns != NULL) {
        disturb(&loads, d->workload->traffic);
    }
    loads_free(&loads);
    return s;
}

hpcw_status gen_workload_run(const struct gen_dataset *d, const struct sim_observer *observer,
                             struct gen_costs *costs, hpcw_error *err) {
    const struct gen_workload *w = d->workload;
    if (w->costs != NULL) {
        *costs = *w->costs;
    } else {
        gen_costs_choose(d, costs);
    }
    if (w->recording != NULL && gen_recording_is_whole(w->recording)) {
        return gen_recording_play(w->recording, observer, err);
    }
    struct sim_lua *lua;
    uint64_t end_ns;
    hpcw_status s = open_lua(d, &lua, err);
    s = s == HPCW_OK ? run(d, lua, observer, w->costs == NULL ? costs : NULL, &end_ns, err) : s;
    sim_lua_free(lua);
    return s;
}

/* ---- counts of a run ---- */

struct workload_measure {
    struct gen_workload *workload;
    uint32_t checkpoints; /* number of checkpoints that rank 0 has begun */
    uint64_t events[SIM_WHATS], calls[SIM_CALLS];
};

/* Counts a rank that got a communicator. Until the run ends, communicators are in the order of their
 * numbers. */
static hpcw_status count_member(struct gen_workload *w, const struct sim_event *event, hpcw_error *err) {
    const uint32_t number = (uint32_t)event->tag;
    if (number > w->comms) {
        struct gen_workload_comm *grown = hpcw_i_grow(w->comm, &w->comm_capacity, number, sizeof *grown);
        if (grown == NULL) {
            return hpcw_i_fail_memory(err, w->name, number, "communicators");
        }
        memset(grown + w->comms, 0, (number - w->comms) * sizeof *grown);
        w->comm = grown;
        w->comms = number;
    }
    struct gen_workload_comm *c = &w->comm[number - 1];
    c->leader = (uint32_t)(event->bytes >> 32);
    c->count = (uint32_t)event->bytes;
    c->created_ns = event->peer == 0 ? event->time_ns : c->created_ns;
    c->size++;
    return HPCW_OK;
}

static int by_identity(const void *a, const void *b) {
    const struct gen_workload_comm *x = a;
    const struct gen_workload_comm *y = b;
    return x->leader != y->leader ? (x->leader < y->leader ? -1 : 1)
                                  : (x->count < y->count ? -1 : x->count > y->count);
}

uint32_t gen_workload_find_comm(const struct gen_workload *w, uint32_t leader, uint32_t count) {
    const struct gen_workload_comm key = {.leader = leader, .count = count};
    const struct gen_workload_comm *found =
        w->comms == 0 ? NULL : bsearch(&key, w->comm, w->comms, sizeof key, by_identity);
    return found == NULL ? UINT32_MAX : (uint32_t)(found - w->comm);
}

static hpcw_status count(void *context, const struct sim_event *event, hpcw_error *err) {
    struct workload_measure *m = context;
    struct gen_workload *w = m->workload;
    hpcw_status s = HPCW_OK;
    m->events[event->what]++;
    switch ((enum sim_what)event->what) {
    case SIM_BEGINS:
        m->calls[event->number]++;
        if (event->number == SIM_CALL_CHECKPOINT && event->rank == 0) {
            w->checkpoint_ns[m->checkpoints++] = event->time_ns;
        }
        break;
    case SIM_MADE:
        s = count_member(w, event, err);
        break;
    default:
        break;
    }
    s = s == HPCW_OK && w->traffic != NULL ? gen_traffic_add(w->traffic, event, err) : s;
    return s == HPCW_OK && w->recording != NULL ? gen_recording_event(w->recording, event, err) : s;
}

static void sum_up(const struct workload_measure *m, struct gen_workload_counts *c) {
    for (uint32_t i = 0; i < SIM_CALLS; i++) {
        c->calls |= (uint32_t)(m->calls[i] > 0) << i;
        c->cargos += gen_workload_moves(i) ? m->calls[i] : 0;
    }
    c->cargos += m->events[SIM_PHASE];
    c->messages = m->events[SIM_SENT] + m->events[SIM_RECEIVED];
    c->members = m->events[SIM_MADE];
    c->events = m->events[SIM_COMPUTES]; /* each SIM_COMPUTES is two events of the log: a begin and an end */
    for (uint32_t i = 0; i < SIM_WHATS; i++) {
        c->events += i == SIM_LOSES ? 0 : m->events[i];
    }
}

static hpcw_status pass(void *context, uint64_t time_ns, hpcw_error *err) {
    const struct workload_measure *m = context;
    return m->workload->recording != NULL ? gen_recording_passed(m->workload->recording, time_ns, err)
                                          : HPCW_OK;
}

/* Bytes of a recording. With more, a log of 4096 ranks would need more than 300 MiB. */
enum { RECORDING = 160 << 20 };

hpcw_status gen_workload_measure(struct gen_dataset *d, bool loads, hpcw_error *err) {
    struct gen_workload *w = d->workload;
    struct workload_measure measure = {.workload = w};
    struct sim_lua *lua;
    w->counts = (struct gen_workload_counts){0};
    w->comms = 0;
    w->checkpoint_ns = hpcw_i_calloc(d->checkpoint.params.checkpoints + (size_t)1, sizeof *w->checkpoint_ns);
    if (w->checkpoint_ns == NULL) {
        return hpcw_i_fail_memory(err, w->name, d->checkpoint.params.checkpoints, "checkpoints");
    }
    hpcw_status s = loads ? gen_traffic_new(d->ranks, d->load.params.phases, &w->traffic, err) : HPCW_OK;
    if (s == HPCW_OK && d->writes_log) {
        s = gen_recording_new(d->ranks, RECORDING, &w->recording, err);
        w->costs = hpcw_i_calloc(1, sizeof *w->costs);
        s = s == HPCW_OK && w->costs == NULL ? hpcw_i_fail_memory(err, w->name, 0, NULL) : s;
        if (s == HPCW_OK) {
            gen_costs_choose(d, w->costs);
        }
    }
    if (s != HPCW_OK) {
        return s;
    }
    s = open_lua(d, &lua, err);
    if (s == HPCW_OK) {
        w->states = sim_lua_states(lua);
        for (uint32_t i = 0; i < w->states; i++) {
            memcpy(w->state[i], sim_lua_state(lua, i), sizeof w->state[i]);
        }
        s = run(d, lua, &(struct sim_observer){&measure, count, pass}, w->costs, &w->counts.end_ns, err);
        sum_up(&measure, &w->counts);
    }
    sim_lua_free(lua);
    if (w->comms > 0) {
        qsort(w->comm, w->comms, sizeof *w->comm, by_identity);
    }
    if (s == HPCW_OK && loads) {
        s = gen_traffic_sort(w->traffic, err);
        d->load.handler_ns = w->traffic->handler_ns;
        d->load.disturbed = w->traffic->disturbed;
    }
    return s;
}

/* Returns the largest time that a clock shows at the end of the run, seconds. */
static double last_s(const struct gen_dataset *d) {
    const uint64_t end_ns = d->workload->counts.end_ns;
    double most = 0;
    for (uint32_t n = 0; n < d->machine.nodes; n++) {
        most = fmax(most, (double)gen_clock_error(&d->clocks, n, end_ns));
    }
    return ((double)end_ns + (double)d->clocks.start_ns + most) * 1e-9;
}

hpcw_status gen_workload_check_log(const struct gen_dataset *d, hpcw_error *err) {
    /* the world, a communicator for each rank alone, and those that the program creates */
    const uint64_t comms = d->ranks + UINT64_C(1) + d->workload->comms;
    if (comms * d->ranks > INT32_MAX) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "%s: expected communicators x ranks below 2^31, as readers of logs number them, got "
                           "%" PRIu64 " x %" PRIu32,
                           d->workload->name, comms, d->ranks);
    }
    return last_s(d) < HPCW_CLOG2_LAST
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_ERANGE,
                             "%s: expected a run of less than %g s, as the times of logs are, got %.4g s: set "
                             "fewer load.phases or smaller loads",
                             d->workload->name, HPCW_CLOG2_LAST, last_s(d));
}
