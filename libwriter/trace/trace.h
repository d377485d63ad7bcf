/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of the wrapper share: is it on, who am I, and the state that a call becomes.
 *
 * This library replaces MPI's functions in a program that knows nothing of it. So, unlike everything else here, it has
 * process-wide state, works on MPI_COMM_WORLD, and says on stderr, once, what went wrong: there is no caller to tell.
 * What goes wrong never changes what the program gets from MPI.
 */
#ifndef HPCW_TRACE_TRACE_H
#define HPCW_TRACE_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What mpi.h declares is what this library exports, and nothing else. */
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#include <hpcw/clog2_log.h>

#include "libwriter/trace/handles.h"

enum { HPCW_I_TRACE_STATES = 300 };

/* Numbers of states that are needed by name. */
enum hpcw_i_trace_state {
    HPCW_I_STATE_ALLTOALL = 3,
    HPCW_I_STATE_ALLTOALLV = 4,
    HPCW_I_STATE_SEND_WAITED = 250,
    HPCW_I_STATE_RECEIVE_WAITED = 251,
    HPCW_I_STATE_MATCHED_WAITED = 252
};

struct hpcw_i_trace {
    atomic_uchar active[HPCW_I_TRACE_STATES]; /* recorded now */
    atomic_uchar used[HPCW_I_TRACE_STATES];   /* has been */
    atomic_bool follows; /* between MPI_Init and MPI_Finalize: handles are followed, on or off */
    atomic_bool on;
    struct hpcw_i_handles comms;    /* but MPI_COMM_WORLD */
    struct hpcw_i_handles requests; /* receives, persistent ones, matched messages */
    atomic_uint_fast64_t forgotten; /* for want of memory */
};
extern struct hpcw_i_trace hpcw_i_trace;

/* A thread. `depth` counts calls inside each other: what MPI calls by its own public names is not the program's. */
struct hpcw_i_trace_thread {
    hpcw_clog2_timeline *line;
    unsigned depth;
    bool refused; /* there was no line for it */
};
/* The library is there from the start of the program, so its threads' memory can be where access is cheapest. */
extern _Thread_local struct hpcw_i_trace_thread hpcw_i_trace_thread __attribute__((tls_model("initial-exec")));

/* Makes the line of a thread that comes for the first time; NULL if there is none. */
hpcw_clog2_timeline *hpcw_i_trace_line(struct hpcw_i_trace_thread *t);

/* ---- communicators ---------------------------------------------------------------------------------------- */

/* Handles are pointers or integers, as the library likes. */
#define HPCW_I_KEY(handle) ((uintptr_t)(handle))

/* Where events on a communicator are shown, and where its peers are. */
struct hpcw_i_place {
    uint32_t comm, remote;
};

static inline struct hpcw_i_place hpcw_i_place_of(MPI_Comm comm) {
    if (comm == MPI_COMM_WORLD) {
        return (struct hpcw_i_place){0, 0};
    }
    const struct hpcw_i_handle *h = hpcw_i_handles_find(&hpcw_i_trace.comms, HPCW_I_KEY(comm));
    return h == NULL ? (struct hpcw_i_place){0, HPCW_I_NOT_FOLLOWED}
                     : (struct hpcw_i_place){h->comm, h->remote};
}

/* ---- a call ----------------------------------------------------------------------------------------------- */

/* A call that is being made. */
struct hpcw_i_span {
    struct hpcw_i_trace_thread *thread;
    hpcw_clog2_timeline *line; /* NULL: not recorded */
    struct hpcw_i_place place;
    int32_t state;
};

static inline struct hpcw_i_span hpcw_i_begin(int32_t state, MPI_Comm comm) {
    struct hpcw_i_span s = {.thread = &hpcw_i_trace_thread, .state = state};
    if (s.thread->depth++ == 0 &&
        atomic_load_explicit(&hpcw_i_trace.active[state], memory_order_relaxed) != 0) {
        s.line = s.thread->line != NULL ? s.thread->line : hpcw_i_trace_line(s.thread);
    }
    if (s.line != NULL) {
        if (atomic_load_explicit(&hpcw_i_trace.used[state], memory_order_relaxed) == 0) {
            atomic_store_explicit(&hpcw_i_trace.used[state], 1, memory_order_relaxed);
        }
        s.place = hpcw_i_place_of(comm);
        hpcw_clog2_log_begin(s.line, s.place.comm, state);
    }
    return s;
}

/* Hands the result of the call through. */
static inline int hpcw_i_end(const struct hpcw_i_span *s, int code) {
    if (s->line != NULL) {
        hpcw_clog2_log_end(s->line, s->place.comm, s->state);
    }
    s->thread->depth--;
    return code;
}

/* Whether this call is the program's and handles are followed: what it makes or completes must be noted, on or off. */
static inline bool hpcw_i_follows(const struct hpcw_i_span *s) {
    return s->thread->depth == 1 && atomic_load_explicit(&hpcw_i_trace.follows, memory_order_relaxed);
}

#endif
