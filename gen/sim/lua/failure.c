/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of a workload, with the line where they happened. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/sim/lua/private.h"
#include "libwriter/base/status.h"

void sim_lua_refuse(lua_State *L, const char *fmt, ...) {
    char text[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    lua_pushstring(L, text);
    (void)lua_error(L);
    abort(); /* lua_error does not return */
}

int sim_lua_line(lua_State *L) {
    lua_Debug at;
    for (int level = 0; lua_getstack(L, level, &at) == 1; level++) {
        if (lua_getinfo(L, "l", &at) != 0 && at.currentline > 0) {
            return at.currentline;
        }
    }
    return 0;
}

/* Removes the position that Lua puts before its own messages, as "=:12: ". *line: the line of this position, if
 * there is one. */
static const char *without_place(const char *message, int *line) {
    if (strncmp(message, "=:", 2) != 0) {
        return message;
    }
    char *end;
    const long number = strtol(message + 2, &end, 10);
    if (strncmp(end, ": ", 2) != 0) {
        return message;
    }
    *line = (int)number;
    return end + 2;
}

int sim_lua_add_place(lua_State *L) {
    const int line = sim_lua_line(L);
    if (line > 0 && lua_type(L, 1) == LUA_TSTRING && strncmp(lua_tostring(L, 1), "=:", 2) != 0) {
        (void)lua_pushfstring(L, "=:%d: %s", line, lua_tostring(L, 1));
    }
    return 1;
}

hpcw_status sim_lua_fail(struct sim_lua *lua, lua_State *L, int status, uint32_t rank, hpcw_error *err) {
    char place[32] = "";
    char who[32] = "";
    char memory[96];
    int line = sim_lua_line(L);
    const char *message =
        lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "expected a text as error, got another value";
    message = without_place(message, &line);
    if (status == LUA_ERRMEM) {
        (void)snprintf(memory, sizeof memory, "expected at most %zu MiB of memory for all ranks, got more",
                       lua->memory.limit >> 20);
        message = memory;
    }
    if (line > 0) {
        (void)snprintf(place, sizeof place, ":%d", line);
    }
    if (rank != UINT32_MAX) {
        (void)snprintf(who, sizeof who, "rank %" PRIu32 ": ", rank);
    }
    const hpcw_status s = hpcw_i_fail(err, HPCW_EINVAL, "%s%s: %s%s", lua->name, place, who, message);
    lua_pop(L, 1);
    return s;
}
