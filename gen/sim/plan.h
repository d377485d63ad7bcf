/* SPDX-License-Identifier: BSD-3-Clause */
/* Algorithm of a collective call, chosen by its bytes and the number of ranks as MPICH does [T in constants.c]. */
#ifndef HPCW_GEN_SIM_PLAN_H
#define HPCW_GEN_SIM_PLAN_H

#include "gen/sim/sim.h"
#include "gen/sim/timing/cost.h"

enum sim_shape {
    /* all ranks exchange at once in each round, so nobody leaves before all have entered */
    SIM_SHAPE_ROUNDS,
    SIM_SHAPE_RING,  /* ranks - 1 rounds; in each, a rank receives from the previous rank */
    SIM_SHAPE_PAIRS, /* ranks - 1 rounds; in each, a rank has another partner */
    /* a binomial tree from the root: a rank leaves when it has sent to its children */
    SIM_SHAPE_DOWN,
    SIM_SHAPE_PARTS, /* parts of different sizes: parts.h */
    /* a binomial tree to the root: a rank leaves when it has sent to its parent */
    SIM_SHAPE_UP
};

/* A round: each rank gets `bytes` from the rank 2^level below, modulo the number of ranks. The rank may combine
 * them with its own bytes. */
struct sim_round {
    uint32_t level;
    uint64_t bytes;
    bool combines;
    /* the round is a level of a tree: at most one rank of a node sends to another node */
    bool tree;
};

/* Largest number of levels of a tree, which has at most MODEL_MAX_RANKS = 2^30 ranks. Largest number of rounds
 * of a plan, which goes through all levels at most twice. */
enum { SIM_MOST_LEVELS = 30, SIM_MOST_ROUNDS = 2 * SIM_MOST_LEVELS };

struct sim_plan {
    enum sim_shape shape;
    /* bytes of a message; if `gathers`: bytes of each rank in the subtree */
    uint64_t bytes;
    /* a tree whose messages have the bytes of all ranks in the subtree; nothing is combined */
    bool gathers;
    uint32_t rounds;
    struct sim_round round[SIM_MOST_ROUNDS];
};

/* Returns the smallest n with 2^n >= ranks. */
uint32_t sim_plan_levels(uint32_t ranks);

void sim_plan_make(struct sim_plan *plan, const struct sim_constants *constants, enum sim_call call,
                   uint32_t ranks, uint64_t bytes);

#endif
