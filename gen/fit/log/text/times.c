/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/text/times.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

static void put_seconds(struct fit_text *t, double seconds) {
    fit_text_put(t, "%.3g", seconds);
}

static void put_points(struct fit_text *t, const struct fit_draws *d) {
    for (size_t p = 0; p < d->points; p++) {
        fit_text_put(t, "%s%.3g, ", p > 0 ? "  " : "", d->share[p]);
        put_seconds(t, d->at[p]);
        fit_text_put(t, p + 1 < d->points ? "," : " }");
    }
}

static void put_factor(struct fit_text *t, const struct fit_draws *d, uint32_t ranks) {
    if (d->factor != NULL) {
        fit_text_put(t, ", cell([[\n");
        const size_t before = t->lines;
        for (uint32_t m = 0; m < ranks; m++) {
            fit_text_put(t, " %9.3g\n", d->factor[m]);
        }
        t->table_lines += t->lines - before;
        fit_text_put(t, "]], 10, 1, 1)");
    }
}

/* A mean time grows with the number of ranks if its relative difference between two logs is above LEAST_GROWTH.
 * Times below LEAST_TIME, in seconds, are left out: a log does not resolve them. */
#define LEAST_GROWTH 0.05
#define LEAST_TIME 1e-9

/* Times of a step in the log, and in the log with fewer ranks; NULL: there is no such log. */
struct text_times {
    const struct fit_draws *d, *fewer;
};

static void put_draws(struct fit_text *t, const char *what, const char *step, struct text_times times,
                      uint32_t ranks) {
    const struct fit_draws *d = times.d;
    if (d->points == 0) {
        return;
    }
    const double mean = fit_draws_mean(d), fewer = times.fewer == NULL ? 0 : fit_draws_mean(times.fewer);
    const double power =
        mean > LEAST_TIME && fewer > LEAST_TIME ? fit_scale_power(t->scale, mean, fewer, LEAST_GROWTH) : 0;
    fit_text_put(t, "  %s[%s] = ", what, step);
    if (power != 0) {
        fit_text_put(t, "growing(%.3g, ", power);
    }
    fit_text_put(t, d->follows ? "in_course(" : "");
    if (d->points == 2 && d->at[0] == d->at[1]) {
        fit_text_put(t, "always(");
        put_seconds(t, d->at[0]);
        put_factor(t, d, ranks);
    } else {
        fit_text_put(t, "draws(%zu, { ", d->count / ranks > 0 ? d->count / ranks : 1);
        put_points(t, d);
        put_factor(t, d, ranks);
        if (d->shared > 0) {
            fit_text_put(t, d->factor == NULL ? ", 1, %.2g" : ", %.2g", d->shared);
        }
    }
    fit_text_put(t, ")");
    if (d->follows && (d->first > 0 || d->course != NULL)) {
        fit_text_put(t, ", %.3g", d->first);
    }
    if (d->course != NULL) {
        fit_text_put(t, ", {");
        for (uint32_t g = 0; g < t->p->course.groups; g++) {
            fit_text_put(t, g % 12 == 0 ? "\n    %.3g," : " %.3g,", d->course[g]);
        }
        fit_text_put(t, "\n  }");
    }
    fit_text_put(t, "%s%s\n", d->follows ? ")" : "", power != 0 ? ")" : "");
}

void fit_text_put_luck(struct fit_text *t, const struct fit_role *r) {
    const struct fit_course *c = &t->p->course;
    if (r->lucks == NULL) {
        return;
    }
    fit_text_put(t, "  lucks = by_course([[\n");
    const size_t before = t->lines;
    for (uint32_t m = 0; m < r->ranks; m++) {
        for (uint32_t g = 0; g < c->groups; g++) {
            fit_text_put(t, " %8.3g", r->lucks[m * c->groups + g]);
        }
        fit_text_put(t, "\n");
    }
    t->table_lines += t->lines - before;
    fit_text_put(t, "]], 9, %" PRIu32 ")\n", c->groups);
}

void fit_text_put_course(struct fit_text *t) {
    const struct fit_course *c = &t->p->course;
    if (c->turns == 0) {
        return;
    }
    fit_text_put(t, "\nwidth = %" PRIu32 "\ncourse = {", c->width);
    for (uint32_t i = 0; i * c->width < c->turns; i++) {
        fit_text_put(t, i % 12 == 0 ? "\n  %.3g," : " %.3g,", c->factor[i]);
    }
    fit_text_put(t, "\n}\n");
}

/* Writes the means of the minor steps, whose times are short, up to the last such step. */
static void put_means(struct fit_text *t, const char *what, const struct fit_role *r, size_t of) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < r->tree.sites; i++) {
        const struct fit_draws *d = (const void *)((const char *)&r->site[i] + of);
        last = d->mean > 0 ? i + 1 : last;
    }
    if (last > 0) {
        fit_text_put(t, "  %s.mean = {", what);
        for (uint32_t i = 0; i < last; i++) {
            const struct fit_draws *d = (const void *)((const char *)&r->site[i] + of);
            fit_text_put(t, i % 12 == 0 ? "\n    %.3g," : " %.3g,", d->mean);
        }
        fit_text_put(t, "\n  }\n");
    }
}

void fit_text_put_times(struct fit_text *t, const struct fit_role *r) {
    static const size_t of[] = {offsetof(struct fit_site, gap), offsetof(struct fit_site, between),
                                offsetof(struct fit_site, rest)};
    static const char *const name[] = {"gap", "between", "rest"};
    for (size_t k = 0; k < 3; k++) {
        put_means(t, name[k], r, of[k]);
    }
    for (uint32_t i = 0; i <= r->tree.sites; i++) {
        char step[16] = "\"minor\"";
        if (i < r->tree.sites) {
            (void)snprintf(step, sizeof step, "%" PRIu32, i + 1);
        }
        for (size_t k = 0; k < 3; k++) {
            struct text_times times = {.d = (const void *)((const char *)&r->site[i] + of[k])};
            if (t->scale != NULL && i < r->tree.sites) {
                times.fewer = (const void *)((const char *)&fit_text_like(t, r)->site[i] + of[k]);
            }
            put_draws(t, name[k], step, times, r->ranks);
        }
    }
}
