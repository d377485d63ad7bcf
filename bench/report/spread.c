/* SPDX-License-Identifier: BSD-3-Clause */
/* Applies the rule for differences (bench_log_spread) to the points of a sweep. */
#include <math.h>

#include "bench/report/results.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

static bool takes_part(const struct bench_results *r, const struct bench_point *p, bool durable) {
    return bench_results_counts(r, p) && (p->mode != BENCH_BUFFERED) == durable;
}

/* Sets `log` and `noisy` of the points with durable rates, or of those with rates into the page cache. */
static hpcw_status spread_kind(struct bench_results *r, bool durable, hpcw_error *err) {
    size_t points = 0, runs = SIZE_MAX, n = 0;
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
    double *x = hpcw_i_calloc(points * runs, sizeof *x);
    struct bench_log *found = hpcw_i_calloc(points, sizeof *found);
    hpcw_status s = x == NULL || found == NULL ? hpcw_i_fail_memory(err, NULL, runs, "repetitions") : HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < r->points; i++) {
        const struct bench_point *p = &r->point[i];
        for (size_t k = 0; takes_part(r, p, durable) && k < runs; k++) {
            x[n++] = log(bench_results_rate_of(p, &p->trial[k], durable));
        }
    }
    s = s == HPCW_OK ? bench_log_spread(x, points, runs, found, err) : s;
    n = 0;
    for (size_t i = 0; s == HPCW_OK && i < r->points; i++) {
        struct bench_point *p = &r->point[i];
        if (takes_part(r, p, durable)) {
            p->log = found[n++];
            p->noisy = runs >= BENCH_FEWEST_REPEAT && bench_log_is_noisy(&p->log);
        }
    }
    hpcw_i_free(x);
    hpcw_i_free(found);
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
    return bench_log_most(&a->log, &b->log);
}

int bench_results_differ(const struct bench_point *a, const struct bench_point *b) {
    return bench_log_differ(&a->log, &b->log);
}
