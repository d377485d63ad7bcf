/* SPDX-License-Identifier: BSD-3-Clause */
/* A sweep in progress, which the files of this folder share. */
#ifndef HPCW_BENCH_SWEEP_STATE_H
#define HPCW_BENCH_SWEEP_STATE_H

#include <hpcw/status.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/layout/data.h"
#include "bench/measure/processes.h"
#include "bench/measure/timer.h"
#include "bench/measure/workdir.h"
#include "bench/sweep/sweep.h"

struct ui_progress;

struct bench_sweep_state {
    const struct bench_options *o;
    const struct bench_processes *processes;
    struct bench_results *r;
    struct bench_planned *planned;
    struct bench_data data;
    char directory[BENCH_WORKDIR];
    char output[BENCH_PATH];    /* directory of the results, on process 0 */
    int output_fd;              /* the same directory, locked against other sweeps; -1: no lock */
    char no_direct[BENCH_NAME]; /* why O_DIRECT does not work, "" if it does */
    uint64_t begin_ns;
    double aim_ns;              /* planned time of a run */
    uint64_t guess_ns;          /* time of a run and its ceiling, if both are as fast as plain writes */
    uint64_t bytes, most_bytes; /* planned bytes of a run, and the limit */
    uint64_t random;
    uint32_t order;
    size_t plan_points; /* active points, and rounds, when the plan was told; 0: not told */
    uint32_t plan_rounds;
    bool resumed;                 /* points have runs of an earlier sweep */
    struct ui_progress *progress; /* NULL where nothing is shown */
};

static inline uint64_t bench_sweep_elapsed(const struct bench_sweep_state *w) {
    return bench_timer_now() - w->begin_ns;
}

/* Without --least-time, runs are planned for this time. Many short rounds tell more than few long ones. */
#define BENCH_USUAL_SECONDS 0.25

/* The default of --least-bytes. No cache of a disk holds as many. */
#define BENCH_USUAL_BYTES (UINT64_C(256) << 20)

/* Returns the largest number of runs of a point, without the warm-up run. */
static inline size_t bench_sweep_most_runs(const struct bench_sweep_state *w) {
    return w->o->repeat == 0 ? BENCH_MOST_REPEAT : w->o->repeat;
}

/* ---- facts.c ---- */

/* Notes the facts that are known before planning. */
hpcw_status bench_sweep_describe(struct bench_sweep_state *w, const char *directory, const char *command,
                                 hpcw_error *err);

/* Makes the directory of the data and asks its file system. Collective. */
hpcw_status bench_sweep_settle_in(struct bench_sweep_state *w, const char *directory, hpcw_error *err);

/* Notes what the file system of `directory` tells without a new file. Collective. */
hpcw_status bench_sweep_look(struct bench_sweep_state *w, const char *directory, hpcw_error *err);

/* Sets `why` to the reason why O_DIRECT reaches no disk with the alignment of the layouts, or to "" if it does. An
 * open and a write do not show that on tmpfs: both succeed, and its files are the page cache. */
void bench_sweep_try_direct(const struct bench_sweep_state *w, char why[BENCH_NAME]);

/* ---- sizes.c ---- */

/* Returns the bytes that a run of the point takes on the disk, at most. */
uint64_t bench_sweep_needed(const struct bench_sweep_state *w, const struct bench_point *p);

/* Checks whether the disk of `directory` and --max-bytes have room for a run of the point. */
hpcw_status bench_sweep_room(const struct bench_sweep_state *w, const char *directory,
                             const struct bench_point *p, hpcw_error *err);

/* Checks whether runs may be as large as they must be to count. */
hpcw_status bench_sweep_check_limit(const struct bench_sweep_state *w, hpcw_error *err);

/* Returns whether the runs of --per-rank are too small to count, and says so in `text`. Without --per-rank,
 * bench_sweep_check_limit decides. */
bool bench_sweep_is_small(const struct bench_sweep_state *w, char text[BENCH_REASON]);

/* Sets the bytes of a run and its estimated time, if plain writes have this rate in bytes per second. */
void bench_sweep_choose_bytes(struct bench_sweep_state *w, double rate);

/* Sets how much a run writes at first, and how much it may write. Collective. */
hpcw_status bench_sweep_limit_sizes(struct bench_sweep_state *w, hpcw_error *err);

/* Finds how many bytes a run must write to count. The plain loop runs with more and more bytes, until a run takes
 * at least half of the time. Collective. */
hpcw_status bench_sweep_probe(struct bench_sweep_state *w, hpcw_error *err);

/* ---- run.c ---- */

/* Runs a point or, if `ceiling`, its ceiling once. Collective. */
hpcw_status bench_sweep_run(struct bench_sweep_state *w, const struct bench_point *p, bool ceiling,
                            struct bench_trial *t, hpcw_error *err);

/* ---- rounds.c ---- */

/* Allocates the runs of all points. Collective. */
hpcw_status bench_sweep_allocate(struct bench_sweep_state *w, hpcw_error *err);

/* Returns the signal that any process received, or 0. Collective. */
int bench_sweep_signalled(const struct bench_sweep_state *w);

/* Runs all points in rounds. Failures of points are noted, not returned. A dry run ends after the warm-up round, in
 * which it runs nothing: then the points and the number of rounds are known. Collective. */
hpcw_status bench_sweep_rounds(struct bench_sweep_state *w, hpcw_error *err);

/* ---- figures.c ---- */

/* Computes the results so far. `why`: why the sweep ended early, "" if it did not. */
hpcw_status bench_sweep_conclude(struct bench_sweep_state *w, const char *why, hpcw_error *err);

/* ---- resume.c ---- */

/* Takes over the results of the interrupted sweep in the directory for the results, if there are any.
 * Collective. */
hpcw_status bench_sweep_resume(struct bench_sweep_state *w, hpcw_error *err);

/* ---- dry_run.c ---- */

/* Prints the plan, by facts that are known without writing a file. Collective. */
hpcw_status bench_sweep_dry_run(struct bench_sweep_state *w, const char *directory, hpcw_error *err);

#endif
