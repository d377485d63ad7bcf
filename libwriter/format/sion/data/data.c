/* SPDX-License-Identifier: BSD-3-Clause */
/* The data path: puts records into chunks. buffer.c gathers small ones. */
#include <inttypes.h>
#include <string.h>

#include "libwriter/base/bytes.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/sion/data/buffer.h"
#include "libwriter/io/sink.h"

void hpcw_sion_abandon(hpcw_sion *h, const hpcw_error *reason) {
    if (h != NULL) {
        const hpcw_error why = hpcw_i_reason_to_abandon(reason);
        (void)hpcw_i_sion_break(h, why.code, &why, NULL);
    }
}

static hpcw_status next_block(struct hpcw_sion *h, uint32_t i, hpcw_error *err) {
    struct hpcw_i_sion_task *t = &h->task[i];
    uint64_t stride = hpcw_i_sion_part_of(h, i)->stride;
    uint64_t at;
    if (t->block == INT32_MAX - 1 || !hpcw_i_mul_u64((uint64_t)t->block + 2, stride, &at) ||
        !hpcw_i_add_u64(at, t->start, &at) || at > INT64_MAX) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "%s: task %u cannot have a block after its %u blocks of %" PRIu64 " bytes", h->path,
                           hpcw_i_sion_rank(h, i), t->block + 1, t->chunk);
    }
    hpcw_status s = hpcw_i_sion_write_out(h, i, err);
    if (s != HPCW_OK) {
        return s;
    }
    /* The list of blocks is full whenever their number is a power of two. */
    if ((t->block & (t->block - 1)) == 0) {
        size_t capacity = t->block == 0 ? 1 : 2 * (size_t)t->block;
        struct hpcw_i_sion_blocks *earlier =
            hpcw_i_realloc(t->earlier, sizeof *earlier + capacity * sizeof earlier->used[0]);
        if (earlier == NULL) {
            hpcw_error e;
            s = hpcw_i_fail_memory(&e, h->path, t->block + 1, "blocks of a task");
            return hpcw_i_sion_break(h, s, &e, err); /* the program may ignore that its record is not stored */
        }
        t->earlier = earlier;
    }
    struct hpcw_i_sion_blocks *b = t->earlier;
    b->alike = t->block > 0 && b->used[t->block - 1] == t->used ? b->alike + 1 : 1;
    b->used[t->block] = t->used;
    t->block++;
    t->used = 0;
    return HPCW_OK;
}

/* Appends a record, which must be in one chunk (doc/formats/sion.md#sion-15). */
static hpcw_status append_record(struct hpcw_sion *h, uint32_t i, const void *data, size_t size,
                                 hpcw_error *err) {
    struct hpcw_i_sion_task *t = &h->task[i];
    uint64_t most = hpcw_i_sion_usable(t);
    if (size > most) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "%s: record: expected at most %" PRIu64 " bytes (the chunk of task %u), got %zu",
                           h->path, most, hpcw_i_sion_rank(h, i), size);
    }
    if (size > most - hpcw_i_sion_used(h, i)) {
        hpcw_status s = next_block(h, i, err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    return hpcw_i_sion_append(h, i, data, size, err);
}

/* Appends bytes, chunk after chunk. A block is opened only when it gets a byte (doc/formats/sion.md#sion-16). */
static hpcw_status append_bytes(struct hpcw_sion *h, uint32_t i, const void *data, size_t size,
                                hpcw_error *err) {
    uint64_t most = hpcw_i_sion_usable(&h->task[i]);
    if (size > 0 && most == 0) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "%s: expected no data for task %u, whose chunk has no bytes, got %zu", h->path,
                           hpcw_i_sion_rank(h, i), size);
    }
    while (size > 0) {
        uint64_t room = most - hpcw_i_sion_used(h, i);
        if (room == 0) {
            hpcw_error e;
            hpcw_status s = next_block(h, i, &e);
            if (s != HPCW_OK) {
                return hpcw_i_sion_break(h, s, &e, err); /* some of the caller's bytes may be stored already */
            }
            room = most;
        }
        size_t n = size < room ? size : (size_t)room;
        hpcw_status s = hpcw_i_sion_append(h, i, data, n, err);
        if (s != HPCW_OK) {
            return s;
        }
        data = (const unsigned char *)data + n;
        size -= n;
    }
    return HPCW_OK;
}

/* Begins a call: checks the handle and finds the task. */
static hpcw_status enter(struct hpcw_sion *h, uint32_t rank, const void *data, size_t size, uint32_t *index,
                         hpcw_error *err) {
    if (h == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "sion: expected an open container, got NULL");
    }
    if (atomic_load_explicit(&h->broken, memory_order_relaxed) || h->closed) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: the container %s", h->path,
                           h->closed ? "is closed" : "is broken by an earlier failure");
    }
    *index = hpcw_i_sion_index(h, rank);
    if (*index == UINT32_MAX) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a task of this process, got %u", h->path, rank);
    }
    if (data == NULL && size > 0) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected %zu bytes for task %u, got NULL", h->path, size,
                           rank);
    }
    return HPCW_OK;
}

/* The slow path of a write. Not inlined, so that hpcw_sion_write saves no registers for it. */
__attribute__((noinline)) static hpcw_status write_with_care(hpcw_sion *h, uint32_t rank, const void *data,
                                                             size_t size, hpcw_error *err) {
    uint32_t i = UINT32_MAX;
    hpcw_status s = enter(h, rank, data, size, &i, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (h->options.content == HPCW_SION_KEYVAL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected hpcw_sion_write_key, this is a key-value container",
                           h->path);
    }
    hpcw_i_sion_claim(h, i);
    s = h->options.content == HPCW_SION_STREAM ? append_bytes(h, i, data, size, err)
                                               : append_record(h, i, data, size, err);
    hpcw_i_sion_release(h);
    return s;
}

hpcw_status hpcw_sion_write(hpcw_sion *h, uint32_t rank, const void *data, size_t size, hpcw_error *err) {
    return h != NULL && data != NULL && hpcw_i_sion_append_quickly(h, rank, data, size)
               ? HPCW_OK
               : write_with_care(h, rank, data, size, err);
}

hpcw_status hpcw_sion_keep_together(hpcw_sion *h, uint32_t rank, size_t size, hpcw_error *err) {
    uint32_t i = UINT32_MAX;
    hpcw_status s = enter(h, rank, NULL, 0, &i, err);
    if (s != HPCW_OK) {
        return s;
    }
    uint64_t most = hpcw_i_sion_usable(&h->task[i]);
    if (size > most) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "%s: cannot keep %zu bytes of task %u together: expected at most %" PRIu64 " bytes",
                           h->path, size, rank, most);
    }
    hpcw_i_sion_claim(h, i);
    if (size > most - hpcw_i_sion_used(h, i)) {
        s = next_block(h, i, err);
    }
    hpcw_i_sion_release(h);
    return s;
}

hpcw_status hpcw_sion_limit(hpcw_sion *h, uint32_t rank, uint64_t size, hpcw_error *err) {
    uint32_t i = UINT32_MAX;
    hpcw_status s = enter(h, rank, NULL, 0, &i, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct hpcw_i_sion_task *t = &h->task[i];
    hpcw_i_sion_claim(h, i);
    bool empty = t->block == 0 && hpcw_i_sion_used(h, i) == 0;
    bool fits = size <= t->chunk && t->chunk - size <= UINT32_MAX;
    if (empty && fits) {
        t->spare = (uint32_t)(t->chunk - size);
    }
    hpcw_i_sion_release(h);
    if (!empty || !fits) {
        return hpcw_i_fail(err, empty ? HPCW_ERANGE : HPCW_EINVAL,
                           "%s: cannot limit task %u to %" PRIu64
                           " bytes of a chunk: expected a task without data, and the %" PRIu64
                           " bytes of its chunk or less by up to %u",
                           h->path, rank, size, t->chunk, UINT32_MAX);
    }
    return HPCW_OK;
}

hpcw_status hpcw_sion_write_key(hpcw_sion *h, uint32_t rank, uint64_t key, const void *value, size_t size,
                                hpcw_error *err) {
    uint32_t i = UINT32_MAX;
    hpcw_status s = enter(h, rank, value, size, &i, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (h->options.content != HPCW_SION_KEYVAL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected hpcw_sion_write, this is no key-value container",
                           h->path);
    }
    /* doc/formats/sion.md#sion-30: SIONlib's reader subtracts a whole header from the rest of the chunk in which
     * the header begins. If a header continues in the next chunk and fills it, the reader ends up after that
     * chunk: the value is lost. */
    uint64_t chunk = hpcw_i_sion_usable(&h->task[i]);
    if (chunk > 0 && chunk < HPCW_SION_MIN_KEY_CHUNK) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "%s: expected chunks of at least %u bytes for key-value records, got %" PRIu64
                           " for task %u",
                           h->path, HPCW_SION_MIN_KEY_CHUNK, chunk, rank);
    }
    unsigned char header[HPCW_SION_MIN_KEY_CHUNK];
    bool big = h->options.endian == HPCW_SION_BIG;
    hpcw_i_put_u64(header, key, big);
    hpcw_i_put_u64(header + 8, size, big);
    hpcw_i_sion_claim(h, i);
    s = append_bytes(h, i, header, sizeof header, err);
    if (s == HPCW_OK) {
        s = append_bytes(h, i, value, size, err);
    }
    hpcw_i_sion_release(h);
    return s;
}

hpcw_status hpcw_sion_reserve(hpcw_sion *h, uint32_t rank, size_t size, uint64_t *offset, hpcw_error *err) {
    uint32_t i = UINT32_MAX;
    hpcw_status s = enter(h, rank, NULL, 0, &i, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct hpcw_i_sion_task *t = &h->task[i];
    uint64_t most = hpcw_i_sion_usable(t);
    if (offset == NULL || h->options.content == HPCW_SION_KEYVAL || size > most) {
        return hpcw_i_fail(
            err, size > most ? HPCW_ERANGE : HPCW_EINVAL,
            "%s: cannot reserve %zu bytes for task %u: expected a pointer for the offset, no key-value "
            "container, and at most %" PRIu64 " bytes",
            h->path, size, rank, most);
    }
    hpcw_i_sion_claim(h, i);
    if (size > most - hpcw_i_sion_used(h, i)) {
        s = next_block(h, i, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_sion_write_out(h, i, err); /* buffered bytes come before the gap */
    }
    if (s == HPCW_OK) {
        *offset = t->block * t->chunk + t->used;
        t->used += size;
    }
    hpcw_i_sion_release(h);
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
    hpcw_i_sion_claim(h, i); /* another thread may be taking this task's slot */
    uint64_t end = block < t->block ? hpcw_i_sion_usable(t) : t->used;
    hpcw_i_sion_release(h);
    if (block > t->block || k > end || size > end - k) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: expected bytes that task %u reserved, got %zu bytes at %" PRIu64, h->path, rank,
                           size, offset);
    }
    hpcw_error e;
    const struct hpcw_i_sion_part *part = hpcw_i_sion_part_of(h, i);
    s = hpcw_sink_write_at(part->sink, t->start + block * part->stride + k, data, size, &e);
    return s == HPCW_OK ? s : hpcw_i_sion_break(h, s, &e, err);
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
    /* As in a write, another thread may be taking this task's slot. The cast is legal, as the handle is not const
     * where it was made. */
    hpcw_sion *self = (hpcw_sion *)(uintptr_t)h;
    const struct hpcw_i_sion_task *t = &h->task[i];
    hpcw_i_sion_claim(self, i);
    uint64_t size = hpcw_i_sion_used(h, i);
    hpcw_i_sion_release(self);
    for (uint32_t b = 0; b < t->block; b++) {
        size += t->earlier->used[b];
    }
    return size;
}

hpcw_status hpcw_i_sion_flush_all(struct hpcw_sion *h, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t i = 0; s == HPCW_OK && i < h->options.count; i++) {
        s = hpcw_i_sion_write_out(h, i, err);
    }
    return s;
}
