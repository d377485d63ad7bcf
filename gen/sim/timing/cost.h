/* SPDX-License-Identifier: BSD-3-Clause */
/* Cost of a message: LogGP with the times of gen/model/network. From the begin of a send to the end of a
 * receive that was posted a latency earlier, a message takes as long as gen/model/network says. Part of that is
 * processor time at both ends (LogGP's o). A rank's next message waits until the rank's share of the node's
 * network cards is free (LogGP's g and G). */
#ifndef HPCW_GEN_SIM_TIMING_COST_H
#define HPCW_GEN_SIM_TIMING_COST_H

#include <stdint.h>

#include "gen/model/network/network.h"
#include "gen/sim/timing/constants.h"

/* Cost of a message of one size between two ranks, or between two ranks of a distance class. */
struct sim_cost {
    uint64_t flight_ns; /* time from leaving the sender to complete arrival */
    /* how long a message keeps the rank's share of the network cards busy, at each end */
    uint64_t card_ns;
    /* flight time of an empty message, such as the request of a rendezvous */
    uint32_t latency_ns;
    uint32_t overhead_ns;    /* processor time at each end */
    uint32_t bytes : 31;     /* at most SIM_MOST_BYTES */
    uint32_t rendezvous : 1; /* the sender waits until the receive is posted */
    uint16_t distance;       /* enum model_class */
    uint16_t hops;           /* hops between two nodes of a torus; otherwise 1 */
};

struct sim_cost sim_cost_between(const struct model_network *net, const struct sim_constants *constants,
                                 uint32_t from, uint32_t to, uint64_t bytes);
/* Returns flight_ns after a repair of the network. The other members of sim_cost do not depend on ports and
 * cables. */
uint64_t sim_cost_repaired_ns(const struct model_network *net, const struct sim_constants *constants,
                              uint32_t from, uint32_t to, uint64_t bytes, const struct model_repair *repair);
/* sharing: number of ranks of a node that use the node's network cards at the same time. */
struct sim_cost sim_cost_at(const struct model_network *net, const struct sim_constants *constants,
                            enum model_class distance, uint64_t bytes, uint32_t sharing);
/* Returns the number of ranks of a node, which may all share the node's network cards. */
uint32_t sim_cost_sharing(const struct model_network *net);

/* Returns the time of a message while `users` ranks of a node send to other nodes: that of the last rank to get
 * the network cards. */
uint64_t sim_cost_crowded(const struct model_network *net, const struct sim_constants *constants,
                          enum model_class distance, uint64_t bytes, uint32_t users);

/* Returns how long a rank is busy with a message: for the processor time or the card time, whichever is longer. */
static inline uint64_t sim_cost_busy(const struct sim_cost *cost) {
    return cost->overhead_ns > cost->card_ns ? cost->overhead_ns : cost->card_ns;
}

static inline uint64_t sim_cost_total(const struct sim_cost *cost) {
    return cost->flight_ns + 2 * cost->overhead_ns;
}

#endif
