/* SPDX-License-Identifier: BSD-3-Clause */
/* Distribution of a phase's load over ranks and objects: sums in 128 bits, and the ranks and objects with the
 * largest loads. All values are exact. */
#ifndef HPCW_GEN_FORMAT_LOAD_TALLY_H
#define HPCW_GEN_FORMAT_LOAD_TALLY_H

#include <stdint.h>

#include <hpcw/status.h>

#include "gen/model/load/whole.h"

enum { GEN_TALLY_HEAVIEST = 8 };

/* One of the ranks or objects with the largest loads. Of equal loads, the one with the lower number comes
 * first. Unused entries have load 0. */
struct gen_tally_heavy {
    uint64_t load_ns;
    uint64_t number;
    uint64_t rank; /* rank that had the object in this phase */
};

struct gen_load_tally {
    unsigned __int128 sum, squares; /* sums of rank loads and of their squares, ns */
    unsigned __int128 calm_sum;     /* sum of rank loads without the scenario (injected imbalance) */
    uint64_t calm_most;             /* largest rank load without the scenario */
    uint64_t arrived;               /* number of objects that moved to their rank before this phase */
    struct model_load_optimum optimum;
    struct gen_tally_heavy ranks[GEN_TALLY_HEAVIEST], objects[GEN_TALLY_HEAVIEST];
};

/* Computes the tallies of all phases into tally[phases]. jobs: number of threads. HPCW_ENOMEM. */
hpcw_status gen_tally_phases(const struct model_load *m, uint32_t jobs, struct gen_load_tally *tally,
                             hpcw_error *err);

/* Mean and standard deviation of the loads of `ranks` ranks, in seconds. */
double gen_tally_mean(const struct gen_load_tally *t, uint32_t ranks);
double gen_tally_sd(const struct gen_load_tally *t, uint32_t ranks);

/* Imbalance of the ranks (largest load / mean - 1), with and without the scenario. */
double gen_tally_imbalance(const struct gen_load_tally *t, uint32_t ranks);
double gen_tally_calm_imbalance(const struct gen_load_tally *t, uint32_t ranks);

/* Imbalance of the ranks if objects are placed longest first. */
double gen_tally_longest_first(const struct gen_load_tally *t, uint32_t ranks);

#endif
