/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics of streams of values, in bounded memory. */
#ifndef HPCW_TESTS_REALISM_STATS_H
#define HPCW_TESTS_REALISM_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is kept of a stream: at most this many values for quantiles. */
enum { STATS_KEPT = 1 << 15 };

/* A stream of values. Zeroed: empty. */
struct stats_values {
    uint64_t count;
    double sum;
    double min, max;
    double *kept;  /* a sample */
    size_t sorted; /* number of values when `kept` was sorted */
    uint64_t random;
};

void stats_add(struct stats_values *s, double value);
void stats_free(struct stats_values *s);

static inline double stats_mean(const struct stats_values *s) {
    return s->count == 0 ? 0 : s->sum / (double)s->count;
}
/* 0 .. 1; of the sample. 0 without values. */
double stats_quantile(struct stats_values *s, double share);

/* Pairs of values, for their correlation. Zeroed: none. */
struct stats_pairs {
    double n, x, y, xx, yy, xy; /* means and sums about them */
};
void stats_pair(struct stats_pairs *p, double x, double y);
/* 0 if one of them does not vary. */
double stats_correlation(const struct stats_pairs *p);

/* The median of value[count], whose order changes; 0 without values. None may be NaN. */
double stats_median(double *value, size_t count);
/* The median, and 1.4826 times the median distance from it: the standard deviation, if few values are far off. Changes
 * the values. */
void stats_robust(double *value, size_t count, double *median, double *sd);

/* Memory or the end of the program: a figure without it is none. */
void *stats_alloc(size_t count, size_t size);

#endif
