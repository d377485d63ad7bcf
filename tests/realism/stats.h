/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics of streams of values in bounded memory. */
#ifndef HPCW_TESTS_REALISM_STATS_H
#define HPCW_TESTS_REALISM_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most values kept for quantiles of a stream. */
enum { STATS_KEPT = 1 << 15 };

/* A stream of values. A zeroed struct is empty. */
struct stats_values {
    uint64_t count;
    double sum;
    double min, max;
    double *kept;  /* a sample */
    size_t sorted; /* number of values when `kept` was last sorted */
    uint64_t random;
};

void stats_add(struct stats_values *s, double value);
void stats_free(struct stats_values *s);

static inline double stats_mean(const struct stats_values *s) {
    return s->count == 0 ? 0 : s->sum / (double)s->count;
}
/* Returns a quantile of the sample, share 0 .. 1; 0 without values. */
double stats_quantile(struct stats_values *s, double share);

/* Pairs of values, for their correlation. A zeroed struct is empty. */
struct stats_pairs {
    double n, x, y, xx, yy, xy; /* number; means of x and y; sums of products of deviations from the means */
};
void stats_pair(struct stats_pairs *p, double x, double y);
/* Returns the correlation of the pairs; 0 if one of the two values never varies. */
double stats_correlation(const struct stats_pairs *p);

/* Returns the median of value[count]; 0 without values. Reorders the values. NaN is not allowed. */
double stats_median(double *value, size_t count);
/* Computes the median, and 1.4826 times the median absolute deviation. With few outliers, this is the standard
 * deviation. Changes the values. */
void stats_robust(double *value, size_t count, double *median, double *sd);

/* Allocates, or ends the program, since no figure can be computed without memory. */
void *stats_alloc(size_t count, size_t size);

#endif
