/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: write buffers of a SION container. */
#ifndef HPCW_FORMAT_SION_BUFFER_H
#define HPCW_FORMAT_SION_BUFFER_H

#include <string.h>

#include "format/sion/handle.h"

enum { HPCW_I_SION_HOT_SLOT = 1 << 17 };

hpcw_status hpcw_i_sion_buffers_new(struct hpcw_sion *h, hpcw_error *err);
void hpcw_i_sion_buffers_free(struct hpcw_sion *h);

/* Makes own task i this thread's: before anything below, and before `used` and `buffered` of the task count. */
void hpcw_i_sion_claim(struct hpcw_sion *h, uint32_t i);
void hpcw_i_sion_release(struct hpcw_sion *h);

/* Appends bytes that fit into the current chunk. */
hpcw_status hpcw_i_sion_append(struct hpcw_sion *h, uint32_t i, const void *data, size_t size, hpcw_error *err);

/* Writes the buffer of task i and `size` bytes behind it, which are not counted as used yet. */
hpcw_status hpcw_i_sion_write_out(struct hpcw_sion *h, uint32_t i, const void *data, size_t size,
                                  hpcw_error *err);

/* Remembers the first failure that the file cannot recover from; returns `s`. */
hpcw_status hpcw_i_sion_break(struct hpcw_sion *h, hpcw_status s, const hpcw_error *e, hpcw_error *err);

/* Its address tells threads apart; it holds nothing. The model spares every record a call to find it. */
extern _Thread_local char hpcw_i_sion_me __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Appends a whole record without claim and release, if that is a copy and no more; else false, and nothing was
 * done. `h` and `data` are not NULL. */
static inline bool hpcw_i_sion_append_quickly(struct hpcw_sion *h, uint32_t rank, const void *data,
                                              size_t size) {
    uint32_t i = rank - h->place.first; /* wraps to something large below the first */
    if (!h->quick || i >= h->options.count || atomic_load_explicit(&h->broken, memory_order_relaxed)) {
        return false;
    }
    struct hpcw_i_sion_task *t = &h->task[i];
    unsigned char *to = h->slots + i * h->slot_stride;
    uint32_t slot = atomic_load_explicit(&t->slot, memory_order_acquire);
    if (slot != 0) {
        if (atomic_load_explicit(&h->hot[slot - 1].writer, memory_order_relaxed) != &hpcw_i_sion_me) {
            return false;
        }
        to = h->hot_bytes + (slot - 1) * (size_t)HPCW_I_SION_HOT_SLOT;
    }
    if (size > t->room || size >= h->direct_size) {
        return false;
    }
    to += t->buffered;
    memcpy(to, data, size);
    /* Where writes go to many tasks in turn, the next one finds its line here when it comes round again. */
    __builtin_prefetch(to + size, 1);
    t->room -= (uint32_t)size;
    t->buffered += (uint32_t)size;
    t->used += size;
    return true;
}

#endif
