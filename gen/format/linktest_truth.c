/* SPDX-License-Identifier: BSD-3-Clause */
/* How visible slow ports and cables are in the result: doc/realism.md, "Visibility". */
#include "gen/format/linktest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gen/spec/visibility.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/*
 * The value of a node is the mean of its ranks' medians, that of a pair of switches likewise. A few of them, with a few of
 * their ranks, say how they spread; more would take as long as to make the result. What the mean of fewer ranks spreads more
 * follows from how the ranks of one node spread.
 */
enum { MOST_PEERS = 128, MOST_ROWS = 512, CABLE_PEERS = 48, CABLE_RANKS = 6 };

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *value, size_t count) {
    qsort(value, count, sizeof *value, by_value);
    return count % 2 != 0 ? value[count / 2] : 0.5 * (value[count / 2 - 1] + value[count / 2]);
}

/* Means of values[items][of], and what is to be multiplied with a visibility from them, to get that from means of `all`. */
static double means_of(const double *values, size_t items, uint32_t of, uint32_t all, double *mean,
                       double *work) {
    double within = 0;
    for (size_t i = 0; i < items; i++) {
        double squares = 0;
        mean[i] = 0;
        for (uint32_t k = 0; k < of; k++) {
            mean[i] += values[i * of + k] / of;
        }
        for (uint32_t k = 0; k < of; k++) {
            const double off = values[i * of + k] - mean[i];
            squares += off * off;
        }
        work[i] = of > 1 ? squares / (of - 1) : 0;
    }
    within = median(work, items); /* faults among them change it little */
    memcpy(work, mean, items * sizeof *mean);
    const double middle = median(work, items);
    for (size_t i = 0; i < items; i++) {
        work[i] = fabs(mean[i] - middle);
    }
    const double sd = 1.4826 * median(work, items), square = sd * sd;
    const double right = square - within / of + within / all;
    return square > 0 ? sqrt(square / (right > square * 0.01 ? right : square * 0.01)) : 1;
}

struct visibility_work {
    const struct gen_dataset *d;
    hpcw_linktest_schedule *schedule;
    struct model_linktest_scratch *scratch;
    uint32_t *partner;
    uint64_t *time_ps;
};

static void end_work(struct visibility_work *w) {
    hpcw_linktest_schedule_free(w->schedule);
    model_linktest_scratch_free(w->scratch);
    hpcw_i_free(w->partner);
    hpcw_i_free(w->time_ps);
}

static hpcw_status begin_work(struct visibility_work *w, const struct gen_dataset *d, hpcw_error *err) {
    const hpcw_linktest_params p = gen_linktest_params(d);
    *w = (struct visibility_work){.d = d};
    hpcw_status s = hpcw_linktest_schedule_new(&p, 0, &w->schedule, err);
    if (s == HPCW_OK) {
        s = model_linktest_scratch_new(&d->linktest, &w->scratch, err);
    }
    w->partner = hpcw_i_malloc(d->ranks * sizeof *w->partner);
    w->time_ps = hpcw_i_malloc(d->ranks * sizeof *w->time_ps);
    if (s == HPCW_OK && (w->partner == NULL || w->time_ps == NULL)) {
        s = hpcw_i_fail_memory(err, "linktest", d->ranks, "timings");
    }
    return s;
}

/* Puts the k-th smallest of the values in its place, with none larger before it. */
static void select_kth(uint64_t *value, size_t count, size_t k) {
    size_t low = 0, high = count;
    while (high - low > 1) {
        const uint64_t pivot = value[low + (high - 1 - low) / 2];
        size_t i = low, j = high - 1;
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
            const uint64_t x = value[i];
            value[i++] = value[j];
            value[j--] = x;
        }
        /* low .. j are at most the pivot, j + 1 .. at least. */
        if (k <= j) {
            high = j + 1;
        } else {
            low = j + 1;
        }
    }
}

/* Median of log2 of the first `count` times. */
static double median_of_times(uint64_t *time_ps, size_t count) {
    if (count == 0) {
        return NAN;
    }
    select_kth(time_ps, count, count / 2);
    const double upper = hpcw_i_log2((double)time_ps[count / 2]);
    if (count % 2 != 0) {
        return upper;
    }
    uint64_t below = 0;
    for (size_t i = 0; i < count / 2; i++) {
        below = time_ps[i] > below ? time_ps[i] : below;
    }
    return 0.5 * (hpcw_i_log2((double)below) + upper);
}

/* The median of a rank's timings with other hosts. */
static double median_of_row(struct visibility_work *w, uint32_t rank) {
    const struct gen_dataset *d = w->d;
    const uint32_t ppn = d->machine.params.ppn, own = rank / ppn * ppn;
    size_t count = 0;
    hpcw_linktest_partners(w->schedule, rank, w->partner);
    model_linktest_row(&d->linktest, w->scratch, rank, 0, 0, d->linktest.steps, w->partner, w->time_ps, NULL,
                       NULL);
    for (uint32_t k = 0; k < d->linktest.steps; k++) {
        if (w->partner[k] - own >= ppn) {
            w->time_ps[count++] = w->time_ps[k];
        }
    }
    return median_of_times(w->time_ps, count);
}

/* The same with the ranks first .. end - 1; NaN if it met none. */
static double median_with(struct visibility_work *w, uint32_t rank, uint32_t first, uint32_t end) {
    size_t count = 0;
    hpcw_linktest_partners(w->schedule, rank, w->partner);
    for (uint32_t k = 0; k < w->d->linktest.steps; k++) {
        if (w->partner[k] - first < end - first) {
            w->time_ps[count++] = model_linktest_one(&w->d->linktest, rank, w->partner[k], 0, k);
        }
    }
    return median_of_times(w->time_ps, count);
}

hpcw_status gen_linktest_slow_ports(const struct gen_dataset *d, const bool *slow, double *sd,
                                    hpcw_error *err) {
    const uint32_t ppn = d->machine.params.ppn;
    const uint32_t nodes = d->ranks / ppn; /* the last one may have fewer ranks */
    const uint32_t peers = nodes < MOST_PEERS ? nodes : MOST_PEERS;
    const uint32_t rows = peers > 0 ? MOST_ROWS / peers : 1;
    const uint32_t of = ppn < rows ? ppn : rows;
    struct visibility_work w;
    double *values = hpcw_i_malloc((size_t)(peers + 1) * of * sizeof *values);
    double *mean = hpcw_i_malloc((size_t)(peers + 1) * 2 * sizeof *mean), *work = mean + peers + 1;
    hpcw_status s = begin_work(&w, d, err);
    if (s == HPCW_OK && (values == NULL || mean == NULL)) {
        s = hpcw_i_fail_memory(err, "linktest", peers, "nodes");
    }
    for (uint32_t node = 0; s == HPCW_OK && node < d->machine.nodes; node++) {
        sd[node] = NAN;
    }
    for (uint32_t i = 0; s == HPCW_OK && i < peers; i++) {
        const uint32_t node = (uint32_t)((uint64_t)i * nodes / peers);
        for (uint32_t k = 0; k < of; k++) {
            values[(size_t)i * of + k] = median_of_row(&w, node * ppn + (uint32_t)((uint64_t)k * ppn / of));
        }
    }
    for (uint32_t node = 0; s == HPCW_OK && node < nodes; node++) {
        if (!slow[node]) {
            continue;
        }
        /* The node itself, in its place among the others or after them. */
        uint32_t at = (uint32_t)(((uint64_t)node * peers + nodes - 1) / nodes);
        if (at >= peers || (uint64_t)at * nodes / peers != node) {
            at = peers;
            for (uint32_t k = 0; k < of; k++) {
                values[(size_t)at * of + k] =
                    median_of_row(&w, node * ppn + (uint32_t)((uint64_t)k * ppn / of));
            }
        }
        const size_t items = at == peers ? peers + 1 : peers;
        const double right = means_of(values, items, of, ppn, mean, work);
        sd[node] = right * gen_visibility_sd(mean, items, at);
    }
    end_work(&w);
    hpcw_i_free(values);
    hpcw_i_free(mean);
    return s;
}

/* The medians of a few ranks at each of two switches with those at the other one. */
static void medians_of_pair(struct visibility_work *w, uint32_t a, uint32_t b, uint32_t of, double *value) {
    const struct model_machine *m = &w->d->machine;
    const uint32_t at[2] = {a, b};
    for (int side = 0; side < 2; side++) {
        uint32_t first[2];
        uint32_t end[2];
        for (int k = 0; k < 2; k++) {
            const uint64_t last = (uint64_t)m->switch_first[at[k] + 1] * m->params.ppn;
            first[k] = m->switch_first[at[k]] * m->params.ppn;
            end[k] = last < m->ranks ? (uint32_t)last : m->ranks;
        }
        const uint32_t ranks = end[side] - first[side];
        for (uint32_t k = 0; k < of; k++) {
            value[(uint32_t)side * of + k] =
                median_with(w, first[side] + (uint32_t)((uint64_t)k * ranks / of), first[!side], end[!side]);
        }
    }
}

hpcw_status gen_linktest_slow_cable(const struct gen_dataset *d, uint32_t a, uint32_t b, double *sd,
                                    hpcw_error *err) {
    const struct model_machine *m = &d->machine;
    const bool one_group = m->switch_group[a] == m->switch_group[b];
    const uint32_t of = 2 * CABLE_RANKS;
    struct visibility_work w;
    double values[(CABLE_PEERS + 1) * 2 * CABLE_RANKS], mean[CABLE_PEERS + 1], work[CABLE_PEERS + 1];
    hpcw_status s = begin_work(&w, d, err);
    *sd = NAN;
    if (s == HPCW_OK) {
        medians_of_pair(&w, a, b, CABLE_RANKS, values);
        /* Other pairs of switches, of one group or of two as these are, spread over all. */
        const uint64_t pairs = (uint64_t)m->switches * (m->switches - 1) / 2;
        size_t items = 1;
        uint64_t same = 0;
        uint64_t seen = 0;
        for (uint32_t pass = 0; pass < 2 && pairs > 1; pass++) {
            for (uint32_t i = 0; i < m->switches; i++) {
                for (uint32_t k = i + 1; k < m->switches; k++) {
                    if ((m->switch_group[i] == m->switch_group[k]) != one_group || (i == a && k == b)) {
                        continue;
                    }
                    if (pass == 0) {
                        same++;
                    } else if (same <= CABLE_PEERS ||
                               seen * CABLE_PEERS / same != (seen + 1) * CABLE_PEERS / same) {
                        medians_of_pair(&w, i, k, CABLE_RANKS, values + items * of);
                        items += isnan(values[items * of]) ? 0 : 1;
                    }
                    seen += pass;
                }
            }
        }
        const uint32_t all =
            (m->switch_first[a + 1] - m->switch_first[a] + m->switch_first[b + 1] - m->switch_first[b]) *
            m->params.ppn;
        const double right = means_of(values, items, of, all, mean, work);
        *sd = right * gen_visibility_sd(mean, items, 0);
    }
    end_work(&w);
    return s;
}
