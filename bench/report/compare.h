/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares two sweeps, point by point. */
#ifndef HPCW_BENCH_REPORT_COMPARE_H
#define HPCW_BENCH_REPORT_COMPARE_H

#include "bench/report/results.h"

#define BENCH_COMPARE_LEVEL 0.05

/* A point that both have and measured. */
struct bench_pair {
    const struct bench_point *a, *b;
    double median_a, median_b; /* bytes per second; durable, of mode buffered into the page cache */
    double change;             /* of the median, share of a's */
    double p;                  /* two-sided, Mann-Whitney U over the trials */
    double corrected;          /* for the number of pairs, Holm */
    bool other_size;           /* bytes, ranks, records or files differ */
};

struct bench_comparison {
    struct bench_pair *pair;
    size_t pairs;
    double
        least; /* the least corrected p that any figures could give; above the level there are too few trials */
};

/* Compares; both must outlive the result. HPCW_ENOMEM. Free in either case. */
hpcw_status bench_compare(const struct bench_results *a, const struct bench_results *b,
                          struct bench_comparison *comparison, hpcw_error *err);
void bench_comparison_free(struct bench_comparison *comparison);

/* "faster", "slower" or "no difference shown": b compared with a. */
const char *bench_pair_verdict(const struct bench_pair *pair);

/* Reads both files, prints differences between the machines and a table; `json`: the same as JSON. */
hpcw_status bench_compare_command(const char *path_a, const char *path_b, bool json, bool quiet,
                                  hpcw_error *err);

#endif
