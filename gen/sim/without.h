/* SPDX-License-Identifier: BSD-3-Clause */
/* Cost of faults: further clocks beside the main one, each for times without one fault. Messages match and calls
 * are served in the order of the main clock. Noise, files and crowded links take the same time as on the main
 * clock. So a rank is never later on a further clock than on the main one, and only the difference is stored. Calls
 * that take equally long on all clocks do not change this difference.
 *
 * The functions that follow a call are only for runs with further clocks. A half (send or receive) that is under
 * construction and not stored yet has the number SIM_NOTHING. */
#ifndef HPCW_GEN_SIM_WITHOUT_H
#define HPCW_GEN_SIM_WITHOUT_H

#include "gen/sim/match.h"
#include "gen/sim/meeting.h"

struct sim;

/* State of a rank on a further clock, which shows times without a fault. */
struct sim_without_rank {
    uint64_t gain_ns;                 /* how much earlier the rank is than on the main clock */
    uint64_t out_free_ns, in_free_ns; /* as in struct sim_rank */
    uint64_t saved_ns;                /* compute time saved so far */
};

/* Times of a send or receive on a further clock, as in struct sim_half. */
struct sim_without_half {
    uint64_t time_ns, done_ns;
};

struct sim_without {
    struct sim_without_rank *rank; /* [ranks][clocks] */
    /* [1 + halves][clocks] times of the sends and receives; the one under construction is first */
    struct sim_without_half *half;
    size_t half_capacity;
    bool repairs; /* true: some further clock is for a fault of the network */
    /* [pairs][1 + clocks] for each pair: size of its last message plus 1 (0: none yet), then flight times for
     * this size */
    uint64_t *flight_ns;
    size_t flight_capacity;
    uint32_t pairs;
};

/* HPCW_ENOMEM. */
hpcw_status sim_without_init(struct sim *sim, hpcw_error *err);
void sim_without_free(struct sim *sim);

/* Computes the times of a new send or receive, which is under construction. sim_without_send: for a message
 * with this cost that waits `wait_ns` for crowded links; sim_without_receive: for a receive. */
void sim_without_send(struct sim *sim, uint32_t rank, const struct sim_cost *cost, uint64_t wait_ns);
void sim_without_receive(struct sim *sim, uint32_t rank);

/* Stores the send or receive under construction under the number `half`. Returns this number, or SIM_NOTHING
 * when memory runs out. */
uint32_t sim_without_keep(struct sim *sim, uint32_t half);

/* Computes when a message and the receive that matches it complete on the further clocks. */
void sim_without_join(struct sim *sim, const struct sim_half *s, uint32_t send, uint32_t receive);

/* The call of a rank ends its wait at `end_ns` on the main clock. sim_without_end: for all sends and receives that
 * the rank waits for; sim_without_end_new: for the send or receive under construction. */
void sim_without_end(struct sim *sim, uint32_t rank, uint64_t end_ns);
void sim_without_end_new(struct sim *sim, uint32_t rank, const struct sim_half *h, uint64_t end_ns);

/* sim_without_come: a member arrives at a collective call at `time_ns` on the main clock. sim_without_leave:
 * the member has the data that it waits for, at g->time_ns[place]. */
void sim_without_come(struct sim *sim, struct sim_meeting *g, uint32_t place, uint64_t time_ns);
void sim_without_leave(struct sim *sim, const struct sim_meeting *g, uint32_t place);

#endif
