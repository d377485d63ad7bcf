/* SPDX-License-Identifier: BSD-3-Clause */
/* Units of a format: their paths, their division among processes, and exact numbers in their partial results. */
#ifndef HPCW_GEN_SPEC_UNITS_H
#define HPCW_GEN_SPEC_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include <hpcw/comm.h>

#include "libwriter/io/json.h"

enum { GEN_UNIT_PATH = 256 };

/* A physical file. */
struct gen_unit {
    char path[GEN_UNIT_PATH]; /* relative to the dataset's directory, with '/' between folders */
    uint64_t apparent;        /* size in bytes; an estimate if it depends on the content */
    uint64_t allocated;       /* bytes of disk space, without holes */
};

/* Returns whether a path is `first`, or a further file of the same set: `first` followed by a number, as
 * ".000001". */
bool gen_is_of_set(const char *path, const char *first);

/* A range of units or tasks: begin .. end - 1. */
struct gen_slice {
    uint64_t begin, end;
};

/* Returns this process's share of [first, last). */
struct gen_slice gen_share(const hpcw_comm *comm, uint64_t first, uint64_t last);

/* Reads an exact integer from a partial result: a number up to 2^53, or a string of digits. HPCW_EFORMAT:
 * anything else. */
hpcw_status gen_partial_u64(const cJSON *object, const char *key, uint64_t *value, hpcw_error *err);

/* Adds an exact integer to an open object, as a string of digits. */
void gen_partial_put(struct hpcw_i_json *json, const char *key, uint64_t value);

/* gen_partial_put_words: adds several integers by name to an open object. gen_partial_words: reads them; it
 * stops at the first error. */
void gen_partial_put_words(struct hpcw_i_json *json, const char *const *key, size_t count,
                           const uint64_t *word);
hpcw_status gen_partial_words(const cJSON *object, const char *const *key, size_t count, uint64_t *word,
                              hpcw_error *err);

#endif
