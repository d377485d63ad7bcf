/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns the calls of a rank into steps of a program for the simulator (gen/sim/lua). Consecutive calls that
 * differ only in their partner form one step. Two steps are equal if they move the same bytes between the same
 * ranks; times do not matter. Each rank numbers its distinct steps in the order of their first use. So ranks
 * that do the same with other partners have the same numbers and one role.
 *
 * A log does not show which request a call waits for. Receives are assumed to end in the order in which they
 * were posted. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_STEPS_H
#define HPCW_GEN_FIT_LOG_PROGRAM_STEPS_H

#include "gen/fit/log/program/history.h"
#include "gen/sim/sim.h"

enum fit_verb {
    FIT_OTHER, /* unknown to the simulator: a state with this name */
    FIT_SEND,
    FIT_RECV,
    FIT_ISEND,
    FIT_IRECV,
    FIT_SENDRECV, /* two items: the send, and the receive */
    FIT_WAIT,     /* waits for the oldest `receives` receives and the oldest `sends` sends */
    /* waits for as many receives and sends as FIT_WAIT, or if `all`, for all pending requests of the rank */
    FIT_WAITALL,
    FIT_WAITANY, /* waits for any of the pending receives */
    FIT_MEET,    /* a collective call; one item: the root, and the bytes */
    /* one item: the leader of the new communicator, and the rank in it */
    FIT_SPLIT
};

enum { FIT_NOBODY = UINT32_MAX }; /* MPI_PROC_NULL, or the leader of no communicator */

struct fit_item {
    /* world rank, or FIT_NOBODY; for a call on a communicator, rank in it */
    uint32_t peer;
    uint32_t bytes;
    int32_t tag;
    bool send;
};

struct fit_step {
    uint8_t verb; /* enum fit_verb */
    uint8_t call; /* of FIT_MEET: enum sim_call */
    bool all;
    /* the simulator has no call of this name: its nearest call runs in a state of this name */
    bool wraps;
    uint32_t name;
    uint32_t comm; /* 0: the world; n: the n-th communicator that the rank obtained */
    uint32_t receives, sends;
    uint64_t members;      /* of FIT_SPLIT: as in struct fit_comm, of the new communicator */
    uint32_t first, items; /* range of the rank's items */
    /* range of calls in the rank's history: the first one, and how many */
    uint32_t call_index, calls;
};

struct fit_steps {
    struct fit_step *step;
    struct fit_item *item;
    uint32_t *number; /* [count] number of each step; equal steps have equal numbers */
    uint32_t *sample; /* [numbers] the first step with this number */
    /* [ends of the rank] when a receive was posted, seconds; NaN: unknown, or a send */
    double *posted;
    size_t count, items, numbers;
    size_t step_capacity, item_capacity, number_capacity, sample_capacity;
    uint64_t hash; /* hash of what the steps of a role have in common */
};

/* Calls that exchange data but are not steps: in the twin they are states that take time. Indexed by the
 * history's names. */
struct fit_lack {
    uint64_t calls, bytes; /* bytes of messages, and bytes that ranks send in collective calls */
    double seconds;
};

/* Makes the steps of a rank, without numbers, and adds what they lack to lack[names]. Free *s also after a
 * failure. HPCW_ENOMEM. */
hpcw_status fit_steps_make(const struct fit_history *h, uint32_t rank, struct fit_steps *s,
                           struct fit_lack *lack, hpcw_error *err);
/* Numbers the steps once the roots of collective calls are known; may be called again. loose: steps are also
 * equal if their partners, bytes and tags differ. HPCW_ENOMEM. */
hpcw_status fit_steps_number(struct fit_steps *s, bool loose, hpcw_error *err);
void fit_steps_free(struct fit_steps *s);

#endif
