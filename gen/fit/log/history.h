/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks of an event log did: their calls of MPI one after the other, and the messages that begin or end in them. */
#ifndef HPCW_GEN_FIT_LOG_HISTORY_H
#define HPCW_GEN_FIT_LOG_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/clog2.h>
#include <hpcw/status.h>

/* An end of a message. */
struct fit_end {
    double time, other; /* seconds; of the other end */
    uint32_t peer;      /* rank of the world */
    uint32_t bytes;
    int32_t tag;
    bool send;
};

/* A call that is in no other call of MPI. */
struct fit_call {
    double begin, end; /* seconds */
    uint32_t name;     /* index of fit_history.name */
    uint32_t comm;     /* index of fit_history.comm */
    uint32_t first;    /* of the rank's ends of messages */
    uint32_t ends;
    uint64_t sent, received; /* bytes that a collective call says */
};

/* When a rank got a communicator, and its place there. */
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
    uint32_t leader; /* the lowest rank that has it */
    uint32_t size;   /* ranks that have it */
};

struct fit_history {
    uint32_t ranks;
    char (*name)[HPCW_CLOG2_NAME + 1];
    size_t names, name_capacity;
    struct fit_rank *rank; /* [ranks] */
    struct fit_comm *comm; /* [comms] comm[0] is the world */
    uint32_t comms;
    double begin, end; /* seconds: of the first call, and of the last one */
    uint64_t calls;    /* of all ranks */
    uint64_t messages, bytes;
    uint64_t of_threads; /* calls of other threads than the main one, which are left out */
};

/*
 * Reads a log. Free also after a failure.
 *
 * HPCW_EINVAL: there are no calls of MPI, or more than `most`, which bounds the memory to 100 bytes each. Errors of the reader;
 * HPCW_ENOMEM.
 */
hpcw_status fit_history_read(const char *path, uint64_t most, struct fit_history *h, hpcw_error *err);
void fit_history_free(struct fit_history *h);

/* The first place in `comm` where a rank's call has begun and not ended at `time`, or ended last before it; SIZE_MAX: none. */
size_t fit_call_at(const struct fit_rank *rank, double time);

#endif
