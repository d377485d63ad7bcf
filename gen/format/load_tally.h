/* SPDX-License-Identifier: BSD-3-Clause */
/* Distribution of a phase's load over ranks and objects: sums in 128 bits, and the heaviest few ranks and
 * objects. All values are exact, so they do not depend on the order of adding. */
#ifndef HPCW_GEN_FORMAT_LOAD_TALLY_H
#define HPCW_GEN_FORMAT_LOAD_TALLY_H

#include <cjson/cJSON.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/model/load/whole.h"

struct hpcw_i_json;

enum { GEN_TALLY_HEAVIEST = 8 };

/* One of the heaviest. Of equal loads, the lower number comes first. Unused entries have load 0. */
struct gen_tally_heavy {
    uint64_t load_ns;
    uint64_t number; /* rank or object */
    uint64_t rank;   /* rank that held the object */
};

/* A zeroed tally is empty. It consists of 64-bit words only. */
struct gen_load_tally {
    uint64_t sum[2], squares[2]; /* of rank loads: low and high word */
    uint64_t calm_sum[2];        /* sum of rank loads without the scenario */
    uint64_t calm_most;          /* largest rank load without the scenario */
    uint64_t arrived;            /* objects that moved to their rank before this phase */
    /* Bounds for placements: see struct model_load_optimum. 0 until gen_tally_optimum. */
    uint64_t bound_ns, longest_first_ns, longest_first_sum;
    struct gen_tally_heavy ranks[GEN_TALLY_HEAVIEST], objects[GEN_TALLY_HEAVIEST];
};

void gen_tally_rank(struct gen_load_tally *t, uint32_t rank, uint64_t load_ns, uint64_t calm_ns,
                    uint32_t arrived);
void gen_tally_object(struct gen_load_tally *t, uint32_t object, uint32_t rank, uint64_t load_ns);
/* Sets the bounds of the whole phase. Call it for only one of the tallies that are merged. */
void gen_tally_optimum(struct gen_load_tally *t, const struct model_load_optimum *optimum);

void gen_tally_merge(struct gen_load_tally *t, const struct gen_load_tally *other);

/* Writes a tally as an element of an open array, and reads it back. HPCW_EFORMAT. */
void gen_tally_put(struct hpcw_i_json *json, const struct gen_load_tally *t);
hpcw_status gen_tally_get(const cJSON *item, struct gen_load_tally *t, hpcw_error *err);

/* Mean and standard deviation of the loads of `ranks` ranks, in seconds. */
double gen_tally_mean(const struct gen_load_tally *t, uint32_t ranks);
double gen_tally_sd(const struct gen_load_tally *t, uint32_t ranks);

/* Imbalance (largest load / mean - 1), as it is and without the scenario. */
double gen_tally_imbalance(const struct gen_load_tally *t, uint32_t ranks);
double gen_tally_calm_imbalance(const struct gen_load_tally *t, uint32_t ranks);

/* Imbalance of the longest-first placement. */
double gen_tally_longest_first(const struct gen_load_tally *t, uint32_t ranks);

#endif
