/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated machine that all formats show: where a rank runs, the distance of two ranks, and what is broken.
 * Everything is a pure function of (parameters, number of ranks, seed, index). Each property has its own random
 * draws, so a new property changes no other.
 *
 *    rank -> node = rank / ppn, core = (rank mod ppn) * cores / ppn
 *    node -> place: its number on the whole machine, on which other jobs have nodes between those of this job
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

/* Distance of two ranks. On a torus, all pairs of nodes are MODEL_SAME_SWITCH and differ in the number of hops. */
enum model_class {
    MODEL_SAME_CACHE,
    MODEL_SAME_SOCKET,
    MODEL_SAME_NODE,
    MODEL_SAME_SWITCH,
    MODEL_SAME_GROUP,
    MODEL_OTHER_GROUP,
    MODEL_CLASSES
};

/* Styles of node names on real machines. A machine with more nodes than its style has names uses
 * MODEL_HOSTS_NODE. */
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
    /* largest time that copies add; a message of protocol_node or protocol_net bytes takes half of this time */
    double protocol_us[MODEL_CLASSES];
    /* time of the handshake of a message above the eager size */
    double rendezvous_us[MODEL_CLASSES];
    uint64_t protocol_node, protocol_net, eager_node, eager_net;
    double hop_us; /* torus: time of each hop beyond the first */
};

struct model_machine_gpus {
    uint32_t count;                   /* GPUs of a node; 0: none */
    double latency_node_us, node_gbs; /* latency and bandwidth between GPUs of a node */
    double latency_net_us;            /* extra latency of messages from GPUs to another node */
};

struct model_machine_bad {
    double node_share;
    double factor[MODEL_BAD_FACTORS]; /* remaining share of the bandwidth of a bad port */
    /* weight[k]: share of the bad ports with factor[k]; all other bad ports have the last factor */
    double weight[MODEL_BAD_FACTORS - 1];
    double cable_share; /* share of the pairs of switches whose cable is bad */
    double cable_factor;
};

struct model_machine_files {
    uint32_t servers; /* number of data servers; 0: one for each `nodes` nodes of the job */
    uint32_t nodes;
    double server_gbs, client_gbs; /* bandwidth of each data server and of each node */
    double creates;                /* files that the metadata server creates in a second */
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

    uint32_t nodes; /* nodes of the whole machine; raised for a larger job */
    /* other jobs use this share of the nodes among which the nodes of this job lie */
    double busy_share;
    /* number of the job, from which its nodes and the traffic of other jobs are drawn; 0: the seed is used */
    uint32_t job;
    /* links from a switch to the other switches of its group; 0: one per network card at the switch */
    uint32_t switch_links;
    /* links from a group to the other groups; 0: one per network card in the group */
    uint32_t group_links;
    /* true: links lead from group to group (dragonfly); false: links lead to a common core of switches */
    bool detours;
    /* time lost on a link at full load, as a share of the transfer time */
    double collisions;
    /* share of the time in which the nodes of other jobs send */
    double background;
    double congestion_spread, window_ms;
    double pair_spread;

    struct model_machine_gpus gpu;
    struct model_machine_bad bad;
    struct model_machine_files file;

    double slow_node_share;
    double slow_node_factor; /* mean factor of compute times on a slow node */
};

extern const struct ui_param model_machine_param[];
extern const size_t model_machine_param_count;

struct model_machine_preset {
    const char *name, *help;
};
/* The presets. The first one is the default. */
extern const struct model_machine_preset model_machine_preset[];
extern const size_t model_machine_preset_count;

/* Sets the parameters of a preset. HPCW_EINVAL: unknown name; the message lists the known ones. */
hpcw_status model_machine_params_init(struct model_machine_params *params, const char *preset, hpcw_error *err);

/* Machine of a run. Read-only after init, so threads may share a machine. */
struct model_machine {
    struct model_machine_params params;
    uint64_t seed;
    /* seed from which the job's nodes and the congestion on their links are drawn */
    uint64_t job_seed;
    uint32_t ranks, nodes, switches, groups;
    uint32_t machine_nodes, machine_groups;     /* nodes and groups of the whole machine */
    uint32_t nodes_per_switch, nodes_per_group; /* never 0, at most machine_nodes */
    uint32_t *place;        /* [nodes] number of each of the job's nodes on the whole machine, ascending */
    uint32_t *node_switch;  /* [nodes] */
    uint32_t *switch_first; /* [switches + 1] the job's first node at each switch */
    uint32_t *switch_group; /* [switches] */
    /* sides of the torus, x y z a b c; a node's position in c changes fastest; without a torus all sides are 1 */
    uint32_t torus[MODEL_TORUS_DIMS];
    double *out_slowdown, *in_slowdown; /* [nodes] factors >= 1 of the time to send and to receive */
};

#define MODEL_MAX_RANKS ((uint32_t)1 << 30)
/* Largest number of groups. The numbers of two groups must fit in one word of 32 bits. */
#define MODEL_MAX_GROUPS 65535u

/* Builds the machine of `ranks` ranks. The job's last node may have fewer ranks than the others. Memory: 24
 * bytes per node. HPCW_EINVAL: parameters contradict each other. HPCW_ERANGE: more than MODEL_MAX_RANKS ranks
 * or MODEL_MAX_GROUPS groups. HPCW_ENOMEM. After a failure there is nothing to free, but model_machine_free is
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

/* Returns the distance class of two ranks. rank_a and rank_b may be equal. */
enum model_class model_machine_class(const struct model_machine *m, uint32_t rank_a, uint32_t rank_b);

/* Returns the number of hops between two nodes of a torus; 0 for a node and itself, or without a torus. */
uint32_t model_machine_distance(const struct model_machine *m, uint32_t node_a, uint32_t node_b);

/* Fills hops[nodes] with the number of hops from a node to each node of a torus; hops[node] = 0. */
void model_machine_hops(const struct model_machine *m, uint32_t node, uint16_t *hops);

/* Writes the name of a node, at most MODEL_HOST_SIZE characters with the NUL. */
void model_machine_host(const struct model_machine *m, uint32_t node, char name[MODEL_HOST_SIZE]);

/* Health of a node's port. At most one direction of a port is bad. */
struct model_port {
    double factor; /* remaining share of the bandwidth; 1: not bad */
    /* true: sending is the bad direction; false: receiving, or the port is not bad */
    bool outgoing;
};
struct model_port model_machine_port(const struct model_machine *m, uint32_t node);

/* Returns the remaining share of the bandwidth between two switches: 1 unless the cable between them is bad. */
double model_machine_cable(const struct model_machine *m, uint32_t switch_a, uint32_t switch_b);

/* Returns the factor of compute times on a node: 1 unless the node is slow. */
double model_machine_slowness(const struct model_machine *m, uint32_t node);

#endif
