/* SPDX-License-Identifier: BSD-3-Clause */
/* Assumptions of the simulator about MPI, network cards and noise. The table is in constants.c. Machines are in
 * gen/model/machine. */
#ifndef HPCW_GEN_SIM_TIMING_CONSTANTS_H
#define HPCW_GEN_SIM_TIMING_CONSTANTS_H

enum sim_constant {
    SIM_CALL,     /* length in the log of a call that moves nothing, or of a phase without events */
    SIM_OVERHEAD, /* processor time of a send or of a receive, as a share of the latency of an empty message */
    SIM_GAP,      /* time that a network card needs for a message, besides that for its bytes */
    SIM_COMBINE,  /* time to combine a byte of two operands */
    SIM_BCAST_MEDIUM,   /* size from which a broadcast is a scatter and an allgather */
    SIM_BCAST_RANKS,    /* ranks from which a broadcast may be a scatter and an allgather */
    SIM_ALLREDUCE_LONG, /* size above which an allreduce is a reduce-scatter and an allgather */
    SIM_REDUCE_LONG,    /* size above which a reduce is a reduce-scatter and a gather */
    SIM_ALLGATHER_LONG, /* bytes of all ranks from which an allgather is a ring */
    SIM_ALLGATHER_ODD,  /* as SIM_ALLGATHER_LONG, for a number of ranks that is no power of 2 */
    SIM_ALLTOALL_LONG,  /* size of a part above which an alltoall exchanges in pairs */
    /* extra work time relative to the fastest processor: scale of a half-normal distribution */
    SIM_PROCESSORS,
    SIM_TICK_PERIOD, /* period of the system's timer */
    SIM_TICK,        /* time that a tick takes from each rank of a host */
    SIM_DETOUR_RATE, /* rate of other interruptions (detours) of a rank */
    /* share of the detours that stop all ranks of a host */
    SIM_DETOUR_SHARED,
    SIM_DETOUR_LEAST, /* length of the shortest detour */
    SIM_DETOUR_MOST,  /* length of the longest detour */
    SIM_CONSTANTS
};

struct sim_constant_row {
    const char *name;
    double value;
    const char *unit, *source;
    /* name of the test in tests/unit/sim/test_sim_constants.c that fails without this constant */
    const char *figure;
};
extern const struct sim_constant_row sim_constant_row[SIM_CONSTANTS];

/* Values of a run: those of the table, unless a test changes one. */
struct sim_constants {
    double value[SIM_CONSTANTS];
};
void sim_constants_init(struct sim_constants *constants);

#endif
