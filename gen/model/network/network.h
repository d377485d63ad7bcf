/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of a message between two ranks. LinkTest and the event log both ask here, so a link is equally fast in both.
 *
 *     time = (floor + transfer + wait * congestion) * (1 + what the pair always adds + what this message adds)
 *
 *     floor       latency of the hardware, and bytes at line rate: nothing is ever faster
 *     transfer    what the protocol adds (copies of an eager message, the handshake of a rendezvous), what ranks lose that
 *                 share their node's network cards, and what a slow port or cable adds
 *     wait        contention on shared links in a quiet time window
 *     congestion  factor >= 1 of this link in a time window, correlated from window to window
 *
 * Contention is a mean field: no message is routed. It follows from how many ranks talk at once and how far (struct
 * model_pattern), and from how many links leave a switch and a group.
 *
 * All are pure functions of (machine, arguments), in plain arithmetic and sqrt.
 */
#ifndef HPCW_GEN_MODEL_NETWORK_NETWORK_H
#define HPCW_GEN_MODEL_NETWORK_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "gen/model/machine/machine.h"

/* Read-only after init: threads may share it. Borrows the machine; nothing to free. */
struct model_network {
    const struct model_machine *machine;
    uint64_t window_ps;
    double congestion_step;                 /* factor of the sum of two squares, see model_network_congestion */
    double nodes_in_switch, nodes_in_group; /* of this job, on average */
};
void model_network_init(struct model_network *net, const struct model_machine *machine);

/* ---- how many messages are under way at once ---- */

/* A pattern of messages, as means over all nodes. All zero: one message alone on the machine. */
struct model_pattern {
    double ranks;      /* of a node that send to another node at the same time */
    double off_switch; /* share of these messages that leave the switch, 0 to 1 */
    double off_group;  /* share of these messages that leave the group, 0 to 1 */
    double groups;     /* number of other groups that the messages of one group go to at the same time */
    double hops;       /* torus: links that a message takes */
};

/* What a pattern costs: additional transfer times, in units of a message's time at line rate. */
struct model_contention {
    double card;                /* at the node's network cards */
    double link[MODEL_CLASSES]; /* on links between switches and groups, in a quiet window */
    double hop;                 /* torus: on each link, in a quiet window */
};
struct model_contention model_network_contention(const struct model_network *net,
                                                 const struct model_pattern *pattern);

/*
 * How many times as long messages of a class take, >= 1, where links would have to carry more than they can. Messages share
 * a link equally, as in SimGrid (Casanova, Giersch, Legrand, Quinson, Suter: "Versatile, Scalable, and Accurate Simulation of
 * Distributed Applications and Platforms", JPDC 74(10), 2014): those of the job have what others leave, and at least
 * the share of its nodes.
 */
void model_network_crowding(const struct model_network *net, const struct model_pattern *pattern,
                            double factor[MODEL_CLASSES]);

/* The pattern in which all ranks talk at once, each to any other rank, all over the job. */
struct model_pattern model_network_uniform(const struct model_network *net);

/* ---- one message ---- */

struct model_way {
    double floor_ps, transfer_ps, wait_ps;
    bool rendezvous; /* the sender waits until the receive is posted */
};

/* A message of `bytes` from one rank to another one. Monotonic in bytes. */
struct model_way model_network_way(const struct model_network *net, uint32_t from, uint32_t to, uint64_t bytes,
                                   const struct model_contention *contention);

/* A fault of the network that is left out: the slow port of node `a`, or the slow cable between switches `a` and `b`. */
struct model_repair {
    enum model_repaired { MODEL_REPAIRS_NOTHING, MODEL_REPAIRS_PORT, MODEL_REPAIRS_CABLE } what;
    uint32_t a, b;
};

/* Whether messages from one rank to another one pass what is repaired. */
bool model_network_passes(const struct model_network *net, uint32_t from, uint32_t to,
                          const struct model_repair *repair);

/* As model_network_way, after a repair. */
struct model_way model_network_repaired_way(const struct model_network *net, uint32_t from, uint32_t to,
                                            uint64_t bytes, const struct model_contention *contention,
                                            const struct model_repair *repair);

/* The same on an undisturbed link of a class, without ports, cables and further hops of a torus. */
struct model_way model_network_class_way(const struct model_network *net, enum model_class distance,
                                         uint64_t bytes, const struct model_contention *contention);

/* The time of a message from its parts. `pair` and `message`: shares of what is added, model_network_pair and
 * model_network_tail. */
static inline double model_network_time(const struct model_way *way, double congestion, double pair,
                                        double message) {
    double undisturbed = (way->floor_ps + way->transfer_ps) + way->wait_ps * congestion;
    return undisturbed * (1.0 + (pair + message));
}

/* ---- congestion ---- */

/* The time window of a moment of the run. */
static inline uint32_t model_network_window(const struct model_network *net, uint64_t time_ps) {
    uint64_t window = time_ps / net->window_ps;
    return window < UINT32_MAX - 4 ? (uint32_t)window : UINT32_MAX - 4;
}

/*
 * Congestion of the link between two ranks in a window, >= 1; the same in both directions. Half of it is the load of the
 * whole machine, which changes only every MODEL_BACKGROUND_WINDOWS windows, half that of the link. A caller with many links draws the machine's half once:
 * model_network_factor(net, a, b, w) = model_network_congestion(net, model_network_background(net, w), link's half).
 */
double model_network_factor(const struct model_network *net, uint32_t from, uint32_t to, uint32_t window);
double model_network_background(const struct model_network *net, uint32_t window);
double model_network_link(const struct model_network *net, uint32_t from, uint32_t to, uint32_t window);
static inline double model_network_congestion(const struct model_network *net, double background, double link) {
    return 1.0 + net->congestion_step * (background + link);
}

/*
 * A half: (z + MODEL_TAIL_SHIFT)^2, 0 where that sum is negative, with z = weight[0][w % 4] * z(w / 4) + weight[1][w % 4] *
 * z(w / 4 + 1) in window w, where z(knot) is a normal draw. For vector code that repeats the operations.
 */
enum { MODEL_KNOT_WINDOWS = 4, MODEL_BACKGROUND_WINDOWS = 8 };
extern const double model_network_knot[2][MODEL_KNOT_WINDOWS];

/* The part of the machine that a node is in, for model_network_link: its group, or a block of a torus. */
uint32_t model_network_region(const struct model_network *net, uint32_t node);

/* ---- noise ---- */

/* Square of a shifted normal, >= 0: right-skewed, with standard deviation near 1 and mean MODEL_TAIL_MEAN. */
#define MODEL_TAIL_SHIFT 3.4641016151377544 /* sqrt(12): -z is never greater */
#define MODEL_TAIL_SCALE 0.14184825         /* 1 / standard deviation of (z + sqrt(12))^2 */
#define MODEL_TAIL_MEAN 1.84402725          /* 13 of these */
static inline double model_network_tail(double z) {
    double u = z + MODEL_TAIL_SHIFT;
    return u * u * MODEL_TAIL_SCALE;
}

/* What the messages between two ranks always take longer, as a share: cables, places of cards, and the like. */
double model_network_pair(const struct model_network *net, uint32_t from, uint32_t to);

#endif
