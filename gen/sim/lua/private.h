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

/* Edges of a rank, and the position of an iterator over them. */
struct sim_lua_list {
    const struct sim_lua_edge *edge; /* [count] */
    uint32_t count, next;
};

/* Coroutine of a rank. The extra space of the coroutine's Lua state has the address of this struct. */
struct sim_lua_rank {
    struct sim_lua *lua;
    lua_State *thread; /* NULL: not started, or ended */
    /* [row_bytes] memory that the rank allocated before it first stopped: most of its memory */
    const char *row;
    size_t row_bytes;
    uint32_t rank;
    uint32_t draws; /* number of calls of random and normal */
    uint32_t wrote; /* the last phase with a checkpoint; UINT32_MAX: none */
    uint32_t comm;  /* communicator of the current call; SIM_WORLD between calls */
    /* last phase in which the rank called edges(); UINT32_MAX: none */
    uint32_t edges;
    struct sim_lua_list to, from; /* to, from: edges of the phase `edges` */
    struct sim_lua_edge *due;     /* [due_count] edges of `to`, with the bytes not sent yet */
    uint32_t due_count;
    size_t due_capacity;
    /* true: the function `run` runs; false: the rest of the program text runs, which may make no calls */
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
    struct sim_lua_rank nobody; /* stands for the main Lua state, which belongs to no rank */
    sim_request *request;       /* [request_capacity] requests of the current call */
    size_t request_capacity;
    uint64_t *part; /* [part_capacity] */
    size_t part_capacity;
    struct sim *sim; /* valid only during a run */
    uint32_t clocks; /* number of further clocks (times without a fault) */
    const struct sim_lua_host *host;
};

static inline struct sim_lua_rank *sim_lua_rank_of(lua_State *L) {
    return *(struct sim_lua_rank **)lua_getextraspace(L);
}

/* Keys in the registry. */
#define SIM_LUA_BUILDER "builder" /* function that runs the program text with a rank's globals */
#define SIM_LUA_LIBRARY "library" /* names that a program text may use; read-only */
#define SIM_LUA_GLOBALS "globals" /* metatable of global variables */
#define SIM_LUA_VALUES "values"

/* Raises a Lua error with this message. sim_lua_add_place or sim_lua_fail adds the line. */
_Noreturn void sim_lua_refuse(lua_State *L, const char *fmt, ...) HPCW_PRINTF(2, 3);

/* ---- library.c: functions of Lua ---- */
/* Adds the Lua functions that a program text may use to the table on the top of the stack. */
void sim_lua_add_library(lua_State *L);
/* Replaces the table on the top of the stack by a read-only one. */
void sim_lua_protect(lua_State *L);

/* ---- calls.c: calls like those of MPI ---- */
void sim_lua_add_calls(lua_State *L);
/* Pushes the communicator of all ranks, with `rank` as the calling rank. */
void sim_lua_push_world(lua_State *L, uint32_t rank);

/* ---- failure.c ---- */
/* Turns the error on the top of a Lua state into `err` with the line of the program, and pops it. rank: the
 * rank that failed; UINT32_MAX: none. */
hpcw_status sim_lua_fail(struct sim_lua *lua, lua_State *L, int status, uint32_t rank, hpcw_error *err);
/* Message handler of lua_pcall. Puts the line before a message that has none, since the stack is gone after
 * lua_pcall. */
int sim_lua_add_place(lua_State *L);
/* Returns the current line of the program in a Lua state; 0: unknown. */
int sim_lua_line(lua_State *L);

#endif
