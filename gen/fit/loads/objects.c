/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/loads/learning.h"

#include <math.h>

#include "gen/model/draw/grid.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Computes mean and variance of the number of objects of a rank, without the first one, which always exists.
 * places: number of places for objects. A place has an object with a probability that varies over the ranks. f:
 * mean of the probability. spread: standard deviation of ln(probability). */
static void filled(double places, double f, double spread, double *mean, double *variance) {
    enum { STEPS = 40 };
    double weights = 0;
    double share = 0;
    double squares = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double z = (i - 0.5 * STEPS) * (8.0 / STEPS);
        const double weight = hpcw_i_exp(-0.5 * z * z);
        const double q = fmin(1, f * hpcw_i_exp(spread * z - 0.5 * spread * spread));
        weights += weight;
        share += weight * q;
        squares += weight * q * q;
    }
    share /= weights;
    squares /= weights;
    *mean = places * share;
    *variance = places * (share - squares) + places * places * (squares - share * share);
}

/* Returns the probability f that a place has an object, if a rank has `wanted` objects on average. */
static double fill_for(double places, double wanted, double spread) {
    double low = 0;
    double high = 1;
    for (int i = 0; i < 30; i++) {
        double mean;
        double variance;
        filled(places, 0.5 * (low + high), spread, &mean, &variance);
        if (mean < wanted) {
            low = 0.5 * (low + high);
        } else {
            high = 0.5 * (low + high);
        }
    }
    return 0.5 * (low + high);
}

struct fit_stencil fit_stencil_of(const struct fit_learning *g, double places) {
    const struct gen_fit_loads *l = g->l;
    const double occupied = fmin(1, l->count_sum / l->counts / places);
    const bool closed = g->twin->dataset.load_params.periodic;
    struct fit_stencil s = {0};
    uint32_t grid[3];
    uint32_t block[3];
    model_grid_shape(l->ranks, g->dims, grid);
    model_grid_shape((uint32_t)places, g->dims, block);
    for (uint32_t d = 0; d < g->dims; d++) {
        const double side = (double)grid[d] * block[d];
        const double missing = closed && side > 2 ? 0 : 2;
        s.senders += occupied * (2 - missing / side);
        s.distant += occupied * (grid[d] > 1 ? 2 - missing / grid[d] : 0) / block[d];
    }
    return s;
}

/* Picks a number of places for objects near the estimate `places`. This number decides the shape of a rank's block,
 * and so the share of edges between ranks. The share should be near the measured one or, without edges, small. */
static double shaped(const struct fit_learning *g, double places) {
    const struct gen_fit_loads *l = g->l;
    const double edges = l->edge.count[0] + l->edge.count[1];
    const double wanted = edges > 0 ? (l->edge.distant[0] + l->edge.distant[1]) / edges : 0;
    double best = places;
    double least = INFINITY;
    const double first = ceil(0.85 * places);
    const int last = (int)(1.15 * places - first);
    for (int k = 0; k <= last; k++) {
        const double n = first + k;
        const struct fit_stencil s = fit_stencil_of(g, n);
        const double far = edges > 0 ? fmax(0, edges / l->count_sum - s.senders) : 0;
        const double share = (s.distant + far) / fmax(1e-9, s.senders + far);
        const double error = 4 * fabs(share - wanted) + fabs(n - places) / places;
        if (error < least) {
            least = error;
            best = n;
        }
    }
    return best;
}

void fit_learn_objects(struct fit_learning *g) {
    const struct gen_fit_loads *l = g->l;
    const double mean = l->count_sum / l->counts;
    const double variance = fmax(0, l->count_squares / l->counts - mean * mean);
    const double further = fmax(0, mean - 1); /* the first object of each rank always exists */
    double places = further;
    double spread = 0;
    g->fill = 1;
    if (further > 0 && variance < further * (1 + 2 * sqrt(2.0 / l->ranks))) {
        g->fill = fmax(0.1, 1 - variance / further);
        places = round(further / g->fill);
        g->fill = places > 0 ? fmin(1, further / places) : 1;
    } else if (further > 0) {
        struct gen_fit_sketch *all = gen_fit_sketch_new(1);
        if (all == NULL) {
            g->status = g->status == HPCW_OK ? hpcw_i_fail_memory(g->err, NULL, 1, "sketches") : g->status;
            return;
        }
        gen_fit_sketch_merge(all, l->objects[0], 1);
        gen_fit_sketch_merge(all, l->objects[1], 1);
        places = fmax(ceil(1.2 * gen_fit_sketch_quantile(all, 0.98)), ceil(1.5 * further));
        hpcw_i_free(all);
        double least = INFINITY;
        for (int k = 1; k <= 150; k++) {
            const double s = 0.02 * k;
            double m;
            double v;
            const double f = fill_for(places, further, s);
            filled(places, f, s, &m, &v);
            if (fabs(v - variance) < least) {
                least = fabs(v - variance);
                spread = s;
                g->fill = f;
            }
        }
    }
    const double collections = l->collections >= 1 && l->collections <= 8 ? l->collections : 1;
    const double most = MODEL_LOAD_MOST_PLACES * collections - 1;
    if (places > most) {
        gen_fit_remark(g->twin, "more objects on a rank than the model can have: the twin has fewer");
        places = most;
        g->fill = fmin(1, fmax(0.1, further / most));
    }
    const double estimated = places;
    places = g->fill < 1 ? shaped(g, places + 1) - 1 : places;
    const double of_one = ceil((places + 1) / collections);
    fit_learn(g, "load.objects", of_one, GEN_FIT_PER_RANK);
    fit_learn(g, "load.collections", collections, GEN_FIT_PER_RUN);
    /* The number of places may have been rounded: it is a multiple of the number of collections, and
     * gen_fit_learn rounds large numbers to three digits. */
    const double got = g->twin->dataset.load_params.objects * collections - 1;
    g->fill = got != estimated && got > 0 ? fmin(1, g->fill * estimated / got) : g->fill;
    fit_learn(g, "load.fill", g->fill, GEN_FIT_PER_RANK);
    fit_learn(g, "load.fill_spread", spread, GEN_FIT_PER_RANK);
    const double moved = l->arrived[0] + l->arrived[1];
    const double all = moved + l->stayed[0] + l->stayed[1];
    if (all > 0) {
        fit_learn(g, "load.migration", moved / all, GEN_FIT_PER_OBJECT);
    }
    if (l->ranks == 1) {
        gen_fit_remark(g->twin, "one rank: nothing about differences between ranks was learned");
    }
    if (mean < 1) {
        gen_fit_remark(g->twin, "ranks without objects: in the twin each rank has at least one");
    }
}
