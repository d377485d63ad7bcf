/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All objects of all ranks in one phase, and how well they could be placed. Memory: about 50 bytes per object and rank, of
 * each thread that has one.
 */
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
    uint32_t *rank;     /* [objects] where each is; of an empty place: its home */
    uint64_t *time_ns;  /* [objects] what it takes there, interruptions left out; 0: an empty place */
    uint64_t *fixed_ns; /* [ranks] what cannot move: handlers, groups and interruptions */
    double *slowness;   /* [ranks] in this phase */
    double *node; /* [ranks] the share of the node in it: an object that moves takes as much more or less */

    /* Private. */
    double *lasting;              /* [objects] */
    bool *exists;                 /* [objects] */
    uint32_t *object;             /* [objects] by rank and slot */
    uint64_t *entry, *other;      /* [objects] to sort */
    struct model_load_heap *heap; /* [ranks] */
};

/* HPCW_ENOMEM. Free it after a failure, too. */
hpcw_status model_load_whole_new(struct model_load_whole *w, const struct model_load *m, hpcw_error *err);
void model_load_whole_free(struct model_load_whole *w);
uint64_t model_load_whole_size(const struct model_load *m);

/* Measures a phase. Ascending phases are fastest. */
void model_load_whole_measure(struct model_load_whole *w, uint32_t phase);

/* What placements of the measured objects can reach. */
struct model_load_optimum {
    uint64_t bound_ns; /* no placement has a lower largest load of a rank */
    /* that of a placement longest object first, each on the rank with the least load */
    uint64_t longest_first_ns;
    uint64_t sum_ns; /* of the ranks' loads in this placement */
};

/* `rank`: [objects] that placement; NULL: not wanted. */
struct model_load_optimum model_load_whole_optimum(struct model_load_whole *w, uint32_t *rank);

/* Ranks with more than the mean load of objects give the longest ones away until they have less, but one they keep. Each
 * of these goes to the rank with the least load then, longest first, as if all ranks were equally fast. rank[objects].
 * Nothing but the placement is measured after that. */
void model_load_whole_greedy(struct model_load_whole *w, uint32_t *rank);

/* The loads of the ranks as measured, and as they would be without the scenario: [ranks] each. */
void model_load_whole_ranks(const struct model_load_whole *w, uint64_t *load_ns, uint64_t *calm_ns);

/* Largest load of a rank over the mean, less 1, as measured, and as it would be without the scenario. */
void model_load_whole_imbalance(const struct model_load_whole *w, double *with, double *without);

#endif
