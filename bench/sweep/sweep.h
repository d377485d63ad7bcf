/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sweep. Plans points, runs them within a budget of time and space, and writes results. Knows layouts only by
 * their table.
 *
 * plan.c chooses the points and their priority, sizes.c the bytes of a run, rounds.c measures them by run.c,
 * figures.c and advise.c compute what the results say, output.c writes the files and the table of the results.
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
 * Runs a sweep, or measures metadata rates if options->metadata is set. Collective; only process 0 writes
 * reports. directory: directory on the file system to measure. command: options of the command line, for the
 * results. Returns HPCW_OK if each planned point was measured or has a reason not to be. *failed says whether
 * points failed. A signal ends the sweep early, with HPCW_OK and the results so far (see bench_timer_stopped).
 */
hpcw_status bench_sweep(const struct bench_options *options, const char *directory, const char *command,
                        const struct bench_processes *processes, bool *failed, hpcw_error *err);

/* Measures metadata rates. Sets r->metadata for as many numbers of tasks as the budget allows. directory: an empty
 * directory that no other run uses. Collective. */
hpcw_status bench_sweep_metadata(const struct bench_options *o, const char *directory, uint64_t begin_ns,
                                 const struct bench_processes *processes, struct bench_results *r,
                                 hpcw_error *err);

/* ---- planning ---- */

/* BENCH_QUESTION_SIZES: number of block sizes that a sweep measures first. BENCH_QUESTION_POINTS: number of
 * points at these sizes, sion-aligned and sion-shifted at each. */
enum { BENCH_QUESTION_SIZES = 3, BENCH_QUESTION_POINTS = 2 * BENCH_QUESTION_SIZES };

/* Smallest and largest number of rounds without --repeat. If the BENCH_QUESTION_POINTS alone take the whole
 * budget, the smallest number is BENCH_FEWEST_REPEAT. In simulated sweeps, ten short rounds give more verdicts
 * than five rounds of twice the length. */
enum { BENCH_LEAST_REPEAT = 10, BENCH_MOST_REPEAT = 30 };

/* Shortest planned time of a run, seconds. The time of shorter runs depends mainly on the clock, the page cache
 * and the scheduler. */
#define BENCH_LEAST_SECONDS 0.05

/* Returns the planned time of a run, seconds, so that the BENCH_QUESTION_POINTS fit into `budget` seconds.
 * Returns at most `most`. */
double bench_sweep_run_seconds(double budget, double most);

/* Returns the planned time of two runs, one of a layout and one of plain writes, ns. plain_ns: time if both are
 * plain writes. */
uint64_t bench_sweep_pair_ns(uint64_t plain_ns);

/* Returns the smallest difference of two points that a sweep with `points` points and `rounds` rounds shows with
 * probability 0.9; 0.1 is 10 %. scatter: standard deviation of ln of the rates. */
double bench_sweep_seen(size_t points, uint32_t rounds, double scatter);

/* What the plan of a sweep knows about a point, in addition to its results. */
struct bench_planned {
    uint32_t priority; /* 0: the most important */
    bool active;       /* false: the point failed or is left out */
    uint32_t runs;     /* runs of the layout and its ceiling, with the warm-up run */
    uint64_t spent_ns; /* time of `runs` runs */
    uint64_t run_ns;   /* time of the last run of the layout, without the ceiling */
};

/*
 * Plans points of about `bytes` bytes each, in r->point and *planned, which the caller frees with hpcw_i_free.
 * Records are limited to the data of a rank; equal points are planned once. Points that cannot be run here get
 * the fate BENCH_LEFT_OUT and a reason, and are not active. no_direct: reason why O_DIRECT does not work, or
 * "". r->fs, r->processes and r->left_out_mpi must be set. HPCW_EINVAL: no point is left. HPCW_ENOMEM.
 */
hpcw_status bench_sweep_plan(const struct bench_options *o, const char *no_direct, uint64_t bytes,
                             struct bench_results *r, struct bench_planned **planned, hpcw_error *err);

/* Returns the number of virtual ranks of a sweep. */
uint32_t bench_sweep_ranks(const struct bench_options *o, const struct bench_results *r);

/* Sets the sizes of all points, so that a run writes at least `bytes` bytes. A rank writes whole records. Its
 * bytes are no multiple of a block, unless the options ask for that. */
void bench_sweep_sizes(const struct bench_options *o, struct bench_results *r, uint64_t bytes);

/* Returns whether the point `index` fits into `left_ns` with `runs` runs, including its warm-up run. The remaining
 * runs of all points that have made their warm-up run must fit, too. If not, the point is left out. The time of a
 * run is estimated from points that have made their warm-up run. Before the first of them, guess_ns is used. For
 * the second point it is enough if its first run fits: one point alone shows nothing. */
bool bench_sweep_admit(const struct bench_options *o, struct bench_results *r, struct bench_planned *planned,
                       size_t index, uint32_t runs, uint64_t left_ns, uint64_t guess_ns);

/* Returns how many repetitions of all points fit into `left_ns`, limited to `least` and `most`. */
uint32_t bench_sweep_repeat(const struct bench_results *r, const struct bench_planned *planned,
                            uint64_t left_ns, uint32_t least, uint32_t most);

/* Leaves out points until the others can have `runs` runs each within `left_ns`, earlier runs included. The least
 * important points go first; of equally important points, the longest. All points must have made their warm-up run.
 * Returns whether a point is left. */
bool bench_sweep_fit(const struct bench_options *o, struct bench_results *r, struct bench_planned *planned,
                     uint32_t runs, uint64_t left_ns);

/* ---- output ---- */

/* The directory of the results, on process 0. */
struct bench_output {
    char path[BENCH_PATH];  /* for messages; "": there is none */
    struct hpcw_i_dir *dir; /* held: all files go into this directory, even if it is renamed; NULL: not held */
    int lock;               /* descriptor that locks it against other sweeps; -1: no lock */
    bool made;              /* this sweep made the directory, and no other one has locked it */
};

/* Makes and holds the directory of the results, and locks it if the file system has locks. On process 0 only.
 * HPCW_EEXIST: the name exists, and o->resume is not set, it is not the directory of a sweep, or another sweep is
 * writing into it. */
hpcw_status bench_output_make(const struct bench_options *o, const struct bench_results *r,
                              struct bench_output *out, hpcw_error *err);

/* Holds the directory of a resumed sweep, and checks whether its files may be read and replaced. On process 0 only.
 * HPCW_EEXIST: the files are not those of an interrupted sweep. */
hpcw_status bench_output_hold(struct bench_output *out, hpcw_error *err);

/* Writes results.json and results.csv into the directory. */
hpcw_status bench_output_write(const struct bench_results *r, const struct bench_output *out, hpcw_error *err);

/* Writes report.html into the directory of the results, if this build makes reports. */
hpcw_status bench_output_draw(const struct bench_results *r, const struct bench_output *out, hpcw_error *err);

/* Returns whether the path still leads to the directory. Another process may have renamed or removed it. */
bool bench_output_is_there(const struct bench_output *out);

/* Unlocks and releases the directory, if there is one. After a failure, an empty directory that this sweep made is
 * removed. */
void bench_output_close(struct bench_output *out, bool failed);

/* bench_output_unmeasured prints the points that were not measured, one line for each reason. bench_output_memory
 * prints a note if the file system is in memory. */
void bench_output_unmeasured(const struct bench_results *r, FILE *stream);
void bench_output_memory(const struct bench_results *r, FILE *stream);

/* Prints the results as a table. */
hpcw_status bench_output_print(const struct bench_results *r, FILE *stream, hpcw_error *err);

#endif
