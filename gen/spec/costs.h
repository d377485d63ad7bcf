/* SPDX-License-Identifier: BSD-3-Clause */
/* Cost of faults: how much longer the run of the log took because of each fault. One simulation computes it for
 * up to SIM_MOST_CLOCKS faults. They are taken in this order: the scenario of the load; slow nodes, by added
 * work; interruptions, by length; slow ports and slow cables, by lacking bandwidth. Of equal faults, the one
 * with the lower numbers in `place` comes first. */
#ifndef HPCW_GEN_SPEC_COSTS_H
#define HPCW_GEN_SPEC_COSTS_H

#include <cjson/cJSON.h>

#include "gen/spec/dataset.h"

enum gen_cost_kind {
    GEN_COST_SCENARIO,     /* place: 0, 0 */
    GEN_COST_SLOW_NODE,    /* place: { number of the node, 0 } */
    GEN_COST_INTERRUPTION, /* rank, phase */
    GEN_COST_SLOW_PORT,    /* place: { number of the port's node, 0 } */
    GEN_COST_SLOW_CABLE    /* place: numbers of both switches, the lower one first */
};

struct gen_costs {
    uint32_t count;
    struct gen_cost_fault {
        enum gen_cost_kind kind;
        uint32_t place[2];
        double weight;        /* faults of a kind are sorted by weight, largest first */
    } fault[SIM_MOST_CLOCKS]; /* [count] */
    struct model_repair repair[SIM_MOST_CLOCKS];
    struct sim_price price[SIM_MOST_CLOCKS]; /* cost of each fault; set after the run */
};

/* Chooses the faults of a built dataset whose costs are computed. */
void gen_costs_choose(const struct gen_dataset *d, struct gen_costs *costs);

/* Returns the load of a rank in a phase without a fault, which must not be the scenario. load_ns: the load
 * with the fault, from the model without noise. */
uint64_t gen_costs_load_ns(const struct gen_cost_fault *fault, const struct model_load *load, uint32_t rank,
                           uint32_t phase, uint64_t load_ns);

/* Adds the costs to an open JSON object: the partial result of the range with the log. */
void gen_costs_put(const struct gen_costs *costs, struct hpcw_i_json *partial);
/* Reads the costs from the partial result that has them. If no partial result has costs, there are none.
 * HPCW_EFORMAT. */
hpcw_status gen_costs_read(const cJSON *const *partial, size_t count, struct gen_costs *costs, hpcw_error *err);

/* Adds the cost of a fault to the open object of the fault in truth.json. */
void gen_costs_truth(const struct gen_costs *costs, enum gen_cost_kind kind, uint32_t place, uint32_t second,
                     struct hpcw_i_json *json);

#endif
