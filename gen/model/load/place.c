/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement of objects on ranks in each phase. */
#include <assert.h>
#include <string.h>

#include "gen/model/load/load.h"
#include "libwriter/base/rng.h"

/* Returns the rank with which `rank` swaps objects before a phase, or `rank` itself if it has no partner. */
static uint32_t partner_of(const struct model_load *m, uint32_t rank, uint32_t phase) {
    const uint32_t d = m->phase[phase].swap_dimension;
    const uint32_t offset = m->phase[phase].swap_offset;
    const uint32_t stride = d == 0 ? m->grid[1] * m->grid[2] : d == 1 ? m->grid[2] : 1;
    const uint32_t at = rank / stride % m->grid[d];
    if ((at ^ offset) % 2 == 0) {
        return at + 1 < m->grid[d] ? rank + stride : rank;
    }
    return at > 0 ? rank - stride : rank;
}

/* Returns whether two ranks swap the objects in a slot before a phase. */
static bool swaps(const struct model_load *m, uint32_t rank, uint32_t partner, uint32_t phase, uint32_t slot) {
    uint32_t w[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_SWAP, rank < partner ? rank : partner, phase, slot / 4, w);
    return w[slot % 4] < m->swap_threshold;
}

uint32_t model_load_object(const struct model_load *m, uint32_t rank, uint32_t slot, uint32_t phase) {
    assert(m->placements == 0);
    for (uint32_t k = phase; k > 0 && m->swap_threshold != 0; k--) {
        uint32_t partner = partner_of(m, rank, k);
        rank = swaps(m, rank, partner, k, slot) ? partner : rank;
    }
    return rank * m->per_rank + slot;
}

/* ---- placements by a balancer ---- */

uint32_t model_load_iterations(const struct model_load *m) {
    return m->params.balancer.kind == MODEL_BALANCER_NONE       ? 0
           : m->params.balancer.kind == MODEL_BALANCER_TEMPERED ? m->params.balancer.iterations
                                                                : 1;
}

/* Phase 0 is a set-up, whose times do not predict later phases. So the balancer does not run before phase 1. */
static uint32_t placement_of(const struct model_load *m, uint32_t phase) {
    const uint32_t every = m->params.balancer.interval;
    return every > 1 ? phase / every : phase > 0 ? phase - 1 : 0;
}

bool model_load_balances(const struct model_load *m, uint32_t phase) {
    return m->placements > 0 && phase > 0 && placement_of(m, phase) != placement_of(m, phase - 1);
}

const struct model_load_placement *model_load_placement(const struct model_load *m, uint32_t phase) {
    return m->placements > 0 ? &m->placement[placement_of(m, phase)] : NULL;
}

const struct model_load_placement *model_load_trial(const struct model_load *m, uint32_t phase,
                                                    uint32_t iteration) {
    return m->trial == NULL ? NULL
                            : &m->trial[(size_t)placement_of(m, phase) * model_load_iterations(m) + iteration];
}

/* Copies the rank's list of objects from the placement to the cursor. */
static void fetch(const struct model_load *m, struct model_load_cursor *cursor) {
    const struct model_load_placement *p = model_load_placement(m, cursor->phase);
    const uint32_t first = p->first[cursor->rank];
    cursor->count = p->first[cursor->rank + 1] - first;
    memcpy(cursor->object, p->object + first, cursor->count * sizeof *cursor->object);
}

uint32_t model_load_find(const struct model_load *m, const struct model_load_cursor *cursor, uint32_t object) {
    uint32_t low = m->placements > 0 ? 0 : model_load_slot(m, object);
    uint32_t high = m->placements > 0 ? cursor->count : low;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (cursor->object[middle] < object) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < cursor->count && cursor->object[low] == object ? low : UINT32_MAX;
}

/* ---- placements without a balancer ---- */

void model_load_begin(const struct model_load *m, uint32_t rank, uint32_t *object,
                      struct model_load_cursor *cursor) {
    *cursor = (struct model_load_cursor){.rank = rank, .count = m->per_rank, .object = object};
    if (m->placements > 0) {
        fetch(m, cursor);
        return;
    }
    for (uint32_t slot = 0; slot < m->per_rank; slot++) {
        object[slot] = rank * m->per_rank + slot;
    }
}

void model_load_next(const struct model_load *m, struct model_load_cursor *cursor) {
    cursor->phase++;
    cursor->changed = model_load_balances(m, cursor->phase);
    if (cursor->changed) {
        fetch(m, cursor);
    }
    if (m->placements > 0) {
        return;
    }
    uint32_t partner = m->swap_threshold != 0 ? partner_of(m, cursor->rank, cursor->phase) : cursor->rank;
    uint32_t lower = partner < cursor->rank ? partner : cursor->rank;
    for (uint32_t first = 0; partner != cursor->rank && first < m->per_rank; first += 4) {
        uint32_t w[4];
        hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_SWAP, lower, cursor->phase, first / 4, w);
        for (uint32_t k = 0; k < 4 && first + k < m->per_rank; k++) {
            if (w[k] < m->swap_threshold) {
                cursor->object[first + k] = model_load_object(m, partner, first + k, cursor->phase - 1);
                cursor->changed = true;
            }
        }
    }
}

/* Swaps the objects in some slots of two ranks. The slots are drawn at random. */
static void swap_slots(const struct model_load *m, uint32_t *object, uint32_t phase, uint32_t lower,
                       uint32_t upper) {
    uint32_t *a = object + (size_t)lower * m->per_rank;
    uint32_t *b = object + (size_t)upper * m->per_rank;
    uint32_t w[4];
    for (uint32_t slot = 0; slot < m->per_rank; slot++) {
        if (slot % 4 == 0) {
            hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_SWAP, lower, phase, slot / 4, w);
        }
        if (w[slot % 4] < m->swap_threshold) {
            uint32_t moved = a[slot];
            a[slot] = b[slot];
            b[slot] = moved;
        }
    }
}

void model_load_move(const struct model_load *m, uint32_t *object, uint32_t phase) {
    for (uint32_t r = 0; m->swap_threshold != 0 && r < m->ranks; r++) {
        const uint32_t partner = partner_of(m, r, phase);
        if (partner > r) {
            swap_slots(m, object, phase, r, partner);
        }
    }
}

const uint32_t *model_load_on_rank(const struct model_load *m, const uint32_t *object, uint32_t phase,
                                   uint32_t rank, uint32_t *count) {
    const struct model_load_placement *p = model_load_placement(m, phase);
    *count = p != NULL ? p->first[rank + 1] - p->first[rank] : m->per_rank;
    return p != NULL ? p->object + p->first[rank] : object + (size_t)rank * m->per_rank;
}

void model_load_ranks(const struct model_load *m, const uint32_t *object, uint32_t phase, uint32_t *rank) {
    for (uint32_t r = 0; r < m->ranks; r++) {
        for (uint32_t slot = 0; slot < m->per_rank; slot++) {
            rank[object != NULL ? *object++ : r * m->per_rank + slot] = r;
        }
    }
    const struct model_load_placement *p = model_load_placement(m, phase);
    for (uint32_t r = 0; p != NULL && p->first != NULL && r < m->ranks; r++) {
        for (uint32_t i = p->first[r]; i < p->first[r + 1]; i++) {
            rank[p->object[i]] = r;
        }
    }
}
