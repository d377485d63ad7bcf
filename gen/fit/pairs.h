/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over pairs of values, from which their correlation is computed. A zeroed struct has no pairs. */
#ifndef HPCW_GEN_FIT_PAIRS_H
#define HPCW_GEN_FIT_PAIRS_H

#include <math.h>
#include <stdbool.h>

/* Fewest measured values behind any mean, correlation or table value. Fewer would reveal single values. */
enum { GEN_FIT_LEAST_VALUES = 5 };

struct gen_fit_pairs {
    double n, x, y, xx, yy, xy;
};

static inline void gen_fit_pair(struct gen_fit_pairs *p, double x, double y) {
    p->n += 1;
    p->x += x;
    p->y += y;
    p->xx += x * x;
    p->yy += y * y;
    p->xy += x * y;
}

static inline void gen_fit_pairs_merge(struct gen_fit_pairs *p, const struct gen_fit_pairs *from) {
    p->n += from->n;
    p->x += from->x;
    p->y += from->y;
    p->xx += from->xx;
    p->yy += from->yy;
    p->xy += from->xy;
}

static inline double gen_fit_covariance(const struct gen_fit_pairs *p) {
    return p->xy / p->n - p->x / p->n * (p->y / p->n);
}

/* Returns NaN for fewer than GEN_FIT_LEAST_VALUES pairs, or if one of the values does not vary. */
static inline double gen_fit_correlation(const struct gen_fit_pairs *p) {
    const double xx = p->xx / p->n - p->x / p->n * (p->x / p->n);
    const double yy = p->yy / p->n - p->y / p->n * (p->y / p->n);
    /* A relative variance this small is rounding error of a constant. */
    const double least = 1e-12;
    const bool varies = xx > least * p->xx / p->n && yy > least * p->yy / p->n;
    return p->n >= GEN_FIT_LEAST_VALUES && varies ? gen_fit_covariance(p) / sqrt(xx * yy) : NAN;
}

#endif
