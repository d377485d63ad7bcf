/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What faults cost: how much longer the run of the log took because of each. The simulator tells it for a few faults at once,
 * those that are expected to cost most: slow nodes, by the work that they add, then interruptions, by their lengths, then slow
 * ports and cables, by the bandwidth that they lack; of equal ones the first in the order of their places.
 */
#ifndef HPCW_GEN_SPEC_COSTS_H
#define HPCW_GEN_SPEC_COSTS_H

#include <cjson/cJSON.h>

#include "gen/spec/dataset.h"

enum gen_cost_kind {
    GEN_COST_SLOW_NODE,    /* place: its number, 0 */
    GEN_COST_INTERRUPTION, /* rank, phase */
    GEN_COST_SLOW_PORT,    /* the number of its node, 0 */
    GEN_COST_SLOW_CABLE    /* its switches, the lower one first */
};

struct gen_costs {
    uint32_t count;
    struct gen_cost_fault {
        enum gen_cost_kind kind;
        uint32_t place[2];
        double weight;        /* of a kind, those with most are chosen */
    } fault[SIM_MOST_CLOCKS]; /* [count] */
    struct model_repair repair[SIM_MOST_CLOCKS];
    struct sim_price price[SIM_MOST_CLOCKS]; /* after the run */
};

/* Chooses faults of a dataset that is built. */
void gen_costs_choose(const struct gen_dataset *d, struct gen_costs *costs);

/* A rank's load in a phase without a fault: `load_ns` is that with it, by this model, which knows no noise. */
uint64_t gen_costs_load_ns(const struct gen_cost_fault *fault, const struct model_load *load, uint32_t rank,
                           uint32_t phase, uint64_t load_ns);

/* Adds them to an open object, the partial result of a log. */
void gen_costs_put(const struct gen_costs *costs, struct hpcw_i_json *partial);
/* Reads them from the partial that has them; none if no one has. HPCW_EFORMAT. */
hpcw_status gen_costs_read(const cJSON *const *partial, size_t count, struct gen_costs *costs, hpcw_error *err);

/* Adds what a fault costs to its open object in truth.json. */
void gen_costs_truth(const struct gen_costs *costs, enum gen_cost_kind kind, uint32_t place, uint32_t second,
                     struct hpcw_i_json *json);

#endif
