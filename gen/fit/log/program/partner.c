/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/program/partner.h"

static uint32_t peer_of(const struct fit_partner_seen *s, uint32_t rank) {
    return fit_item_of(s->p, rank, s->number, s->item)->peer;
}

/* Returns the position that is `step` steps away from `at` in a dimension with `side` positions; UINT32_MAX:
 * there is none. wraps: the dimension is a ring. Steps of `side` and more are refused: a step that was found on
 * a larger ring must not lead round a smaller one. */
static uint32_t step_from(uint32_t at, int32_t step, uint32_t side, bool wraps) {
    const int64_t to = (int64_t)at + step;
    const bool inside = to >= 0 && to < side;
    return inside || (wraps && step < (int64_t)side && step > -(int64_t)side) ? (uint32_t)((to + side) % side)
                                                                              : UINT32_MAX;
}

static uint32_t on_grid(const struct fit_partner *f, uint32_t rank, uint32_t ranks) {
    uint32_t side[3], at[3];
    fit_grid_sides(f->grid, ranks, side);
    model_grid_position(side, rank, at);
    for (uint32_t d = 0; d < f->grid.dims; d++) {
        at[d] = step_from(at[d], f->step[d], side[d], f->wraps);
        if (at[d] == UINT32_MAX) {
            return FIT_NOBODY;
        }
    }
    return model_grid_cell(side, at);
}

static uint32_t value_of(const struct fit_partner *f, uint32_t rank, uint32_t ranks) {
    return f->kind == FIT_PARTNER_LAST   ? ranks - 1
           : f->kind == FIT_PARTNER_SUM  ? step_from(rank, f->step[0], ranks, f->wraps)
           : f->kind == FIT_PARTNER_GRID ? on_grid(f, rank, ranks)
                                         : f->value;
}

static bool fits(const struct fit_partner *f, const struct fit_partner_seen *seen, size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (uint32_t m = 0; m < seen[i].role->ranks; m++) {
            const uint32_t rank = seen[i].role->rank[m];
            if (value_of(f, rank, seen[i].p->history.ranks) != peer_of(&seen[i], rank)) {
                return false;
            }
        }
    }
    return true;
}

/* Returns the number of steps from one position on a ring to another: the short way round, or the long one. */
static int32_t way_round(uint32_t from, uint32_t to, uint32_t side, bool long_way) {
    const int32_t ahead = (int32_t)((to + side - from) % side), back = ahead - (int32_t)side;
    const int32_t near = ahead <= -back ? ahead : back;
    return !long_way || near == 0 ? near : near == ahead ? back : ahead;
}

/* Tries to describe the partners by the steps that lead from `rank` to `peer` on the grid f->grid. On a
 * periodic grid, each dimension has a short and a long way to the peer. All are tried, since on a smaller grid
 * a long way may end where a short one does. */
static bool find_grid(struct fit_partner *f, const struct fit_partner_seen *seen, size_t count, uint32_t rank,
                      uint32_t peer) {
    const uint32_t ranks = seen[0].p->history.ranks;
    uint32_t side[3], from[3], to[3];
    fit_grid_sides(f->grid, ranks, side);
    model_grid_position(side, rank, from);
    model_grid_position(side, peer, to);
    for (uint32_t ways = 0; ways < (f->wraps ? UINT32_C(1) << f->grid.dims : 1); ways++) {
        for (uint32_t d = 0; d < f->grid.dims; d++) {
            f->step[d] = f->wraps ? way_round(from[d], to[d], side[d], (ways >> d & 1) > 0)
                                  : (int32_t)to[d] - (int32_t)from[d];
        }
        if (fits(f, seen, count)) {
            return true;
        }
    }
    return false;
}

/* Finds a rank of a role that has a partner. Returns false if no rank has one. */
static bool find_pair(const struct fit_partner_seen *s, uint32_t *rank, uint32_t *peer) {
    for (uint32_t m = 0; m < s->role->ranks; m++) {
        *rank = s->role->rank[m];
        *peer = peer_of(s, *rank);
        if (*peer != FIT_NOBODY) {
            return true;
        }
    }
    return false;
}

struct fit_partner fit_partner_find(const struct fit_partner_seen *seen, size_t count) {
    const struct fit_partner none = {.kind = FIT_PARTNER_TABLE};
    const uint32_t ranks = seen[0].p->history.ranks;
    uint32_t rank, peer;
    struct fit_partner f = {.kind = FIT_PARTNER_SAME, .value = peer_of(&seen[0], seen[0].role->rank[0])};
    if (fits(&f, seen, count)) {
        return f;
    }
    f.kind = FIT_PARTNER_LAST;
    if (fits(&f, seen, count)) {
        return f;
    }
    if (!find_pair(&seen[0], &rank, &peer)) {
        return none;
    }
    for (int way = 0; way < 3; way++) {
        f = (struct fit_partner){.kind = FIT_PARTNER_SUM, .wraps = way > 0};
        f.step[0] = way == 0 ? (int32_t)peer - (int32_t)rank : way_round(rank, peer, ranks, way > 1);
        if (fits(&f, seen, count)) {
            return f;
        }
    }
    for (uint32_t i = 0; i < 8; i++) {
        f = (struct fit_partner){
            .kind = FIT_PARTNER_GRID, .grid = {2 + i / 4, i % 4 / 2 > 0}, .wraps = i % 2 > 0};
        if (find_grid(&f, seen, count, rank, peer)) {
            return f;
        }
    }
    return none;
}

/* Returns whether the split of each rank agrees with the line. The item of a split has the leader as its peer
 * and the rank in the new communicator as its bytes. */
static bool is_on_line(const struct fit_grid_line *line, const struct fit_partner_seen *seen) {
    uint32_t side[3], at[3];
    fit_grid_sides(line->grid, seen->p->history.ranks, side);
    for (uint32_t m = 0; m < seen->role->ranks; m++) {
        const struct fit_item *item = fit_item_of(seen->p, seen->role->rank[m], seen->number, seen->item);
        model_grid_position(side, seen->role->rank[m], at);
        const uint32_t place = at[line->along];
        at[line->along] = 0;
        if (item->bytes != place || item->peer != model_grid_cell(side, at)) {
            return false;
        }
    }
    return true;
}

bool fit_line_find(const struct fit_partner_seen *seen, size_t count, struct fit_grid_line *line) {
    for (uint32_t dims = 1; dims <= 3; dims++) {
        for (uint32_t i = 0; i < 2 * dims; i++) {
            *line = (struct fit_grid_line){.grid = {dims, i % 2 > 0}, .along = i / 2};
            bool good = true;
            for (size_t k = 0; good && k < count; k++) {
                good = is_on_line(line, &seen[k]);
            }
            if (good) {
                return true;
            }
        }
    }
    return false;
}
