/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/waits/path.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"

struct path_piece {
    uint64_t from_ns, to_ns;
    uint32_t rank;
};

struct path_rank {
    uint64_t since_ns; /* time of the last change of the rank's innermost state */
    /* Pieces of the critical path on this rank. piece: index of the next one. end: index + 1 of the last
     * one. */
    size_t piece, end;
};

struct path_run {
    struct waits_states *states;
    struct gen_waits *w;
    struct waits_path_wait *wait;
    size_t waits;
    uint32_t last_rank;
    struct path_rank *rank; /* [ranks] */
    struct path_piece *piece;
    size_t pieces, piece_capacity;
    struct hpcw_i_table shares; /* (rank, index of a name) -> uint64_t time on the critical path, ns */
};

static int by_rank_and_time(const void *a, const void *b) {
    const struct waits_path_wait *x = a;
    const struct waits_path_wait *y = b;
    return x->rank != y->rank     ? (x->rank < y->rank ? -1 : 1)
           : x->to_ns != y->to_ns ? (x->to_ns < y->to_ns ? -1 : 1)
           : x->cause < y->cause  ? -1
                                  : x->cause > y->cause;
}

static int by_rank_and_begin(const void *a, const void *b) {
    const struct path_piece *x = a;
    const struct path_piece *y = b;
    return x->rank != y->rank        ? (x->rank < y->rank ? -1 : 1)
           : x->from_ns < y->from_ns ? -1
                                     : x->from_ns > y->from_ns;
}

static bool add_piece(struct path_run *r, uint32_t rank, uint64_t from_ns, uint64_t to_ns) {
    if (from_ns >= to_ns) {
        return true;
    }
    struct path_piece *grown = hpcw_i_grow(r->piece, &r->piece_capacity, r->pieces + 1, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    r->piece = grown;
    r->piece[r->pieces++] = (struct path_piece){from_ns, to_ns, rank};
    r->w->rank[rank].path_ns += to_ns - from_ns;
    return true;
}

/* Returns the number of waits in [first, end) that have ended at `ns`. */
static size_t over_at(const struct path_run *r, size_t first, size_t end, uint64_t ns) {
    size_t low = first;
    while (low < end) {
        const size_t middle = low + (end - low) / 2;
        if (r->wait[middle].to_ns <= ns) {
            low = middle + 1;
        } else {
            end = middle;
        }
    }
    return low - first;
}

/* Follows the critical path backwards from the end of the log. Each wait is used at most once, so this ends
 * even if ranks wait for each other in a circle. */
static hpcw_status walk_back(struct path_run *r, hpcw_error *err) {
    struct gen_waits *w = r->w;
    size_t *first = hpcw_i_calloc(w->ranks + (size_t)1, sizeof *first);
    /* [ranks] index + 1, in r->wait, of the last wait of the rank that is not used yet */
    size_t *end = hpcw_i_calloc(w->ranks, sizeof *end);
    bool good = first != NULL && end != NULL;
    if (good && r->waits > 0) {
        qsort(r->wait, r->waits, sizeof *r->wait, by_rank_and_time);
    }
    for (size_t i = 0; good && i < r->waits; i++) {
        first[r->wait[i].rank + 1] = i + 1;
    }
    for (uint32_t k = 0; good && k < w->ranks; k++) {
        first[k + 1] = first[k + 1] > first[k] ? first[k + 1] : first[k];
        end[k] = first[k + 1];
    }
    uint32_t rank = r->last_rank;
    for (uint64_t ns = w->end_ns; good && ns > w->begin_ns;) {
        const size_t over = over_at(r, first[rank], end[rank], ns);
        if (over == 0) {
            good = add_piece(r, rank, w->begin_ns, ns);
            break;
        }
        end[rank] = first[rank] + over - 1;
        const struct waits_path_wait *wait = &r->wait[end[rank]];
        good = add_piece(r, rank, wait->to_ns, ns);
        ns = wait->to_ns;
        rank = wait->cause;
    }
    hpcw_i_free(first);
    hpcw_i_free(end);
    return good ? HPCW_OK : waits_no_memory(r->states, err);
}

/* Adds the part of the critical path from since_ns to `ns` on a rank to the rank's innermost state. */
static hpcw_status add_shares(struct path_run *r, uint32_t rank, uint64_t ns, hpcw_error *err) {
    struct path_rank *s = &r->rank[rank];
    const uint64_t name = waits_states_innermost(r->states, rank);
    uint64_t time_ns = 0;
    for (; s->piece < s->end && r->piece[s->piece].from_ns < ns; s->piece++) {
        const struct path_piece *p = &r->piece[s->piece];
        const uint64_t from_ns = p->from_ns > s->since_ns ? p->from_ns : s->since_ns;
        const uint64_t to_ns = p->to_ns < ns ? p->to_ns : ns;
        time_ns += to_ns > from_ns ? to_ns - from_ns : 0;
        if (p->to_ns > ns) {
            break;
        }
    }
    s->since_ns = ns;
    if (time_ns == 0) {
        return HPCW_OK;
    }
    uint64_t *share = hpcw_i_table_add(&r->shares, (const uint64_t[]){rank, name}, NULL);
    if (share == NULL) {
        return waits_no_memory(r->states, err);
    }
    *share += time_ns;
    return HPCW_OK;
}

static hpcw_status take_path_entry(void *context, const struct gen_log_entry *e, hpcw_error *err) {
    struct path_run *r = context;
    if ((e->letter != 'B' && e->letter != 'E') || e->thread != 0) {
        return HPCW_OK;
    }
    hpcw_status s = add_shares(r, (uint32_t)e->rank, e->ns, err);
    struct waits_state ended;
    if (s == HPCW_OK && e->letter == 'B' && waits_states_push(r->states, e) == NULL) {
        s = waits_no_memory(r->states, err);
    } else if (s == HPCW_OK && e->letter == 'E') {
        (void)waits_states_pop(r->states, e, &ended);
    }
    return s;
}

static int by_share(const void *a, const void *b) {
    const struct gen_waits_share *x = a;
    const struct gen_waits_share *y = b;
    return x->time_ns != y->time_ns ? (x->time_ns > y->time_ns ? -1 : 1)
           : x->rank != y->rank     ? (x->rank < y->rank ? -1 : 1)
           : x->state < y->state    ? -1
                                    : x->state > y->state;
}

static hpcw_status give_shares(struct path_run *r, hpcw_error *err) {
    uint64_t key[HPCW_I_TABLE_KEY];
    const uint64_t *time_ns;
    r->w->share = hpcw_i_malloc((r->shares.count + 1) * sizeof *r->w->share);
    if (r->w->share == NULL) {
        return waits_no_memory(r->states, err);
    }
    for (size_t at = 0; (time_ns = hpcw_i_table_next(&r->shares, &at, key)) != NULL;) {
        r->w->share[r->w->shares++] = (struct gen_waits_share){(uint32_t)key[0], (uint32_t)key[1], *time_ns};
    }
    qsort(r->w->share, r->w->shares, sizeof *r->w->share, by_share);
    return HPCW_OK;
}

static hpcw_status share_path(struct path_run *r, struct gen_log *log, hpcw_error *err) {
    const struct gen_export what = {.from_s = 0, .to_s = INFINITY, .last_rank = r->w->ranks - 1};
    r->rank = hpcw_i_calloc(r->w->ranks, sizeof *r->rank);
    if (r->rank == NULL) {
        return waits_no_memory(r->states, err);
    }
    if (r->pieces > 0) {
        qsort(r->piece, r->pieces, sizeof *r->piece, by_rank_and_begin);
    }
    for (size_t i = 0; i < r->pieces; i++) {
        struct path_rank *k = &r->rank[r->piece[i].rank];
        k->piece = k->end == 0 ? i : k->piece;
        k->end = i + 1;
    }
    waits_states_clear(r->states);
    hpcw_status s = gen_log_run(log, &what, false, take_path_entry, r, err);
    for (uint32_t k = 0; s == HPCW_OK && k < r->w->ranks; k++) {
        s = add_shares(r, k, r->w->end_ns, err);
    }
    return s == HPCW_OK ? give_shares(r, err) : s;
}

hpcw_status waits_path_find(struct waits_states *states, struct gen_log *log, struct waits_path_wait *wait,
                            size_t waits, uint32_t last_rank, hpcw_error *err) {
    struct path_run r = {
        .states = states,
        .w = states->w,
        .wait = wait,
        .waits = waits,
        .last_rank = last_rank,
        .shares = {.key_words = 2, .value_size = sizeof(uint64_t), .seed = states->names.seed},
    };
    hpcw_status s = walk_back(&r, err);
    s = s == HPCW_OK ? share_path(&r, log, err) : s;
    hpcw_i_table_free(&r.shares);
    hpcw_i_free(r.rank);
    hpcw_i_free(r.piece);
    return s;
}
