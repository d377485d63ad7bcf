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
 * Contention is a mean field: no message is routed. It follows from how many ranks send at once and how far
 * (struct model_pattern), and from the number of links of a switch and of a group.
 *
 * All functions are pure in (machine, arguments) and use plain arithmetic and sqrt only. */
#ifndef HPCW_GEN_MODEL_NETWORK_NETWORK_H
#define HPCW_GEN_MODEL_NETWORK_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "gen/model/machine/machine.h"

/* Read-only after init: threads may share it. Borrows the machine; nothing to free. */
struct model_network {
    const struct model_machine *machine;
    uint64_t window_ps;
    /* factor of the sum of two squares, see model_network_congestion */
    double congestion_step;
    double nodes_in_switch, nodes_in_group; /* mean number of nodes of this job */
};
void model_network_init(struct model_network *net, const struct model_machine *machine);

/* ---- how many messages are under way at once ---- */

/* Traffic pattern, as means over all nodes. All zero: one message alone on the machine. */
struct model_pattern {
    double ranks;      /* ranks of a node that send to another node at the same time */
    double off_switch; /* share of these messages that leave the switch, 0 to 1 */
    double off_group;  /* share of these messages that leave the group, 0 to 1 */
    /* number of other groups that the messages of one group go to at the same time */
    double groups;
    double hops; /* torus: links that a message takes */
};

/* Cost of a pattern: extra transfer times, in units of a message's time at line rate. */
struct model_contention {
    double card;                /* at the node's network cards */
    double link[MODEL_CLASSES]; /* on links between switches and groups, in a quiet window */
    double hop;                 /* torus: on each link, in a quiet window */
};
struct model_contention model_network_contention(const struct model_network *net,
                                                 const struct model_pattern *pattern);

/* Computes for each class by what factor >= 1 messages are slower, where links are overloaded. Messages share a
 * link equally, as in SimGrid (Casanova, Giersch, Legrand, Quinson, Suter: "Versatile, Scalable, and Accurate
 * Simulation of Distributed Applications and Platforms", JPDC 74(10), 2014). The job gets what other jobs leave,
 * but at least the share of its nodes. */
void model_network_crowding(const struct model_network *net, const struct model_pattern *pattern,
                            double factor[MODEL_CLASSES]);

/* Returns the pattern in which all ranks send at once, each to a random rank of the job. */
struct model_pattern model_network_uniform(const struct model_network *net);

/* ---- one message ---- */

struct model_way {
    double floor_ps, transfer_ps, wait_ps;
    bool rendezvous; /* the sender waits until the receive is posted */
};

/* Computes the parts of a message of `bytes` from one rank to another. Monotonic in bytes. */
struct model_way model_network_way(const struct model_network *net, uint32_t from, uint32_t to, uint64_t bytes,
                                   const struct model_contention *contention);

/* A fault of the network that is removed: the slow port of node `a`, or the slow cable between the switches `a`
 * and `b`. */
struct model_repair {
    enum model_repaired { MODEL_REPAIRS_NOTHING, MODEL_REPAIRS_PORT, MODEL_REPAIRS_CABLE } what;
    uint32_t a, b;
};

/* Returns whether messages between two ranks use the repaired part. */
bool model_network_passes(const struct model_network *net, uint32_t from, uint32_t to,
                          const struct model_repair *repair);

/* As model_network_way, after a repair. */
struct model_way model_network_repaired_way(const struct model_network *net, uint32_t from, uint32_t to,
                                            uint64_t bytes, const struct model_contention *contention,
                                            const struct model_repair *repair);

/* The same for an undisturbed link of a class: no bad ports or cables, and no further hops of a torus. */
struct model_way model_network_class_way(const struct model_network *net, enum model_class distance,
                                         uint64_t bytes, const struct model_contention *contention);

/* Returns the time of a message from its parts. pair, message: noise as shares of these, from model_network_pair
 * and model_network_tail. */
static inline double model_network_time(const struct model_way *way, double congestion, double pair,
                                        double message) {
    double undisturbed = (way->floor_ps + way->transfer_ps) + way->wait_ps * congestion;
    return undisturbed * (1.0 + (pair + message));
}

/* ---- congestion ---- */

/* Returns the time window of a moment of the run. */
static inline uint32_t model_network_window(const struct model_network *net, uint64_t time_ps) {
    uint64_t window = time_ps / net->window_ps;
    return window < UINT32_MAX - 4 ? (uint32_t)window : UINT32_MAX - 4;
}

/* Congestion of the link between two ranks in a window, >= 1, the same in both directions. Half of it is the
 * load of the whole machine, which changes every MODEL_BACKGROUND_WINDOWS windows; the other half is the load of
 * the link. A caller with many links can draw the machine's half once: model_network_factor(net, a, b, w) =
 * model_network_congestion(net, model_network_background(net, w), link's half). */
double model_network_factor(const struct model_network *net, uint32_t from, uint32_t to, uint32_t window);
double model_network_background(const struct model_network *net, uint32_t window);
static inline double model_network_congestion(const struct model_network *net, double background, double link) {
    return 1.0 + net->congestion_step * (background + link);
}

/* Each half of the congestion is (z + MODEL_TAIL_SHIFT)^2, or 0 if this sum is negative. Here z interpolates
 * between two normal draws z(n) and z(n + 1). In window w, with k = w mod 4 and n = w / 4, z =
 * model_network_knot[0][k] * z(n) + model_network_knot[1][k] * z(n + 1). The table is public for vector code
 * that repeats these operations. How slowly both halves change is an assumption. */
enum { MODEL_KNOT_WINDOWS = 4, MODEL_BACKGROUND_WINDOWS = 8 };
extern const double model_network_knot[2][MODEL_KNOT_WINDOWS];

/* Part of the machine that a node is in, for model_network_link: its group, or a block of a torus. */
uint32_t model_network_region(const struct model_network *net, uint32_t node);

/* ---- noise ---- */

/* Square of a shifted normal draw, >= 0. It is right-skewed, with a standard deviation near 1 and the mean
 * MODEL_TAIL_MEAN. */
#define MODEL_TAIL_SHIFT 3.4641016151377544 /* sqrt(12): -z is never greater */
#define MODEL_TAIL_SCALE 0.14184825         /* 1 / standard deviation of (z + sqrt(12))^2 */
#define MODEL_TAIL_MEAN 1.84402725          /* 13 * MODEL_TAIL_SCALE */
static inline double model_network_tail(double z) {
    double u = z + MODEL_TAIL_SHIFT;
    return u * u * MODEL_TAIL_SCALE;
}

/* Constant extra time of the messages between two ranks, as a share. It stands for cables, positions of cards,
 * and the like. */
double model_network_pair(const struct model_network *net, uint32_t from, uint32_t to);

#endif
