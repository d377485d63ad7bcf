/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/links/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gen/fit/pairs.h"

static int by_place_and_time(const void *a, const void *b) {
    const struct gen_fit_timing *x = a;
    const struct gen_fit_timing *y = b;
    return x->place != y->place ? (x->place < y->place ? -1 : 1)
                                : (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* Median absolute deviation of sorted times. Walks outwards from the median, always to the nearer side. */
static double deviation_of(const struct gen_fit_timing *t, size_t count) {
    const double median = t[count / 2].seconds;
    size_t low = count / 2;
    size_t high = count / 2;
    double distance = 0;
    for (size_t i = 0; i < (count + 1) / 2; i++) {
        const double below = low > 0 ? median - t[low - 1].seconds : INFINITY;
        const double above = high < count ? t[high].seconds - median : INFINITY;
        distance = fmin(below, above);
        if (below < above) {
            low--;
        } else {
            high++;
        }
    }
    return distance;
}

static struct gen_fit_spread spread_in_place(const struct gen_fit_timing *t, size_t count) {
    const double median = t[count / 2].seconds;
    const double deviation = deviation_of(t, count);
    size_t out = 0;
    while (out < count && t[count - 1 - out].seconds > median + GEN_FIT_FAR_OUT * deviation) {
        out++;
    }
    /* The far out timings are at the end, since the timings are sorted. */
    const double excess = out > 0 ? t[count - 1 - out / 2].seconds - median : 0;
    return (struct gen_fit_spread){(double)count, median, deviation, (double)out, excess};
}

void gen_fit_spread_of(struct gen_fit_timing *t, size_t count, struct gen_fit_spread spread[GEN_FIT_PLACES]) {
    memset(spread, 0, GEN_FIT_PLACES * sizeof *spread);
    qsort(t, count, sizeof *t, by_place_and_time);
    for (size_t i = 0, end = 0; i < count; i = end) {
        while (end < count && t[end].place == t[i].place) {
            end++;
        }
        if (end - i >= GEN_FIT_LEAST_VALUES) {
            spread[t[i].place] = spread_in_place(t + i, end - i);
        }
    }
}

double gen_fit_far_out(const struct gen_fit_spread spread[GEN_FIT_PLACES]) {
    double timings = 0;
    double far_out = 0;
    for (size_t i = 0; i < GEN_FIT_PLACES; i++) {
        timings += spread[i].timings;
        far_out += spread[i].far_out;
    }
    return timings > 0 ? far_out / timings : NAN;
}

double gen_fit_mean_spread(const struct gen_fit_spread spread[GEN_FIT_PLACES]) {
    double timings = 0;
    double sum = 0;
    for (size_t i = 0; i < GEN_FIT_PLACES; i++) {
        timings += spread[i].timings;
        sum += spread[i].timings > 0 ? spread[i].timings * spread[i].deviation_s / spread[i].median_s : 0;
    }
    return timings > 0 ? sum / timings : NAN;
}
