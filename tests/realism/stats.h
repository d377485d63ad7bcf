/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics of streams of values, in bounded memory. */
#ifndef HPCW_TESTS_REALISM_STATS_H
#define HPCW_TESTS_REALISM_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libwriter/base/table.h"

/* What is kept of a stream: at most this many values for quantiles, and this many different ones. */
enum { STATS_KEPT = 1 << 15 };

/* A stream of values. Zeroed: empty. */
struct stats_values {
    uint64_t count;
    double sum;
    double min, max;
    struct hpcw_i_table seen; /* value in units -> how often; the first STATS_KEPT different ones */
    uint64_t most;            /* how often the most frequent one occurs */
    double *kept;             /* a sample */
    size_t sorted;            /* number of values when `kept` was sorted */
    uint64_t random;
};

void stats_add(struct stats_values *s, double value);
/* Counts how many different values there are: those that differ by less than a unit are the same. */
void stats_distinguish(struct stats_values *s, double value, double unit);
void stats_free(struct stats_values *s);

static inline double stats_mean(const struct stats_values *s) {
    return s->count == 0 ? 0 : s->sum / (double)s->count;
}
/* 0 .. 1; of the sample. 0 without values. */
double stats_quantile(struct stats_values *s, double share);
/* Different values, at most STATS_KEPT; share of the most frequent one. */
size_t stats_distinct(const struct stats_values *s);
double stats_mode(const struct stats_values *s);

/* Pairs of values, for their correlation. Zeroed: none. */
struct stats_pairs {
    double n, x, y, xx, yy, xy; /* means and sums about them */
};
void stats_pair(struct stats_pairs *p, double x, double y);
/* 0 if one of them does not vary. */
double stats_correlation(const struct stats_pairs *p);

/* The median of value[count], whose order changes; 0 without values. None may be NaN. */
double stats_median(double *value, size_t count);
/* The median, and 1.4826 times the median distance from it: the standard deviation, if few values are far off. Changes the values. */
void stats_robust(double *value, size_t count, double *median, double *sd);

/* Memory or the end of the program: a figure without it is none. */
void *stats_alloc(size_t count, size_t size);

#endif
