/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/sion/ahead.h"

#include "base/mem.h"
#include "base/status.h"
#include "format/sion/buffer.h"
#include "io/sink.h"

enum {
    WINDOW = 1 << 20,      /* bytes to ask for at once: of this size on the time does not fall any further */
    LARGE_PIECE = 1 << 16, /* gains nothing */
    AT_FIRST = 8,          /* pieces */
    SHARE_OF_SPACE = 16,   /* of what is free all processes together hold at most one part in so many */
};

void hpcw_i_sion_ahead_init(struct hpcw_sion *h) {
    (void)pthread_mutex_init(&h->ahead.lock, NULL);
}

hpcw_status hpcw_i_sion_ahead_start(struct hpcw_sion *h, hpcw_error *err) {
    if (h->slot_size >= LARGE_PIECE) {
        return HPCW_OK;
    }
    h->ahead.upto = hpcw_i_calloc(h->options.count, sizeof *h->ahead.upto);
    if (h->ahead.upto == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for buffers", h->path);
    }
    atomic_store(&h->ahead.on, true);
    return HPCW_OK;
}

void hpcw_i_sion_ahead_free(struct hpcw_sion *h) {
    hpcw_i_free(h->ahead.upto);
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

static uint64_t upto_of(const struct hpcw_sion *h, uint32_t i) {
    return atomic_load_explicit(&h->ahead.upto[i], memory_order_relaxed);
}

/* Under the lock. Never for a task without room in its chunk: `upto` always lies behind the start of one. */
static void raise_upto(struct hpcw_sion *h, uint32_t i, uint64_t upto) {
    if (h->task[i].chunk > 0 && upto_of(h, i) < upto) {
        atomic_store_explicit(&h->ahead.upto[i], upto, memory_order_relaxed);
    }
}

/* Under the lock. Takes the rest of the chunk of task i from offset `at` on, and whole chunks of tasks behind it; but of
 * a chunk of many pieces, which may stay unused, no more than it has used, or AT_FIRST pieces. Whether it did. */
static bool take_window(struct hpcw_sion *h, uint32_t i, uint64_t at) {
    struct hpcw_i_sion_ahead *a = &h->ahead;
    const struct hpcw_i_sion_part *part = hpcw_i_sion_part_of(h, i);
    const struct hpcw_i_sion_task *t = &h->task[i];
    uint64_t few = AT_FIRST * h->slot_size;
    uint64_t end = smaller(chunk_end(h, i, t->block), at + (t->used > few ? t->used : few));
    uint32_t behind = i + 1;
    while (end - at < WINDOW && behind < part->end && chunk_begin(h, behind, t->block) == end &&
           h->task[behind].chunk <= few && upto_of(h, behind) < end + h->task[behind].chunk) {
        end += h->task[behind++].chunk;
    }
    end = smaller(end, at + WINDOW);
    long long held = atomic_load_explicit(&a->bytes, memory_order_relaxed);
    uint64_t most = hpcw_i_sink_spare(part->sink) / SHARE_OF_SPACE / (uint64_t)h->comm->size;
    if ((held < 0 ? 0 : (uint64_t)held) + (end - at) > most ||
        !hpcw_i_sink_allocate(part->sink, at, end - at)) {
        return false;
    }
    atomic_store_explicit(&a->taken, true, memory_order_relaxed);
    atomic_fetch_add_explicit(&a->bytes, (long long)(end - at), memory_order_relaxed);
    for (uint32_t j = i; j < behind; j++) {
        raise_upto(h, j, smaller(end, chunk_end(h, j, t->block)));
    }
    return true;
}

void hpcw_i_sion_ahead_of_piece(struct hpcw_sion *h, uint32_t i) {
    struct hpcw_i_sion_ahead *a = &h->ahead;
    if (!atomic_load_explicit(&a->on, memory_order_relaxed)) {
        return;
    }
    uint64_t at = hpcw_i_sion_position(h, i, h->task[i].used);
    uint64_t size = hpcw_i_sion_buffered(h, i);
    if (upto_of(h, i) < at + size) {
        (void)pthread_mutex_lock(&a->lock);
        /* Another thread's window may have come this far in the meantime. */
        if (upto_of(h, i) < at + size && !take_window(h, i, at)) {
            atomic_store_explicit(&a->on, false, memory_order_relaxed);
        }
        (void)pthread_mutex_unlock(&a->lock);
    }
    atomic_fetch_sub_explicit(&a->bytes, (long long)size, memory_order_relaxed);
}

void hpcw_i_sion_ahead_of_block(struct hpcw_sion *h, uint32_t i) {
    struct hpcw_i_sion_ahead *a = &h->ahead;
    if (!atomic_load_explicit(&a->on, memory_order_relaxed) &&
        !atomic_load_explicit(&a->taken, memory_order_relaxed)) {
        return;
    }
    const struct hpcw_i_sion_task *t = &h->task[i];
    uint64_t unused = hpcw_i_sion_position(h, i, t->used);
    (void)pthread_mutex_lock(&a->lock);
    uint64_t upto = smaller(upto_of(h, i), chunk_end(h, i, t->block));
    raise_upto(h, i, chunk_end(h, i, t->block));
    (void)pthread_mutex_unlock(&a->lock);
    if (unused < upto) {
        hpcw_i_sink_give_back(hpcw_i_sion_part_of(h, i)->sink, unused, upto - unused);
    }
}

void hpcw_i_sion_ahead_end(struct hpcw_sion *h) {
    if (!atomic_load_explicit(&h->ahead.taken, memory_order_relaxed)) {
        return;
    }
    /* Neighbours in one, as blocks of the file system may lie in chunks of two of them. */
    hpcw_sink *sink = NULL;
    uint64_t begin = 0;
    uint64_t end = 0;
    for (uint32_t i = 0; i < h->options.count; i++) {
        uint64_t upto = upto_of(h, i);
        if (upto == 0) {
            continue;
        }
        const struct hpcw_i_sion_task *t = &h->task[i];
        const struct hpcw_i_sion_part *part = hpcw_i_sion_part_of(h, i);
        uint64_t block = (upto - 1 - t->start) / part->stride;
        uint64_t unused = chunk_begin(h, i, block) + (block == t->block ? t->used : 0);
        if (block < t->block || unused >= upto) {
            continue;
        }
        if (part->sink != sink || unused != end) {
            if (begin < end) {
                hpcw_i_sink_give_back(sink, begin, end - begin);
            }
            begin = unused;
        }
        sink = part->sink;
        end = upto;
    }
    if (begin < end) {
        hpcw_i_sink_give_back(sink, begin, end - begin);
    }
}
