/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/text/calls.h"

#include <inttypes.h>

#include "gen/fit/log/text/messages.h"

static void put_comm(struct fit_text *t, const struct fit_step *step) {
    if (step->comm > 0) {
        fit_text_put(t, "comm[%" PRIu32 "]:", step->comm);
    }
}

/* A step as a line of the text. number: number of the step. site: index of the line, from 1. */
struct fit_text_line {
    const struct fit_role *r;
    const struct fit_step *step; /* the step on the first rank of the role */
    uint32_t number, site;
    /* true: the messages of the step change, and the text has the current ones in its variable `m` */
    bool changes;
    /* true: the step has one message, whose partner is the same function of the rank on all ranks */
    bool single;
};

static void put_list(struct fit_text *t, const struct fit_text_line *l) {
    fit_text_put(t, l->changes ? "m" : "list[%" PRIu32 "]", l->number);
}

static void put_meeting(struct fit_text *t, const struct fit_text_line *l) {
    const enum sim_call call = (enum sim_call)l->step->call;
    const bool rooted = call == SIM_CALL_BCAST || call == SIM_CALL_REDUCE || call == SIM_CALL_GATHER ||
                        call == SIM_CALL_SCATTER || call == SIM_CALL_GATHERV || call == SIM_CALL_SCATTERV;
    const bool parts = call >= SIM_CALL_GATHERV && call <= SIM_CALL_ALLTOALLV;
    put_comm(t, l->step);
    fit_text_put(t, "%s(", sim_call_name[call]);
    if (call != SIM_CALL_BARRIER) {
        fit_text_put(t, parts ? "{ first = " : "");
        if (l->single) {
            fit_text_put_bytes(t, l->r, l->number, 0);
        } else {
            put_list(t, l);
            fit_text_put(t, "[1][2]");
        }
        fit_text_put(t, parts ? ", step = 0 }" : "");
    }
    if (rooted && l->single && fit_item_of(t->p, l->r->rank[0], l->number, 0)->peer != 0) {
        fit_text_put(t, ", ");
        fit_text_put_partner(t, fit_text_partner(t, l->r, l->number, 0));
    } else if (rooted && !l->single) {
        fit_text_put(t, ", ");
        put_list(t, l);
        fit_text_put(t, "[1][1]");
    }
    fit_text_put(t, ")");
}

/* Writes fields of an item: as values, or as references to the list of messages. fields: 'p', the partner; 'b',
 * the bytes. */
static void put_part(struct fit_text *t, const struct fit_text_line *l, uint32_t item, const char *fields) {
    const bool regular = !l->changes && fit_text_is_regular(t, l->r, l->number);
    const char *before = "";
    for (const char *f = fields; *f != '\0'; f++) {
        fit_text_put(t, "%s", before);
        before = ", ";
        if (!regular) {
            put_list(t, l);
            fit_text_put(t, "[%" PRIu32 "][%c]", item + 1, *f == 'p' ? '1' : '2');
        } else if (*f == 'p') {
            fit_text_put_partner(t, fit_text_partner(t, l->r, l->number, item));
        } else {
            fit_text_put_bytes(t, l->r, l->number, item);
        }
    }
}

static void put_split(struct fit_text *t, const struct fit_text_line *l) {
    struct fit_grid_line line;
    if (!l->changes && fit_text_line(t, l->r, l->number, &line)) {
        fit_text_put(t, "line(%" PRIu32 ", %" PRIu32 "%s)", line.grid.dims, line.along + 1,
                     line.grid.reversed ? ", true" : "");
    } else {
        put_part(t, l, 0, "pb");
    }
}

static const char *const of_verb[] = {
    [FIT_SEND] = "send", [FIT_RECV] = "get", [FIT_ISEND] = "start", [FIT_IRECV] = "post"};

/* Writes the call of a step, without the time before it. */
static void put_call(struct fit_text *t, const struct fit_text_line *l) {
    const struct fit_step *step = l->step;
    switch (step->verb) {
    case FIT_SENDRECV:
        fit_text_put(t, "sendrecv(");
        put_part(t, l, 0, "pb");
        fit_text_put(t, ", ");
        put_part(t, l, 1, "p");
        fit_text_put(t, ")");
        break;
    case FIT_WAIT:
        fit_text_put(t, "wait(table.remove(%s, 1))", step->receives > 0 ? "receives" : "sends");
        break;
    case FIT_WAITALL:
        fit_text_put(t, step->all ? "all()" : "waitall(oldest(%" PRIu32 ", %" PRIu32 "))", step->receives,
                     step->sends);
        break;
    case FIT_WAITANY:
        fit_text_put(t, step->all            ? "any(receives, sends)"
                        : step->receives > 0 ? "any(receives)"
                                             : "any(sends)");
        break;
    case FIT_MEET:
        put_meeting(t, l);
        break;
    case FIT_SPLIT:
        fit_text_put(t, "divide(");
        fit_text_put(t, step->comm > 0 ? "comm[%" PRIu32 "], " : "world, ", step->comm);
        put_split(t, l);
        fit_text_put(t, ")");
        break;
    default:
        fit_text_put(t, "%s(", of_verb[step->verb]);
        fit_text_put_item(t, l->r, l->number, 0);
        fit_text_put(t, ")");
    }
}

static bool is_message(const struct fit_step *step) {
    return step->verb == FIT_SEND || step->verb == FIT_RECV || step->verb == FIT_ISEND ||
           step->verb == FIT_IRECV;
}

static bool is_wait(const struct fit_step *step) {
    return step->verb == FIT_WAIT || step->verb == FIT_WAITALL || step->verb == FIT_WAITANY;
}

void fit_text_put_step(struct fit_text *t, const struct fit_role *r, const struct fit_node *n) {
    struct fit_text_line l = {
        .r = r, .step = fit_step_of(t->p, r->rank[0], n->number), .number = n->number, .site = n->site + 1};
    const char *name = t->p->history.name[l.step->name];
    l.changes = n->versions > 0;
    l.single = !l.changes && fit_text_is_single(t, r, n->number);
    const bool list = l.changes || fit_text_has_list(t, r, n->number);
    fit_text_indent(t);
    if (l.step->verb == FIT_OTHER) {
        fit_text_put(t, "other(%" PRIu32 ", \"%s\")\n", l.site, name);
        return;
    }
    if (l.changes) {
        fit_text_put(t, "m = current(list, %" PRIu32 ")\n", l.site);
        fit_text_indent(t);
    }
    if (is_wait(l.step) && (list || l.single)) {
        /* The log does not show which call posted these receives. */
        if (l.single) {
            fit_text_put(t, "post(");
            fit_text_put_item(t, r, n->number, 0);
            fit_text_put(t, ")\n");
        } else {
            fit_text_put(t, "for _, one in ipairs(");
            put_list(t, &l);
            fit_text_put(t, ") do post(one[1], one[2], one[3]) end\n");
        }
        fit_text_indent(t);
    }
    if (is_message(l.step) && !l.single) {
        fit_text_put(t, l.step->wraps ? "each_as(%" PRIu32 ", " : "each(%" PRIu32 ", ", l.site);
        if (l.step->wraps) {
            fit_text_put(t, "\"%s\", ", name);
        }
        fit_text_put(t, "%s, ", of_verb[l.step->verb]);
        put_list(t, &l);
        fit_text_put(t, ")\n");
        return;
    }
    if (l.step->wraps) {
        fit_text_put(t, "as(%" PRIu32 ", \"%s\", function() ", l.site, name);
        put_call(t, &l);
        fit_text_put(t, " end)\n");
        return;
    }
    fit_text_put(t, "at(%" PRIu32 ") ", l.site);
    put_call(t, &l);
    fit_text_put(t, "\n");
}
