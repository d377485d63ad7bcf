/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/sim/lua/scan.h"

#include <string.h>

#include "gen/sim/lua/program.h"
#include "libwriter/base/status.h"

/* A program text and the current position in it. */
struct sim_lua_place {
    const char *at, *end;
    int line;
};

static bool begins(const struct sim_lua_place *s, const char *word) {
    const size_t n = strlen(word);
    return (size_t)(s->end - s->at) >= n && memcmp(s->at, word, n) == 0;
}

static void skip(struct sim_lua_place *s, size_t count) {
    for (; count > 0 && s->at < s->end; count--) {
        s->line += *s->at++ == '\n';
    }
}

/* Returns the level of a long bracket, [[ or [==[, at the current position; -1: none. */
static int bracket_level(const struct sim_lua_place *s) {
    const char *p = s->at;
    if (p == s->end || *p++ != '[') {
        return -1;
    }
    int level = 0;
    for (; p < s->end && *p == '='; p++) {
        level++;
    }
    return p < s->end && *p == '[' ? level : -1;
}

static void skip_bracket(struct sim_lua_place *s, int level) {
    skip(s, (size_t)level + 2);
    while (s->at < s->end) {
        const char *p = s->at;
        if (*p++ == ']') {
            int equals = 0;
            for (; p < s->end && *p == '='; p++) {
                equals++;
            }
            if (equals == level && p < s->end && *p == ']') {
                skip(s, (size_t)level + 2);
                return;
            }
        }
        skip(s, 1);
    }
}

static void skip_comment(struct sim_lua_place *s) {
    skip(s, 2);
    const int level = bracket_level(s);
    if (level >= 0) {
        skip_bracket(s, level);
        return;
    }
    while (s->at < s->end && *s->at != '\n') {
        s->at++;
    }
}

static void skip_string(struct sim_lua_place *s, char quote) {
    skip(s, 1);
    while (s->at < s->end && *s->at != quote && *s->at != '\n') {
        skip(s, *s->at == '\\' ? 2 : 1);
    }
    skip(s, 1);
}

static bool is_of_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Returns the line of the first use of a name or operator, outside of string constants and comments; 0: none. */
static int line_of(const char *word, const char *text, size_t size) {
    struct sim_lua_place s = {text, text + size, 1};
    const size_t length = strlen(word);
    while (s.at < s.end) {
        const int level = bracket_level(&s);
        if (begins(&s, "--")) {
            skip_comment(&s);
        } else if (level >= 0) {
            skip_bracket(&s, level);
        } else if (*s.at == '"' || *s.at == '\'') {
            skip_string(&s, *s.at);
        } else if (is_of_name(*s.at)) {
            size_t n = 1;
            while (s.at + n < s.end && is_of_name(s.at[n])) {
                n++;
            }
            if (n == length && begins(&s, word)) {
                return s.line;
            }
            skip(&s, n);
        } else if (begins(&s, word)) {
            return s.line;
        } else {
            skip(&s, 1);
        }
    }
    return 0;
}

bool sim_lua_uses_edges(const char *text, size_t size) {
    return line_of("edges", text, size) > 0;
}

hpcw_status sim_lua_scan(const char *name, const char *text, size_t size, hpcw_error *err) {
    if (size > SIM_LUA_MOST_TEXT) {
        return hpcw_i_fail(err, HPCW_ERANGE, "%s: expected a workload of at most %d bytes, got %zu", name,
                           SIM_LUA_MOST_TEXT, size);
    }
    if (size > 0 && text[0] == '\033') {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected the text of a workload, got compiled Lua", name);
    }
    if (memchr(text, '\0', size) != NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected the text of a workload, got a byte of 0 in it",
                           name);
    }
    const int line = line_of("^", text, size);
    return line == 0 ? HPCW_OK
                     : hpcw_i_fail(err, HPCW_EINVAL,
                                   "%s:%d: expected no operator ^, whose results differ between machines: "
                                   "multiply, or use math.exp and math.log",
                                   name, line);
}
