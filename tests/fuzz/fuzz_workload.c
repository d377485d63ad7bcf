/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads arbitrary bytes as the text of a workload. Either it runs to its end, with times that never go back, or a
 * one-line message says what is wrong. Both take less processor time than PATIENCE_S allows. */
#include <string.h>

#include "gen/sim/lua/program.h"
#include "tests/fuzz/images.h"

enum { RANKS = 4, PHASES = 2 };

/* Processor time in seconds that suffices for a valid text of four ranks. */
#define PATIENCE_S 0.05

static hpcw_status load_of(void *context, uint32_t rank, uint32_t phase, uint64_t *time_ns, hpcw_error *err) {
    (void)context;
    (void)err;
    *time_ns = 1000000 * (1 + (rank + phase) % 3);
    return HPCW_OK;
}

static bool checkpoint_of(void *context, uint32_t rank, uint32_t phase, uint64_t *bytes) {
    (void)context;
    *bytes = 1000 + rank;
    return phase == PHASES - 1;
}

static hpcw_status edges_of(void *context, uint32_t rank, uint32_t phase, struct sim_lua_edges *edges,
                            hpcw_error *err) {
    static struct sim_lua_edge edge[2];
    (void)context;
    (void)phase;
    (void)err;
    edge[0] = (struct sim_lua_edge){(rank + 1) % RANKS, 1000};
    edge[1] = (struct sim_lua_edge){(rank + RANKS - 1) % RANKS, 1000};
    *edges = (struct sim_lua_edges){&edge[0], &edge[1], 1, 1};
    return HPCW_OK;
}

/* context: [RANKS] time of each rank's last event. */
static hpcw_status watch(void *context, const struct sim_event *event, hpcw_error *err) {
    uint64_t *last_ns = context;
    (void)err;
    demand(event->rank < RANKS && event->time_ns >= last_ns[event->rank]);
    last_ns[event->rank] = event->time_ns;
    return HPCW_OK;
}

static hpcw_status run(struct sim_lua *lua, hpcw_error *err) {
    static const struct sim_lua_host host = {NULL, load_of, checkpoint_of, edges_of, NULL};
    uint64_t last_ns[RANKS] = {0};
    struct model_machine_params p;
    struct model_machine machine;
    struct model_network network;
    struct sim_lua_result result;
    demand(model_machine_params_init(&p, model_machine_preset[0].name, err) == HPCW_OK);
    demand(model_machine_init(&machine, &p, RANKS, 1, err) == HPCW_OK);
    model_network_init(&network, &machine);
    struct sim_options options = {
        .network = &network, .phases = PHASES, .checkpoints = 1, .observer = {last_ns, watch, NULL}};
    sim_constants_init(&options.constants);
    const hpcw_status s = sim_lua_run(lua, &options, &host, &result, err);
    model_machine_free(&machine);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hpcw_error err = {.message = ""};
    const struct sim_lua_text text = {.name = "input",
                                      .text = (const char *)data,
                                      .size = size,
                                      .ranks = RANKS,
                                      .phases = PHASES,
                                      .seed = 1,
                                      .patience_s = PATIENCE_S};
    struct sim_lua *lua;
    hpcw_status s = sim_lua_open(&text, &lua, &err);
    s = s == HPCW_OK ? run(lua, &err) : s;
    sim_lua_free(lua);
    demand(s == HPCW_OK ||
           (err.code == s && strncmp(err.message, "input", 5) == 0 && strchr(err.message, '\n') == NULL));
    return 0;
}
