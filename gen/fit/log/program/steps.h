/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns the calls of a rank into steps of a program for the simulator (gen/sim/lua). Consecutive calls that
 * only differ in their partner form one step. Two steps are equal if they move the same bytes between the same
 * ranks; times do not matter. Each rank numbers its distinct steps in the order of their first use. So ranks
 * that make the same calls with other partners have the same numbers, and have one role.
 *
 * A log does not show which request a call waits for. Receives are assumed to end in the order in which they
 * were posted. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_STEPS_H
#define HPCW_GEN_FIT_LOG_PROGRAM_STEPS_H

#include "gen/fit/log/program/history.h"
#include "gen/sim/sim.h"

enum fit_verb {
    FIT_OTHER, /* a call that the simulator does not have: a state with the name of the call */
    FIT_SEND,
    FIT_RECV,
    FIT_ISEND,
    FIT_IRECV,
    FIT_SENDRECV, /* with two items: the send and the receive */
    FIT_WAIT,     /* waits for the oldest `receives` receives and the oldest `sends` sends */
    /* waits as FIT_WAIT or, if `all` is true, for all pending requests of the rank */
    FIT_WAITALL,
    /* waits for any pending receive or, without `receives`, send; if `all` is true, for any pending request */
    FIT_WAITANY,
    FIT_MEET, /* a collective call, with one item: root and bytes */
    /* makes a communicator, with one item: leader of the communicator and own rank in it */
    FIT_SPLIT
};

enum { FIT_NOBODY = UINT32_MAX }; /* MPI_PROC_NULL; in a split: the rank gets no communicator */

struct fit_item {
    /* rank of the partner in MPI_COMM_WORLD, or in the communicator of the call; FIT_NOBODY: there is no
     * partner */
    uint32_t peer;
    uint32_t bytes;
    int32_t tag;
    bool send;
};

struct fit_step {
    uint8_t verb; /* enum fit_verb */
    uint8_t call; /* enum sim_call, for FIT_MEET */
    bool all;
    /* true: the simulator has no call of this name, so its nearest call runs in a state of this name */
    bool wraps;
    uint32_t name;
    uint32_t comm; /* 0: MPI_COMM_WORLD; n: the n-th communicator that the rank obtained */
    uint32_t receives, sends;
    uint64_t members;      /* for FIT_SPLIT: members of the new communicator, as in struct fit_comm */
    uint32_t first, items; /* range of elements of fit_steps.item */
    /* range of calls in the history of the rank: index of the first call, and number of calls */
    uint32_t call_index, calls;
};

struct fit_steps {
    struct fit_step *step;
    struct fit_item *item;
    uint32_t *number; /* [count] number of each step; equal steps have equal numbers */
    uint32_t *sample; /* [numbers] index of the first step with each number */
    /* [ends of the rank] time at which a receive was posted, seconds; NaN: unknown, or the end of a send */
    double *posted;
    size_t count, items, numbers;
    size_t step_capacity, item_capacity, sample_capacity;
    uint64_t hash; /* hash of what the steps of a role have in common */
};

/* Calls that exchange data but cannot be steps. The learned workload has them as states that take time. Arrays are
 * indexed as fit_history.name. */
struct fit_lack {
    /* number of calls; bytes of their messages, and bytes that ranks send in collective calls */
    uint64_t calls, bytes;
    double seconds;
};

/* Makes the steps of a rank, without numbers. Adds calls that exchange data but cannot be steps to lack[names].
 * Free *s also after a failure. HPCW_ENOMEM. */
hpcw_status fit_steps_make(const struct fit_history *h, uint32_t rank, struct fit_steps *s,
                           struct fit_lack *lack, hpcw_error *err);
/* Numbers the steps. Call it after the roots of collective calls are known. May be called again. loose: steps
 * are equal even if their partners, bytes and tags differ. HPCW_ENOMEM. */
hpcw_status fit_steps_number(struct fit_steps *s, bool loose, hpcw_error *err);
void fit_steps_free(struct fit_steps *s);

#endif
