/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of what the wrapper knows about MPI's handles: of communicators, or of requests.
 *
 * Any number of threads find, add and remove entries at once, without a lock. A thread takes an entry by changing
 * its key. Almost always the entry has no other user, as MPI allows only one thread at a time to make, complete or
 * free a handle. But MPI returns the same handle for all requests that are complete already.
 */
#ifndef HPCW_TRACE_HANDLES_H
#define HPCW_TRACE_HANDLES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers of a communicator in the log. */
struct hpcw_i_trace_comm {
    uint32_t own; /* number that its events are shown on */
    /* number that the ranks of its messages refer to: `own`, the remote half, or HPCW_I_TRACE_UNKNOWN */
    uint32_t peers;
};

/* A number that no communicator gets: numbers in the log have 24 bits. Messages on it are not recorded. */
enum { HPCW_I_TRACE_UNKNOWN = 0xffffff };

/* Values of `key` that are not handles. */
enum { HPCW_I_TRACE_FREE = 0, HPCW_I_TRACE_HIDDEN = 1 };

struct hpcw_i_trace_handle {
    _Atomic(uintptr_t) key;
    /* numbers of the communicator: of the handle itself, or that of its request, file or window */
    struct hpcw_i_trace_comm comm;
    int32_t kind; /* a value of an enumeration of the table's owner */
    /* the state that shows the completion of a receive; 0: the completion is not recorded */
    int16_t waited;
    bool cancelled; /* MPI_Cancel was called for this request */
    union {
        struct {
            uint32_t duplicates; /* number of duplicates that MPI_Comm_idup has made */
            /* number of the communicator itself; of an inter-communicator, `own` is the local half */
            uint32_t number;
        } comm;
        struct {
            uint64_t size; /* bytes of the message, or of the part that fits in the buffer */
            int32_t peer, tag;
        } message; /* of a persistent send, or of the receive of MPI_Isendrecv */
        struct {
            uint32_t number;
            int32_t kind;
            const void *made; /* where MPI writes the communicator; NULL: `key` is the communicator already */
            uintptr_t key;
        } duplicate; /* of a request of MPI_Comm_idup */
    } as;
};

/* Entries of a bucket that need no allocation. A bucket is then two cache lines. */
enum { HPCW_I_TRACE_SLOTS = 3 };

struct hpcw_i_trace_handle_more {
    struct hpcw_i_trace_handle handle;
    struct hpcw_i_trace_handle_more *next;
};

struct hpcw_i_trace_bucket {
    struct hpcw_i_trace_handle slot[HPCW_I_TRACE_SLOTS];
    _Atomic(struct hpcw_i_trace_handle_more *) more; /* list that grows at its head; freed with the table */
};

struct hpcw_i_trace_handles {
    struct hpcw_i_trace_bucket *bucket; /* [1 << bits] */
    unsigned bits;
};

/*
 * Tells whether threads call MPI at the same time. If not, entries are taken without an atomic operation, which
 * would be slow.
 */
extern bool hpcw_i_trace_handles_threads;

/* Changes the key of an entry. Returns false if another thread has changed it before. */
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

/* Makes a table. Returns false if memory runs out. */
bool hpcw_i_trace_handles_new(struct hpcw_i_trace_handles *table, unsigned bits);
void hpcw_i_trace_handles_free(struct hpcw_i_trace_handles *table);

/* Continues hpcw_i_trace_handles_find in a bucket that overflowed. */
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

/* Continues hpcw_i_trace_handles_add in a bucket that overflows. */
struct hpcw_i_trace_handle *hpcw_i_trace_handles_add_more(struct hpcw_i_trace_bucket *b, uintptr_t key);

/* Takes the entry if it is free, and returns whether it was. */
static inline bool hpcw_i_trace_handle_claim(struct hpcw_i_trace_handle *handle, uintptr_t key) {
    return atomic_load_explicit(&handle->key, memory_order_relaxed) == HPCW_I_TRACE_FREE &&
           hpcw_i_trace_handle_take(handle, HPCW_I_TRACE_FREE, key);
}

/* Adds an entry and sets only its `key`. Returns NULL if memory runs out. */
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
 * Hides an entry while MPI may free its handle: right after that, MPI may give an equal handle to another thread.
 * The caller then shows the entry again or drops it. Returns false if another thread has the entry.
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
