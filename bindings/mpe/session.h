/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recording under MPE's names, into a log of its own or into the wrapper's. MPE's calls have no handle. So the
 * recording is process-wide, uses MPI_COMM_WORLD, and reports on stderr.
 */
#ifndef COMPAT_MPE_SESSION_H
#define COMPAT_MPE_SESSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <hpcw/clog2_log.h>

/* Export what MPE's header declares. */
#pragma GCC visibility push(default)
#include <mpe_log.h>
#pragma GCC visibility pop

/* Values of MPE_Initialized_logging. */
enum { MPE_NEVER = 0, MPE_OPEN = 1, MPE_ENDED = 2 };

struct mpe_session {
    pthread_mutex_t lock; /* protects the members that are not atomic, and the definitions */
    atomic_int phase;
    atomic_bool on;      /* events are recorded */
    atomic_uint round;   /* number of MPE_Init_log calls; a timeline belongs to one round */
    bool joined;         /* the log is the wrapper's */
    hpcw_clog2_log *log; /* NULL: none */
    int process;
};
extern struct mpe_session mpe_session;

/* Prints a line. */
void mpe_say(const char *fmt, ...) HPCW_PRINTF(1, 2);

/* Returns whether a log was begun. If the program runs with the wrapper, the first call joins the wrapper's log. */
bool mpe_begun(void);

/* Returns the timeline of the calling thread, or NULL if nothing is recorded. */
hpcw_clog2_timeline *mpe_timeline(void);

/* Returns the log's number of a communicator, or UINT32_MAX if it has none. */
uint32_t mpe_comm(MPI_Comm comm);

#endif
