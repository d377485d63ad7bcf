/* SPDX-License-Identifier: BSD-3-Clause */
/* Types and functions shared by the parts of the Lua interpreter. */
#ifndef HPCW_GEN_SIM_LUA_PRIVATE_H
#define HPCW_GEN_SIM_LUA_PRIVATE_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "gen/sim/lua/memory.h"
#include "gen/sim/lua/program.h"
#include "gen/sim/lua/watch.h"

/* Edges of a rank, and the position of a loop over them. */
struct sim_lua_list {
    const struct sim_lua_edge *edge; /* [count] */
    uint32_t count, next;
};

/* Coroutine of a rank. Its Lua state points here. */
struct sim_lua_rank {
    struct sim_lua *lua;
    lua_State *thread; /* NULL: not begun, or ended */
    /* [row_bytes] what it allocated in its first turn, which is most of its memory */
    const char *row;
    size_t row_bytes;
    uint32_t rank;
    uint32_t draws; /* number of calls of random and normal */
    uint32_t wrote; /* the last phase with a checkpoint; UINT32_MAX: none */
    uint32_t comm;  /* communicator of the current call; SIM_WORLD between calls */
    /* the last phase in which it called edges(); UINT32_MAX: none */
    uint32_t edges;
    struct sim_lua_list to, from; /* the edges of that phase */
    struct sim_lua_edge *due;     /* [due_count] edges of that phase that it has not sent yet */
    uint32_t due_count;
    size_t due_capacity;
    /* true in `run`; false while the text itself runs, which may make no calls */
    bool runs;
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
    struct sim_lua_rank nobody; /* stands for the main state, which is no rank */
    sim_request *request;       /* [request_capacity] requests of the current call */
    size_t request_capacity;
    uint64_t *part; /* [part_capacity] */
    size_t part_capacity;
    struct sim *sim; /* only during a run */
    uint32_t clocks; /* further ones */
    const struct sim_lua_host *host;
};

static inline struct sim_lua_rank *sim_lua_rank_of(lua_State *L) {
    return *(struct sim_lua_rank **)lua_getextraspace(L);
}

/* Keys in the registry. */
#define SIM_LUA_BUILDER "builder" /* function(_ENV): the text */
#define SIM_LUA_LIBRARY "library" /* all that a text may use; read-only */
#define SIM_LUA_GLOBALS "globals" /* metatable of global variables */
#define SIM_LUA_VALUES "values"   /* values of the parameters */

/* Raises an error with this message. Whoever catches it adds the line. */
_Noreturn void sim_lua_refuse(lua_State *L, const char *fmt, ...) HPCW_PRINTF(2, 3);

/* ---- library.c: what Lua itself has ---- */
/* Adds the Lua functions that a text may use to the table on the top. */
void sim_lua_add_library(lua_State *L);
/* Replaces the table on the top by a read-only one. */
void sim_lua_protect(lua_State *L);

/* ---- calls.c: what MPI has ---- */
void sim_lua_add_calls(lua_State *L);
/* Pushes the communicator of all ranks as this rank sees it. */
void sim_lua_push_world(lua_State *L, uint32_t rank);

/* ---- failure.c ---- */
/* Turns the error on the top of a state into one with the line, and pops it. rank: the rank that failed;
 * UINT32_MAX: none. */
hpcw_status sim_lua_fail(struct sim_lua *lua, lua_State *L, int status, uint32_t rank, hpcw_error *err);
/* Message handler of lua_pcall. Puts the line before an error that has none, since the stack is gone later. */
int sim_lua_add_place(lua_State *L);
/* Returns the current line of the text in a state; 0: unknown. */
int sim_lua_line(lua_State *L);

#endif
