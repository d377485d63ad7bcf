/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/program/scale.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "gen/fit/sketch.h"
#include "libwriter/base/status.h"

/* ---- equal roles ---- */

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
            /* If the numbers of turns vary within a run, they must be the same in both logs: their growth with
             * the number of ranks is unknown. */
            same = m->number == n->number && (x[i] == of->r->loop) == (y[i] == of->s->loop) &&
                   ((fit_turns_the_same(m) && fit_turns_the_same(n)) ||
                    (m->times == n->times && memcmp(m->turns, n->turns, m->times * sizeof *m->turns) == 0)) &&
                   same_nodes(of, m->child, m->children, n->child, n->children);
        } else {
            same = m->number == n->number && m->site == n->site &&
                   same_step(of->p, fit_step_of(of->p, of->r->rank[0], m->number), of->q,
                             fit_step_of(of->q, of->s->rank[0], n->number));
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

/* Fills role[FIT_PLACES] with the role of the ranks at each place of the grid. Returns the first rank whose
 * role differs from that of a rank at the same place; UINT32_MAX: there is none. */
static uint32_t roles_by_place(const struct fit_program *p, uint32_t *role) {
    for (uint32_t i = 0; i < FIT_PLACES; i++) {
        role[i] = UINT32_MAX;
    }
    for (uint32_t rank = 0; rank < p->history.ranks; rank++) {
        uint32_t *of = &role[fit_grid_place(p->grid, rank, p->history.ranks)];
        if (*of != UINT32_MAX && *of != p->role_of[rank]) {
            return rank;
        }
        *of = p->role_of[rank];
    }
    return UINT32_MAX;
}

static hpcw_status refuse_rank(const struct fit_program *p, uint32_t rank, hpcw_error *err) {
    return hpcw_i_fail(
        err, HPCW_EINVAL,
        "logs: expected ranks that make the same calls in the same loops, but for their place on a grid of "
        "all ranks, got others in the log of %" PRIu32 " ranks, first on rank %" PRIu32,
        p->history.ranks, rank);
}

hpcw_status fit_scale_match(const struct fit_program *more, const struct fit_program *fewer,
                            struct fit_scale *scale, enum fit_scale_stage *stage, hpcw_error *err) {
    const struct fit_program *p = more, *q = fewer;
    uint32_t other[FIT_PLACES];
    *scale = (struct fit_scale){.more = more, .fewer = fewer};
    *stage = FIT_SCALE_NOTHING;
    const uint32_t odd = roles_by_place(p, scale->role), other_odd = roles_by_place(q, other);
    if (odd != UINT32_MAX || other_odd != UINT32_MAX) {
        return odd != UINT32_MAX ? refuse_rank(p, odd, err) : refuse_rank(q, other_odd, err);
    }
    *stage = FIT_SCALE_ROLES;
    for (uint32_t i = 0; i < FIT_PLACES; i++) {
        if ((scale->role[i] == UINT32_MAX) != (other[i] == UINT32_MAX)) {
            return hpcw_i_fail(
                err, HPCW_EINVAL,
                "logs: expected grids that both have a border and an inside, as of 9 and 36 ranks, got %" PRIu32
                " and %" PRIu32 " ranks",
                q->history.ranks, p->history.ranks);
        }
    }
    *stage = FIT_SCALE_PLACES;
    for (uint32_t i = 0; i < FIT_PLACES; i++) {
        if (other[i] == UINT32_MAX) {
            continue;
        }
        const struct same same = {p, q, &p->role[scale->role[i]], &q->role[other[i]]};
        if (!same_roles(&same)) {
            return hpcw_i_fail(err, HPCW_EINVAL,
                               "logs: expected the same calls in the same loops on rank %" PRIu32 " of %" PRIu32
                               " and rank %" PRIu32 " of %" PRIu32 ", got others",
                               same.s->rank[0], q->history.ranks, same.r->rank[0], p->history.ranks);
        }
        scale->like[scale->role[i]] = other[i];
    }
    *stage = FIT_SCALE_SAME;
    return HPCW_OK;
}

double fit_scale_power(const struct fit_scale *scale, double with_more, double with_fewer, double least) {
    if (!(with_more > 0) || !(with_fewer > 0) || fabs(with_more - with_fewer) <= least * with_fewer) {
        return 0;
    }
    return (gen_fit_ln(with_more) - gen_fit_ln(with_fewer)) /
           (gen_fit_ln(scale->more->history.ranks) - gen_fit_ln(scale->fewer->history.ranks));
}
