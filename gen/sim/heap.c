/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/sim/heap.h"

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"

bool sim_entry_is_before(const struct sim_entry *a, const struct sim_entry *b) {
    if (a->time_ns != b->time_ns) {
        return a->time_ns < b->time_ns;
    }
    return a->rank != b->rank ? a->rank < b->rank : a->number < b->number;
}

bool sim_heap_add(struct sim_heap *heap, struct sim_entry entry) {
    struct sim_entry *grown = hpcw_i_grow(heap->entry, &heap->capacity, heap->count + 1, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    heap->entry = grown;
    size_t at = heap->count++;
    for (; at > 0 && sim_entry_is_before(&entry, &grown[(at - 1) / 2]); at = (at - 1) / 2) {
        grown[at] = grown[(at - 1) / 2];
    }
    grown[at] = entry;
    return true;
}

void sim_heap_remove(struct sim_heap *heap) {
    struct sim_entry *entry = heap->entry;
    const struct sim_entry last = entry[--heap->count];
    size_t at = 0;
    for (size_t child = 1; child < heap->count; child = 2 * at + 1) {
        child += child + 1 < heap->count && sim_entry_is_before(&entry[child + 1], &entry[child]);
        if (!sim_entry_is_before(&entry[child], &last)) {
            break;
        }
        entry[at] = entry[child];
        at = child;
    }
    entry[at] = last; /* without entries left, this slot is not in use */
}

void sim_heap_free(struct sim_heap *heap) {
    hpcw_i_free(heap->entry);
    *heap = (struct sim_heap){0};
}
