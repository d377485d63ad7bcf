/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/measure/timer.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "bench/measure/machine.h"
#include "bench/measure/stats.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/comm.h"

static volatile sig_atomic_t stopped;

static void stop(int number) {
    stopped = number;
}

void bench_timer_catch_signals(void) {
    struct sigaction action = {.sa_handler = stop};
    (void)sigemptyset(&action.sa_mask);
    /* Signals of users and of the system, and those that batch systems send before they kill a job. */
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
        (void)sigaction(ending[i], &action, NULL);
    }
}

int bench_timer_stopped(void) {
    return (int)stopped;
}

hpcw_status bench_first_failure(hpcw_status first, hpcw_status now, hpcw_error *err, const hpcw_error *e) {
    if (first == HPCW_OK && now != HPCW_OK) {
        *err = *e;
    }
    return first == HPCW_OK ? now : first;
}

static uint64_t clock_ns(clockid_t clock) {
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

uint64_t bench_timer_now(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

hpcw_status bench_timer_settle(const struct bench_processes *p, hpcw_error *err) {
    /* If processes share processors, the scheduler delays a process that has used more than its share. During many
     * short waits, it gives the others their share before the clock starts. If other programs are busy, a wait may
     * take some ms, and a hundred waits more time than the runs. So the waits end after 50 ms. */
    const uint64_t enough_ns = 50000000;
    uint64_t begin = 0, over = 0;
    struct hpcw_i_words words = {.sums = 1, .word = &over};
    hpcw_status s = HPCW_OK;
    for (int i = 0; s == HPCW_OK && over == 0 && i < (p->count == 1 ? 0 : p->crowded ? 100 : 1); i++) {
        over = i > 0 && bench_timer_now() - begin > enough_ns;
        s = hpcw_i_comm_allreduce(p->comm, &words, err); /* of all processes */
        begin = i == 0 ? bench_timer_now() : begin;      /* all processes have called it */
    }
    return s;
}

/* Processor time of all threads of this process. */
static uint64_t cpu_now(void) {
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

hpcw_status bench_timer_agree(const struct bench_processes *processes, hpcw_status s,
                              struct hpcw_i_words *words, hpcw_error *err) {
    if (s == HPCW_OK && stopped != 0) {
        s = hpcw_i_fail(err, HPCW_ESTATE, "stopped by signal %d", (int)stopped);
    }
    return hpcw_i_agree(processes->comm, s, words, err);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Collective. Computes how the times of the phases and their total are distributed over the processes. */
static hpcw_status spread(const struct bench_processes *processes, const uint64_t mine[BENCH_PHASES + 1],
                          struct bench_sample *sample, hpcw_error *err) {
    enum { EACH = BENCH_PHASES + 1 };
    const size_t n = (size_t)processes->count;
    uint64_t *all = hpcw_i_malloc(n * EACH * sizeof *all);
    double *x = hpcw_i_malloc(n * sizeof *x);
    hpcw_status s = all == NULL || x == NULL ? hpcw_i_fail_memory(err, NULL, n, "processes") : HPCW_OK;
    s = hpcw_i_agree(processes->comm, s, NULL, err);
    s = s == HPCW_OK ? hpcw_i_comm_allgather(processes->comm, mine, EACH * sizeof *mine, all, err) : s;
    for (size_t k = 0; s == HPCW_OK && k < BENCH_PHASES; k++) {
        for (size_t i = 0; i < n; i++) {
            x[i] = (double)all[i * EACH + k];
        }
        qsort(x, n, sizeof *x, by_size);
        for (int q = 0; q < BENCH_QUARTILES; q++) {
            sample->quartile_ns[k][q] = (uint64_t)bench_stats_quantile(x, n, 0.25 * (q + 1));
        }
    }
    sample->slowest = 0;
    for (size_t i = 1; s == HPCW_OK && i < n; i++) {
        sample->slowest = all[i * EACH + BENCH_PHASES] > all[(size_t)sample->slowest * EACH + BENCH_PHASES]
                              ? (int)i
                              : sample->slowest;
    }
    hpcw_i_free(all);
    hpcw_i_free(x);
    return s;
}

hpcw_status bench_timer_run(const struct bench_side *side, void *work, const struct bench_processes *processes,
                            struct bench_sample *sample, hpcw_error *err) {
    hpcw_status s = side->prepare == NULL ? HPCW_OK : side->prepare(work, side->parameter, err);
    s = bench_timer_agree(processes, s, NULL, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct bench_cpu before = bench_machine_cpu();
    bench_machine_reset_peak();
    /* Positions of the values that are reduced over processes. Sums: processor time of the process, bytes,
     * processor time of phases. Minima: times of phases. Maxima: total time, times of phases, ends of phases,
     * memory. */
    enum {
        TIME,
        SIZE,
        CPU,
        FIRST = CPU + BENCH_PHASES,
        TOTAL = FIRST + BENCH_PHASES,
        PHASE,
        REACHED = PHASE + BENCH_PHASES,
        PEAK = REACHED + BENCH_PHASES,
        WORDS
    };
    uint64_t word[WORDS] = {0};
    uint64_t *total = word + TOTAL;
    uint64_t *phase_ns = word + PHASE;
    uint64_t begin = 0;
    hpcw_error e;
    for (size_t k = 0; k < BENCH_PHASES && side->phase[k].name != NULL; k++) {
        const struct bench_phase *phase = &side->phase[k];
        if (k == 0 || phase->together) {
            s = bench_first_failure(s, bench_timer_settle(processes, &e), err, &e);
        }
        uint64_t cpu = cpu_now();
        uint64_t start = bench_timer_now();
        begin = k == 0 ? start : begin;
        hpcw_status r = phase->run(work, &e);
        uint64_t end = bench_timer_now();
        uint64_t spent = end - start;
        word[CPU + k] = cpu_now() - cpu;
        s = bench_first_failure(s, r, err, &e);
        if (!phase->untimed) {
            phase_ns[k] = word[FIRST + k] = spent;
            word[REACHED + k] = end - begin;
            *total += spent;
        }
    }
    /* Wait for all processes before the files of /proc are read: reading them would delay a process that is still
     * running on the same processor. */
    s = bench_first_failure(s, bench_timer_settle(processes, &e), err, &e);
    word[PEAK] = side->peak != NULL ? side->peak(work) : bench_machine_peak();
    struct bench_cpu after = bench_machine_cpu();
    word[SIZE] = side->size != NULL ? side->size(work) : 0;
    word[TIME] = after.own_us - before.own_us;
    uint64_t mine[BENCH_PHASES + 1];
    for (size_t k = 0; k < BENCH_PHASES; k++) {
        mine[k] = phase_ns[k];
    }
    mine[BENCH_PHASES] = *total;
    struct hpcw_i_words words = {.sums = FIRST, .mins = BENCH_PHASES, .maxs = WORDS - TOTAL, .word = word};
    s = bench_timer_agree(processes, s, &words, err);
    if (s != HPCW_OK) {
        return s;
    }
    sample->total_ns = *total;
    for (size_t k = 0; k < BENCH_PHASES; k++) {
        sample->phase_ns[k] = phase_ns[k];
        sample->cpu_ns[k] = word[CPU + k];
        sample->first_ns[k] = word[FIRST + k];
        sample->reached_ns[k] = word[REACHED + k];
    }
    sample->peak_bytes = word[PEAK];
    sample->size_bytes = word[SIZE];
    s = spread(processes, mine, sample, err);
    double elapsed_us = (double)(after.at_us - before.at_us);
    double others = ((double)(after.busy_us - before.busy_us) - (double)word[TIME]) / elapsed_us;
    sample->others = after.busy_us == 0 || elapsed_us <= 0 ? (double)NAN : others < 0 ? 0 : others;
    return s;
}

hpcw_status bench_timer_measure(const struct bench_subject *subject, void *work,
                                const struct bench_processes *processes, size_t runs,
                                struct bench_samples *samples, hpcw_error *err) {
    *samples = (struct bench_samples){.runs = runs};
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; i < subject->sides; i++) {
        samples->sample[i] = hpcw_i_calloc(runs, sizeof *samples->sample[i]);
        if (samples->sample[i] == NULL && s == HPCW_OK) {
            s = hpcw_i_fail_memory(err, NULL, runs, "samples");
        }
    }
    s = bench_timer_agree(processes, s, NULL, err);
    for (size_t r = 0; s == HPCW_OK && r <= runs; r++) {
        for (size_t i = 0; s == HPCW_OK && i < subject->sides; i++) {
            size_t side = (i + r) % subject->sides;
            struct bench_sample warm_up;
            s = bench_timer_run(&subject->side[side], work, processes,
                                r == 0 ? &warm_up : &samples->sample[side][r - 1], err);
        }
        if (s == HPCW_OK && r == 0 && subject->check != NULL) {
            s = bench_timer_agree(processes, subject->check(work, err), NULL, err);
        }
    }
    if (s != HPCW_OK) {
        bench_samples_free(samples);
    }
    return s;
}

void bench_samples_free(struct bench_samples *samples) {
    for (size_t i = 0; i < BENCH_SIDES; i++) {
        hpcw_i_free(samples->sample[i]);
    }
    *samples = (struct bench_samples){0};
}
