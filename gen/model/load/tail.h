/* SPDX-License-Identifier: BSD-3-Clause */
/* Distribution of ln(load) in a phase: a rising function of a normal deviate y. The function is a formula with
 * the parameter `skew`, or a table of values at evenly spaced y from -reach to reach. The formula gives mean 0
 * and variance 1; a table is used as it is. */
#ifndef HPCW_GEN_MODEL_LOAD_TAIL_H
#define HPCW_GEN_MODEL_LOAD_TAIL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

enum { MODEL_LOAD_KNOTS = 33 };

struct model_load_tail {
    double skew, mean, scale;
    uint32_t knots; /* number of values of the table; 0: the formula is used */
    double reach;
    double knot[MODEL_LOAD_KNOTS];
};

/* Parses `table`: "none", or whole numbers separated by blanks. The first is the reach in hundredths. Then
 * follow 3 to MODEL_LOAD_KNOTS values, an odd number of them, in hundredths of the standard deviation. No value
 * may be below the previous one. HPCW_EINVAL: another text; the message calls it `key`. */
hpcw_status model_load_tail_init(struct model_load_tail *t, double skew, const char *key, const char *table,
                                 hpcw_error *err);

/* Mean of exp(sigma * model_load_bend(y)) over the normal deviate y. */
double model_load_mean_of_exp(const struct model_load_tail *t, double sigma);

/* Interpolates the table linearly. Outside of the table, the line continues with its slope, but at most with
 * slope 1, that of a log-normal load: a steep gap between two kinds of objects must not continue. */
double model_load_bend_by_table(const struct model_load_tail *t, double y);

/* Evaluates the formula. Its slope is 1 - skew far to the left and 1 + skew to the right. Beyond a knee the
 * slope falls to 0, so that no load is extremely large. */
static inline double model_load_bend_by_form(const struct model_load_tail *t, double y) {
    const double knee = 1.3, room = 0.9;
    const double over = y > knee ? y - knee : 0;
    y = (y < knee ? y : knee) + over / (1 + over / room);
    return (y + t->skew * sqrt(1 + y * y) - t->mean) * t->scale;
}

static inline double model_load_bend(const struct model_load_tail *t, double y) {
    return t->knots > 0 ? model_load_bend_by_table(t, y) : model_load_bend_by_form(t, y);
}

#endif
