/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of a timeline that have begun and not ended. */
#ifndef HPCW_FORMAT_CLOG2_MERGE_OPEN_STATES_H
#define HPCW_FORMAT_CLOG2_MERGE_OPEN_STATES_H

#include <stddef.h>
#include <stdint.h>

struct hpcw_i_clog2_open_state {
    uint64_t key; /* 0: free */
    uint32_t count;
};

/* Counts open states by (communicator, start event) in a hash table with open addressing. Keys are never removed.
 * The hash table of base/table would take 5 ns more for each event of a merge. */
struct hpcw_i_clog2_open_states {
    struct hpcw_i_clog2_open_state *slot; /* [slots] */
    uint32_t slots, used;
    /* slot of the last look-up, tried first because the next event often has the same key; NULL: no look-up so
     * far */
    struct hpcw_i_clog2_open_state *last;
};

/* The slow path of hpcw_i_clog2_open_count: returns the count of any key, which is added if it is new. */
uint32_t *hpcw_i_clog2_open_find(struct hpcw_i_clog2_open_states *o, uint64_t key);

/* Returns a pointer to the number of open states with this start event, for the caller to change. NULL: out of
 * memory. */
static inline uint32_t *hpcw_i_clog2_open_count(struct hpcw_i_clog2_open_states *o, uint32_t comm,
                                                int32_t start) {
    uint64_t key = ((uint64_t)comm << 32 | (uint32_t)start) + 1;
    return o->last != NULL && o->last->key == key ? &o->last->count : hpcw_i_clog2_open_find(o, key);
}

/* Returns the number of all open states. */
uint64_t hpcw_i_clog2_open_total(const struct hpcw_i_clog2_open_states *o);

void hpcw_i_clog2_open_free(struct hpcw_i_clog2_open_states *o);

#endif
