/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that decides whether rates differ. Verdict, recommendation, table and page all use it. */
#include <math.h>

#include "bench/report/results.h"

hpcw_status bench_log_spread(double *x, size_t points, size_t runs, struct bench_log *log, hpcw_error *err) {
    double pooled = 0;
    size_t df = 0;
    for (size_t k = 0; points > 1 && k < runs; k++) {
        double common = 0;
        for (size_t i = 0; i < points; i++) {
            common += x[i * runs + k] / (double)points;
        }
        for (size_t i = 0; i < points; i++) {
            x[i * runs + k] -= common;
        }
    }
    for (size_t i = 0; i < points; i++) {
        size_t more;
        hpcw_status s = bench_stats_trimmed(x + i * runs, runs, &log[i].mean, &log[i].variance, &more, err);
        if (s != HPCW_OK) {
            return s;
        }
        /* Subtracting the mean of n points has reduced the variance of each point by the factor 1 - 1 / n. Undo
         * it. */
        log[i].variance *= points > 1 ? (double)points / (double)(points - 1) : 1;
        pooled += log[i].variance / (double)points;
        df += more;
    }
    /* The mean of all points takes one degree of freedom from each repetition. */
    df = points > 1 ? df - df / points : df;
    /* Few runs of a point may agree by chance. So its variance is taken as at least the mean variance of all
     * points. */
    const double t = bench_stats_student(df, BENCH_RULE_LEVEL / 2 / (double)(points > 1 ? points - 1 : 1));
    for (size_t i = 0; i < points; i++) {
        log[i].band = df == 0 ? (double)INFINITY : t * sqrt(fmax(log[i].variance, pooled));
    }
    return HPCW_OK;
}

double bench_log_most(const struct bench_log *a, const struct bench_log *b) {
    return a->mean - b->mean + hypot(a->band, b->band);
}

int bench_log_differ(const struct bench_log *a, const struct bench_log *b) {
    return bench_log_most(b, a) < 0 ? 1 : bench_log_most(a, b) < 0 ? -1 : 0;
}

bool bench_log_is_noisy(const struct bench_log *log) {
    return sqrt(2) * log->band > log1p(BENCH_NOISY_SPREAD);
}
