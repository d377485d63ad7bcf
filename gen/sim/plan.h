/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithm of a collective call, by its bytes and the number of ranks: those that MPICH chooses [T in constants.c]. */
#ifndef HPCW_GEN_SIM_PLAN_H
#define HPCW_GEN_SIM_PLAN_H

#include "gen/sim/sim.h"
#include "gen/sim/timing/cost.h"

enum sim_shape {
    SIM_SHAPE_ROUNDS, /* in each round all ranks exchange at once, so nobody leaves before all have entered */
    SIM_SHAPE_RING,   /* ranks - 1 rounds, always from the rank below */
    SIM_SHAPE_PAIRS,  /* ranks - 1 rounds, each with another rank */
    SIM_SHAPE_DOWN,   /* a binomial tree from the root: a rank leaves when it has sent to its children */
    SIM_SHAPE_PARTS,  /* of different sizes: parts.h */
    SIM_SHAPE_UP      /* the same to the root: a rank leaves when it has sent to its parent */
};

/* Each rank gets `bytes` from the rank 2^level below it, in a circle, and may combine them with its own. */
struct sim_round {
    uint32_t level;
    uint64_t bytes;
    bool combines;
    bool tree; /* a level of a tree: of a node, one rank at most sends to another node */
};

enum { SIM_MOST_LEVELS = 30, SIM_MOST_ROUNDS = 2 * SIM_MOST_LEVELS };

struct sim_plan {
    enum sim_shape shape;
    uint64_t bytes; /* of a message; in a tree that gathers or scatters, of each rank below */
    bool gathers;   /* a tree: a message has the bytes of all ranks below; it combines nothing */
    uint32_t rounds;
    struct sim_round round[SIM_MOST_ROUNDS];
};

/* The smallest n with 2^n >= ranks. */
uint32_t sim_plan_levels(uint32_t ranks);

void sim_plan_make(struct sim_plan *plan, const struct sim_constants *constants, enum sim_call call,
                   uint32_t ranks, uint64_t bytes);

#endif
