/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/program/draws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gen/fit/pairs.h"
#include "gen/fit/sketch.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"

bool fit_draws_add(struct fit_draws *d, struct fit_time time) {
    struct fit_time *grown = hpcw_i_grow(d->time, &d->capacity, d->count + 1, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    d->time = grown;
    time.value = time.value > 0 ? time.value : 0;
    d->time[d->count++] = time;
    d->sum += time.value;
    return true;
}

/* ---- members ---- */

/* Members (ranks of a role) get factors if the variance between their means is more than twice what the variance
 * within them explains. */
bool fit_draws_members(struct fit_draws *d, uint32_t members, double least) {
    if (d->count == 0 || d->sum <= 0 || members > FIT_MOST_MEMBERS) {
        return true;
    }
    double *mean = hpcw_i_calloc(members, sizeof *mean);
    double *squares = hpcw_i_calloc(members, sizeof *squares);
    uint32_t *count = hpcw_i_calloc(members, sizeof *count);
    const bool good = mean != NULL && squares != NULL && count != NULL;
    const double whole = d->sum / (double)d->count;
    for (size_t i = 0; good && i < d->count; i++) {
        const struct fit_time *time = &d->time[i];
        mean[time->member] += time->value;
        squares[time->member] += time->value * time->value;
        count[time->member]++;
    }
    double between = 0, chance = 0, most = 0;
    for (uint32_t m = 0; good && m < members; m++) {
        const double n = count[m] > 0 ? count[m] : 1;
        mean[m] = count[m] > 0 ? mean[m] / n : whole;
        between += (mean[m] - whole) * (mean[m] - whole);
        chance += n > 1 ? fmax(0, squares[m] / n - mean[m] * mean[m]) / (n - 1) : 0;
        most = fmax(most, fabs(mean[m] - whole) * n);
    }
    if (good && members > 1 && whole > 0 && most > least && between > 2 * chance) {
        for (uint32_t m = 0; m < members; m++) {
            mean[m] = mean[m] / whole;
        }
        for (size_t i = 0; i < d->count; i++) {
            struct fit_time *time = &d->time[i];
            time->value = mean[time->member] > 0 ? time->value / mean[time->member] : whole;
        }
        d->factor = mean;
        mean = NULL;
    }
    hpcw_i_free(mean);
    hpcw_i_free(squares);
    hpcw_i_free(count);
    return good;
}

/* ---- what members have in common ---- */

/* A lower correlation counts as 0. */
#define LEAST_SHARED 0.1

void fit_draws_compare(struct fit_draws *d, uint32_t members) {
    struct gen_fit_pairs pairs = {.n = 0};
    const size_t times = d->count / members;
    bool even = members > 1 && times * members == d->count;
    for (size_t i = 0; even && i < d->count; i++) {
        even = d->time[i].member == i / times; /* sorted by member, with equally many times each */
    }
    for (size_t m = 0; even && m + 1 < members; m++) {
        for (size_t i = 0; i < times; i++) {
            gen_fit_pair(&pairs, gen_fit_ln(fmax(1e-9, d->time[m * times + i].value)),
                         gen_fit_ln(fmax(1e-9, d->time[(m + 1) * times + i].value)));
        }
    }
    const double correlation = times >= FIT_LEAST_VALUES ? gen_fit_correlation(&pairs) : 0;
    d->shared = correlation > LEAST_SHARED ? fmin(correlation, 1) : 0;
}

/* ---- points ---- */

static int by_value(const void *a, const void *b) {
    const struct fit_time *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* Returns the mean of FIT_LEAST_VALUES successive sorted values that include the i-th one. Of all such ranges,
 * the narrowest one is taken, so that a jump of the distribution is kept. */
static double near(const struct fit_draws *d, size_t i) {
    const size_t most = d->count - FIT_LEAST_VALUES; /* begin of the last possible range */
    size_t first = i < most ? i : most;
    for (size_t before = 1; before < FIT_LEAST_VALUES && before <= i; before++) {
        const size_t other = i - before < most ? i - before : most;
        const double spread = d->time[first + FIT_LEAST_VALUES - 1].value - d->time[first].value;
        first = d->time[other + FIT_LEAST_VALUES - 1].value - d->time[other].value < spread ? other : first;
    }
    double sum = 0;
    for (size_t k = first; k < first + FIT_LEAST_VALUES; k++) {
        sum += d->time[k].value;
    }
    return sum / FIT_LEAST_VALUES;
}

/* Returns the index of the value farthest from the line between two points of the distribution function, at
 * least FIT_LEAST_VALUES values away from both. *most: distance of the value from the line, as a share of all
 * values. */
static size_t worst_between(const struct fit_draws *d, size_t first, size_t last, double *most) {
    const double low = d->time[first].value, high = d->time[last].value;
    size_t worst = first;
    *most = 0;
    for (size_t i = first + FIT_LEAST_VALUES; high > low && i + FIT_LEAST_VALUES <= last; i++) {
        const double at = (d->time[i].value - low) / (high - low);
        const double off = fabs((double)first + at * (double)(last - first) - (double)i) / (double)d->count;
        if (off > *most) {
            *most = off;
            worst = i;
        }
    }
    return worst;
}

/* Moves the points so that the distribution has the mean of the values. */
static void keep_mean(struct fit_draws *d) {
    double drawn = 0;
    for (size_t p = 0; p + 1 < d->points; p++) {
        drawn += (d->share[p + 1] - d->share[p]) * (d->at[p] + d->at[p + 1]) / 2;
    }
    double mean = 0;
    for (size_t i = 0; i < d->count; i++) {
        mean += d->time[i].value / (double)d->count;
    }
    /* The last point is moved first, since it is the end of the line that stands for the longest times. */
    const size_t last = d->points - 1;
    const double share = d->share[last] - d->share[last - 1];
    const double moved = d->at[last] + 2 * (mean - drawn) / share;
    if (moved >= d->at[last - 1]) {
        d->at[last] = moved;
        return;
    }
    for (size_t p = 0; p < d->points; p++) {
        d->at[p] *= drawn > 0 ? mean / drawn : 1;
    }
}

/* Smaller differences of the distribution function are ignored. This is half of what a comparison allows. */
#define FINE 0.025

static void learn_points(struct fit_draws *d) {
    size_t at[FIT_POINTS] = {0, d->count - 1};
    d->points = 2;
    qsort(d->time, d->count, sizeof *d->time, by_value);
    while (d->points < FIT_POINTS) {
        double most = FINE;
        size_t worst = 0, after = 0;
        for (size_t p = 0; p + 1 < d->points; p++) {
            double off;
            const size_t i = worst_between(d, at[p], at[p + 1], &off);
            if (off > most) {
                most = off;
                worst = i;
                after = p;
            }
        }
        if (worst == 0) {
            break;
        }
        memmove(at + after + 2, at + after + 1, (d->points - after - 1) * sizeof *at);
        at[after + 1] = worst;
        d->points++;
    }
    for (size_t p = 0; p < d->points; p++) {
        d->share[p] = ((double)at[p] + 0.5) / (double)d->count;
        d->at[p] = near(d, at[p]);
    }
    d->share[0] = 0;
    d->share[d->points - 1] = 1;
    keep_mean(d);
}

void fit_draws_learn(struct fit_draws *d) {
    if (d->count >= 2 * FIT_LEAST_VALUES && d->sum > 0) {
        learn_points(d);
    } else if (d->sum > 0) {
        double mean = 0;
        for (size_t i = 0; i < d->count; i++) {
            mean += d->time[i].value / (double)d->count;
        }
        d->points = 2;
        d->share[0] = 0;
        d->share[1] = 1;
        d->at[0] = d->at[1] = mean;
    }
    hpcw_i_free(d->time);
    d->time = NULL;
}

double fit_draws_mean(const struct fit_draws *d) {
    double mean = d->points == 0 ? d->mean : 0;
    for (size_t p = 0; p + 1 < d->points; p++) {
        mean += (d->share[p + 1] - d->share[p]) * (d->at[p] + d->at[p + 1]) / 2;
    }
    return mean;
}

void fit_draws_free(struct fit_draws *d) {
    hpcw_i_free(d->time);
    hpcw_i_free(d->factor);
    hpcw_i_free(d->course);
    *d = (struct fit_draws){0};
}
