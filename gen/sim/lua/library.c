/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of Lua that a workload may use: only those that give the same results everywhere and end soon.
 * Files, clocks, addresses, patterns, coroutines, metatables, and functions that load code are left out. */
#include <stdlib.h>
#include <string.h>

#include "gen/sim/lua/private.h"
#include "libwriter/base/detmath.h"

static const char *const of_base[] = {"assert", "error", "ipairs", "select", "tonumber", "type", NULL};
static const char *const of_string[] = {"len", "sub", NULL};
static const char *const of_math[] = {"abs",  "ceil",       "floor", "fmod",       "huge",
                                      "max",  "maxinteger", "min",   "mininteger", "pi",
                                      "sqrt", "tointeger",  "type",  "ult",        NULL};
static const char *const of_table[] = {"concat", "insert", "remove", NULL};

/* ---- numbers ---- */

static int exp_of(lua_State *L) {
    lua_pushnumber(L, hpcw_i_exp(luaL_checknumber(L, 1)));
    return 1;
}

/* math.log(x) and math.log(x, base). */
static int log_of(lua_State *L) {
    const double bits = hpcw_i_log2(luaL_checknumber(L, 1));
    lua_pushnumber(L, lua_isnoneornil(L, 2) ? bits * (HPCW_I_LN2_HIGH + HPCW_I_LN2_LOW)
                                            : bits / hpcw_i_log2(luaL_checknumber(L, 2)));
    return 1;
}

/* ---- text ---- */

static bool has_no_address(lua_State *L, int index) {
    const int type = lua_type(L, index);
    return type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TBOOLEAN || type == LUA_TNIL;
}

static int text_of(lua_State *L) {
    luaL_checkany(L, 1);
    if (!has_no_address(L, 1)) {
        sim_lua_refuse(L, "tostring: expected a number, a text, a boolean or nil, got a %s",
                       luaL_typename(L, 1));
    }
    (void)luaL_tolstring(L, 1, NULL);
    return 1;
}

/* string.format without addresses (%p). The upvalue is Lua's own function. */
static int format(lua_State *L) {
    const int count = lua_gettop(L);
    const char *directive = luaL_checkstring(L, 1);
    for (; (directive = strchr(directive, '%')) != NULL; directive++) {
        directive += 1 + strspn(directive + 1, "-+ #0123456789.");
        if (*directive == 'p') {
            sim_lua_refuse(L, "string.format: expected no %%p, which is an address");
        }
        if (*directive == '\0') {
            break;
        }
    }
    for (int i = 2; i <= count; i++) {
        if (!has_no_address(L, i)) {
            sim_lua_refuse(L, "string.format: expected numbers, texts and booleans, got a %s",
                           luaL_typename(L, i));
        }
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, count, 1);
    return 1;
}

/* Largest result of string.rep, bytes. The watch (watch.h) cannot interrupt this function, so it must end soon. */
enum { MOST_REPEATED = 1 << 20 };

/* Replaces string.rep, which in Lua's own version repeats an empty text without end. */
static int repeat(lua_State *L) {
    size_t size;
    size_t between;
    const char *text = luaL_checklstring(L, 1, &size);
    const lua_Integer count = luaL_checkinteger(L, 2);
    const char *separator = luaL_optlstring(L, 3, "", &between);
    if (count <= 0 || size + between == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    if ((uint64_t)count > MOST_REPEATED / (size + between)) {
        sim_lua_refuse(L, "string.rep: expected a result of at most %d bytes, got a longer one", MOST_REPEATED);
    }
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    for (lua_Integer i = 0; i < count; i++) {
        luaL_addlstring(&b, text, size);
        if (i + 1 < count) {
            luaL_addlstring(&b, separator, between);
        }
    }
    luaL_pushresult(&b);
    return 1;
}

/* ---- tables ---- */

/* Returns the place of a key's type in the order of `pairs`. */
static int order_of_type(lua_State *L, int index) {
    switch (lua_type(L, index)) {
    case LUA_TNUMBER:
        return 0;
    case LUA_TSTRING:
        return 1;
    default:
        return 2;
    }
}

static bool key_is_before(lua_State *L, int a, int b) {
    const int type_a = order_of_type(L, a);
    const int type_b = order_of_type(L, b);
    if (type_a != type_b) {
        return type_a < type_b;
    }
    if (type_a == 1) {
        /* Compares bytes, since the operator < follows the locale. */
        size_t size_a;
        size_t size_b;
        const char *text_a = lua_tolstring(L, a, &size_a);
        const char *text_b = lua_tolstring(L, b, &size_b);
        const int order = memcmp(text_a, text_b, size_a < size_b ? size_a : size_b);
        return order != 0 ? order < 0 : size_a < size_b;
    }
    return type_a == 0 ? lua_compare(L, a, b, LUA_OPLT) != 0 : !lua_toboolean(L, a) && lua_toboolean(L, b);
}

/* Returns whether the value on the top sorts before the value below it. by: stack index of a comparison
 * function; 0: in the order of keys; -1: by the operator <. */
static bool is_before(lua_State *L, int by) {
    const int top = lua_gettop(L);
    if (by == 0) {
        return key_is_before(L, top, top - 1);
    }
    if (by < 0) {
        return lua_compare(L, top, top - 1, LUA_OPLT) != 0;
    }
    lua_pushvalue(L, by);
    lua_pushvalue(L, top);
    lua_pushvalue(L, top - 1);
    lua_call(L, 2, 1);
    const bool before = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return before;
}

static void merge(lua_State *L, int from, int to, lua_Integer first, lua_Integer middle, lua_Integer end,
                  int by) {
    lua_Integer a = first;
    lua_Integer b = middle;
    for (lua_Integer i = first; i < end; i++) {
        bool second = a == middle;
        if (a < middle && b < end) {
            (void)lua_rawgeti(L, from, a);
            (void)lua_rawgeti(L, from, b);
            second = is_before(L, by);
            lua_pop(L, 2);
        }
        (void)lua_rawgeti(L, from, second ? b++ : a++);
        lua_rawseti(L, to, i);
    }
}

/* Sorts the table at index `list`, [1 .. count], by a stable merge sort. */
static void sort_list(lua_State *L, int list, lua_Integer count, int by) {
    lua_createtable(L, (int)count, 0);
    const int other = lua_gettop(L);
    int from = list;
    int to = other;
    for (lua_Integer width = 1; width < count; width *= 2) {
        for (lua_Integer first = 1; first <= count; first += 2 * width) {
            const lua_Integer middle = first + width <= count ? first + width : count + 1;
            const lua_Integer end = middle + width <= count ? middle + width : count + 1;
            merge(L, from, to, first, middle, end, by);
        }
        const int sorted = to;
        to = from;
        from = sorted;
    }
    for (lua_Integer i = 1; from != list && i <= count; i++) {
        (void)lua_rawgeti(L, from, i);
        lua_rawseti(L, list, i);
    }
    lua_settop(L, other - 1);
}

static int sort_table(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    const bool with = !lua_isnoneornil(L, 2);
    if (with) {
        luaL_checktype(L, 2, LUA_TFUNCTION);
    }
    lua_settop(L, 2);
    const lua_Integer count = (lua_Integer)lua_rawlen(L, 1);
    if (count > INT32_MAX) {
        sim_lua_refuse(L, "table.sort: expected fewer values");
    }
    sort_list(L, 1, count, with ? 2 : -1);
    return 0;
}

/* Returns the next key of `pairs`. The upvalues are the sorted keys and the number of keys returned so far. */
static int next_pair(lua_State *L) {
    const lua_Integer at = lua_tointeger(L, lua_upvalueindex(2)) + 1;
    lua_pushinteger(L, at);
    lua_replace(L, lua_upvalueindex(2));
    if (lua_rawgeti(L, lua_upvalueindex(1), at) == LUA_TNIL) {
        return 1;
    }
    lua_pushvalue(L, -1);
    (void)lua_rawget(L, lua_upvalueindex(3));
    return 2;
}

/* Replaces pairs() by one with a fixed order of keys: numbers, texts, booleans. Lua's own order depends on
 * addresses. */
static int sorted_pairs(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    if (luaL_getmetafield(L, 1, "__index") == LUA_TTABLE) { /* a read-only table: iterate over the original */
        lua_replace(L, 1);
    }
    lua_settop(L, 1);
    lua_newtable(L);
    lua_Integer count = 0;
    for (lua_pushnil(L); lua_next(L, 1) != 0;) {
        lua_pop(L, 1);
        const int type = lua_type(L, -1);
        if (type != LUA_TNUMBER && type != LUA_TSTRING && type != LUA_TBOOLEAN) {
            sim_lua_refuse(L, "pairs: expected keys that are numbers, texts or booleans, got a %s",
                           luaL_typename(L, -1));
        }
        lua_pushvalue(L, -1);
        lua_rawseti(L, 2, ++count);
    }
    sort_list(L, 2, count, 0);
    lua_pushinteger(L, 0);
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, next_pair, 3);
    return 1;
}

/* ---- the list ---- */

static int refuse_change(lua_State *L) {
    sim_lua_refuse(L, "expected no change of a table that all ranks share");
}

void sim_lua_protect(lua_State *L) {
    lua_newtable(L);
    lua_createtable(L, 0, 2);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, refuse_change);
    lua_setfield(L, -2, "__newindex");
    (void)lua_setmetatable(L, -2);
    lua_remove(L, -2);
}

/* Opens one of Lua's libraries, and copies the listed functions to a new table on the top of the stack. */
static void copy(lua_State *L, lua_CFunction open, const char *library, const char *const *name) {
    luaL_requiref(L, library, open, 0);
    lua_newtable(L);
    for (; *name != NULL; name++) {
        (void)lua_getfield(L, -2, *name);
        lua_setfield(L, -2, *name);
    }
    lua_remove(L, -2);
}

/* Adds the functions on texts, also as methods: ("x"):rep(3). */
static void add_strings(lua_State *L) {
    copy(L, luaopen_string, LUA_STRLIBNAME, of_string);
    lua_pushcfunction(L, repeat);
    lua_setfield(L, -2, "rep");
    luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 0);
    (void)lua_getfield(L, -1, "format");
    lua_pushcclosure(L, format, 1);
    lua_setfield(L, -3, "format");
    lua_pop(L, 1);
    sim_lua_protect(L);
    lua_pushliteral(L, "");
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    (void)lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

void sim_lua_add_library(lua_State *L) {
    luaL_requiref(L, LUA_GNAME, luaopen_base, 0);
    for (const char *const *name = of_base; *name != NULL; name++) {
        (void)lua_getfield(L, -1, *name);
        lua_setfield(L, -3, *name);
    }
    lua_pop(L, 1);
    lua_pushcfunction(L, text_of);
    lua_setfield(L, -2, "tostring");
    lua_pushcfunction(L, sorted_pairs);
    lua_setfield(L, -2, "pairs");
    add_strings(L);
    lua_setfield(L, -2, LUA_STRLIBNAME);
    copy(L, luaopen_math, LUA_MATHLIBNAME, of_math);
    lua_pushcfunction(L, exp_of);
    lua_setfield(L, -2, "exp");
    lua_pushcfunction(L, log_of);
    lua_setfield(L, -2, "log");
    sim_lua_protect(L);
    lua_setfield(L, -2, LUA_MATHLIBNAME);
    copy(L, luaopen_table, LUA_TABLIBNAME, of_table);
    lua_pushcfunction(L, sort_table);
    lua_setfield(L, -2, "sort");
    sim_lua_protect(L);
    lua_setfield(L, -2, LUA_TABLIBNAME);
}
