/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recording under MPE's names: a log of its own, or the wrapper's. As MPE's calls have no handle, it is process-wide,
 * uses MPI_COMM_WORLD, and reports on stderr.
 */
#ifndef COMPAT_MPE_SESSION_H
#define COMPAT_MPE_SESSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <hpcw/clog2_log.h>

/* What MPE's header declares is exported. */
#pragma GCC visibility push(default)
#include <mpe_log.h>
#pragma GCC visibility pop

/* As MPE_Initialized_logging returns it. */
enum { MPE_NEVER = 0, MPE_OPEN = 1, MPE_ENDED = 2 };

struct mpe_session {
    pthread_mutex_t lock; /* of what is not atomic, and of the definitions */
    atomic_int phase;
    atomic_bool on;      /* events are recorded */
    atomic_uint round;   /* of MPE_Init_log: timelines belong to one */
    bool joined;         /* the log is the wrapper's */
    hpcw_clog2_log *log; /* NULL: none */
    int process;
};
extern struct mpe_session mpe_session;

/* Prints a line. */
void mpe_say(const char *fmt, ...) HPCW_PRINTF(1, 2);

/* Whether there is a log. The first call joins the wrapper's, if the program runs with the wrapper. */
bool mpe_begun(void);

/* The timeline of the calling thread; NULL: nothing is recorded. */
hpcw_clog2_timeline *mpe_timeline(void);

/* The log's number of a communicator; UINT32_MAX: it has none. */
uint32_t mpe_comm(MPI_Comm comm);

#endif
