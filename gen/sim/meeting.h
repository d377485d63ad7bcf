/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls. The n-th one of all ranks is a meeting; as some ranks may leave it early, there are several at once. */
#ifndef HPCW_GEN_SIM_MEETING_H
#define HPCW_GEN_SIM_MEETING_H

#include "gen/sim/plan.h"

struct sim_meeting {
    enum sim_call call;
    uint32_t root;
    uint64_t bytes;
    uint32_t first; /* the rank that came first */
    uint32_t came, left;
    struct sim_plan plan;
    struct sim_meeting *next;
    uint64_t *
        time_ns; /* [ranks] when a rank came; in a tree also when it got what it waits for, if that was later */
    uint8_t *missing; /* [ranks] in a tree: who a rank waits for, itself included */
};

struct sim_meetings {
    struct sim_meeting *oldest, *newest; /* which some ranks have not left, in the order of the calls */
    uint32_t oldest_number;
    struct sim_meeting *unused;
    uint32_t levels;
    uint8_t *distance; /* [levels][ranks] enum model_class to the rank 2^level below, in a circle */
    uint8_t farthest;  /* the largest one */
    uint64_t *scratch; /* [ranks] */
};

#endif
