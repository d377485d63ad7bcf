/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/trace/handles.h"

#include "libwriter/base/mem.h"

bool hpcw_i_trace_handles_threads;

bool hpcw_i_trace_handles_new(struct hpcw_i_trace_handles *table, unsigned bits) {
    table->bits = bits;
    table->bucket = hpcw_i_calloc((size_t)1 << bits, sizeof *table->bucket);
    return table->bucket != NULL;
}

void hpcw_i_trace_handles_free(struct hpcw_i_trace_handles *table) {
    for (size_t i = 0; table->bucket != NULL && i < (size_t)1 << table->bits; i++) {
        struct hpcw_i_trace_handle_more *more = atomic_load(&table->bucket[i].more);
        while (more != NULL) {
            struct hpcw_i_trace_handle_more *next = more->next;
            hpcw_i_free(more);
            more = next;
        }
    }
    hpcw_i_free(table->bucket);
    table->bucket = NULL;
}

struct hpcw_i_trace_handle *hpcw_i_trace_handles_find_more(struct hpcw_i_trace_handle_more *more,
                                                           uintptr_t key) {
    while (more != NULL && atomic_load_explicit(&more->handle.key, memory_order_relaxed) != key) {
        more = more->next;
    }
    return more == NULL ? NULL : &more->handle;
}

struct hpcw_i_trace_handle *hpcw_i_trace_handles_add_more(struct hpcw_i_trace_bucket *b, uintptr_t key) {
    struct hpcw_i_trace_handle_more *first = atomic_load_explicit(&b->more, memory_order_acquire);
    for (struct hpcw_i_trace_handle_more *more = first; more != NULL; more = more->next) {
        if (hpcw_i_trace_handle_claim(&more->handle, key)) {
            return &more->handle;
        }
    }
    struct hpcw_i_trace_handle_more *made = hpcw_i_calloc(1, sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    atomic_init(&made->handle.key, key);
    made->next = first;
    while (!atomic_compare_exchange_weak_explicit(&b->more, &made->next, made, memory_order_acq_rel,
                                                  memory_order_acquire)) {
    }
    return &made->handle;
}
