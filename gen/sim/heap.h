/* SPDX-License-Identifier: BSD-3-Clause */
/* Priority queue of events in simulated time, earliest first. */
#ifndef HPCW_GEN_SIM_HEAP_H
#define HPCW_GEN_SIM_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Entries are ordered by (time_ns, rank, number). Each triple is unique, so nothing depends on when an entry
 * was added. */
struct sim_entry {
    uint64_t time_ns;
    uint32_t rank, number;
    /* item: the message or rank that the entry is about; serial: use count of `item`; an entry with an
     * older count is outdated */
    uint32_t item, serial;
};

bool sim_entry_is_before(const struct sim_entry *a, const struct sim_entry *b);

/* Zeroed: empty. */
struct sim_heap {
    struct sim_entry *entry;
    size_t count, capacity;
};

/* Returns false and changes nothing when memory runs out. */
bool sim_heap_add(struct sim_heap *heap, struct sim_entry entry);

/* Removes the earliest entry, entry[0], which must exist. */
void sim_heap_remove(struct sim_heap *heap);

void sim_heap_free(struct sim_heap *heap);

#endif
