/* SPDX-License-Identifier: BSD-3-Clause */
/* Repeated, paired runs. The timer calls the functions of a subject and reads the clock. It does not know what
 * it measures, and the subject does not know the clock.
 *
 * A *subject* is a piece of work that can be done in several ways, its *sides*: our library, or a loop of plain
 * writes. A run of a side has a few *phases* (open, write, close). A repetition runs every side once, so the sides
 * run close together and under the same disturbances. Each repetition begins with another side. Every sample is
 * kept as measured. */
#ifndef HPCW_BENCH_MEASURE_TIMER_H
#define HPCW_BENCH_MEASURE_TIMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "bench/measure/processes.h"

struct hpcw_i_words;

enum { BENCH_PHASES = 4, BENCH_QUARTILES = 3, BENCH_SIDES = 12 };

/* A phase of a run. All phases are called, even after a failure, since other processes may wait in theirs. */
struct bench_phase {
    const char *name; /* "open"; NULL: no more phases */
    hpcw_status (*run)(void *work, hpcw_error *err);
    /* the time of the phase counts in no figure */
    bool untimed;
    /* the processes wait for each other before the phase; the wait is not timed */
    bool together;
};

/* One way of doing the work. */
struct bench_side {
    const char *name;
    const char *what;
    uint64_t parameter; /* argument of `prepare`, so that sides can share functions */
    hpcw_status (*prepare)(void *work, uint64_t parameter,
                           hpcw_error *err); /* called before each run, not timed */
    struct bench_phase phase[BENCH_PHASES];
    /* peak memory in bytes, if another process does the work; NULL: this process does it */
    uint64_t (*peak)(const void *work);
    /* bytes of the output; NULL: as many as of the input */
    uint64_t (*size)(const void *work);
};

struct bench_subject {
    const struct bench_side *side; /* [sides] */
    size_t sides;
    /* Checks that all sides did the same work. Called after the warm-up, when the files of all sides exist.
     * NULL: nothing to compare. */
    hpcw_status (*check)(void *work, hpcw_error *err);
};

/* One run of one side. Times are those of the slowest process, memory that of the largest. */
struct bench_sample {
    /* time of all timed phases; at most the sum of `phase_ns` */
    uint64_t total_ns;
    uint64_t phase_ns[BENCH_PHASES];
    /* processor time of all threads of all processes, untimed phases included */
    uint64_t cpu_ns[BENCH_PHASES];
    uint64_t first_ns[BENCH_PHASES];                     /* time of the fastest process */
    uint64_t quartile_ns[BENCH_PHASES][BENCH_QUARTILES]; /* quartiles over all processes */
    int slowest;                                         /* the process with the largest total */
    /* time from the common start until the last process has ended the phase */
    uint64_t reached_ns[BENCH_PHASES];
    uint64_t peak_bytes; /* largest resident memory during the run */
    uint64_t size_bytes; /* bytes of the output; 0: as many as of the input */
    /* processors that other programs kept busy during the run; NaN: unknown */
    double others;
};

struct bench_samples {
    size_t runs;                              /* runs of each side, without the warm-up */
    struct bench_sample *sample[BENCH_SIDES]; /* [runs] */
};

/* Collective over `processes`. Runs one repetition to warm up, then `runs` that count. The samples are the same
 * on all processes. Stops at the first failure of any process, or when one of them receives a signal. */
hpcw_status bench_timer_measure(const struct bench_subject *subject, void *work,
                                const struct bench_processes *processes, size_t runs,
                                struct bench_samples *samples, hpcw_error *err);

void bench_samples_free(struct bench_samples *samples);

/* Collective. Runs one side once, for callers that choose the order of runs. The sample is the same on all
 * processes. */
hpcw_status bench_timer_run(const struct bench_side *side, void *work, const struct bench_processes *processes,
                            struct bench_sample *sample, hpcw_error *err);

/* Combines the results of two calls that were both made. Returns the status of the first failure, and its
 * message in *err. `e` has the message of the second call. */
hpcw_status bench_first_failure(hpcw_status first, hpcw_status now, hpcw_error *err, const hpcw_error *e);

/* Nanoseconds of a monotonic clock. */
uint64_t bench_timer_now(void);

/* Collective. Waits until all processes have called it and had their share of processor time. Returns on all
 * processes at about the same time. Fails if MPI does. */
hpcw_status bench_timer_settle(const struct bench_processes *processes, hpcw_error *err);

/* Collective. Agrees on one status for all processes, as hpcw_i_agree. HPCW_ESTATE: one of them received a
 * signal. */
hpcw_status bench_timer_agree(const struct bench_processes *processes, hpcw_status s,
                              struct hpcw_i_words *words, hpcw_error *err);

/* From now on, SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 and SIGXCPU end the measurement at its next step. */
void bench_timer_catch_signals(void);

/* Returns the signal that was received, or 0. */
int bench_timer_stopped(void);

#endif
