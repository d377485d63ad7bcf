/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue of things that happen at a time, earliest first. */
#ifndef HPCW_GEN_SIM_HEAP_H
#define HPCW_GEN_SIM_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The order is that of (time_ns, rank, number). Together they are unique, so nothing depends on when an entry was added. */
struct sim_entry {
    uint64_t time_ns;
    uint32_t rank, number;
    uint32_t item, serial; /* what happens, and which use of that item */
};

bool sim_entry_is_before(const struct sim_entry *a, const struct sim_entry *b);

/* Zeroed: empty. */
struct sim_heap {
    struct sim_entry *entry;
    size_t count, capacity;
};

/* False when memory runs out; the heap is then as before. */
bool sim_heap_add(struct sim_heap *heap, struct sim_entry entry);

/* Removes the earliest entry, which is entry[0]. There must be one. */
void sim_heap_remove(struct sim_heap *heap);

void sim_heap_free(struct sim_heap *heap);

#endif
