/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs ranks in turn, each until it must wait. */
#include "gen/sim/private.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* The distance in time that ranks may run ahead affects speed and memory, but no result. The distance shrinks so
 * that messages and records stay in the caches, unless ranks then stop too often.
 *
 *    FIRST_WINDOW_NS  the first distance, ns; each move of the horizon adapts it
 *    FEW_CALLS        least mean number of calls of a rank within the distance; with fewer, scanning all ranks does
 *                     not pay
 *    MANY_CALLS       largest such number; with more, records take too much memory, however often ranks stop: logs
 *                     of 32,768 ranks would need more than 1 GiB
 *    FEW_STOPS        ranks stop too often if more than 1 / FEW_STOPS of their turns end at the horizon */
enum { FIRST_WINDOW_NS = 1000000, FEW_CALLS = 16, MANY_CALLS = 64, FEW_STOPS = 16 };

/* Largest number of sends and receives under way, 64 bytes each: UNDER_WAY (64 MiB), plus UNDER_WAY_OF_RANK (64 KiB)
 * for each rank. So a program that sends in an endless loop is refused before it fills the memory. On up to 1024
 * ranks, each rank may send to and receive from all others at once. */
enum { UNDER_WAY = 1 << 20, UNDER_WAY_OF_RANK = 1 << 10 };

/* ---- a run's memory ---- */

static uint32_t most_under_way(uint32_t ranks) {
    const uint64_t most = UNDER_WAY + (uint64_t)UNDER_WAY_OF_RANK * ranks;
    return most < SIM_NOTHING ? (uint32_t)most : SIM_NOTHING - 1;
}

/* Moves the horizon, the simulated time at which ranks stop. No call of a rank begins before `first_ns`. */
static void set_horizon(struct sim *sim, uint64_t first_ns) {
    const uint64_t most_ns = sim_crowd_pass(sim, first_ns);
    sim->cut = most_ns - first_ns < sim->window_ns;
    sim->horizon_ns = sim->cut ? most_ns : first_ns + sim->window_ns;
}

hpcw_status sim_new(const struct sim_options *options, const struct sim_program *program, struct sim **out,
                    hpcw_error *err) {
    const uint32_t ranks = options->network->machine->ranks;
    struct sim *sim = hpcw_i_calloc(1, sizeof *sim);
    *out = NULL;
    if (sim == NULL) {
        return hpcw_i_fail_memory(err, "simulator", 0, NULL);
    }
    sim->options = *options;
    sim->program = program;
    sim->ranks = ranks;
    sim->observed = options->observer.event != NULL;
    sim->window_ns = options->horizon_ns > 0 ? options->horizon_ns : FIRST_WINDOW_NS;
    sim_match_init(&sim->match, most_under_way(ranks));
    sim->rank = hpcw_i_calloc(ranks, sizeof *sim->rank);
    sim->ready = hpcw_i_malloc(ranks * sizeof *sim->ready);
    sim->parked = hpcw_i_malloc(ranks * sizeof *sim->parked);
    hpcw_status s = sim->rank == NULL || sim->ready == NULL || sim->parked == NULL
                        ? hpcw_i_fail_memory(err, "simulator", ranks, "ranks")
                        : sim_comms_init(sim, err);
    s = s == HPCW_OK ? sim_files_init(sim, err) : s;
    s = s == HPCW_OK ? sim_noise_init(&sim->noise, &options->noise, &options->constants,
                                      options->network->machine, options->seed, err)
                     : s;
    s = s == HPCW_OK ? sim_without_init(sim, err) : s;
    s = s == HPCW_OK ? sim_crowd_init(sim, err) : s;
    if (s != HPCW_OK) {
        sim_free(sim);
        return s;
    }
    set_horizon(sim, 0);
    for (uint32_t r = ranks; r-- > 0;) {
        sim->rank[r].first_in = SIM_NOTHING;
        sim->ready[sim->ready_count++] = r;
    }
    *out = sim;
    return HPCW_OK;
}

void sim_free(struct sim *sim) {
    if (sim == NULL) {
        return;
    }
    for (uint32_t r = 0; sim->rank != NULL && r < sim->ranks; r++) {
        hpcw_i_free(sim->rank[r].to.list);
        hpcw_i_free(sim->rank[r].from.list);
        hpcw_i_free(sim->rank[r].waits.of);
        hpcw_i_free(sim->rank[r].requests.of);
    }
    sim_heap_free(&sim->timed);
    sim_match_free(&sim->match);
    sim_comms_free(sim);
    sim_files_free(sim);
    sim_noise_free(&sim->noise);
    sim_without_free(sim);
    sim_crowd_free(sim);
    hpcw_i_free(sim->rank);
    hpcw_i_free(sim->ready);
    hpcw_i_free(sim->parked);
    hpcw_i_free(sim);
}

/* ---- turns ---- */

/* Returns the rank to run: the last one that became ready, since its memory is still in the caches. In tests, a
 * linear congruential generator with the numbers of Knuth's MMIX selects the rank. */
static uint32_t take_ready(struct sim *sim) {
    uint32_t at = sim->ready_count - 1;
    if (sim->options.order != 0) {
        sim->options.order = sim->options.order * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        at = (uint32_t)((sim->options.order >> 33) % sim->ready_count);
    }
    const uint32_t rank = sim->ready[at];
    sim->ready[at] = sim->ready[--sim->ready_count];
    return rank;
}

/* Prefetches the memory of the next rank while the current rank runs, since most time is spent waiting for
 * memory. */
static void fetch_next(const struct sim *sim) {
    if (sim->ready_count > 0 && sim->program->fetch != NULL) {
        const uint32_t rank = sim->ready[sim->ready_count - 1];
        hpcw_i_fetch(&sim->rank[rank], sizeof *sim->rank);
        sim->program->fetch(sim->program->context, rank);
    }
}

/* Moves the horizon back to the time of a rank, if ranks have made many calls. This happens after a checkpoint:
 * ranks make few calls in a checkpoint, so the distance grows too large for the calls after it. */
static void stop_early(struct sim *sim, uint32_t rank) {
    const uint64_t now_ns = sim->rank[rank].clock_ns;
    sim->horizon_ns = now_ns < sim->horizon_ns ? now_ns : sim->horizon_ns;
}

static hpcw_status run_one(struct sim *sim, hpcw_error *err) {
    const uint32_t rank = take_ready(sim);
    sim->turns++;
    fetch_next(sim);
    switch (sim->program->resume(sim->program->context, rank, err)) {
    case SIM_STOPPED:
        break;
    case SIM_ENDED:
        sim->rank[rank].state = SIM_RANK_ENDED;
        sim->ended++;
        break;
    default:
        return err != NULL ? err->code : HPCW_EINVAL;
    }
    if (sim->calls - sim->calls_at_horizon > (uint64_t)MANY_CALLS * sim->ranks) {
        stop_early(sim, rank);
    }
    return sim->failed ? hpcw_i_fail_as(err, &sim->failure) : HPCW_OK;
}

/* Serves the earliest timed call before the horizon of simulated time. Returns false if there is no such call. */
static bool serve_timed(struct sim *sim) {
    while (sim->timed.count > 0) {
        const struct sim_entry entry = sim->timed.entry[0];
        const struct sim_rank *r = &sim->rank[entry.item];
        const bool valid = r->timed != SIM_NOT_TIMED && r->calls == entry.serial;
        if (valid && entry.time_ns >= sim->horizon_ns) {
            return false;
        }
        sim_heap_remove(&sim->timed);
        if (valid && r->timed == SIM_ANY_MESSAGE) {
            sim_serve_message(sim, entry.item);
        } else if (valid && r->timed == SIM_ANY_REQUEST) {
            sim_serve_request(sim, entry.item);
        } else if (valid) {
            sim_files_serve(sim, entry.item, entry.time_ns);
        }
        if (valid) {
            return true;
        }
    }
    return false;
}

/* Doubles or halves the distance that ranks may run ahead. The limits 2 * FEW_CALLS and MANY_CALLS / 2 keep the
 * distance from changing back at once. */
static void adapt_window(struct sim *sim) {
    const uint64_t calls = (sim->calls - sim->calls_at_horizon) / sim->ranks;
    const bool often = sim->parked_count > sim->turns / FEW_STOPS;
    if (calls < FEW_CALLS || (often && calls < MANY_CALLS / 2)) {
        sim->window_ns *= 2;
    } else if (calls >= MANY_CALLS || (!often && calls > 2 * FEW_CALLS)) {
        sim->window_ns -= sim->window_ns / 2;
    }
    sim->calls_at_horizon = sim->calls;
    sim->turns = 0;
}

/* Moves the horizon of simulated time and resumes the ranks that stopped at it. Returns false if no rank has
 * stopped and no timed call is left. */
static bool move_horizon(struct sim *sim) {
    uint64_t first_ns = sim->timed.count > 0 ? sim->timed.entry[0].time_ns : UINT64_MAX;
    if (sim->parked_count == 0 && sim->timed.count == 0) {
        return false;
    }
    for (uint32_t i = 0; i < sim->parked_count; i++) {
        const uint64_t clock_ns = sim->rank[sim->parked[i]].clock_ns;
        first_ns = clock_ns < first_ns ? clock_ns : first_ns;
    }
    if (sim->options.observer.passed != NULL && !sim->failed) {
        const struct sim_observer *o = &sim->options.observer;
        sim->failed = o->passed(o->context, first_ns, &sim->failure) != HPCW_OK;
    }
    if (sim->options.horizon_ns == 0 && !sim->cut) {
        adapt_window(sim);
    }
    set_horizon(sim, first_ns);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sim->parked_count; i++) {
        const uint32_t rank = sim->parked[i];
        if (sim->rank[rank].clock_ns < sim->horizon_ns) {
            sim->rank[rank].state = SIM_RANK_RUNS;
            sim->ready[sim->ready_count++] = rank;
        } else {
            sim->parked[kept++] = rank;
        }
    }
    sim->parked_count = kept;
    return true;
}

hpcw_status sim_run(struct sim *sim, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    bool goes_on = true;
    while (s == HPCW_OK && goes_on) {
        if (sim->ready_count > 0) {
            s = run_one(sim, err);
        } else {
            goes_on = serve_timed(sim) || move_horizon(sim);
            s = sim->failed ? hpcw_i_fail_as(err, &sim->failure) : HPCW_OK;
        }
    }
    if (s == HPCW_OK) {
        s = sim->ended < sim->ranks ? sim_fail_deadlock(sim, err) : sim_check_end(sim, err);
    }
    return s;
}
