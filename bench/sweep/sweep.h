/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sweep. Plans points, runs them within a budget of time and space, and writes results. Knows layouts only by
 * their table.
 *
 * plan.c chooses the points and their priority, sweep.c measures them, output.c writes the files and the table of the
 * results.
 */
#ifndef HPCW_BENCH_SWEEP_SWEEP_H
#define HPCW_BENCH_SWEEP_SWEEP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <hpcw/status.h>

#include "bench/layout/layout.h"
#include "bench/measure/processes.h"
#include "bench/measure/workdir.h"
#include "bench/report/options.h"
#include "bench/report/results.h"

/*
 * Measures. Collective; only process 0 writes reports. `directory`: on the file system to measure. `command`: the
 * options as they were given. HPCW_OK if everything planned was measured or has a reason not to be; *failed says
 * whether points failed. A signal ends it early, with HPCW_OK and the results so far (see bench_timer_stopped).
 */
hpcw_status bench_sweep(const struct bench_options *options, const char *directory, const char *command,
                        const struct bench_processes *processes, bool *failed, hpcw_error *err);

/* What bench_sweep does instead if o->metadata: the rows of r->metadata, for as many numbers of tasks as the budget has time
 * for. `directory`: empty, and of this run alone. Collective. */
hpcw_status bench_sweep_metadata(const struct bench_options *o, const char *directory, uint64_t begin_ns,
                                 const struct bench_processes *processes, struct bench_results *r,
                                 hpcw_error *err);

/* ---- planning ---- */

/* What a sweep measures first: aligned containers and their shifted twins at so many block sizes. */
enum { BENCH_QUESTION_SIZES = 3, BENCH_QUESTION_POINTS = 2 * BENCH_QUESTION_SIZES };

/* Rounds, if they are not given: of what is measured first at least, if that takes all of the time; of all else; at most. In
 * simulated sweeps, ten short ones give more verdicts than five of twice the length. */
enum { BENCH_FEWEST_REPEAT = 5, BENCH_LEAST_REPEAT = 10, BENCH_MOST_REPEAT = 30 };

/* How long a run should write, so that what is measured first fits into `budget` seconds; at most `most`. */
double bench_sweep_run_seconds(double budget, double most);

/* The difference of two of `points` that so many rounds show nine times out of ten, if runs scatter by `scatter`. 0.1: 10 % */
double bench_sweep_seen(size_t points, uint32_t rounds, double scatter);

/* The state of a point besides its result. */
struct bench_planned {
    uint32_t priority; /* 0: the most important */
    bool active;       /* to be run, or to be run again */
    uint32_t runs;     /* of both sides, with the one that warms up */
    uint64_t spent_ns; /* on these runs */
    uint64_t run_ns;   /* of the last run of the layout itself */
};

/*
 * The points, each of about `bytes` bytes, in r->point and (hpcw_i_free) *planned. A record is at most what a rank
 * writes, and points that are equal by that are one. Those that cannot be run here are left out with a reason and not
 * active. `no_direct`: why O_DIRECT does not work, "" if it does. r->fs, r->processes and r->left_out_mpi must be there.
 * HPCW_EINVAL if nothing is left to measure, HPCW_ENOMEM.
 */
hpcw_status bench_sweep_plan(const struct bench_options *o, const char *no_direct, uint64_t bytes,
                             struct bench_results *r, struct bench_planned **planned, hpcw_error *err);

/* Virtual ranks of a sweep. */
uint32_t bench_sweep_ranks(const struct bench_options *o, const struct bench_results *r);

/* Sizes of all points, so that a run writes at least `bytes`: whole records, and no whole number of blocks unless the
 * options ask for that. */
void bench_sweep_sizes(const struct bench_options *o, struct bench_results *r, uint64_t bytes);

/* Whether `runs` runs of this point, the first one to warm up, fit into `left_ns` beside those of the points that have
 * warmed up already; it is left out if they do not. Until a point has, one is taken to need `guess_ns`. */
bool bench_sweep_admit(const struct bench_options *o, struct bench_results *r, struct bench_planned *planned,
                       size_t index, uint32_t runs, uint64_t left_ns, uint64_t guess_ns);

/* Repetitions of all points that fit into `left_ns`, at least and at most these. */
uint32_t bench_sweep_repeat(const struct bench_results *r, const struct bench_planned *planned,
                            uint64_t left_ns, uint32_t least, uint32_t most);

/* When all have warmed up: leaves out points, the least important first, and of those the most expensive, until each of the others can
 * have `runs` runs, with those that it already had, in `left_ns`. Returns whether any point is left. */
bool bench_sweep_fit(const struct bench_options *o, struct bench_results *r, struct bench_planned *planned,
                     uint32_t runs, uint64_t left_ns);

/* ---- a sweep that was interrupted ---- */

/* Reads the results in the directory `output`, which process 0 sees, for all processes. *there: whether there are any.
 * Collective. */
hpcw_status bench_sweep_earlier(const struct bench_processes *processes, const char *output,
                                struct bench_results *earlier, bool *there, hpcw_error *err);

/* Takes over what an earlier sweep measured and decided. `r` has the facts of this one, and its plan with memory for
 * `most` runs of each point. *order: the number of the last run. HPCW_EMISMATCH: the earlier one was another sweep. */
hpcw_status bench_sweep_take_over(struct bench_results *r, struct bench_planned *planned, size_t most,
                                  const struct bench_results *earlier, const char *output, uint32_t *order,
                                  hpcw_error *err);

/* Reason of a point that a sweep did not come to. */
extern const char bench_sweep_ended[];

/* ---- output ---- */

/* By process 0. Makes the directory. HPCW_EEXIST: there is something of that name, and o->resume is not set. */
hpcw_status bench_output_make(const struct bench_options *o, const struct bench_results *r,
                              char path[BENCH_PATH], hpcw_error *err);

/* results.json and results.csv in it. */
hpcw_status bench_output_write(const struct bench_results *r, const char *directory, hpcw_error *err);

/* report.html in the same directory, in a build that makes reports. */
hpcw_status bench_output_draw(const struct bench_results *r, const char *directory, hpcw_error *err);

/* What would be measured, for people. Sizes of runs are those that the probe starts with, unless they are given. */
hpcw_status bench_output_plan(const struct bench_options *o, const struct bench_results *r,
                              const struct bench_planned *planned, FILE *stream, hpcw_error *err);

/* The table for people. */
hpcw_status bench_output_print(const struct bench_results *r, FILE *stream, hpcw_error *err);

#endif
