/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The distribution of a stream of values >= 0 in constant memory: counts in bins of equal width of the logarithm, as in
 * DDSketch (Masson, Rim, Lee, VLDB 2019). Any quantile is right to 1 %, whatever the distribution; sketches add up; the
 * order of the values does not show.
 */
#ifndef HPCW_GEN_FIT_SKETCH_H
#define HPCW_GEN_FIT_SKETCH_H

#include <stdint.h>

/* The bins cover 17 decimal orders from `least` on: nanoseconds to years, single bytes to exabytes. */
enum { GEN_FIT_BINS = 2048 };
#define GEN_FIT_BIN_WIDTH 0.02

struct gen_fit_sketch {
    double least; /* smaller values count as 0 */
    double count; /* sums of counts: exact to 2^53 */
    double zeros;
    double bin[GEN_FIT_BINS]; /* bin[i]: exp(i * width) <= value / least < exp((i + 1) * width) */
};

/* NULL when memory runs out. Free with hpcw_i_free. */
struct gen_fit_sketch *gen_fit_sketch_new(double least);

void gen_fit_sketch_add(struct gen_fit_sketch *s, double value);

/* Adds the values of `from`, times a factor > 0: moved by whole bins, so that quantiles are then right to 2 %. */
void gen_fit_sketch_merge(struct gen_fit_sketch *s, const struct gen_fit_sketch *from, double factor);

/* Of the values; 0 without any. */
double gen_fit_sketch_quantile(const struct gen_fit_sketch *s, double share);

/*
 * The largest difference of the two distribution functions (Kolmogorov and Smirnov), where values that differ by less than
 * a bin count as the same: otherwise two constants just beside each other would be as far apart as any. 1 if one of the
 * sketches is empty.
 */
double gen_fit_sketch_distance(const struct gen_fit_sketch *a, const struct gen_fit_sketch *b);

/* Natural logarithm with the same bits on every machine. */
double gen_fit_ln(double x);

#endif
