/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/text/text.h"

#include <inttypes.h>
#include <string.h>

#include "gen/fit/log/text/calls.h"
#include "gen/fit/log/text/messages.h"
#include "gen/fit/log/text/prelude.h"
#include "gen/fit/log/text/times.h"
#include "gen/fit/twin.h"
#include "gen/sim/lua/program.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* ---- names of calls that become states ---- */

static bool needs_state(const struct fit_step *step) {
    return step->verb == FIT_OTHER || step->wraps;
}

static hpcw_status put_states(struct fit_text *t, hpcw_error *err) {
    const struct fit_program *p = t->p;
    bool *used = hpcw_i_calloc(p->history.names + 1, sizeof *used);
    size_t count = 0;
    if (used == NULL) {
        return hpcw_i_fail_memory(err, "fit", p->history.names, "names");
    }
    for (uint32_t r = 0; r < p->history.ranks; r++) {
        for (size_t i = 0; i < p->steps[r].count; i++) {
            const struct fit_step *step = &p->steps[r].step[i];
            count += needs_state(step) && !used[step->name];
            used[step->name] = used[step->name] || needs_state(step);
        }
    }
    if (count > 0) {
        fit_text_put(t, "states = {\n");
        for (size_t i = 0; i < p->history.names; i++) {
            if (used[i]) {
                fit_text_put(t, "  \"%s\",\n", p->history.name[i]);
            }
        }
        fit_text_put(t, "}\n\n");
    }
    hpcw_i_free(used);
    return count <= SIM_LUA_MOST_STATES
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EINVAL,
                             "%s: expected at most %d kinds of calls that the simulator does not have, got %zu",
                             p->history.path, SIM_LUA_MOST_STATES, count);
}

/* ---- loops and roles ---- */

/* Writes for each list of messages of a step the execution from which on the step uses this list. */
static void put_since(struct fit_text *t, const struct fit_role *r) {
    bool any = false;
    for (size_t i = 0; i < r->tree.nodes; i++) {
        const struct fit_node *n = &r->tree.node[i];
        if (!n->used || n->number == FIT_LOOP || n->versions == 0) {
            continue;
        }
        fit_text_put(t, any ? "" : "  local m\n");
        any = true;
        fit_text_put(t, "  since[%" PRIu32 "] = {", n->site + 1);
        for (size_t v = 0; v < n->versions; v++) {
            fit_text_put(t,
                         v % 8 == 0 && n->versions > 8 ? "\n    %" PRIu32 ", %" PRIu32 ","
                                                       : " %" PRIu32 ", %" PRIu32 ",",
                         n->number + (uint32_t)v, n->start[v]);
        }
        fit_text_put(t, n->versions > 8 ? "\n  }\n" : " }\n");
    }
}

/* Writes the numbers of turns of inner loops, if they vary. */
static void put_turns(struct fit_text *t, const struct fit_role *r) {
    for (size_t i = 0; i < r->tree.nodes; i++) {
        const struct fit_node *n = &r->tree.node[i];
        if (!n->used || n->number != FIT_LOOP || fit_turns_the_same(n)) {
            continue;
        }
        fit_text_put(t, "  local turns_%zu = in_turn { ", i);
        for (size_t k = 0; k < n->times; k++) {
            fit_text_put(t, "%s%" PRIu32, k > 0 ? ", " : "", n->turns[k]);
        }
        fit_text_put(t, " }\n");
    }
}

/* Writes the head of a loop. fewer: the same loop in the log with fewer ranks; NULL: there is no such log. */
static void begin_loop(struct fit_text *t, uint32_t node, const struct fit_node *n,
                       const struct fit_node *fewer) {
    fit_text_indent(t);
    if (!fit_turns_the_same(n)) {
        fit_text_put(t, "for _ = 1, turns_%" PRIu32 "() do\n", node);
    } else if (fewer == NULL || fewer->turns[0] == n->turns[0]) {
        fit_text_put(t, "for _ = 1, %" PRIu32 " do\n", n->turns[0]);
    } else {
        fit_text_put(t, "for _ = 1, whole(%" PRIu32 " * grows(%.3g)) do\n", n->turns[0],
                     fit_scale_power(t->scale, n->turns[0], fewer->turns[0], 0));
    }
    t->depth++;
}

/* Writes nodes of the tree. other: the same nodes in the log with fewer ranks; NULL: there is no such log. */
static void put_nodes(struct fit_text *t, const struct fit_role *r, const uint32_t *node, const uint32_t *other,
                      size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct fit_node *n = &r->tree.node[node[i]];
        const struct fit_node *fewer = other != NULL ? &fit_text_like(t, r)->tree.node[other[i]] : NULL;
        if (n->number != FIT_LOOP) {
            fit_text_put_step(t, r, n);
            continue;
        }
        begin_loop(t, node[i], n, fewer);
        const bool turns = node[i] == r->loop && t->p->course.turns > 0;
        const size_t before = turns && r->late;
        put_nodes(t, r, n->child, fewer != NULL ? fewer->child : NULL, before);
        if (turns) {
            fit_text_indent(t);
            fit_text_put(t, "begin_turn()\n");
        }
        put_nodes(t, r, n->child + before, fewer != NULL ? fewer->child + before : NULL, n->children - before);
        if (node[i] == r->loop && t->p->phases > 1) {
            fit_text_indent(t);
            fit_text_put(t, "next_phase()\n");
        }
        t->depth--;
        fit_text_indent(t);
        fit_text_put(t, "end\n");
    }
}

static void put_role(struct fit_text *t, uint32_t number) {
    const struct fit_role *r = &t->p->role[number];
    fit_text_put(t, "\nlocal function role_%" PRIu32 "()\n", number + 1);
    if (t->scale != NULL) {
        fit_text_put(t, "  place = rank %% %" PRIu32 " + 1 -- lines of tables come again\n", r->ranks);
    }
    const size_t before = t->lines;
    fit_text_put_lists(t, r);
    put_since(t, r);
    t->table_lines += t->lines - before;
    fit_text_put_times(t, r);
    fit_text_put_luck(t, r);
    put_turns(t, r);
    t->depth = 1;
    put_nodes(t, r, r->tree.top, t->scale != NULL ? fit_text_like(t, r)->tree.top : NULL, r->tree.tops);
    if (t->p->phases == 1) {
        fit_text_put(t, "  next_phase()\n");
    }
    t->depth = 0;
    fit_text_put(t, "end\n");
}

static void put_places(struct fit_text *t) {
    const struct fit_scale *scale = t->scale;
    fit_text_put(
        t, "-- The roles of the ranks, by their place on a grid: in each dimension the first rank, one inside, "
           "the last one.\n"
           "local roles = {");
    uint32_t places = 1;
    for (uint32_t d = 0; d < t->p->grid.dims; d++) {
        places *= 3;
    }
    for (uint32_t i = 0; i < places; i++) {
        if (scale->role[i] != UINT32_MAX) {
            fit_text_put(t, " [%" PRIu32 "] = %" PRIu32 ",", i, scale->role[i] + 1);
        }
    }
    fit_text_put(t, " }\n");
}

/* Writes the role of each rank as a table. Each entry has the same width, so its position is computed from the
 * rank. */
static void put_roles(struct fit_text *t) {
    const struct fit_program *p = t->p;
    fit_text_put(t, "-- The roles of the ranks, and the place of this rank among those of its role.\n");
    fit_text_put(t, "local roles = [[\n");
    const int width = fit_text_width(p->roles);
    for (uint32_t r = 0; r < p->history.ranks; r++) {
        fit_text_put(t, "%*" PRIu32 "%s", width, p->role_of[r] + 1,
                     r % 16 == 15 || r + 1 == p->history.ranks ? "\n" : "");
    }
    fit_text_put(t, "]]\n");
    fit_text_put(t,
                 "local function role_of(r)\n"
                 "  local at = r * %d + r // 16\n"
                 "  return tonumber(string.sub(roles, at + 1, at + %d))\n"
                 "end\n"
                 "role, place = role_of(rank), 0\n"
                 "for r = 0, rank do place = place + (role_of(r) == role and 1 or 0) end\n",
                 width, width);
}

/* Appends a prelude without its licence line, since the learned workload belongs to the user. */
static void put_prelude(struct fit_text *t, size_t which) {
    const struct fit_prelude *p = &fit_prelude[which];
    const char *begin = (const char *)p->data;
    const char *own = memchr(begin, '\n', p->size);
    t->failed = t->failed || !hpcw_i_buf_append(t->buf, own + 1, p->size - (size_t)(own + 1 - begin));
}
/* ---- all ---- */

/* Writes the head of the text: its number of ranks, its parameters, and the preludes. */
static hpcw_status put_head(struct fit_text *t, hpcw_error *err) {
    const uint32_t ranks = t->p->history.ranks;
    fit_text_put(t, GEN_FIT_TWIN_OF_LOG " with %" PRIu32 " ranks", ranks);
    if (t->scale != NULL) {
        fit_text_put(t, " and one with %" PRIu32 ", by hpcgen fit.\n", t->scale->fewer->history.ranks);
    } else {
        fit_text_put(t, ", by hpcgen fit. It holds for as many ranks.\n");
    }
    fit_text_append(t,
                    "parameters = {\n"
                    "  rest = 1.0,     -- factor of the time in calls that the simulator does not give them\n"
                    "  together = 0.0, -- share of these times that come on all ranks together\n"
                    "}\n");
    if (t->scale == NULL) {
        fit_text_put(t,
                     "assert(size == %" PRIu32 ", \"expected as many ranks as the log has, %" PRIu32
                     ", got \" .. size)\n\n",
                     ranks, ranks);
    } else {
        fit_text_put(t, "local learned = %" PRIu32 " -- ranks of the log that the numbers below are from\n\n",
                     ranks);
    }
    hpcw_status s = put_states(t, err);
    put_prelude(t, FIT_PRELUDE);
    if (t->scale != NULL) {
        put_prelude(t, FIT_PRELUDE_SCALE);
    }
    if (t->scale != NULL && t->p->grid.dims > 0) {
        put_places(t);
    } else if (t->scale == NULL && t->p->roles > 1) {
        put_roles(t);
    }
    fit_text_put_course(t);
    return s;
}

/* Checks that in a text for any number of ranks each message is a function of the rank and the number of
 * ranks. */
static hpcw_status check_steps(const struct fit_text *t, hpcw_error *err) {
    for (uint32_t k = 0; t->scale != NULL && k < t->p->roles; k++) {
        const struct fit_role *r = &t->p->role[k];
        const struct fit_steps *steps = &t->p->steps[r->rank[0]];
        for (uint32_t number = 0; number < steps->numbers; number++) {
            struct fit_grid_line line;
            if (!fit_text_is_regular(t, r, number) && !fit_text_line(t, r, number, &line)) {
                return hpcw_i_fail(
                    err, HPCW_EINVAL,
                    "logs: expected partners that follow from the rank and the number of ranks, and equal "
                    "bytes, got others in %s, first on rank %" PRIu32,
                    t->p->history.name[fit_step_of(t->p, r->rank[0], number)->name], r->rank[0]);
            }
        }
    }
    return HPCW_OK;
}

hpcw_status fit_text_write(const struct fit_program *p, const struct fit_scale *scale, struct hpcw_i_buf *buf,
                           size_t *lines, hpcw_error *err) {
    *lines = 0;
    struct fit_text t = {.p = p, .scale = scale, .buf = buf};
    t.tags = p->tags || (scale != NULL && scale->fewer->tags);
    hpcw_status s = check_steps(&t, err);
    s = s == HPCW_OK ? put_head(&t, err) : s;
    for (uint32_t r = 0; s == HPCW_OK && r < p->roles && buf->size <= FIT_MOST_TEXT; r++) {
        put_role(&t, r);
    }
    fit_text_put(&t, "\nfunction run()\n");
    if (scale != NULL && p->grid.dims > 0) {
        fit_text_put(&t, "  role = roles[place_on(%" PRIu32 ", %s)]\n", p->grid.dims,
                     p->grid.reversed ? "true" : "false");
        fit_text_put(
            &t,
            "  assert(role, \"expected a grid like that of the logs, got one with a place that none of their "
            "ranks has\")\n");
    }
    for (uint32_t r = 0; r < p->roles; r++) {
        fit_text_put(&t, "  if role == %" PRIu32 " then role_%" PRIu32 "() end\n", r + 1, r + 1);
    }
    fit_text_put(&t, "end\n");
    if (t.failed) {
        return hpcw_i_fail_memory(err, "workload", buf->size, "bytes");
    }
    *lines = t.lines - t.table_lines;
    if (s == HPCW_OK && (*lines > FIT_MOST_LINES || buf->size > FIT_MOST_TEXT)) {
        s = hpcw_i_fail(err, HPCW_EINVAL,
                        "%s: expected calls that repeat, for a text of at most %d lines and %d KiB, got at "
                        "least %zu lines and %zu KiB",
                        p->history.path, FIT_MOST_LINES, FIT_MOST_TEXT >> 10, *lines, (buf->size + 1023) >> 10);
    }
    return s;
}
