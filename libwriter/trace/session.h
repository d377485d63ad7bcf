/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recording of this program: its log, and the timelines of its threads.
 *
 * The wrapper replaces MPI's functions in a program that was not written for it. So, unlike the rest of the
 * library, it has process-wide state, uses MPI_COMM_WORLD, and reports failures on stderr: no caller of it could
 * handle them. No failure of it changes what the program gets from MPI.
 */
#ifndef HPCW_TRACE_SESSION_H
#define HPCW_TRACE_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <hpcw/clog2_log.h>

struct hpcw_i_trace_session {
    hpcw_clog2_log *log;
    /* some processes of MPI_COMM_WORLD have no wrapper, so the wrapper makes no collective call */
    bool apart;
    /* true from MPI_Init to MPI_Finalize, also while nothing is recorded: handles are followed */
    atomic_bool following;
    atomic_uint_fast64_t forgotten; /* number of handles that are not followed, as there was no memory */
};
extern struct hpcw_i_trace_session hpcw_i_trace_session;

struct hpcw_i_trace_thread {
    hpcw_clog2_timeline *timeline;
    unsigned depth; /* nesting of calls: MPI calls its own public functions, too */
    bool refused;   /* there was no memory for a timeline */
    bool binding;   /* a Fortran binding made the call: arguments may be variables of the binding */
};
/* The library is loaded at the start of the program, so the fastest model of thread-local memory is possible. */
extern _Thread_local struct hpcw_i_trace_thread hpcw_i_trace_thread __attribute__((tls_model("initial-exec")));

/* Gives the calling thread the first timeline. This is the thread that initialises MPI. Returns false if memory
 * runs out. */
bool hpcw_i_trace_session_begin(hpcw_clog2_log *log);

/* Forgets the log, which the caller owns, and its timelines. */
void hpcw_i_trace_session_end(void);

/* Gives a thread a timeline; NULL if there is none. */
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
