/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/sim/timing/noise.h"

#include <math.h>

#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

/* Largest number of detours (interruptions) in one call, so that even a year of computing is simulated soon: those of
 * about a minute. Later ones take their mean time. */
enum { MOST_DETOURS = 1 << 10 };

/* ---- detours ---- */

/* Length of a detour: a Pareto distribution with exponent 2, cut off at the longest detour. Then the
 * longest detour of a second varies from second to second about as osnoise measured [K in constants.c]. */
static uint64_t length_of(const struct sim_noise *n, double uniform) {
    return (uint64_t)(n->shortest_ns / sqrt(1 - uniform * (1 - n->least_to_most_2)) + 0.5);
}

/* Draws the next detour of a rank, or of its host, once the previous one is over. */
static void draw_detour(const struct sim_noise *n, uint32_t rank, uint32_t of) {
    struct sim_detours *d = &n->rank[rank].detours[of];
    const uint32_t who = of == SIM_DETOURS_OF_HOST ? model_machine_node(n->machine, rank) : rank;
    uint32_t w[4];
    if (n->mean_gap_ns[of] <= 0) {
        d->begin_ns = d->end_ns = UINT64_MAX;
        return;
    }
    hpcw_i_draw(n->seed, HPCW_I_FOR_NOISE_DETOUR, who, d->number++, of, w);
    const double gaps = -hpcw_i_log2(hpcw_i_uniform(w[0])) * (HPCW_I_LN2_HIGH + HPCW_I_LN2_LOW);
    d->begin_ns += (uint64_t)(gaps * n->mean_gap_ns[of] + 0.5);
    d->end_ns = d->begin_ns + length_of(n, w[1] * 0x1p-32);
}

/* Returns the mean time that detours take, as a share of the time between them. */
static double mean_share(const struct sim_noise *n) {
    const double mean_ns = 2 * n->shortest_ns / (1 + sqrt(n->least_to_most_2));
    double share = 0;
    for (uint32_t of = 0; of < SIM_DETOURS; of++) {
        share += n->mean_gap_ns[of] > 0 ? mean_ns / n->mean_gap_ns[of] : 0;
    }
    return share;
}

/* Draws the first detours of a rank after a time, without those before. */
static void skip_detours(const struct sim_noise *n, uint32_t rank, uint64_t time_ns) {
    for (uint32_t of = 0; of < SIM_DETOURS; of++) {
        n->rank[rank].detours[of].begin_ns = time_ns;
        draw_detour(n, rank, of);
    }
}

/* ---- the timer ---- */

/* Returns how much time of the host's clock the timer has left to a rank: all but the ticks, which are at the
 * begin of each period. */
static uint64_t left_by_ticks(const struct sim_noise *n, uint64_t since_ns) {
    const uint64_t in_period_ns = since_ns % n->period_ns;
    return since_ns / n->period_ns * (n->period_ns - n->length_ns) +
           (in_period_ns > n->length_ns ? in_period_ns - n->length_ns : 0);
}

/* Inverts left_by_ticks: returns the time of the host's clock at which the timer has left `left_ns` to a rank.
 * The result is never within a tick. */
static uint64_t when_left(const struct sim_noise *n, uint64_t left_ns) {
    const uint64_t per_period_ns = n->period_ns - n->length_ns;
    return left_ns / per_period_ns * n->period_ns + n->length_ns + left_ns % per_period_ns;
}

/* Returns the end of work that only the timer interrupts. */
static uint64_t work_with_ticks(const struct sim_noise *n, const struct sim_noise_rank *r, uint64_t start_ns,
                                uint64_t work_ns) {
    if (n->length_ns == 0) {
        return start_ns + work_ns;
    }
    const uint64_t phase_ns = n->period_ns - r->tick_ns; /* a timer period begins this long before the run */
    return when_left(n, left_by_ticks(n, start_ns + phase_ns) + work_ns) - phase_ns;
}

/* Returns how much work is done by a given time if only the timer interrupts the work. */
static uint64_t done_with_ticks(const struct sim_noise *n, const struct sim_noise_rank *r, uint64_t start_ns,
                                uint64_t time_ns) {
    if (n->length_ns == 0) {
        return time_ns - start_ns;
    }
    const uint64_t phase_ns = n->period_ns - r->tick_ns;
    return left_by_ticks(n, time_ns + phase_ns) - left_by_ticks(n, start_ns + phase_ns);
}

/* ---- timer and detours ---- */

/* Computes the time of the next tick or detour. Nothing interrupts the rank before this time. */
static void find_quiet(const struct sim_noise *n, struct sim_noise_rank *r, uint64_t now_ns) {
    r->quiet_ns = UINT64_MAX;
    if (n->length_ns > 0) {
        r->quiet_ns = now_ns + n->period_ns - (now_ns + n->period_ns - r->tick_ns) % n->period_ns;
    }
    for (uint32_t of = 0; of < SIM_DETOURS; of++) {
        r->quiet_ns = r->detours[of].begin_ns < r->quiet_ns ? r->detours[of].begin_ns : r->quiet_ns;
    }
}

uint64_t sim_noise_interrupt(struct sim_noise *n, uint32_t rank, uint64_t start_ns, uint64_t work_ns) {
    struct sim_noise_rank *r = &n->rank[rank];
    uint64_t end_ns = work_with_ticks(n, r, start_ns, work_ns);
    for (uint32_t i = 0;; i++) {
        const struct sim_detours *d = r->detours;
        const uint32_t of = d[SIM_DETOURS_OF_HOST].begin_ns < d[SIM_DETOURS_OF_RANK].begin_ns
                                ? SIM_DETOURS_OF_HOST
                                : SIM_DETOURS_OF_RANK;
        const struct sim_detours detour = d[of];
        if (detour.begin_ns > end_ns) {
            break;
        }
        if (i == MOST_DETOURS) {
            end_ns += (uint64_t)(mean_share(n) * (double)(end_ns - start_ns) + 0.5);
            skip_detours(n, rank, end_ns);
            break;
        }
        draw_detour(n, rank, of);
        if (detour.end_ns > start_ns) {
            work_ns -= detour.begin_ns > start_ns ? done_with_ticks(n, r, start_ns, detour.begin_ns) : 0;
            start_ns = detour.end_ns;
            end_ns = work_with_ticks(n, r, start_ns, work_ns);
        }
    }
    find_quiet(n, r, end_ns);
    return end_ns;
}

uint64_t sim_noise_work(struct sim_noise *n, uint32_t rank, uint64_t start_ns, uint64_t work_ns) {
    const struct sim_noise_rank *r = &n->rank[rank];
    work_ns += (uint64_t)(r->slower * (double)work_ns + 0.5);
    return start_ns + work_ns < r->quiet_ns ? start_ns + work_ns
                                            : sim_noise_interrupt(n, rank, start_ns, work_ns);
}

/* ---- initialisation ---- */

/* Returns the slowdown of a rank's processor relative to the fastest one, in standard deviations of a normal
 * distribution. Processors belong to the machine and are equally slow in every run. */
static double slower_by(const struct model_machine *m, uint32_t rank) {
    const uint32_t socket = model_machine_core(m, rank) / m->params.cores_per_socket;
    uint32_t w[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_NOISE_PROCESSOR, m->place[model_machine_node(m, rank)], socket, 0, w);
    return fabs(hpcw_i_normal(w[0], w[1]));
}

/* Returns the first tick of the timer of a rank's host: from 1 ns to a period after the start. */
static uint64_t first_tick(const struct sim_noise *n, uint32_t rank) {
    uint32_t w[4];
    hpcw_i_draw(n->seed, HPCW_I_FOR_NOISE_TICK, model_machine_node(n->machine, rank), 0, 0, w);
    return 1 + (uint64_t)(w[0] * 0x1p-32 * (double)n->period_ns);
}

hpcw_status sim_noise_init(struct sim_noise *n, const struct sim_noise_params *params,
                           const struct sim_constants *constants, const struct model_machine *machine,
                           uint64_t seed, hpcw_error *err) {
    const double *c = constants->value;
    const double per_ns = c[SIM_DETOUR_RATE] * params->detours * 1e-9;
    const double of_host = per_ns * c[SIM_DETOUR_SHARED];
    const double of_rank = per_ns - of_host;
    *n = (struct sim_noise){.machine = machine,
                            .seed = seed,
                            .period_ns = (uint64_t)c[SIM_TICK_PERIOD],
                            .length_ns = (uint64_t)(c[SIM_TICK] * params->ticks + 0.5),
                            .mean_gap_ns = {of_rank > 0 ? 1 / of_rank : 0, of_host > 0 ? 1 / of_host : 0},
                            .shortest_ns = c[SIM_DETOUR_LEAST]};
    const double least_to_most = c[SIM_DETOUR_LEAST] / c[SIM_DETOUR_MOST];
    n->least_to_most_2 = least_to_most * least_to_most;
    if (params->processors <= 0 && params->ticks <= 0 && params->detours <= 0) {
        return HPCW_OK;
    }
    n->rank = hpcw_i_calloc(machine->ranks, sizeof *n->rank);
    if (n->rank == NULL) {
        return hpcw_i_fail_memory(err, "simulator", machine->ranks, "ranks");
    }
    for (uint32_t r = 0; r < machine->ranks; r++) {
        n->rank[r].slower = c[SIM_PROCESSORS] * params->processors * slower_by(machine, r);
        n->rank[r].tick_ns = first_tick(n, r);
        for (uint32_t of = 0; of < SIM_DETOURS; of++) {
            draw_detour(n, r, of);
        }
    }
    return HPCW_OK;
}

void sim_noise_free(struct sim_noise *n) {
    hpcw_i_free(n->rank);
    n->rank = NULL;
}
