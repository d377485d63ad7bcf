/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of communicators. A communicator has a number in the log from the call that makes it to the call
 * that frees it. */
#ifndef HPCW_TRACE_COMMS_H
#define HPCW_TRACE_COMMS_H

#include <stdbool.h>
#include <stdint.h>

#include "libwriter/trace/handles.h"
#include "libwriter/trace/real.h"
#include "libwriter/trace/session.h"

/* An MPI handle as a key of the tables. Handles are pointers in some MPI libraries and integers in others. */
#define HPCW_I_TRACE_KEY(handle) ((uintptr_t)(handle))

/* Numbers of MPI_COMM_WORLD and MPI_COMM_SELF in every log. */
enum { HPCW_I_TRACE_WORLD = 0, HPCW_I_TRACE_SELF = 1 };

extern struct hpcw_i_trace_handles hpcw_i_trace_comms;

/* The table of MPI files and windows. A file and a window never have equal handles. */
extern struct hpcw_i_trace_handles hpcw_i_trace_owned;

/* Makes the tables of communicators, files and windows. Returns false if memory runs out. */
bool hpcw_i_trace_comms_begin(void);

static inline struct hpcw_i_trace_handle *hpcw_i_trace_comm_find(MPI_Comm comm) {
    return hpcw_i_trace_handles_find(&hpcw_i_trace_comms, HPCW_I_TRACE_KEY(comm));
}

/* Returns the numbers for the events of a communicator. One that is not in the table is shown as
 * MPI_COMM_WORLD. */
static inline struct hpcw_i_trace_comm hpcw_i_trace_comm_of(MPI_Comm comm) {
    if (comm == MPI_COMM_WORLD) {
        return (struct hpcw_i_trace_comm){HPCW_I_TRACE_WORLD, HPCW_I_TRACE_WORLD};
    }
    const struct hpcw_i_trace_handle *h = hpcw_i_trace_comm_find(comm);
    return h == NULL ? (struct hpcw_i_trace_comm){HPCW_I_TRACE_WORLD, HPCW_I_TRACE_UNKNOWN} : h->comm;
}

/* Returns the numbers of the communicator on which a file or window was made. `key` is the handle. */
static inline struct hpcw_i_trace_comm hpcw_i_trace_comm_of_owned(uintptr_t key) {
    const struct hpcw_i_trace_handle *h = hpcw_i_trace_handles_find(&hpcw_i_trace_owned, key);
    return h == NULL ? (struct hpcw_i_trace_comm){HPCW_I_TRACE_WORLD, HPCW_I_TRACE_UNKNOWN} : h->comm;
}

/* Adds the communicator `made` of a call on `parent` to the table and the log. Collective over `made` if all
 * its processes are in MPI_COMM_WORLD. */
void hpcw_i_trace_comm_made(struct hpcw_i_trace_thread *t, MPI_Comm parent, MPI_Comm made);

/* Records that a communicator was freed, and removes its entry from the table. */
void hpcw_i_trace_comm_freed(struct hpcw_i_trace_thread *t, struct hpcw_i_trace_handle *comm);

/*
 * A duplicate that MPI makes in the background (MPI_Comm_idup). Its identity is not broadcast: a wait for the
 * duplicate must not become a wait for other processes. Instead each process computes the identity from that of
 * the parent and the number of duplicates so far, and adds the duplicate to the log before it calls MPI. No
 * process can use the duplicate before all processes have called MPI_Comm_idup.
 */
struct hpcw_i_trace_duplicate {
    struct hpcw_i_trace_comm comm;
    uint32_t number; /* number of the duplicate in the log, or HPCW_I_TRACE_UNKNOWN */
    int32_t kind;    /* enum comm_kind of the parent */
};
struct hpcw_i_trace_duplicate hpcw_i_trace_comm_duplicate(struct hpcw_i_trace_thread *t, MPI_Comm parent);

/* Adds a duplicate to the table after MPI has made it. `key` is its handle. */
void hpcw_i_trace_comm_duplicated(struct hpcw_i_trace_duplicate duplicate, uintptr_t key);

#endif
