/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/measure/stats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Orders doubles, or structs whose first member is a double. */
static int ascending(const void *a, const void *b) {
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

double bench_stats_quantile(const double *sorted, size_t n, double q) {
    double place = q * (double)(n - 1);
    size_t i = (size_t)place;
    if (i + 1 >= n) {
        return sorted[n - 1];
    }
    double part = place - (double)i, low = sorted[i], high = sorted[i + 1];
    double between = low + part * (high - low);
    if (!isfinite(between)) { /* high - low can overflow although no quantile does */
        between = low * (1 - part) + high * part;
    }
    return between > high ? high : between;
}

double bench_stats_median_ranks(size_t n, double level, size_t *low, size_t *high) {
    /* The interval is x[d] .. x[n-1-d]. The median is outside if at most d values lie on one side of it. The
     * probability of this is `tail` times 2^scale, for one side. */
    size_t d = 0;
    double p = 1, tail = 1;
    int scale = -(int)n;
    for (; d + 1 < n - 1 - d; d++) {
        p *= (double)(n - d) / (double)(d + 1);
        if (ldexp(2 * (tail + p), scale) > 1 - level) {
            break;
        }
        tail += p;
        if (p > 0x1p500) { /* p and tail must not overflow */
            p *= 0x1p-500;
            tail *= 0x1p-500;
            scale += 500;
        }
    }
    *low = d;
    *high = n - 1 - d;
    return n == 1 ? 0 : 1 - ldexp(2 * tail, scale);
}

static double mean_of(const double *x, size_t n) {
    double sum = 0, lost = 0;
    for (size_t i = 0; i < n; i++) {
        double next = sum + x[i];
        lost += fabs(sum) >= fabs(x[i]) ? (sum - next) + x[i] : (x[i] - next) + sum;
        sum = next;
    }
    return (sum + lost) / (double)n;
}

static double sd_of(const double *x, size_t n, double mean) {
    if (n < 2) {
        return 0;
    }
    double squares = 0, rest = 0;
    for (size_t i = 0; i < n; i++) {
        double d = x[i] - mean;
        squares += d * d;
        rest += d;
    }
    /* `rest` corrects for rounding in the mean. */
    double variance = (squares - rest * rest / (double)n) / (double)(n - 1);
    return variance > 0 ? sqrt(variance) : 0;
}

hpcw_status bench_stats_of(const double *x, size_t n, double level, struct bench_stats *stats,
                           hpcw_error *err) {
    if (n == 0) {
        return hpcw_i_fail(err, HPCW_EINVAL, "statistics of no values: expected at least one");
    }
    if (!(level > 0 && level < 1)) {
        return hpcw_i_fail(err, HPCW_EINVAL, "level of a confidence interval: expected between 0 and 1, got %g",
                           level);
    }
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            return hpcw_i_fail(err, HPCW_EINVAL, "value %zu of %zu: expected a finite number, got %g", i, n,
                               x[i]);
        }
    }
    double *sorted = n > SIZE_MAX / sizeof *sorted ? NULL : hpcw_i_malloc(n * sizeof *sorted);
    if (sorted == NULL) {
        return hpcw_i_fail_memory(err, "statistics", n, "values");
    }
    memcpy(sorted, x, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, ascending);

    struct bench_stats s = {.count = n, .min = sorted[0], .max = sorted[n - 1]};
    /* Sums in ascending order, so that results do not depend on the order of the samples. */
    s.mean = mean_of(sorted, n);
    s.sd = sd_of(sorted, n, s.mean);
    s.median = bench_stats_quantile(sorted, n, 0.5);
    s.q25 = bench_stats_quantile(sorted, n, 0.25);
    s.q75 = bench_stats_quantile(sorted, n, 0.75);
    size_t low, high;
    s.ci_coverage = bench_stats_median_ranks(n, level, &low, &high);
    s.ci_low = sorted[low];
    s.ci_high = sorted[high];
    for (size_t i = 0; i < n; i++) {
        sorted[i] = fabs(sorted[i] - s.median);
    }
    qsort(sorted, n, sizeof *sorted, ascending);
    s.mad = bench_stats_quantile(sorted, n, 0.5);
    hpcw_i_free(sorted);
    *stats = s;
    return HPCW_OK;
}

/* ---- Comparisons ---- */

hpcw_status bench_stats_trimmed(const double *x, size_t n, double *mean, double *variance, size_t *df,
                                hpcw_error *err) {
    *mean = *variance = 0;
    *df = 0;
    if (n == 0) {
        return hpcw_i_fail(err, HPCW_EINVAL, "mean of no values: expected at least one");
    }
    double *sorted = hpcw_i_calloc(n, sizeof *sorted);
    if (sorted == NULL) {
        return hpcw_i_fail_memory(err, "statistics", n, "values");
    }
    memcpy(sorted, x, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, ascending);
    size_t cut = n / 5, kept = n - 2 * cut;
    *mean = mean_of(sorted + cut, kept);
    /* Winsorised variance: each cut value is replaced by the nearest kept value. */
    for (size_t i = 0; i < cut; i++) {
        sorted[i] = sorted[cut];
        sorted[n - 1 - i] = sorted[n - 1 - cut];
    }
    if (kept > 1) {
        double sd = sd_of(sorted, n, mean_of(sorted, n));
        *variance = (double)(n - 1) * sd * sd / ((double)kept * (double)(kept - 1));
        *df = kept - 1;
    }
    hpcw_i_free(sorted);
    return HPCW_OK;
}

/* Probability that Student's t is between -t and t: a finite sum for integral degrees of freedom. */
static double student_within(size_t df, double t) {
    double angle = atan(t / sqrt((double)df)), c = cos(angle), s = sin(angle);
    double term = df % 2 == 1 ? c : 1, sum = df == 1 ? 0 : term;
    for (size_t k = df % 2 == 1 ? 3 : 2; k < df; k += 2) {
        term *= c * c * (double)(k - 1) / (double)k;
        sum += term;
    }
    return df % 2 == 1 ? (angle + s * sum) / acos(0) : s * sum;
}

double bench_stats_student(size_t df, double tail) {
    enum { MOST = 1000 }; /* above this number, t has practically the normal distribution */
    df = df > MOST ? MOST : df;
    double low = 0, high = 1;
    if (df == 0) {
        return (double)INFINITY;
    }
    while (1 - student_within(df, high) > 2 * tail && high < 1e12) {
        high *= 2;
    }
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(1 - student_within(df, middle) > 2 * tail ? &low : &high) = middle;
    }
    return high;
}
