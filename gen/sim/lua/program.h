/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workloads: programs in Lua that the simulator runs. Every rank runs the text as a coroutine, with global variables of its
 * own. The text sees no file, no clock and no address, so equal texts and parameters give equal runs. It cannot take more
 * memory or time than the program allows.
 */
#ifndef HPCW_GEN_SIM_LUA_PROGRAM_H
#define HPCW_GEN_SIM_LUA_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "gen/sim/sim.h"

/* Bytes of a text; its states, and the bytes of a state's name with the NUL, as CLOG-2 has them. */
enum { SIM_LUA_MOST_TEXT = 1 << 20, SIM_LUA_MOST_STATES = 64, SIM_LUA_STATE_NAME = 32 };

/* A parameter that the user sets. */
struct sim_lua_setting {
    const char *key, *value;
};

/* What a workload is opened with. All is copied. */
struct sim_lua_text {
    const char *name; /* for messages: a path, or the name of a workload of the library */
    const char *text;
    size_t size;
    const struct sim_lua_setting *setting; /* [settings] */
    size_t settings;
    uint32_t ranks, phases;
    uint64_t seed;
    double
        patience_s; /* tests: processor time without progress that ends it; 0: as many seconds as the ranks need */
};

/* The bytes of all edges between a rank and another one in a phase. */
struct sim_lua_edge {
    uint32_t rank; /* the other one */
    uint64_t bytes;
};
struct sim_lua_edges {
    const struct sim_lua_edge *to, *from; /* [to_count], [from_count] by rank */
    uint32_t to_count, from_count;
};

/* The dataset's answers to a workload. */
struct sim_lua_host {
    void *context;
    /* The time that the load model gives a rank in a phase. */
    hpcw_status (*load_ns)(void *context, uint32_t rank, uint32_t phase, uint64_t *time_ns, hpcw_error *err);
    /* Whether a checkpoint is due after a phase, and its bytes on a rank. */
    bool (*checkpoint)(void *context, uint32_t rank, uint32_t phase, uint64_t *bytes);
    /* The edges of a rank in a phase, once for each. They are valid until the rank asks for those of a later phase. */
    hpcw_status (*edges)(void *context, uint32_t rank, uint32_t phase, struct sim_lua_edges *edges,
                         hpcw_error *err);
    /* The load of a rank in a phase without the fault of a further clock. NULL: no fault adds to loads. */
    uint64_t (*load_without_ns)(void *context, uint32_t rank, uint32_t phase, uint32_t clock);
};

struct sim_lua;

/* Whether a text calls edges(), and so sends what the load model says. */
bool sim_lua_uses_edges(const char *text, size_t size);

/* The version of Lua that runs the texts, "5.4". All releases of a version give the same results. */
const char *sim_lua_version(void);

/*
 * Reads a text, and runs it once as rank 0 to learn its states and parameters; `run` is not called. HPCW_EINVAL with file and
 * line: no text, bytecode, mistakes, settings that name no parameter; HPCW_ERANGE: too long; HPCW_ENOMEM.
 */
hpcw_status sim_lua_open(const struct sim_lua_text *text, struct sim_lua **out, hpcw_error *err);
void sim_lua_free(struct sim_lua *lua);

/* The names in `states`, in their order. */
uint32_t sim_lua_states(const struct sim_lua *lua);
const char *sim_lua_state(const struct sim_lua *lua, uint32_t state);

/* Calls `list` with each parameter and its value, by name. */
hpcw_status sim_lua_parameters(struct sim_lua *lua,
                               void (*list)(void *context, const char *key, const char *value), void *context,
                               hpcw_error *err);

/* The totals of a run, and what the fault of each further clock costs. */
struct sim_lua_result {
    uint64_t calls, end_ns;
    struct sim_price price[SIM_MOST_CLOCKS];
};

/* Runs all ranks. `options` has the observer and the constants; ranks, phases are those of the text. May be called again.
 * HPCW_EINVAL for a mistake of the program: file, line, rank, what was expected and what came. */
hpcw_status sim_lua_run(struct sim_lua *lua, const struct sim_options *options, const struct sim_lua_host *host,
                        struct sim_lua_result *result, hpcw_error *err);

#endif
