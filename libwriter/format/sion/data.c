/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data path: records into chunks, small writes into buffers.
 *
 * Each task has a buffer slot of its own as long as the budget gives every task at least SMALLEST_SLOT bytes:
 * then writes to different tasks share nothing and take no lock. With more tasks than that, slots are lent to
 * the tasks that write, the one lent longest ago is written out first, and one lock covers all of it.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/mem.h"
#include "base/status.h"
#include "format/sion/handle.h"
#include "io/sink.h"

enum {
    SMALLEST_SLOT = 512,
    LARGEST_SLOT = 1 << 18, /* larger ones fall out of the second-level cache before they are written out */
    POOLED_SLOT = 4096,
    KEY_HEADER = 16,
};

hpcw_status hpcw_i_sion_buffers_new(struct hpcw_sion *h, hpcw_error *err) {
    uint64_t budget = h->options.buffer_size;
    uint32_t count = h->options.count;
    if (count == 0 || budget < SMALLEST_SLOT) {
        return HPCW_OK;
    }
    uint64_t slot = SMALLEST_SLOT;
    while (slot * 2 <= budget / count && slot < LARGEST_SLOT) {
        slot *= 2;
    }
    h->slot_count = count;
    if (budget / count < SMALLEST_SLOT) {
        h->pooled = true;
        slot = budget < POOLED_SLOT ? SMALLEST_SLOT : POOLED_SLOT;
        h->slot_count = budget / slot > count ? count : (uint32_t)(budget / slot);
        h->slot_owner = hpcw_i_calloc(h->slot_count, sizeof *h->slot_owner);
        h->slot_of = hpcw_i_calloc(count, sizeof *h->slot_of);
        if (h->slot_owner == NULL || h->slot_of == NULL) {
            return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for %u buffers", h->path, h->slot_count);
        }
    }
    /* Address space, not memory: pages come with the first write to a slot. */
    h->slots = hpcw_i_malloc((size_t)(slot * h->slot_count));
    if (h->slots == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for %u buffers of %llu bytes", h->path,
                           h->slot_count, (unsigned long long)slot);
    }
    h->slot_size = (size_t)slot;
    return HPCW_OK;
}

void hpcw_i_sion_buffers_free(struct hpcw_sion *h) {
    hpcw_i_free(h->slots);
    hpcw_i_free(h->slot_owner);
    hpcw_i_free(h->slot_of);
}

uint32_t hpcw_i_sion_index(const struct hpcw_sion *h, uint32_t rank) {
    uint32_t count = h->options.count;
    if (h->ranks == NULL) {
        uint32_t i = rank - h->place.first; /* wraps to something large below the first */
        return i < count ? i : UINT32_MAX;
    }
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (h->ranks[middle] < rank) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && h->ranks[low] == rank ? low : UINT32_MAX;
}

/* Remembers the first failure that the file cannot recover from. */
static hpcw_status break_handle(struct hpcw_sion *h, hpcw_status s, const hpcw_error *e, hpcw_error *err) {
    (void)pthread_mutex_lock(&h->failure_lock);
    if (!atomic_load_explicit(&h->broken, memory_order_relaxed)) {
        h->failure = *e;
        atomic_store_explicit(&h->broken, true, memory_order_release);
    }
    (void)pthread_mutex_unlock(&h->failure_lock);
    if (err != NULL) {
        *err = *e;
    }
    return s;
}

void hpcw_sion_abandon(hpcw_sion *h, const hpcw_error *reason) {
    if (h != NULL && reason != NULL && reason->code != HPCW_OK) {
        (void)break_handle(h, reason->code, reason, NULL);
    }
}

/* Where byte `k` of the current chunk of task i is in its file. */
static uint64_t position(const struct hpcw_sion *h, uint32_t i, uint64_t k) {
    const struct hpcw_i_sion_task *t = &h->task[i];
    return t->start + t->block * hpcw_i_sion_part_of(h, i)->stride + k;
}

static unsigned char *slot_of(const struct hpcw_sion *h, uint32_t i) {
    size_t slot = h->pooled ? h->slot_of[i] - 1 : i;
    return h->slots + slot * h->slot_size;
}

/* Writes the buffer of task i and `size` bytes behind it, which are not counted as used yet. */
static hpcw_status write_out(struct hpcw_sion *h, uint32_t i, const void *data, size_t size, hpcw_error *err) {
    struct hpcw_i_sion_task *t = &h->task[i];
    hpcw_sink *sink = hpcw_i_sion_part_of(h, i)->sink;
    uint64_t at = position(h, i, t->used - t->buffered);
    hpcw_error e;
    hpcw_status s;
    if (t->buffered == 0) {
        s = hpcw_i_sink_write2(sink, at, data, size, NULL, 0, &e);
    } else {
        s = hpcw_i_sink_write2(sink, at, slot_of(h, i), t->buffered, data, size, &e);
    }
    if (s != HPCW_OK) {
        return break_handle(h, s, &e, err);
    }
    t->buffered = 0;
    return HPCW_OK;
}

/* Pooled: makes sure that task i has a slot. */
static hpcw_status borrow_slot(struct hpcw_sion *h, uint32_t i, hpcw_error *err) {
    if (h->slot_of[i] != 0) {
        return HPCW_OK;
    }
    uint32_t slot = h->next_slot;
    uint32_t owner = h->slot_owner[slot];
    if (owner != 0) {
        if (h->task[owner - 1].buffered > 0) {
            hpcw_status s = write_out(h, owner - 1, NULL, 0, err);
            if (s != HPCW_OK) {
                return s;
            }
        }
        h->slot_of[owner - 1] = 0;
    }
    h->slot_owner[slot] = i + 1;
    h->slot_of[i] = slot + 1;
    h->next_slot = slot + 1 == h->slot_count ? 0 : slot + 1;
    return HPCW_OK;
}

/* Appends bytes that fit into the current chunk. */
static hpcw_status append(struct hpcw_sion *h, uint32_t i, const void *data, size_t size, hpcw_error *err) {
    struct hpcw_i_sion_task *t = &h->task[i];
    if (size == 0) {
        return HPCW_OK;
    }
    size_t room = h->slot_size - t->buffered;
    if (size >= h->slot_size || h->slot_size == 0) {
        hpcw_status s = write_out(h, i, data, size, err);
        if (s == HPCW_OK) {
            t->used += size;
        }
        return s;
    }
    if (h->pooled) {
        hpcw_status s = borrow_slot(h, i, err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    unsigned char *slot = slot_of(h, i);
    if (size > room) {
        /* A slot is written out full, so that writes start and end where pages do. */
        memcpy(slot + t->buffered, data, room);
        t->buffered += (uint32_t)room;
        t->used += room;
        hpcw_status s = write_out(h, i, NULL, 0, err);
        if (s != HPCW_OK) {
            return s;
        }
        data = (const unsigned char *)data + room;
        size -= room;
    }
    memcpy(slot + t->buffered, data, size);
    t->buffered += (uint32_t)size;
    t->used += size;
    return HPCW_OK;
}

static hpcw_status next_block(struct hpcw_sion *h, uint32_t i, hpcw_error *err) {
    struct hpcw_i_sion_task *t = &h->task[i];
    uint64_t stride = hpcw_i_sion_part_of(h, i)->stride;
    uint64_t at;
    if (t->block == INT32_MAX - 1 || !hpcw_i_mul_u64((uint64_t)t->block + 2, stride, &at) ||
        !hpcw_i_add_u64(at, t->start, &at) || at > INT64_MAX) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "%s: task %u cannot have a block behind its %u blocks of %llu bytes", h->path,
                           hpcw_i_sion_rank(h, i), t->block + 1, (unsigned long long)t->chunk);
    }
    if (t->buffered > 0) {
        hpcw_status s = write_out(h, i, NULL, 0, err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    if ((t->block & (t->block - 1)) == 0) { /* the list has room for the next power of two */
        size_t capacity = t->block == 0 ? 1 : 2 * (size_t)t->block;
        uint64_t *earlier = hpcw_i_realloc(t->earlier, capacity * sizeof *earlier);
        if (earlier == NULL) {
            return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for block %u of task %u", h->path,
                               t->block + 1, hpcw_i_sion_rank(h, i));
        }
        t->earlier = earlier;
    }
    t->earlier[t->block] = t->used;
    t->block++;
    t->used = 0;
    return HPCW_OK;
}

/* One record: whole in one chunk. */
static hpcw_status append_record(struct hpcw_sion *h, uint32_t i, const void *data, size_t size,
                                 hpcw_error *err) {
    struct hpcw_i_sion_task *t = &h->task[i];
    if (size > t->chunk) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "%s: wanted records of at most %llu bytes (the chunk of task %u), got %zu", h->path,
                           (unsigned long long)t->chunk, hpcw_i_sion_rank(h, i), size);
    }
    if (size > t->chunk - t->used) {
        hpcw_status s = next_block(h, i, err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    return append(h, i, data, size, err);
}

/* Bytes: chunk after chunk. A block is opened only when there is a byte for it. */
static hpcw_status append_bytes(struct hpcw_sion *h, uint32_t i, const void *data, size_t size,
                                hpcw_error *err) {
    struct hpcw_i_sion_task *t = &h->task[i];
    if (size > 0 && t->chunk == 0) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "%s: wanted no data for task %u, whose chunk has no bytes, got %zu", h->path,
                           hpcw_i_sion_rank(h, i), size);
    }
    while (size > 0) {
        if (t->used == t->chunk) {
            hpcw_error e;
            hpcw_status s = next_block(h, i, &e);
            if (s != HPCW_OK) {
                return break_handle(h, s, &e, err); /* a part of these bytes may be stored already */
            }
        }
        uint64_t room = t->chunk - t->used;
        size_t n = size < room ? size : (size_t)room;
        hpcw_status s = append(h, i, data, n, err);
        if (s != HPCW_OK) {
            return s;
        }
        data = (const unsigned char *)data + n;
        size -= n;
    }
    return HPCW_OK;
}

/* Common entry: checks the handle and finds the task. */
static hpcw_status enter(struct hpcw_sion *h, uint32_t rank, const void *data, size_t size, uint32_t *index,
                         hpcw_error *err) {
    if (h == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "sion: wanted an open container, got NULL");
    }
    if (atomic_load_explicit(&h->broken, memory_order_relaxed) || h->closed) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: the container %s", h->path,
                           h->closed ? "is closed" : "is broken by an earlier failure");
    }
    *index = hpcw_i_sion_index(h, rank);
    if (*index == UINT32_MAX) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: wanted a task of this process, got %u", h->path, rank);
    }
    if (data == NULL && size > 0) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: wanted %zu bytes for task %u, got NULL", h->path, size, rank);
    }
    return HPCW_OK;
}

hpcw_status hpcw_sion_write(hpcw_sion *h, uint32_t rank, const void *data, size_t size, hpcw_error *err) {
    uint32_t i = UINT32_MAX;
    hpcw_status s = enter(h, rank, data, size, &i, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (h->options.content == HPCW_SION_KEYVAL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: wanted hpcw_sion_write_key, this is a key-value container",
                           h->path);
    }
    if (h->pooled) {
        (void)pthread_mutex_lock(&h->pool_lock);
    }
    s = h->options.content == HPCW_SION_STREAM ? append_bytes(h, i, data, size, err)
                                               : append_record(h, i, data, size, err);
    if (h->pooled) {
        (void)pthread_mutex_unlock(&h->pool_lock);
    }
    return s;
}

hpcw_status hpcw_sion_write_key(hpcw_sion *h, uint32_t rank, uint64_t key, const void *value, size_t size,
                                hpcw_error *err) {
    uint32_t i = UINT32_MAX;
    hpcw_status s = enter(h, rank, value, size, &i, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (h->options.content != HPCW_SION_KEYVAL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: wanted hpcw_sion_write, this is no key-value container",
                           h->path);
    }
    unsigned char header[KEY_HEADER];
    bool big = h->options.endian == HPCW_SION_BIG;
    hpcw_i_put_u64(header, key, big);
    hpcw_i_put_u64(header + 8, size, big);
    if (h->pooled) {
        (void)pthread_mutex_lock(&h->pool_lock);
    }
    s = append_bytes(h, i, header, sizeof header, err);
    if (s == HPCW_OK) {
        s = append_bytes(h, i, value, size, err);
    }
    if (s == HPCW_OK) {
        h->tail_dropped[i] = size == 0 && h->task[i].used == h->task[i].chunk;
    }
    if (h->pooled) {
        (void)pthread_mutex_unlock(&h->pool_lock);
    }
    return s;
}

hpcw_status hpcw_sion_reserve(hpcw_sion *h, uint32_t rank, size_t size, uint64_t *offset, hpcw_error *err) {
    uint32_t i = UINT32_MAX;
    hpcw_status s = enter(h, rank, NULL, 0, &i, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct hpcw_i_sion_task *t = &h->task[i];
    if (offset == NULL || h->options.content == HPCW_SION_KEYVAL || size > t->chunk) {
        return hpcw_i_fail(
            err, size > t->chunk ? HPCW_ERANGE : HPCW_EINVAL,
            "%s: cannot reserve %zu bytes for task %u: wanted a place for the offset, no key-value "
            "container, and at most %llu bytes",
            h->path, size, rank, (unsigned long long)t->chunk);
    }
    if (h->pooled) {
        (void)pthread_mutex_lock(&h->pool_lock);
    }
    if (size > t->chunk - t->used) {
        s = next_block(h, i, err);
    }
    if (s == HPCW_OK && t->buffered > 0) {
        s = write_out(h, i, NULL, 0, err); /* what waits lies in front of the gap */
    }
    if (s == HPCW_OK) {
        *offset = t->block * t->chunk + t->used;
        t->used += size;
    }
    if (h->pooled) {
        (void)pthread_mutex_unlock(&h->pool_lock);
    }
    return s;
}

hpcw_status hpcw_sion_fill(hpcw_sion *h, uint32_t rank, uint64_t offset, const void *data, size_t size,
                           hpcw_error *err) {
    uint32_t i = UINT32_MAX;
    hpcw_status s = enter(h, rank, data, size, &i, err);
    if (s != HPCW_OK || size == 0) {
        return s;
    }
    struct hpcw_i_sion_task *t = &h->task[i];
    uint64_t block = t->chunk == 0 ? UINT64_MAX : offset / t->chunk;
    uint64_t k = t->chunk == 0 ? 0 : offset % t->chunk;
    if (h->pooled) {
        (void)pthread_mutex_lock(&h->pool_lock); /* another thread may be writing out this task's slot */
    }
    uint64_t end = block < t->block ? t->chunk : t->used - t->buffered;
    if (h->pooled) {
        (void)pthread_mutex_unlock(&h->pool_lock);
    }
    if (block > t->block || k > end || size > end - k) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: wanted a place that task %u reserved, got %zu bytes at %llu",
                           h->path, rank, size, (unsigned long long)offset);
    }
    hpcw_error e;
    const struct hpcw_i_sion_part *part = hpcw_i_sion_part_of(h, i);
    s = hpcw_sink_write_at(part->sink, t->start + block * part->stride + k, data, size, &e);
    return s == HPCW_OK ? s : break_handle(h, s, &e, err);
}

uint64_t hpcw_sion_chunk_size(const hpcw_sion *h, uint32_t rank) {
    uint32_t i = h == NULL ? UINT32_MAX : hpcw_i_sion_index(h, rank);
    return i == UINT32_MAX ? 0 : h->task[i].chunk;
}

uint64_t hpcw_sion_stream_size(const hpcw_sion *h, uint32_t rank) {
    uint32_t i = h == NULL ? UINT32_MAX : hpcw_i_sion_index(h, rank);
    if (i == UINT32_MAX) {
        return 0;
    }
    const struct hpcw_i_sion_task *t = &h->task[i];
    uint64_t size = t->used;
    for (uint32_t b = 0; b < t->block; b++) {
        size += t->earlier[b];
    }
    return size;
}

hpcw_status hpcw_i_sion_flush_all(struct hpcw_sion *h, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t i = 0; s == HPCW_OK && i < h->options.count; i++) {
        if (h->task[i].buffered > 0) {
            s = write_out(h, i, NULL, 0, err);
        }
        if (s == HPCW_OK && h->tail_dropped != NULL && h->tail_dropped[i]) {
            s = hpcw_i_fail(
                err, HPCW_ERANGE,
                "%s: task %u ends in a key without a value at the very end of its chunk of %llu bytes, "
                "which readers drop: choose another chunk size or end with a value",
                h->path, hpcw_i_sion_rank(h, i), (unsigned long long)h->task[i].chunk);
        }
    }
    return s;
}
