/* SPDX-License-Identifier: BSD-3-Clause */
/* A heap of numbered sources, ordered by time. If two sources have the same time, the lower number is first. */
#ifndef HPCW_FORMAT_CLOG2_MERGE_TIME_HEAP_H
#define HPCW_FORMAT_CLOG2_MERGE_TIME_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct hpcw_i_clog2_heap_entry {
    double time;
    uint32_t number;
};

struct hpcw_i_clog2_heap {
    /* [count] heap whose entry 0 is the earliest; memory of the caller, with room for all sources */
    struct hpcw_i_clog2_heap_entry *entry;
    uint32_t count;
};

static inline bool hpcw_i_clog2_comes_before(const struct hpcw_i_clog2_heap_entry *a,
                                             const struct hpcw_i_clog2_heap_entry *b) {
    return a->time < b->time || (a->time == b->time && a->number < b->number);
}

/* Restores the order after the time of the first entry was raised. */
static inline void hpcw_i_clog2_heap_settle(struct hpcw_i_clog2_heap *heap) {
    struct hpcw_i_clog2_heap_entry *entry = heap->entry;
    const struct hpcw_i_clog2_heap_entry top = entry[0];
    uint32_t i = 0;
    for (uint32_t child = 1; child < heap->count; child = 2 * i + 1) {
        if (child + 1 < heap->count && hpcw_i_clog2_comes_before(&entry[child + 1], &entry[child])) {
            child++;
        }
        if (!hpcw_i_clog2_comes_before(&entry[child], &top)) {
            break;
        }
        entry[i] = entry[child];
        i = child;
    }
    entry[i] = top;
}

/* Removes the first entry. */
static inline void hpcw_i_clog2_heap_pop(struct hpcw_i_clog2_heap *heap) {
    heap->entry[0] = heap->entry[--heap->count];
    if (heap->count > 1) {
        hpcw_i_clog2_heap_settle(heap);
    }
}

static inline void hpcw_i_clog2_heap_push(struct hpcw_i_clog2_heap *heap, double time, uint32_t number) {
    const struct hpcw_i_clog2_heap_entry fresh = {time, number};
    uint32_t i = heap->count++;
    for (; i > 0 && hpcw_i_clog2_comes_before(&fresh, &heap->entry[(i - 1) / 2]); i = (i - 1) / 2) {
        heap->entry[i] = heap->entry[(i - 1) / 2];
    }
    heap->entry[i] = fresh;
}

#endif
