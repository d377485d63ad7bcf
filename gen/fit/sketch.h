/* SPDX-License-Identifier: BSD-3-Clause */
/* Distribution of a stream of values >= 0 in constant memory. It counts values in bins of equal width of the
 * logarithm, as DDSketch does (Masson, Rim, Lee, VLDB 2019). Every quantile is exact to 1 % for any
 * distribution. Sketches can be added. The order of the values does not matter. */
#ifndef HPCW_GEN_FIT_SKETCH_H
#define HPCW_GEN_FIT_SKETCH_H

#include <stdint.h>

/* The bins cover 17 decades from `least` on: nanoseconds to years, or bytes to exabytes. */
enum { GEN_FIT_BINS = 2048 };
#define GEN_FIT_BIN_WIDTH 0.02

struct gen_fit_sketch {
    double least; /* smaller values count as 0 */
    double count; /* number of values; a whole number, exact up to 2^53 */
    double zeros;
    double bin[GEN_FIT_BINS]; /* bin[i]: exp(i * width) <= value / least < exp((i + 1) * width) */
};

/* Returns NULL when memory runs out. Free with hpcw_i_free. */
struct gen_fit_sketch *gen_fit_sketch_new(double least);

void gen_fit_sketch_add(struct gen_fit_sketch *s, double value);

/* Adds the values of `from`, multiplied by a factor > 0. The values move by whole bins, so quantiles are then
 * exact to 2 %. */
void gen_fit_sketch_merge(struct gen_fit_sketch *s, const struct gen_fit_sketch *from, double factor);

/* Returns a quantile of the values, or 0 without values. */
double gen_fit_sketch_quantile(const struct gen_fit_sketch *s, double share);

/* Returns the largest difference of two distribution functions (Kolmogorov-Smirnov). Values less than a bin
 * apart count as equal; otherwise two nearly equal constants would have the distance 1. Returns 1 if a sketch
 * is empty. */
double gen_fit_sketch_distance(const struct gen_fit_sketch *a, const struct gen_fit_sketch *b);

/* Natural logarithm, bit-identical on every machine. */
double gen_fit_ln(double x);

#endif
