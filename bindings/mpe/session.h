/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recording behind MPE's calls. It goes into a log of its own or, if the wrapper (libhpcw_trace) is loaded,
 * into the wrapper's log. MPE's calls have no handle. So there is one recording per process; it uses
 * MPI_COMM_WORLD, and reports errors on stderr.
 */
#ifndef COMPAT_MPE_SESSION_H
#define COMPAT_MPE_SESSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <hpcw/clog2_log.h>

/* The functions that MPE's header declares are exported. */
#pragma GCC visibility push(default)
#include <mpe_log.h>
#pragma GCC visibility pop

/* Values of MPE_Initialized_logging. */
enum { MPE_NEVER = 0, MPE_OPEN = 1, MPE_ENDED = 2 };

struct mpe_session {
    pthread_mutex_t lock; /* protects the members that are not atomic, and the definitions */
    atomic_int phase;
    atomic_bool on;      /* true: events are recorded */
    atomic_uint round;   /* number of MPE_Init_log calls so far; timelines of earlier rounds are not used */
    bool joined;         /* true: `log` is the log of the wrapper */
    hpcw_clog2_log *log; /* NULL: none */
    int process;
};
extern struct mpe_session mpe_session;

/* Prints a message as a line on stderr. */
void mpe_say(const char *fmt, ...) HPCW_PRINTF(1, 2);

/* Returns whether a log was begun. If the program runs with the wrapper, the first call makes the wrapper's log the
 * current one. */
bool mpe_begun(void);

/* Returns the timeline of the calling thread, or NULL if nothing is recorded. */
hpcw_clog2_timeline *mpe_timeline(void);

/* Returns the number that the log has for a communicator, or UINT32_MAX if the log does not have the
 * communicator. */
uint32_t mpe_comm(MPI_Comm comm);

#endif
