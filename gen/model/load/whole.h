/* SPDX-License-Identifier: BSD-3-Clause */
/* All objects of all ranks in one phase, and how well they could be placed. Memory: about 50 bytes per object
 * and rank in each thread that uses it. */
#ifndef HPCW_GEN_MODEL_LOAD_WHOLE_H
#define HPCW_GEN_MODEL_LOAD_WHOLE_H

#include "gen/model/load/load.h"

struct model_load_heap {
    uint64_t load_ns;
    uint32_t rank;
};

struct model_load_whole {
    const struct model_load *load;
    uint32_t phase;
    uint32_t *rank; /* [objects] rank of each object; for an empty place, its home */
    /* [objects] time on that rank without interruptions; 0: an empty place */
    uint64_t *time_ns;
    /* [ranks] unmigratable work: handlers, groups and interruptions */
    uint64_t *fixed_ns;
    double *slowness; /* [ranks] factor of times in this phase */
    /* [ranks] the node's part of this factor, which an object takes on when it moves */
    double *node;

    /* Private. */
    double *lasting;              /* [objects] */
    bool *exists;                 /* [objects] */
    uint32_t *object;             /* [objects] by rank and slot */
    uint64_t *entry, *other;      /* [objects] to sort */
    struct model_load_heap *heap; /* [ranks] */
};

/* HPCW_ENOMEM. Free it also after a failure. */
hpcw_status model_load_whole_new(struct model_load_whole *w, const struct model_load *m, hpcw_error *err);
void model_load_whole_free(struct model_load_whole *w);
uint64_t model_load_whole_size(const struct model_load *m);

/* Measures a phase. Ascending phases are fastest. */
void model_load_whole_measure(struct model_load_whole *w, uint32_t phase);

/* Bounds for placements of the measured objects. */
struct model_load_optimum {
    uint64_t bound_ns; /* no placement has a smaller largest load */
    /* largest load if objects are placed longest first, each on the rank with the least load */
    uint64_t longest_first_ns;
    uint64_t sum_ns; /* sum of the ranks' loads in that placement */
};

/* rank: [objects] receives that placement; NULL: not wanted. */
struct model_load_optimum model_load_whole_optimum(struct model_load_whole *w, uint32_t *rank);

/* Greedy placement into rank[objects]. Ranks above the mean object load give away their longest objects until
 * they are below it, but keep one. These objects go longest first to the rank with the least load at that time,
 * as if all ranks were equally fast. Afterwards only the placement is valid in *w. */
void model_load_whole_greedy(struct model_load_whole *w, uint32_t *rank);

/* Computes the measured loads of the ranks, and their loads without the scenario: [ranks] each. calm_ns: NULL if
 * not wanted. */
void model_load_whole_ranks(const struct model_load_whole *w, uint64_t *load_ns, uint64_t *calm_ns);

/* Computes the imbalance: largest load over the mean, minus 1. Once as measured, once without the scenario. */
void model_load_whole_imbalance(const struct model_load_whole *w, double *with, double *without);

#endif
