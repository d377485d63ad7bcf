/* SPDX-License-Identifier: BSD-3-Clause */
/* Cost of faults: further clocks beside the main one, each without one fault. Messages match and calls are
 * served in the order of the main clock. Noise, files and crowded links take the same time as there. So a rank
 * is never later on a further clock, and it suffices to store how much earlier it is. What takes equally long on
 * all clocks changes nothing.
 *
 * The functions that follow a call are only for runs with further clocks. A half under construction, not stored
 * yet, has the number SIM_NOTHING. */
#ifndef HPCW_GEN_SIM_WITHOUT_H
#define HPCW_GEN_SIM_WITHOUT_H

#include "gen/sim/match.h"
#include "gen/sim/meeting.h"

struct sim;

/* State of a rank on a further clock. */
struct sim_without_rank {
    uint64_t gain_ns;                 /* how much earlier it is than on the main clock */
    uint64_t out_free_ns, in_free_ns; /* as in sim_rank */
    uint64_t saved_ns;                /* work saved so far */
};

/* State of a half on a further clock; members as in sim_half. */
struct sim_without_half {
    uint64_t time_ns, done_ns;
};

struct sim_without {
    struct sim_without_rank *rank; /* [ranks][clocks] */
    /* [1 + halves][clocks] the half under construction is first */
    struct sim_without_half *half;
    size_t half_capacity;
    bool repairs; /* some clock repairs the network */
    /* [pairs][1 + clocks] flight times for the last size, which is stored first, plus 1; 0: none yet */
    uint64_t *flight_ns;
    size_t flight_capacity;
    uint32_t pairs;
};

/* HPCW_ENOMEM. */
hpcw_status sim_without_init(struct sim *sim, hpcw_error *err);
void sim_without_free(struct sim *sim);

/* A rank creates a half: a send with this cost that waits for crowded links, or a receive. */
void sim_without_send(struct sim *sim, uint32_t rank, const struct sim_cost *cost, uint64_t wait_ns);
void sim_without_receive(struct sim *sim, uint32_t rank);

/* Stores the half under construction with this number and returns it; SIM_NOTHING when memory runs out. */
uint32_t sim_without_keep(struct sim *sim, uint32_t half);

/* A message and its receive have been matched. */
void sim_without_join(struct sim *sim, const struct sim_half *s, uint32_t send, uint32_t receive);

/* The rank's call has waited for everything it waits for, or for the half under construction, until `end_ns` on
 * the main clock. */
void sim_without_end(struct sim *sim, uint32_t rank, uint64_t end_ns);
void sim_without_end_new(struct sim *sim, uint32_t rank, const struct sim_half *h, uint64_t end_ns);

/* A member arrives at a meeting at `time_ns` on the main clock. It leaves once it has what it waits for, at
 * g->time_ns[place]. */
void sim_without_come(struct sim *sim, struct sim_meeting *g, uint32_t place, uint64_t time_ns);
void sim_without_leave(struct sim *sim, const struct sim_meeting *g, uint32_t place);

#endif
