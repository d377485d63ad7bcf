/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one simulated machine behind all formats: where a rank runs, how far two ranks are apart, what is broken.
 * Everything is a pure function of (parameters, number of ranks, seed, index); what a format asks for never
 * changes what another one sees. Properties that later formats bring along (slow nodes, overloaded ranks) are
 * drawn here, once, with purposes of their own.
 *
 *     rank -> node = rank / ppn, core = (rank mod ppn) * cores / ppn
 *     node -> switch = node / nodes_per_switch -> group = node / nodes_per_group
 */
#ifndef HPCW_GEN_MODEL_MACHINE_MACHINE_H
#define HPCW_GEN_MODEL_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "ui/param/param.h"

/* How far apart two ranks are. On a torus all nodes are HPCW_I_SAME_SWITCH and differ by their hops. */
enum hpcw_i_class {
    HPCW_I_SAME_CACHE,
    HPCW_I_SAME_SOCKET,
    HPCW_I_SAME_NODE,
    HPCW_I_SAME_SWITCH,
    HPCW_I_SAME_GROUP,
    HPCW_I_OTHER_GROUP,
    HPCW_I_CLASSES
};

/* Node names seen on real machines. */
enum hpcw_i_hosts {
    HPCW_I_HOSTS_JWB,      /* jwb0001.juwels */
    HPCW_I_HOSTS_NID,      /* nid005000 */
    HPCW_I_HOSTS_FRONTIER, /* frontier00001 */
    HPCW_I_HOSTS_NODE      /* node00001 */
};

enum { HPCW_I_HOST_SIZE = 32, HPCW_I_TORUS_DIMS = 6, HPCW_I_BAD_FACTORS = 3 };

/* How the share of a link's bandwidth is drawn while others talk, too: clamp(mean + sd * z, min, max). */
struct hpcw_i_congestion {
    double mean, sd, min, max;
};

/* All that can be tuned, keys "machine.*". A preset fills it completely. */
struct hpcw_i_machine_params {
    uint32_t ppn; /* ranks per node */
    uint32_t cores, cores_per_cache, cores_per_socket;
    uint32_t nics;                              /* network cards of a node, shared by its ranks */
    uint32_t nodes_per_switch, nodes_per_group; /* 0: all nodes */
    bool torus;
    uint32_t torus_x, torus_y, torus_z; /* in units of 2 x 3 x 2 nodes; 0: chosen from the number of nodes */
    int hosts;                          /* enum hpcw_i_hosts */

    /* A message of S bytes in class c takes latency + S / small up to `eager` bytes, latency + rendezvous +
     * S / large above. */
    double latency_us[HPCW_I_CLASSES];
    double small_gbs[HPCW_I_CLASSES];
    double rendezvous_us[HPCW_I_CLASSES];
    double large_gbs[HPCW_I_CLASSES];
    double hop_us; /* torus: for each hop beyond the first */
    uint64_t eager_node, eager_net;

    double bad_node_share;
    double bad_factor[HPCW_I_BAD_FACTORS];     /* what is left of the bandwidth of a bad node's port */
    double bad_weight[HPCW_I_BAD_FACTORS - 1]; /* how many of the bad ones have it; the last takes the rest */
    double bad_cable_share;                    /* of all pairs of switches */
    double bad_cable_factor;

    double slow_node_share;  /* of all nodes: they compute slowly */
    double slow_node_factor; /* what their compute times are multiplied with */

    struct hpcw_i_congestion heavy, light; /* for classes 4 and 5 */
    uint64_t heavy_size;                   /* messages of this size and larger make the load heavy */
};

extern const struct hpcw_i_param hpcw_i_machine_param[];
extern const size_t hpcw_i_machine_param_count;

struct hpcw_i_machine_preset {
    const char *name, *help;
};
/* The first is the default. */
extern const struct hpcw_i_machine_preset hpcw_i_machine_preset[];
extern const size_t hpcw_i_machine_preset_count;

/* Fills in a preset by name; HPCW_EINVAL with the names there are. */
hpcw_status hpcw_i_machine_params_init(struct hpcw_i_machine_params *params, const char *preset,
                                       hpcw_error *err);

/* The machine of one run. Read-only after init: may be shared by threads. */
struct hpcw_i_machine {
    struct hpcw_i_machine_params params;
    uint64_t seed;
    uint32_t ranks, nodes, switches, groups;
    uint32_t nodes_per_switch, nodes_per_group; /* never 0, at most `nodes` */
    uint32_t torus[HPCW_I_TORUS_DIMS];  /* x y z a b c, c changes fastest with the node; all 1 if none */
    double *out_slowdown, *in_slowdown; /* [nodes] what a node's port multiplies transfer times with, >= 1 */
};

#define HPCW_I_MAX_RANKS ((uint32_t)1 << 30)
#define HPCW_I_MAX_GROUPS 65535u /* a pair of groups is one word of a counter */

/*
 * Builds the machine that `ranks` ranks fill; the last node may be filled partly. Memory 16 bytes per node.
 * HPCW_EINVAL for parameters that contradict each other, HPCW_ERANGE beyond HPCW_I_MAX_RANKS ranks or
 * HPCW_I_MAX_GROUPS groups,
 * HPCW_ENOMEM. After a failure there is nothing to free; hpcw_i_machine_free is then harmless.
 */
hpcw_status hpcw_i_machine_init(struct hpcw_i_machine *m, const struct hpcw_i_machine_params *params,
                                uint32_t ranks, uint64_t seed, hpcw_error *err);
void hpcw_i_machine_free(struct hpcw_i_machine *m);

static inline uint32_t hpcw_i_machine_node(const struct hpcw_i_machine *m, uint32_t rank) {
    return rank / m->params.ppn;
}
static inline uint32_t hpcw_i_machine_switch(const struct hpcw_i_machine *m, uint32_t node) {
    return node / m->nodes_per_switch;
}
static inline uint32_t hpcw_i_machine_group(const struct hpcw_i_machine *m, uint32_t node) {
    return node / m->nodes_per_group;
}

/* Core of a rank, counted over its node. */
uint32_t hpcw_i_machine_core(const struct hpcw_i_machine *m, uint32_t rank);

/* Distance of two ranks; they may be the same. */
enum hpcw_i_class hpcw_i_machine_class(const struct hpcw_i_machine *m, uint32_t rank_a, uint32_t rank_b);

/* Hops between two nodes of a torus; 0 for the same one, and for any two if there is no torus. */
uint32_t hpcw_i_machine_distance(const struct hpcw_i_machine *m, uint32_t node_a, uint32_t node_b);

/* Hops from one node to every node of a torus: hops[nodes], 0 for itself. */
void hpcw_i_machine_hops(const struct hpcw_i_machine *m, uint32_t node, uint16_t *hops);

/* Name of a node, with NUL at most HPCW_I_HOST_SIZE characters. */
void hpcw_i_machine_host(const struct hpcw_i_machine *m, uint32_t node, char name[HPCW_I_HOST_SIZE]);

/* Health of a node's ports: at most one direction is bad. factor = what is left of the bandwidth, 1: healthy.
 */
struct hpcw_i_port {
    double factor;
    bool outgoing; /* what the node sends suffers; else what it receives. false for a healthy one */
};
struct hpcw_i_port hpcw_i_machine_port(const struct hpcw_i_machine *m, uint32_t node);

/* What is left of the bandwidth between two switches, 1 unless a cable is bad; 1 within a switch. */
double hpcw_i_machine_cable(const struct hpcw_i_machine *m, uint32_t switch_a, uint32_t switch_b);

/* What a node multiplies compute times with: 1 unless it is slow. */
double hpcw_i_machine_slowness(const struct hpcw_i_machine *m, uint32_t node);

/* Time of one undisturbed message in picoseconds: t = fixed + transfer * slowdowns. */
struct hpcw_i_message_cost {
    double fixed_ps, transfer_ps;
};
struct hpcw_i_message_cost hpcw_i_machine_cost(const struct hpcw_i_machine *m, enum hpcw_i_class distance,
                                               uint64_t bytes);

#endif
