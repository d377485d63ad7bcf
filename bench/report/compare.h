/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares two sweeps. The figure of a point is its rate over that of its ceiling, both without the part that all
 * ceilings of a repetition share. This figure does not change when the whole machine is busier or faster. First
 * each layout is compared over all its points, which are few tests; then each point. Plain writes are compared on
 * their own.
 */
#ifndef HPCW_BENCH_REPORT_COMPARE_H
#define HPCW_BENCH_REPORT_COMPARE_H

#include "bench/report/results.h"

/* Probability of a false alarm, for all layouts together, and again for all points together. */
#define BENCH_COMPARE_LEVEL 0.01

/* An interval from which only larger changes would be seen says nothing, and is not given. 1 is a factor of two. */
#define BENCH_COMPARE_MOST 1.0

/* The smallest change that is called a difference. 0.05 is 5 %. */
#define BENCH_COMPARE_LEAST 0.05

/*
 * Factor by which plain writes may change between two sweeps that are compared. If the disk becomes slower, a
 * layout that waits for the processor does not. Its ratio to the ceiling then rises by up to the factor by which
 * the ceilings fell, although the layout is no better. Up to this factor, a change of a layout counts if it is
 * larger than a change of plain writes that is shown. Beyond it, nothing is claimed.
 */
#define BENCH_COMPARE_MACHINE 2.0

/* A change of ratios or rates, b compared with a: 0.1 is 10 % faster. */
struct bench_change {
    double change;
    double low,
        high;    /* its interval; infinite: none that says anything, as it spans more than a factor of two */
    double seen; /* size of a change that is found nine times out of ten; infinite: no size */
};

/* A point that counts in both. */
struct bench_pair {
    const struct bench_point *a, *b;
    double first, second;       /* rate / rate of the ceiling, both without what all ceilings share */
    struct bench_change change; /* of the first to the second */
    bool other_size;            /* bytes, ranks, records or files differ */
};

/* All points of a layout. */
struct bench_group {
    enum bench_layout layout;
    size_t points;
    double first, second; /* geometric means over the points */
    struct bench_change change;
};

struct bench_comparison {
    struct bench_pair *pair;
    size_t pairs;
    struct bench_group group[BENCH_LAYOUTS];
    size_t groups;
    double plain_first, plain_second; /* rates of the ceilings, bytes per second */
    struct bench_change plain;        /* change of these rates */
    bool
        machine_changed; /* by more than BENCH_COMPARE_MACHINE: the changes of layouts and points mean nothing */
    size_t runs;         /* fewest runs of a point */
    bool few;            /* more points of the same scatter would give the layouts an interval */
    double larger_budget; /* minutes, if the budget left points out; 0: it did not */
    char verdict[1024];
};

/* Compares; both must outlive the result. HPCW_ENOMEM. Free in either case. */
hpcw_status bench_compare(const struct bench_results *a, const struct bench_results *b,
                          struct bench_comparison *comparison, hpcw_error *err);
void bench_comparison_free(struct bench_comparison *comparison);

/* Return "faster", "slower" or "no difference shown" for b compared with a. The first function is for plain writes.
 * The second is for layouts and points: it also returns "no difference shown" where the change of plain writes may
 * be the reason. */
const char *bench_change_verdict(const struct bench_change *change);
const char *bench_layout_verdict(const struct bench_comparison *comparison, const struct bench_change *change);

/* Reads both files, prints differences between the machines, tables and the verdict; `json`: the same as JSON. */
hpcw_status bench_compare_command(const char *path_a, const char *path_b, bool json, bool quiet,
                                  hpcw_error *err);

#endif
