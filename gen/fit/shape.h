/* SPDX-License-Identifier: BSD-3-Clause */
/* Shape of a distribution: its values, shifted and scaled to mean 0 and variance 1, as the load model expects
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

/* Returns the skew with which the model's parametric form is nearest to the shape. *distance: largest
 * difference of the two distribution functions. */
double gen_fit_shape_skew(const struct gen_fit_shape *s, double *distance);

/* Returns the skew that fits the top hundredth of the values best. Considers only skews whose distance, as in
 * gen_fit_shape_skew, is at most `room` above the smallest distance. */
double gen_fit_shape_skew_of_tail(const struct gen_fit_shape *s, double room);

/* Returns the mean of the shape's top hundredth minus that of the model's form with this skew. The top
 * hundredth decides how long all ranks wait for the slowest one. */
double gen_fit_shape_excess(const struct gen_fit_shape *s, double skew);

/* Returns the largest difference between the shape's distribution function and that of the normal
 * distribution. */
double gen_fit_shape_distance_from_normal(const struct gen_fit_shape *s);

/* Writes the text of a table for the model. objects: number of independent values, at least 200. Each value of
 * the table is the mean over at least 5 objects. */
void gen_fit_shape_table(const struct gen_fit_shape *s, double objects, char *text, size_t size);

/* gen_fit_correlation_of_loads: correlation of two loads whose normal deviates have the correlation c >= 0.
 * gen_fit_correlation_behind: the inverse function. */
double gen_fit_correlation_of_loads(const struct model_load_tail *tail, double c);
double gen_fit_correlation_behind(const struct model_load_tail *tail, double of_loads);

/* Returns the correlation of a load with the normal deviate that it is computed from. */
double gen_fit_correlation_with_normal(const struct model_load_tail *tail);

/* Returns the probability that a normal deviate is below y. */
double gen_fit_normal_below(double y);

#endif
