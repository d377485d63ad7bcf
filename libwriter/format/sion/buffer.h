/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: write buffers of a SION container. */
#ifndef HPCW_FORMAT_SION_BUFFER_H
#define HPCW_FORMAT_SION_BUFFER_H

#include <string.h>

#include "libwriter/format/sion/handle.h"

enum { HPCW_I_SION_HOT_SLOT = 1 << 17 };

hpcw_status hpcw_i_sion_buffers_new(struct hpcw_sion *h, hpcw_error *err);
void hpcw_i_sion_buffers_free(struct hpcw_sion *h);

/* Makes own task i this thread's: before anything below, and before `used` and `buffered` of the task count. */
void hpcw_i_sion_claim(struct hpcw_sion *h, uint32_t i);
void hpcw_i_sion_release(struct hpcw_sion *h);

/* Bytes of the current block of own task i, and how many of them still wait in its buffer. */
uint32_t hpcw_i_sion_buffered(const struct hpcw_sion *h, uint32_t i);
static inline uint64_t hpcw_i_sion_used(const struct hpcw_sion *h, uint32_t i) {
    return h->task[i].used + hpcw_i_sion_buffered(h, i);
}

/* Appends bytes that fit into the current chunk. */
hpcw_status hpcw_i_sion_append(struct hpcw_sion *h, uint32_t i, const void *data, size_t size, hpcw_error *err);

/* Writes what waits in the buffer of task i, if anything does. */
hpcw_status hpcw_i_sion_write_out(struct hpcw_sion *h, uint32_t i, hpcw_error *err);

/* Remembers the first failure that the file cannot recover from; returns `s`. */
hpcw_status hpcw_i_sion_break(struct hpcw_sion *h, hpcw_status s, const hpcw_error *e, hpcw_error *err);

/* Its address tells threads apart; it holds nothing. The model spares every record a call to find it. */
extern _Thread_local char hpcw_i_sion_me __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* memcpy; of 32 to 64 bytes, as many records have, by four pieces that may overlap: a call takes longer than the copy. */
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

/* Appends a whole record without claim and release, if that is a copy and no more; else false, and nothing was
 * done. `h` and `data` are not NULL. */
static inline bool hpcw_i_sion_append_quickly(struct hpcw_sion *h, uint32_t rank, const void *data,
                                              size_t size) {
    uint32_t i = rank - h->place.first; /* wraps to something large below the first */
    if (i >= atomic_load_explicit(&h->quick, memory_order_relaxed)) {
        return false;
    }
    struct hpcw_i_sion_cursor *c = &h->cursor[i];
    uint32_t slot = atomic_load_explicit(&c->slot, memory_order_acquire);
    if (slot != 0 &&
        (size >= h->direct_size ||
         atomic_load_explicit(&h->hot[slot - 1].writer, memory_order_relaxed) != &hpcw_i_sion_me)) {
        return false;
    }
    if (size - 1 >= c->room) { /* no bytes at all are not quick either */
        return false;
    }
    unsigned char *to = c->to;
    hpcw_i_sion_copy(to, data, size);
    to += size;
    /* Where writes go to many tasks in turn, the next one finds its cache line here when its turn comes again. */
    __builtin_prefetch(to, 1);
    c->to = to;
    c->room -= (uint32_t)size;
    return true;
}

#endif
