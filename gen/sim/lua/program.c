/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/sim/lua/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gen/sim/lua/private.h"
#include "gen/sim/lua/scan.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"
#include "ui/cli/text.h"

/* Limit of memory in bytes: TEXT_MEMORY for the program text and a few ranks, plus RANK_MEMORY for each rank.
 * RANK_MEMORY is three times what a rank of the library's workloads takes. */
enum { TEXT_MEMORY = 64 << 20, RANK_MEMORY = 16 << 10 };

/* Limit of processor time without progress (watch.h), in seconds: PATIENCE_S, plus PATIENCE_OF_RANK_S for each
 * rank. In this time, each rank can make thousands of calls. */
#define PATIENCE_S 2.0
#define PATIENCE_OF_RANK_S 1e-4

/* ---- compiling ---- */

/* Name of the program text in Lua's messages. sim_lua_fail relies on it. */
#define CHUNK "=="

/* Parses the program text alone first. Otherwise the text could close the function that `build` puts around it,
 * and open another one. */
static hpcw_status check_syntax(struct sim_lua *lua, const struct sim_lua_text *t, hpcw_error *err) {
    lua_State *L = lua->state;
    const int status = luaL_loadbufferx(L, t->text, t->size, CHUNK, "t");
    if (status != LUA_OK) {
        return sim_lua_fail(lua, L, status, UINT32_MAX, err);
    }
    lua_pop(L, 1);
    return HPCW_OK;
}

/* Pushes the function that runs the program text with given globals. The library is the table on the top of the
 * stack. Its names become local constants around the text, since global variables would be looked up in three
 * tables. */
static void build(lua_State *L, const struct sim_lua_text *t) {
    const int library = lua_gettop(L);
    const int names = library + 1;
    int values = 0;
    lua_pushliteral(L, "local ");
    for (lua_pushnil(L); lua_next(L, library) != 0; values++) {
        lua_pop(L, 1);
        lua_pushfstring(L, "%s%s <const>,", lua_tostring(L, names), lua_tostring(L, -1));
        lua_replace(L, names);
    }
    lua_pushliteral(L, "_ <const> = ... return function(_ENV) ");
    lua_pushlstring(L, t->text, t->size);
    lua_pushliteral(L, "\nend");
    lua_concat(L, 4);
    if (luaL_loadbufferx(L, lua_tostring(L, names), lua_rawlen(L, names), CHUNK, "t") != LUA_OK) {
        (void)lua_error(L);
    }
    luaL_checkstack(L, values + 2, NULL); /* the values, and a name with its value */
    for (lua_pushnil(L); lua_next(L, library) != 0;) {
        lua_insert(L, -2);
    }
    lua_call(L, values, 1);
}

/* ---- names of parameters ---- */

/* Replaces the table on the top of Lua's stack by a list of its names, in the order of the library's pairs(). */
static void list_names(lua_State *L) {
    const int table = lua_gettop(L);
    lua_Integer count = 0;
    lua_newtable(L);
    (void)lua_getfield(L, LUA_REGISTRYINDEX, SIM_LUA_LIBRARY);
    (void)lua_getfield(L, -1, "pairs");
    lua_pushvalue(L, table);
    lua_call(L, 1, 1);
    for (;;) {
        lua_pushvalue(L, -1);
        lua_call(L, 0, 2);
        if (lua_isnil(L, -2)) {
            break;
        }
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TSTRING) {
            lua_rawseti(L, table + 1, ++count);
        } else {
            lua_pop(L, 1);
        }
    }
    lua_settop(L, table + 1);
    lua_remove(L, table);
}

/* Gets a name from the list on the top of the stack, for ui_text_nearest. `list` is the Lua state. */
static const char *name_in_list(const void *list, size_t index) {
    lua_State *L = (void *)(uintptr_t)list;
    (void)lua_rawgeti(L, -1, (lua_Integer)index + 1);
    const char *name = lua_tostring(L, -1);
    lua_pop(L, 1); /* the list still refers to the name */
    return name;
}

/* Refuses a name that the table of parameters on the top of the stack does not have. table: name of this table
 * in the message. */
_Noreturn static void refuse_name(lua_State *L, const char *table, const char *wrong) {
    char names[300] = "none";
    size_t used = 0;
    const char *name;
    list_names(L);
    for (size_t i = 0; used < sizeof names && (name = name_in_list(L, i)) != NULL; i++) {
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "one of " : ", ", name);
    }
    const char *near = ui_text_nearest(wrong, name_in_list, L);
    sim_lua_refuse(L, "%s.%.100s: unknown parameter: expected %s%s%s%s", table, wrong, names,
                   near == NULL ? "" : "; did you mean ", near == NULL ? "" : near, near == NULL ? "" : "?");
}

/* Lua calls this function if a program text reads a parameter that the table does not have. Otherwise the value
 * of a misspelt parameter would be nil. */
static int read_unknown(lua_State *L) {
    lua_pushvalue(L, 1);
    if (lua_type(L, 2) != LUA_TSTRING) {
        sim_lua_refuse(L, "parameters: expected the name of one, got a %s", luaL_typename(L, 2));
    }
    refuse_name(L, "parameters", lua_tostring(L, 2));
}

/* Makes the table on the top of the stack refuse names that it does not have. */
static void refuse_unknown(lua_State *L) {
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, read_unknown);
    lua_setfield(L, -2, "__index");
    (void)lua_setmetatable(L, -2);
}

/* Handles a new global variable of a rank. Refuses the names of the library, except for `parameters`: this
 * variable becomes the library's table, which has the user's values. */
static int new_global(lua_State *L) {
    lua_pushliteral(L, "parameters");
    const bool parameters = lua_rawequal(L, 2, -1);
    (void)lua_getfield(L, LUA_REGISTRYINDEX, SIM_LUA_LIBRARY);
    lua_pushvalue(L, 2);
    const bool has = lua_rawget(L, -2) != LUA_TNIL;
    if (has && !parameters) {
        sim_lua_refuse(L, "expected another name than %s, which every workload has",
                       luaL_tolstring(L, 2, NULL));
    }
    lua_pushvalue(L, 2);
    lua_pushvalue(L, has ? -2 : 3);
    if (parameters && !has && lua_istable(L, -1)) {
        refuse_unknown(L);
    }
    lua_rawset(L, 1);
    return 0;
}

/* Makes what all ranks share: the library, the program text as a function, and the metatable of the globals. */
static int prepare(lua_State *L) {
    const struct sim_lua *lua = sim_lua_rank_of(L)->lua;
    const struct sim_lua_text *t = lua_touserdata(L, 1);
    lua_newtable(L);
    sim_lua_add_library(L);
    sim_lua_add_calls(L);
    lua_pushinteger(L, lua->ranks);
    lua_setfield(L, -2, "size");
    lua_pushinteger(L, lua->phases);
    lua_setfield(L, -2, "phases");
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, SIM_LUA_LIBRARY);
    lua_createtable(L, 0, 2);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, new_global);
    lua_setfield(L, -2, "__newindex");
    lua_setfield(L, LUA_REGISTRYINDEX, SIM_LUA_GLOBALS);
    build(L, t);
    lua_setfield(L, LUA_REGISTRYINDEX, SIM_LUA_BUILDER);
    return 0;
}

static void push_globals(lua_State *L, uint32_t rank) {
    lua_newtable(L);
    lua_pushinteger(L, rank);
    lua_setfield(L, -2, "rank");
    sim_lua_push_world(L, rank);
    lua_setfield(L, -2, "world");
    (void)lua_getfield(L, LUA_REGISTRYINDEX, SIM_LUA_GLOBALS);
    (void)lua_setmetatable(L, -2);
}

/* ---- states and parameters ---- */

static void read_states(lua_State *L, struct sim_lua *lua, int globals) {
    lua_pushliteral(L, "states");
    const int type = lua_rawget(L, globals);
    if (type == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    const size_t count = type == LUA_TTABLE ? lua_rawlen(L, -1) : 0;
    if (count == 0 || count > SIM_LUA_MOST_STATES) {
        sim_lua_refuse(L, "states: expected a table of 1 to %d names, got %zu", SIM_LUA_MOST_STATES, count);
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = lua_rawgeti(L, -1, (lua_Integer)i + 1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
        const size_t size = strlen(name);
        if (size == 0 || size >= SIM_LUA_STATE_NAME || size != lua_rawlen(L, -1)) {
            sim_lua_refuse(L, "states: expected names of 1 to %d bytes, got \"%.60s\" as name %zu",
                           SIM_LUA_STATE_NAME - 1, luaL_tolstring(L, -1, NULL), i + 1);
        }
        for (size_t k = 0; k < size; k++) {
            if ((unsigned char)name[k] < ' ' || name[k] == 0x7f) {
                sim_lua_refuse(L, "states: expected names without control characters, got %d in number %zu",
                               (unsigned char)name[k], i + 1);
            }
        }
        memcpy(lua->state_name[i], name, size + 1);
        lua_pop(L, 1);
    }
    lua->states = (uint32_t)count;
    lua_pop(L, 1);
}

/* Reads the parameters: names with numbers, texts or booleans. Checks them and copies them to the table
 * SIM_LUA_VALUES. */
static void read_parameters(lua_State *L, int globals) {
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, SIM_LUA_VALUES);
    lua_pushliteral(L, "parameters");
    const int type = lua_rawget(L, globals);
    if (type != LUA_TTABLE && type != LUA_TNIL) {
        sim_lua_refuse(L, "parameters: expected a table, got %s", lua_typename(L, type));
    }
    for (lua_pushnil(L); type == LUA_TTABLE && lua_next(L, -2) != 0;) {
        const int value = lua_type(L, -1);
        if (lua_type(L, -2) != LUA_TSTRING) {
            sim_lua_refuse(L, "parameters: expected names, got a %s as name", luaL_typename(L, -2));
        }
        if (value != LUA_TNUMBER && value != LUA_TSTRING && value != LUA_TBOOLEAN) {
            sim_lua_refuse(L, "parameters.%s: expected a number, a text or a boolean, got %s",
                           lua_tostring(L, -2), lua_typename(L, value));
        }
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -5);
    }
    lua_pop(L, 1);
}

/* Runs the program text once as rank 0, and reads its tables `states` and `parameters`. */
static int describe(lua_State *L) {
    struct sim_lua *lua = lua_touserdata(L, 1);
    push_globals(L, 0);
    const int globals = lua_gettop(L);
    (void)lua_getfield(L, LUA_REGISTRYINDEX, SIM_LUA_BUILDER);
    lua_pushvalue(L, globals);
    lua_call(L, 1, 0);
    lua_pushliteral(L, "run");
    if (lua_rawget(L, globals) != LUA_TFUNCTION) {
        sim_lua_refuse(L, "expected a function run, got %s", luaL_typename(L, -1));
    }
    read_states(L, lua, globals);
    read_parameters(L, globals);
    return 0;
}

/* ---- settings ---- */

static void push_setting(lua_State *L, const char *key, int type, bool integral, const char *value) {
    if (type == LUA_TSTRING) {
        lua_pushstring(L, value);
        return;
    }
    if (type == LUA_TBOOLEAN) {
        const bool yes = strcmp(value, "yes") == 0 || strcmp(value, "true") == 0;
        if (!yes && strcmp(value, "no") != 0 && strcmp(value, "false") != 0) {
            sim_lua_refuse(L, "workload.%s: expected yes or no, got %.100s", key, value);
        }
        lua_pushboolean(L, yes);
        return;
    }
    if (lua_stringtonumber(L, value) == 0 || (integral && !lua_isinteger(L, -1))) {
        sim_lua_refuse(L, "workload.%s: expected a %snumber, got %.100s", key, integral ? "whole " : "", value);
    }
}

/* Replaces the values of parameters that the user sets. Afterwards the parameters are constant. */
static int apply(lua_State *L) {
    const struct sim_lua_text *t = lua_touserdata(L, 1);
    (void)lua_getfield(L, LUA_REGISTRYINDEX, SIM_LUA_LIBRARY);
    (void)lua_getfield(L, LUA_REGISTRYINDEX, SIM_LUA_VALUES);
    for (size_t i = 0; i < t->settings; i++) {
        const int type = lua_getfield(L, -1, t->setting[i].key);
        const bool integral = lua_isinteger(L, -1);
        lua_pop(L, 1);
        if (type == LUA_TNIL) {
            refuse_name(L, "workload", t->setting[i].key);
        }
        push_setting(L, t->setting[i].key, type, integral, t->setting[i].value);
        lua_setfield(L, -2, t->setting[i].key);
    }
    refuse_unknown(L);
    sim_lua_protect(L);
    lua_setfield(L, -2, "parameters");
    return 0;
}

/* ---- opening ---- */

static hpcw_status call(struct sim_lua *lua, lua_CFunction function, void *argument, hpcw_error *err) {
    lua_State *L = lua->state;
    lua_pushcfunction(L, sim_lua_add_place);
    lua_pushcfunction(L, function);
    lua_pushlightuserdata(L, argument);
    const int status = lua_pcall(L, 1, 0, -3);
    lua_remove(L, -1 - (status != LUA_OK)); /* removes sim_lua_add_place */
    return status == LUA_OK ? HPCW_OK : sim_lua_fail(lua, L, status, UINT32_MAX, err);
}

/* Runs the program text with a limit of processor time (watch.h), in the main Lua state. */
static hpcw_status read_text(struct sim_lua *lua, const struct sim_lua_text *t, hpcw_error *err) {
    hpcw_status s = check_syntax(lua, t, err);
    s = s == HPCW_OK ? call(lua, prepare, (void *)(uintptr_t)t, err) : s;
    s = s == HPCW_OK ? sim_lua_watch_start(&lua->watch, lua->patience_s, err) : s;
    if (s != HPCW_OK) {
        return s;
    }
    lua->watch.running = lua->state;
    s = call(lua, describe, lua, err);
    s = s == HPCW_OK ? call(lua, apply, (void *)(uintptr_t)t, err) : s;
    sim_lua_watch_stop(&lua->watch);
    return s;
}

hpcw_status sim_lua_open(const struct sim_lua_text *t, struct sim_lua **out, hpcw_error *err) {
    *out = NULL;
    hpcw_status s = sim_lua_scan(t->name, t->text, t->size, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct sim_lua *lua = hpcw_i_calloc(1, sizeof *lua);
    if (lua == NULL) {
        return hpcw_i_fail_memory(err, t->name, 0, NULL);
    }
    lua->ranks = t->ranks;
    lua->phases = t->phases;
    lua->seed = t->seed;
    lua->patience_s = t->patience_s > 0 ? t->patience_s : PATIENCE_S + PATIENCE_OF_RANK_S * t->ranks;
    lua->memory.limit = TEXT_MEMORY + (size_t)t->ranks * RANK_MEMORY;
    lua->nobody = (struct sim_lua_rank){.lua = lua};
    lua->name = hpcw_i_strdup(t->name);
    lua->rank = hpcw_i_calloc(t->ranks, sizeof *lua->rank);
    lua->state = lua_newstate(sim_lua_allocate, &lua->memory);
    if (lua->name == NULL || lua->rank == NULL || lua->state == NULL) {
        s = hpcw_i_fail_memory(err, t->name, t->ranks, "ranks");
    } else {
        *(struct sim_lua_rank **)lua_getextraspace(lua->state) = &lua->nobody;
        s = read_text(lua, t, err);
    }
    if (s != HPCW_OK) {
        sim_lua_free(lua);
        return s;
    }
    *out = lua;
    return HPCW_OK;
}

void sim_lua_free(struct sim_lua *lua) {
    if (lua != NULL) {
        if (lua->state != NULL) {
            lua_close(lua->state);
        }
        sim_lua_memory_free(&lua->memory);
        hpcw_i_free(lua->request);
        hpcw_i_free(lua->part);
        hpcw_i_free(lua->name);
        hpcw_i_free(lua->rank);
        hpcw_i_free(lua);
    }
}

const char *sim_lua_version(void) {
    return LUA_VERSION_MAJOR "." LUA_VERSION_MINOR;
}

uint32_t sim_lua_states(const struct sim_lua *lua) {
    return lua->states;
}

const char *sim_lua_state(const struct sim_lua *lua, uint32_t state) {
    return lua->state_name[state];
}

struct parameter_list {
    void (*list)(void *context, const char *key, const char *value);
    void *context;
};

static int list_parameters(lua_State *L) {
    const struct parameter_list *to = lua_touserdata(L, 1);
    (void)lua_getfield(L, LUA_REGISTRYINDEX, SIM_LUA_LIBRARY);
    (void)lua_getfield(L, -1, "pairs");
    (void)lua_getfield(L, LUA_REGISTRYINDEX, SIM_LUA_VALUES);
    lua_call(L, 1, 1);
    for (;;) {
        lua_pushvalue(L, -1);
        lua_call(L, 0, 2);
        if (lua_isnil(L, -2)) {
            return 0;
        }
        const char *value = luaL_tolstring(L, -1, NULL);
        to->list(to->context, lua_tostring(L, -3), value);
        lua_pop(L, 3);
    }
}

hpcw_status sim_lua_parameters(struct sim_lua *lua,
                               void (*list)(void *context, const char *key, const char *value), void *context,
                               hpcw_error *err) {
    struct parameter_list to = {list, context};
    return call(lua, list_parameters, &to, err);
}

/* ---- ranks ---- */

/* Creates the coroutine of a rank. Its first function is the program text. */
static int make_rank(lua_State *L) {
    struct sim_lua_rank *r = lua_touserdata(L, 1);
    lua_State *thread = lua_newthread(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, r); /* this reference keeps Lua from collecting the coroutine */
    *(struct sim_lua_rank **)lua_getextraspace(thread) = r;
    (void)lua_getfield(L, LUA_REGISTRYINDEX, SIM_LUA_BUILDER);
    push_globals(L, r->rank);
    lua_pushvalue(L, -1);
    lua_insert(L, -3);
    /* moves the globals, the program text as a function, and the globals as its argument */
    lua_xmove(L, thread, 3);
    r->thread = thread;
    return 0;
}

static void drop_rank(struct sim_lua *lua, struct sim_lua_rank *r) {
    r->thread = NULL;
    lua_pushnil(lua->state);
    lua_rawsetp(lua->state, LUA_REGISTRYINDEX, r); /* assigning to an existing key allocates no memory */
}

static void where(void *context, uint32_t rank, char *text, size_t size) {
    struct sim_lua *lua = context;
    const int line = lua->rank[rank].thread == NULL ? 0 : sim_lua_line(lua->rank[rank].thread);
    if (line > 0) {
        (void)snprintf(text, size, "%s:%d", lua->name, line);
    }
}

/* Resumes the coroutine of a rank. When the program text has ended, starts the rank's function `run`. */
static int run_on(struct sim_lua *lua, struct sim_lua_rank *r) {
    lua_State *thread = r->thread;
    int results;
    lua->watch.running = thread;
    int status = lua_resume(thread, lua->state, r->runs || lua_gettop(thread) == 0 ? 0 : 1, &results);
    if (status == LUA_OK && !r->runs) {
        r->runs = true;
        lua_settop(thread, 1);
        lua_pushliteral(thread, "run");
        (void)lua_rawget(thread, 1);
        status = lua_resume(thread, lua->state, 0, &results);
    }
    lua->watch.running = NULL;
    return status;
}

static enum sim_stop resume(void *context, uint32_t rank, hpcw_error *err) {
    struct sim_lua *lua = context;
    struct sim_lua_rank *r = &lua->rank[rank];
    if (lua->watch.tripped) {
        (void)hpcw_i_fail(err, HPCW_EINVAL,
                          "%s: rank %" PRIu32
                          ": expected the end of a phase within %g s of processor time, got none",
                          lua->name, rank, lua->watch.seconds);
        return SIM_FAILED;
    }
    const bool begins = r->thread == NULL;
    if (begins) {
        sim_lua_watch_progress(&lua->watch);
        r->row = sim_lua_memory_begin_row(&lua->memory);
        if (call(lua, make_rank, r, err) != HPCW_OK) {
            return SIM_FAILED;
        }
    }
    const int status = run_on(lua, r);
    if (begins) {
        r->row_bytes = sim_lua_memory_end_row(&lua->memory, r->row);
    }
    if (status == LUA_YIELD) {
        return SIM_STOPPED;
    }
    if (status != LUA_OK) {
        (void)sim_lua_fail(lua, r->thread, status, rank, err);
        return SIM_FAILED;
    }
    sim_lua_watch_progress(&lua->watch);
    drop_rank(lua, r);
    return SIM_ENDED;
}

static void fetch(void *context, uint32_t rank) {
    const struct sim_lua *lua = context;
    hpcw_i_fetch(lua->rank[rank].row, lua->rank[rank].row_bytes);
}

/* ---- a run ---- */

hpcw_status sim_lua_run(struct sim_lua *lua, const struct sim_options *options, const struct sim_lua_host *host,
                        struct sim_lua_result *result, hpcw_error *err) {
    const struct sim_program program = {lua, resume, where, fetch};
    *result = (struct sim_lua_result){0};
    for (uint32_t r = 0; r < lua->ranks; r++) {
        lua->rank[r] = (struct sim_lua_rank){.lua = lua, .rank = r, .wrote = UINT32_MAX, .edges = UINT32_MAX};
    }
    lua->host = host;
    lua->clocks = options->clocks;
    hpcw_status s = sim_new(options, &program, &lua->sim, err);
    if (s == HPCW_OK) {
        s = sim_lua_watch_start(&lua->watch, lua->patience_s, err);
        s = s == HPCW_OK ? sim_run(lua->sim, err) : s;
        sim_lua_watch_stop(&lua->watch);
        result->calls = sim_calls(lua->sim);
        result->end_ns = sim_end_ns(lua->sim);
        for (uint32_t k = 0; k < options->clocks; k++) {
            result->price[k] = sim_price_of(lua->sim, k);
        }
    }
    for (uint32_t r = 0; r < lua->ranks; r++) {
        if (lua->rank[r].thread != NULL) {
            drop_rank(lua, &lua->rank[r]);
        }
        hpcw_i_free(lua->rank[r].due);
    }
    sim_free(lua->sim);
    lua->sim = NULL;
    if (s == HPCW_EINVAL) {
        hpcw_i_fail_about(err, lua->name);
    }
    return s;
}
