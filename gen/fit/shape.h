/* SPDX-License-Identifier: BSD-3-Clause */
/* The form of a distribution: of values that were shifted and scaled to mean 0 and variance 1, as the model of loads
 * wants it (gen/model/load/tail.h). */
#ifndef HPCW_GEN_FIT_SHAPE_H
#define HPCW_GEN_FIT_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "gen/model/load/tail.h"

/* Values are counted in cells of 0.01; those beyond -20 and 20 in the outermost ones. */
enum { GEN_FIT_CELLS = 4000 };

struct gen_fit_shape {
    double count;
    double cell[GEN_FIT_CELLS];
};

/* `count` values that lie evenly between low and high. */
void gen_fit_shape_add(struct gen_fit_shape *s, double low, double high, double count);

/* The skew of the model's form that is nearest to the shape, and the largest difference of the distribution functions. */
double gen_fit_shape_skew(const struct gen_fit_shape *s, double *distance);

/* The skew whose largest hundredth is the nearest to that of the shape, among those whose distance is at most `room` above the
 * least. */
double gen_fit_shape_skew_of_tail(const struct gen_fit_shape *s, double room);

/* By how much the mean of the largest hundredth of the values exceeds that of the model's form with this skew: what decides
 * how long all wait for the slowest. */
double gen_fit_shape_excess(const struct gen_fit_shape *s, double skew);

/* That from a normal distribution. */
double gen_fit_shape_distance_from_normal(const struct gen_fit_shape *s);

/* The text of a table for the model, of at least 200 objects. `objects` is the number of values over the number of phases
 * that they are from, so the largest share of them that one object can have is 1 / objects: each value of the table is the
 * mean of those of at least 5 objects. */
void gen_fit_shape_table(const struct gen_fit_shape *s, double objects, char *text, size_t size);

/* The correlation that two loads have whose normal deviations have the correlation c >= 0; and back. */
double gen_fit_correlation_of_loads(const struct model_load_tail *tail, double c);
double gen_fit_correlation_behind(const struct model_load_tail *tail, double of_loads);

/* The correlation of a load and its normal deviation. */
double gen_fit_correlation_with_normal(const struct model_load_tail *tail);

/* The probability that a normal deviation is below y. */
double gen_fit_normal_below(double y);

#endif
