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
    struct bench_output output;
    char no_direct[BENCH_NAME]; /* why O_DIRECT does not work, "" if it does */
    uint64_t begin_ns;
    double aim_ns;              /* planned time of a run */
    uint64_t guess_ns;          /* time of two runs of plain writes of `bytes` bytes each */
    uint64_t bytes, most_bytes; /* planned bytes of a run, and the limit */
    uint64_t random;
    uint32_t order;
    size_t plan_points;           /* number of active points when the plan was made; 0: no plan yet */
    uint32_t plan_rounds;         /* number of rounds when the plan was made */
    bool resumed;                 /* points have runs of an earlier sweep */
    struct ui_progress *progress; /* NULL where nothing is shown */
};

static inline uint64_t bench_sweep_elapsed(const struct bench_sweep_state *w) {
    return bench_timer_now() - w->begin_ns;
}

/* Planned time of a run without --least-time, seconds. Many short rounds show smaller differences than few long
 * rounds. */
#define BENCH_USUAL_SECONDS 0.25

/* Default of --least-bytes. It is larger than the cache of a disk. */
#define BENCH_USUAL_BYTES (UINT64_C(256) << 20)

/* Returns the largest number of runs of a point, without the warm-up run. */
static inline size_t bench_sweep_most_runs(const struct bench_sweep_state *w) {
    return w->o->repeat == 0 ? BENCH_MOST_REPEAT : w->o->repeat;
}

/* ---- facts.c ---- */

/* Sets the members of w->r that are known before planning: options, machine, limits. */
hpcw_status bench_sweep_describe(struct bench_sweep_state *w, const char *directory, const char *command,
                                 hpcw_error *err);

/* Makes the directory of the data and sets w->r->fs by the properties of its file system. Collective. */
hpcw_status bench_sweep_settle_in(struct bench_sweep_state *w, const char *directory, hpcw_error *err);

/* Sets w->r->fs by the properties of the file system of `directory` that are known without a new file.
 * Collective. */
hpcw_status bench_sweep_look(struct bench_sweep_state *w, const char *directory, hpcw_error *err);

/* Tries O_DIRECT with the alignment of the layouts. Sets `why` to the reason why it does not work, or to "".
 * File systems in memory, as tmpfs, count as failures: an open and a write succeed, but their files are in the
 * page cache. */
void bench_sweep_try_direct(const struct bench_sweep_state *w, char why[BENCH_NAME]);

/* ---- sizes.c ---- */

/* Returns the bytes that a run of the point takes on the disk, at most. */
uint64_t bench_sweep_needed(const struct bench_sweep_state *w, const struct bench_point *p);

/* Checks whether the disk of `directory` and --max-bytes have room for a run of the point. */
hpcw_status bench_sweep_room(const struct bench_sweep_state *w, const char *directory,
                             const struct bench_point *p, hpcw_error *err);

/* Fails if the limits of space and memory allow only runs that are too small to count. */
hpcw_status bench_sweep_check_limit(const struct bench_sweep_state *w, hpcw_error *err);

/* Returns whether --per-rank makes runs too small to count, and writes a warning to `text`. Returns false without
 * --per-rank. */
bool bench_sweep_is_small(const struct bench_sweep_state *w, char text[BENCH_REASON]);

/* Sets the bytes of a run and its estimated time. rate: rate of plain writes, bytes per second. */
void bench_sweep_choose_bytes(struct bench_sweep_state *w, double rate);

/* Sets the first value and the limit of the bytes of a run. Collective. */
hpcw_status bench_sweep_limit_sizes(struct bench_sweep_state *w, hpcw_error *err);

/* Finds the bytes of a run by the speed of the file system. Plain writes run with more and more bytes, until a run
 * takes at least half of the planned time. Collective. */
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

/* Runs all points in rounds. Failures of points are stored in the points, not returned. A dry run only plans:
 * it ends after a warm-up round without runs, when the points and the number of rounds are known. Collective. */
hpcw_status bench_sweep_rounds(struct bench_sweep_state *w, hpcw_error *err);

/* ---- figures.c ---- */

/* Computes the results from the runs so far. why: reason why the sweep ended early, or "". */
hpcw_status bench_sweep_conclude(struct bench_sweep_state *w, const char *why, hpcw_error *err);

/* ---- resume.c ---- */

/* Takes over the runs of an interrupted sweep, if the directory for the results has any. Collective. */
hpcw_status bench_sweep_resume(struct bench_sweep_state *w, hpcw_error *err);

/* ---- dry_run.c ---- */

/* Prints the plan of a sweep without writing a file. Collective. */
hpcw_status bench_sweep_dry_run(struct bench_sweep_state *w, const char *directory, hpcw_error *err);

#endif
