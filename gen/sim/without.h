/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What faults cost: further clocks beside the main one, each without one fault. Messages match, and calls are served, in the
 * order of the main clock. Noise, files and crowded links take the time that they take there. So no rank is anywhere later on a further clock,
 * and it is enough to keep how much earlier: what takes equally long on all clocks changes nothing.
 *
 * The functions that follow a call are for runs with further clocks. A half that is being made, and is not kept yet, has the
 * number SIM_NOTHING.
 */
#ifndef HPCW_GEN_SIM_WITHOUT_H
#define HPCW_GEN_SIM_WITHOUT_H

#include "gen/sim/match.h"
#include "gen/sim/meeting.h"

struct sim;

/* A rank on a further clock. */
struct sim_without_rank {
    uint64_t gain_ns;                 /* how much earlier it is where its main clock says */
    uint64_t out_free_ns, in_free_ns; /* as in sim_rank */
    uint64_t saved_ns;                /* of its work */
};

/* A half on a further clock: as in sim_half. */
struct sim_without_half {
    uint64_t time_ns, done_ns;
};

struct sim_without {
    struct sim_without_rank *rank; /* [ranks][clocks] */
    struct sim_without_half *half; /* [1 + halves][clocks], the half that is being made first */
    size_t half_capacity;
    bool repairs;        /* the network, on some clock */
    uint64_t *flight_ns; /* [pairs][1 + clocks] of the last size, which comes first, plus 1; 0: none yet */
    size_t flight_capacity;
    uint32_t pairs;
};

/* HPCW_ENOMEM. */
hpcw_status sim_without_init(struct sim *sim, hpcw_error *err);
void sim_without_free(struct sim *sim);

/* A rank makes a half: a send that costs this, and waits for crowded links, or a receive. */
void sim_without_send(struct sim *sim, uint32_t rank, const struct sim_cost *cost, uint64_t wait_ns);
void sim_without_receive(struct sim *sim, uint32_t rank);

/* The half that was made is kept with this number, which is returned; SIM_NOTHING when memory runs out. */
uint32_t sim_without_keep(struct sim *sim, uint32_t half);

/* A message and its receive have met. */
void sim_without_join(struct sim *sim, const struct sim_half *s, uint32_t send, uint32_t receive);

/* The rank's call has waited for all that it waits for, or for the half that was made, until `end_ns` on the main clock. */
void sim_without_end(struct sim *sim, uint32_t rank, uint64_t end_ns);
void sim_without_end_new(struct sim *sim, uint32_t rank, const struct sim_half *h, uint64_t end_ns);

/* A member comes to a meeting at the main clock's `time_ns`; it leaves it, having what it waited for at g->time_ns[place]. */
void sim_without_come(struct sim *sim, struct sim_meeting *g, uint32_t place, uint64_t time_ns);
void sim_without_leave(struct sim *sim, const struct sim_meeting *g, uint32_t place);

#endif
