/* SPDX-License-Identifier: BSD-3-Clause */
/* Workloads: Lua programs that the simulator runs. Every rank runs the program text as a coroutine with its own
 * global variables. The text can read no file, clock or address, so equal texts and parameters give equal runs.
 * Memory and time of a workload are limited. */
#ifndef HPCW_GEN_SIM_LUA_PROGRAM_H
#define HPCW_GEN_SIM_LUA_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "gen/sim/sim.h"

/* SIM_LUA_MOST_TEXT: largest size of a program text, bytes.
 * SIM_LUA_MOST_STATES: largest number of states.
 * SIM_LUA_STATE_NAME: largest size of a state's name with the NUL, bytes, as in CLOG-2. */
enum { SIM_LUA_MOST_TEXT = 1 << 20, SIM_LUA_MOST_STATES = 64, SIM_LUA_STATE_NAME = 32 };

/* Value that the user gives a parameter of a workload. */
struct sim_lua_setting {
    const char *key, *value;
};

/* Input to open a workload. Everything is copied. */
struct sim_lua_text {
    /* name in messages: a path, or the name of a workload of the library */
    const char *name;
    const char *text;
    size_t size;
    const struct sim_lua_setting *setting; /* [settings] */
    size_t settings;
    uint32_t ranks, phases;
    uint64_t seed;
    /* for tests: largest processor time without progress, seconds; 0: a time that depends on the number of
     * ranks */
    double patience_s;
};

/* Bytes of all edges between a rank and another one in a phase. */
struct sim_lua_edge {
    uint32_t rank; /* the other rank */
    uint64_t bytes;
};
struct sim_lua_edges {
    /* to: [to_count] edges to other ranks; from: [from_count] edges from other ranks; sorted by rank */
    const struct sim_lua_edge *to, *from;
    uint32_t to_count, from_count;
};

/* What a workload needs to know of the dataset. */
struct sim_lua_host {
    void *context;
    /* Returns the time that the load model gives a rank in a phase. */
    hpcw_status (*load_ns)(void *context, uint32_t rank, uint32_t phase, uint64_t *time_ns, hpcw_error *err);
    /* Returns whether a checkpoint is due after a phase; *bytes: its size on a rank. */
    bool (*checkpoint)(void *context, uint32_t rank, uint32_t phase, uint64_t *bytes);
    /* Returns the edges of a rank in a phase. Called at most once for each rank and phase. The edges are valid
     * until the rank asks for a later phase. */
    hpcw_status (*edges)(void *context, uint32_t rank, uint32_t phase, struct sim_lua_edges *edges,
                         hpcw_error *err);
    /* Returns the load of a rank in a phase without the fault of further clock `clock` (struct sim_options).
     * NULL: no fault adds to loads. */
    uint64_t (*load_without_ns)(void *context, uint32_t rank, uint32_t phase, uint32_t clock);
};

struct sim_lua;

/* Returns whether a program text calls edges(), so that the load model decides what the ranks send. */
bool sim_lua_uses_edges(const char *text, size_t size);

/* Returns the version of Lua that runs the workloads, "5.4". All releases of a version give the same results. */
const char *sim_lua_version(void);

/* Reads a program text and runs it once as rank 0, without its function `run`, to learn its states and
 * parameters. HPCW_EINVAL, with file and line: no text, bytecode, mistakes, or settings of unknown parameters.
 * HPCW_ERANGE: the text is too long. HPCW_ENOMEM. */
hpcw_status sim_lua_open(const struct sim_lua_text *text, struct sim_lua **out, hpcw_error *err);
void sim_lua_free(struct sim_lua *lua);

/* sim_lua_states returns the number of names in the table `states`, sim_lua_state one of the names. */
uint32_t sim_lua_states(const struct sim_lua *lua);
const char *sim_lua_state(const struct sim_lua *lua, uint32_t state);

/* Calls `list` for each parameter and its value, sorted by name. */
hpcw_status sim_lua_parameters(struct sim_lua *lua,
                               void (*list)(void *context, const char *key, const char *value), void *context,
                               hpcw_error *err);

/* Totals of a run. price[k]: cost of the fault of further clock k. */
struct sim_lua_result {
    uint64_t calls, end_ns;
    struct sim_price price[SIM_MOST_CLOCKS];
};

/* Runs all ranks. options: observer and constants; ranks and phases are those of the struct sim_lua_text. May
 * be called again. HPCW_EINVAL: a mistake of the program; the message has file, line, rank, what was expected
 * and what came. */
hpcw_status sim_lua_run(struct sim_lua *lua, const struct sim_options *options, const struct sim_lua_host *host,
                        struct sim_lua_result *result, hpcw_error *err);

#endif
