/* SPDX-License-Identifier: BSD-3-Clause */
/* F4: units of a format: their paths, their share among processes, and exact numbers in their partial results. */
#ifndef HPCW_GEN_FORMAT_UNITS_H
#define HPCW_GEN_FORMAT_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "libwriter/io/json.h"

enum { GEN_UNIT_PATH = 256 };

/* One physical file. */
struct gen_unit {
    char path[GEN_UNIT_PATH]; /* below the dataset's directory, '/' between folders */
    uint64_t apparent;  /* bytes that readers, copies and quotas see; an estimate if the content decides */
    uint64_t allocated; /* bytes that the file system stores; holes are not */
};

/* Whether a path is `first`, or that with the number of a further file of the set behind it: ".000001". */
bool gen_is_of_set(const char *path, const char *first);

/* The share of process `p`: tasks [*begin, *end) of [first, last). */
void gen_share(uint32_t first, uint32_t last, int processes, int p, uint32_t *begin, uint32_t *end);

/* An exact integer from a partial, where it is a number (below 2^53) or a string of digits. HPCW_EFORMAT. */
hpcw_status gen_partial_u64(const cJSON *object, const char *key, uint64_t *value, hpcw_error *err);

/* Adds an exact integer of any size. */
void gen_partial_put(struct hpcw_i_json *json, const char *key, uint64_t value);

#endif
