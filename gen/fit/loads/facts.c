/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns the sums over load data into named facts. */
#include <math.h>

#include "gen/fit/loads/loads.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

enum { LAST = GEN_FIT_GROUPS - 1 };

/* Tolerance of the number of edges and of their bytes, as for the messages of a log. */
#define OF_AMOUNTS 0.05

struct gen_fit_load_moments gen_fit_loads_moments(const struct gen_fit_loads *l, size_t first, size_t last) {
    struct gen_fit_load_group sum = {0};
    for (size_t i = first; i <= last; i++) {
        for (size_t h = 0; h < 2; h++) {
            sum.tasks += l->group[i][h].tasks;
            sum.seconds += l->group[i][h].seconds;
            sum.x += l->group[i][h].x;
            sum.xx += l->group[i][h].xx;
        }
    }
    if (sum.tasks == 0) {
        return (struct gen_fit_load_moments){0};
    }
    const double mean = sum.x / sum.tasks;
    const double sd = sqrt(fmax(0, sum.xx / sum.tasks - mean * mean));
    /* A deviation this small is rounding error of equal values. */
    return (struct gen_fit_load_moments){sum.tasks, sum.seconds / sum.tasks, mean, sd < 1e-6 ? 0 : sd};
}

/* Returns the correlation of ln(seconds) between tasks on one rank: the mean product of the deviations of two
 * tasks, divided by the variance. */
static double same_rank(const struct gen_fit_load_group *p) {
    const double mean = p->x / p->tasks;
    const double variance = p->xx / p->tasks - mean * mean;
    const double pairs = p->nn - p->tasks;
    const double own = p->xx - 2 * mean * p->x + p->tasks * mean * mean;
    return pairs >= GEN_FIT_LEAST_VALUES && variance > 1e-12 * p->xx / p->tasks
               ? (p->ss - 2 * mean * p->nx + mean * mean * p->nn - own) / (pairs * variance)
               : NAN;
}

static struct gen_fit_load_group sums_of(const struct gen_fit_loads *l, size_t group, int half) {
    struct gen_fit_load_group sum = l->group[group][half == 1];
    if (half == 2) {
        const struct gen_fit_load_group *other = &l->group[group][1];
        sum.tasks += other->tasks;
        sum.x += other->x;
        sum.xx += other->xx;
        sum.nn += other->nn;
        sum.nx += other->nx;
        sum.ss += other->ss;
        gen_fit_pairs_merge(&sum.next, &other->next);
        gen_fit_pairs_merge(&sum.early, &other->early);
        gen_fit_pairs_merge(&sum.neighbour, &other->neighbour);
        gen_fit_pairs_merge(&sum.edge, &other->edge);
    }
    return sum;
}

double gen_fit_loads_correlation(const struct gen_fit_loads *l, enum gen_fit_load_correlation which, int half,
                                 size_t first, size_t last) {
    double sum = 0;
    double weights = 0;
    for (size_t i = first; i <= last; i++) {
        const struct gen_fit_load_group p = sums_of(l, i, half);
        const double value = which == GEN_FIT_NEXT        ? gen_fit_correlation(&p.next)
                             : which == GEN_FIT_EARLY     ? gen_fit_correlation(&p.early)
                             : which == GEN_FIT_SAME_RANK ? same_rank(&p)
                             : which == GEN_FIT_NEIGHBOUR ? gen_fit_correlation(&p.neighbour)
                                                          : gen_fit_correlation(&p.edge);
        if (!isnan(value)) {
            sum += p.tasks * value;
            weights += p.tasks;
        }
    }
    return weights > 0 ? sum / weights : NAN;
}

size_t gen_fit_loads_begin(const struct gen_fit_loads *l) {
    const struct gen_fit_load_moments setup = gen_fit_loads_moments(l, 0, 0);
    const struct gen_fit_load_moments run = gen_fit_loads_moments(l, 1, 1);
    if (run.tasks == 0) {
        return 0; /* the only phase cannot be a set-up */
    }
    if (setup.tasks == 0 || setup.seconds <= 0 || run.seconds <= 0) {
        return 1;
    }
    const double ratio = gen_fit_ln(setup.seconds / run.seconds);
    return ratio < -0.2 || ratio > 0.2 || fabs(setup.sd - run.sd) > 0.3 * fmax(run.sd, 0.05) ? 1 : 0;
}

struct gen_fit_sketch *gen_fit_loads_times(const struct gen_fit_loads *l, int half, size_t first, size_t last) {
    struct gen_fit_sketch *sketch = gen_fit_sketch_new(GEN_FIT_LEAST_SECONDS);
    for (size_t i = first; sketch != NULL && i < GEN_FIT_GROUPS && i <= last; i++) {
        if (l->group[i][half].time != NULL) {
            gen_fit_sketch_merge(sketch, l->group[i][half].time, 1);
        }
    }
    return sketch;
}

struct gen_fit_sketch *gen_fit_loads_ranks(const struct gen_fit_loads *l, int half, size_t first) {
    struct gen_fit_sketch *sketch = gen_fit_sketch_new(1e-6);
    for (size_t i = first; sketch != NULL && i < GEN_FIT_GROUPS; i++) {
        const struct gen_fit_load_group *p = l->group[i];
        const double mean = (p[0].seconds + p[1].seconds) / (p[0].ranks + p[1].ranks);
        if (p[half].rank != NULL && mean > 0) {
            gen_fit_sketch_merge(sketch, p[half].rank, 1 / mean);
        }
    }
    return sketch;
}

static hpcw_status add_marginal(struct gen_fit_facts *facts, const char *name, const char *unit,
                                struct gen_fit_sketch *a, struct gen_fit_sketch *b, hpcw_error *err) {
    if (a == NULL || b == NULL) {
        hpcw_i_free(a);
        hpcw_i_free(b);
        return hpcw_i_fail_memory(err, NULL, 2, "sketches");
    }
    return gen_fit_facts_add(
        facts,
        &(struct gen_fit_fact){
            .format = "vom", .name = name, .unit = unit, .kind = GEN_FIT_MARGINAL, .half = {a, b}},
        err);
}

static hpcw_status add_marginals(struct gen_fit_loads *l, struct gen_fit_facts *facts, hpcw_error *err) {
    const struct {
        const char *name, *unit;
        struct gen_fit_sketch **half;
    } own[] = {
        {"objects of a rank", "", l->objects},
        {"edges of an object", "", l->senders},
        {"bytes of an edge", "bytes", l->bytes},
        {"messages of an edge", "", l->messages},
    };
    hpcw_status s = add_marginal(facts, "task time in phase 0", "s", gen_fit_loads_times(l, 0, 0, 0),
                                 gen_fit_loads_times(l, 1, 0, 0), err);
    if (s == HPCW_OK) {
        s = add_marginal(facts, "task time from phase 1 on", "s", gen_fit_loads_times(l, 0, 1, GEN_FIT_GROUPS),
                         gen_fit_loads_times(l, 1, 1, GEN_FIT_GROUPS), err);
    }
    if (s == HPCW_OK) {
        s = add_marginal(facts, "load of a rank over the mean of its phase", "", gen_fit_loads_ranks(l, 0, 0),
                         gen_fit_loads_ranks(l, 1, 0), err);
    }
    for (size_t i = 0; s == HPCW_OK && i < sizeof own / sizeof own[0]; i++) {
        s = add_marginal(facts, own[i].name, own[i].unit, own[i].half[0], own[i].half[1], err);
        own[i].half[0] = own[i].half[1] = NULL;
    }
    return s;
}

hpcw_status gen_fit_loads_facts(struct gen_fit_loads *l, struct gen_fit_facts *facts, hpcw_error *err) {
    static const char *const correlation[] = {
        [GEN_FIT_NEXT] = "task times of a phase and the next one",
        [GEN_FIT_EARLY] = "task times of a phase and one far before it",
        [GEN_FIT_SAME_RANK] = "task times on the same rank",
        [GEN_FIT_NEIGHBOUR] = "mean task times of neighbouring ranks",
        [GEN_FIT_EDGE] = "task time and bytes of an edge to it",
    };
    const size_t first = l->phases > 1 ? 1 : 0;
    /* Objects of a rank are alike, so there are fewer independent samples than objects (Kish's design
     * effect). */
    const double on_rank = l->counts > 0 ? l->count_sum / l->counts : 0;
    const double alike = gen_fit_loads_correlation(l, GEN_FIT_SAME_RANK, 2, first, LAST);
    const double objects = on_rank * l->ranks / (1 + fmax(0, on_rank - 1) * (alike > 0 ? alike : 0));
    hpcw_status s = add_marginals(l, facts, err);
    for (size_t i = 0; s == HPCW_OK && i < sizeof correlation / sizeof correlation[0]; i++) {
        const enum gen_fit_load_correlation which = (enum gen_fit_load_correlation)i;
        s = gen_fit_facts_add(facts,
                              &(struct gen_fit_fact){
                                  .format = "vom",
                                  .name = correlation[i],
                                  .kind = GEN_FIT_CORRELATION,
                                  .value = gen_fit_loads_correlation(l, which, 2, first, LAST),
                                  .part = {gen_fit_loads_correlation(l, which, 0, first, LAST),
                                           gen_fit_loads_correlation(l, which, 1, first, LAST)},
                                  .samples = which >= GEN_FIT_SAME_RANK ? l->ranks : objects,
                              },
                              err);
    }
    const struct {
        const char *name, *unit;
        double value;
    } total[] = {{"edges", "", l->edge.traffic.all}, {"bytes of edges", "bytes", l->edge.traffic.bytes}};
    for (size_t i = 0; s == HPCW_OK && i < sizeof total / sizeof total[0]; i++) {
        s = gen_fit_facts_add(facts,
                              &(struct gen_fit_fact){.format = "vom",
                                                     .name = total[i].name,
                                                     .unit = total[i].unit,
                                                     .kind = GEN_FIT_RATIO,
                                                     .value = total[i].value,
                                                     .allowed = OF_AMOUNTS},
                              err);
    }
    const struct {
        const char *name;
        const double *part, *rest;
        bool of_sum; /* true: `rest` does not include `part` */
    } share[] = {
        {"objects that are new on a rank", l->arrived, l->stayed, true},
        {"edges between objects of different homes", l->edge.distant, l->edge.count, false},
    };
    for (size_t i = 0; s == HPCW_OK && i < sizeof share / sizeof share[0]; i++) {
        struct gen_fit_fact fact = {.format = "vom", .name = share[i].name, .kind = GEN_FIT_SHARE};
        double part = 0;
        double all = 0;
        for (size_t h = 0; h < 2; h++) {
            const double whole = share[i].rest[h] + (share[i].of_sum ? share[i].part[h] : 0);
            fact.part[h] = whole > 0 ? share[i].part[h] / whole : NAN;
            part += share[i].part[h];
            all += whole;
        }
        fact.value = all > 0 ? part / all : NAN;
        s = gen_fit_facts_add(facts, &fact, err);
    }
    return s;
}
