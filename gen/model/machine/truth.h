/* SPDX-License-Identifier: BSD-3-Clause */
/* Injected faults of a dataset, as ground truth to score analysis tools with. Slow ports, nodes and cables
 * follow from the machine alone and can be listed any time. Outliers are counted while timings are made, by the
 * process that owns the measuring rank. So counts of several processes can be added. */
#ifndef HPCW_GEN_MODEL_MACHINE_TRUTH_H
#define HPCW_GEN_MODEL_MACHINE_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "gen/model/machine/machine.h"

/* A slow node, or a node whose port is slow in one direction. The node has the ranks first_rank .. first_rank +
 * ranks - 1. */
struct model_truth_node {
    uint32_t node, first_rank, ranks;
    bool outgoing; /* true: the port is slow in sending; false: in receiving */
    /* slow port: remaining share of the bandwidth; slow node: factor of compute times */
    double factor;
};

/* Two switches whose cable is slow. A slow cable is slow in both directions. */
struct model_truth_cable {
    uint32_t switch_a, switch_b;         /* switch_a < switch_b */
    uint32_t first_rank_a, first_rank_b; /* first rank at each switch */
    uint32_t ranks_a, ranks_b;           /* number of ranks at each switch */
    double factor;
};

/* A value is visible if it differs by at least this many standard deviations from the values around it. */
#define MODEL_VISIBLE 5.0

/* Delays in the timings of a rank. Delays are counted if they are visible, or if there are too few timings
 * around them to tell. Zeroed: no delays. */
enum { MODEL_TRUTH_DELAYS = 4 };
struct model_truth_outliers {
    uint64_t count;
    /* Most visible delays, in descending order. Equally visible delays are in order of permutation and step. */
    struct model_truth_delay {
        /* size in thousandths of the standard deviation of the timings around the delay; 0: too few timings */
        uint64_t visibility;
        uint64_t ps; /* length of the delay, ps; 0: no delay */
        uint32_t step, partner, permutation;
    } worst[MODEL_TRUTH_DELAYS];
};

/* model_truth_next_port finds the first node >= *node with a bad port, model_truth_next_node the first slow
 * node. Then *node is the node after the one found. Both return false if there is none. */
bool model_truth_next_port(const struct model_machine *m, uint32_t *node, struct model_truth_node *found);
bool model_truth_next_node(const struct model_machine *m, uint32_t *node, struct model_truth_node *found);

/* Finds the first bad cable in ascending order of pairs of switches, a < b, from (*a, *b) on. Then (*a, *b) is the
 * pair after the one found. Start with (0, 0). Returns false if there is none. Time: one random draw per pair. */
bool model_truth_next_cable(const struct model_machine *m, uint32_t *a, uint32_t *b,
                            struct model_truth_cable *cable);

#endif
