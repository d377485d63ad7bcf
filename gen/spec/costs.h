/* SPDX-License-Identifier: BSD-3-Clause */
/* Cost of faults: how much longer the run of the log took because of each. The simulator computes it for a few
 * faults at once, those expected to cost most. They are first the scenario of the load; then slow nodes, by the
 * work they add; then interruptions, by length; then slow ports and cables, by the bandwidth they lack. Of equal
 * ones, the first by place is taken. */
#ifndef HPCW_GEN_SPEC_COSTS_H
#define HPCW_GEN_SPEC_COSTS_H

#include <cjson/cJSON.h>

#include "gen/spec/dataset.h"

enum gen_cost_kind {
    GEN_COST_SCENARIO,     /* place and second: 0 */
    GEN_COST_SLOW_NODE,    /* place: number of the node; second: 0 */
    GEN_COST_INTERRUPTION, /* rank, phase */
    GEN_COST_SLOW_PORT,    /* place: number of the port's node; second: 0 */
    GEN_COST_SLOW_CABLE    /* place, second: its switches, the lower first */
};

struct gen_costs {
    uint32_t count;
    struct gen_cost_fault {
        enum gen_cost_kind kind;
        uint32_t place[2];
        double weight;        /* the largest weights of a kind are chosen */
    } fault[SIM_MOST_CLOCKS]; /* [count] */
    struct model_repair repair[SIM_MOST_CLOCKS];
    struct sim_price price[SIM_MOST_CLOCKS]; /* set after the run */
};

/* Chooses the faults of a built dataset. */
void gen_costs_choose(const struct gen_dataset *d, struct gen_costs *costs);

/* Returns a rank's load in a phase without a fault other than the scenario. load_ns: the load with the fault, from
 * this model, which has no noise. */
uint64_t gen_costs_load_ns(const struct gen_cost_fault *fault, const struct model_load *load, uint32_t rank,
                           uint32_t phase, uint64_t load_ns);

/* Adds the costs to an open object, the partial of the log's range. */
void gen_costs_put(const struct gen_costs *costs, struct hpcw_i_json *partial);
/* Reads the costs from the partial that has them; none if no partial does. HPCW_EFORMAT. */
hpcw_status gen_costs_read(const cJSON *const *partial, size_t count, struct gen_costs *costs, hpcw_error *err);

/* Adds the cost of a fault to its open object in truth.json. */
void gen_costs_truth(const struct gen_costs *costs, enum gen_cost_kind kind, uint32_t place, uint32_t second,
                     struct hpcw_i_json *json);

#endif
