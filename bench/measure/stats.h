/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics of repeated measurements. They are for reports, never for bytes of a dataset. */
#ifndef HPCW_BENCH_MEASURE_STATS_H
#define HPCW_BENCH_MEASURE_STATS_H

#include <stddef.h>

#include <hpcw/status.h>

struct bench_stats {
    size_t count;
    double min, max;
    double mean; /* compensated sum: no loss over millions of samples */
    double sd;   /* standard deviation of a sample, divisor n - 1; 0 for one value */
    double median;
    double q25, q75;
    /* median absolute deviation, not scaled; for normal data, 1.4826 * mad estimates the standard deviation */
    double mad;
    /* Confidence interval of the median from order statistics: its ends are two of the values, and no
     * distribution is assumed. ci_coverage: probability that the interval contains the true median. The
     * probability is at least the requested level if there are enough values (95 % takes 6). With fewer values,
     * the interval is min to max. */
    double ci_low, ci_high;
    double ci_coverage;
};

/* Computes all figures of x[0 .. n-1], which may be in any order and is not changed. level: wanted coverage of
 * the interval, 0 < level < 1, usually 0.95. HPCW_EINVAL: n is 0, a value is not finite, or the level is out of
 * range. HPCW_ENOMEM. */
HPCW_MUST_CHECK hpcw_status bench_stats_of(const double *x, size_t n, double level, struct bench_stats *stats,
                                           hpcw_error *err);

/* Returns the quantile q, 0 <= q <= 1, of n > 0 ascending values. It interpolates linearly between the two order
 * statistics around q * (n - 1) (type 7 of Hyndman and Fan, the default of R and NumPy). q = 0.5 is the median. */
double bench_stats_quantile(const double *sorted, size_t n, double q);

/* Computes the confidence interval of the median of n values: x[*low] to x[*high] of the ascending values. The
 * interval is symmetric, and the narrowest with a coverage of at least `level`. Returns the coverage. If no
 * interval reaches the level, *low is 0 and *high is n - 1. */
double bench_stats_median_ranks(size_t n, double level, size_t *low, size_t *high);

/* Computes the mean without the lowest and highest fifth of the values. *variance: variance of this mean (Yuen),
 * with *df degrees of freedom. A single run that other programs delayed changes mean and variance little. For fewer
 * than two values, *variance and *df are 0. HPCW_ENOMEM. HPCW_EINVAL: n is 0. */
HPCW_MUST_CHECK hpcw_status bench_stats_trimmed(const double *x, size_t n, double *mean, double *variance,
                                                size_t *df, hpcw_error *err);

/* Returns the value that Student's t with `df` degrees of freedom exceeds with the probability `tail`, 0 < tail
 * <= 0.5. Returns infinity for df = 0. */
double bench_stats_student(size_t df, double tail);

#endif
