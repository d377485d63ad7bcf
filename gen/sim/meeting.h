/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls. The n-th one of a communicator is a meeting; as some members may leave it early, there are several at once. */
#ifndef HPCW_GEN_SIM_MEETING_H
#define HPCW_GEN_SIM_MEETING_H

#include "gen/sim/plan.h"

struct sim_comm;

/* What a meeting knows of parts of different sizes: parts.h. */
struct sim_meeting_parts {
    uint64_t *
        bytes; /* [size] gatherv: time of a part at the root's cards, ns; scatterv: of a part; alltoallv: to a member */
    uint64_t root;       /* gatherv: the root's own */
    uint64_t total;      /* of all parts */
    int64_t first, step; /* alltoallv: all send to a place `bytes`, and first + step * place */
};

struct sim_meeting {
    struct sim_comm *comm;
    enum sim_call call;
    uint32_t root;
    uint64_t bytes;
    uint32_t first; /* the place that came first */
    uint32_t came, left;
    struct sim_plan plan;
    struct sim_meeting *next;
    uint64_t *
        time_ns; /* [size] when a member came; in a tree also when it got what it waits for, if that was later */
    uint8_t
        *missing; /* [size] in a tree: who a member waits for, itself included; in a scatterv 0: it has come */
    struct sim_meeting_parts parts;
    uint64_t *
        *other_ns; /* [clocks][size] as time_ns, on further clocks; a NULL ends it; NULL: there are none */
};

struct sim_meetings {
    struct sim_meeting *oldest, *newest; /* which some members have not left, in the order of the calls */
    uint32_t oldest_number;
    struct sim_meeting *unused;
    uint32_t levels;
    uint8_t *distance; /* [levels][size] enum model_class to the member 2^level places below, in a circle */
    uint8_t farthest;  /* the largest one */
    uint64_t *scratch; /* [size] */
};

#endif
