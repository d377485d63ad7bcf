/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/scale.h"

#include <math.h>
#include <string.h>

#include "gen/fit/sketch.h"
#include "libwriter/base/status.h"

/* ---- equal roles ---- */

static const struct fit_step *first_step(const struct fit_program *p, const struct fit_role *r,
                                         uint32_t number) {
    const struct fit_steps *s = &p->steps[r->rank[0]];
    return &s->step[s->sample[number]];
}

static bool same_step(const struct fit_program *p, const struct fit_step *x, const struct fit_program *q,
                      const struct fit_step *y) {
    return x->verb == y->verb && x->call == y->call && x->all == y->all && x->comm == y->comm &&
           x->items == y->items && (x->all || (x->receives == y->receives && x->sends == y->sends)) &&
           strcmp(p->history.name[x->name], q->history.name[y->name]) == 0;
}

struct same {
    const struct fit_program *p, *q;
    const struct fit_role *r, *s;
};

static bool same_nodes(const struct same *of, const uint32_t *x, size_t count, const uint32_t *y,
                       size_t others) {
    bool same = count == others;
    for (size_t i = 0; same && i < count; i++) {
        const struct fit_node *m = &of->r->tree.node[x[i]];
        const struct fit_node *n = &of->s->tree.node[y[i]];
        if (m->number == FIT_LOOP || n->number == FIT_LOOP) {
            /* Numbers of turns that change from time to time cannot be taken to other numbers of ranks. */
            same = m->number == n->number && (x[i] == of->r->loop) == (y[i] == of->s->loop) &&
                   ((fit_turns_the_same(m) && fit_turns_the_same(n)) ||
                    (m->times == n->times && memcmp(m->turns, n->turns, m->times * sizeof *m->turns) == 0)) &&
                   same_nodes(of, m->child, m->children, n->child, n->children);
        } else {
            same = m->number == n->number && m->site == n->site &&
                   same_step(of->p, first_step(of->p, of->r, m->number), of->q,
                             first_step(of->q, of->s, n->number));
        }
    }
    return same;
}

static bool same_roles(const struct same *of) {
    const struct fit_tree *x = &of->r->tree, *y = &of->s->tree;
    return x->sites == y->sites && of->r->turns == of->s->turns &&
           same_nodes(of, x->top, x->tops, y->top, y->tops);
}

/* ---- which ranks have a role ---- */

/* Fills role[FIT_PLACES]. Returns false if ranks at one place have different roles. */
static bool roles_by_place(const struct fit_program *p, uint32_t *role) {
    bool good = true;
    for (uint32_t i = 0; i < FIT_PLACES; i++) {
        role[i] = UINT32_MAX;
    }
    for (uint32_t rank = 0; good && rank < p->history.ranks; rank++) {
        uint32_t *of = &role[fit_grid_place(p->grid, rank, p->history.ranks)];
        good = *of == UINT32_MAX || *of == p->role_of[rank];
        *of = p->role_of[rank];
    }
    return good;
}

/* Both logs must have ranks at the same places, so that each role was seen twice. */
static bool match(struct fit_scale *scale) {
    const struct fit_program *p = scale->more, *q = scale->fewer;
    uint32_t other[FIT_PLACES];
    bool good = roles_by_place(p, scale->role) && roles_by_place(q, other);
    for (uint32_t i = 0; good && i < FIT_PLACES; i++) {
        good = (scale->role[i] == UINT32_MAX) == (other[i] == UINT32_MAX);
        if (good && other[i] != UINT32_MAX) {
            good = same_roles(&(struct same){p, q, &p->role[scale->role[i]], &q->role[other[i]]});
            scale->like[scale->role[i]] = other[i];
        }
    }
    return good;
}

hpcw_status fit_scale_match(const struct fit_program *more, const struct fit_program *fewer,
                            struct fit_scale *scale, hpcw_error *err) {
    *scale = (struct fit_scale){.more = more, .fewer = fewer};
    return match(scale)
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EINVAL,
                             "logs: expected the same calls in the same loops, got others: ranks may differ in "
                             "where they are on a grid, if it has a border and an inside in both logs, as with "
                             "9 and 36 ranks");
}

double fit_scale_power(const struct fit_scale *scale, double with_more, double with_fewer, double least) {
    if (!(with_more > 0) || !(with_fewer > 0) || fabs(with_more - with_fewer) <= least * with_fewer) {
        return 0;
    }
    return (gen_fit_ln(with_more) - gen_fit_ln(with_fewer)) /
           (gen_fit_ln(scale->more->history.ranks) - gen_fit_ln(scale->fewer->history.ranks));
}
