/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/spec/traffic.h"

#include <stdlib.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Sums over the messages of a pair of ranks in a phase. The key of the table is { from << 32 | to, phase }. */
struct traffic_sum {
    uint64_t bytes, messages;
};

hpcw_status gen_traffic_new(uint32_t ranks, uint32_t phases, struct gen_traffic **out, hpcw_error *err) {
    struct gen_traffic *t = hpcw_i_calloc(1, sizeof *t);
    *out = NULL;
    if (t != NULL) {
        *t = (struct gen_traffic){.ranks = ranks,
                                  .phases = phases,
                                  .handler_ns = hpcw_i_calloc((size_t)phases * ranks, sizeof *t->handler_ns),
                                  .work_ns = hpcw_i_calloc((size_t)phases * ranks, sizeof *t->work_ns),
                                  .disturbed = hpcw_i_calloc((size_t)phases * ranks, sizeof *t->disturbed),
                                  .phase = hpcw_i_calloc(ranks, sizeof *t->phase),
                                  .sum = {.key_words = 2, .value_size = sizeof(struct traffic_sum)}};
    }
    if (t == NULL || t->handler_ns == NULL || t->work_ns == NULL || t->disturbed == NULL || t->phase == NULL) {
        gen_traffic_free(t);
        return hpcw_i_fail_memory(err, "workload", ranks, "ranks");
    }
    *out = t;
    return HPCW_OK;
}

void gen_traffic_free(struct gen_traffic *t) {
    if (t != NULL) {
        hpcw_i_free(t->handler_ns);
        hpcw_i_free(t->work_ns);
        hpcw_i_free(t->disturbed);
        hpcw_i_free(t->edge);
        hpcw_i_free(t->phase);
        hpcw_i_table_free(&t->sum);
        hpcw_i_free(t);
    }
}

static hpcw_status add_message(struct gen_traffic *t, uint32_t phase, const struct sim_event *e,
                               hpcw_error *err) {
    const uint64_t key[] = {(uint64_t)e->rank << 32 | e->peer, phase};
    struct traffic_sum *sum = hpcw_i_table_add(&t->sum, key, NULL);
    if (sum == NULL) {
        return hpcw_i_fail_memory(err, "workload", t->sum.count, "pairs of ranks");
    }
    sum->bytes += e->bytes;
    sum->messages++;
    return HPCW_OK;
}

hpcw_status gen_traffic_add(struct gen_traffic *t, const struct sim_event *e, hpcw_error *err) {
    const uint32_t phase = t->phase[e->rank] < t->phases ? t->phase[e->rank] : t->phases - 1;
    switch ((enum sim_what)e->what) {
    case SIM_COMPUTES:
        (e->number == SIM_WORK_HANDLER ? t->handler_ns : t->work_ns)[(size_t)phase * t->ranks + e->rank] +=
            e->bytes;
        return HPCW_OK;
    case SIM_PHASE:
        t->phase[e->rank] = (uint32_t)e->bytes + 1;
        return HPCW_OK;
    case SIM_SENT:
        return add_message(t, phase, e, err);
    default:
        return HPCW_OK;
    }
}

static int by_phase_and_ranks(const void *a, const void *b) {
    const struct gen_traffic_edge *x = a;
    const struct gen_traffic_edge *y = b;
    const uint64_t ranks_x = (uint64_t)x->from << 32 | x->to;
    const uint64_t ranks_y = (uint64_t)y->from << 32 | y->to;
    return x->phase != y->phase ? (x->phase < y->phase ? -1 : 1)
           : ranks_x != ranks_y ? (ranks_x < ranks_y ? -1 : 1)
                                : 0;
}

hpcw_status gen_traffic_sort(struct gen_traffic *t, hpcw_error *err) {
    uint64_t key[HPCW_I_TABLE_KEY];
    size_t at = 0;
    t->edge = hpcw_i_malloc((t->sum.count + 1) * sizeof *t->edge);
    if (t->edge == NULL) {
        return hpcw_i_fail_memory(err, "workload", t->sum.count, "pairs of ranks");
    }
    for (const struct traffic_sum *sum; (sum = hpcw_i_table_next(&t->sum, &at, key)) != NULL;) {
        t->edge[t->edges++] = (struct gen_traffic_edge){.phase = (uint32_t)key[1],
                                                        .from = (uint32_t)(key[0] >> 32),
                                                        .to = (uint32_t)key[0],
                                                        .bytes = sum->bytes,
                                                        .messages = sum->messages};
    }
    hpcw_i_table_free(&t->sum);
    qsort(t->edge, t->edges, sizeof *t->edge, by_phase_and_ranks);
    return HPCW_OK;
}

/* Returns the number of edges that belong to an earlier phase, or to this phase and a lower sender. */
static size_t edges_before(const struct gen_traffic *t, uint32_t phase, uint32_t from) {
    size_t low = 0;
    size_t high = t->edges;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct gen_traffic_edge *e = &t->edge[middle];
        if (e->phase < phase || (e->phase == phase && e->from < from)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const struct gen_traffic_edge *gen_traffic_edges(const struct gen_traffic *t, uint32_t phase, uint32_t from,
                                                 size_t *count) {
    const bool all = from == SIM_ANY;
    const size_t first = edges_before(t, phase, all ? 0 : from);
    *count = edges_before(t, phase, all ? SIM_ANY : from + 1) - first;
    return t->edge + first;
}
