/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares two sweeps. What is compared is the rate of a point over that of its ceiling, both without what all ceilings of the
 * repetition have in common: it does not change when the whole machine is busier or faster. Few hypotheses come first: one for
 * each layout, over all its points; then the single points. What plain writes reach is said apart from both.
 */
#ifndef HPCW_BENCH_REPORT_COMPARE_H
#define HPCW_BENCH_REPORT_COMPARE_H

#include "bench/report/results.h"

/* A false alarm is as probable as this, for all layouts together, and again for all points together. */
#define BENCH_COMPARE_LEVEL 0.01

/* Smaller changes are not called a difference. */
#define BENCH_COMPARE_LEAST 0.05

/*
 * Factor by which plain writes may change between two sweeps that are compared. A layout that waits for the processor does
 * not follow a disk that becomes slower, so its ratio to the ceiling rises by up to the factor by which the ceilings fell:
 * that is no better layout. Up to this factor, a change of a layout counts if it is larger than a shown one of plain writes;
 * beyond it, nothing is claimed.
 */
#define BENCH_COMPARE_MACHINE 2.0

/* A change of ratios or rates, b compared with a: 0.1 is 10 % faster. */
struct bench_change {
    double change;
    double low, high; /* its interval */
    double seen;      /* changes of this size are found nine times out of ten; infinite: none is */
};

/* A point that counts in both. */
struct bench_pair {
    const struct bench_point *a, *b;
    double ratio_a, ratio_b; /* medians: rate / rate of the ceiling */
    struct bench_change change;
    bool other_size; /* bytes, ranks, records or files differ */
};

/* All points of a layout. */
struct bench_group {
    enum bench_layout layout;
    size_t points;
    struct bench_change change;
};

struct bench_comparison {
    struct bench_pair *pair;
    size_t pairs;
    struct bench_group group[BENCH_LAYOUTS];
    size_t groups;
    struct bench_change plain; /* of the ceilings' rates */
    bool
        machine_changed; /* by more than BENCH_COMPARE_MACHINE: the changes of layouts and points mean nothing */
    char verdict[1024];
};

/* Compares; both must outlive the result. HPCW_ENOMEM. Free in either case. */
hpcw_status bench_compare(const struct bench_results *a, const struct bench_results *b,
                          struct bench_comparison *comparison, hpcw_error *err);
void bench_comparison_free(struct bench_comparison *comparison);

/* "faster", "slower" or "no difference shown": b compared with a. Of plain writes, and of a layout or a point, for which it is
 * "no difference shown", too, where the change of plain writes may be the reason. */
const char *bench_change_verdict(const struct bench_change *change);
const char *bench_layout_verdict(const struct bench_comparison *comparison, const struct bench_change *change);

/* Reads both files, prints differences between the machines, tables and the verdict; `json`: the same as JSON. */
hpcw_status bench_compare_command(const char *path_a, const char *path_b, bool json, bool quiet,
                                  hpcw_error *err);

#endif
