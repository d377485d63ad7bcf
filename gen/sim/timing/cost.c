/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/sim/timing/cost.h"

static uint64_t rounded(double ns) {
    return (uint64_t)(ns + 0.5);
}

/* Rounds a latency, which is at most four seconds. */
static uint32_t rounded_short(double ns) {
    return ns < UINT32_MAX ? (uint32_t)(ns + 0.5) : UINT32_MAX;
}

/* Computes the cost of a message. way, empty: parts of the time of the message, and of an empty message. pair:
 * share of the time that is always added between the two ranks. */
static struct sim_cost cost_of(const struct model_network *net, const struct sim_constants *constants,
                               enum model_class distance, uint64_t bytes, const struct model_way *way,
                               const struct model_way *empty, double pair, uint32_t sharing) {
    const struct model_machine_params *p = &net->machine->params;
    const double total_ns = model_network_time(way, 1, pair, 0) / 1e3;
    const double latency_ns = model_network_time(empty, 1, pair, 0) / 1e3;
    const double overhead_ns = constants->value[SIM_OVERHEAD] * latency_ns;
    const bool off_node = distance >= MODEL_SAME_SWITCH;
    const double share = off_node && sharing > p->nics ? (double)p->nics / sharing : 1;
    const double line_ns = (double)bytes / p->message.line_gbs[distance] + constants->value[SIM_GAP];
    return (struct sim_cost){
        .flight_ns = rounded(total_ns - 2 * overhead_ns),
        .card_ns = rounded(line_ns / share),
        .latency_ns = rounded_short(latency_ns - 2 * overhead_ns),
        .overhead_ns = rounded_short(overhead_ns),
        .bytes = (uint32_t)bytes & INT32_MAX,
        .rendezvous = way->rendezvous,
        .distance = (uint16_t)distance,
        .hops = 1,
    };
}

uint32_t sim_cost_sharing(const struct model_network *net) {
    const uint32_t ppn = net->machine->params.ppn;
    return ppn < net->machine->ranks ? ppn : net->machine->ranks;
}

static struct sim_cost cost_between(const struct model_network *net, const struct sim_constants *constants,
                                    uint32_t from, uint32_t to, uint64_t bytes,
                                    const struct model_repair *repair) {
    static const struct model_contention alone = {0};
    const struct model_machine *m = net->machine;
    const struct model_way way = model_network_repaired_way(net, from, to, bytes, &alone, repair);
    const struct model_way empty = model_network_repaired_way(net, from, to, 0, &alone, repair);
    struct sim_cost cost = cost_of(net, constants, model_machine_class(m, from, to), bytes, &way, &empty,
                                   model_network_pair(net, from, to), sim_cost_sharing(net));
    if (m->params.torus) {
        cost.hops = (uint16_t)model_machine_distance(m, model_machine_node(m, from), model_machine_node(m, to));
    }
    return cost;
}

struct sim_cost sim_cost_between(const struct model_network *net, const struct sim_constants *constants,
                                 uint32_t from, uint32_t to, uint64_t bytes) {
    static const struct model_repair none = {.what = MODEL_REPAIRS_NOTHING};
    return cost_between(net, constants, from, to, bytes, &none);
}

uint64_t sim_cost_repaired_ns(const struct model_network *net, const struct sim_constants *constants,
                              uint32_t from, uint32_t to, uint64_t bytes, const struct model_repair *repair) {
    return cost_between(net, constants, from, to, bytes, repair).flight_ns;
}

struct sim_cost sim_cost_at(const struct model_network *net, const struct sim_constants *constants,
                            enum model_class distance, uint64_t bytes, uint32_t sharing) {
    static const struct model_contention alone = {0};
    const struct model_way way = model_network_class_way(net, distance, bytes, &alone);
    const struct model_way empty = model_network_class_way(net, distance, 0, &alone);
    return cost_of(net, constants, distance, bytes, &way, &empty, 0, sharing);
}

uint64_t sim_cost_crowded(const struct model_network *net, const struct sim_constants *constants,
                          enum model_class distance, uint64_t bytes, uint32_t users) {
    const struct sim_cost cost = sim_cost_at(net, constants, distance, bytes, users);
    const uint32_t nics = net->machine->params.nics;
    const bool waits = distance >= MODEL_SAME_SWITCH && users > nics;
    return sim_cost_total(&cost) + (waits ? cost.card_ns - cost.card_ns * nics / users : 0);
}
