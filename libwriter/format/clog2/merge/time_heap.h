/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: which of several sorted runs is next: by time, then by number. */
#ifndef HPCW_FORMAT_CLOG2_MERGE_TIME_HEAP_H
#define HPCW_FORMAT_CLOG2_MERGE_TIME_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct hpcw_i_clog2_run {
    double time;
    uint32_t number;
};

struct hpcw_i_clog2_heap {
    struct hpcw_i_clog2_run *run; /* [count], the first is next; of the caller, with room for all */
    uint32_t count;
};

static inline bool hpcw_i_clog2_before(const struct hpcw_i_clog2_run *a, const struct hpcw_i_clog2_run *b) {
    return a->time < b->time || (a->time == b->time && a->number < b->number);
}

/* Puts the first one where it belongs, after its time was raised. */
static inline void hpcw_i_clog2_heap_settle(struct hpcw_i_clog2_heap *heap) {
    struct hpcw_i_clog2_run *run = heap->run;
    const struct hpcw_i_clog2_run top = run[0];
    uint32_t i = 0;
    for (uint32_t child = 1; child < heap->count; child = 2 * i + 1) {
        if (child + 1 < heap->count && hpcw_i_clog2_before(&run[child + 1], &run[child])) {
            child++;
        }
        if (!hpcw_i_clog2_before(&run[child], &top)) {
            break;
        }
        run[i] = run[child];
        i = child;
    }
    run[i] = top;
}

/* Takes the first one out. */
static inline void hpcw_i_clog2_heap_pop(struct hpcw_i_clog2_heap *heap) {
    heap->run[0] = heap->run[--heap->count];
    if (heap->count > 1) {
        hpcw_i_clog2_heap_settle(heap);
    }
}

static inline void hpcw_i_clog2_heap_push(struct hpcw_i_clog2_heap *heap, double time, uint32_t number) {
    const struct hpcw_i_clog2_run fresh = {time, number};
    uint32_t i = heap->count++;
    for (; i > 0 && hpcw_i_clog2_before(&fresh, &heap->run[(i - 1) / 2]); i = (i - 1) / 2) {
        heap->run[i] = heap->run[(i - 1) / 2];
    }
    heap->run[i] = fresh;
}

#endif
