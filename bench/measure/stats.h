/* SPDX-License-Identifier: BSD-3-Clause */
/* What repeated measurements say. Figures for reports, never for bytes of a dataset. */
#ifndef HPCW_BENCH_MEASURE_STATS_H
#define HPCW_BENCH_MEASURE_STATS_H

#include <stddef.h>

#include <hpcw/status.h>

struct bench_stats {
    size_t count;
    double min, max;
    double mean; /* compensated sum: no loss over millions of samples */
    double sd;   /* of a sample, divisor n - 1; 0 for one value */
    double median;
    double q25, q75;
    double mad; /* median distance from the median, not scaled: times 1.4826 it estimates a normal's sd */
    /*
     * Confidence interval of the median, from order statistics: two of the measured values, no assumption about
     * the distribution. `ci_coverage` is the probability that it holds the true median: at least the one asked
     * for if the count allows it (95 % takes 6 values), else that of the widest interval, min to max.
     */
    double ci_low, ci_high;
    double ci_coverage;
};

/*
 * All figures of x[0 .. n-1], any order, not changed. `level` is the desired coverage of the interval, 0 < level
 * < 1, commonly 0.95. HPCW_EINVAL (n is 0, a value is not finite, a level outside), HPCW_ENOMEM.
 */
HPCW_MUST_CHECK hpcw_status bench_stats_of(const double *x, size_t n, double level, struct bench_stats *stats,
                                           hpcw_error *err);

/*
 * The quantile q, 0 <= q <= 1, of ascending values, n > 0: linear between the two order statistics around
 * q * (n - 1) (type 7 of Hyndman and Fan, the default of R and NumPy). q = 0.5 is the median.
 */
double bench_stats_quantile(const double *sorted, size_t n, double q);

/*
 * Ranks of the interval of the median for n values: x[*low] to x[*high] of the ascending values, symmetric, the
 * narrowest of at least `level`. Returns its coverage, that of *low = 0, *high = n-1 where no interval reaches
 * the level. Exact up to 1000 values, by the normal approximation beyond.
 */
double bench_stats_median_ranks(size_t n, double level, size_t *low, size_t *high);

/*
 * The mean without the lowest and the highest fifth, in *variance that of this mean (Yuen), with *df degrees of freedom: a
 * run that other programs held up moves neither far. 0 and 0 for fewer than two values. HPCW_ENOMEM, and HPCW_EINVAL as
 * above.
 */
HPCW_MUST_CHECK hpcw_status bench_stats_trimmed(const double *x, size_t n, double *mean, double *variance,
                                                size_t *df, hpcw_error *err);

/* The value that Student's t with `df` degrees of freedom passes with the probability `tail`, 0 < tail <= 0.5; infinite for
 * df = 0. */
double bench_stats_student(size_t df, double tail);

#endif
