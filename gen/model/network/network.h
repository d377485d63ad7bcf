/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of a message between two ranks. LinkTest and the event log both use it, so a link is equally fast in both.
 *
 *    time = (floor + transfer + wait * congestion) * (1 + noise of the pair + noise of the message)
 *
 *    floor       hardware latency, and bytes at line rate: a lower bound
 *    transfer    cost of the protocol (copies of an eager message, handshake of a rendezvous), of network cards
 *                shared with other ranks of the node, and of a slow port or cable
 *    wait        contention on shared links in a quiet time window
 *    congestion  factor >= 1 of this link in a time window, correlated between windows
 *
 * Contention is a mean field: no message is routed. Contention follows from how many ranks send at once and how far
 * (struct model_pattern), and from the number of links of a switch and of a group.
 *
 * All functions are pure in (machine, arguments) and use plain arithmetic and sqrt only. */
#ifndef HPCW_GEN_MODEL_NETWORK_NETWORK_H
#define HPCW_GEN_MODEL_NETWORK_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "gen/model/machine/machine.h"

/* Read-only after init, so threads may share a network. Borrows the machine. There is nothing to free. */
struct model_network {
    const struct model_machine *machine;
    uint64_t window_ps;
    /* factor of the sum of both halves of the congestion, see model_network_congestion */
    double congestion_step;
    double nodes_in_switch, nodes_in_group; /* mean number of the job's nodes at a switch, in a group */
};
void model_network_init(struct model_network *net, const struct model_machine *machine);

/* ---- messages on the way at the same time ---- */

/* Traffic pattern, in means over all nodes. All zero: there is one message alone on the machine. */
struct model_pattern {
    double ranks;      /* ranks of a node that send to other nodes at the same time */
    double off_switch; /* share of these ranks' messages that leave the switch, 0 to 1 */
    double off_group;  /* share of these ranks' messages that leave the group, 0 to 1 */
    /* number of other groups that the messages of a group go to at the same time */
    double groups;
    double hops; /* links on the way of a message on a torus */
};

/* Extra transfer times that a traffic pattern causes, in units of a message's time at line rate. */
struct model_contention {
    double card;                /* waiting at the node's network cards */
    double link[MODEL_CLASSES]; /* waiting on links between switches and groups, in a quiet time window */
    double hop;                 /* waiting on each link of a torus, in a quiet time window */
};
struct model_contention model_network_contention(const struct model_network *net,
                                                 const struct model_pattern *pattern);

/* Computes for each distance class the factor >= 1 by which overloaded links slow messages down. Messages share
 * a link equally, as in SimGrid (Casanova, Giersch, Legrand, Quinson, Suter: "Versatile, Scalable, and Accurate
 * Simulation of Distributed Applications and Platforms", JPDC 74(10), 2014). The job gets what other jobs leave
 * of a link, but at least as large a share as it has of the nodes. */
void model_network_crowding(const struct model_network *net, const struct model_pattern *pattern,
                            double factor[MODEL_CLASSES]);

/* Returns the pattern in which all ranks send at once, each to a random rank of the job. */
struct model_pattern model_network_uniform(const struct model_network *net);

/* ---- one message ---- */

struct model_way {
    double floor_ps, transfer_ps, wait_ps;
    bool rendezvous; /* the sender waits until the receive is posted */
};

/* Computes the parts of the time of a message of `bytes` from one rank to another. The times never fall as
 * bytes grow. */
struct model_way model_network_way(const struct model_network *net, uint32_t from, uint32_t to, uint64_t bytes,
                                   const struct model_contention *contention);

/* A repair: the slow port of node `a`, or the slow cable between the switches `a` and `b`, becomes as fast as
 * others. */
struct model_repair {
    enum model_repaired { MODEL_REPAIRS_NOTHING, MODEL_REPAIRS_PORT, MODEL_REPAIRS_CABLE } what;
    uint32_t a, b;
};

/* Returns whether messages between two ranks use the port or cable that is repaired. */
bool model_network_passes(const struct model_network *net, uint32_t from, uint32_t to,
                          const struct model_repair *repair);

/* Returns model_network_way on a network with a repair. */
struct model_way model_network_repaired_way(const struct model_network *net, uint32_t from, uint32_t to,
                                            uint64_t bytes, const struct model_contention *contention,
                                            const struct model_repair *repair);

/* As model_network_way, for two ranks of a distance class without bad ports and cables. On a torus: one hop. */
struct model_way model_network_class_way(const struct model_network *net, enum model_class distance,
                                         uint64_t bytes, const struct model_contention *contention);

/* Returns the time of a message, ps. pair, message: noise as shares of the undisturbed time, from
 * model_network_pair and model_network_tail. */
static inline double model_network_time(const struct model_way *way, double congestion, double pair,
                                        double message) {
    double undisturbed = (way->floor_ps + way->transfer_ps) + way->wait_ps * congestion;
    return undisturbed * (1.0 + (pair + message));
}

/* ---- congestion ---- */

/* Returns the number of the time window that contains a time of the run. */
static inline uint32_t model_network_window(const struct model_network *net, uint64_t time_ps) {
    uint64_t window = time_ps / net->window_ps;
    return window < UINT32_MAX - 4 ? (uint32_t)window : UINT32_MAX - 4;
}

/* The congestion of the link between two ranks in a window is a factor >= 1, the same in both directions. Half
 * of it is the load of the whole machine (model_network_background), which changes every
 * MODEL_BACKGROUND_WINDOWS windows. The other half is the load of the link (model_network_link).
 * model_network_congestion computes the factor from both halves, so a caller with many links can draw the
 * machine's half once. */
double model_network_factor(const struct model_network *net, uint32_t from, uint32_t to, uint32_t window);
double model_network_background(const struct model_network *net, uint32_t window);
static inline double model_network_congestion(const struct model_network *net, double background, double link) {
    return 1.0 + net->congestion_step * (background + link);
}

/* Each half of the congestion is (z + MODEL_TAIL_SHIFT)^2, or 0 if z + MODEL_TAIL_SHIFT is negative. z is
 * interpolated between two normal draws z(n) and z(n + 1). In window w, with k = w mod 4 and n = w / 4, z =
 * model_network_knot[0][k] * z(n) + model_network_knot[1][k] * z(n + 1). The table is public for vector code
 * that repeats these operations. How slowly both halves change is an assumption. */
enum { MODEL_KNOT_WINDOWS = 4, MODEL_BACKGROUND_WINDOWS = 8 };
extern const double model_network_knot[2][MODEL_KNOT_WINDOWS];

/* Returns the region of a node for model_network_link: the group of the node, or a block of nodes of a torus. */
uint32_t model_network_region(const struct model_network *net, uint32_t node);

/* ---- noise ---- */

/* Returns the scaled square of a shifted normal draw, >= 0: right-skewed, with a standard deviation near 1 and
 * the mean MODEL_TAIL_MEAN. */
#define MODEL_TAIL_SHIFT 3.4641016151377544 /* sqrt(12), the largest value of -z */
#define MODEL_TAIL_SCALE 0.14184825         /* 1 / standard deviation of (z + sqrt(12))^2 */
#define MODEL_TAIL_MEAN 1.84402725          /* 13 * MODEL_TAIL_SCALE */
static inline double model_network_tail(double z) {
    double u = z + MODEL_TAIL_SHIFT;
    return u * u * MODEL_TAIL_SCALE;
}

/* Constant extra time of the messages between two ranks, as a share of the undisturbed time. It stands for
 * cables, positions of network cards, and the like. */
double model_network_pair(const struct model_network *net, uint32_t from, uint32_t to);

#endif
