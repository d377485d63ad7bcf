/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/text/messages.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

#include "libwriter/base/mem.h"

/* A message of a step in the log and, if the text is for any number of ranks, also in the log with fewer
 * ranks. */
struct text_seen {
    struct fit_partner_seen log[2];
    size_t count;
};

static struct text_seen see(const struct fit_text *t, const struct fit_role *r, uint32_t number,
                            uint32_t item) {
    struct text_seen seen = {.log = {{t->p, r, number, item}}, .count = 1};
    if (t->scale != NULL) {
        seen.log[seen.count++] = (struct fit_partner_seen){t->scale->fewer, fit_text_like(t, r), number, item};
    }
    return seen;
}

struct fit_partner fit_text_partner(const struct fit_text *t, const struct fit_role *r, uint32_t number,
                                    uint32_t i) {
    const struct text_seen seen = see(t, r, number, i);
    return fit_partner_find(seen.log, seen.count);
}

bool fit_text_line(const struct fit_text *t, const struct fit_role *r, uint32_t number,
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
    /* If no rank has a partner, the call is collective; its bytes are those of the first rank. */
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

/* In a text for any number of ranks, bytes that differ from their mean by at most this share count as equal.
 * For instance, some ranks have one more row of a grid of points. */
#define MOST_UNEVEN 0.1

/* Returns whether a step has `items` items on all ranks of a role, with equal bytes and tags. */
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

bool fit_text_is_regular(const struct fit_text *t, const struct fit_role *r, uint32_t number) {
    const uint32_t items = fit_step_of(t->p, r->rank[0], number)->items;
    bool regular = has_equal_items(t->p, r, number, items) &&
                   (t->scale == NULL || has_equal_items(t->scale->fewer, fit_text_like(t, r), number, items));
    for (uint32_t i = 0; regular && i < items; i++) {
        regular = fit_text_partner(t, r, number, i).kind != FIT_PARTNER_TABLE;
    }
    return regular;
}

void fit_text_put_bytes(struct fit_text *t, const struct fit_role *r, uint32_t number, uint32_t i) {
    const uint32_t bytes = bytes_of(t->p, r, number, i);
    const uint32_t fewer = t->scale == NULL ? bytes : bytes_of(t->scale->fewer, fit_text_like(t, r), number, i);
    if (bytes == fewer || bytes == 0 || fewer == 0) {
        fit_text_put(t, "%" PRIu32, bytes);
    } else {
        fit_text_put(t, "whole(%" PRIu32 " * grows(%.3g))", bytes, fit_scale_power(t->scale, bytes, fewer, 0));
    }
}

void fit_text_put_partner(struct fit_text *t, struct fit_partner f) {
    switch (f.kind) {
    case FIT_PARTNER_LAST:
        fit_text_put(t, "size - 1");
        break;
    case FIT_PARTNER_SUM:
        fit_text_put(t, f.wraps ? "(rank %c %" PRId32 ") %% size" : "within(rank %c %" PRId32 ")",
                     f.step[0] < 0 ? '-' : '+', f.step[0] < 0 ? -f.step[0] : f.step[0]);
        break;
    case FIT_PARTNER_GRID:
        fit_text_put(t, "beside {");
        for (uint32_t d = 0; d < f.grid.dims; d++) {
            fit_text_put(t, "%s%" PRId32, d > 0 ? ", " : " ", f.step[d]);
        }
        fit_text_put(t, "%s%s }", f.wraps ? ", periodic = true" : "",
                     f.grid.reversed ? ", reversed = true" : "");
        break;
    default:
        fit_text_put(t, f.value == FIT_NOBODY ? "none" : "%" PRIu32, f.value);
    }
}

void fit_text_put_item(struct fit_text *t, const struct fit_role *r, uint32_t number, uint32_t i) {
    fit_text_put_partner(t, fit_text_partner(t, r, number, i));
    fit_text_put(t, ", ");
    fit_text_put_bytes(t, r, number, i);
    if (t->tags && tag_of(t->p, r, number, i) != 0) {
        fit_text_put(t, ", %" PRId32, tag_of(t->p, r, number, i));
    }
}

/* Writes a table with a line for each rank of the role. */
static void put_table(struct fit_text *t, const struct fit_role *r, uint32_t number) {
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
    const int width[3] = {fit_text_width(most[0]), fit_text_width(most[1]),
                          t->tags ? fit_text_width(most[2]) : 0};
    fit_text_put(t, "messages([[\n");
    for (uint32_t m = 0; m < r->ranks; m++) {
        const struct fit_step *step = fit_step_of(t->p, r->rank[m], number);
        for (uint32_t i = 0; i < items; i++) {
            if (i >= step->items) {
                fit_text_put(t, "%*s", width[0] + width[1] + width[2], "");
                continue;
            }
            const struct fit_item *item = fit_item_of(t->p, r->rank[m], number, i);
            fit_text_put(t, "%*" PRId64 "%*" PRIu32, width[0],
                         item->peer == FIT_NOBODY ? (int64_t)-1 : (int64_t)item->peer, width[1], item->bytes);
            if (t->tags) {
                fit_text_put(t, "%*" PRId32, width[2], item->tag);
            }
        }
        fit_text_put(t, "\n");
    }
    fit_text_put(t, "]], %" PRIu32 ", %d, %d", items, width[0], width[1]);
    if (t->tags) {
        fit_text_put(t, ", %d", width[2]);
    }
    fit_text_put(t, ")");
}

bool fit_text_is_single(const struct fit_text *t, const struct fit_role *r, uint32_t number) {
    const struct fit_step *step = fit_step_of(t->p, r->rank[0], number);
    return step->items == 1 && fit_text_is_regular(t, r, number) &&
           fit_text_partner(t, r, number, 0).kind != FIT_PARTNER_GRID;
}

bool fit_text_has_list(const struct fit_text *t, const struct fit_role *r, uint32_t number) {
    const struct fit_step *step = fit_step_of(t->p, r->rank[0], number);
    struct fit_grid_line line;
    bool any = step->items > 0;
    if (fit_text_line(t, r, number, &line)) {
        return false;
    }
    for (uint32_t m = 1; !any && m < r->ranks; m++) {
        any = fit_step_of(t->p, r->rank[m], number)->items > 0;
    }
    return any && !fit_text_is_single(t, r, number);
}

static void put_one_list(struct fit_text *t, const struct fit_role *r, uint32_t number) {
    fit_text_put(t, "  list[%" PRIu32 "] = ", number);
    if (!fit_text_is_regular(t, r, number)) {
        put_table(t, r, number);
        fit_text_put(t, "\n");
        return;
    }
    const char *before = "{ ";
    for (uint32_t i = 0; i < fit_step_of(t->p, r->rank[0], number)->items; i++) {
        fit_text_put(t, "%s{ ", before);
        fit_text_put_item(t, r, number, i);
        fit_text_put(t, " }");
        before = ", ";
    }
    fit_text_put(t, before[0] == ',' ? " }\n" : "{}\n");
}

void fit_text_put_lists(struct fit_text *t, const struct fit_role *r) {
    const size_t numbers = t->p->steps[r->rank[0]].numbers;
    bool *done = hpcw_i_calloc(numbers + 1, sizeof *done);
    bool any = false;
    t->failed = t->failed || done == NULL;
    for (size_t i = 0; done != NULL && i < r->tree.nodes; i++) {
        const struct fit_node *n = &r->tree.node[i];
        const size_t versions = n->versions > 0 ? n->versions : 1;
        for (size_t v = 0; n->used && n->number != FIT_LOOP && v < versions; v++) {
            const uint32_t number = n->number + (uint32_t)v;
            if (done[number] || !(n->versions > 0 || fit_text_has_list(t, r, number))) {
                continue;
            }
            if (!any) {
                fit_text_put(
                    t, "  -- Partner, bytes and tag of messages; in collective calls root and bytes, in splits "
                       "leader and key.\n"
                       "  local list = {}\n");
            }
            any = done[number] = true;
            put_one_list(t, r, number);
        }
    }
    hpcw_i_free(done);
}
