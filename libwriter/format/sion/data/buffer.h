/* SPDX-License-Identifier: BSD-3-Clause */
/* The write buffers of a SION container, for the data path. */
#ifndef HPCW_FORMAT_SION_DATA_BUFFER_H
#define HPCW_FORMAT_SION_DATA_BUFFER_H

#include <string.h>

#include "libwriter/format/sion/data/slots.h"

hpcw_status hpcw_i_sion_buffers_new(struct hpcw_sion *h, hpcw_error *err);
void hpcw_i_sion_buffers_free(struct hpcw_sion *h);

/* Claim own task i for this thread, and release the task. Claim it before a call of the functions below, and before
 * reading `used` and `buffered` of the task. */
void hpcw_i_sion_claim(struct hpcw_sion *h, uint32_t i);
void hpcw_i_sion_release(struct hpcw_sion *h);

/* Returns the bytes in the current block of own task i, including those in its buffer. */
static inline uint64_t hpcw_i_sion_used(const struct hpcw_sion *h, uint32_t i) {
    return h->task[i].used + hpcw_i_sion_buffered(h, i);
}

/* Appends bytes that fit into the current chunk. */
hpcw_status hpcw_i_sion_append(struct hpcw_sion *h, uint32_t i, const void *data, size_t size, hpcw_error *err);

/* Copies bytes as memcpy. 32 to 64 bytes, the size of many records, are copied as four pieces that may overlap,
 * which is faster than a call. */
static inline void hpcw_i_sion_copy(unsigned char *to, const void *from, size_t size) {
    typedef unsigned char piece __attribute__((vector_size(16)));
    const unsigned char *p = from;
    if (size - 32 <= 32) {
        const size_t at[] = {0, 16, size - 32, size - 16};
        piece a, b, c, d;
        memcpy(&a, p + at[0], sizeof a);
        memcpy(&b, p + at[1], sizeof b);
        memcpy(&c, p + at[2], sizeof c);
        memcpy(&d, p + at[3], sizeof d);
        memcpy(to + at[0], &a, sizeof a);
        memcpy(to + at[1], &b, sizeof b);
        memcpy(to + at[2], &c, sizeof c);
        memcpy(to + at[3], &d, sizeof d);
    } else {
        memcpy(to, p, size);
    }
}

/* Appends a whole record without claiming the task, if it is enough to copy the record into a slot. Otherwise
 * returns false and changes nothing. `h` and `data` are not NULL. */
static inline bool hpcw_i_sion_append_quickly(struct hpcw_sion *h, uint32_t rank, const void *data,
                                              size_t size) {
    uint32_t i = rank - h->placement.first; /* wraps to a large number if the rank is below the first */
    if (i >= atomic_load_explicit(&h->quick, memory_order_relaxed)) {
        return false;
    }
    struct hpcw_i_sion_cursor *c = &h->cursor[i];
    uint32_t slot = atomic_load_explicit(&c->slot, memory_order_acquire);
    if (slot != 0 &&
        (size >= h->slots.direct ||
         atomic_load_explicit(&h->hot.slot[slot - 1].writer, memory_order_relaxed) != &hpcw_i_sion_me)) {
        return false;
    }
    if (size - 1 >= c->room) { /* this is also true for a record of no bytes */
        return false;
    }
    unsigned char *to = c->to;
    hpcw_i_sion_copy(to, data, size);
    to += size;
    /* If writes go to many tasks in turn, the task's next write finds this cache line loaded. */
    __builtin_prefetch(to, 1);
    c->to = to;
    c->room -= (uint32_t)size;
    return true;
}

/* ---- data.c ---- */

/* Writes out all buffers. */
hpcw_status hpcw_i_sion_flush_all(struct hpcw_sion *h, hpcw_error *err);

#endif
