/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that decides whether points of a sweep differ. Verdict, recommendation, table and page all use it. */
#include <math.h>

#include "bench/report/results.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

static bool takes_part(const struct bench_results *r, const struct bench_point *p, bool durable) {
    return bench_results_counts(r, p) && (p->mode != BENCH_BUFFERED) == durable;
}

/* Handles the points of one kind of rate: takes logarithms, and subtracts the part that all points of a repetition
 * share. */
static hpcw_status spread_kind(struct bench_results *r, bool durable, hpcw_error *err) {
    size_t points = 0, runs = SIZE_MAX, df = 0;
    for (size_t i = 0; i < r->points; i++) {
        const struct bench_point *p = &r->point[i];
        if (takes_part(r, p, durable)) {
            points++;
            runs = p->trials < runs ? p->trials : runs;
        }
    }
    if (points == 0) {
        return HPCW_OK;
    }
    double *x = hpcw_i_calloc(runs, sizeof *x), *common = hpcw_i_calloc(runs, sizeof *common);
    hpcw_status s = x == NULL || common == NULL ? hpcw_i_fail_memory(err, NULL, runs, "repetitions") : HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && points > 1 && i < r->points; i++) {
        const struct bench_point *p = &r->point[i];
        for (size_t k = 0; takes_part(r, p, durable) && k < runs; k++) {
            common[k] += log(bench_results_rate_of(p, &p->trial[k], durable)) / (double)points;
        }
    }
    double pooled = 0;
    for (size_t i = 0; s == HPCW_OK && i < r->points; i++) {
        struct bench_point *p = &r->point[i];
        if (takes_part(r, p, durable)) {
            size_t more;
            for (size_t k = 0; k < runs; k++) {
                x[k] = log(bench_results_rate_of(p, &p->trial[k], durable)) - common[k];
            }
            s = bench_stats_trimmed(x, runs, &p->log.mean, &p->log.variance, &more, err);
            /* Of n points, the mean of all takes a share of 1 / n of each one's variance. */
            p->log.variance *= points > 1 ? (double)points / (double)(points - 1) : 1;
            pooled += p->log.variance / (double)points;
            df += more;
        }
    }
    /* Few runs may agree by chance. So a point counts as scattering at least as much as all points on average. */
    const double t = bench_stats_student(df, BENCH_RULE_LEVEL / (double)(points > 1 ? points - 1 : 1));
    for (size_t i = 0; s == HPCW_OK && i < r->points; i++) {
        struct bench_point *p = &r->point[i];
        if (takes_part(r, p, durable)) {
            p->log.band = df == 0 ? (double)INFINITY : t * sqrt(fmax(p->log.variance, pooled));
            p->noisy = sqrt(2) * p->log.band > log1p(BENCH_NOISY_SPREAD);
        }
    }
    hpcw_i_free(x);
    hpcw_i_free(common);
    return s;
}

hpcw_status bench_results_spread(struct bench_results *r, hpcw_error *err) {
    for (size_t i = 0; i < r->points; i++) {
        r->point[i].noisy = false;
        r->point[i].log.band = (double)INFINITY;
    }
    hpcw_status s = spread_kind(r, true, err);
    return s == HPCW_OK ? spread_kind(r, false, err) : s;
}

double bench_results_most(const struct bench_point *a, const struct bench_point *b) {
    return a->log.mean - b->log.mean + hypot(a->log.band, b->log.band);
}

int bench_results_differ(const struct bench_point *a, const struct bench_point *b) {
    return bench_results_most(b, a) < 0 ? 1 : bench_results_most(a, b) < 0 ? -1 : 0;
}
