/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/loads/learning.h"

#include <math.h>
#include <stdlib.h>

#include "gen/fit/shape.h"
#include "gen/model/draw/grid.h"

/* Returns the mean product of the model's smooth load field at two positions of one block of objects (apart = 0) or
 * of two adjacent blocks (apart = 1), along one dimension. The field has one value in the middle of each rank's
 * block, and is interpolated between. side: positions in a block. rho: correlation of the field between adjacent
 * blocks. */
static double field_product(uint32_t side, double rho, int apart) {
    double sum = 0;
    side = side < 32 ? side : 32; /* a longer side changes the mean by less than 0.001 */
    for (uint32_t i = 0; i < side; i++) {
        for (uint32_t k = 0; k < side; k++) {
            const double a = (i + 0.5) / side - 0.5;
            const double b = (k + 0.5) / side - 0.5;
            const double share[2] = {fabs(a), fabs(b)};
            const int step[2] = {a < 0 ? -1 : 1, b < 0 ? -1 : 1};
            double product = 0;
            double norm = 1;
            for (int c = 0; c < 2; c++) {
                norm *=
                    (1 - share[c]) * (1 - share[c]) + share[c] * share[c] + 2 * (1 - share[c]) * share[c] * rho;
                for (int d = 0; d < 2; d++) {
                    const int far = (c ? step[0] : 0) - (apart + (d ? step[1] : 0));
                    product +=
                        (c ? share[0] : 1 - share[0]) * (d ? share[1] : 1 - share[1]) * pow(rho, abs(far));
                }
            }
            sum += product / sqrt(norm);
        }
    }
    return sum / ((double)side * side);
}

/* Returns the mean correlation of the field between the objects of a block (apart = 0), or with those of the
 * next rank's block along the last dimension (apart = 1). */
static double field_of_block(const uint32_t block[3], uint32_t dims, double rho, int apart) {
    double product = 1;
    for (uint32_t d = 0; d < dims; d++) {
        product *= field_product(block[d], rho, d == dims - 1 ? apart : 0);
    }
    return product;
}

static void learn_persistence(struct fit_learning *g, struct gen_fit_lasting p) {
    fit_learn(g, "load.persistence_first", p.first, GEN_FIT_PER_OBJECT);
    fit_learn(g, "load.persistence", p.last, GEN_FIT_PER_OBJECT);
}

/* Returns the covariance of the mean ln(seconds) of neighbouring ranks in a phase, divided by the variance of
 * ln(seconds). */
static double neighbour_share(const struct fit_learning *g) {
    double sum = 0;
    double weights = 0;
    for (size_t i = g->begin; i < GEN_FIT_GROUPS; i++) {
        struct gen_fit_pairs p = g->l->group[i][0].neighbour;
        const struct gen_fit_load_moments m = gen_fit_loads_moments(g->l, i, i);
        gen_fit_pairs_merge(&p, &g->l->group[i][1].neighbour);
        if (p.n >= GEN_FIT_LEAST_VALUES && m.sd > 1e-6) {
            sum += m.tasks * gen_fit_covariance(&p) / (m.sd * m.sd);
            weights += m.tasks;
        }
    }
    return weights > 0 ? sum / weights : NAN;
}

static void learn_ranks(struct fit_learning *g) {
    const double persistence = fmax(g->lasts, 0.05);
    double same = gen_fit_loads_correlation(g->l, GEN_FIT_SAME_RANK, 2, g->begin, FIT_LAST_GROUP);
    double next = neighbour_share(g);
    uint32_t block[3] = {1, 1, 1};
    if (isnan(same) && g->l->count_sum == g->l->counts && !isnan(next)) {
        /* With one object on each rank, load.alike and load.correlation cannot be told apart, so load.alike is
         * 1. */
        fit_learn(g, "load.alike", 1, GEN_FIT_PER_RANK);
        g->near = fmin(1, gen_fit_correlation_behind(&g->tail, fmax(0, next)) / persistence);
        fit_learn(g, "load.correlation", g->near, GEN_FIT_PER_RANK);
        return;
    }
    if (isnan(same)) {
        gen_fit_remark(g->twin, "too few ranks or objects: load.alike and load.correlation are the defaults");
        return;
    }
    /* At the end of a row of the model's grid, the next rank is not a neighbour. */
    uint32_t grid[3];
    model_grid_shape(g->l->ranks, g->dims, grid);
    const double row = grid[g->dims - 1];
    const bool has_next = !isnan(next);
    next = has_next && row > 1 ? fmin(1, next * row / (row - 1)) : 0;
    same = gen_fit_correlation_behind(&g->tail, fmax(0, same));
    g->near = fmin(1, same / persistence);
    next = gen_fit_correlation_behind(&g->tail, fmax(0, next));
    const uint32_t objects = g->twin->dataset.load_params.objects;
    model_grid_shape(objects, g->dims, block);
    const double places = objects;
    double low = 0;
    double high = 0.99;
    for (int i = 0; i < 20; i++) { /* bisection: a larger rho makes neighbouring ranks more alike */
        const double rho = 0.5 * (low + high);
        const double inside = (places * field_of_block(block, g->dims, rho, 0) - 1) / fmax(1, places - 1);
        if (field_of_block(block, g->dims, rho, 1) * same < next * inside) {
            low = rho;
        } else {
            high = rho;
        }
    }
    double rho = high < 1e-4 ? 0 : 0.5 * (low + high);
    if (has_next) {
        fit_learn(g, "load.correlation", rho, GEN_FIT_PER_RANK);
    } else {
        rho = g->twin->dataset.load_params.variance.correlation;
        gen_fit_remark(g->twin, "too few neighbouring ranks: load.correlation is the default");
    }
    const double inside = (places * field_of_block(block, g->dims, rho, 0) - 1) / fmax(1, places - 1);
    const double alike = places > 1 && inside > 0 ? fmin(1, same / (inside * persistence)) : 0;
    fit_learn(g, "load.alike", alike, GEN_FIT_PER_RANK);
}

void fit_learn_correlations(struct fit_learning *g) {
    const struct model_load_params *usual = &g->twin->dataset.load_params;
    struct gen_fit_lasting p = {usual->variance.persistence_first, usual->variance.persistence,
                                0.5 * (usual->variance.persistence_first + usual->variance.persistence), false};
    if (g->tail.scale == 0) {
        return; /* nothing varies */
    }
    if (g->l->phases == g->begin + 1) {
        /* one phase does not show persistence, which counts as 1 */
        p = (struct gen_fit_lasting){1, 1, 1, false};
        learn_persistence(g, p);
        gen_fit_remark(g->twin, "one phase: load.persistence is 1, so in a longer twin loads stay the same");
    } else {
        const struct gen_fit_lasting seen = gen_fit_loads_lasting(g->l, &g->tail);
        if (seen.known) {
            p = seen;
            learn_persistence(g, p);
        } else {
            gen_fit_remark(g->twin, "no object in two phases: load.persistence is the default");
        }
    }
    g->lasts = p.mean;
    learn_ranks(g);
}
