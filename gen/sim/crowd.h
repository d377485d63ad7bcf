/* SPDX-License-Identifier: BSD-3-Clause */
/* Crowded links: overloaded links between switches, between groups, or between nodes of a torus. A message over a
 * crowded link keeps its sender's share of the network cards busy for longer and arrives later. The delay follows
 * from the messages of an earlier phase: how many cards were busy at once, and how far the messages went (struct
 * model_pattern). With the delay, links carry as much as they can, and no more. No message is routed: links are
 * means, as in the LinkTest model. So a single crowded link among empty ones is not modelled.
 *
 * Ranks may be in different phases at one simulated time, so a phase counts once all ranks have ended it, at a time
 * E. Its delay applies to calls that begin at E + L or later; L is the length of the phase or of the previous
 * phase, whichever is longer. In a run of equal phases these are the calls of the next phase but one. At time E no
 * rank has reached them, since ranks stop at a horizon of simulated time (sim.h). So no call waits for a delay to be
 * known, and no result depends on the order in which ranks run. */
#ifndef HPCW_GEN_SIM_CROWD_H
#define HPCW_GEN_SIM_CROWD_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/sim/timing/cost.h"

struct sim;

/* Messages between nodes that all ranks sent in one phase. */
struct sim_crowd_phase {
    /* sum over ranks: time for which their shares of the cards would have been busy without crowded links */
    uint64_t busy_ns[MODEL_CLASSES];
    uint64_t busy_hops;         /* sum over messages: card time, multiplied by hops on a torus */
    uint64_t wait_ns;           /* largest extra time of a rank's messages in the phase */
    uint64_t first_ns, last_ns; /* begin of the first message; end of the last one */
    uint64_t end_ns;            /* time at which the last rank ended the phase */
    /* if all ranks have ended the phase: time from which its delays apply */
    uint64_t holds_ns;
    uint32_t ended; /* number of ranks that have ended the phase */
};

struct sim_crowd {
    struct sim_crowd_phase *phase; /* [phases + 1] NULL: no link of the job can be crowded */
    uint64_t *wait_ns;             /* [ranks] extra time of the messages in the rank's current phase so far */
    uint32_t ended;                /* number of phases that all ranks have ended */
    uint32_t used;                 /* number of ended phases whose delays apply or have applied */
    bool now;                      /* some link is crowded at present */
    double excess[MODEL_CLASSES];  /* extra time of a message at present, as a share of the card's time */
    double all_excess[MODEL_CLASSES]; /* excess while all ranks send to random ranks */
};

/* HPCW_ENOMEM. */
hpcw_status sim_crowd_init(struct sim *sim, hpcw_error *err);
void sim_crowd_free(struct sim *sim);

/* Returns the extra transfer time of a message that begins now, ns. */
static inline uint64_t sim_crowd_wait(const struct sim_crowd *crowd, const struct sim_cost *cost) {
    return crowd->now ? (uint64_t)(crowd->excess[cost->distance] * (double)cost->card_ns + 0.5) : 0;
}

/* Counts a message of a rank in a phase. The message leaves at `leaves_ns` and takes `wait_ns` of extra time. */
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

/* Returns the extra transfer time of the messages of an alltoall in pairs, ns. All ranks send at once, to ranks
 * all over the job. */
uint64_t sim_crowd_pairs_wait(const struct sim *sim, enum model_class distance, uint64_t bytes);

void sim_crowd_end_phase(struct sim *sim, uint32_t rank, uint32_t phase, uint64_t time_ns);

/* Selects the delays that apply at `first_ns`. No later call may begin before `first_ns`. Returns a later time
 * until which these delays apply. */
uint64_t sim_crowd_pass(struct sim *sim, uint64_t first_ns);

#endif
