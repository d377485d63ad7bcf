/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of a message: LogGP on gen/model/network. From the begin of a send to the end of a receive that waits for it, a
 * message takes as long as gen/model/network says. Part of that is processor time at both ends (LogGP's o). A rank's further
 * messages wait until its share of the node's network cards is free (LogGP's g and G).
 */
#ifndef HPCW_GEN_SIM_TIMING_COST_H
#define HPCW_GEN_SIM_TIMING_COST_H

#include <stdint.h>

#include "gen/model/network/network.h"
#include "gen/sim/timing/constants.h"

/* A message of a size between two ranks, or between two ranks of a distance. */
struct sim_cost {
    uint64_t flight_ns;      /* from when it leaves the sender to when it is there, all of it */
    uint64_t card_ns;        /* how long the rank's share of the cards is busy, at each end */
    uint32_t latency_ns;     /* as flight_ns, of an empty message: that of a rendezvous' request */
    uint32_t overhead_ns;    /* processor time, at each end */
    uint32_t bytes : 31;     /* at most SIM_MOST_BYTES */
    uint32_t rendezvous : 1; /* the sender waits until the receive is posted */
    uint16_t distance;       /* enum model_class */
    uint16_t hops;           /* between two ranks of a torus; otherwise 1 */
};

struct sim_cost sim_cost_between(const struct model_network *net, const struct sim_constants *constants,
                                 uint32_t from, uint32_t to, uint64_t bytes);
/* Only its flight_ns, after a repair of the network: nothing else depends on ports and cables. */
uint64_t sim_cost_repaired_ns(const struct model_network *net, const struct sim_constants *constants,
                              uint32_t from, uint32_t to, uint64_t bytes, const struct model_repair *repair);
/* `sharing`: ranks of a node that use its cards at the same time. */
struct sim_cost sim_cost_at(const struct model_network *net, const struct sim_constants *constants,
                            enum model_class distance, uint64_t bytes, uint32_t sharing);
/* The ranks of a node: as many as may share its cards. */
uint32_t sim_cost_sharing(const struct model_network *net);

/* The time of a message while `users` ranks of the node send to others: the last one waits for the cards. */
uint64_t sim_cost_crowded(const struct model_network *net, const struct sim_constants *constants,
                          enum model_class distance, uint64_t bytes, uint32_t users);

/* How long a rank is busy with a message: its processor, or its cards. */
static inline uint64_t sim_cost_busy(const struct sim_cost *cost) {
    return cost->overhead_ns > cost->card_ns ? cost->overhead_ns : cost->card_ns;
}

/* All of it: flight and overheads. */
static inline uint64_t sim_cost_total(const struct sim_cost *cost) {
    return cost->flight_ns + 2 * cost->overhead_ns;
}

#endif
