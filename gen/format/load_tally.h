/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the load of a phase is spread over ranks and objects: sums in 128 bits, and the heaviest few ranks and objects.
 * All is exact, so the order of adding does not matter.
 */
#ifndef HPCW_GEN_FORMAT_LOAD_TALLY_H
#define HPCW_GEN_FORMAT_LOAD_TALLY_H

#include <cjson/cJSON.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/model/load/whole.h"

struct hpcw_i_json;

enum { GEN_TALLY_HEAVIEST = 8 };

/* If loads are equal, the lower number comes first. Unused entries have load 0. */
struct gen_tally_heavy {
    uint64_t load_ns;
    uint64_t number; /* of the rank or the object */
    uint64_t rank;   /* that held the object */
};

/* Zeroed: empty. Has 64-bit words only. */
struct gen_load_tally {
    uint64_t sum[2], squares[2]; /* of rank loads, low and high word */
    uint64_t calm_sum[2];        /* of what they would be without a scenario */
    uint64_t calm_most;          /* the largest of these */
    uint64_t arrived;            /* objects that came from elsewhere */
    /* What placements can reach: see struct model_load_optimum. 0 until gen_tally_optimum. */
    uint64_t bound_ns, longest_first_ns, longest_first_sum;
    struct gen_tally_heavy ranks[GEN_TALLY_HEAVIEST], objects[GEN_TALLY_HEAVIEST];
};

void gen_tally_rank(struct gen_load_tally *t, uint32_t rank, uint64_t load_ns, uint64_t calm_ns,
                    uint32_t arrived);
void gen_tally_object(struct gen_load_tally *t, uint32_t object, uint32_t rank, uint64_t load_ns);
/* Of the phase as a whole: in one of the tallies that are merged. */
void gen_tally_optimum(struct gen_load_tally *t, const struct model_load_optimum *optimum);

void gen_tally_merge(struct gen_load_tally *t, const struct gen_load_tally *other);

/* As an element of an open array, and back: HPCW_EFORMAT. */
void gen_tally_put(struct hpcw_i_json *json, const struct gen_load_tally *t);
hpcw_status gen_tally_get(const cJSON *item, struct gen_load_tally *t, hpcw_error *err);

/* Mean and standard deviation of the loads of `ranks` ranks, in seconds. */
double gen_tally_mean(const struct gen_load_tally *t, uint32_t ranks);
double gen_tally_sd(const struct gen_load_tally *t, uint32_t ranks);

/* The imbalance, largest load / mean - 1, and what it would be without a scenario. */
double gen_tally_imbalance(const struct gen_load_tally *t, uint32_t ranks);
double gen_tally_calm_imbalance(const struct gen_load_tally *t, uint32_t ranks);

/* The imbalance of the placement longest object first. */
double gen_tally_longest_first(const struct gen_load_tally *t, uint32_t ranks);

#endif
