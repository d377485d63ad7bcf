/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathers small writes into large ones. The small writes wait in buffers, called slots (slots.h). */
#include "libwriter/format/sion/data/buffer.h"

#include <string.h>
#include <sys/mman.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

enum {
    LARGEST_SLOT = 1 << 18, /* bytes; a larger slot would leave the second-level cache before it is written */
    POOLED_SLOT = 4096,
    LARGE_WRITE = 1 << 14, /* bytes of a write that is not copied into a small slot, but written directly */
    LARGE_PAGE = 1 << 21,
    SKEW = 192,            /* added to a slot's stride: at powers of two, slots would share a few cache sets */
    HOT_BUDGET = 16 << 20, /* bytes; with a smaller buffer_size there are no hot slots (slots_hot.c) */
};

hpcw_status hpcw_i_sion_buffers_new(struct hpcw_sion *h, hpcw_error *err) {
    uint64_t budget = h->options.buffer_size;
    uint32_t count = h->options.count;
    if (count == 0 || budget < HPCW_I_SION_SMALLEST_SLOT) {
        return HPCW_OK;
    }
    h->cursor = hpcw_i_calloc(count, sizeof *h->cursor);
    if (h->cursor == NULL) {
        return hpcw_i_fail_memory(err, h->path, 0, "buffers");
    }
    uint64_t slot = HPCW_I_SION_SMALLEST_SLOT;
    while (slot * 2 <= budget / count && slot < LARGEST_SLOT) {
        slot *= 2;
    }
    h->slots.count = count;
    if (budget / count < HPCW_I_SION_SMALLEST_SLOT) {
        slot = budget < POOLED_SLOT ? HPCW_I_SION_SMALLEST_SLOT : POOLED_SLOT;
        hpcw_status s = hpcw_i_sion_pool_new(h, slot, err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    size_t stride = (size_t)slot + (slot >= HPCW_I_SION_PAGE ? SKEW : 0);
    size_t size = stride * h->slots.count + HPCW_I_SION_PAGE;
    /* This only reserves addresses: memory comes with the first write to each page of a slot. */
    h->slots.memory = hpcw_i_malloc(size);
    if (h->slots.memory == NULL) {
        return hpcw_i_fail_memory(err, h->path, h->slots.count * slot, "bytes of buffers");
    }
    h->slots.bytes = hpcw_i_sion_page_in(h->slots.memory);
    if (size > 2 * (size_t)LARGE_PAGE) {
        /* Writes that go to many slots in turn touch many pages, so ask for large pages. It is only a hint, and may
         * fail. */
        (void)madvise(h->slots.bytes, size - HPCW_I_SION_PAGE, MADV_HUGEPAGE);
    }
    h->slots.stride = stride;
    h->slots.size = (size_t)slot;
    h->slots.direct = slot < LARGE_WRITE ? LARGE_WRITE : (size_t)slot;
    bool quick = !h->slots.pooled && h->ranks == NULL && h->options.content != HPCW_SION_KEYVAL;
    atomic_store_explicit(&h->quick, quick ? count : 0, memory_order_relaxed);
    bool hot = !h->slots.pooled && slot < HPCW_I_SION_HOT_SLOT && budget >= HOT_BUDGET;
    return hot ? hpcw_i_sion_hot_new(h, err) : HPCW_OK;
}

void hpcw_i_sion_buffers_free(struct hpcw_sion *h) {
    hpcw_i_free(h->cursor);
    hpcw_i_free(h->slots.memory);
    hpcw_i_free(h->slots.owner);
    hpcw_i_free(h->hot.memory);
    hpcw_i_free(h->hot.taken);
}

void hpcw_i_sion_claim(struct hpcw_sion *h, uint32_t i) {
    if (h->slots.pooled) {
        (void)pthread_mutex_lock(&h->slots.lock);
    } else if (h->cursor != NULL) {
        hpcw_i_sion_hot_claim(h, i);
    }
}

void hpcw_i_sion_release(struct hpcw_sion *h) {
    if (h->slots.pooled) {
        (void)pthread_mutex_unlock(&h->slots.lock);
    }
}

hpcw_status hpcw_i_sion_append(struct hpcw_sion *h, uint32_t i, const void *data, size_t size,
                               hpcw_error *err) {
    struct hpcw_i_sion_cursor *c = h->cursor == NULL ? NULL : &h->cursor[i];
    if (c == NULL || size >= h->slots.direct || (size >= h->slots.size && size > c->room)) {
        return size == 0 ? HPCW_OK : hpcw_i_sion_write_with(h, i, data, size, err);
    }
    hpcw_status s = HPCW_OK;
    while (s == HPCW_OK && size > 0) {
        if (c->to == NULL) {
            if (h->slots.pooled) {
                s = hpcw_i_sion_pool_borrow(h, i, err);
            } else if (hpcw_i_sion_slot_of(h, i) == 0 &&
                       atomic_load_explicit(&h->hot.lent, memory_order_relaxed)) {
                s = hpcw_i_sion_hot_lend(h, i, err);
            }
            if (s != HPCW_OK) {
                break;
            }
            c->to = hpcw_i_sion_slot_bytes(h, i);
            c->room = hpcw_i_sion_slot_room(
                h, i,
                !h->slots.pooled && hpcw_i_sion_slot_of(h, i) != 0 ? HPCW_I_SION_HOT_SLOT : h->slots.size);
        }
        size_t n = size < c->room ? size : c->room;
        memcpy(c->to, data, n);
        c->to += n;
        c->room -= (uint32_t)n;
        data = (const unsigned char *)data + n;
        size -= n;
        if (size > 0) {
            s = hpcw_i_sion_write_out(h, i, err);
        }
    }
    return s;
}
