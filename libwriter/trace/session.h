/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recording of this program: its log, and the timelines of its threads.
 *
 * The wrapper replaces MPI's functions in a program that was not written for it. So, unlike the rest of the
 * library, it has process-wide state, uses MPI_COMM_WORLD, and reports failures on stderr: its callers could
 * not handle them. A failure of the wrapper does not change what the program gets from MPI.
 */
#ifndef HPCW_TRACE_SESSION_H
#define HPCW_TRACE_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <hpcw/clog2_log.h>

struct hpcw_i_trace_session {
    hpcw_clog2_log *log;
    /* whether some processes of MPI_COMM_WORLD have no wrapper, so that the wrapper must make no collective
     * call */
    bool apart;
    /* whether new and completed handles are put into the tables: from MPI_Init to MPI_Finalize, also while
     * recording is off */
    atomic_bool following;
    atomic_uint_fast64_t forgotten; /* number of handles and timelines that are missing, as memory ran out */
};
extern struct hpcw_i_trace_session hpcw_i_trace_session;

struct hpcw_i_trace_thread {
    hpcw_clog2_timeline *timeline;
    /* number of nested MPI calls, as MPI calls its own public functions, too */
    unsigned depth;
    bool refused; /* whether memory ran out for a timeline of this thread */
    /* whether a Fortran binding made the call, so that arguments may be variables of the binding */
    bool binding;
};
/* The wrapper is loaded at the start of the program, so the fastest model of thread-local storage is allowed. */
extern _Thread_local struct hpcw_i_trace_thread hpcw_i_trace_thread __attribute__((tls_model("initial-exec")));

/* Gives the first timeline to the calling thread, which initialises MPI. Returns false if memory runs out. */
bool hpcw_i_trace_session_begin(hpcw_clog2_log *log);

/* Ends the use of the log and its timelines. The caller frees the log. */
void hpcw_i_trace_session_end(void);

/* Gives a thread a timeline. Returns NULL if recording has ended or memory runs out. */
hpcw_clog2_timeline *hpcw_i_trace_timeline_new(struct hpcw_i_trace_thread *t);

static inline hpcw_clog2_timeline *hpcw_i_trace_timeline(struct hpcw_i_trace_thread *t) {
    return __builtin_expect(t->timeline != NULL, true) ? t->timeline : hpcw_i_trace_timeline_new(t);
}

static inline bool hpcw_i_trace_following(void) {
    return atomic_load_explicit(&hpcw_i_trace_session.following, memory_order_relaxed);
}

static inline void hpcw_i_trace_forgot(void) {
    atomic_fetch_add(&hpcw_i_trace_session.forgotten, 1);
}

#endif
