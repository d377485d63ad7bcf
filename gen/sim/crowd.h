/* SPDX-License-Identifier: BSD-3-Clause */
/* Crowded links between switches, between groups, or between nodes of a torus. A message over an overloaded link
 * keeps its sender's share of the cards busy for longer and arrives later. The delay follows from the messages
 * of an earlier phase: how many cards were busy at once, and how far messages went (struct model_pattern). With
 * it, links carry as much as they can, and no more. Links are a mean field, as for the link test: no message is
 * routed. So a single crowded link among empty ones is not modelled.
 *
 * Ranks may be in different phases at one simulated time, so a phase counts once all ranks have ended it. Its
 * figures hold for calls that begin later by its length, or by the length of the previous phase if that was
 * longer. In a run of equal phases these are the calls of the next phase but one. No rank has got there when the
 * phase ends, since the horizon is nearer than that. So no simulated time passes by waiting, and no result
 * depends on the order in which ranks run. */
#ifndef HPCW_GEN_SIM_CROWD_H
#define HPCW_GEN_SIM_CROWD_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/sim/timing/cost.h"

struct sim;

/* Messages between nodes that all ranks sent in one phase. */
struct sim_crowd_phase {
    /* sum over ranks: how long their shares of the cards would have been busy if no link was crowded */
    uint64_t busy_ns[MODEL_CLASSES];
    uint64_t busy_hops;         /* sum of these times, each multiplied by the message's hops on a torus */
    uint64_t wait_ns;           /* how long the messages of a rank took longer, for the rank with the most */
    uint64_t first_ns, last_ns; /* when the first message left, and when the last one had left */
    uint64_t end_ns;            /* when the last rank ended the phase */
    /* if all ranks have ended it: when its figures begin to hold */
    uint64_t holds_ns;
    uint32_t ended; /* number of ranks that have ended it */
};

struct sim_crowd {
    struct sim_crowd_phase *phase;    /* [phases + 1] NULL: no link of the job can be crowded */
    uint64_t *wait_ns;                /* [ranks] how much longer the messages of its phase took so far */
    uint32_t ended;                   /* number of phases that all ranks have ended */
    uint32_t used;                    /* number of these whose figures hold, or held */
    bool now;                         /* some link is crowded now */
    double excess[MODEL_CLASSES];     /* extra time of a message now, as a share of the card's time */
    double all_excess[MODEL_CLASSES]; /* the same while all ranks send to all others */
};

/* HPCW_ENOMEM. */
hpcw_status sim_crowd_init(struct sim *sim, hpcw_error *err);
void sim_crowd_free(struct sim *sim);

/* Extra transfer time of a message now, ns. */
static inline uint64_t sim_crowd_wait(const struct sim_crowd *crowd, const struct sim_cost *cost) {
    return crowd->now ? (uint64_t)(crowd->excess[cost->distance] * (double)cost->card_ns + 0.5) : 0;
}

/* Counts a message of a rank in this phase. It leaves at `leaves_ns` and takes `wait_ns` longer. */
static inline void sim_crowd_count(struct sim_crowd *crowd, uint32_t rank, uint32_t phase,
                                   const struct sim_cost *cost, uint64_t leaves_ns, uint64_t wait_ns) {
    if (crowd->phase != NULL && cost->distance >= MODEL_SAME_SWITCH) {
        struct sim_crowd_phase *p = &crowd->phase[phase];
        const uint64_t left_ns = leaves_ns + cost->card_ns + wait_ns;
        crowd->wait_ns[rank] += wait_ns;
        p->busy_ns[cost->distance] += cost->card_ns;
        p->busy_hops += cost->card_ns * cost->hops;
        p->first_ns = leaves_ns < p->first_ns ? leaves_ns : p->first_ns;
        p->last_ns = left_ns > p->last_ns ? left_ns : p->last_ns;
    }
}

/* Extra transfer time of a message in an alltoall in pairs, ns. All ranks send at once, to ranks all over the
 * job. */
uint64_t sim_crowd_pairs_wait(const struct sim *sim, enum model_class distance, uint64_t bytes);

/* Records that a rank ends a phase. */
void sim_crowd_end_phase(struct sim *sim, uint32_t rank, uint32_t phase, uint64_t time_ns);

/* Selects the figures that hold at `first_ns`; no later call may begin before that. Returns a later time until
 * which the same figures hold. */
uint64_t sim_crowd_pass(struct sim *sim, uint64_t first_ns);

#endif
