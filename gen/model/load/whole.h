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
    /* [objects] time of each object on its rank, ns, without interruptions; 0: an empty place */
    uint64_t *time_ns;
    /* [ranks] time of work that cannot move, ns: handler, groups and interruption */
    uint64_t *fixed_ns;
    double *slowness; /* [ranks] factor of all times of a rank in this phase */
    /* [ranks] factor of the rank's node, a part of `slowness`; objects that move to the rank get this factor */
    double *node;

    /* Private. */
    double *lasting;              /* [objects] */
    bool *exists;                 /* [objects] */
    uint32_t *object;             /* [objects] object in each slot of each rank, as in model_load_move */
    uint64_t *entry;              /* [objects] keys of a sort */
    uint64_t *calm_ns;            /* [ranks] */
    struct model_load_heap *heap; /* [ranks] */
};

/* Allocates the arrays. HPCW_ENOMEM. Call model_load_whole_free also after a failure. */
hpcw_status model_load_whole_new(struct model_load_whole *w, const struct model_load *m, hpcw_error *err);
void model_load_whole_free(struct model_load_whole *w);
uint64_t model_load_whole_size(const struct model_load *m);

/* Sets `rank` to the placement of a phase. Phases in ascending order are fastest. */
void model_load_whole_place(struct model_load_whole *w, uint32_t phase);

/* Measures a phase: fills the arrays above. Phases in ascending order are fastest. */
void model_load_whole_measure(struct model_load_whole *w, uint32_t phase);

/* Adds the interruption of each rank to the measured time of the object that it interrupts. */
void model_load_whole_interrupt(struct model_load_whole *w);

/* Bounds of the largest load over all placements of the measured objects. */
struct model_load_optimum {
    uint64_t bound_ns; /* no placement gives all ranks a smaller load than this */
    /* largest load of the longest-first placement: each object goes to the rank with the least load at that
     * time */
    uint64_t longest_first_ns;
    /* sum of the ranks' loads in the longest-first placement */
    uint64_t sum_ns;
};

/* Computes the bounds. rank[objects]: receives the longest-first placement; NULL: not wanted. */
struct model_load_optimum model_load_whole_optimum(struct model_load_whole *w, uint32_t *rank);

/* Computes the greedy placement into rank[objects]. Ranks whose objects take more than the mean give away the
 * longest, until they are below the mean or have one object left. These objects go longest first to the rank
 * with the least load at that time, as if all ranks were equally fast. Afterwards, `w` must be measured again. */
void model_load_whole_greedy(struct model_load_whole *w, uint32_t *rank);

/* Computes the loads of the ranks in the measured phase. load_ns, calm_ns: [ranks] loads with and without the
 * scenario; calm_ns: NULL if not wanted. */
void model_load_whole_ranks(const struct model_load_whole *w, uint64_t *load_ns, uint64_t *calm_ns);

/* Computes the imbalance of the measured phase: largest load divided by the mean, minus 1. *with: as measured;
 * *without: without the scenario. */
void model_load_whole_imbalance(const struct model_load_whole *w, double *with, double *without);

#endif
