/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/format/load_tally.h"

#include <math.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Inserts a rank or object in descending order of loads, and drops the lightest one. */
static void insert(struct gen_tally_heavy list[GEN_TALLY_HEAVIEST], struct gen_tally_heavy one) {
    size_t at = GEN_TALLY_HEAVIEST;
    while (at > 0 && (list[at - 1].load_ns < one.load_ns ||
                      (list[at - 1].load_ns == one.load_ns && list[at - 1].number > one.number))) {
        at--;
    }
    if (at < GEN_TALLY_HEAVIEST) {
        memmove(&list[at + 1], &list[at], (GEN_TALLY_HEAVIEST - 1 - at) * sizeof *list);
        list[at] = one;
    }
}

static void add_rank(struct gen_load_tally *t, uint32_t rank, uint64_t load_ns, uint64_t calm_ns) {
    t->sum += load_ns;
    t->squares += (unsigned __int128)load_ns * load_ns;
    t->calm_sum += calm_ns;
    t->calm_most = t->calm_most > calm_ns ? t->calm_most : calm_ns;
    insert(t->ranks, (struct gen_tally_heavy){load_ns, rank, rank});
}

/* Fills an empty tally. before: [objects] ranks of the objects in the phase before; receives those in this
 * phase. load_ns, calm_ns: [ranks] work space. */
static void add_phase(struct gen_load_tally *t, struct model_load_whole *w, uint32_t phase, uint32_t *before,
                      uint64_t *load_ns, uint64_t *calm_ns) {
    const struct model_load *m = w->load;
    model_load_whole_measure(w, phase);
    model_load_whole_ranks(w, load_ns, calm_ns);
    t->optimum = model_load_whole_optimum(w, NULL);
    model_load_whole_interrupt(w);
    for (uint32_t r = 0; r < m->ranks; r++) {
        add_rank(t, r, load_ns[r], calm_ns[r]);
    }
    for (uint32_t o = 0; o < m->objects; o++) {
        if (w->time_ns[o] > 0) {
            insert(t->objects, (struct gen_tally_heavy){w->time_ns[o], o, w->rank[o]});
            t->arrived += phase > 0 && w->rank[o] != before[o];
        }
        before[o] = w->rank[o];
    }
}

hpcw_status gen_tally_phases(const struct model_load *m, struct gen_load_tally *tally, hpcw_error *err) {
    struct model_load_whole w;
    uint32_t *before = hpcw_i_malloc(m->objects * sizeof *before);
    uint64_t *load_ns = hpcw_i_malloc(m->ranks * 2 * sizeof *load_ns);
    hpcw_status s = model_load_whole_new(&w, m, err);
    if (s == HPCW_OK && (before == NULL || load_ns == NULL)) {
        s = hpcw_i_fail_memory(err, "vom", m->objects, "objects");
    }
    for (uint32_t k = 0; s == HPCW_OK && k < m->params.phases; k++) {
        tally[k] = (struct gen_load_tally){.sum = 0};
        add_phase(&tally[k], &w, k, before, load_ns, load_ns + m->ranks);
    }
    model_load_whole_free(&w);
    hpcw_i_free(before);
    hpcw_i_free(load_ns);
    return s;
}

/* ---- figures ---- */

static double as_double(unsigned __int128 sum) {
    return (double)(uint64_t)(sum >> 64) * 0x1p64 + (double)(uint64_t)sum;
}

double gen_tally_mean(const struct gen_load_tally *t, uint32_t ranks) {
    return as_double(t->sum) * 1e-9 / ranks;
}

double gen_tally_sd(const struct gen_load_tally *t, uint32_t ranks) {
    double mean = gen_tally_mean(t, ranks);
    double variance = as_double(t->squares) * 1e-18 / ranks - mean * mean;
    return variance > 0 ? sqrt(variance) : 0;
}

double gen_tally_imbalance(const struct gen_load_tally *t, uint32_t ranks) {
    return (double)t->ranks[0].load_ns / 1e9 / gen_tally_mean(t, ranks) - 1;
}

double gen_tally_calm_imbalance(const struct gen_load_tally *t, uint32_t ranks) {
    return (double)t->calm_most / (as_double(t->calm_sum) / ranks) - 1;
}

double gen_tally_longest_first(const struct gen_load_tally *t, uint32_t ranks) {
    return (double)t->optimum.longest_first_ns / ((double)t->optimum.sum_ns / ranks) - 1;
}
