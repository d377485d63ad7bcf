/* SPDX-License-Identifier: BSD-3-Clause */
/* Distribution of a phase's load over ranks and objects: sums in 128 bits, and the ranks and objects with the
 * largest loads. All values are exact, so they do not depend on the order of adding. */
#ifndef HPCW_GEN_FORMAT_LOAD_TALLY_H
#define HPCW_GEN_FORMAT_LOAD_TALLY_H

#include <cjson/cJSON.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/model/load/whole.h"

struct hpcw_i_json;

enum { GEN_TALLY_HEAVIEST = 8 };

/* One of the ranks or objects with the largest loads. Of equal loads, the one with the lower number comes
 * first. Unused entries have load 0. */
struct gen_tally_heavy {
    uint64_t load_ns;
    uint64_t number;
    uint64_t rank; /* rank that had the object in this phase */
};

/* A zeroed tally is empty. It consists of 64-bit words only. */
struct gen_load_tally {
    uint64_t sum[2], squares[2]; /* sums of rank loads and of their squares, ns: low and high word */
    uint64_t calm_sum[2];        /* sum of rank loads without the scenario */
    uint64_t calm_most;          /* largest rank load without the scenario */
    uint64_t arrived;            /* number of objects that moved to their rank before this phase */
    /* bounds of placements of objects, as in struct model_load_optimum; 0 until gen_tally_optimum */
    uint64_t bound_ns, longest_first_ns, longest_first_sum;
    struct gen_tally_heavy ranks[GEN_TALLY_HEAVIEST], objects[GEN_TALLY_HEAVIEST];
};

void gen_tally_rank(struct gen_load_tally *t, uint32_t rank, uint64_t load_ns, uint64_t calm_ns,
                    uint32_t arrived);
void gen_tally_object(struct gen_load_tally *t, uint32_t object, uint32_t rank, uint64_t load_ns);
/* Sets the bounds of the placements in the phase. Of several tallies that are merged, only one may have
 * them. */
void gen_tally_optimum(struct gen_load_tally *t, const struct model_load_optimum *optimum);

void gen_tally_merge(struct gen_load_tally *t, const struct gen_load_tally *other);

/* Write a tally as an element of an open array, and read such an element. HPCW_EFORMAT. */
void gen_tally_put(struct hpcw_i_json *json, const struct gen_load_tally *t);
hpcw_status gen_tally_get(const cJSON *item, struct gen_load_tally *t, hpcw_error *err);

/* Mean and standard deviation of the loads of `ranks` ranks, in seconds. */
double gen_tally_mean(const struct gen_load_tally *t, uint32_t ranks);
double gen_tally_sd(const struct gen_load_tally *t, uint32_t ranks);

/* Imbalance of the ranks (largest load / mean - 1), with and without the scenario. */
double gen_tally_imbalance(const struct gen_load_tally *t, uint32_t ranks);
double gen_tally_calm_imbalance(const struct gen_load_tally *t, uint32_t ranks);

/* Imbalance of the ranks if objects are placed longest first. */
double gen_tally_longest_first(const struct gen_load_tally *t, uint32_t ranks);

#endif
