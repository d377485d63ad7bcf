/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated machine that all formats show: where a rank runs, the distance of two ranks, and what is broken.
 * Everything is a pure function of (parameters, number of ranks, seed, index). Each property has its own random
 * draws, so a new property changes no other.
 *
 *    rank -> node = rank / ppn, core = (rank mod ppn) * cores / ppn
 *    node -> place: its number on the machine, which is larger than the job and has other jobs between its nodes
 *    place / nodes_per_switch -> switch, place / nodes_per_group -> group
 *
 * Nodes, switches and groups are numbered within the job, in ascending order of place. */
#ifndef HPCW_GEN_MODEL_MACHINE_MACHINE_H
#define HPCW_GEN_MODEL_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "ui/param/param.h"

/* Distance of two ranks. On a torus all nodes are MODEL_SAME_SWITCH and differ by hops. */
enum model_class {
    MODEL_SAME_CACHE,
    MODEL_SAME_SOCKET,
    MODEL_SAME_NODE,
    MODEL_SAME_SWITCH,
    MODEL_SAME_GROUP,
    MODEL_OTHER_GROUP,
    MODEL_CLASSES
};

/* Styles of node names on real machines. Each has a largest number; larger machines use the last style. */
enum model_hosts {
    MODEL_HOSTS_JWB,      /* jwb0001.juwels to jwb0936.juwels */
    MODEL_HOSTS_NID,      /* nid005000 to nid007977 */
    MODEL_HOSTS_FRONTIER, /* frontier00001 to frontier09408 */
    MODEL_HOSTS_NODE      /* node00001 */
};

enum { MODEL_HOST_SIZE = 32, MODEL_TORUS_DIMS = 6, MODEL_BAD_FACTORS = 3 };

/* Message times of gen/model/network: latency + bytes / line rate, plus the cost of the protocol. */
struct model_machine_message {
    double latency_us[MODEL_CLASSES];
    double line_gbs[MODEL_CLASSES];
    /* largest cost of copies; a message of protocol_node or protocol_net bytes has half of this cost */
    double protocol_us[MODEL_CLASSES];
    /* handshake of messages larger than the eager size */
    double rendezvous_us[MODEL_CLASSES];
    uint64_t protocol_node, protocol_net, eager_node, eager_net;
    double hop_us; /* torus: time of each hop beyond the first */
};

struct model_machine_gpus {
    uint32_t count;                   /* GPUs of a node; 0: none */
    double latency_node_us, node_gbs; /* between the GPUs of a node */
    double latency_net_us;            /* added to the latency between nodes */
};

/* Bad ports and cables. */
struct model_machine_bad {
    double node_share;
    double factor[MODEL_BAD_FACTORS]; /* remaining share of the bandwidth of a bad port */
    /* share of bad ports with each factor; the last factor has the rest */
    double weight[MODEL_BAD_FACTORS - 1];
    double cable_share; /* share of all pairs of switches */
    double cable_factor;
};

/* The parallel file system. */
struct model_machine_files {
    uint32_t servers; /* data servers; 0: one for `nodes` nodes of the job */
    uint32_t nodes;
    double server_gbs, client_gbs; /* bandwidth of a data server, and of a node */
    double creates;                /* file creations a second of the metadata server */
};

/* Parameters with the keys "machine.*". A preset sets all of them. */
struct model_machine_params {
    uint32_t ppn; /* ranks per node */
    uint32_t cores, cores_per_cache, cores_per_socket;
    uint32_t nics;                              /* network cards of a node, shared by its ranks */
    uint32_t nodes_per_switch, nodes_per_group; /* 0: all nodes */
    bool torus;
    uint32_t torus_x, torus_y, torus_z; /* sides in units of 2 x 3 x 2 nodes; 0: from the number of nodes */
    int hosts;                          /* enum model_hosts */

    struct model_machine_message message;

    uint32_t nodes; /* nodes of the whole machine; a larger job enlarges it */
    /* share of busy nodes (other jobs) where the job's nodes are allocated */
    double busy_share;
    /* number of the job: decides its nodes and the traffic of others; 0: from the seed */
    uint32_t job;
    /* links from a switch to others of its group; 0: as many as its cards */
    uint32_t switch_links;
    uint32_t group_links; /* links from a group to others; 0: as many as its cards */
    /* true: links lead from group to group (dragonfly); false: to a common core */
    bool detours;
    double collisions; /* time lost on a link at full load, as a share */
    /* traffic of other jobs' nodes: the share of time that they send */
    double background;
    double congestion_spread, window_ms;
    double pair_spread;

    struct model_machine_gpus gpu;
    struct model_machine_bad bad;
    struct model_machine_files file;

    double slow_node_share;  /* share of all nodes */
    double slow_node_factor; /* mean factor of their compute times */
};

extern const struct ui_param model_machine_param[];
extern const size_t model_machine_param_count;

struct model_machine_preset {
    const char *name, *help;
};
/* The first is the default. */
extern const struct model_machine_preset model_machine_preset[];
extern const size_t model_machine_preset_count;

/* Sets the parameters of a preset. HPCW_EINVAL: unknown name; the message lists the known ones. */
hpcw_status model_machine_params_init(struct model_machine_params *params, const char *preset, hpcw_error *err);

/* Machine of a run. Read-only after init: threads may share it. */
struct model_machine {
    struct model_machine_params params;
    uint64_t seed;
    uint64_t job_seed; /* seed of the allocation and of the congestion that the job meets */
    uint32_t ranks, nodes, switches, groups;
    uint32_t machine_nodes, machine_groups;     /* of the whole machine */
    uint32_t nodes_per_switch, nodes_per_group; /* never 0, at most machine_nodes */
    uint32_t *place;                            /* [nodes] number of each node on the machine, ascending */
    uint32_t *node_switch;                      /* [nodes] */
    uint32_t *switch_first;                     /* [switches + 1] the job's first node at each switch */
    uint32_t *switch_group;                     /* [switches] */
    /* sides x y z a b c; c changes fastest with the node; all 1 without a torus */
    uint32_t torus[MODEL_TORUS_DIMS];
    double *out_slowdown, *in_slowdown; /* [nodes] factors >= 1 of transfer times at a node's port */
};

#define MODEL_MAX_RANKS ((uint32_t)1 << 30)
#define MODEL_MAX_GROUPS 65535u /* a pair of groups must fit in one word of a counter */

/* Builds the machine for `ranks` ranks; the last node may have fewer than the others. Memory: 24 bytes per node.
 * HPCW_EINVAL: parameters contradict each other. HPCW_ERANGE: more than MODEL_MAX_RANKS ranks or
 * MODEL_MAX_GROUPS groups. HPCW_ENOMEM. After a failure there is nothing to free, but model_machine_free is
 * allowed. */
hpcw_status model_machine_init(struct model_machine *m, const struct model_machine_params *params,
                               uint32_t ranks, uint64_t seed, hpcw_error *err);
void model_machine_free(struct model_machine *m);

static inline uint32_t model_machine_node(const struct model_machine *m, uint32_t rank) {
    return rank / m->params.ppn;
}
static inline uint32_t model_machine_switch(const struct model_machine *m, uint32_t node) {
    return m->node_switch[node];
}
static inline uint32_t model_machine_group(const struct model_machine *m, uint32_t node) {
    return m->switch_group[m->node_switch[node]];
}

/* Returns the core of a rank, counted on its node. */
uint32_t model_machine_core(const struct model_machine *m, uint32_t rank);

/* Returns the distance class of two ranks; they may be the same. */
enum model_class model_machine_class(const struct model_machine *m, uint32_t rank_a, uint32_t rank_b);

/* Returns the hops between two nodes of a torus; 0 for the same node, and without a torus. */
uint32_t model_machine_distance(const struct model_machine *m, uint32_t node_a, uint32_t node_b);

/* Fills hops[nodes] with the hops from one node to each node of a torus; 0 for itself. */
void model_machine_hops(const struct model_machine *m, uint32_t node, uint16_t *hops);

/* Writes the name of a node, at most MODEL_HOST_SIZE characters with the NUL. */
void model_machine_host(const struct model_machine *m, uint32_t node, char name[MODEL_HOST_SIZE]);

/* Health of a node's port. At most one direction is bad. */
struct model_port {
    double factor; /* remaining share of the bandwidth; 1: healthy */
    /* the bad direction is sending; false for a healthy port */
    bool outgoing;
};
struct model_port model_machine_port(const struct model_machine *m, uint32_t node);

/* Returns the remaining share of the bandwidth between two switches: 1 unless their cable is bad. */
double model_machine_cable(const struct model_machine *m, uint32_t switch_a, uint32_t switch_b);

/* Returns the factor of compute times on a node: 1 unless it is slow. */
double model_machine_slowness(const struct model_machine *m, uint32_t node);

#endif
