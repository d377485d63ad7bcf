/* SPDX-License-Identifier: BSD-3-Clause */
/* Visibility of slow ports and slow cables in a result: doc/truth.md, "Visibility". */
#include "gen/format/linktest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gen/spec/visibility.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Sizes of the samples that give the spread of nodes and of pairs of switches. The value of a node or pair is
 * the mean of the medians of its ranks. With all ranks this would take as long as making the result.
 * MOST_PEERS: nodes. MOST_ROWS: ranks of all these nodes. MOST_SWITCHES: switches. SWITCH_ROWS: ranks of all
 * these switches, but at least FEW_RANKS of each. */
enum { MOST_PEERS = 128, MOST_ROWS = 512, MOST_SWITCHES = 192, SWITCH_ROWS = 256, FEW_RANKS = 4 };

/* Computes the mean of each row of values[items][of]. Leaves out NaN. */
static void means_of(const double *values, size_t items, uint32_t of, double *mean) {
    for (size_t i = 0; i < items; i++) {
        double sum = 0;
        uint32_t known = 0;
        for (uint32_t k = 0; k < of; k++) {
            const double x = values[i * of + k];
            known += isnan(x) ? 0 : 1;
            sum += isnan(x) ? 0 : x;
        }
        mean[i] = sum / known;
    }
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

/* Quickselect: moves the k-th smallest value to index k; no value before it is larger. */
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
        /* low .. j are at most the pivot; j + 1 .. high are at least the pivot. */
        if (k <= j) {
            high = j + 1;
        } else {
            low = j + 1;
        }
    }
}

/* Returns the median of log2(time) over the first `count` times. */
static double median_of_times(uint64_t *time_ps, size_t count) {
    if (count == 0) {
        return NAN;
    }
    const size_t half = count / 2;
    select_kth(time_ps, count, half);
    const double upper = hpcw_i_log2((double)time_ps[half]);
    if (count % 2 != 0) {
        return upper;
    }
    uint64_t below = 0;
    for (size_t i = 0; i < half; i++) {
        below = time_ps[i] > below ? time_ps[i] : below;
    }
    return 0.5 * (hpcw_i_log2((double)below) + upper);
}

/* Returns the median of a rank's timings with other hosts. */
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

hpcw_status gen_linktest_slow_ports(const struct gen_dataset *d, const bool *slow, double *sd,
                                    hpcw_error *err) {
    const uint32_t ppn = d->machine.params.ppn;
    const uint32_t nodes = d->ranks / ppn; /* without the last node if that has fewer ranks */
    const uint32_t peers = nodes < MOST_PEERS ? nodes : MOST_PEERS;
    const uint32_t rows = peers > 0 ? MOST_ROWS / peers : 1;
    const uint32_t of = ppn < rows ? ppn : rows;
    struct visibility_work w;
    double *values = hpcw_i_malloc((size_t)(peers + 1) * of * sizeof *values);
    double *mean = hpcw_i_malloc((size_t)(peers + 1) * sizeof *mean);
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
        /* If the node is in the sample, `at` is its index. Otherwise, the node is added after the sample. */
        uint32_t at = (uint32_t)(((uint64_t)node * peers + nodes - 1) / nodes);
        if (at >= peers || (uint64_t)at * nodes / peers != node) {
            at = peers;
            for (uint32_t k = 0; k < of; k++) {
                values[(size_t)at * of + k] =
                    median_of_row(&w, node * ppn + (uint32_t)((uint64_t)k * ppn / of));
            }
        }
        const size_t items = at == peers ? peers + 1 : peers;
        means_of(values, items, of, mean);
        sd[node] = gen_visibility_sd(mean, items, at);
    }
    end_work(&w);
    hpcw_i_free(values);
    hpcw_i_free(mean);
    return s;
}

/* ---- cables ---- */

/* A sample of switches that includes those of the slow cables. For some ranks at each switch, it has the median
 * timings with each other switch. */
struct cable_work {
    uint32_t *slot;   /* [switches] index in the sample, or UINT32_MAX */
    uint32_t *looked; /* [slots] switch */
    uint32_t slots;   /* switches in the sample */
    uint32_t of;      /* ranks in the sample for each switch; fewer if the switch has fewer */
    /* [slots + 1] end of the times with each switch, as an index in time_ps */
    size_t *end;
    uint64_t *time_ps; /* [ranks] times of one rank, sorted by switch of the partner */
    /* [slots * slots * of] median timings of ranks at one switch with the ranks at another */
    double *median;
    double *values; /* [slots * slots / 2][2 * of] medians for each pair of switches, both ways */
    double *mean;   /* [slots * slots / 2] */
};

static void end_cables(struct cable_work *c) {
    hpcw_i_free(c->slot);
    hpcw_i_free(c->looked);
    hpcw_i_free(c->end);
    hpcw_i_free(c->time_ps);
    hpcw_i_free(c->median);
    hpcw_i_free(c->values);
    hpcw_i_free(c->mean);
}

static void look_at(struct cable_work *c, uint32_t number) {
    if (c->slot[number] == UINT32_MAX) {
        c->looked[c->slots] = number;
        c->slot[number] = c->slots++;
    }
}

static hpcw_status begin_cables(struct cable_work *c, const struct gen_dataset *d,
                                const struct model_truth_cable *cable, size_t cables, hpcw_error *err) {
    const uint32_t switches = d->machine.switches;
    *c = (struct cable_work){.slots = 0};
    c->slot = hpcw_i_malloc(switches * sizeof *c->slot);
    c->looked = hpcw_i_malloc(switches * sizeof *c->looked);
    if (c->slot == NULL || c->looked == NULL) {
        return hpcw_i_fail_memory(err, "linktest", switches, "switches");
    }
    memset(c->slot, 0xff, switches * sizeof *c->slot);
    const uint32_t peers = switches < MOST_SWITCHES ? switches : MOST_SWITCHES;
    for (uint32_t i = 0; i < peers; i++) {
        look_at(c, (uint32_t)((uint64_t)i * switches / peers));
    }
    for (size_t i = 0; i < cables; i++) {
        look_at(c, cable[i].switch_a);
        look_at(c, cable[i].switch_b);
    }
    uint32_t most = 0; /* largest number of ranks at a switch */
    for (uint32_t i = 0; i < c->slots; i++) {
        const uint32_t ranks =
            (d->machine.switch_first[c->looked[i] + 1] - d->machine.switch_first[c->looked[i]]) *
            d->machine.params.ppn;
        most = ranks > most ? ranks : most;
    }
    c->of = SWITCH_ROWS / c->slots > FEW_RANKS ? SWITCH_ROWS / c->slots : FEW_RANKS;
    c->of = c->of < most ? c->of : most;
    const size_t square = (size_t)c->slots * c->slots;
    c->end = hpcw_i_malloc((c->slots + (size_t)1) * sizeof *c->end);
    c->time_ps = hpcw_i_malloc(d->ranks * sizeof *c->time_ps);
    c->median = hpcw_i_malloc(square * c->of * sizeof *c->median);
    c->values = hpcw_i_malloc(square * c->of * sizeof *c->values);
    c->mean = hpcw_i_malloc(square * sizeof *c->mean);
    return c->end != NULL && c->time_ps != NULL && c->median != NULL && c->values != NULL && c->mean != NULL
               ? HPCW_OK
               : hpcw_i_fail_memory(err, "linktest", square, "pairs of switches");
}

/* Computes the median of a rank's timings with each switch of the sample. value[i * c->of] gets the median of
 * switch i. NaN: there are no timings with ranks at the switch. */
static void medians_by_switch(struct visibility_work *w, struct cable_work *c, uint32_t rank, double *value) {
    const struct gen_dataset *d = w->d;
    const struct model_machine *m = &d->machine;
    hpcw_linktest_partners(w->schedule, rank, w->partner);
    model_linktest_row(&d->linktest, w->scratch, rank, 0, 0, d->linktest.steps, w->partner, w->time_ps, NULL,
                       NULL);
    memset(c->end, 0, (c->slots + (size_t)1) * sizeof *c->end);
    for (uint32_t k = 0; k < d->linktest.steps; k++) {
        const uint32_t slot = c->slot[m->node_switch[w->partner[k] / m->params.ppn]];
        w->partner[k] = slot;
        c->end[slot != UINT32_MAX ? slot + 1 : 0] += slot != UINT32_MAX;
    }
    for (uint32_t i = 0; i < c->slots; i++) {
        c->end[i + 1] += c->end[i];
    }
    /* end[i] starts at the begin of the times with switch i and moves to their end. */
    for (uint32_t k = 0; k < d->linktest.steps; k++) {
        if (w->partner[k] != UINT32_MAX) {
            c->time_ps[c->end[w->partner[k]]++] = w->time_ps[k];
        }
    }
    for (uint32_t i = 0; i < c->slots; i++) {
        const size_t begin = i == 0 ? 0 : c->end[i - 1];
        value[(size_t)i * c->of] = median_of_times(c->time_ps + begin, c->end[i] - begin);
    }
}

/* Returns the visibility of a cable among all pairs of switches of the same kind: in one group, or in two
 * groups. */
static double cable_visibility(const struct model_machine *m, struct cable_work *c,
                               const struct model_truth_cable *cable) {
    const bool one_group = m->switch_group[cable->switch_a] == m->switch_group[cable->switch_b];
    size_t items = 0;
    size_t at = SIZE_MAX;
    for (uint32_t i = 0; i < c->slots; i++) {
        for (uint32_t k = 0; k < i; k++) {
            const uint32_t x = c->looked[i], y = c->looked[k];
            if ((m->switch_group[x] == m->switch_group[y]) != one_group) {
                continue;
            }
            double *value = c->values + items * 2 * c->of;
            memcpy(value, c->median + ((size_t)i * c->slots + k) * c->of, c->of * sizeof *value);
            memcpy(value + c->of, c->median + ((size_t)k * c->slots + i) * c->of, c->of * sizeof *value);
            bool known = false; /* a bisection test has no timings within a half of the ranks */
            for (uint32_t r = 0; r < 2 * c->of; r++) {
                known = known || !isnan(value[r]);
            }
            if (known) {
                at = (x == cable->switch_a && y == cable->switch_b) ||
                             (y == cable->switch_a && x == cable->switch_b)
                         ? items
                         : at;
                items++;
            }
        }
    }
    if (at == SIZE_MAX || items < 2) {
        return NAN;
    }
    means_of(c->values, items, 2 * c->of, c->mean);
    return gen_visibility_sd(c->mean, items, at);
}

hpcw_status gen_linktest_slow_cables(const struct gen_dataset *d, const struct model_truth_cable *cable,
                                     size_t cables, double *sd, hpcw_error *err) {
    const struct model_machine *m = &d->machine;
    struct visibility_work w;
    struct cable_work c = {.slots = 0};
    hpcw_status s = begin_work(&w, d, err);
    s = s == HPCW_OK ? begin_cables(&c, d, cable, cables, err) : s;
    for (uint32_t i = 0; s == HPCW_OK && i < c.slots; i++) {
        const uint64_t first = (uint64_t)m->switch_first[c.looked[i]] * m->params.ppn;
        const uint64_t last = (uint64_t)m->switch_first[c.looked[i] + 1] * m->params.ppn;
        const uint64_t ranks = (last < m->ranks ? last : m->ranks) - first;
        const uint64_t rows = ranks < c.of ? ranks : c.of;
        for (uint32_t k = 0; k < c.of; k++) {
            double *value = c.median + (size_t)i * c.slots * c.of + k;
            if (k < rows) {
                medians_by_switch(&w, &c, (uint32_t)(first + k * ranks / rows), value);
                continue;
            }
            for (uint32_t other = 0; other < c.slots; other++) {
                value[(size_t)other * c.of] = NAN;
            }
        }
    }
    for (size_t i = 0; s == HPCW_OK && i < cables; i++) {
        sd[i] = cable_visibility(m, &c, &cable[i]);
    }
    end_cables(&c);
    end_work(&w);
    return s;
}
