/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/sim/plan.h"

uint32_t sim_plan_levels(uint32_t ranks) {
    uint32_t levels = 0;
    while (((uint64_t)1 << levels) < ranks) {
        levels++;
    }
    return levels;
}

static void add(struct sim_plan *plan, struct sim_round round) {
    plan->round[plan->rounds++] = round;
}

/* Adds rounds at growing distances with equal bytes: dissemination, or recursive doubling for any number of
 * ranks. */
static void exchange(struct sim_plan *plan, uint32_t levels, uint64_t bytes, bool combines) {
    for (uint32_t k = 0; k < levels; k++) {
        add(plan, (struct sim_round){.level = k, .bytes = bytes, .combines = combines});
    }
}

/* Recursive halving: half of the bytes to ranks at the largest distance, a quarter at half of that distance, and
 * so on. */
static void halve(struct sim_plan *plan, uint32_t levels, uint64_t bytes, bool combines) {
    for (uint32_t k = levels; k-- > 0;) {
        add(plan, (struct sim_round){
                      .level = k, .bytes = bytes >> (levels - k), .combines = combines, .tree = !combines});
    }
}

/* Reverses recursive halving: each rank ends with the parts of all ranks. With `tree` only the root does. */
static void collect(struct sim_plan *plan, uint32_t levels, uint64_t bytes, bool tree) {
    for (uint32_t k = 0; k < levels; k++) {
        add(plan, (struct sim_round){.level = k, .bytes = bytes >> (levels - k), .tree = tree});
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
    collect(plan, levels, bytes, false);
}

/* Recursive doubling and, for other numbers of ranks than powers of 2, Bruck's algorithm have the same rounds. */
static void allgather(struct sim_plan *plan, const struct sim_constants *constants, uint32_t ranks,
                      uint64_t bytes) {
    const bool odd = (ranks & (ranks - 1)) != 0;
    const double most = constants->value[odd ? SIM_ALLGATHER_ODD : SIM_ALLGATHER_LONG];
    if ((double)bytes * ranks >= most) {
        plan->shape = SIM_SHAPE_RING;
        return;
    }
    for (uint32_t k = 0; k < sim_plan_levels(ranks); k++) {
        const uint64_t have = (uint64_t)1 << k;
        const uint64_t lack = ranks - have;
        add(plan, (struct sim_round){.level = k, .bytes = bytes * (have < lack ? have : lack)});
    }
}

/* Returns how many numbers below `end` have bit k set. */
static uint64_t with_bit(uint32_t end, uint32_t k) {
    const uint64_t half = (uint64_t)1 << k;
    const uint64_t rest = end % (2 * half);
    return end / (2 * half) * half + (rest > half ? rest - half : 0);
}

/* In Bruck's algorithm, round k sends all parts whose distance has bit k set. */
static void alltoall(struct sim_plan *plan, const struct sim_constants *constants, uint32_t ranks,
                     uint64_t bytes) {
    if ((double)bytes > constants->value[SIM_ALLTOALL_LONG]) {
        plan->shape = SIM_SHAPE_PAIRS;
        return;
    }
    for (uint32_t k = 0; k < sim_plan_levels(ranks); k++) {
        add(plan, (struct sim_round){.level = k, .bytes = bytes * with_bit(ranks, k)});
    }
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
            collect(plan, levels, bytes, true);
        }
        break;
    case SIM_CALL_ALLREDUCE:
        if ((double)bytes <= constants->value[SIM_ALLREDUCE_LONG]) {
            exchange(plan, levels, bytes, true);
        } else {
            halve(plan, levels, bytes, true);
            collect(plan, levels, bytes, false);
        }
        break;
    case SIM_CALL_GATHER:
    case SIM_CALL_SCATTER:
        plan->shape = call == SIM_CALL_GATHER ? SIM_SHAPE_UP : SIM_SHAPE_DOWN;
        plan->gathers = true;
        break;
    case SIM_CALL_GATHERV:
    case SIM_CALL_SCATTERV:
    case SIM_CALL_ALLGATHERV:
    case SIM_CALL_ALLTOALLV:
        plan->shape = SIM_SHAPE_PARTS;
        break;
    case SIM_CALL_ALLGATHER:
    case SIM_CALL_SPLIT: /* all members learn the arguments of all others */
    case SIM_CALL_DUP:
        allgather(plan, constants, ranks, bytes);
        break;
    case SIM_CALL_ALLTOALL:
        alltoall(plan, constants, ranks, bytes);
        break;
    default: /* a barrier, or a call that begins with one */
        exchange(plan, levels, 0, false);
        break;
    }
}
