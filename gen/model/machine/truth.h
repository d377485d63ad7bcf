/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was injected into a dataset, to score analysis tools with. Slow ports, nodes and cables follow from the machine
 * alone, and whoever needs them lists them. Outliers are counted while timings are made, by the process that owns the
 * measuring rank, so the counts of several parts can be joined.
 */
#ifndef HPCW_GEN_MODEL_MACHINE_TRUTH_H
#define HPCW_GEN_MODEL_MACHINE_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "gen/model/machine/machine.h"

/* A node that is slow, or has a port that is slow in one direction. Its ranks are first_rank .. first_rank + ranks - 1. */
struct model_truth_node {
    uint32_t node, first_rank, ranks;
    bool outgoing; /* the slow direction of its port is that of sending */
    double factor; /* share of the bandwidth that is left; of a slow node: of its compute times */
};

/* A pair of switches with a slow cable between them, in both directions. */
struct model_truth_cable {
    uint32_t switch_a, switch_b;         /* switch_a < switch_b */
    uint32_t first_rank_a, first_rank_b; /* ranks at each switch: the first one ... */
    uint32_t ranks_a, ranks_b;           /* ... and how many */
    double factor;
};

/* From this many standard deviations of the noise around it on, something stands out. */
#define MODEL_VISIBLE 5.0

/* Delays among the timings that one rank measured: those that are visible, and those of which nobody can tell. Zeroed:
 * none. */
enum { MODEL_TRUTH_DELAYS = 4 };
struct model_truth_outliers {
    uint64_t count;
    /* Those that stand out most, this first; equal ones in order of permutation and step. */
    struct model_truth_delay {
        uint64_t visibility; /* in thousandths of a standard deviation; 0: too few timings around it to tell */
        uint64_t ps;         /* what it added to the timing; 0: no delay */
        uint32_t step, partner, permutation;
    } worst[MODEL_TRUTH_DELAYS];
};

/* The first node >= *node with a bad port, or that is slow; *node becomes the node after it. False after the last one. */
bool model_truth_next_port(const struct model_machine *m, uint32_t *node, struct model_truth_node *found);
bool model_truth_next_node(const struct model_machine *m, uint32_t *node, struct model_truth_node *found);

/*
 * The first bad cable from the pair (*a, *b) on, a < b, in ascending order; the pair then becomes the one after it. Start
 * with (0, 0). False after the last one. Takes a draw per pair of switches.
 */
bool model_truth_next_cable(const struct model_machine *m, uint32_t *a, uint32_t *b,
                            struct model_truth_cable *cable);

#endif
