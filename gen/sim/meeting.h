/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls. The n-th collective call of a communicator is a meeting. Some members may leave it early, so
 * several meetings can be open at once. */
#ifndef HPCW_GEN_SIM_MEETING_H
#define HPCW_GEN_SIM_MEETING_H

#include "gen/sim/plan.h"

struct sim_comm;

/* Data of a meeting (collective call) whose parts differ in size: parts.h. */
struct sim_meeting_parts {
    /* [size] gatherv: time that the part of a member takes at the root's network cards, ns. scatterv: bytes of the
     * part. alltoallv: bytes that a member gets from all members that gave a table of parts. */
    uint64_t *bytes;
    uint64_t root; /* gatherv: bytes of the root's own part */
    uint64_t total;
    /* alltoallv: a member gets first + step * place bytes from all members that gave no table of parts */
    int64_t first, step;
};

struct sim_meeting {
    struct sim_comm *comm;
    enum sim_call call;
    uint32_t root;
    uint64_t bytes;
    uint32_t first; /* place of the member that arrived first */
    uint32_t came, left;
    struct sim_plan plan;
    struct sim_meeting *next;
    /* [size] time at which each member arrived or, in a tree, got the data that it waits for, if that was later */
    uint64_t *time_ns;
    /* [size] tree: number of arrivals that a member still waits for, including its own. scatterv: 1 until the
     * member has arrived, then 0 */
    uint8_t *missing;
    struct sim_meeting_parts parts;
    /* [clocks][size] as time_ns, but on the further clocks: times without a fault. The list ends with NULL.
     * NULL: no further clocks. */
    uint64_t **other_ns;
};

struct sim_meetings {
    /* open meetings (collective calls) in the order of the calls */
    struct sim_meeting *oldest, *newest;
    uint32_t oldest_number;
    struct sim_meeting *unused;
    uint32_t levels;
    /* [levels][size] distance class (enum model_class) between a member and the one 2^level places below,
     * modulo size */
    uint8_t *distance;
    uint8_t farthest;  /* largest value of `distance` */
    uint64_t *scratch; /* [size] */
};

#endif
