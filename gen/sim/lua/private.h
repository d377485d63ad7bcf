/* SPDX-License-Identifier: BSD-3-Clause */
/* Types and functions that the parts of a workload's interpreter share. */
#ifndef HPCW_GEN_SIM_LUA_PRIVATE_H
#define HPCW_GEN_SIM_LUA_PRIVATE_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "gen/sim/lua/memory.h"
#include "gen/sim/lua/program.h"
#include "gen/sim/lua/watch.h"

/* Edges of a rank, and the next one in a loop. */
struct sim_lua_list {
    const struct sim_lua_edge *edge; /* [count] */
    uint32_t count, next;
};

/* A rank's coroutine. Its Lua state points here. */
struct sim_lua_rank {
    struct sim_lua *lua;
    lua_State *thread; /* NULL: not begun, or over */
    const char *row;   /* [row_bytes] what it allocated in its first turn: most of what it needs */
    size_t row_bytes;
    uint32_t rank;
    uint32_t draws;               /* calls of random and normal */
    uint32_t wrote;               /* the last phase with a checkpoint; UINT32_MAX: none */
    uint32_t comm;                /* of the call that its program makes; SIM_WORLD between calls */
    uint32_t edges;               /* the last phase in which it has asked for them; UINT32_MAX: none */
    struct sim_lua_list to, from; /* of that phase */
    struct sim_lua_edge *due;     /* [due_count] those that it has to send in that phase, still */
    uint32_t due_count;
    size_t due_capacity;
    bool runs; /* in `run`; before that the text itself is run, which may make no calls */
};

struct sim_lua {
    lua_State *state;
    struct sim_lua_memory memory;
    struct sim_lua_watch watch;
    char *name;
    uint32_t ranks, phases;
    uint64_t seed;
    double patience_s;
    uint32_t states;
    char state_name[SIM_LUA_MOST_STATES][SIM_LUA_STATE_NAME];
    struct sim_lua_rank *rank;  /* [ranks] */
    struct sim_lua_rank nobody; /* of the main state: no rank */
    sim_request *request;       /* [request_capacity] of the call that is made */
    size_t request_capacity;
    uint64_t *part; /* [part_capacity] */
    size_t part_capacity;
    struct sim *sim; /* during a run */
    uint32_t clocks; /* further ones */
    const struct sim_lua_host *host;
};

static inline struct sim_lua_rank *sim_lua_rank_of(lua_State *L) {
    return *(struct sim_lua_rank **)lua_getextraspace(L);
}

/* Values in the registry. */
#define SIM_LUA_BUILDER "builder" /* function(_ENV): the text */
#define SIM_LUA_LIBRARY "library" /* all that a text may use; read-only for it */
#define SIM_LUA_GLOBALS "globals" /* metatable of global variables */
#define SIM_LUA_VALUES "values"   /* of the parameters */

/* Raises an error with this message; the place is added by who catches it. */
_Noreturn void sim_lua_refuse(lua_State *L, const char *fmt, ...) HPCW_PRINTF(2, 3);

/* ---- library.c: what Lua itself has ---- */
/* Adds the functions of Lua that a text may use to the table on the top. */
void sim_lua_add_library(lua_State *L);
/* Replaces the table on the top by one that cannot be changed. */
void sim_lua_protect(lua_State *L);

/* ---- calls.c: what MPI has ---- */
void sim_lua_add_calls(lua_State *L);
/* Pushes the communicator of all ranks, as this rank sees it. */
void sim_lua_push_world(lua_State *L, uint32_t rank);

/* ---- failure.c ---- */
/* Turns the error on the top of a state into one with the place; removes it. `rank`: of which rank, UINT32_MAX: of none. */
hpcw_status sim_lua_fail(struct sim_lua *lua, lua_State *L, int status, uint32_t rank, hpcw_error *err);
/* The message handler of lua_pcall: puts the place before an error that has none, as the stack is gone later. */
int sim_lua_add_place(lua_State *L);
/* The line of the text where a state is; 0: nobody knows. */
int sim_lua_line(lua_State *L);

#endif
