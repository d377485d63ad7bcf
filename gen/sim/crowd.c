/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/sim/crowd.h"

#include <string.h>

#include "gen/sim/private.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Returns the time at which all ranks had ended the n-th phase, counted from 1. */
static uint64_t end_of(const struct sim_crowd *crowd, uint32_t n) {
    return n > 0 ? crowd->phase[n - 1].end_ns : 0;
}

/* ---- from a traffic pattern to crowded links ---- */

/* Computes by which share crowded (overloaded) links lengthen transfers of each distance class. Returns whether
 * some link is crowded. */
static bool find_excess(const struct sim *sim, const struct model_pattern *pattern, double *excess) {
    bool crowded = false;
    model_network_crowding(sim->options.network, pattern, excess);
    for (int c = 0; c < MODEL_CLASSES; c++) {
        excess[c] -= 1;
        crowded = crowded || excess[c] > 0;
    }
    return crowded;
}

/* Returns the share of the node's network cards that a rank has, as a number of cards: at most 1. */
static double cards_of_rank(const struct model_network *net) {
    const uint32_t sharing = sim_cost_sharing(net);
    const uint32_t nics = net->machine->params.nics;
    return sharing > nics ? (double)nics / sharing : 1;
}

/* Returns the traffic pattern that a phase would have if its transfers took longer: by the share excess[c] in
 * distance class c. */
static struct model_pattern pattern_of(const struct sim *sim, uint32_t phase, const double *excess) {
    const struct sim_crowd_phase *p = &sim->crowd.phase[phase];
    const struct model_network *net = sim->options.network;
    const double nodes = net->machine->nodes, cards = cards_of_rank(net), most = sim_cost_sharing(net) * cards;
    /* Ranks may be in different phases, so messages of several phases are on the way at once. A phase is
     * therefore counted from the end of the previous phase. */
    const uint64_t length_ns = p->end_ns - end_of(&sim->crowd, phase), sends_ns = p->last_ns - p->first_ns;
    const uint64_t took_ns = length_ns < sends_ns ? length_ns : sends_ns;
    double all_ns = 0, far_ns = 0, time_ns = took_ns > p->wait_ns ? (double)(took_ns - p->wait_ns) : 1;
    for (int c = MODEL_SAME_SWITCH; c < MODEL_CLASSES; c++) {
        const double busy_ns = (double)p->busy_ns[c];
        all_ns += busy_ns * (1 + excess[c]);
        far_ns += c > MODEL_SAME_SWITCH ? busy_ns * (1 + excess[c]) : 0;
        time_ns += busy_ns * excess[c] / sim->ranks;
    }
    if (all_ns == 0) {
        return (struct model_pattern){.ranks = 0};
    }
    const double busy = all_ns * cards / (nodes * time_ns);
    return (struct model_pattern){.ranks = busy < most ? busy : most,
                                  .off_switch = far_ns / all_ns,
                                  .off_group = (double)p->busy_ns[MODEL_OTHER_GROUP] *
                                               (1 + excess[MODEL_OTHER_GROUP]) / all_ns,
                                  .groups = model_network_uniform(net).groups,
                                  .hops = (double)p->busy_hops * (1 + excess[MODEL_SAME_SWITCH]) / all_ns};
}

/* Finds the excess (extra time as a share) of each distance class with which links carry just as much as they can.
 * Longer transfers let more messages meet, but also make the phase longer. The calculation starts from an excess
 * of 0, since the excess may have changed during the phase. */
static void use_phase(struct sim *sim, uint32_t phase) {
    /* A round leaves at most 1 / (1 + excess) of the error. On 1024 ranks of fattree-hdr100, logs with crowded links
     * have the same bytes with 25 rounds as with 200. With 5 rounds, their times differ. */
    enum { ROUNDS = 50 };
    double excess[MODEL_CLASSES] = {0};
    sim->crowd.now = true;
    for (int i = 0; i < ROUNDS && sim->crowd.now; i++) {
        const struct model_pattern pattern = pattern_of(sim, phase, excess);
        sim->crowd.now = find_excess(sim, &pattern, excess);
    }
    memcpy(sim->crowd.excess, excess, sizeof excess);
}

/* Returns whether links are crowded if all ranks always send to the farthest ranks. */
static bool can_be_crowded(const struct sim *sim) {
    const struct model_network *net = sim->options.network;
    struct model_pattern most = {.ranks = sim_cost_sharing(net) * cards_of_rank(net),
                                 .off_switch = 1,
                                 .off_group = 1,
                                 .groups = model_network_uniform(net).groups};
    for (int d = 0; d < MODEL_TORUS_DIMS; d++) {
        const uint32_t farthest = net->machine->torus[d] / 2;
        most.hops += farthest;
    }
    double excess[MODEL_CLASSES];
    return net->machine->nodes > 1 && find_excess(sim, &most, excess);
}

uint64_t sim_crowd_pairs_wait(const struct sim *sim, enum model_class distance, uint64_t bytes) {
    const struct model_network *net = sim->options.network;
    const struct sim_cost cost =
        sim_cost_at(net, &sim->options.constants, distance, bytes, sim_cost_sharing(net));
    return (uint64_t)(sim->crowd.all_excess[distance] * (double)cost.card_ns + 0.5);
}

/* ---- phases ---- */

hpcw_status sim_crowd_init(struct sim *sim, hpcw_error *err) {
    const size_t phases = sim->options.phases + (size_t)1;
    if (!can_be_crowded(sim)) {
        return HPCW_OK;
    }
    const struct model_pattern all = model_network_uniform(sim->options.network);
    (void)find_excess(sim, &all, sim->crowd.all_excess);
    sim->crowd.phase = hpcw_i_calloc(phases, sizeof *sim->crowd.phase);
    sim->crowd.wait_ns = hpcw_i_calloc(sim->ranks, sizeof *sim->crowd.wait_ns);
    if (sim->crowd.phase == NULL || sim->crowd.wait_ns == NULL) {
        return hpcw_i_fail_memory(err, "simulator", phases, "phases");
    }
    for (size_t k = 0; k < phases; k++) {
        sim->crowd.phase[k].first_ns = UINT64_MAX;
    }
    return HPCW_OK;
}

void sim_crowd_free(struct sim *sim) {
    hpcw_i_free(sim->crowd.phase);
    hpcw_i_free(sim->crowd.wait_ns);
}

/* Returns the time from the end of a phase until its excess applies to messages. end_ns: earliest possible end of
 * the phase, which must be the next one to end. */
static uint64_t delay_of(const struct sim_crowd *crowd, uint64_t end_ns) {
    const uint64_t before_ns = end_of(crowd, crowd->ended);
    const uint64_t length_ns = crowd->ended > 0 ? before_ns - end_of(crowd, crowd->ended - 1) : 0;
    return sim_later_ns(length_ns, end_ns > before_ns ? end_ns - before_ns : 0);
}

void sim_crowd_end_phase(struct sim *sim, uint32_t rank, uint32_t phase, uint64_t time_ns) {
    struct sim_crowd *crowd = &sim->crowd;
    if (crowd->phase == NULL) {
        return;
    }
    struct sim_crowd_phase *p = &crowd->phase[phase];
    p->end_ns = sim_later_ns(p->end_ns, time_ns);
    p->wait_ns = sim_later_ns(p->wait_ns, crowd->wait_ns[rank]);
    crowd->wait_ns[rank] = 0;
    if (++p->ended == sim->ranks) {
        const uint64_t before_ns = phase > 0 ? crowd->phase[phase - 1].holds_ns : 0;
        p->holds_ns = sim_later_ns(before_ns, p->end_ns + delay_of(crowd, p->end_ns));
        crowd->ended++;
    }
}

uint64_t sim_crowd_pass(struct sim *sim, uint64_t first_ns) {
    struct sim_crowd *crowd = &sim->crowd;
    const uint32_t used = crowd->used;
    if (crowd->phase == NULL) {
        return UINT64_MAX;
    }
    while (crowd->used < crowd->ended && crowd->phase[crowd->used].holds_ns <= first_ns) {
        crowd->used++;
    }
    if (crowd->used > used) {
        use_phase(sim, crowd->used - 1);
    }
    const uint64_t next_ns = crowd->used < crowd->ended ? crowd->phase[crowd->used].holds_ns : UINT64_MAX;
    const uint64_t until_ns = first_ns + sim_later_ns(delay_of(crowd, first_ns), 1);
    return until_ns < next_ns ? until_ns : next_ns;
}
