/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F6: repeated, paired runs. The timer is told what to call and looks at the clock; it knows nothing of what is
 * measured, and what is measured knows no clock.
 *
 * A *subject* is one piece of work that can be done in several ways, its *sides* (ours, a plain loop). A run of
 * a side is a few *phases* (open, write, close). A repetition runs every side once, so that the sides of one
 * repetition are neighbours in time and meet the same disturbances; the side that begins changes from one
 * repetition to the next. Every sample is kept as it was measured.
 */
#ifndef HPCW_BENCH_MEASURE_TIMER_H
#define HPCW_BENCH_MEASURE_TIMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "bench/measure/processes.h"

enum { BENCH_PHASES = 4, BENCH_SIDES = 12 };

/* A step of a run. All phases of a run are called, also after one of them failed: others may wait in theirs. */
struct bench_phase {
    const char *name; /* "open"; NULL: no more phases */
    hpcw_status (*run)(void *work, hpcw_error *err);
    bool untimed;  /* must happen here, but belongs to no figure */
    bool together; /* the processes wait for each other before it, off the clock */
};

/* One way of doing the work. */
struct bench_side {
    const char *name;
    const char *what;
    uint64_t parameter; /* for `prepare`: lets sides share their functions */
    hpcw_status (*prepare)(void *work, uint64_t parameter,
                           hpcw_error *err); /* before each run, off the clock */
    struct bench_phase phase[BENCH_PHASES];
    uint64_t (*peak)(const void *work); /* bytes, where the work is not done in this process; NULL: it is */
    uint64_t (*size)(const void *work); /* bytes of what came out; NULL: as many as went in */
};

struct bench_subject {
    const struct bench_side *side; /* [sides] */
    size_t sides;
    /* After the repetition that only warms up, when the files of all sides are there: whether they did the same
     * work. NULL: nothing to compare. */
    hpcw_status (*check)(void *work, hpcw_error *err);
};

/* One run of one side; times and memory are those of the slowest and the largest process. */
struct bench_sample {
    uint64_t total_ns; /* timed phases together; at most the sum of `phase_ns` */
    uint64_t phase_ns[BENCH_PHASES];
    uint64_t first_ns[BENCH_PHASES];   /* of the process that took the shortest */
    uint64_t reached_ns[BENCH_PHASES]; /* from the common start until the last process had ended this phase */
    uint64_t peak_bytes;               /* largest resident memory during the run */
    uint64_t size_bytes;               /* what came out; 0: see bench_amount */
    double others; /* processors that the rest of the machine kept busy meanwhile; NaN: unknown */
};

struct bench_samples {
    size_t runs;                              /* of each side, the warm-up not among them */
    struct bench_sample *sample[BENCH_SIDES]; /* [runs] */
};

/*
 * One repetition to warm up, then `runs` that count. Collective over `processes`; the samples are the same on all
 * of them. Stops at the first failure of any process, or when a caught signal reached one.
 */
hpcw_status bench_timer_measure(const struct bench_subject *subject, void *work,
                                const struct bench_processes *processes, size_t runs,
                                struct bench_samples *samples, hpcw_error *err);

void bench_samples_free(struct bench_samples *samples);

/* One run of one side, for callers with an order of their own. Collective; results as above. */
hpcw_status bench_timer_run(const struct bench_side *side, void *work, const struct bench_processes *processes,
                            struct bench_sample *sample, hpcw_error *err);

/* Nanoseconds of a clock that nobody sets. */
uint64_t bench_timer_now(void);

/* From now on SIGINT, SIGTERM and SIGHUP end the measurement at its next step. */
void bench_timer_catch_signals(void);

/* The signal that came, or 0. */
int bench_timer_stopped(void);

#endif
