/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares two sweeps. A point is a layout with one mode and one set of sizes. Its figure is its rate / the rate
 * of its ceiling (plain large writes of the same bytes). Both rates are first divided by a factor that is common to
 * all ceilings of a repetition. So the figure does not change when the whole machine is busier or faster. There are
 * tests for each layout over all its points, for each point, and for the plain writes alone.
 */
#ifndef HPCW_BENCH_REPORT_COMPARE_H
#define HPCW_BENCH_REPORT_COMPARE_H

#include "bench/report/results.h"

/* Probability of a false alarm in all tests of layouts together, and also in all tests of points together. */
#define BENCH_COMPARE_LEVEL 0.01

/* If bench_change.seen is above this limit, no interval is given. 1 is a factor of two. */
#define BENCH_COMPARE_MOST 1.0

/* The smallest change that is called a difference. 0.05 is 5 %. */
#define BENCH_COMPARE_LEAST 0.05

/*
 * Largest factor by which plain writes may change between two sweeps. If the disk becomes slower, a layout that
 * waits for the processor keeps its rate. Its ratio to the ceiling then rises by up to the factor by which the
 * ceilings fell, although the layout is no better. Below the limit, a change of a layout is reported only if it is
 * larger than a shown change of plain writes. Above the limit, no change is reported.
 */
#define BENCH_COMPARE_MACHINE 2.0

/* A change of ratios or rates, b compared with a: 0.1 is 10 % faster. */
struct bench_change {
    double change;
    double low, high; /* confidence interval of the change; infinite: wider than BENCH_COMPARE_MOST allows */
    double seen;      /* smallest change that is found with probability 0.9; infinite: unknown */
};

/* A point that both sweeps have measured in large enough runs. */
struct bench_pair {
    const struct bench_point *a, *b;
    /* rate / rate of the ceiling; the speed of the machine in each repetition is divided out */
    double first, second;
    struct bench_change change; /* change from the first to the second sweep */
    bool other_size;            /* the runs of both sweeps differ in bytes, ranks, records or files */
};

/* All points of a layout. */
struct bench_group {
    enum bench_layout layout;
    size_t points;
    double first, second; /* geometric mean of bench_pair.first, of bench_pair.second */
    struct bench_change change;
};

struct bench_comparison {
    struct bench_pair *pair;
    size_t pairs;
    struct bench_group group[BENCH_LAYOUTS];
    size_t groups;
    double plain_first, plain_second; /* rates of the ceilings, bytes per second */
    struct bench_change plain;        /* change of these rates */
    /* plain writes changed by more than BENCH_COMPARE_MACHINE; changes of layouts mean nothing */
    bool machine_changed;
    size_t runs;          /* number of runs of the point with the fewest runs */
    bool few;             /* the change of a layout has no interval only because there are too few points */
    double larger_budget; /* budget to use if the budget left points out, minutes; 0: it left none out */
    char verdict[1024];
};

/* Compares two sweeps. Both must outlive `comparison`. HPCW_ENOMEM. Call bench_comparison_free also after a
 * failure. */
hpcw_status bench_compare(const struct bench_results *a, const struct bench_results *b,
                          struct bench_comparison *comparison, hpcw_error *err);
void bench_comparison_free(struct bench_comparison *comparison);

/* Returns whether the rate of a point includes fsync. */
bool bench_compare_durable(const struct bench_point *point);

/* Returns why a point of `r` is not compared with the other sweep, or NULL. */
const char *bench_compare_alone(const struct bench_results *r, const struct bench_point *point,
                                const struct bench_results *other);

/* Return "faster", "slower" or "no difference shown" for b compared with a. bench_change_verdict is for plain
 * writes. bench_layout_verdict is for layouts and points: it also returns "no difference shown" where the
 * change of plain writes may be the reason. */
const char *bench_change_verdict(const struct bench_change *change);
const char *bench_layout_verdict(const struct bench_comparison *comparison, const struct bench_change *change);

/* Reads both files. Prints the differences between the machines, tables and the verdict. json: prints JSON
 * instead. */
hpcw_status bench_compare_command(const char *path_a, const char *path_b, bool json, bool quiet,
                                  hpcw_error *err);

#endif
