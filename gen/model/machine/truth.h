/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was injected into a dataset, so that an analysis tool can be scored. Ports and cables follow from the
 * machine alone and are enumerated by whoever writes the list; outliers are counted while timings are made, by
 * the process that owns the measuring rank, so that parts of a run can be joined without doubt.
 */
#ifndef HPCW_GEN_MODEL_MACHINE_TRUTH_H
#define HPCW_GEN_MODEL_MACHINE_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "gen/model/machine/machine.h"

/* A node whose port is slow in one direction. Its ranks are first_rank .. first_rank + ranks - 1. */
struct model_truth_port {
    uint32_t node, first_rank, ranks;
    bool outgoing; /* what the node sends suffers; else what it receives */
    double factor; /* what is left of the bandwidth */
};

/* A node that computes slowly. */
struct model_truth_node {
    uint32_t node, first_rank, ranks;
    double factor; /* what its compute times are multiplied with */
};

/* A pair of switches with a slow cable between them, in both directions. */
struct model_truth_cable {
    uint32_t switch_a, switch_b;         /* switch_a < switch_b */
    uint32_t first_rank_a, first_rank_b; /* ranks behind them: this many from there */
    uint32_t ranks_a, ranks_b;
    double factor;
};

/* Tail events among the timings that one rank measured. A zeroed struct has none. */
struct model_truth_outliers {
    uint64_t count;
    uint64_t worst_ps;   /* what the largest event added to a timing */
    uint32_t worst_step; /* where: the first one of that size in order of permutation and step */
    uint32_t worst_partner;
    uint32_t worst_permutation;
};

/* The first bad port of a node >= *node; *node becomes the one behind it. False if there is none left. */
bool model_truth_next_port(const struct model_machine *m, uint32_t *node, struct model_truth_port *port);

/* The first slow node >= *node, likewise. */
bool model_truth_next_node(const struct model_machine *m, uint32_t *node, struct model_truth_node *slow);

/*
 * The first bad cable at or behind the pair (*a, *b), a < b, in ascending order; the pair then moves behind it.
 * Start with (0, 0). False if there is none left. Takes one draw per pair of switches.
 */
bool model_truth_next_cable(const struct model_machine *m, uint32_t *a, uint32_t *b,
                            struct model_truth_cable *cable);

#endif
