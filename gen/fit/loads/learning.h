/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of the load model (gen/model/load/load.h) that are being learned. */
#ifndef HPCW_GEN_FIT_LOADS_LEARNING_H
#define HPCW_GEN_FIT_LOADS_LEARNING_H

#include "gen/fit/loads/loads.h"

enum { FIT_LAST_GROUP = GEN_FIT_GROUPS - 1 };

struct fit_learning {
    const struct gen_fit_loads *l;
    struct gen_fit_twin *twin;
    size_t begin; /* index of the first group of phases after the set-up */
    struct gen_fit_load_moments run;
    struct model_load_tail tail;
    double fill;  /* share of a rank's places that have an object */
    double lasts; /* share of the variance of the work that persists, mean over the phases */
    double near;  /* correlation of the persistent work of two nearby objects */
    uint32_t dims;
    hpcw_status status; /* first failure; after it, nothing more is learned */
    hpcw_error *err;
};

void fit_learn(struct fit_learning *g, const char *key, double value, enum gen_fit_scale scale);
void fit_learn_text(struct fit_learning *g, const char *key, const char *text, enum gen_fit_scale scale);

/* Learns the number of objects. Sets g->fill. */
void fit_learn_objects(struct fit_learning *g);

/* Learns the distribution of the task times. Sets g->tail. */
void fit_learn_distribution(struct fit_learning *g);

/* Learns which share of the work persists, and how alike neighbouring ranks are. Sets g->lasts and g->near. */
void fit_learn_correlations(struct fit_learning *g);

/* Learns how the task times change over the run. */
void fit_learn_course(struct fit_learning *g);

/* Learn the edges between objects, and those between the handlers of ranks. */
void fit_learn_edges(struct fit_learning *g);
void fit_learn_handlers(struct fit_learning *g);

/* Mean numbers of senders of an object in the model's stencil, if the block of each rank has `places` positions.
 * senders: all senders. distant: those in the blocks of other ranks. */
struct fit_stencil {
    double senders, distant;
};

struct fit_stencil fit_stencil_of(const struct fit_learning *g, double places);

#endif
