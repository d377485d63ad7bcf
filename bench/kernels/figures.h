/* SPDX-License-Identifier: BSD-3-Clause */
/* F6: which comparisons of samples count. Kernels name them, reports compute them; neither knows the other. */
#ifndef HPCW_BENCH_KERNELS_FIGURES_H
#define HPCW_BENCH_KERNELS_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/measure/timer.h"

/* How much work one run is. */
struct bench_amount {
    uint64_t bytes; /* written by all processes together; 0: a rate says nothing */
    uint64_t items; /* that one processor handles: records, timings */
};

enum bench_figure_kind {
    BENCH_RATIO,    /* of / against */
    BENCH_SECONDS,  /* of */
    BENCH_PER_ITEM, /* of, nanoseconds per item */
    BENCH_MEMORY,   /* of.side - less.side, peak bytes */
    BENCH_SIZES,    /* of.side / against.side, bytes of what came out */
    BENCH_RATE,     /* bench_amount.bytes / of, bytes per second; the one kind of which more is better */
};

/* A time of one sample. */
struct bench_time {
    unsigned side;  /* index from 1, 0: none */
    unsigned phase; /* index from 1, 0: all timed phases */
};

struct bench_figure {
    const char *name;
    enum bench_figure_kind kind;
    struct bench_time of, less;              /* of - less */
    struct bench_time against, against_less; /* BENCH_RATIO: against - against_less */
    double reach;                            /* at most, BENCH_RATE: at least; 0: nothing is asked for */
    bool or_spread;                          /* BENCH_RATIO: or no worse than `against` itself varies */
};

/* The figure of repetition `run`. */
double bench_figure_of(const struct bench_figure *f, const struct bench_samples *samples,
                       const struct bench_amount *amount, size_t run);

#endif
