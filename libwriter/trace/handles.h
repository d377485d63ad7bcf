/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the wrapper knows of a handle of MPI: of a communicator, or of a request that is under way.
 *
 * A table in which any number of threads look up, add and remove at once, without a lock. It leans on what MPI demands
 * of programs: a handle is used by one thread at a time while it is made, completed or freed. So an entry has one
 * user, and only the table around it is shared.
 */
#ifndef HPCW_TRACE_HANDLES_H
#define HPCW_TRACE_HANDLES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hpcw_i_handle {
    _Atomic(uintptr_t) key; /* 0: free */
    uint32_t comm;          /* number of the communicator in the log */
    uint32_t remote;        /* of the one that peers are in: itself, the remote half, or HPCW_I_NOT_FOLLOWED */
    int32_t kind;           /* the user's */
    uint32_t flags;
    int32_t peer, tag;
    uint64_t size;
    void *where;
};

enum { HPCW_I_NOT_FOLLOWED = 0xffffff }; /* a number that no communicator gets */

/* Handles of a bucket that need no allocation. */
enum { HPCW_I_HANDLE_SLOTS = 3 };

struct hpcw_i_handle_more {
    struct hpcw_i_handle handle;
    struct hpcw_i_handle_more *next;
};

struct hpcw_i_handle_bucket {
    struct hpcw_i_handle slot[HPCW_I_HANDLE_SLOTS];
    _Atomic(struct hpcw_i_handle_more *) more; /* grows at its head, and is only freed with the table */
};

struct hpcw_i_handles {
    struct hpcw_i_handle_bucket *bucket; /* [1 << bits] */
    unsigned bits;
};

/* Whether there was memory. */
bool hpcw_i_handles_make(struct hpcw_i_handles *table, unsigned bits);
void hpcw_i_handles_free(struct hpcw_i_handles *table);

/* A new entry with all fields but `key` zero; NULL: out of memory. Keys 0 and 1 are no handles. */
struct hpcw_i_handle *hpcw_i_handles_add(struct hpcw_i_handles *table, uintptr_t key);

/* The rest of hpcw_i_handles_find, for a bucket that overflowed. */
struct hpcw_i_handle *hpcw_i_handles_find_more(struct hpcw_i_handle_more *more, uintptr_t key);

static inline size_t hpcw_i_handles_bucket(const struct hpcw_i_handles *table, uintptr_t key) {
    return (size_t)(((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - table->bits));
}

static inline struct hpcw_i_handle *hpcw_i_handles_find(const struct hpcw_i_handles *table, uintptr_t key) {
    struct hpcw_i_handle_bucket *b = &table->bucket[hpcw_i_handles_bucket(table, key)];
    for (int i = 0; i < HPCW_I_HANDLE_SLOTS; i++) {
        if (atomic_load_explicit(&b->slot[i].key, memory_order_relaxed) == key) {
            return &b->slot[i];
        }
    }
    struct hpcw_i_handle_more *more = atomic_load_explicit(&b->more, memory_order_acquire);
    return more == NULL ? NULL : hpcw_i_handles_find_more(more, key);
}

/*
 * Hides an entry while MPI may free its handle: from then on, before this thread has learnt of it, another thread may
 * be given an equal one. Then either shows it again or drops it.
 */
static inline void hpcw_i_handle_hide(struct hpcw_i_handle *handle) {
    atomic_store_explicit(&handle->key, 1, memory_order_relaxed);
}
static inline void hpcw_i_handle_show(struct hpcw_i_handle *handle, uintptr_t key) {
    atomic_store_explicit(&handle->key, key, memory_order_relaxed);
}
static inline void hpcw_i_handle_drop(struct hpcw_i_handle *handle) {
    atomic_store_explicit(&handle->key, 0, memory_order_release);
}

#endif
