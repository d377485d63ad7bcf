/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of ranks as steps of a program that the simulator can run (gen/sim/lua). Calls that follow each other and differ in
 * their partner alone are one step. Two steps are equal if they move the same bytes between the same ranks; what time they
 * take does not count. A rank numbers its different steps as they come, so ranks that do the same with other partners have the same numbers,
 * and one role.
 *
 * A log does not say which request a call waits for. Receives are taken to end in the order in which they were posted.
 */
#ifndef HPCW_GEN_FIT_LOG_STEPS_H
#define HPCW_GEN_FIT_LOG_STEPS_H

#include "gen/fit/log/history.h"
#include "gen/sim/sim.h"

enum fit_verb {
    FIT_OTHER, /* what the simulator does not have: a state with this name */
    FIT_SEND,
    FIT_RECV,
    FIT_ISEND,
    FIT_IRECV,
    FIT_SENDRECV, /* two items: of the send, and of the receive */
    FIT_WAIT,     /* for `receives` of the oldest receives, and `sends` of the oldest sends */
    FIT_WAITALL,  /* the same; `all`: for all that the rank has not waited for */
    FIT_WAITANY,  /* for any of the receives under way */
    FIT_MEET,     /* one item: the root, and the bytes */
    FIT_SPLIT     /* one item: the leader of the new communicator, and the rank's place there */
};

enum { FIT_NOBODY = UINT32_MAX }; /* MPI_PROC_NULL; the leader of no communicator */

struct fit_item {
    uint32_t peer; /* rank of the world, or FIT_NOBODY; of a call of a communicator, place in it */
    uint32_t bytes;
    int32_t tag;
    bool send;
};

struct fit_step {
    uint8_t verb; /* enum fit_verb */
    uint8_t call; /* FIT_MEET: enum sim_call */
    bool all;
    bool wraps; /* the simulator has no call of this name: its own is in a state with the name */
    uint32_t name;
    uint32_t comm; /* 0: the world; n: the n-th communicator that the rank made */
    uint32_t receives, sends;
    uint32_t first, items;      /* of the rank's items */
    uint32_t call_index, calls; /* of the rank's history: the first one, and how many */
};

struct fit_steps {
    struct fit_step *step;
    struct fit_item *item;
    uint32_t *number; /* [count] of each step: equal ones have equal numbers */
    uint32_t *sample; /* [numbers] the first step with this number */
    double *posted;   /* [ends of the rank] when a receive was posted, seconds; NaN: not known, or a send */
    size_t count, items, numbers;
    size_t step_capacity, item_capacity, number_capacity, sample_capacity;
    uint64_t hash; /* of what the steps of a role have in common */
};

/* Calls by which ranks exchange data and that the steps lack: in the twin they are states that take time. By names of the history. */
struct fit_lack {
    uint64_t calls, bytes; /* bytes: those of messages, and those that ranks send in collective calls */
    double seconds;
};

/* The steps of a rank, without numbers; adds what they lack to lack[names]. Free also after a failure. HPCW_ENOMEM. */
hpcw_status fit_steps_make(const struct fit_history *h, uint32_t rank, struct fit_steps *s,
                           struct fit_lack *lack, hpcw_error *err);
/* Numbers them, once the roots of collective calls are known, or anew. `loose`: steps are equal, too, if their partners, bytes and tags
 * are not. HPCW_ENOMEM. */
hpcw_status fit_steps_number(struct fit_steps *s, bool loose, hpcw_error *err);
void fit_steps_free(struct fit_steps *s);

/* Whether a call of this name waits for all ranks of its communicator, and which call of the simulator it is: SIM_CALLS: none. */
enum sim_call fit_meets_as(const char *name);

#endif
