/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/shape.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "gen/fit/pairs.h"
#include "libwriter/base/detmath.h"

#define CELL 0.01
#define LOWEST (-0.5 * CELL * GEN_FIT_CELLS)

/* Number of steps of the numeric integration over a normal deviate from -5 to 5. */
enum { STEPS = 80 };
static double y_of(int step) {
    return (step - 0.5 * STEPS) * (10.0 / STEPS);
}
static double density(double y) {
    return hpcw_i_exp(-0.5 * y * y);
}

double gen_fit_normal_below(double y) {
    enum { FINE = 200 };
    const double to = fmax(-6, fmin(6, y));
    const double step = to / FINE;
    double sum = 0; /* Simpson's rule from 0 to y */
    for (int i = 0; i <= FINE; i++) {
        const int weight = i == 0 || i == FINE ? 1 : i % 2 == 1 ? 4 : 2;
        sum += weight * density(i * step);
    }
    return 0.5 + 0.3989422804014327 * sum * step / 3;
}

void gen_fit_shape_add(struct gen_fit_shape *s, double low, double high, double count) {
    const double most = GEN_FIT_CELLS - 1;
    const double from = fmax(0, fmin(most, (low - LOWEST) / CELL));
    const double to = fmax(from, fmin(most, (high - LOWEST) / CELL));
    s->count += count;
    for (size_t i = (size_t)from; i <= (size_t)to; i++) {
        const double share = to > from ? (fmin(to, (double)i + 1) - fmax(from, (double)i)) / (to - from) : 1;
        s->cell[i] += count * share;
    }
}

/* Returns the largest difference between the distribution functions of the shape and of a variable tail(y), where y
 * is a normal deviate. tail = NULL: the variable is y. share: [STEPS + 1] probability that y is below each step. */
static double distance_from(const struct gen_fit_shape *s, const struct model_load_tail *tail,
                            const double share[STEPS + 1]) {
    double below = 0;
    double most = 0;
    size_t at = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double z = ((tail != NULL ? model_load_bend(tail, y_of(i)) : y_of(i)) - LOWEST) / CELL;
        for (; at < GEN_FIT_CELLS && (double)at + 1 <= z; at++) {
            below += s->cell[at];
        }
        const double part = at < GEN_FIT_CELLS ? s->cell[at] * fmax(0, z - (double)at) : 0;
        most = fmax(most, fabs((below + part) / s->count - share[i]));
    }
    return most;
}

static void normal_shares(double share[STEPS + 1]) {
    for (int i = 0; i <= STEPS; i++) {
        share[i] = gen_fit_normal_below(y_of(i));
    }
}

double gen_fit_shape_distance_from_normal(const struct gen_fit_shape *s) {
    double share[STEPS + 1];
    normal_shares(share);
    return distance_from(s, NULL, share);
}

enum { TRIED = 40 };

double gen_fit_shape_skew(const struct gen_fit_shape *s, double *distance) {
    double share[STEPS + 1];
    double best = 0;
    normal_shares(share);
    *distance = 2;
    for (int t = 0; t <= TRIED; t++) {
        struct model_load_tail tail;
        (void)model_load_tail_init(&tail, (double)t / TRIED, "", "none", NULL);
        const double of_this = distance_from(s, &tail, share);
        if (of_this < *distance) {
            *distance = of_this;
            best = (double)t / TRIED;
        }
    }
    return best;
}

/* Mean of the values between two quantiles, given as shares. */
static double mean_between(const struct gen_fit_shape *s, double from, double to) {
    double before = 0;
    double sum = 0;
    double weight = 0;
    for (size_t i = 0; i < GEN_FIT_CELLS && before < to * s->count; i++) {
        const double after = before + s->cell[i];
        const double inside = fmin(after, to * s->count) - fmax(before, from * s->count);
        if (inside > 0) {
            sum += inside * (LOWEST + ((double)i + 0.5) * CELL);
            weight += inside;
        }
        before = after;
    }
    return weight > 0 ? sum / weight : 0;
}

double gen_fit_shape_excess(const struct gen_fit_shape *s, double skew) {
    const double from = 2.326; /* a normal deviate exceeds it with probability 1/100 */
    struct model_load_tail tail;
    double sum = 0;
    double weights = 0;
    (void)model_load_tail_init(&tail, skew, "", "none", NULL);
    for (int i = 0; i < STEPS; i++) {
        const double y = from + (5 - from) * (i + 0.5) / STEPS;
        sum += density(y) * model_load_bend(&tail, y);
        weights += density(y);
    }
    return mean_between(s, 0.99, 1) - sum / weights;
}

double gen_fit_shape_skew_of_tail(const struct gen_fit_shape *s, double room) {
    double share[STEPS + 1];
    double distance;
    double best = gen_fit_shape_skew(s, &distance);
    normal_shares(share);
    for (int t = 0; t <= TRIED; t++) {
        const double skew = (double)t / TRIED;
        struct model_load_tail tail;
        (void)model_load_tail_init(&tail, skew, "", "none", NULL);
        if (distance_from(s, &tail, share) <= distance + room &&
            fabs(gen_fit_shape_excess(s, skew)) < fabs(gen_fit_shape_excess(s, best))) {
            best = skew;
        }
    }
    return best;
}

/* Returns the outermost position of a table's knots such that each value stands for at least 5 objects. A knot
 * stands for the values nearest to it. The outermost knot or the one beside it has the fewest objects. */
static double reach_of(double objects, int knots) {
    for (int hundredths = 320; hundredths > 0; hundredths--) {
        const double reach = 0.01 * hundredths;
        const double step = 2 * reach / (knots - 1);
        const double outer = gen_fit_normal_below(-reach + 0.5 * step);
        const double beside = gen_fit_normal_below(-reach + 1.5 * step) - outer;
        if (objects * fmin(outer, beside) >= GEN_FIT_LEAST_VALUES) {
            return reach;
        }
    }
    return 0;
}

static int print_table(const struct gen_fit_shape *s, int knots, double reach, char *text, size_t size) {
    const double step = 2 * reach / (knots - 1);
    int at = snprintf(text, size, "%d", (int)lround(100 * reach));
    long last = LONG_MIN; /* the value of the previous knot: values must not fall, not even by rounding */
    for (int k = 0; k < knots && (size_t)at < size; k++) {
        const double y = k * step - reach;
        const double from = k == 0 ? 0 : gen_fit_normal_below(y - 0.5 * step);
        const double to = k == knots - 1 ? 1 : gen_fit_normal_below(y + 0.5 * step);
        const long value = lround(100 * mean_between(s, from, to));
        last = value > last ? value : last;
        at += snprintf(text + at, size - (size_t)at, " %ld", last);
    }
    return at;
}

void gen_fit_shape_table(const struct gen_fit_shape *s, double objects, char *text, size_t size) {
    int knots = MODEL_LOAD_KNOTS;
    double reach = reach_of(objects, knots);
    while (knots > 3 && (reach < 1.5 || (size_t)print_table(s, knots, reach, text, size) >= size)) {
        knots = (knots + 1) / 2;
        reach = reach_of(objects, knots);
    }
    (void)print_table(s, knots, reach, text, size);
}

/* Returns mean and variance of a tail. Only the parametric form has exactly mean 0 and variance 1. */
static double variance_of(const struct model_load_tail *tail, double *mean) {
    double sum = 0;
    double squares = 0;
    double weights = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double z = model_load_bend(tail, y_of(i));
        sum += density(y_of(i)) * z;
        squares += density(y_of(i)) * z * z;
        weights += density(y_of(i));
    }
    *mean = sum / weights;
    return squares / weights - *mean * *mean;
}

double gen_fit_correlation_of_loads(const struct model_load_tail *tail, double c) {
    double mean;
    const double variance = variance_of(tail, &mean);
    const double old = sqrt(c);
    const double new = sqrt(1 - c);
    double sum = 0;
    double weights = 0;
    for (int i = 0; i <= STEPS; i++) {
        double inner = 0;
        double inner_weights = 0;
        for (int k = 0; k <= STEPS; k++) {
            inner += density(y_of(k)) * model_load_bend(tail, old * y_of(i) + new *y_of(k));
            inner_weights += density(y_of(k));
        }
        const double share = inner / inner_weights - mean;
        sum += density(y_of(i)) * share * share;
        weights += density(y_of(i));
    }
    return sum / weights / variance;
}

double gen_fit_correlation_with_normal(const struct model_load_tail *tail) {
    double mean;
    const double variance = variance_of(tail, &mean);
    double sum = 0;
    double weights = 0;
    for (int i = 0; i <= STEPS; i++) {
        sum += density(y_of(i)) * model_load_bend(tail, y_of(i)) * y_of(i);
        weights += density(y_of(i));
    }
    return sum / weights / sqrt(variance);
}

double gen_fit_correlation_behind(const struct model_load_tail *tail, double of_loads) {
    double low = 0;
    double high = 1;
    for (int i = 0; i < 20; i++) {
        const double middle = 0.5 * (low + high);
        if (gen_fit_correlation_of_loads(tail, middle) < of_loads) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high < 1e-4 ? 0 : 0.5 * (low + high);
}
