/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares two sweeps. */
#include "bench/report/compare.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "ui/cli/text.h"

/* ---- Statistics ---- */

bool bench_compare_durable(const struct bench_point *p) {
    return p->mode != BENCH_BUFFERED;
}

static double log_rate(const struct bench_point *p, const struct bench_trial *t) {
    return log(bench_results_rate_of(p, t, bench_compare_durable(p)));
}

static const struct bench_point *of_sweep(const struct bench_pair *pair, bool second) {
    return second ? pair->b : pair->a;
}

/* Speed of the machine in each repetition: ln of the factor by which ceilings (plain large writes) are faster than
 * their medians. Each sweep has one struct for points with a flush and one for points without. */
struct weather {
    double *common; /* [repetitions + 1] ln of this factor; index: number of the repetition */
    size_t repetitions;
};

static hpcw_status median_of(const double *x, size_t n, double *median, hpcw_error *err) {
    struct bench_stats s = {0};
    hpcw_status status = n == 0 ? HPCW_OK : bench_stats_of(x, n, 0.95, &s, err);
    *median = s.median;
    return status;
}

static hpcw_status fill_weather(const struct bench_comparison *c, bool second, bool is_durable, double *x,
                                double *own, struct weather *w, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < c->pairs; i++) {
        const struct bench_point *p = of_sweep(&c->pair[i], second);
        for (size_t k = 0; k < p->ceiling_trials; k++) {
            x[k] = log_rate(p, &p->ceiling[k]);
        }
        s = median_of(x, p->ceiling_trials, &own[i], err);
    }
    for (uint32_t r = 0; s == HPCW_OK && r <= w->repetitions; r++) {
        size_t n = 0;
        for (size_t i = 0; i < c->pairs; i++) {
            const struct bench_point *p = of_sweep(&c->pair[i], second);
            for (size_t k = 0; bench_compare_durable(p) == is_durable && k < p->ceiling_trials; k++) {
                if (p->ceiling[k].repetition == r) {
                    x[n++] = log_rate(p, &p->ceiling[k]) - own[i];
                }
            }
        }
        s = median_of(x, n, &w->common[r], err);
    }
    return s;
}

static hpcw_status weather_of(const struct bench_comparison *c, bool second, bool is_durable, struct weather *w,
                              hpcw_error *err) {
    size_t runs = 0;
    *w = (struct weather){0};
    for (size_t i = 0; i < c->pairs; i++) {
        const struct bench_point *p = of_sweep(&c->pair[i], second);
        runs += p->ceiling_trials;
        for (size_t k = 0; k < p->ceiling_trials + p->trials; k++) {
            const struct bench_trial *t = k < p->trials ? &p->trial[k] : &p->ceiling[k - p->trials];
            w->repetitions = t->repetition > w->repetitions ? t->repetition : w->repetitions;
        }
    }
    double *x = hpcw_i_calloc(runs + 1, sizeof *x);
    double *own = hpcw_i_calloc(c->pairs + 1, sizeof *own);
    w->common = hpcw_i_calloc(w->repetitions + 1, sizeof *w->common);
    hpcw_status s = x == NULL || own == NULL || w->common == NULL
                        ? hpcw_i_fail_memory(err, NULL, runs, "runs")
                        : fill_weather(c, second, is_durable, x, own, w, err);
    hpcw_i_free(x);
    hpcw_i_free(own);
    return s;
}

/* Trimmed mean of ln of a rate over the repetitions, and the variance of this mean. */
struct spread {
    double mean, variance;
    size_t df;
};

static hpcw_status spread_of(const double *x, size_t n, struct spread *out, hpcw_error *err) {
    return bench_stats_trimmed(x, n, &out->mean, &out->variance, &out->df, err);
}

/*
 * Computes ln of the ratio of a point's rate to the rate of its ceiling. Each rate is first divided by the speed of
 * the machine, `w`. A hypervisor that supplies huge pages can delay a run of the ceiling by more than layouts
 * differ. So the rate of the ceiling is the mean of its fastest quarter of runs. For n normal values, the variance
 * of this mean is 1.5 / n times the variance of the values. The variance of the values is estimated by the MAD,
 * which is too small for few values, so the factor is 2.2 / n.
 */
static hpcw_status ratio_of(const struct bench_point *p, const struct weather *w, struct spread *out,
                            hpcw_error *err) {
    const size_t most = p->trials > p->ceiling_trials ? p->trials : p->ceiling_trials;
    double *x = hpcw_i_calloc(most + 1, sizeof *x);
    if (x == NULL) {
        return hpcw_i_fail_memory(err, p->id, most, "ratios");
    }
    for (size_t k = 0; k < p->ceiling_trials; k++) {
        x[k] = log_rate(p, &p->ceiling[k]) - w->common[p->ceiling[k].repetition];
    }
    struct bench_stats ceiling = {0};
    double sum = 0, n = 0;
    hpcw_status s = bench_stats_of(x, p->ceiling_trials, 0.95, &ceiling, err);
    for (size_t k = 0; k < p->ceiling_trials; k++) {
        sum += x[k] >= ceiling.q75 ? x[k] : 0;
        n += x[k] >= ceiling.q75;
    }
    const double sd = 1.4826 * ceiling.mad;
    for (size_t k = 0; k < p->trials; k++) {
        x[k] = log_rate(p, &p->trial[k]) - w->common[p->trial[k].repetition];
    }
    s = s == HPCW_OK ? spread_of(x, p->trials, out, err) : s;
    out->mean -= n > 0 ? sum / n : 0;
    out->variance += 2.2 * sd * sd / (double)p->ceiling_trials;
    hpcw_i_free(x);
    return s;
}

/* Converts a difference of two logarithms with the standard error `se` to a change with its interval. tests:
 * number of tests that share the probability of a false alarm. */
static struct bench_change change_of(double difference, double se, size_t df, size_t tests) {
    double t = bench_stats_student(df, BENCH_COMPARE_LEVEL / 2 / (double)tests);
    struct bench_change c = {.change = expm1(difference),
                             .low = expm1(difference - t * se),
                             .high = expm1(difference + t * se),
                             .seen = fmax(BENCH_COMPARE_LEAST, expm1((t + bench_stats_student(df, 0.1)) * se))};
    if (!(c.seen <= BENCH_COMPARE_MOST) && !(c.low > 0) && !(c.high < 0)) {
        c.low = -(double)INFINITY;
        c.high = c.seen = (double)INFINITY;
    }
    return c;
}

const char *bench_change_verdict(const struct bench_change *c) {
    return c->low > 0 && c->change > BENCH_COMPARE_LEAST     ? "faster"
           : c->high < 0 && c->change < -BENCH_COMPARE_LEAST ? "slower"
                                                             : "no difference shown";
}

static bool differs(const struct bench_change *c) {
    return strcmp(bench_change_verdict(c), "no difference shown") != 0;
}

const char *bench_layout_verdict(const struct bench_comparison *c, const struct bench_change *change) {
    const bool explained = differs(&c->plain) && fabs(log1p(change->change)) <= fabs(log1p(c->plain.change));
    return c->machine_changed || explained ? "no difference shown" : bench_change_verdict(change);
}

/* ---- Points and layouts ---- */

/* Returns whether both points were measured in large enough runs, and in more than one repetition. */
static bool comparable(const struct bench_results *ra, const struct bench_point *a,
                       const struct bench_results *rb, const struct bench_point *b) {
    return b != NULL && bench_results_counts(ra, a) && bench_results_counts(rb, b) && a->mode == b->mode &&
           a->trials > 1 && b->trials > 1 && a->ratio.there && b->ratio.there;
}

/* Sets difference[i] to the change of ln of the ratio (see ratio_of) of c->pair[i]. *within: mean variance of the
 * differences, from the spread of the repetitions, with *df degrees of freedom. weather[s][d]: s is 1 for the
 * second sweep, d is 1 for points with a flush. */
static hpcw_status differences_within(struct bench_comparison *c, struct weather weather[2][2],
                                      double *difference, double *within, size_t *df, hpcw_error *err) {
    *within = 0;
    *df = 0;
    for (size_t i = 0; i < c->pairs; i++) {
        struct spread ratio[2] = {{0}};
        for (int second = 0; second < 2; second++) {
            const struct bench_point *p = of_sweep(&c->pair[i], second);
            hpcw_status s = ratio_of(p, &weather[second][bench_compare_durable(p)], &ratio[second], err);
            if (s != HPCW_OK) {
                return s;
            }
        }
        difference[i] = ratio[1].mean - ratio[0].mean;
        c->pair[i].first = exp(ratio[0].mean);
        c->pair[i].second = exp(ratio[1].mean);
        *within += (ratio[0].variance + ratio[1].variance) / (double)c->pairs;
        *df += ratio[0].df + ratio[1].df;
    }
    return HPCW_OK;
}

/* Computes the mean difference of each layout. *between: variance of the differences of points around the mean of
 * their layout. It is estimated by a median, so that a single outlier does not enlarge it. */
static hpcw_status differences_between(struct bench_comparison *c, const double *difference, double *mean,
                                       double *between, size_t *df, hpcw_error *err) {
    double *off = hpcw_i_calloc(c->pairs, sizeof *off);
    size_t n = 0;
    if (off == NULL) {
        return hpcw_i_fail_memory(err, NULL, c->pairs, "points");
    }
    for (enum bench_layout l = 0; l < BENCH_LAYOUTS; l++) {
        double sum = 0, first = 0, points = 0;
        for (size_t i = 0; i < c->pairs; i++) {
            points += c->pair[i].a->layout == l;
            sum += c->pair[i].a->layout == l ? difference[i] : 0;
            first += c->pair[i].a->layout == l ? log(c->pair[i].first) : 0;
        }
        for (size_t i = 0; points > 1 && i < c->pairs; i++) {
            if (c->pair[i].a->layout == l) {
                off[n++] = fabs(difference[i] - sum / points) * sqrt(points / (points - 1));
            }
        }
        if (points > 0) {
            mean[c->groups] = sum / points;
            c->group[c->groups++] = (struct bench_group){.layout = l,
                                                         .points = (size_t)points,
                                                         .first = exp(first / points),
                                                         .second = exp((first + sum) / points)};
        }
    }
    struct bench_stats s = {0};
    hpcw_status status = n == 0 ? HPCW_OK : bench_stats_of(off, n, 0.95, &s, err);
    *between = 1.4826 * s.median * 1.4826 * s.median; /* sd = 1.4826 * MAD for a normal distribution */
    *df = c->pairs - c->groups;
    hpcw_i_free(off);
    return status;
}

static hpcw_status test_all(struct bench_comparison *c, hpcw_error *err) {
    double mean[BENCH_LAYOUTS], within = 0, between = 0;
    size_t df_within = 0, df_between = 0;
    struct weather weather[2][2] = {{{0}}};
    double *difference = hpcw_i_calloc(c->pairs + 1, sizeof *difference);
    if (difference == NULL) {
        return hpcw_i_fail_memory(err, NULL, c->pairs, "comparisons");
    }
    hpcw_status s = HPCW_OK;
    for (int i = 0; s == HPCW_OK && i < 4; i++) {
        s = weather_of(c, i / 2 != 0, i % 2 != 0, &weather[i / 2][i % 2], err);
    }
    s = s == HPCW_OK ? differences_within(c, weather, difference, &within, &df_within, err) : s;
    s = s == HPCW_OK ? differences_between(c, difference, mean, &between, &df_between, err) : s;
    if (s == HPCW_OK) {
        /* Two sweeps differ by more than the repetitions of one sweep, for instance because files are at other
         * places of the disk. The spread of the points of a layout contains this difference. So the larger of
         * both variances is used. */
        double variance = fmax(within, between);
        size_t df = between > within ? df_between : df_within;
        for (size_t i = 0; i < c->groups; i++) {
            struct bench_group *g = &c->group[i];
            const double se = sqrt(variance / (double)g->points);
            g->change = change_of(mean[i], se, df, c->groups);
            c->few = c->few || (between > within && g->change.seen > BENCH_COMPARE_MOST &&
                                change_of(mean[i], se, SIZE_MAX, c->groups).seen <= BENCH_COMPARE_MOST);
        }
        for (size_t i = 0; i < c->pairs; i++) {
            c->pair[i].change = change_of(difference[i], sqrt(variance), df, c->pairs);
        }
    }
    for (int i = 0; i < 4; i++) {
        hpcw_i_free(weather[i / 2][i % 2].common);
    }
    hpcw_i_free(difference);
    return s;
}

/* ---- Plain writes ---- */

/* Computes mean and variance of ln of the rate of plain writes in one sweep. The value of a repetition is the
 * median over the ceilings of all compared points. */
static hpcw_status ceilings_of(const struct bench_comparison *c, bool second, struct spread *out,
                               hpcw_error *err) {
    size_t runs = SIZE_MAX;
    for (size_t i = 0; i < c->pairs; i++) {
        const struct bench_point *p = of_sweep(&c->pair[i], second);
        runs = p->ceiling_trials < runs ? p->ceiling_trials : runs;
    }
    double *x = hpcw_i_calloc(runs, sizeof *x);
    double *of_points = hpcw_i_calloc(c->pairs, sizeof *of_points);
    hpcw_status s =
        x == NULL || of_points == NULL ? hpcw_i_fail_memory(err, NULL, runs, "repetitions") : HPCW_OK;
    for (size_t k = 0; s == HPCW_OK && k < runs; k++) {
        for (size_t i = 0; i < c->pairs; i++) {
            const struct bench_point *p = of_sweep(&c->pair[i], second);
            of_points[i] = log_rate(p, &p->ceiling[k]);
        }
        s = median_of(of_points, c->pairs, &x[k], err);
    }
    s = s == HPCW_OK ? spread_of(x, runs, out, err) : s;
    hpcw_i_free(of_points);
    hpcw_i_free(x);
    return s;
}

static hpcw_status test_plain(struct bench_comparison *c, hpcw_error *err) {
    struct spread a, b;
    hpcw_status s = ceilings_of(c, false, &a, err);
    s = s == HPCW_OK ? ceilings_of(c, true, &b, err) : s;
    if (s == HPCW_OK) {
        c->plain_first = exp(a.mean);
        c->plain_second = exp(b.mean);
        c->plain = change_of(b.mean - a.mean, sqrt(a.variance + b.variance), a.df + b.df, 1);
        c->machine_changed = fabs(b.mean - a.mean) > log(BENCH_COMPARE_MACHINE);
    }
    return s;
}

/* If plain writes changed, the machine can be the reason of a smaller change of a layout. So the smallest
 * change that would be seen is at least the change of plain writes. */
static void raise_seen(const struct bench_comparison *c, struct bench_change *change) {
    if (differs(&c->plain)) {
        change->seen = fmax(change->seen, expm1(fabs(log1p(c->plain.change))));
    }
}

/* ---- The verdict ---- */

HPCW_PRINTF(2, 3) static void say(struct bench_comparison *c, const char *fmt, ...) {
    size_t n = strlen(c->verdict);
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(c->verdict + n, sizeof c->verdict - n, fmt, args);
    va_end(args);
}

static bool claimed(const struct bench_comparison *c, const struct bench_change *change) {
    return strcmp(bench_layout_verdict(c, change), "no difference shown") != 0;
}

static bool layout_differs(const struct bench_comparison *c, enum bench_layout layout) {
    for (size_t i = 0; i < c->groups; i++) {
        if (c->group[i].layout == layout) {
            return claimed(c, &c->group[i].change);
        }
    }
    return false;
}

/* Says "plain writes are slower (-31 %): ...; ". Plain writes do not use the library. */
static void say_plain(struct bench_comparison *c) {
    if (c->machine_changed || differs(&c->plain)) {
        say(c, "plain writes are %s (%+.0f %%): the machine or the file system changed, not the library; ",
            c->plain.change > 0 ? "faster" : "slower", 100 * c->plain.change);
    }
}

/* Says "slower relative to plain writes: task-local (-31 %, between -38 % and -24 %); ". */
static void say_change(struct bench_comparison *c, const char *name, const struct bench_change *change) {
    say(c, "%s relative to plain writes: %s (%+.0f %%, between %+.0f %% and %+.0f %%); ",
        change->change > 0 ? "faster" : "slower", name, 100 * change->change, 100 * change->low,
        100 * change->high);
}

/* Says "the first sweep was not ended, and this is of 12 of its 30 runs; ". */
static void say_stopped(struct bench_comparison *c, const char *which, const struct bench_results *r) {
    const struct bench_runs runs = bench_results_runs(r);
    if (r->stopped[0] != '\0') {
        say(c, "the %s sweep was %s, and this is of %zu of its %zu runs; ", which, r->stopped, runs.made,
            runs.planned);
    }
}

static void give_verdict(struct bench_comparison *c) {
    double layouts = 0, points = 0;
    bool any = false;
    if (c->pairs == 0) {
        say(c, "nothing can be said: no point counts in both sweeps");
        return;
    }
    say_plain(c);
    if (c->machine_changed) {
        say(c, "nothing can be said of layouts: repeat both sweeps while nothing else runs");
        return;
    }
    for (size_t i = 0; i < c->groups; i++) {
        raise_seen(c, &c->group[i].change);
        layouts = fmax(layouts, c->group[i].change.seen);
        if (claimed(c, &c->group[i].change)) {
            say_change(c, bench_layout_name[c->group[i].layout], &c->group[i].change);
            any = true;
        }
    }
    for (size_t i = 0; i < c->pairs; i++) {
        raise_seen(c, &c->pair[i].change);
        points = fmax(points, c->pair[i].change.seen);
        if (claimed(c, &c->pair[i].change) && !layout_differs(c, c->pair[i].a->layout)) {
            say_change(c, c->pair[i].a->id, &c->pair[i].change);
            any = true;
        }
    }
    if (layouts > BENCH_COMPARE_MOST) {
        say(c, "nothing %scan be said: ", any || differs(&c->plain) ? "else " : "");
        if (c->few) {
            say(c, "%zu points of %zu layout%s are too few to show how sweeps scatter; ", c->pairs, c->groups,
                c->groups == 1 ? "" : "s");
            if (c->larger_budget > 0) {
                say(c, "the budget left others out: use --budget %.0fm for both sweeps", c->larger_budget);
            } else {
                say(c, "use more block sizes for both sweeps (--blocksize 4K:16M:x4)");
            }
        } else if (c->runs < BENCH_FEWEST_REPEAT) {
            say(c, "too few runs of a point (expected %d or more, got %zu); use --repeat %d for both sweeps",
                BENCH_FEWEST_REPEAT, c->runs, BENCH_FEWEST_REPEAT);
        } else {
            say(c, "noisy; use --budget 20m for both sweeps");
        }
        return;
    }
    say(c, "no %sdifference was shown; differences above %.0f %% in a layout", any ? "other " : "",
        ceil(100 * layouts));
    if (points <= BENCH_COMPARE_MOST) {
        say(c, ", %.0f %% in a point,", ceil(100 * points));
    }
    say(c, " would have been seen");
}

/* Returns whether a point of `r` has no counterpart in `other` because of sizes: its runs are too small to
 * count, or its record was limited to the bytes of a rank, which changes the id of the point. */
static bool lost_by_size(const struct bench_results *r, const struct bench_results *other) {
    for (size_t i = 0; i < r->points; i++) {
        const struct bench_point *p = &r->point[i];
        const bool cut = p->record_size == p->rank_size && bench_results_find(other, p->id) == NULL;
        if (p->fate == BENCH_MEASURED && (cut || !bench_results_counts(r, p))) {
            return true;
        }
    }
    return false;
}

/* Says which options make two sweeps comparable whose points have different sizes. */
static void say_sizes(struct bench_comparison *c, const struct bench_results *a,
                      const struct bench_results *b) {
    const uint64_t first = a->points > 0 ? a->point[0].rank_size : 0;
    const uint64_t second = b->points > 0 ? b->point[0].rank_size : 0;
    const uint64_t least =
        a->limits.least_bytes < b->limits.least_bytes ? a->limits.least_bytes : b->limits.least_bytes;
    char size[UI_TEXT_SIZE];
    bool all = c->pairs > 0;
    for (size_t i = 0; i < c->pairs; i++) {
        all = all && c->pair[i].other_size;
    }
    if (!lost_by_size(a, b) && !lost_by_size(b, a) && !(all && first != second)) {
        return;
    }
    if (first == second) {
        say(c, "; some points are too small: use a larger --per-rank for both sweeps");
        return;
    }
    say(c, all ? "; the runs of the two sweeps write other sizes"
               : "; some points cannot be compared, as the runs of the sweeps have other sizes");
    say(c, ": use --per-rank %s ", ui_text_size(size, first > second ? first : second));
    if (least > 0) { /* with --per-rank, the budget does not lower this limit, so it must be given, too */
        say(c, "--least-bytes %s ", ui_text_size(size, least));
    }
    say(c, "for both");
}

/* Sets c->larger_budget if the budget of the sweep `r` left points out. */
static void leave_out(struct bench_comparison *c, const struct bench_results *r) {
    for (size_t i = 0; i < r->points; i++) {
        if (bench_results_lacks_time(&r->point[i])) {
            c->larger_budget = fmax(c->larger_budget, bench_results_larger_budget(r));
        }
    }
}

hpcw_status bench_compare(const struct bench_results *a, const struct bench_results *b,
                          struct bench_comparison *c, hpcw_error *err) {
    *c = (struct bench_comparison){.pair = hpcw_i_calloc(a->points + 1, sizeof *c->pair), .runs = SIZE_MAX};
    if (c->pair == NULL) {
        return hpcw_i_fail_memory(err, NULL, a->points, "comparisons");
    }
    for (size_t i = 0; i < a->points; i++) {
        const struct bench_point *x = &a->point[i], *y = bench_results_find(b, x->id);
        if (comparable(a, x, b, y)) {
            c->pair[c->pairs++] =
                (struct bench_pair){.a = x,
                                    .b = y,
                                    .other_size = x->bytes != y->bytes || x->ranks != y->ranks ||
                                                  x->record_size != y->record_size || x->files != y->files};
            c->runs = x->trials < c->runs ? x->trials : c->runs;
            c->runs = y->trials < c->runs ? y->trials : c->runs;
        }
    }
    leave_out(c, a);
    leave_out(c, b);
    hpcw_status s = c->pairs == 0 ? HPCW_OK : test_all(c, err);
    s = s == HPCW_OK && c->pairs > 0 ? test_plain(c, err) : s;
    if (s == HPCW_OK) {
        say_stopped(c, "first", a);
        say_stopped(c, "second", b);
        give_verdict(c);
        say_sizes(c, a, b);
    }
    return s;
}

const char *bench_compare_alone(const struct bench_results *r, const struct bench_point *p,
                                const struct bench_results *other) {
    const struct bench_point *q = bench_results_find(other, p->id);
    return q == NULL                         ? "only in this file"
           : comparable(r, p, other, q)      ? NULL
           : p->mode != q->mode              ? "another mode in the other file"
           : p->fate != BENCH_MEASURED       ? "not measured"
           : q->fate != BENCH_MEASURED       ? "not measured in the other file"
           : !bench_results_counts(r, p)     ? "too small"
           : !bench_results_counts(other, q) ? "too small in the other file"
                                             : "too few repetitions";
}

void bench_comparison_free(struct bench_comparison *c) {
    hpcw_i_free(c->pair);
    *c = (struct bench_comparison){0};
}
