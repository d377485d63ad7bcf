/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of communicators. The log has a number for each, from the call that makes it to the call that frees
 * it. */
#ifndef HPCW_TRACE_COMMS_H
#define HPCW_TRACE_COMMS_H

#include <stdbool.h>
#include <stdint.h>

#include "libwriter/trace/handles.h"
#include "libwriter/trace/real.h"
#include "libwriter/trace/session.h"

/* MPI's handles are pointers in some libraries and integers in others. */
#define HPCW_I_TRACE_KEY(handle) ((uintptr_t)(handle))

/* Numbers of the communicators that every log has. */
enum { HPCW_I_TRACE_WORLD = 0, HPCW_I_TRACE_SELF = 1 };

extern struct hpcw_i_trace_handles hpcw_i_trace_comms;

/* The table of files and windows. Handles of one MPI are never equal, even if they are of different types. */
extern struct hpcw_i_trace_handles hpcw_i_trace_owned;

/* Makes the tables. Returns false if memory runs out. */
bool hpcw_i_trace_comms_begin(void);

static inline struct hpcw_i_trace_handle *hpcw_i_trace_comm_find(MPI_Comm comm) {
    return hpcw_i_trace_handles_find(&hpcw_i_trace_comms, HPCW_I_TRACE_KEY(comm));
}

/* Returns the numbers of a communicator. An unknown one is shown as the world. */
static inline struct hpcw_i_trace_comm hpcw_i_trace_comm_of(MPI_Comm comm) {
    if (comm == MPI_COMM_WORLD) {
        return (struct hpcw_i_trace_comm){HPCW_I_TRACE_WORLD, HPCW_I_TRACE_WORLD};
    }
    const struct hpcw_i_trace_handle *h = hpcw_i_trace_comm_find(comm);
    return h == NULL ? (struct hpcw_i_trace_comm){HPCW_I_TRACE_WORLD, HPCW_I_TRACE_UNKNOWN} : h->comm;
}

/* Returns the numbers of the communicator of a file or window. */
static inline struct hpcw_i_trace_comm hpcw_i_trace_comm_of_owned(uintptr_t key) {
    const struct hpcw_i_trace_handle *h = hpcw_i_trace_handles_find(&hpcw_i_trace_owned, key);
    return h == NULL ? (struct hpcw_i_trace_comm){HPCW_I_TRACE_WORLD, HPCW_I_TRACE_UNKNOWN} : h->comm;
}

/* Adds the communicator that a call has made. Collective over it if all its processes are in MPI_COMM_WORLD. */
void hpcw_i_trace_comm_made(struct hpcw_i_trace_thread *t, MPI_Comm parent, MPI_Comm made);

/* Records that a communicator was freed, and removes it from the table. */
void hpcw_i_trace_comm_freed(struct hpcw_i_trace_thread *t, struct hpcw_i_trace_handle *comm);

/*
 * A duplicate that MPI makes in the background (MPI_Comm_idup). It gets no identity by broadcast, as a process
 * that waits for it must not wait for other processes. Instead all processes compute the identity, from that of
 * the parent and the number of duplicates so far. They add it to the log before they call MPI. No process can use
 * a duplicate before all have asked for it.
 */
struct hpcw_i_trace_duplicate {
    struct hpcw_i_trace_comm comm;
    uint32_t number; /* number of the duplicate, or HPCW_I_TRACE_UNKNOWN */
    int32_t kind;    /* kind of the parent */
};
struct hpcw_i_trace_duplicate hpcw_i_trace_comm_duplicate(struct hpcw_i_trace_thread *t, MPI_Comm parent);

/* Adds the duplicate to the table after MPI has made it. */
void hpcw_i_trace_comm_duplicated(struct hpcw_i_trace_duplicate duplicate, uintptr_t key);

#endif
