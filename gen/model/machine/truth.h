/* SPDX-License-Identifier: BSD-3-Clause */
/* Injected faults of a dataset, as ground truth to score analysis tools with. Slow ports, nodes and cables
 * follow from the machine alone and can be listed any time. Outliers are counted while timings are made, by the
 * process that owns the measuring rank. So counts of several parts can be added. */
#ifndef HPCW_GEN_MODEL_MACHINE_TRUTH_H
#define HPCW_GEN_MODEL_MACHINE_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "gen/model/machine/machine.h"

/* A slow node, or a node whose port is slow in one direction. Its ranks are first_rank .. first_rank + ranks -
 * 1. */
struct model_truth_node {
    uint32_t node, first_rank, ranks;
    bool outgoing; /* the slow direction of the port is sending */
    /* of a port: remaining share of the bandwidth; of a slow node: factor of compute times */
    double factor;
};

/* Two switches with a slow cable between them, slow in both directions. */
struct model_truth_cable {
    uint32_t switch_a, switch_b;         /* switch_a < switch_b */
    uint32_t first_rank_a, first_rank_b; /* first rank at each switch */
    uint32_t ranks_a, ranks_b;           /* number of ranks at each switch */
    double factor;
};

/* A value stands out if it differs by this many standard deviations of the noise around it. */
#define MODEL_VISIBLE 5.0

/* Delays among the timings that one rank measured: visible ones, and those that nobody could detect. Zeroed:
 * none. */
enum { MODEL_TRUTH_DELAYS = 4 };
struct model_truth_outliers {
    uint64_t count;
    /* The most visible delays, most visible first; equal ones in order of permutation and step. */
    struct model_truth_delay {
        /* in thousandths of a standard deviation; 0: too few timings around it to tell */
        uint64_t visibility;
        uint64_t ps; /* time it added to the timing; 0: no delay */
        uint32_t step, partner, permutation;
    } worst[MODEL_TRUTH_DELAYS];
};

/* Finds the first node >= *node that is slow or has a bad port. *node becomes the node after it. Returns false
 * after the last one. */
bool model_truth_next_port(const struct model_machine *m, uint32_t *node, struct model_truth_node *found);
bool model_truth_next_node(const struct model_machine *m, uint32_t *node, struct model_truth_node *found);

/* Finds the first bad cable from the pair (*a, *b) on, a < b, in ascending order. The pair then becomes the one
 * after it. Start with (0, 0). Returns false after the last one. Needs a draw per pair of switches. */
bool model_truth_next_cable(const struct model_machine *m, uint32_t *a, uint32_t *b,
                            struct model_truth_cable *cable);

#endif
