/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F4: how the load of a phase is spread over ranks and objects, added up exactly, so that it does not depend on who
 * added what: sums in 128 bits, and the heaviest few of each kind.
 */
#ifndef HPCW_GEN_FORMAT_LOAD_TALLY_H
#define HPCW_GEN_FORMAT_LOAD_TALLY_H

#include <cjson/cJSON.h>
#include <stdint.h>

#include <hpcw/status.h>

struct hpcw_i_json;

enum { HPCW_I_TALLY_HEAVIEST = 8 };

/* Of a tie the one of the lower number stands first. Unused places have load 0. */
struct hpcw_i_tally_heavy {
    uint64_t load_ns;
    uint64_t number; /* of the rank or the object */
    uint64_t rank;   /* that held the object */
};

/* A zeroed one has seen nothing. It consists of 64-bit words only. */
struct hpcw_i_load_tally {
    uint64_t sum[2], squares[2]; /* of rank loads, low and high word */
    uint64_t arrived;            /* objects that came from elsewhere */
    struct hpcw_i_tally_heavy ranks[HPCW_I_TALLY_HEAVIEST], objects[HPCW_I_TALLY_HEAVIEST];
};

void hpcw_i_tally_rank(struct hpcw_i_load_tally *t, uint32_t rank, uint64_t load_ns, uint32_t arrived);
void hpcw_i_tally_object(struct hpcw_i_load_tally *t, uint32_t object, uint32_t rank, uint64_t load_ns);
void hpcw_i_tally_merge(struct hpcw_i_load_tally *t, const struct hpcw_i_load_tally *other);

/* As an element of an open array, and back: HPCW_EFORMAT. */
void hpcw_i_tally_put(struct hpcw_i_json *json, const struct hpcw_i_load_tally *t);
hpcw_status hpcw_i_tally_get(const cJSON *item, struct hpcw_i_load_tally *t, hpcw_error *err);

/* Mean and standard deviation of the loads of `ranks` ranks, in seconds. */
double hpcw_i_tally_mean(const struct hpcw_i_load_tally *t, uint32_t ranks);
double hpcw_i_tally_sd(const struct hpcw_i_load_tally *t, uint32_t ranks);

#endif
