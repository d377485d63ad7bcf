/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/sim/plan.h"

uint32_t sim_plan_levels(uint32_t ranks) {
    uint32_t levels = 0;
    while (((uint64_t)1 << levels) < ranks) {
        levels++;
    }
    return levels;
}

static void add(struct sim_plan *plan, uint32_t level, uint64_t bytes, bool combines) {
    plan->round[plan->rounds++] = (struct sim_round){.level = level, .bytes = bytes, .combines = combines};
}

/* Rounds at growing distances with the same bytes: dissemination, and recursive doubling for any number of ranks. */
static void exchange(struct sim_plan *plan, uint32_t levels, uint64_t bytes, bool combines) {
    for (uint32_t k = 0; k < levels; k++) {
        add(plan, k, bytes, combines);
    }
}

/* Recursive halving: half of the bytes to the farthest ranks, a quarter to those half as far, and so on. */
static void halve(struct sim_plan *plan, uint32_t levels, uint64_t bytes, bool combines) {
    for (uint32_t k = levels; k-- > 0;) {
        add(plan, k, bytes >> (levels - k), combines);
    }
}

/* The way back: each rank ends with the parts of all. */
static void gather(struct sim_plan *plan, uint32_t levels, uint64_t bytes) {
    for (uint32_t k = 0; k < levels; k++) {
        add(plan, k, bytes >> (levels - k), false);
    }
}

static void broadcast(struct sim_plan *plan, const struct sim_constants *constants, uint32_t ranks,
                      uint64_t bytes) {
    const uint32_t levels = sim_plan_levels(ranks);
    if ((double)bytes < constants->value[SIM_BCAST_MEDIUM] ||
        (double)ranks < constants->value[SIM_BCAST_RANKS]) {
        plan->shape = SIM_SHAPE_DOWN;
        return;
    }
    halve(plan, levels, bytes, false);
    gather(plan, levels, bytes);
}

void sim_plan_make(struct sim_plan *plan, const struct sim_constants *constants, enum sim_call call,
                   uint32_t ranks, uint64_t bytes) {
    const uint32_t levels = sim_plan_levels(ranks);
    *plan = (struct sim_plan){.shape = SIM_SHAPE_ROUNDS, .bytes = bytes};
    switch (call) {
    case SIM_CALL_BCAST:
        broadcast(plan, constants, ranks, bytes);
        break;
    case SIM_CALL_REDUCE:
        if ((double)bytes <= constants->value[SIM_REDUCE_LONG]) {
            plan->shape = SIM_SHAPE_UP;
        } else {
            halve(plan, levels, bytes, true);
            gather(plan, levels, bytes);
        }
        break;
    case SIM_CALL_ALLREDUCE:
        if ((double)bytes <= constants->value[SIM_ALLREDUCE_LONG]) {
            exchange(plan, levels, bytes, true);
        } else {
            halve(plan, levels, bytes, true);
            gather(plan, levels, bytes);
        }
        break;
    default: /* a barrier, and what begins with one */
        exchange(plan, levels, 0, false);
        break;
    }
}
