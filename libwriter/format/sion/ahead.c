/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/sion/ahead.h"

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/sion/buffer.h"
#include "libwriter/io/sink.h"

enum {
    WINDOW = 1 << 20,      /* bytes to ask for at once: of this size on the time does not fall any further */
    LARGE_PIECE = 1 << 16, /* gains nothing */
    /* Chunks of more pieces gain nothing either: a range for one of them spares little, and to give back what it does not
     * use takes as long as some pieces. */
    FEW_PIECES = 4,
    SHARE_OF_SPACE = 16, /* of what is free all processes together hold at most one part in so many */
};

void hpcw_i_sion_ahead_init(struct hpcw_sion *h) {
    (void)pthread_mutex_init(&h->ahead.lock, NULL);
}

hpcw_status hpcw_i_sion_ahead_start(struct hpcw_sion *h, hpcw_error *err) {
    if (h->slot_size >= LARGE_PIECE || h->pooled) { /* with slots on loan nothing was gained */
        return HPCW_OK;
    }
    h->ahead.of = hpcw_i_calloc(h->options.count, sizeof *h->ahead.of);
    if (h->ahead.of == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for buffers", h->path);
    }
    atomic_store(&h->ahead.on, true);
    return HPCW_OK;
}

void hpcw_i_sion_ahead_free(struct hpcw_sion *h) {
    hpcw_i_free(h->ahead.of);
    (void)pthread_mutex_destroy(&h->ahead.lock);
}

static uint64_t chunk_begin(const struct hpcw_sion *h, uint32_t i, uint64_t block) {
    return h->task[i].start + block * hpcw_i_sion_part_of(h, i)->stride;
}

static uint64_t chunk_end(const struct hpcw_sion *h, uint32_t i, uint64_t block) {
    return chunk_begin(h, i, block) + h->task[i].chunk;
}

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static bool has_few_pieces(const struct hpcw_sion *h, uint32_t i) {
    return h->task[i].chunk <= FEW_PIECES * h->slot_size;
}

static uint64_t upto_of(const struct hpcw_sion *h, uint32_t i) {
    return atomic_load_explicit(&h->ahead.of[i].upto, memory_order_relaxed);
}

/* Under the lock. Never for a task without room in its chunk: `upto` always lies behind the start of one. */
static void raise_upto(struct hpcw_sion *h, uint32_t i, uint64_t upto) {
    if (h->task[i].chunk > 0 && upto_of(h, i) < upto) {
        atomic_store_explicit(&h->ahead.of[i].upto, upto, memory_order_relaxed);
    }
}

/* Under the lock. Whether there is space for the most that this can hold: each task's current chunk and its next one. */
static bool can_afford(struct hpcw_sion *h, const hpcw_sink *sink) {
    struct hpcw_i_sion_ahead *a = &h->ahead;
    if (a->most == 0) {
        for (uint32_t i = 0; i < h->options.count; i++) {
            a->most += has_few_pieces(h, i) ? 2 * h->task[i].chunk : 0;
        }
    }
    return a->most <= hpcw_i_sink_spare(sink) / SHARE_OF_SPACE / (uint64_t)h->comm->size;
}

/* Under the lock. Whether the chunk of task i in a block may be taken for it, at the request of another. A task that
 * is more than one block behind may never come to it. */
static bool is_wanted(const struct hpcw_sion *h, uint32_t i, uint64_t block) {
    return has_few_pieces(h, i) && (uint64_t)h->ahead.of[i].block + 1 >= block &&
           upto_of(h, i) < chunk_end(h, i, block);
}

/* Under the lock. Takes the rest of the chunk of task i from offset `at` on, and whole chunks of tasks behind it. */
static void take_window(struct hpcw_sion *h, uint32_t i, uint64_t at) {
    struct hpcw_i_sion_ahead *a = &h->ahead;
    const struct hpcw_i_sion_part *part = hpcw_i_sion_part_of(h, i);
    uint64_t block = h->task[i].block;
    uint64_t end = chunk_end(h, i, block);
    uint32_t behind = i + 1;
    while (end - at < WINDOW && behind < part->end && chunk_begin(h, behind, block) == end &&
           is_wanted(h, behind, block)) {
        end = chunk_end(h, behind++, block);
    }
    end = smaller(end, at + WINDOW);
    if (!can_afford(h, part->sink)) {
        atomic_store_explicit(&a->on, false, memory_order_release);
        return;
    }
    /* Some may be taken although the whole is refused; it is given back with the rest. */
    atomic_store_explicit(&a->taken, true, memory_order_relaxed);
    if (!hpcw_i_sink_allocate(part->sink, at, end - at)) {
        atomic_store_explicit(&a->on, false, memory_order_release);
    }
    for (uint32_t j = i; j < behind; j++) {
        raise_upto(h, j, smaller(end, chunk_end(h, j, block)));
    }
}

void hpcw_i_sion_ahead_of_piece(struct hpcw_sion *h, uint32_t i) {
    struct hpcw_i_sion_ahead *a = &h->ahead;
    if (!atomic_load_explicit(&a->on, memory_order_relaxed) || !has_few_pieces(h, i)) {
        return;
    }
    uint64_t at = hpcw_i_sion_position(h, i, h->task[i].used);
    uint64_t end = at + hpcw_i_sion_buffered(h, i);
    if (upto_of(h, i) < end) {
        (void)pthread_mutex_lock(&a->lock);
        /* Another thread's window may have come this far in the meantime. */
        if (upto_of(h, i) < end) {
            take_window(h, i, at);
        }
        (void)pthread_mutex_unlock(&a->lock);
    }
}

void hpcw_i_sion_ahead_of_block(struct hpcw_sion *h, uint32_t i) {
    struct hpcw_i_sion_ahead *a = &h->ahead;
    if (!atomic_load_explicit(&a->on, memory_order_acquire) &&
        !atomic_load_explicit(&a->taken, memory_order_relaxed)) {
        return;
    }
    const struct hpcw_i_sion_task *t = &h->task[i];
    uint64_t end = chunk_end(h, i, t->block);
    uint64_t unused = hpcw_i_sion_position(h, i, t->used);
    (void)pthread_mutex_lock(&a->lock);
    uint64_t upto = smaller(upto_of(h, i), end);
    raise_upto(h, i, end);
    a->of[i].block = t->block + 1;
    (void)pthread_mutex_unlock(&a->lock);
    if (unused < upto) {
        hpcw_i_sink_give_back(hpcw_i_sion_part_of(h, i)->sink, unused, upto - unused);
    }
}

/* Unused ranges that follow each other are given back in one, as a block of the file system may lie in two of them. */
struct unused {
    hpcw_sink *sink;
    uint64_t begin;
    uint64_t end;
};

static void give_back(struct unused *u) {
    if (u->begin < u->end) {
        hpcw_i_sink_give_back(u->sink, u->begin, u->end - u->begin);
    }
    u->begin = u->end;
}

static void add_unused(struct unused *u, hpcw_sink *sink, uint64_t begin, uint64_t end) {
    if (begin >= end) {
        return;
    }
    if (sink != u->sink || begin != u->end) {
        give_back(u);
        u->begin = begin;
    }
    u->sink = sink;
    u->end = end;
}

void hpcw_i_sion_ahead_end(struct hpcw_sion *h) {
    if (!atomic_load_explicit(&h->ahead.taken, memory_order_relaxed)) {
        return;
    }
    struct unused u = {0};
    /* Of each task the rest of its block, and what was taken of the next one: first those in even blocks, so that tasks
     * side by side are seen together, though one has gone on and the other has not. */
    for (uint32_t odd = 0; odd <= 1; odd++) {
        for (uint32_t i = 0; i < h->options.count; i++) {
            const struct hpcw_i_sion_task *t = &h->task[i];
            uint64_t next = (t->block + odd) % 2;
            uint64_t block = t->block + next;
            uint64_t begin = chunk_begin(h, i, block) + (next == 0 ? t->used : 0);
            add_unused(&u, hpcw_i_sion_part_of(h, i)->sink, begin,
                       smaller(upto_of(h, i), chunk_end(h, i, block)));
        }
    }
    give_back(&u);
}
