/* SPDX-License-Identifier: BSD-3-Clause */
/* Disturbances of computing ranks [sources in constants.c]:
 *  - Processors of one kind differ: each is a little slower than the fastest one, for the whole run.
 *  - The timer of the operating system interrupts all ranks of a host at the same times, at a fixed interval.
 *  - Detours interrupt a rank at random, when the system does other work. They are a Poisson process with
 *    heavy-tailed lengths. Some are caused by firmware and stop all ranks of a host.
 * Work ends later by all interruptions within it. A call whose end falls into an interruption returns after it.
 * Interruptions within a wait cost nothing.
 *
 * The n-th detour of a rank or of a host is a function of (seed, rank or host, n). So nothing depends on the order
 * in which ranks run. */
#ifndef HPCW_GEN_SIM_TIMING_NOISE_H
#define HPCW_GEN_SIM_TIMING_NOISE_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/model/machine/machine.h"
#include "gen/sim/timing/constants.h"

/* Amount of each kind of noise, as factors of the constants; 0: none. */
struct sim_noise_params {
    double processors; /* factor of the differences between processors */
    double ticks;      /* factor of the time that timer ticks take */
    double detours;    /* factor of the number of detours */
};

/* Detours of a rank or of a host. begin_ns, end_ns: the next detour that the rank meets. */
struct sim_detours {
    uint64_t begin_ns, end_ns;
    uint32_t number; /* number of the next detour */
};

/* Noise of a rank: the rank has its own detours and those of its host. */
enum sim_detours_of { SIM_DETOURS_OF_RANK, SIM_DETOURS_OF_HOST, SIM_DETOURS };
struct sim_noise_rank {
    uint64_t quiet_ns;                       /* nothing interrupts the rank before this time */
    uint64_t tick_ns;                        /* first tick of the timer of the rank's host */
    double slower;                           /* slowdown of the rank's processor, as a share */
    struct sim_detours detours[SIM_DETOURS]; /* by enum sim_detours_of */
};

/* Zeroed: none. */
struct sim_noise {
    struct sim_noise_rank *rank; /* [ranks] NULL: no noise */
    const struct model_machine *machine;
    uint64_t seed;
    uint64_t period_ns, length_ns;   /* period and length of the timer's ticks; length 0: no ticks */
    double mean_gap_ns[SIM_DETOURS]; /* mean time between the begins of detours; 0: none */
    /* shortest_ns: length of the shortest detour; least_to_most_2: its squared ratio to the longest one */
    double shortest_ns, least_to_most_2;
};

/* Initialises the noise and borrows the machine. HPCW_ENOMEM. */
hpcw_status sim_noise_init(struct sim_noise *noise, const struct sim_noise_params *params,
                           const struct sim_constants *constants, const struct model_machine *machine,
                           uint64_t seed, hpcw_error *err);
void sim_noise_free(struct sim_noise *noise);

/* Returns the time at which a rank finishes work that begins at `start_ns` and takes `work_ns` without noise. The
 * calls for a rank must be in the order of time. */
uint64_t sim_noise_work(struct sim_noise *noise, uint32_t rank, uint64_t start_ns, uint64_t work_ns);

/* As sim_noise_work, but only with interruptions and without the slowdown of the processor. */
uint64_t sim_noise_interrupt(struct sim_noise *noise, uint32_t rank, uint64_t start_ns, uint64_t work_ns);

/* Returns the time at which a call of a rank returns if its data are there at `time_ns`. */
static inline uint64_t sim_noise_return(struct sim_noise *noise, uint32_t rank, uint64_t time_ns) {
    return time_ns < noise->rank[rank].quiet_ns ? time_ns : sim_noise_interrupt(noise, rank, time_ns, 0);
}

#endif
