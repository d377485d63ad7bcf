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

/* How far apart two ranks are. On a torus all nodes are MODEL_SAME_SWITCH and differ by their hops. */
enum model_class {
    MODEL_SAME_CACHE,
    MODEL_SAME_SOCKET,
    MODEL_SAME_NODE,
    MODEL_SAME_SWITCH,
    MODEL_SAME_GROUP,
    MODEL_OTHER_GROUP,
    MODEL_CLASSES
};

/* Node names seen on real machines. */
enum model_hosts {
    MODEL_HOSTS_JWB,      /* jwb0001.juwels */
    MODEL_HOSTS_NID,      /* nid005000 */
    MODEL_HOSTS_FRONTIER, /* frontier00001 */
    MODEL_HOSTS_NODE      /* node00001 */
};

enum { MODEL_HOST_SIZE = 32, MODEL_TORUS_DIMS = 6, MODEL_BAD_FACTORS = 3 };

/* How the share of a link's bandwidth is drawn while others talk, too: clamp(mean + sd * z, min, max). */
struct model_congestion {
    double mean, sd, min, max;
};

/* All that can be tuned, keys "machine.*". A preset fills it completely. */
struct model_machine_params {
    uint32_t ppn; /* ranks per node */
    uint32_t cores, cores_per_cache, cores_per_socket;
    uint32_t nics;                              /* network cards of a node, shared by its ranks */
    uint32_t nodes_per_switch, nodes_per_group; /* 0: all nodes */
    bool torus;
    uint32_t torus_x, torus_y, torus_z; /* in units of 2 x 3 x 2 nodes; 0: chosen from the number of nodes */
    int hosts;                          /* enum model_hosts */

    /* A message of S bytes in class c takes latency + S / small up to `eager` bytes, latency + rendezvous +
     * S / large above. */
    double latency_us[MODEL_CLASSES];
    double small_gbs[MODEL_CLASSES];
    double rendezvous_us[MODEL_CLASSES];
    double large_gbs[MODEL_CLASSES];
    double hop_us; /* torus: for each hop beyond the first */
    uint64_t eager_node, eager_net;

    double bad_node_share;
    double bad_factor[MODEL_BAD_FACTORS];     /* what is left of the bandwidth of a bad node's port */
    double bad_weight[MODEL_BAD_FACTORS - 1]; /* how many of the bad ones have it; the last takes the rest */
    double bad_cable_share;                   /* of all pairs of switches */
    double bad_cable_factor;

    double slow_node_share;  /* of all nodes: they compute slowly */
    double slow_node_factor; /* what their compute times are multiplied with */

    struct model_congestion heavy, light; /* for classes 4 and 5 */
    uint64_t heavy_size;                  /* messages of this size and larger make the load heavy */
};

extern const struct ui_param model_machine_param[];
extern const size_t model_machine_param_count;

struct model_machine_preset {
    const char *name, *help;
};
/* The first is the default. */
extern const struct model_machine_preset model_machine_preset[];
extern const size_t model_machine_preset_count;

/* Fills in a preset by name; HPCW_EINVAL with the names there are. */
hpcw_status model_machine_params_init(struct model_machine_params *params, const char *preset, hpcw_error *err);

/* The machine of one run. Read-only after init: may be shared by threads. */
struct model_machine {
    struct model_machine_params params;
    uint64_t seed;
    uint32_t ranks, nodes, switches, groups;
    uint32_t nodes_per_switch, nodes_per_group; /* never 0, at most `nodes` */
    uint32_t torus[MODEL_TORUS_DIMS];   /* x y z a b c, c changes fastest with the node; all 1 if none */
    double *out_slowdown, *in_slowdown; /* [nodes] what a node's port multiplies transfer times with, >= 1 */
};

#define MODEL_MAX_RANKS ((uint32_t)1 << 30)
#define MODEL_MAX_GROUPS 65535u /* a pair of groups is one word of a counter */

/*
 * Builds the machine that `ranks` ranks fill; the last node may be filled partly. Memory 16 bytes per node.
 * HPCW_EINVAL for parameters that contradict each other, HPCW_ERANGE beyond MODEL_MAX_RANKS ranks or
 * MODEL_MAX_GROUPS groups,
 * HPCW_ENOMEM. After a failure there is nothing to free; model_machine_free is then harmless.
 */
hpcw_status model_machine_init(struct model_machine *m, const struct model_machine_params *params,
                               uint32_t ranks, uint64_t seed, hpcw_error *err);
void model_machine_free(struct model_machine *m);

static inline uint32_t model_machine_node(const struct model_machine *m, uint32_t rank) {
    return rank / m->params.ppn;
}
static inline uint32_t model_machine_switch(const struct model_machine *m, uint32_t node) {
    return node / m->nodes_per_switch;
}
static inline uint32_t model_machine_group(const struct model_machine *m, uint32_t node) {
    return node / m->nodes_per_group;
}

/* Core of a rank, counted over its node. */
uint32_t model_machine_core(const struct model_machine *m, uint32_t rank);

/* Distance of two ranks; they may be the same. */
enum model_class model_machine_class(const struct model_machine *m, uint32_t rank_a, uint32_t rank_b);

/* Hops between two nodes of a torus; 0 for the same one, and for any two if there is no torus. */
uint32_t model_machine_distance(const struct model_machine *m, uint32_t node_a, uint32_t node_b);

/* Hops from one node to every node of a torus: hops[nodes], 0 for itself. */
void model_machine_hops(const struct model_machine *m, uint32_t node, uint16_t *hops);

/* Name of a node, with NUL at most MODEL_HOST_SIZE characters. */
void model_machine_host(const struct model_machine *m, uint32_t node, char name[MODEL_HOST_SIZE]);

/* Health of a node's ports: at most one direction is bad. factor = what is left of the bandwidth, 1: healthy.
 */
struct model_port {
    double factor;
    bool outgoing; /* what the node sends suffers; else what it receives. false for a healthy one */
};
struct model_port model_machine_port(const struct model_machine *m, uint32_t node);

/* What is left of the bandwidth between two switches, 1 unless a cable is bad; 1 within a switch. */
double model_machine_cable(const struct model_machine *m, uint32_t switch_a, uint32_t switch_b);

/* What a node multiplies compute times with: 1 unless it is slow. */
double model_machine_slowness(const struct model_machine *m, uint32_t node);

/* Time of one undisturbed message in picoseconds: t = fixed + transfer * slowdowns. */
struct model_message_cost {
    double fixed_ps, transfer_ps;
};
struct model_message_cost model_machine_cost(const struct model_machine *m, enum model_class distance,
                                             uint64_t bytes);

#endif
