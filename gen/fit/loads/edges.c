/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/loads/learning.h"

#include <math.h>

#include "gen/fit/shape.h"
#include "libwriter/base/detmath.h"

/* Returns the standard deviation of ln(bytes) of edges, as a multiple of load.edge_bytes_sd. In the model,
 * ln(bytes) is a sum of two parts. One part is the sum of the work of both ends, divided by 1.6 and multiplied by
 * `follows`, as in gen/model/load/edges.c. The other part is random. near: correlation of the work of both ends. */
static double spread_of(double follows, double near) {
    return sqrt(follows * follows * (2 + 2 * near) / 2.56 + 1 - follows * follows);
}

/* Returns the share `follows` with which ln(bytes) of an edge has the given correlation with the work of one
 * end. */
static double follows_of(double correlation, double persistence, double near) {
    double low = 0;
    double high = 1;
    for (int i = 0; i < 20; i++) {
        const double f = 0.5 * (low + high);
        const double of_ends = f * (1 + near) / 1.6 * sqrt(persistence);
        if (of_ends / spread_of(f, near) < correlation) {
            low = f;
        } else {
            high = f;
        }
    }
    return 0.5 * (low + high);
}

/* *mean and *sd are those of ln(n), where n >= 1 is a whole number. Replaces them by the mean and deviation of
 * the normal variable z for which n is exp(z), rounded. */
static void before_rounding(double *mean, double *sd) {
    const double wanted[2] = {*mean, *sd};
    for (int i = 0; i < 30; i++) {
        struct gen_fit_pairs p = {0};
        double weights = 0;
        for (int k = 0; k <= 200; k++) {
            const double z = 0.05 * (k - 100);
            const double weight = hpcw_i_exp(-0.5 * z * z);
            const double ln = gen_fit_ln(fmax(1, floor(hpcw_i_exp(*mean + *sd * z) + 0.5)));
            weights += weight;
            p.x += weight * ln;
            p.xx += weight * ln * ln;
        }
        const double got = p.x / weights;
        const double deviation = sqrt(fmax(0, p.xx / weights - got * got));
        *mean += wanted[0] - got;
        *sd = deviation > 0 ? fmin(5, *sd * fmin(2, wanted[1] / deviation)) : *sd;
    }
}

static void learn_volumes(struct fit_learning *g, double edges) {
    const struct gen_fit_loads *l = g->l;
    const struct model_load_params *p = &g->twin->dataset.load_params;
    double follows = p->edge.follows;
    const double mean = l->edge.ln_bytes / edges;
    const double variance = l->edge.ln_bytes_squares / edges - mean * mean;
    const double with_work = gen_fit_loads_correlation(l, GEN_FIT_EDGE, 2, g->begin, FIT_LAST_GROUP);
    if (!isnan(with_work)) {
        const double straight = g->tail.scale > 0 ? gen_fit_correlation_with_normal(&g->tail) : 1;
        follows = follows_of(fmax(0, with_work / straight), g->lasts, g->near);
        fit_learn(g, "load.edge_follows", follows, GEN_FIT_PER_EDGE);
    }
    const double spread = spread_of(follows, g->near);
    fit_learn(g, "load.edge_sizes", 0, GEN_FIT_PER_RUN); /* any */
    fit_learn(g, "load.edge_bytes_mean", mean, GEN_FIT_PER_EDGE);
    fit_learn(g, "load.edge_bytes_sd", sqrt(fmax(0, variance)) / spread, GEN_FIT_PER_EDGE);
    double messages = l->edge.ln_messages / edges;
    double messages_sd = sqrt(fmax(0, l->edge.ln_messages_squares / edges - messages * messages));
    before_rounding(&messages, &messages_sd);
    fit_learn(g, "load.edge_messages_mean", messages, GEN_FIT_PER_EDGE);
    /* The model gives messages and bytes a correlation of 0.6. */
    fit_learn(g, "load.edge_messages_sd", messages_sd / sqrt(0.36 * spread * spread + 0.64), GEN_FIT_PER_EDGE);
}

void fit_learn_edges(struct fit_learning *g) {
    const struct gen_fit_loads *l = g->l;
    const struct model_load_params *p = &g->twin->dataset.load_params;
    if (l->edge.group_bytes > l->edge.element_bytes) {
        fit_learn_text(g, "load.comm", "sample", GEN_FIT_PER_RUN);
        gen_fit_remark(g->twin, "most bytes go to object groups: load.comm=sample, with its own volumes");
        return;
    }
    const double edges = l->edge.count[0] + l->edge.count[1];
    fit_learn_text(g, "load.comm", edges > 0 ? "stencil" : "none", GEN_FIT_PER_RUN);
    if (edges == 0) {
        gen_fit_remark(g->twin, "no edges between objects: there are none in the twin");
        return;
    }
    if (edges < GEN_FIT_LEAST_VALUES) {
        gen_fit_remark(g->twin,
                       "fewer than %d edges, whose mean would tell them: those of the twin are the defaults",
                       GEN_FIT_LEAST_VALUES);
        return;
    }
    const struct fit_stencil stencil = fit_stencil_of(g, (double)p->objects * p->collections);
    const double occupied = l->count_sum / l->counts / ((double)p->objects * p->collections);
    const double of_objects = edges / l->count_sum;
    fit_learn(g, "load.far_edges", fmax(0, of_objects - stencil.senders) / occupied, GEN_FIT_PER_OBJECT);
    if (of_objects - stencil.senders > 8) {
        gen_fit_remark(g->twin, "more edges than the model can have: the twin has %.0f of an object",
                       stencil.senders + 8);
    }
    if (of_objects < 0.8 * stencil.senders) {
        gen_fit_remark(g->twin, "fewer edges than the stencil of the model: the twin has more");
    }
    learn_volumes(g, edges);
}

/* Learns the messages between handlers of ranks, those before the first task, and how often a broadcast reaches all
 * objects. */
void fit_learn_handlers(struct fit_learning *g) {
    const struct gen_fit_load_traffic *t = &g->l->edge.traffic;
    fit_learn(g, "load.broadcast_every",
              t->broadcasts > 0 ? fmax(1, round(g->l->count_sum / t->broadcasts)) : 0, GEN_FIT_PER_RUN);
    fit_learn_text(g, "load.first_message", t->first > 0 ? "yes" : "no", GEN_FIT_PER_RUN);
    if (t->fixed == 0) {
        fit_learn_text(g, "load.handlers", "no", GEN_FIT_PER_RUN);
    } else if (t->fixed >= GEN_FIT_LEAST_VALUES) {
        const double mean = t->ln_fixed / t->fixed;
        fit_learn(g, "load.handler_bytes_mean", mean, GEN_FIT_PER_EDGE);
        fit_learn(g, "load.handler_bytes_sd", sqrt(fmax(0, t->ln_fixed_squares / t->fixed - mean * mean)),
                  GEN_FIT_PER_EDGE);
    }
}
