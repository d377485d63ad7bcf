/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/fit/log/partner.h"
#include "gen/fit/log/prelude.h"
#include "gen/fit/twin.h"
#include "gen/sim/lua/program.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

struct text {
    const struct fit_program *p;
    const struct fit_scale *scale; /* NULL: for as many ranks as the log has */
    struct hpcw_i_buf *buf;
    /* true: tags are needed, since messages between two ranks are received in another order than sent */
    bool tags;
    bool failed; /* memory ran out */
    uint32_t depth;
    size_t lines, table_lines; /* lines written; those of lists of messages and tables of ranks */
};

/* Appends a constant text of any length. */
static void put_text(struct text *t, const char *text) {
    if (t->buf->size > FIT_MOST_TEXT) {
        return; /* the text is too long and will be refused */
    }
    for (const char *c = text; *c != '\0'; c++) {
        t->lines += *c == '\n';
    }
    t->failed = t->failed || !hpcw_i_buf_append_str(t->buf, text);
}

static void put(struct text *t, const char *fmt, ...) HPCW_PRINTF(2, 3);
static void put(struct text *t, const char *fmt, ...) {
    char piece[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(piece, sizeof piece, fmt, args);
    va_end(args);
    put_text(t, piece);
}

/* Appends a prelude without its licence, since the twin belongs to the user. */
static void put_prelude(struct text *t, size_t which) {
    const struct fit_prelude *p = &fit_prelude[which];
    const char *begin = (const char *)p->data;
    const char *own = memchr(begin, '\n', p->size);
    t->failed = t->failed || !hpcw_i_buf_append(t->buf, own + 1, p->size - (size_t)(own + 1 - begin));
}

static void indent(struct text *t) {
    put(t, "%*s", (int)(2 * t->depth), "");
}

/* ---- names that need a state ---- */

static bool needs_state(const struct fit_step *step) {
    return step->verb == FIT_OTHER || step->wraps;
}

static hpcw_status put_states(struct text *t, hpcw_error *err) {
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
        put(t, "states = {\n");
        for (size_t i = 0; i < p->history.names; i++) {
            if (used[i]) {
                put(t, "  \"%s\",\n", p->history.name[i]);
            }
        }
        put(t, "}\n\n");
    }
    hpcw_i_free(used);
    return count <= SIM_LUA_MOST_STATES
               ? HPCW_OK
               : hpcw_i_fail(
                     err, HPCW_EINVAL,
                     "log: expected at most %d kinds of calls that the simulator does not have, got %zu",
                     SIM_LUA_MOST_STATES, count);
}

/* ---- lists of messages ---- */

/* Returns the same role in the log with fewer ranks. */
static const struct fit_role *like(const struct text *t, const struct fit_role *r) {
    return &t->scale->fewer->role[t->scale->like[r - t->p->role]];
}

/* The messages of a step in the log and, for a scaled text, in that with fewer ranks. */
struct text_seen {
    struct fit_partner_seen log[2];
    size_t count;
};

static struct text_seen see(const struct text *t, const struct fit_role *r, uint32_t number, uint32_t item) {
    struct text_seen seen = {.log = {{t->p, r, number, item}}, .count = 1};
    if (t->scale != NULL) {
        seen.log[seen.count++] = (struct fit_partner_seen){t->scale->fewer, like(t, r), number, item};
    }
    return seen;
}

static struct fit_partner partner_of(const struct text *t, const struct fit_role *r, uint32_t number,
                                     uint32_t i) {
    const struct text_seen seen = see(t, r, number, i);
    return fit_partner_find(seen.log, seen.count);
}

/* Returns whether a step makes a communicator of ranks on a line. */
static bool is_line(const struct text *t, const struct fit_role *r, uint32_t number,
                    struct fit_grid_line *line) {
    const struct text_seen seen = see(t, r, number, 0);
    return fit_step_of(t->p, r->rank[0], number)->verb == FIT_SPLIT &&
           fit_line_find(seen.log, seen.count, line);
}

/* Returns the mean bytes of a message, over the ranks of a role that have a partner for it. */
static uint32_t bytes_of(const struct fit_program *p, const struct fit_role *r, uint32_t number, uint32_t i) {
    uint64_t sum = 0, count = 0;
    for (uint32_t m = 0; m < r->ranks; m++) {
        const struct fit_item *item = fit_item_of(p, r->rank[m], number, i);
        sum += item->peer != FIT_NOBODY ? item->bytes : 0;
        count += item->peer != FIT_NOBODY;
    }
    /* Without a partner the bytes are those of a collective call. */
    return count > 0 ? (uint32_t)((sum + count / 2) / count) : fit_item_of(p, r->rank[0], number, i)->bytes;
}

/* Returns the tag of a message on the first rank of a role that has a partner for it. */
static int32_t tag_of(const struct fit_program *p, const struct fit_role *r, uint32_t number, uint32_t i) {
    uint32_t m = 0;
    while (m + 1 < r->ranks && fit_item_of(p, r->rank[m], number, i)->peer == FIT_NOBODY) {
        m++;
    }
    return fit_item_of(p, r->rank[m], number, i)->tag;
}

/* For other numbers of ranks, bytes count as equal if none differs from the mean by more than this share of it: a grid of
 * points that cannot be divided by the ranks leaves some of them one row more. */
#define MOST_UNEVEN 0.1

/* Returns whether the step has as many items with equal bytes and tags on all ranks of a role. */
static bool has_equal_items(const struct fit_program *p, const struct fit_role *r, uint32_t number,
                            uint32_t items) {
    for (uint32_t m = 0; m < r->ranks; m++) {
        if (fit_step_of(p, r->rank[m], number)->items != items) {
            return false;
        }
    }
    for (uint32_t i = 0; i < items; i++) {
        const double bytes = bytes_of(p, r, number, i), most = p->scales ? MOST_UNEVEN * bytes : 0;
        const bool all = fit_step_of(p, r->rank[0], number)->verb == FIT_MEET;
        const int32_t tag = tag_of(p, r, number, i);
        for (uint32_t m = 0; m < r->ranks; m++) {
            const struct fit_item *item = fit_item_of(p, r->rank[m], number, i);
            if ((fabs(item->bytes - bytes) > most || (p->tags && item->tag != tag)) &&
                (all || item->peer != FIT_NOBODY)) {
                return false;
            }
        }
    }
    return true;
}

/* Returns whether the messages of a step are functions of the rank, and in a scaled text of the number of ranks. */
static bool is_regular(const struct text *t, const struct fit_role *r, uint32_t number) {
    const uint32_t items = fit_step_of(t->p, r->rank[0], number)->items;
    bool regular = has_equal_items(t->p, r, number, items) &&
                   (t->scale == NULL || has_equal_items(t->scale->fewer, like(t, r), number, items));
    for (uint32_t i = 0; regular && i < items; i++) {
        regular = partner_of(t, r, number, i).kind != FIT_PARTNER_TABLE;
    }
    return regular;
}

/* Writes the bytes of a regular item. */
static void put_bytes(struct text *t, const struct fit_role *r, uint32_t number, uint32_t i) {
    const uint32_t bytes = bytes_of(t->p, r, number, i);
    const uint32_t fewer = t->scale == NULL ? bytes : bytes_of(t->scale->fewer, like(t, r), number, i);
    if (bytes == fewer || bytes == 0 || fewer == 0) {
        put(t, "%" PRIu32, bytes);
    } else {
        put(t, "whole(%" PRIu32 " * grows(%.3g))", bytes, fit_scale_power(t->scale, bytes, fewer, 0));
    }
}

static void put_partner(struct text *t, struct fit_partner f) {
    switch (f.kind) {
    case FIT_PARTNER_LAST:
        put(t, "size - 1");
        break;
    case FIT_PARTNER_SUM:
        put(t, f.wraps ? "(rank %c %" PRId32 ") %% size" : "within(rank %c %" PRId32 ")",
            f.step[0] < 0 ? '-' : '+', f.step[0] < 0 ? -f.step[0] : f.step[0]);
        break;
    case FIT_PARTNER_GRID:
        put(t, "beside {");
        for (uint32_t d = 0; d < f.grid.dims; d++) {
            put(t, "%s%" PRId32, d > 0 ? ", " : " ", f.step[d]);
        }
        put(t, "%s%s }", f.wraps ? ", periodic = true" : "", f.grid.reversed ? ", reversed = true" : "");
        break;
    default:
        put(t, f.value == FIT_NOBODY ? "none" : "%" PRIu32, f.value);
    }
}

/* Writes partner, bytes and tag of a regular item. */
static void put_item(struct text *t, const struct fit_role *r, uint32_t number, uint32_t i) {
    put_partner(t, partner_of(t, r, number, i));
    put(t, ", ");
    put_bytes(t, r, number, i);
    if (t->tags && tag_of(t->p, r, number, i) != 0) {
        put(t, ", %" PRId32, tag_of(t->p, r, number, i));
    }
}

static int width_of(uint64_t value) {
    int width = 2; /* includes a blank before the number */
    while (value >= 10) {
        value /= 10;
        width++;
    }
    return width;
}

/* Writes a table with a line for each rank of the role. */
static void put_table(struct text *t, const struct fit_role *r, uint32_t number) {
    uint32_t items = 0;
    uint64_t most[3] = {10, 1, 0}; /* partners may be -1, which needs two characters */
    for (uint32_t m = 0; m < r->ranks; m++) {
        const struct fit_step *step = fit_step_of(t->p, r->rank[m], number);
        items = step->items > items ? step->items : items;
        for (uint32_t i = 0; i < step->items; i++) {
            const struct fit_item *item = fit_item_of(t->p, r->rank[m], number, i);
            most[0] = item->peer > most[0] && item->peer != FIT_NOBODY ? item->peer : most[0];
            most[1] = item->bytes > most[1] ? item->bytes : most[1];
            most[2] = t->tags && (uint32_t)item->tag > most[2] ? (uint32_t)item->tag : most[2];
        }
    }
    const int width[3] = {width_of(most[0]), width_of(most[1]), t->tags ? width_of(most[2]) : 0};
    put(t, "messages([[\n");
    for (uint32_t m = 0; m < r->ranks; m++) {
        const struct fit_step *step = fit_step_of(t->p, r->rank[m], number);
        for (uint32_t i = 0; i < items; i++) {
            if (i >= step->items) {
                put(t, "%*s", width[0] + width[1] + width[2], "");
                continue;
            }
            const struct fit_item *item = fit_item_of(t->p, r->rank[m], number, i);
            put(t, "%*" PRId64 "%*" PRIu32, width[0],
                item->peer == FIT_NOBODY ? (int64_t)-1 : (int64_t)item->peer, width[1], item->bytes);
            if (t->tags) {
                put(t, "%*" PRId32, width[2], item->tag);
            }
        }
        put(t, "\n");
    }
    put(t, "]], %" PRIu32 ", %d, %d", items, width[0], width[1]);
    if (t->tags) {
        put(t, ", %d", width[2]);
    }
    put(t, ")");
}

/* Returns whether a step has one message that is written in its own line. */
static bool is_single(const struct text *t, const struct fit_role *r, uint32_t number) {
    const struct fit_step *step = fit_step_of(t->p, r->rank[0], number);
    return step->items == 1 && is_regular(t, r, number) && partner_of(t, r, number, 0).kind != FIT_PARTNER_GRID;
}

static bool has_list(const struct text *t, const struct fit_role *r, uint32_t number) {
    const struct fit_step *step = fit_step_of(t->p, r->rank[0], number);
    struct fit_grid_line line;
    bool any = step->items > 0;
    if (is_line(t, r, number, &line)) {
        return false;
    }
    for (uint32_t m = 1; !any && m < r->ranks; m++) {
        any = fit_step_of(t->p, r->rank[m], number)->items > 0;
    }
    return any && !is_single(t, r, number);
}

static void put_one_list(struct text *t, const struct fit_role *r, uint32_t number) {
    put(t, "  list[%" PRIu32 "] = ", number);
    if (!is_regular(t, r, number)) {
        put_table(t, r, number);
        put(t, "\n");
        return;
    }
    const char *before = "{ ";
    for (uint32_t i = 0; i < fit_step_of(t->p, r->rank[0], number)->items; i++) {
        put(t, "%s{ ", before);
        put_item(t, r, number, i);
        put(t, " }");
        before = ", ";
    }
    put(t, before[0] == ',' ? " }\n" : "{}\n");
}

/* Writes each list of messages of the steps once. */
static void put_lists(struct text *t, const struct fit_role *r) {
    const size_t numbers = t->p->steps[r->rank[0]].numbers;
    bool *done = hpcw_i_calloc(numbers + 1, sizeof *done);
    bool any = false;
    t->failed = t->failed || done == NULL;
    for (size_t i = 0; done != NULL && i < r->tree.nodes; i++) {
        const struct fit_node *n = &r->tree.node[i];
        const size_t versions = n->versions > 0 ? n->versions : 1;
        for (size_t v = 0; n->used && n->number != FIT_LOOP && v < versions; v++) {
            const uint32_t number = n->number + (uint32_t)v;
            if (done[number] || !(n->versions > 0 || has_list(t, r, number))) {
                continue;
            }
            if (!any) {
                put(t, "  -- Partner, bytes and tag of messages; in collective calls root and bytes, in splits "
                       "leader and key.\n"
                       "  local list = {}\n");
            }
            any = done[number] = true;
            put_one_list(t, r, number);
        }
    }
    hpcw_i_free(done);
}

/* ---- times ---- */

static void put_seconds(struct text *t, double seconds) {
    put(t, "%.3g", seconds);
}

static void put_points(struct text *t, const struct fit_draws *d) {
    for (size_t p = 0; p < d->points; p++) {
        put(t, "%s%.3g, ", p > 0 ? "  " : "", d->share[p]);
        put_seconds(t, d->at[p]);
        put(t, p + 1 < d->points ? "," : " }");
    }
}

/* Writes a table with the factor of each rank of the role. */
static void put_factor(struct text *t, const struct fit_draws *d, uint32_t ranks) {
    if (d->factor != NULL) {
        put(t, ", cell([[\n");
        t->table_lines += ranks;
        for (uint32_t m = 0; m < ranks; m++) {
            put(t, " %9.3g\n", d->factor[m]);
        }
        put(t, "]], 10, 1, 1)");
    }
}

/* The means of a time in two logs are different if they differ by more than this. Below a nanosecond, which is what a log
 * can show, they are rounding errors. */
#define LEAST_GROWTH 0.05
#define LEAST_TIME 1e-9

/* Times of a step in the log, and in that with fewer ranks (NULL: there is none). */
struct text_times {
    const struct fit_draws *d, *fewer;
};

static void put_draws(struct text *t, const char *what, const char *step, struct text_times times,
                      uint32_t ranks) {
    const struct fit_draws *d = times.d;
    if (d->points == 0) {
        return;
    }
    const double mean = fit_draws_mean(d), fewer = times.fewer == NULL ? 0 : fit_draws_mean(times.fewer);
    const double power =
        mean > LEAST_TIME && fewer > LEAST_TIME ? fit_scale_power(t->scale, mean, fewer, LEAST_GROWTH) : 0;
    put(t, "  %s[%s] = ", what, step);
    if (power != 0) {
        put(t, "growing(%.3g, ", power);
    }
    put(t, d->follows ? "in_course(" : "");
    if (d->points == 2 && d->at[0] == d->at[1]) {
        put(t, "always(");
        put_seconds(t, d->at[0]);
        put_factor(t, d, ranks);
    } else {
        put(t, "draws(%zu, { ", d->count / ranks > 0 ? d->count / ranks : 1);
        put_points(t, d);
        put_factor(t, d, ranks);
        if (d->shared > 0) {
            put(t, d->factor == NULL ? ", 1, %.2g" : ", %.2g", d->shared);
        }
    }
    put(t, ")");
    if (d->follows && (d->first > 0 || d->course != NULL)) {
        put(t, ", %.3g", d->first);
    }
    if (d->course != NULL) {
        put(t, ", {");
        for (uint32_t g = 0; g < t->p->course.groups; g++) {
            put(t, g % 12 == 0 ? "\n    %.3g," : " %.3g,", d->course[g]);
        }
        put(t, "\n  }");
    }
    put(t, "%s%s\n", d->follows ? ")" : "", power != 0 ? ")" : "");
}

/* Writes a table of luck: a line for each rank, a column for each group of the course. */
static void put_lucks(struct text *t, const struct fit_role *r) {
    const struct fit_course *c = &t->p->course;
    put(t, "  lucks = by_course([[\n");
    t->table_lines += r->ranks;
    for (uint32_t m = 0; m < r->ranks; m++) {
        for (uint32_t g = 0; g < c->groups; g++) {
            put(t, " %7.3g", r->lucks[m * c->groups + g]);
        }
        put(t, "\n");
    }
    put(t, "]], 8, %" PRIu32 ")\n", c->groups);
}

static void put_luck(struct text *t, const struct fit_role *r) {
    if (r->lucks != NULL) {
        put_lucks(t, r);
        return;
    }
    if (r->luck.points > 0) {
        put(t, "  lucks = draws(%" PRIu32 ", { ", t->p->phases);
        put_points(t, &r->luck);
        put(t, ")\n");
    }
}

/* Writes the factors of times before calls, by turn. */
static void put_course(struct text *t) {
    const struct fit_course *c = &t->p->course;
    if (c->turns == 0) {
        return;
    }
    put(t, "\nwidth = %" PRIu32 "\ncourse = {", c->width);
    for (uint32_t i = 0; i * c->width < c->turns; i++) {
        put(t, i % 12 == 0 ? "\n  %.3g," : " %.3g,", c->factor[i]);
    }
    put(t, "\n}\n");
}

/* Writes the means of the steps with short times, up to the last such step. */
static void put_means(struct text *t, const char *what, const struct fit_role *r, size_t of) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < r->tree.sites; i++) {
        const struct fit_draws *d = (const void *)((const char *)&r->site[i] + of);
        last = d->mean > 0 ? i + 1 : last;
    }
    if (last > 0) {
        put(t, "  %s.mean = {", what);
        for (uint32_t i = 0; i < last; i++) {
            const struct fit_draws *d = (const void *)((const char *)&r->site[i] + of);
            put(t, i % 12 == 0 ? "\n    %.3g," : " %.3g,", d->mean);
        }
        put(t, "\n  }\n");
    }
}

static void put_times(struct text *t, const struct fit_role *r) {
    static const size_t of[] = {offsetof(struct fit_site, gap), offsetof(struct fit_site, between),
                                offsetof(struct fit_site, rest)};
    static const char *const name[] = {"gap", "between", "rest"};
    for (size_t k = 0; k < 3; k++) {
        put_means(t, name[k], r, of[k]);
    }
    for (uint32_t i = 0; i <= r->tree.sites; i++) {
        char step[16] = "\"minor\"";
        if (i < r->tree.sites) {
            (void)snprintf(step, sizeof step, "%" PRIu32, i + 1);
        }
        for (size_t k = 0; k < 3; k++) {
            struct text_times times = {.d = (const void *)((const char *)&r->site[i] + of[k])};
            if (t->scale != NULL && i < r->tree.sites) {
                times.fewer = (const void *)((const char *)&like(t, r)->site[i] + of[k]);
            }
            put_draws(t, name[k], step, times, r->ranks);
        }
    }
}

/* ---- steps ---- */

static void put_comm(struct text *t, const struct fit_step *step) {
    if (step->comm > 0) {
        put(t, "comm[%" PRIu32 "]:", step->comm);
    }
}

/* A step at one site of the text. */
struct fit_text_line {
    const struct fit_role *r;
    const struct fit_step *step; /* of the role's first rank */
    uint32_t number, site;
    bool changes; /* its messages change from time to time: they are in `m` */
    /* it has one message, which is the same function of the rank on all ranks */
    bool single;
};

static void put_list(struct text *t, const struct fit_text_line *l) {
    put(t, l->changes ? "m" : "list[%" PRIu32 "]", l->number);
}

static void put_meeting(struct text *t, const struct fit_text_line *l) {
    const enum sim_call call = (enum sim_call)l->step->call;
    const bool rooted = call == SIM_CALL_BCAST || call == SIM_CALL_REDUCE || call == SIM_CALL_GATHER ||
                        call == SIM_CALL_SCATTER || call == SIM_CALL_GATHERV || call == SIM_CALL_SCATTERV;
    const bool parts = call >= SIM_CALL_GATHERV && call <= SIM_CALL_ALLTOALLV;
    put_comm(t, l->step);
    put(t, "%s(", sim_call_name[call]);
    if (call != SIM_CALL_BARRIER) {
        put(t, parts ? "{ first = " : "");
        if (l->single) {
            put_bytes(t, l->r, l->number, 0);
        } else {
            put_list(t, l);
            put(t, "[1][2]");
        }
        put(t, parts ? ", step = 0 }" : "");
    }
    if (rooted && l->single && fit_item_of(t->p, l->r->rank[0], l->number, 0)->peer != 0) {
        put(t, ", ");
        put_partner(t, partner_of(t, l->r, l->number, 0));
    } else if (rooted && !l->single) {
        put(t, ", ");
        put_list(t, l);
        put(t, "[1][1]");
    }
    put(t, ")");
}

/* Writes an item of a step with one or two items: directly, or as a reference to the list. */
static void put_part(struct text *t, const struct fit_text_line *l, uint32_t item, const char *fields) {
    const bool regular = !l->changes && is_regular(t, l->r, l->number);
    const char *before = "";
    for (const char *f = fields; *f != '\0'; f++) {
        put(t, "%s", before);
        before = ", ";
        if (!regular) {
            put_list(t, l);
            put(t, "[%" PRIu32 "][%c]", item + 1, *f == 'p' ? '1' : '2');
        } else if (*f == 'p') {
            put_partner(t, partner_of(t, l->r, l->number, item));
        } else {
            put_bytes(t, l->r, l->number, item);
        }
    }
}

static void put_split(struct text *t, const struct fit_text_line *l) {
    struct fit_grid_line line;
    if (!l->changes && is_line(t, l->r, l->number, &line)) {
        put(t, "line(%" PRIu32 ", %" PRIu32 "%s)", line.grid.dims, line.along + 1,
            line.grid.reversed ? ", true" : "");
    } else {
        put_part(t, l, 0, "pb");
    }
}

static const char *const of_verb[] = {
    [FIT_SEND] = "send", [FIT_RECV] = "get", [FIT_ISEND] = "start", [FIT_IRECV] = "post"};

/* Writes the call itself, without its time. */
static void put_call(struct text *t, const struct fit_text_line *l) {
    const struct fit_step *step = l->step;
    switch (step->verb) {
    case FIT_SENDRECV:
        put(t, "sendrecv(");
        put_part(t, l, 0, "pb");
        put(t, ", ");
        put_part(t, l, 1, "p");
        put(t, ")");
        break;
    case FIT_WAIT:
        put(t, "wait(table.remove(%s, 1))", step->receives > 0 ? "receives" : "sends");
        break;
    case FIT_WAITALL:
        put(t, step->all ? "all()" : "waitall(oldest(%" PRIu32 ", %" PRIu32 "))", step->receives, step->sends);
        break;
    case FIT_WAITANY:
        put(t, "any()");
        break;
    case FIT_MEET:
        put_meeting(t, l);
        break;
    case FIT_SPLIT:
        put(t, "divide(");
        put(t, step->comm > 0 ? "comm[%" PRIu32 "], " : "world, ", step->comm);
        put_split(t, l);
        put(t, ")");
        break;
    default:
        put(t, "%s(", of_verb[step->verb]);
        put_item(t, l->r, l->number, 0);
        put(t, ")");
    }
}

static bool is_message(const struct fit_step *step) {
    return step->verb == FIT_SEND || step->verb == FIT_RECV || step->verb == FIT_ISEND ||
           step->verb == FIT_IRECV;
}

static bool is_wait(const struct fit_step *step) {
    return step->verb == FIT_WAIT || step->verb == FIT_WAITALL || step->verb == FIT_WAITANY;
}

static void put_step(struct text *t, const struct fit_role *r, const struct fit_node *n) {
    struct fit_text_line l = {
        .r = r, .step = fit_step_of(t->p, r->rank[0], n->number), .number = n->number, .site = n->site + 1};
    const char *name = t->p->history.name[l.step->name];
    l.changes = n->versions > 0;
    l.single = !l.changes && is_single(t, r, n->number);
    const bool list = l.changes || has_list(t, r, n->number);
    indent(t);
    if (l.step->verb == FIT_OTHER) {
        put(t, "other(%" PRIu32 ", \"%s\")\n", l.site, name);
        return;
    }
    if (l.changes) {
        put(t, "m = current(list, %" PRIu32 ")\n", l.site);
        indent(t);
    }
    if (is_wait(l.step) && (list || l.single)) {
        /* These are receives whose posting call the log does not show. */
        if (l.single) {
            put(t, "post(");
            put_item(t, r, n->number, 0);
            put(t, ")\n");
        } else {
            put(t, "for _, one in ipairs(");
            put_list(t, &l);
            put(t, ") do post(one[1], one[2], one[3]) end\n");
        }
        indent(t);
    }
    if (is_message(l.step) && !l.single) {
        put(t, l.step->wraps ? "each_as(%" PRIu32 ", " : "each(%" PRIu32 ", ", l.site);
        if (l.step->wraps) {
            put(t, "\"%s\", ", name);
        }
        put(t, "%s, ", of_verb[l.step->verb]);
        put_list(t, &l);
        put(t, ")\n");
        return;
    }
    if (l.step->wraps) {
        put(t, "as(%" PRIu32 ", \"%s\", function() ", l.site, name);
        put_call(t, &l);
        put(t, " end)\n");
        return;
    }
    put(t, "at(%" PRIu32 ") ", l.site);
    put_call(t, &l);
    put(t, "\n");
}

/* Writes when the lists of messages change. */
static void put_since(struct text *t, const struct fit_role *r) {
    bool any = false;
    for (size_t i = 0; i < r->tree.nodes; i++) {
        const struct fit_node *n = &r->tree.node[i];
        if (!n->used || n->number == FIT_LOOP || n->versions == 0) {
            continue;
        }
        put(t, any ? "" : "  local m\n");
        any = true;
        put(t, "  since[%" PRIu32 "] = {", n->site + 1);
        for (size_t v = 0; v < n->versions; v++) {
            put(t,
                v % 8 == 0 && n->versions > 8 ? "\n    %" PRIu32 ", %" PRIu32 ","
                                              : " %" PRIu32 ", %" PRIu32 ",",
                n->number + (uint32_t)v, n->start[v]);
        }
        put(t, n->versions > 8 ? "\n  }\n" : " }\n");
    }
}

/* Writes the numbers of turns of inner loops that vary. */
static void put_turns(struct text *t, const struct fit_role *r) {
    for (size_t i = 0; i < r->tree.nodes; i++) {
        const struct fit_node *n = &r->tree.node[i];
        if (!n->used || n->number != FIT_LOOP || fit_turns_the_same(n)) {
            continue;
        }
        put(t, "  local turns_%zu = in_turn { ", i);
        for (size_t k = 0; k < n->times; k++) {
            put(t, "%s%" PRIu32, k > 0 ? ", " : "", n->turns[k]);
        }
        put(t, " }\n");
    }
}

/* Writes the head of a loop. fewer: the same loop of the log with fewer ranks; NULL: there is no such log. */
static void begin_loop(struct text *t, uint32_t node, const struct fit_node *n, const struct fit_node *fewer) {
    indent(t);
    if (!fit_turns_the_same(n)) {
        put(t, "for _ = 1, turns_%" PRIu32 "() do\n", node);
    } else if (fewer == NULL || fewer->turns[0] == n->turns[0]) {
        put(t, "for _ = 1, %" PRIu32 " do\n", n->turns[0]);
    } else {
        put(t, "for _ = 1, whole(%" PRIu32 " * grows(%.3g)) do\n", n->turns[0],
            fit_scale_power(t->scale, n->turns[0], fewer->turns[0], 0));
    }
    t->depth++;
}

/* other: the same nodes of the log with fewer ranks; NULL: there is no such log. */
static void put_nodes(struct text *t, const struct fit_role *r, const uint32_t *node, const uint32_t *other,
                      size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct fit_node *n = &r->tree.node[node[i]];
        const struct fit_node *fewer = other != NULL ? &like(t, r)->tree.node[other[i]] : NULL;
        if (n->number != FIT_LOOP) {
            put_step(t, r, n);
            continue;
        }
        begin_loop(t, node[i], n, fewer);
        const bool turns = node[i] == r->loop && t->p->course.turns > 0;
        const size_t before = turns && r->late;
        put_nodes(t, r, n->child, fewer != NULL ? fewer->child : NULL, before);
        if (turns) {
            indent(t);
            put(t, "begin_turn()\n");
        }
        put_nodes(t, r, n->child + before, fewer != NULL ? fewer->child + before : NULL, n->children - before);
        if (node[i] == r->loop && t->p->phases > 1) {
            indent(t);
            put(t, "next_phase()\n");
        }
        t->depth--;
        indent(t);
        put(t, "end\n");
    }
}

static void put_role(struct text *t, uint32_t number) {
    const struct fit_role *r = &t->p->role[number];
    put(t, "\nlocal function role_%" PRIu32 "()\n", number + 1);
    if (t->scale != NULL) {
        put(t, "  place = rank %% %" PRIu32 " + 1 -- lines of tables come again\n", r->ranks);
    }
    const size_t before = t->lines;
    put_lists(t, r);
    put_since(t, r);
    t->table_lines += t->lines - before;
    put_times(t, r);
    put_luck(t, r);
    put_turns(t, r);
    t->depth = 1;
    put_nodes(t, r, r->tree.top, t->scale != NULL ? like(t, r)->tree.top : NULL, r->tree.tops);
    if (t->p->phases == 1) {
        put(t, "  next_phase()\n");
    }
    t->depth = 0;
    put(t, "end\n");
}

/* Writes which role the ranks at each place of a grid have. */
static void put_places(struct text *t) {
    const struct fit_scale *scale = t->scale;
    put(t, "-- The roles of the ranks, by their place on a grid: in each dimension the first rank, one inside, "
           "the last one.\n"
           "local roles = {");
    uint32_t places = 1;
    for (uint32_t d = 0; d < t->p->grid.dims; d++) {
        places *= 3;
    }
    for (uint32_t i = 0; i < places; i++) {
        if (scale->role[i] != UINT32_MAX) {
            put(t, " [%" PRIu32 "] = %" PRIu32 ",", i, scale->role[i] + 1);
        }
    }
    put(t, " }\n");
}

/* Writes the role of each rank, at a fixed width so that a rank's entry is found by its position. */
static void put_roles(struct text *t) {
    const struct fit_program *p = t->p;
    put(t, "-- The roles of the ranks, and the place of this rank among those of its role.\n");
    put(t, "local roles = [[\n");
    const int width = width_of(p->roles);
    for (uint32_t r = 0; r < p->history.ranks; r++) {
        put(t, "%*" PRIu32 "%s", width, p->role_of[r] + 1,
            r % 16 == 15 || r + 1 == p->history.ranks ? "\n" : "");
    }
    put(t, "]]\n");
    put(t,
        "local function role_of(r)\n"
        "  local at = r * %d + r // 16\n"
        "  return tonumber(string.sub(roles, at + 1, at + %d))\n"
        "end\n"
        "role, place = role_of(rank), 0\n"
        "for r = 0, rank do place = place + (role_of(r) == role and 1 or 0) end\n",
        width, width);
}

/* ---- all ---- */

/* Writes for how many ranks the text is, and what all texts have. */
static hpcw_status put_head(struct text *t, hpcw_error *err) {
    const uint32_t ranks = t->p->history.ranks;
    put(t, GEN_FIT_TWIN_OF_LOG " with %" PRIu32 " ranks", ranks);
    if (t->scale != NULL) {
        put(t, " and one with %" PRIu32 ", by hpcgen fit.\n", t->scale->fewer->history.ranks);
    } else {
        put(t, ", by hpcgen fit. It holds for as many ranks.\n");
    }
    put_text(t, "parameters = {\n"
                "  rest = 1.0,     -- factor of the time in calls that the simulator does not give them\n"
                "  together = 0.0, -- share of these times that come on all ranks together\n"
                "}\n");
    if (t->scale == NULL) {
        put(t,
            "assert(size == %" PRIu32 ", \"expected as many ranks as the log has, %" PRIu32
            ", got \" .. size)\n\n",
            ranks, ranks);
    } else {
        put(t, "local learned = %" PRIu32 " -- ranks of the log that the numbers below are from\n\n", ranks);
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
    put_course(t);
    return s;
}

/* Checks that each message of a scaled text is a function of the rank and of the number of ranks. */
static hpcw_status check_steps(const struct text *t, hpcw_error *err) {
    for (uint32_t k = 0; t->scale != NULL && k < t->p->roles; k++) {
        const struct fit_role *r = &t->p->role[k];
        const struct fit_steps *steps = &t->p->steps[r->rank[0]];
        for (uint32_t number = 0; number < steps->numbers; number++) {
            struct fit_grid_line line;
            if (!is_regular(t, r, number) && !is_line(t, r, number, &line)) {
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
    struct text t = {.p = p, .scale = scale, .buf = buf};
    t.tags = p->tags || (scale != NULL && scale->fewer->tags);
    hpcw_status s = check_steps(&t, err);
    s = s == HPCW_OK ? put_head(&t, err) : s;
    for (uint32_t r = 0; s == HPCW_OK && r < p->roles && buf->size <= FIT_MOST_TEXT; r++) {
        put_role(&t, r);
    }
    put(&t, "\nfunction run()\n");
    if (scale != NULL && p->grid.dims > 0) {
        put(&t, "  role = roles[place_on(%" PRIu32 ", %s)]\n", p->grid.dims,
            p->grid.reversed ? "true" : "false");
        put(&t,
            "  assert(role, \"expected a grid like that of the logs, got one with a place that none of their "
            "ranks has\")\n");
    }
    for (uint32_t r = 0; r < p->roles; r++) {
        put(&t, "  if role == %" PRIu32 " then role_%" PRIu32 "() end\n", r + 1, r + 1);
    }
    put(&t, "end\n");
    if (t.failed) {
        return hpcw_i_fail_memory(err, "workload", buf->size, "bytes");
    }
    *lines = t.lines - t.table_lines;
    if (s == HPCW_OK && (*lines > FIT_MOST_LINES || buf->size > FIT_MOST_TEXT)) {
        s = hpcw_i_fail(err, HPCW_EINVAL,
                        "log: expected calls that repeat, for a text of at most %d lines and %d KiB, got more",
                        FIT_MOST_LINES, FIT_MOST_TEXT >> 10);
    }
    return s;
}
