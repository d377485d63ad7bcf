/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log_calls.h"

#include <string.h>

#include "gen/model/draw/grid.h"
#include "libwriter/base/array.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/mem.h"

/* Of each of the two ranks. Later ones are not looked at. */
enum { MOST_CALLS = 1 << 17, MANY_RANKS = 64, NONE = UINT32_MAX };

/* ---- collecting ---- */

struct gen_fit_log_calls *gen_fit_log_calls_new(uint32_t ranks) {
    struct gen_fit_log_calls *calls = hpcw_i_calloc(1, sizeof *calls);
    if (calls != NULL) {
        calls->ranks = ranks;
        calls->tracks = ranks > 1 ? GEN_FIT_LOG_TRACKS : 1;
        /* Rank 0 has few neighbours, and prints. The other one is off the borders of most grids. */
        calls->track[0].rank = ranks < MANY_RANKS ? ranks / 2 : ranks / 2 + 5;
        calls->track[1].rank = 0;
        for (uint32_t i = 0; i < GEN_FIT_LOG_TRACKS; i++) {
            calls->track[i].both = NONE;
            calls->track[i].next =
                (struct gen_fit_log_call){.tag = GEN_FIT_LOG_NO_TAG, .to = NONE, .from = NONE};
        }
    }
    return calls;
}

void gen_fit_log_calls_free(struct gen_fit_log_calls *calls) {
    for (uint32_t i = 0; calls != NULL && i < GEN_FIT_LOG_TRACKS; i++) {
        hpcw_i_free(calls->track[i].call);
    }
    hpcw_i_free(calls);
}

static struct gen_fit_log_track *track_of(struct gen_fit_log_calls *calls, uint32_t rank) {
    for (uint32_t i = 0; i < calls->tracks; i++) {
        if (calls->track[i].rank == rank) {
            return &calls->track[i];
        }
    }
    return NULL;
}

void gen_fit_log_calls_message(struct gen_fit_log_calls *calls, const struct read_clog2_end *e) {
    struct gen_fit_log_track *t = track_of(calls, e->rank);
    if (t == NULL || e->peer == e->rank || e->peer >= calls->ranks) {
        return;
    }
    struct gen_fit_log_call *c = &t->next;
    c->tag = c->tag == GEN_FIT_LOG_NO_TAG || c->tag == e->tag ? e->tag : GEN_FIT_LOG_MANY_TAGS;
    if (e->send) {
        c->bytes = (float)e->bytes;
        c->to = e->peer;
    } else {
        c->from = e->peer;
    }
}

/* What programs call otherwise, and the statement that is nearest. */
static const char *statement_for(const char *name) {
    static const char *const others[][2] = {
        {"MPI_Ssend", "MPI_Send"},           {"MPI_Rsend", "MPI_Send"},
        {"MPI_Bsend", "MPI_Send"},           {"MPI_Issend", "MPI_Isend"},
        {"MPI_Irsend", "MPI_Isend"},         {"MPI_Ibsend", "MPI_Isend"},
        {"MPI_Waitsome", "MPI_Waitany"},     {"MPI_Sendrecv_replace", "MPI_Sendrecv"},
        {"MPI_Allgatherv", "MPI_Allgather"}, {"MPI_Gatherv", "MPI_Gather"},
        {"MPI_Alltoallv", "MPI_Alltoall"},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(name, others[i][0]) == 0) {
            return others[i][1];
        }
    }
    return name;
}

/* What a rank gives into a collective call, or otherwise gets, if the log says so. Large parts are data of the program. */
static float part_of(const struct read_clog2_stretch *s) {
    enum { LARGE = 1000 };
    const uint64_t gives = s->cargo != NULL ? hpcw_i_get_u64(s->cargo, true) : 0;
    const uint64_t bytes = gives > 0 || s->cargo == NULL ? gives : hpcw_i_get_u64(s->cargo + 8, true);
    return bytes < LARGE ? (float)bytes : 0;
}

bool gen_fit_log_calls_add(struct gen_fit_log_calls *calls, const struct read_clog2_stretch *s,
                           uint32_t iteration) {
    struct gen_fit_log_track *t = track_of(calls, s->rank);
    if (t == NULL || t->calls == MOST_CALLS) {
        return true;
    }
    struct gen_fit_log_call *c = &t->next;
    uint32_t usual;
    c->kind = model_trace_program_call(statement_for(s->name), &c->name, &usual);
    c->iteration = iteration;
    c->gap = (float)(s->from - t->ended);
    c->bytes = c->kind == MODEL_TRACE_CALL_COLLECTIVE ? part_of(s) : c->bytes;
    struct gen_fit_log_call *grown = hpcw_i_grow(t->call, &t->capacity, t->calls + 1, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    t->call = grown;
    if (c->kind == MODEL_TRACE_CALL_SENDS_AND_WAITS) {
        c->again = c->to == c->from && c->to != NONE && c->to == t->both;
        t->both = c->again ? NONE : c->to;
    }
    if (c->kind != MODEL_TRACE_CALL_UNKNOWN) {
        t->call[t->calls++] = *c;
        t->ended = s->to;
    }
    calls->unknown = calls->unknown || c->kind == MODEL_TRACE_CALL_UNKNOWN;
    *c = (struct gen_fit_log_call){.tag = GEN_FIT_LOG_NO_TAG, .to = NONE, .from = NONE};
    return true;
}

/* ---- statements ---- */

static bool is_named(const struct gen_fit_log_item *i, const char *name) {
    return strcmp(i->name, name) == 0;
}

/* Where a rank is from another one: bit of struct model_trace_exchange. 0: nowhere. */
static uint32_t direction_to(const struct gen_fit_log_calls *calls, const uint32_t side[3], uint32_t from,
                             uint32_t to) {
    uint32_t a[3];
    uint32_t b[3];
    if (from >= calls->ranks || to >= calls->ranks || from == to) {
        return 0;
    }
    model_grid_position(side, from, a);
    model_grid_position(side, to, b);
    uint32_t d = 0;
    while (d < 2 && a[d] == b[d]) {
        d++;
    }
    return (b[d] > a[d] ? 2u : 1u) << 2 * d;
}

/* A call of its own, or more of the exchange that is open. */
struct folding {
    const struct gen_fit_log_calls *calls;
    const uint32_t *side;
    uint32_t rank;
    bool posted, sent; /* in the open exchange */
    struct gen_fit_log_item *send;
    uint32_t first; /* to whom it is */
    struct gen_fit_log_items *to;
};

static struct gen_fit_log_item *add_item(struct folding *f, const struct gen_fit_log_call *c) {
    struct gen_fit_log_items *to = f->to;
    to->too_many = to->too_many || to->count == GEN_FIT_LOG_MOST_ITEMS;
    struct gen_fit_log_item *i = &to->item[to->too_many ? GEN_FIT_LOG_MOST_ITEMS - 1 : to->count++];
    *i = (struct gen_fit_log_item){
        .name = c->name, .kind = c->kind, .tag = c->tag, .gap = c->gap, .bytes = c->bytes};
    return i;
}

/* The neighbours of MPI_Sendrecv are on both sides; where there is one alone, the sides take turns. */
static void fold_both(struct folding *f, const struct gen_fit_log_call *c) {
    const uint32_t to = direction_to(f->calls, f->side, f->rank, c->to),
                   from = direction_to(f->calls, f->side, c->from, f->rank);
    const uint32_t direction = to != 0 ? to : from;
    const bool up = (direction & 0x2a) != 0;
    if (direction != 0) {
        struct gen_fit_log_item *i = add_item(f, c);
        i->directions = !c->again ? direction : up ? direction >> 1 : direction << 1;
        i->messages = c->to != NONE;
    }
}

static void fold(struct folding *f, const struct gen_fit_log_call *c) {
    struct gen_fit_log_item *last = f->to->count > 0 ? &f->to->item[f->to->count - 1] : NULL;
    switch (c->kind) {
    case MODEL_TRACE_CALL_POSTS:
        if (!f->posted) {
            (void)add_item(f, c);
        }
        f->posted = true;
        break;
    case MODEL_TRACE_CALL_SENDS:
        if (!f->sent) {
            f->send = add_item(f, c);
            f->send->bytes = 0;
            f->first = NONE;
        }
        f->sent = true;
        f->send->directions |= direction_to(f->calls, f->side, f->rank, c->to);
        f->send->bytes += c->bytes;
        f->send->messages += c->to != NONE;
        f->first = f->first == NONE ? c->to : f->first;
        f->send->again += f->first != NONE && c->to == f->first;
        f->send->tag = f->send->tag == c->tag || f->send->tag == GEN_FIT_LOG_NO_TAG ? c->tag
                       : c->tag == GEN_FIT_LOG_NO_TAG                               ? f->send->tag
                                                                                    : GEN_FIT_LOG_MANY_TAGS;
        break;
    case MODEL_TRACE_CALL_WAITS:
        /* A second MPI_Waitall is for the sends. */
        if (last == NULL || f->sent || f->posted || !is_named(last, c->name) ||
            (is_named(last, "MPI_Waitall") && (f->to->count < 2 || !is_named(last - 1, c->name)))) {
            (void)add_item(f, c);
        }
        f->posted = f->sent = false;
        break;
    case MODEL_TRACE_CALL_SENDS_AND_WAITS:
        fold_both(f, c);
        break;
    case MODEL_TRACE_CALL_UNKNOWN:
    case MODEL_TRACE_CALL_ALONE:
    case MODEL_TRACE_CALL_COLLECTIVE:
        (void)add_item(f, c);
        break;
    }
}

/* Leaves out what is no whole exchange. */
static void keep_exchanges(struct gen_fit_log_items *items, bool any) {
    size_t begin = 0; /* the first item of the open exchange */
    bool posted = false, sent = false, blocks = false, waited = false;
    for (size_t i = 0; i <= items->count; i++) {
        struct gen_fit_log_item *at = &items->item[i];
        const enum model_trace_call kind = i < items->count ? at->kind : MODEL_TRACE_CALL_UNKNOWN;
        const bool receives = kind == MODEL_TRACE_CALL_WAITS && is_named(at, "MPI_Recv");
        const bool open = posted || sent;
        bool good = any;
        if (kind == MODEL_TRACE_CALL_POSTS || kind == MODEL_TRACE_CALL_SENDS) {
            begin = open ? begin : i;
            posted = posted || kind == MODEL_TRACE_CALL_POSTS;
            sent = sent || kind == MODEL_TRACE_CALL_SENDS;
            blocks = kind == MODEL_TRACE_CALL_SENDS ? is_named(at, "MPI_Send") : blocks;
            waited = false;
            continue;
        }
        if (kind == MODEL_TRACE_CALL_WAITS) {
            good = good && (open ? sent && posted != receives && (blocks || !receives)
                                 : waited && is_named(at, "MPI_Waitall"));
            waited = open && good && !receives;
        } else if (kind == MODEL_TRACE_CALL_SENDS_AND_WAITS) {
            good = good && !open;
        } else if (i < items->count || !open) {
            continue;
        } else {
            good = false;
        }
        for (size_t k = open ? begin : i; !good && k <= i && k < items->count; k++) {
            const bool alone = items->item[k].kind == MODEL_TRACE_CALL_ALONE ||
                               items->item[k].kind == MODEL_TRACE_CALL_COLLECTIVE;
            items->item[k].kind = alone ? items->item[k].kind : MODEL_TRACE_CALL_UNKNOWN;
        }
        posted = sent = false;
    }
    size_t kept = 0;
    for (size_t i = 0; i < items->count; i++) {
        if (items->item[i].kind != MODEL_TRACE_CALL_UNKNOWN) {
            items->item[kept++] = items->item[i];
        } else if (i + 1 < items->count) {
            items->item[i + 1].gap += items->item[i].gap;
        }
    }
    items->count = kept;
}

/* Without a reduction at the end of an iteration, waits at its begin are for the messages of the one before. */
static void close_exchange(struct gen_fit_log_items *items) {
    size_t waits = 0;
    while (waits < items->count && items->item[waits].kind == MODEL_TRACE_CALL_WAITS) {
        waits++;
    }
    for (; waits > 0 && waits < items->count; waits--) {
        const struct gen_fit_log_item first = items->item[0];
        memmove(&items->item[0], &items->item[1], (items->count - 1) * sizeof first);
        items->item[items->count - 1] = first;
    }
}

void gen_fit_log_items_of(const struct gen_fit_log_calls *calls, uint32_t track, size_t from, size_t to,
                          const uint32_t side[3], bool loop, bool exchanges, struct gen_fit_log_items *items) {
    const struct gen_fit_log_track *t = &calls->track[track];
    struct folding f = {.calls = calls, .side = side, .rank = t->rank, .to = items};
    items->count = 0;
    items->too_many = false;
    for (size_t i = from; i < to; i++) {
        fold(&f, &t->call[i]);
    }
    for (size_t i = 0; i < items->count; i++) {
        struct gen_fit_log_item *one = &items->item[i];
        one->bytes /= one->messages > 1 ? one->messages : 1;
    }
    if (loop && items->count > 0 && items->item[items->count - 1].kind != MODEL_TRACE_CALL_COLLECTIVE) {
        close_exchange(items);
    }
    keep_exchanges(items, exchanges);
}

bool gen_fit_log_items_same(const struct gen_fit_log_item *a, const struct gen_fit_log_item *b) {
    return a->name == b->name &&
           (a->kind != MODEL_TRACE_CALL_SENDS_AND_WAITS || a->directions == b->directions);
}

uint64_t gen_fit_log_items_hash(const struct gen_fit_log_items *items) {
    uint64_t h = items->count + 1;
    for (size_t i = 0; i < items->count; i++) {
        const struct gen_fit_log_item *one = &items->item[i];
        for (const char *c = one->name; *c != '\0'; c++) {
            h = (h ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
        }
        h = (h ^ (one->kind == MODEL_TRACE_CALL_SENDS_AND_WAITS ? one->directions : 0)) *
            UINT64_C(0x100000001b3);
    }
    return h;
}
