/* SPDX-License-Identifier: BSD-3-Clause */
/* History of the ranks of an event log: their MPI calls in order, and the messages that begin or end in these
 * calls. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_HISTORY_H
#define HPCW_GEN_FIT_LOG_PROGRAM_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/clog2.h>
#include <hpcw/status.h>

/* One end of a message. */
struct fit_end {
    double time, other; /* time: seconds. other: time of the other end of the message, seconds. */
    uint32_t peer;      /* rank in MPI_COMM_WORLD */
    uint32_t bytes;
    int32_t tag;
    bool send;
};

/* An outermost MPI call: it is not nested in another one. */
struct fit_call {
    double begin, end; /* seconds */
    uint32_t name;     /* index into fit_history.name */
    uint32_t comm;     /* index into fit_history.comm */
    uint32_t first;    /* index into fit_rank.end: first of the call's entries */
    uint32_t ends;
    uint64_t sent, received; /* numbers of bytes that a collective call reports */
};

/* Communicator that a rank obtained. time: when it obtained the communicator, seconds. place: its rank in the
 * communicator. */
struct fit_made {
    double time;
    uint32_t comm, place;
};

struct fit_rank {
    struct fit_call *call;
    struct fit_end *end;
    struct fit_made *made;
    size_t calls, ends, mades, call_capacity, end_capacity, made_capacity;
};

struct fit_comm {
    uint32_t leader;  /* lowest world rank in the communicator */
    uint32_t size;    /* number of ranks in the communicator */
    uint64_t members; /* sum of hashes of the world ranks in the communicator and their ranks in it */
};

enum { FIT_STATES_TEXT = 140 };

struct fit_history {
    const char *path; /* of the log, for messages; borrowed from the caller of fit_history_read */
    uint32_t ranks;
    char (*name)[HPCW_CLOG2_NAME + 1];
    size_t names, name_capacity;
    struct fit_rank *rank; /* [ranks] */
    struct fit_comm *comm; /* [comms] comm[0] is the world */
    uint32_t comms;
    double begin, end; /* begin of the first call and end of the last call, seconds */
    uint64_t calls;
    uint64_t messages, bytes;
    uint64_t of_threads; /* number of calls of threads other than the main one; these calls are skipped */
    /* names of all states, separated by commas and cut off if they do not fit; MPI calls and "Compute" are left
     * out, since the learned workload has them */
    char states[FIT_STATES_TEXT];
};

/* Reads a log. Free *h also after a failure. `path` must stay valid until then.
 *
 * HPCW_EINVAL: the log has no MPI calls, or more than `most`. Memory: 100 bytes for each call. Also fails as
 * the reader does, or with HPCW_ENOMEM. */
hpcw_status fit_history_read(const char *path, uint64_t most, struct fit_history *h, hpcw_error *err);
void fit_history_free(struct fit_history *h);

/* Returns the index of the first call of a rank that is open at `time`, or else of the last call that ended
 * before `time`. SIZE_MAX: there is none. */
size_t fit_call_at(const struct fit_rank *rank, double time);

#endif
