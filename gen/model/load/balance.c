/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/load/balance.h"

#include <string.h>

#include "gen/model/load/whole.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

enum { KNOWN = 24 }; /* largest number of ranks whose loads a rank learns in one iteration */

struct balance {
    struct model_load *load;
    struct model_load_whole whole;
    uint32_t *rank;    /* [objects] rank of each object in the placement under construction */
    uint32_t *best;    /* [objects] rank of each object in the best placement so far */
    uint64_t *now_ns;  /* [ranks] current sum of the times of a rank's migratable objects */
    uint64_t *old_ns;  /* [ranks] value of now_ns at the begin of an iteration */
    uint32_t *objects; /* [ranks] */
};

/* Makes the list of each rank's objects from rank[objects]. */
static hpcw_status list(const struct balance *b, const uint32_t *rank, struct model_load_placement *p,
                        hpcw_error *err) {
    const struct model_load *m = b->load;
    uint32_t count = 0;
    for (uint32_t o = 0; o < m->objects; o++) {
        count += b->whole.time_ns[o] > 0;
    }
    p->first = hpcw_i_calloc(m->ranks + (size_t)1, sizeof *p->first);
    p->object = hpcw_i_malloc(count * sizeof *p->object);
    if (p->first == NULL || p->object == NULL) {
        return hpcw_i_fail_memory(err, "load", count, "objects of a placement");
    }
    for (uint32_t o = 0; o < m->objects; o++) {
        p->first[rank[o] + 1] += b->whole.time_ns[o] > 0;
    }
    for (uint32_t r = 0; r < m->ranks; r++) {
        p->first[r + 1] += p->first[r];
    }
    /* Fills the list of a rank from its end. Afterwards, p->first[r + 1] is the begin of the list of rank r. */
    for (uint32_t o = m->objects; o-- > 0;) {
        if (b->whole.time_ns[o] > 0) {
            p->object[--p->first[rank[o] + 1]] = o;
        }
    }
    memmove(p->first, p->first + 1, m->ranks * sizeof *p->first);
    p->first[m->ranks] = count;
    return HPCW_OK;
}

static uint64_t most_of(const uint64_t *load_ns, uint32_t ranks) {
    uint64_t most = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        most = load_ns[r] > most ? load_ns[r] : most;
    }
    return most;
}

/* ---- tempered ---- */

/* Ranks with a load below the mean, as another rank knows them. load_ns: load at the begin of the iteration,
 * plus the objects received from this rank since. */
struct known {
    uint32_t count, rank[KNOWN];
    uint64_t load_ns[KNOWN];
};

static void hear(const struct balance *b, uint32_t rank, uint32_t phase, uint32_t iteration, uint64_t mean_ns,
                 struct known *k) {
    const struct model_load *m = b->load;
    uint32_t w[4] = {0};
    k->count = 0;
    for (uint32_t i = 0; i < KNOWN; i++) {
        if (i % 4 == 0) {
            hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_GOSSIP, rank, phase, iteration * (KNOWN / 4) + i / 4, w);
        }
        const uint32_t other = (uint32_t)((uint64_t)w[i % 4] * m->ranks >> 32);
        bool is_new = b->old_ns[other] < mean_ns;
        for (uint32_t n = 0; n < k->count; n++) {
            is_new = is_new && k->rank[n] != other;
        }
        if (is_new) {
            k->rank[k->count] = other;
            k->load_ns[k->count++] = b->old_ns[other];
        }
    }
}

/* Picks one of the known ranks at random. The weight of a rank is the difference of the mean load and its load.
 * Returns k->count if no known rank is below the mean. */
static uint32_t choose(const struct known *k, uint64_t mean_ns, uint32_t word) {
    double free_ns[KNOWN];
    double sum = 0;
    for (uint32_t i = 0; i < k->count; i++) {
        free_ns[i] = k->load_ns[i] < mean_ns ? (double)(mean_ns - k->load_ns[i]) : 0;
        sum += free_ns[i];
    }
    double at = sum * hpcw_i_uniform(word);
    uint32_t chosen = k->count;
    for (uint32_t i = 0; i < k->count && at > 0; i++) {
        chosen = free_ns[i] > 0 ? i : chosen;
        at -= free_ns[i];
    }
    return chosen;
}

/* Moves objects away from a rank until its load is at most the mean or it has one object left. */
static void give(struct balance *b, const struct model_load_placement *p, uint32_t rank, uint32_t phase,
                 uint32_t iteration, uint64_t mean_ns) {
    struct known k;
    hear(b, rank, phase, iteration, mean_ns, &k);
    for (uint32_t i = p->first[rank]; i < p->first[rank + 1]; i++) {
        const uint32_t o = p->object[i];
        const uint64_t ns = b->whole.time_ns[o];
        uint32_t w[4];
        if (b->now_ns[rank] <= mean_ns || b->objects[rank] == 1) {
            break;
        }
        hpcw_i_draw(b->load->seed, HPCW_I_FOR_LOAD_GIVE, o, phase, iteration, w);
        const uint32_t to = choose(&k, mean_ns, w[0]);
        if (to < k.count && k.load_ns[to] + ns < b->now_ns[rank]) {
            b->rank[o] = k.rank[to];
            k.load_ns[to] += ns;
            b->now_ns[k.rank[to]] += ns;
            b->now_ns[rank] -= ns;
            b->objects[k.rank[to]]++;
            b->objects[rank]--;
        }
    }
}

/* Improves the placement in b->rank by the tempered algorithm. trial: [iterations] receives the placement after
 * each iteration; NULL: not wanted. */
static hpcw_status temper(struct balance *b, uint32_t phase, struct model_load_placement *trial,
                          hpcw_error *err) {
    const struct model_load *m = b->load;
    uint64_t sum_ns = 0;
    memset(b->now_ns, 0, m->ranks * sizeof *b->now_ns);
    memset(b->objects, 0, m->ranks * sizeof *b->objects);
    for (uint32_t o = 0; o < m->objects; o++) {
        sum_ns += b->whole.time_ns[o];
        b->now_ns[b->rank[o]] += b->whole.time_ns[o];
        b->objects[b->rank[o]] += b->whole.time_ns[o] > 0;
    }
    uint64_t best_ns = most_of(b->now_ns, m->ranks);
    memcpy(b->best, b->rank, m->objects * sizeof *b->best);
    hpcw_status s = HPCW_OK;
    for (uint32_t i = 0; s == HPCW_OK && i < m->params.balancer.iterations; i++) {
        struct model_load_placement before = {0};
        s = list(b, b->rank, &before, err);
        memcpy(b->old_ns, b->now_ns, m->ranks * sizeof *b->old_ns);
        for (uint32_t r = 0; s == HPCW_OK && r < m->ranks; r++) {
            if (b->old_ns[r] > sum_ns / m->ranks) {
                give(b, &before, r, phase, i, sum_ns / m->ranks);
            }
        }
        hpcw_i_free(before.first);
        hpcw_i_free(before.object);
        if (s == HPCW_OK && most_of(b->now_ns, m->ranks) < best_ns) {
            best_ns = most_of(b->now_ns, m->ranks);
            memcpy(b->best, b->rank, m->objects * sizeof *b->best);
        }
        if (s == HPCW_OK && trial != NULL) {
            s = list(b, b->rank, &trial[i], err);
        }
    }
    memcpy(b->rank, b->best, m->objects * sizeof *b->rank);
    return s;
}

/* ---- all placements ---- */

/* Returns the first phase in which a placement is used. */
static uint32_t phase_of(const struct model_load *m, uint32_t placement) {
    const uint32_t every = m->params.balancer.interval;
    return (placement + (every == 1)) * every;
}

static hpcw_status keep_times(const struct balance *b, struct model_load_placement *p, hpcw_error *err) {
    const size_t size = b->load->objects * sizeof *p->time_ns;
    p->time_ns = hpcw_i_malloc(size);
    if (p->time_ns == NULL) {
        return hpcw_i_fail_memory(err, "load", b->load->objects, "objects");
    }
    memcpy(p->time_ns, b->whole.time_ns, size);
    return HPCW_OK;
}

static hpcw_status make_placements(struct balance *b, hpcw_error *err) {
    struct model_load *m = b->load;
    hpcw_status s = HPCW_OK;
    for (uint32_t i = 0; s == HPCW_OK && i < m->placements; i++) {
        const uint32_t phase = phase_of(m, i);
        struct model_load_placement *trial =
            m->trial != NULL ? m->trial + (size_t)i * model_load_iterations(m) : NULL;
        model_load_whole_measure(&b->whole, i > 0 ? phase - 1 : 0);
        memcpy(b->rank, b->whole.rank, m->objects * sizeof *b->rank);
        if (i > 0 && m->params.balancer.kind == MODEL_BALANCER_GREEDY) {
            model_load_whole_greedy(&b->whole, b->rank);
            s = trial != NULL ? list(b, b->rank, trial, err) : HPCW_OK;
        } else if (i > 0) {
            s = temper(b, phase, trial, err);
        }
        s = s == HPCW_OK ? list(b, b->rank, &m->placement[i], err) : s;
        s = s == HPCW_OK && trial != NULL ? keep_times(b, &m->placement[i], err) : s;
        for (uint32_t r = 0; s == HPCW_OK && r < m->ranks; r++) {
            const uint32_t count = m->placement[i].first[r + 1] - m->placement[i].first[r];
            m->most = count > m->most ? count : m->most;
        }
    }
    return s;
}

static hpcw_status make_all(struct model_load *m, hpcw_error *err) {
    if (m->params.balancer.kind == MODEL_BALANCER_NONE) {
        return HPCW_OK;
    }
    const uint32_t every = m->params.balancer.interval;
    const uint32_t last = m->params.phases - 1;
    const uint32_t placements = 1 + (every > 1 ? last / every : last > 0 ? last - 1 : 0);
    const size_t trials =
        m->params.balancer.keep_iterations ? (size_t)placements * model_load_iterations(m) : 0;
    struct balance b = {.load = m,
                        .rank = hpcw_i_malloc(m->objects * sizeof *b.rank),
                        .best = hpcw_i_malloc(m->objects * sizeof *b.best),
                        .now_ns = hpcw_i_malloc(m->ranks * sizeof *b.now_ns),
                        .old_ns = hpcw_i_malloc(m->ranks * sizeof *b.old_ns),
                        .objects = hpcw_i_malloc(m->ranks * sizeof *b.objects)};
    m->placement = hpcw_i_calloc(placements, sizeof *m->placement);
    m->trial = trials > 0 ? hpcw_i_calloc(trials, sizeof *m->trial) : NULL;
    m->most = 0;
    hpcw_status s = b.rank == NULL || b.best == NULL || b.now_ns == NULL || b.old_ns == NULL ||
                            b.objects == NULL || m->placement == NULL || (trials > 0 && m->trial == NULL)
                        ? hpcw_i_fail_memory(err, "load", m->objects, "objects of a placement")
                        : HPCW_OK;
    s = s == HPCW_OK ? model_load_whole_new(&b.whole, m, err) : s;
    m->placements = m->placement != NULL ? placements : 0;
    s = s == HPCW_OK ? make_placements(&b, err) : s;
    model_load_whole_free(&b.whole);
    hpcw_i_free(b.rank);
    hpcw_i_free(b.best);
    hpcw_i_free(b.now_ns);
    hpcw_i_free(b.old_ns);
    hpcw_i_free(b.objects);
    return s;
}

/* ---- scenarios ---- */

/* Returns the largest factor by which the scenario raises the imbalance of a phase. Stops at the first phase
 * with a factor of at least MODEL_LOAD_LEAST_EFFECT. */
static double effect_of(struct model_load_whole *w) {
    const struct model_load_params *p = &w->load->params;
    double most = 0;
    for (uint32_t k = 0;
         most < MODEL_LOAD_LEAST_EFFECT && k < p->scenario.phases && p->scenario.first + k < p->phases; k++) {
        double with, without;
        model_load_whole_measure(w, p->scenario.first + k);
        model_load_whole_imbalance(w, &with, &without);
        const double effect = without > 0 ? with / without : with > 0 ? MODEL_LOAD_LEAST_EFFECT : 1;
        most = effect > most ? effect : most;
    }
    return most;
}

/* Doubles the factor of a scenario whose effect would be too small to see. */
static hpcw_status raise_factor(struct model_load *m, hpcw_error *err) {
    enum { MOST = 8 };
    struct model_load_whole w = {0};
    double effect = MODEL_LOAD_LEAST_EFFECT;
    hpcw_status s = HPCW_OK;
    if (m->params.scenario.kind != MODEL_SCENARIO_NONE) {
        s = model_load_whole_new(&w, m, err);
        effect = s == HPCW_OK ? effect_of(&w) : effect;
    }
    const double given = m->params.scenario.factor;
    for (int i = 0; effect < MODEL_LOAD_LEAST_EFFECT && i < MOST; i++) {
        m->params.scenario.factor *= 2;
        effect = effect_of(&w);
    }
    if (effect < MODEL_LOAD_LEAST_EFFECT) {
        s = hpcw_i_fail(
            err, HPCW_EINVAL,
            "load.scenario: expected a phase with an imbalance of at least %g times that without the "
            "scenario, got %.3g times with factors from %g to %g: it hits too many or too few ranks",
            MODEL_LOAD_LEAST_EFFECT, effect, given, m->params.scenario.factor);
    }
    model_load_whole_free(&w);
    return s;
}

hpcw_status model_load_settle(struct model_load *m, hpcw_error *err) {
    hpcw_status s = raise_factor(m, err);
    s = s == HPCW_OK ? make_all(m, err) : s;
    if (s != HPCW_OK) {
        model_load_free(m);
    }
    return s;
}
