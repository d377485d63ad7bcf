/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: which states a timeline has begun and not ended. */
#ifndef HPCW_FORMAT_CLOG2_MERGE_OPEN_STATES_H
#define HPCW_FORMAT_CLOG2_MERGE_OPEN_STATES_H

#include <stddef.h>
#include <stdint.h>

/* Open states of a timeline by (communicator, start event): how many. Open addressing; keys stay. */
struct hpcw_i_clog2_open_states {
    uint64_t *key; /* 0: free */
    uint32_t *count;
    uint32_t slots, used;
    uint64_t last_key; /* the last one asked for, which often is the next one, too */
    uint32_t *last;    /* its count; NULL: none */
};

/* The slow part of the next function. */
uint32_t *hpcw_i_clog2_open_find(struct hpcw_i_clog2_open_states *o, uint64_t key);

/* How often the state with this start event is open; may be changed. NULL: out of memory. */
static inline uint32_t *hpcw_i_clog2_open_count(struct hpcw_i_clog2_open_states *o, uint32_t comm,
                                                int32_t start) {
    uint64_t key = ((uint64_t)comm << 32 | (uint32_t)start) + 1;
    return o->last != NULL && o->last_key == key ? o->last : hpcw_i_clog2_open_find(o, key);
}

/* How many states are open. */
uint64_t hpcw_i_clog2_open_total(const struct hpcw_i_clog2_open_states *o);

void hpcw_i_clog2_open_free(struct hpcw_i_clog2_open_states *o);

#endif
