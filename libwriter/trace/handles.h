/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of what the wrapper knows about MPI's handles: about communicators, or about requests.
 *
 * Any number of threads find, add and remove entries at once, without a lock. A thread takes an entry by a change
 * of its key. Almost always the entry has no other user, as MPI allows only one thread at a time to make, complete
 * or free a handle. But MPI gives one handle to all requests that are complete when it returns them.
 */
#ifndef HPCW_TRACE_HANDLES_H
#define HPCW_TRACE_HANDLES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A communicator's numbers in the log. */
struct hpcw_i_trace_comm {
    uint32_t own;   /* where events on it are shown */
    uint32_t peers; /* where the ranks of its messages count: `own`, the remote half, HPCW_I_TRACE_UNKNOWN */
};

/* A number that no communicator gets: the log has 24 bits for it. Messages on it are not recorded. */
enum { HPCW_I_TRACE_UNKNOWN = 0xffffff };

/* Values of `key` that are no handles. */
enum { HPCW_I_TRACE_FREE = 0, HPCW_I_TRACE_HIDDEN = 1 };

struct hpcw_i_trace_handle {
    _Atomic(uintptr_t) key;
    struct hpcw_i_trace_comm comm; /* the communicator that this is, or belongs to */
    int32_t kind;                  /* an enumeration of the table's owner */
    int16_t waited;                /* the state that shows the completion of a receive; 0: it is not recorded */
    bool cancelled;                /* MPI_Cancel was called for this request */
    union {
        struct {
            uint32_t duplicates; /* that MPI_Comm_idup was asked for */
            uint32_t number;     /* of itself; of an inter-communicator, `own` is the local half */
        } comm;
        struct {
            uint64_t size; /* bytes, or those that fit in the buffer */
            int32_t peer, tag;
        } message; /* a persistent send, or the receive of MPI_Isendrecv */
        struct {
            uint32_t number;
            int32_t kind;
            const void *made; /* where MPI writes the communicator; NULL: it is `key` already */
            uintptr_t key;
        } duplicate; /* of MPI_Comm_idup */
    } as;
};

/* Entries of a bucket that need no allocation; a bucket is then two cache lines. */
enum { HPCW_I_TRACE_SLOTS = 3 };

struct hpcw_i_trace_handle_more {
    struct hpcw_i_trace_handle handle;
    struct hpcw_i_trace_handle_more *next;
};

struct hpcw_i_trace_bucket {
    struct hpcw_i_trace_handle slot[HPCW_I_TRACE_SLOTS];
    _Atomic(struct hpcw_i_trace_handle_more *) more; /* grows at its head; freed with the table */
};

struct hpcw_i_trace_handles {
    struct hpcw_i_trace_bucket *bucket; /* [1 << bits] */
    unsigned bits;
};

/*
 * Whether threads call MPI at the same time: if not, entries are taken without an atomic operation, which is slow.
 */
extern bool hpcw_i_trace_handles_threads;

/* Changes the key of an entry. False: another thread has changed it before. */
static inline bool hpcw_i_trace_handle_take(struct hpcw_i_trace_handle *handle, uintptr_t from, uintptr_t to) {
    if (hpcw_i_trace_handles_threads) {
        return atomic_compare_exchange_strong_explicit(&handle->key, &from, to, memory_order_acquire,
                                                       memory_order_relaxed);
    }
    bool same = atomic_load_explicit(&handle->key, memory_order_relaxed) == from;
    if (same) {
        atomic_store_explicit(&handle->key, to, memory_order_relaxed);
    }
    return same;
}

/* False: out of memory. */
bool hpcw_i_trace_handles_new(struct hpcw_i_trace_handles *table, unsigned bits);
void hpcw_i_trace_handles_free(struct hpcw_i_trace_handles *table);

/* The rest of hpcw_i_trace_handles_find, for a bucket that overflowed. */
struct hpcw_i_trace_handle *hpcw_i_trace_handles_find_more(struct hpcw_i_trace_handle_more *more,
                                                           uintptr_t key);

static inline size_t hpcw_i_trace_handles_bucket(const struct hpcw_i_trace_handles *table, uintptr_t key) {
    return (size_t)(((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - table->bits));
}

static inline struct hpcw_i_trace_handle *hpcw_i_trace_handles_find(const struct hpcw_i_trace_handles *table,
                                                                    uintptr_t key) {
    struct hpcw_i_trace_bucket *b = &table->bucket[hpcw_i_trace_handles_bucket(table, key)];
    for (int i = 0; i < HPCW_I_TRACE_SLOTS; i++) {
        if (__builtin_expect(atomic_load_explicit(&b->slot[i].key, memory_order_relaxed) == key, true)) {
            return &b->slot[i];
        }
    }
    struct hpcw_i_trace_handle_more *more = atomic_load_explicit(&b->more, memory_order_acquire);
    return more == NULL ? NULL : hpcw_i_trace_handles_find_more(more, key);
}

/* The rest of hpcw_i_trace_handles_add, for a bucket that overflows. */
struct hpcw_i_trace_handle *hpcw_i_trace_handles_add_more(struct hpcw_i_trace_bucket *b, uintptr_t key);

/* Takes the entry if it is free. */
static inline bool hpcw_i_trace_handle_claim(struct hpcw_i_trace_handle *handle, uintptr_t key) {
    return atomic_load_explicit(&handle->key, memory_order_relaxed) == HPCW_I_TRACE_FREE &&
           hpcw_i_trace_handle_take(handle, HPCW_I_TRACE_FREE, key);
}

/* Adds an entry, of which only `key` is set. NULL: out of memory. */
static inline struct hpcw_i_trace_handle *hpcw_i_trace_handles_add(struct hpcw_i_trace_handles *table,
                                                                   uintptr_t key) {
    struct hpcw_i_trace_bucket *b = &table->bucket[hpcw_i_trace_handles_bucket(table, key)];
    for (int i = 0; i < HPCW_I_TRACE_SLOTS; i++) {
        if (__builtin_expect(hpcw_i_trace_handle_claim(&b->slot[i], key), true)) {
            return &b->slot[i];
        }
    }
    return hpcw_i_trace_handles_add_more(b, key);
}

/*
 * Hides an entry while MPI may free its handle: as soon as it has, MPI may give an equal handle to another thread.
 * The caller then shows the entry again or drops it. False: another thread has the entry.
 */
static inline bool hpcw_i_trace_handle_hide(struct hpcw_i_trace_handle *handle, uintptr_t key) {
    return hpcw_i_trace_handle_take(handle, key, HPCW_I_TRACE_HIDDEN);
}
static inline void hpcw_i_trace_handle_show(struct hpcw_i_trace_handle *handle, uintptr_t key) {
    atomic_store_explicit(&handle->key, key, memory_order_release);
}
static inline void hpcw_i_trace_handle_drop(struct hpcw_i_trace_handle *handle) {
    atomic_store_explicit(&handle->key, HPCW_I_TRACE_FREE, memory_order_release);
}

#endif
