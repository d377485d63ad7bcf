/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hash table of MPI's handles, with what the wrapper knows about each: communicators, requests, or files and
 * windows.
 *
 * Any number of threads find, add and remove entries at the same time, without a lock. A thread reserves an
 * entry by changing its key. Threads seldom compete, as MPI lets only one thread at a time make, complete or
 * free a handle. The exception is the handle that MPI returns for every request which is complete at once.
 */
#ifndef HPCW_TRACE_HANDLES_H
#define HPCW_TRACE_HANDLES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers in the log that the events of a communicator have. */
struct hpcw_i_trace_comm {
    uint32_t own; /* number of the communicator on which the events are shown */
    /* number of the communicator that has the ranks of the messages: `own`, the remote half of an
     * inter-communicator, or HPCW_I_TRACE_UNKNOWN */
    uint32_t peers;
};

/* A number that no communicator in a log has, as numbers have 24 bits. Messages with it are not recorded. */
enum { HPCW_I_TRACE_UNKNOWN = 0xffffff };

/* Keys of entries without a handle: of an unused entry, and of one that a thread has reserved. */
enum { HPCW_I_TRACE_FREE = 0, HPCW_I_TRACE_HIDDEN = 1 };

struct hpcw_i_trace_handle {
    _Atomic(uintptr_t) key;
    /* the communicator with this handle, or that of the request, file or window with this handle */
    struct hpcw_i_trace_comm comm;
    int32_t kind; /* enum comm_kind or enum hpcw_i_trace_request_kind, depending on the table */
    /* state by which the completion of a receive is shown; 0: it is not recorded */
    int16_t waited;
    bool cancelled; /* whether MPI_Cancel was called for this request */
    union {
        struct {
            uint32_t duplicates; /* number of MPI_Comm_idup calls on this communicator */
            /* number of the communicator in the log; if it is an inter-communicator, `own` is that of its local
             * half */
            uint32_t number;
        } comm;
        struct {
            uint64_t size; /* size of the message in bytes; of a receive, the size of its buffer */
            int32_t peer, tag;
        } message; /* of a persistent send, or of the receive of MPI_Isendrecv */
        struct {
            uint32_t number;
            int32_t kind;
            const void *made; /* where MPI writes the handle of the duplicate; NULL: `key` is that handle */
            uintptr_t key;
        } duplicate; /* the communicator that a request of MPI_Comm_idup makes */
    } as;
};

/* Entries in a bucket that need no list. A bucket of this size has two cache lines. */
enum { HPCW_I_TRACE_SLOTS = 3 };

struct hpcw_i_trace_handle_more {
    struct hpcw_i_trace_handle handle;
    struct hpcw_i_trace_handle_more *next;
};

struct hpcw_i_trace_bucket {
    struct hpcw_i_trace_handle slot[HPCW_I_TRACE_SLOTS];
    /* list of further entries; new ones come first, and are freed with the table */
    _Atomic(struct hpcw_i_trace_handle_more *) more;
};

struct hpcw_i_trace_handles {
    struct hpcw_i_trace_bucket *bucket; /* [1 << bits] */
    unsigned bits;
};

/* Whether threads may call MPI at the same time. If not, entries are reserved without atomic operations, which
 * would be slow. */
extern bool hpcw_i_trace_handles_threads;

/* Changes the key of an entry from `from` to `to`. Returns false if the key is not `from`, as another thread
 * has changed it. */
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

/* Makes an empty table of 1 << bits buckets. Returns false if memory runs out. */
bool hpcw_i_trace_handles_new(struct hpcw_i_trace_handles *table, unsigned bits);
void hpcw_i_trace_handles_free(struct hpcw_i_trace_handles *table);

/* Continues hpcw_i_trace_handles_find in the list of a bucket. */
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

/* Continues hpcw_i_trace_handles_add in a bucket without an unused entry. */
struct hpcw_i_trace_handle *hpcw_i_trace_handles_add_more(struct hpcw_i_trace_bucket *b, uintptr_t key);

/* Gives an unused entry the key `key`. Returns false if the entry is used. */
static inline bool hpcw_i_trace_handle_claim(struct hpcw_i_trace_handle *handle, uintptr_t key) {
    return atomic_load_explicit(&handle->key, memory_order_relaxed) == HPCW_I_TRACE_FREE &&
           hpcw_i_trace_handle_take(handle, HPCW_I_TRACE_FREE, key);
}

/* Adds an entry with this key. Its other members have any values. Returns NULL if memory runs out. */
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
 * Reserves an entry while MPI may free its handle: before the call returns, another thread may get a handle of the
 * same value. The caller then restores the key (hpcw_i_trace_handle_show) or removes the entry
 * (hpcw_i_trace_handle_drop). Returns false if another thread has reserved the entry.
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
