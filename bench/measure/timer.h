/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Repeated, paired runs. The timer calls the functions of a subject and reads the clock. It does not know what it
 * measures, and the subject does not know the clock.
 *
 * A *subject* is one piece of work that can be done in several ways, its *sides* (ours, a plain loop). A run of
 * a side is a few *phases* (open, write, close). A repetition runs every side once, so that the sides of one
 * repetition run close together and under the same disturbances. Each repetition begins with the next
 * side. Every sample is kept as it was measured.
 */
#ifndef HPCW_BENCH_MEASURE_TIMER_H
#define HPCW_BENCH_MEASURE_TIMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "bench/measure/processes.h"

struct hpcw_i_words;

enum { BENCH_PHASES = 4, BENCH_QUARTILES = 3, BENCH_SIDES = 12 };

/* A step of a run. All phases are called, also after a failure: other processes may wait in theirs. */
struct bench_phase {
    const char *name; /* "open"; NULL: no more phases */
    hpcw_status (*run)(void *work, hpcw_error *err);
    bool untimed;  /* must happen here, but counts in no figure */
    bool together; /* the processes wait for each other before it, not timed */
};

/* One way of doing the work. */
struct bench_side {
    const char *name;
    const char *what;
    uint64_t parameter; /* for `prepare`: lets sides share their functions */
    hpcw_status (*prepare)(void *work, uint64_t parameter, hpcw_error *err); /* before each run, not timed */
    struct bench_phase phase[BENCH_PHASES];
    uint64_t (*peak)(const void *work); /* bytes, if another process does the work; NULL: this one does */
    uint64_t (*size)(const void *work); /* bytes of the output; NULL: the same as of the input */
};

struct bench_subject {
    const struct bench_side *side; /* [sides] */
    size_t sides;
    /* After the repetition that warms up, when the files of all sides exist: checks that the sides did the same
     * work. NULL: nothing to compare. */
    hpcw_status (*check)(void *work, hpcw_error *err);
};

/* One run of one side; times and memory are those of the slowest and the largest process. */
struct bench_sample {
    uint64_t total_ns; /* timed phases together; at most the sum of `phase_ns` */
    uint64_t phase_ns[BENCH_PHASES];
    uint64_t cpu_ns[BENCH_PHASES]; /* processor time of all threads of all processes; also of untimed phases */
    uint64_t first_ns[BENCH_PHASES]; /* of the process that took the shortest */
    uint64_t quartile_ns[BENCH_PHASES]
                        [BENCH_QUARTILES]; /* over all processes: a quarter, half, three quarters */
    int slowest;                           /* the process with the largest total */
    uint64_t reached_ns[BENCH_PHASES]; /* from the common start until the last process had ended this phase */
    uint64_t peak_bytes;               /* largest resident memory during the run */
    uint64_t size_bytes;               /* of the output; 0: see bench_amount */
    double others; /* processors that other programs kept busy during the run; NaN: unknown */
};

struct bench_samples {
    size_t runs;                              /* of each side, without the warm-up */
    struct bench_sample *sample[BENCH_SIDES]; /* [runs] */
};

/*
 * One repetition to warm up, then `runs` that count. Collective over `processes`; the samples are the same on all
 * of them. Stops at the first failure of any process, or when one of them caught a signal.
 */
hpcw_status bench_timer_measure(const struct bench_subject *subject, void *work,
                                const struct bench_processes *processes, size_t runs,
                                struct bench_samples *samples, hpcw_error *err);

void bench_samples_free(struct bench_samples *samples);

/* One run of one side, for callers with an order of their own. Collective; results as above. */
hpcw_status bench_timer_run(const struct bench_side *side, void *work, const struct bench_processes *processes,
                            struct bench_sample *sample, hpcw_error *err);

/* Of two calls that are both made: the status of the first that failed, and in *err its message; *e is the second's. */
hpcw_status bench_first_failure(hpcw_status first, hpcw_status now, hpcw_error *err, const hpcw_error *e);

/* Nanoseconds of a monotonic clock. */
uint64_t bench_timer_now(void);

/* One verdict for all processes, as hpcw_i_agree; HPCW_ESTATE if one of them caught a signal. Collective. */
hpcw_status bench_timer_agree(const struct bench_processes *processes, hpcw_status s,
                              struct hpcw_i_words *words, hpcw_error *err);

/* From now on SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 and SIGXCPU end the measurement at its next step. */
void bench_timer_catch_signals(void);

/* The signal that was caught, or 0. */
int bench_timer_stopped(void);

#endif
