/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/format/load_tally.h"

#include <math.h>
#include <string.h>

#include "gen/spec/pool.h"
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

/* Phases that threads share. */
struct phases {
    const struct model_load *load;
    struct gen_load_tally *tally; /* [phases] */
};

/* Memory of a thread. */
struct thread {
    struct model_load_whole whole;
    uint32_t *before;            /* [objects] ranks of the objects in the phase before */
    uint64_t *load_ns, *calm_ns; /* [ranks] */
};

static hpcw_status begin(void *context, void *state, hpcw_error *err) {
    const struct model_load *m = ((const struct phases *)context)->load;
    struct thread *t = state;
    t->before = hpcw_i_malloc(m->objects * sizeof *t->before);
    t->load_ns = hpcw_i_malloc(m->ranks * sizeof *t->load_ns);
    t->calm_ns = hpcw_i_malloc(m->ranks * sizeof *t->calm_ns);
    hpcw_status s = model_load_whole_new(&t->whole, m, err);
    return s != HPCW_OK || (t->before != NULL && t->load_ns != NULL && t->calm_ns != NULL)
               ? s
               : hpcw_i_fail_memory(err, "vom", m->objects, "objects");
}

static hpcw_status add_phase(void *context, void *state, uint64_t phase, hpcw_error *err) {
    const struct phases *p = context;
    const struct model_load *m = p->load;
    struct thread *t = state;
    struct model_load_whole *w = &t->whole;
    struct gen_load_tally *tally = &p->tally[phase];
    (void)err;
    *tally = (struct gen_load_tally){.sum = 0};
    model_load_whole_place(w, (uint32_t)(phase > 0 ? phase - 1 : 0));
    memcpy(t->before, w->rank, m->objects * sizeof *t->before);
    model_load_whole_measure(w, (uint32_t)phase);
    model_load_whole_ranks(w, t->load_ns, t->calm_ns);
    tally->optimum = model_load_whole_optimum(w, NULL);
    model_load_whole_interrupt(w);
    for (uint32_t r = 0; r < m->ranks; r++) {
        add_rank(tally, r, t->load_ns[r], t->calm_ns[r]);
    }
    for (uint32_t o = 0; o < m->objects; o++) {
        if (w->time_ns[o] > 0) {
            insert(tally->objects, (struct gen_tally_heavy){w->time_ns[o], o, w->rank[o]});
            tally->arrived += w->rank[o] != t->before[o];
        }
    }
    return HPCW_OK;
}

static void end(void *context, void *state) {
    struct thread *t = state;
    (void)context;
    model_load_whole_free(&t->whole);
    hpcw_i_free(t->before);
    hpcw_i_free(t->load_ns);
    hpcw_i_free(t->calm_ns);
}

hpcw_status gen_tally_phases(const struct model_load *m, uint32_t jobs, struct gen_load_tally *tally,
                             hpcw_error *err) {
    struct phases all = {m, tally};
    const struct gen_pool_work work = {.name = "vom",
                                       .context = &all,
                                       .state_size = sizeof(struct thread),
                                       .begin = begin,
                                       .step = add_phase,
                                       .end = end};
    return gen_pool_run(jobs, 0, m->params.phases, 4, &work, err);
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
