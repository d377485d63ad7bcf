/* SPDX-License-Identifier: BSD-3-Clause */
/* Shape of a distribution: its values are shifted and scaled to mean 0 and variance 1, as the load model expects
 * (gen/model/load/tail.h). */
#ifndef HPCW_GEN_FIT_SHAPE_H
#define HPCW_GEN_FIT_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "gen/model/load/tail.h"

/* Values are counted in cells of width 0.01. The outermost cells also count values beyond -20 and 20. */
enum { GEN_FIT_CELLS = 4000 };

struct gen_fit_shape {
    double count;
    double cell[GEN_FIT_CELLS];
};

/* Adds `count` values that are uniform between low and high. */
void gen_fit_shape_add(struct gen_fit_shape *s, double low, double high, double count);

/* Returns the skew of the model's form nearest to the shape. *distance: largest difference of the distribution
 * functions. */
double gen_fit_shape_skew(const struct gen_fit_shape *s, double *distance);

/* Returns the skew that fits the top hundredth of the values best. Only skews whose distance is at most `room`
 * above the least one are considered. */
double gen_fit_shape_skew_of_tail(const struct gen_fit_shape *s, double room);

/* Returns how much the mean of the top hundredth exceeds that of the model's form with this skew. This decides
 * how long all ranks wait for the slowest one. */
double gen_fit_shape_excess(const struct gen_fit_shape *s, double skew);

/* Returns the largest difference from the normal distribution function. */
double gen_fit_shape_distance_from_normal(const struct gen_fit_shape *s);

/* Writes the text of a table for the model, from at least 200 objects. `objects` is the number of values over
 * the number of their phases, so one object has at most the share 1 / objects. Each value of the table is the
 * mean over at least 5 objects. */
void gen_fit_shape_table(const struct gen_fit_shape *s, double objects, char *text, size_t size);

/* Returns the correlation of two loads whose normal deviates have the correlation c >= 0; and the inverse. */
double gen_fit_correlation_of_loads(const struct model_load_tail *tail, double c);
double gen_fit_correlation_behind(const struct model_load_tail *tail, double of_loads);

/* Returns the correlation of a load with its normal deviate. */
double gen_fit_correlation_with_normal(const struct model_load_tail *tail);

/* Returns the probability that a normal deviate is below y. */
double gen_fit_normal_below(double y);

#endif
