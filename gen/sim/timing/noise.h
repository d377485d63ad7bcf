/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What disturbs computing ranks [sources in constants.c]:
 *   - Processors of one kind differ: each is a little slower than the fastest one, for the whole run.
 *   - The timer of the operating system interrupts all ranks of a host at the same times, at a fixed interval.
 *   - Detours interrupt a rank at random, as the system does other work: a Poisson process with heavy-tailed lengths. Some are
 *     those of firmware, and stop all ranks of a host.
 * Work is over later by all interruptions that fall into it. A call returns later if its end falls into one. Those that fall into
 * a wait cost nothing.
 *
 * The n-th detour of a rank or of a host is a function of (seed, rank or host, n). So nothing depends on the order in which ranks
 * run.
 */
#ifndef HPCW_GEN_SIM_TIMING_NOISE_H
#define HPCW_GEN_SIM_TIMING_NOISE_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/model/machine/machine.h"
#include "gen/sim/timing/constants.h"

/* How much there is of each kind, as factors of the constants; 0: none. */
struct sim_noise_params {
    double processors; /* differences between processors */
    double ticks;      /* time that the timer takes */
    double detours;    /* number of detours */
};

/* A sequence of detours, and the one that a rank meets next. */
struct sim_detours {
    uint64_t begin_ns, end_ns;
    uint32_t number; /* of the next one */
};

/* What the noise does to a rank; its detours, and those of its host. */
enum sim_detours_of { SIM_DETOURS_OF_RANK, SIM_DETOURS_OF_HOST, SIM_DETOURS };
struct sim_noise_rank {
    uint64_t quiet_ns;                       /* nothing interrupts the rank before that */
    uint64_t tick_ns;                        /* when the timer of its host ticks first */
    double slower;                           /* longer work on its processor, as a share */
    struct sim_detours detours[SIM_DETOURS]; /* by enum sim_detours_of */
};

/* Zeroed: none. */
struct sim_noise {
    struct sim_noise_rank *rank; /* [ranks]; NULL: no noise */
    const struct model_machine *machine;
    uint64_t seed;
    uint64_t period_ns, length_ns;       /* of the timer; length 0: no timer */
    double mean_gap_ns[SIM_DETOURS];     /* between the begins of detours; 0: none */
    double shortest_ns, least_to_most_2; /* of detours; square of the shortest as a share of the longest one */
};

/* The machine is borrowed. HPCW_ENOMEM. */
hpcw_status sim_noise_init(struct sim_noise *noise, const struct sim_noise_params *params,
                           const struct sim_constants *constants, const struct model_machine *machine,
                           uint64_t seed, hpcw_error *err);
void sim_noise_free(struct sim_noise *noise);

/* When a rank is done that begins to work at `start_ns`, and works for `work_ns` if nothing disturbs it. Calls for a rank come
 * in the order of their times. */
uint64_t sim_noise_work(struct sim_noise *noise, uint32_t rank, uint64_t start_ns, uint64_t work_ns);

/* Interruptions: when a rank that is `work_ns` from its end is there, however slow its processor is. */
uint64_t sim_noise_interrupt(struct sim_noise *noise, uint32_t rank, uint64_t start_ns, uint64_t work_ns);

/* When a rank's call returns that has what it waits for at `time_ns`. */
static inline uint64_t sim_noise_return(struct sim_noise *noise, uint32_t rank, uint64_t time_ns) {
    return time_ns < noise->rank[rank].quiet_ns ? time_ns : sim_noise_interrupt(noise, rank, time_ns, 0);
}

#endif
