/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/realism/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *stats_alloc(size_t count, size_t size) {
    void *p = calloc(count > 0 ? count : 1, size);
    if (p == NULL) {
        (void)fprintf(stderr, "figures: out of memory: %zu of %zu bytes\n", count, size);
        exit(2);
    }
    return p;
}

void stats_add(struct stats_values *s, double value) {
    if (s->kept == NULL) {
        s->kept = stats_alloc(STATS_KEPT, sizeof *s->kept);
    }
    s->min = s->count == 0 || value < s->min ? value : s->min;
    s->max = s->count == 0 || value > s->max ? value : s->max;
    s->sum += value;
    s->sorted = 0;
    uint64_t at = s->count++;
    if (at >= STATS_KEPT) {
        /* Reservoir sampling: each value so far is in the sample with the same probability. */
        s->random = s->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        at = (s->random >> 20) % s->count;
    }
    if (at < STATS_KEPT) {
        s->kept[at] = value;
    }
}

void stats_free(struct stats_values *s) {
    free(s->kept);
    memset(s, 0, sizeof *s);
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double stats_quantile(struct stats_values *s, double share) {
    const size_t n = s->count < STATS_KEPT ? (size_t)s->count : STATS_KEPT;
    if (n == 0) {
        return 0;
    }
    if (s->sorted != n) {
        qsort(s->kept, n, sizeof *s->kept, by_value);
        s->sorted = n;
    }
    return s->kept[(size_t)(share * (double)(n - 1) + 0.5)];
}

void stats_pair(struct stats_pairs *p, double x, double y) {
    const double n = ++p->n;
    const double dx = x - p->x;
    const double dy = y - p->y;
    p->x += dx / n;
    p->y += dy / n;
    p->xx += dx * (x - p->x);
    p->yy += dy * (y - p->y);
    p->xy += dx * (y - p->y);
}

double stats_correlation(const struct stats_pairs *p) {
    return p->xx > 0 && p->yy > 0 ? p->xy / sqrt(p->xx * p->yy) : 0;
}

/* Quickselect: moves the k-th smallest value to index k; no value before it is larger. */
static void select_value(double *value, size_t count, size_t k) {
    size_t low = 0;
    size_t high = count - 1;
    while (low < high) {
        const double pivot = value[low + (high - low) / 2];
        size_t i = low;
        size_t j = high;
        for (;;) {
            while (value[i] < pivot) {
                i++;
            }
            while (value[j] > pivot) {
                j--;
            }
            if (i >= j) {
                break;
            }
            const double x = value[i];
            value[i++] = value[j];
            value[j--] = x;
        }
        if (k <= j) {
            high = j;
        } else {
            low = j + 1;
        }
    }
}

double stats_median(double *value, size_t count) {
    if (count == 0) {
        return 0;
    }
    const size_t k = count / 2;
    select_value(value, count, k);
    if (count % 2 != 0) {
        return value[k];
    }
    double below = value[0];
    for (size_t i = 1; i < k; i++) {
        below = fmax(below, value[i]);
    }
    return 0.5 * (below + value[k]);
}

void stats_robust(double *value, size_t count, double *median, double *sd) {
    *median = stats_median(value, count);
    for (size_t i = 0; i < count; i++) {
        value[i] = fabs(value[i] - *median);
    }
    *sd = 1.4826 * stats_median(value, count);
}
