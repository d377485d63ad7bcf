/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels for the simulator with workloads in Lua, without recording. Their figure is nanoseconds per call. */
#include <string.h>

#include "bench/kernels/kernels.h"
#include "gen/sim/lua/program.h"
#include "gen/workloads/workloads.h"
#include "libwriter/base/status.h"

/* PATIENCE_S: time limit of a phase, seconds. It is large, because a tool that counts instructions can slow a
 * phase down to minutes. */
enum { RANKS = 4096, LOAD_NS = 1000000, PATIENCE_S = 3600 };

/* Neighbours on a grid exchange eager messages. */
static const char stencil[] = "function run()\n"
                              "  local grid = cart { 2, periodic = true }\n"
                              "  local north, south = grid:neighbour(1, -1), grid:neighbour(1, 1)\n"
                              "  local west, east = grid:neighbour(2, -1), grid:neighbour(2, 1)\n"
                              "  for _ = 1, phases do\n"
                              "    work(1)\n"
                              "    send(north, 1024) send(south, 1024) send(west, 1024) send(east, 1024)\n"
                              "    recv(south) recv(north) recv(east) recv(west)\n"
                              "    next_phase()\n"
                              "  end\n"
                              "end\n";

/* A workload. text: its program in Lua, or NULL for the workload `name` of the library. phases: number of phases,
 * enough for about two million calls. */
struct simulate_case {
    const char *name, *text;
    uint32_t phases;
};

/* PARTNERS: a rank exchanges messages with 5 ranks before it and 5 ranks after it, as in a halo exchange in three
 * dimensions. */
enum { PARTNERS = 5, EDGE_BYTES = 1024 };
static const uint32_t distance[PARTNERS] = {1, 2, 63, 64, 65};

struct simulate_work {
    struct bench_common common;
    struct model_machine machine;
    struct model_network network;
    struct sim_lua *lua;
    uint32_t phases;
    struct sim_lua_edge edge[RANKS][2 * PARTNERS]; /* edges of each rank to others, and from others */
};

static hpcw_status load_of(void *context, uint32_t rank, uint32_t phase, uint64_t *time_ns, hpcw_error *err) {
    (void)context;
    (void)err;
    *time_ns = LOAD_NS * (1 + (rank + (uint64_t)phase) % 3);
    return HPCW_OK;
}

static bool no_checkpoint(void *context, uint32_t rank, uint32_t phase, uint64_t *bytes) {
    (void)context;
    (void)rank;
    (void)phase;
    *bytes = 0;
    return false;
}

/* A rank receives from the ranks to which it sends. Its edges are sorted by the partner's rank. The first and
 * the last ranks have partners at the other end, so their edges are not sorted. */
static hpcw_status edges_of(void *context, uint32_t rank, uint32_t phase, struct sim_lua_edges *edges,
                            hpcw_error *err) {
    struct simulate_work *w = context;
    struct sim_lua_edge *edge = w->edge[rank];
    (void)phase;
    (void)err;
    for (uint32_t i = 0; i < PARTNERS; i++) {
        const uint32_t before = (rank + RANKS - distance[PARTNERS - 1 - i]) % RANKS;
        edge[i] = (struct sim_lua_edge){before, EDGE_BYTES};
        edge[PARTNERS + i] = (struct sim_lua_edge){(rank + distance[i]) % RANKS, EDGE_BYTES};
    }
    *edges = (struct sim_lua_edges){edge, edge, 2 * PARTNERS, 2 * PARTNERS};
    return HPCW_OK;
}

static hpcw_status simulate(struct simulate_work *w, struct sim_lua_result *result, hpcw_error *err) {
    const struct sim_lua_host host = {w, load_of, no_checkpoint, edges_of, NULL};
    struct sim_options options = {.network = &w->network, .phases = w->phases};
    sim_constants_init(&options.constants);
    return sim_lua_run(w->lua, &options, &host, result, err);
}

static hpcw_status open_case(struct simulate_work *w, const struct simulate_case *c, hpcw_error *err) {
    struct sim_lua_text text = {
        .name = c->name, .ranks = RANKS, .phases = w->phases, .seed = 1, .patience_s = PATIENCE_S};
    if (c->text != NULL) {
        text.text = c->text;
        text.size = strlen(c->text);
    }
    for (size_t i = 0; c->text == NULL && i < gen_workload_files; i++) {
        if (strcmp(gen_workload_file[i].name, c->name) == 0) {
            text.text = (const char *)gen_workload_file[i].data;
            text.size = gen_workload_file[i].size;
        }
    }
    return sim_lua_open(&text, &w->lua, err);
}

static hpcw_status simulate_setup(void *work, const void *parameter, struct bench_amount *amount,
                                  hpcw_error *err) {
    const struct simulate_case *c = parameter;
    struct simulate_work *w = work;
    struct model_machine_params params;
    struct sim_lua_result result;
    w->phases = (uint32_t)bench_scaled(w->common.place, c->phases, 1);
    hpcw_status s = model_machine_params_init(&params, model_machine_preset[0].name, err);
    s = s == HPCW_OK ? model_machine_init(&w->machine, &params, RANKS, 1, err) : s;
    if (s == HPCW_OK) {
        model_network_init(&w->network, &w->machine);
        s = open_case(w, c, err);
    }
    s = s == HPCW_OK ? simulate(w, &result, err) : s; /* a run only to count the calls */
    if (s == HPCW_OK) {
        *amount = (struct bench_amount){.items = result.calls};
    }
    return s;
}

static void simulate_teardown(void *work) {
    struct simulate_work *w = work;
    sim_lua_free(w->lua);
    model_machine_free(&w->machine);
}

static hpcw_status run(void *work, hpcw_error *err) {
    struct sim_lua_result result;
    return simulate(work, &result, err);
}

static const struct bench_side sides[] = {
    {"simulate", "all calls of 4096 ranks, on one core", 0, NULL, {BENCH_PHASE("run", run)}, NULL, NULL},
};

/* Targets: local_calls 8 million calls a second, timed_calls a third of this rate. */
static const struct bench_figure local_calls[] = {
    {"call, processor time", BENCH_CPU, {1, 1}, {0, 0}, {0, 0}, {0, 0}, 125, false},
};
static const struct bench_figure timed_calls[] = {
    {"call, processor time", BENCH_CPU, {1, 1}, {0, 0}, {0, 0}, {0, 0}, 375, false},
};

#define SIMULATE(name_is, what_it_is, phases_of, workload, text_of, figures_of)                                \
    {                                                                                                          \
        .name = "simulate-" name_is, .what = what_it_is, .needs = BENCH_ONE_PROCESS,                           \
        .size = sizeof(struct simulate_work),                                                                  \
        .parameter = &(const struct simulate_case){workload, text_of, phases_of}, .setup = simulate_setup,     \
        .teardown = simulate_teardown, .subject = {BENCH_ROWS(sides), NULL}, BENCH_FIGURES(figures_of),        \
    }

const struct bench_kernel bench_simulate_stencil = SIMULATE(
    "stencil", "4096 ranks exchange with four neighbours in 60 phases", 60, "stencil", stencil, local_calls);
const struct bench_kernel bench_simulate_wavefront =
    SIMULATE("wavefront", "sweeps over a grid of 4096 ranks in 8 phases", 8, "wavefront", NULL, local_calls);
const struct bench_kernel bench_simulate_requests =
    SIMULATE("requests", "4096 ranks exchange with ten others in 20 phases, with requests that they wait for",
             20, "stencil", NULL, local_calls);
const struct bench_kernel bench_simulate_farm =
    SIMULATE("farm", "a master and 4095 workers in 20 phases", 20, "farm", NULL, timed_calls);
