/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F4: the directory of a dataset, and what an unfinished one remembers.
 *
 *   DIR/<format>/...          data
 *   DIR/truth.json            what was injected
 *   DIR/manifest.json         what decides the bytes, every file; there only once all data is
 *   DIR/CHECKSUMS.xxh128      for `xxhsum -c`
 *   DIR/.hpcw/parameters.ini  while unfinished: the dataset's description, readable with --config
 *   DIR/.hpcw/FORMAT.A-B.json while unfinished: units A .. B-1 are there, with their digests and partial
 * results
 */
#ifndef HPCW_GEN_STORE_H
#define HPCW_GEN_STORE_H

#include <cjson/cJSON.h>

#include "dataset.h"
#include "digest.h"
#include "format.h"

enum { HPCW_I_STORE_PATH = 4096 + HPCW_I_UNIT_PATH };

#define HPCW_I_STATE_DIR ".hpcw"
#define HPCW_I_MANIFEST "manifest.json"
#define HPCW_I_TRUTH "truth.json"
#define HPCW_I_CHECKSUMS "CHECKSUMS.xxh128"
#define HPCW_I_PARAMETERS HPCW_I_STATE_DIR "/parameters.ini"

/* "<dir>/<name>" into `path`. */
void hpcw_i_store_path(const char *dir, const char *name, char path[HPCW_I_STORE_PATH]);

/* A whole small file with a NUL behind it, to be freed; HPCW_EFORMAT beyond 1 GiB. */
hpcw_status hpcw_i_store_read(const char *path, char **text, hpcw_error *err);

/* A JSON file, to be deleted with cJSON_Delete. HPCW_EFORMAT if it does not parse. */
hpcw_status hpcw_i_store_read_json(const char *path, cJSON **json, hpcw_error *err);

/* What a directory is, before a run. */
enum hpcw_i_store_state {
    HPCW_I_STORE_FRESH,      /* absent or empty */
    HPCW_I_STORE_UNFINISHED, /* begun with this dataset's description */
    HPCW_I_STORE_FINISHED,   /* complete, of this description */
    HPCW_I_STORE_OTHER       /* something else is in it */
};
hpcw_status hpcw_i_store_look(const char *dir, const char *fingerprint, enum hpcw_i_store_state *state,
                              hpcw_error *err);

/* Makes the directory with its folders and remembers the description. Harmless when done before or by others.
 */
hpcw_status hpcw_i_store_begin(const char *dir, const struct hpcw_i_dataset *d, const char *fingerprint,
                               hpcw_error *err);

/* Removes what an older dataset of any description left: the files its manifest lists, its state, its lists. */
hpcw_status hpcw_i_store_clear(const char *dir, hpcw_error *err);

/* Removes the state of a finished dataset. */
hpcw_status hpcw_i_store_end(const char *dir, hpcw_error *err);

/* Name of the record of units [begin, end) of a format, below the directory. */
void hpcw_i_store_record_name(const struct hpcw_i_format *format, uint64_t begin, uint64_t end,
                              char name[HPCW_I_UNIT_PATH]);

/* The record of exactly these units if it is there, belongs to the description, and its files have their sizes;
 * NULL otherwise. */
cJSON *hpcw_i_store_record(const char *dir, const struct hpcw_i_format *format, uint64_t begin, uint64_t end,
                           const char *fingerprint);

/* All records of a format in ascending order, which must cover units 0 .. units-1 without a gap; `record`
 * [*count] and its items are the caller's. HPCW_ESTATE names the first units that are missing. */
hpcw_status hpcw_i_store_records(const char *dir, const struct hpcw_i_format *format, uint64_t units,
                                 const char *fingerprint, cJSON ***record, size_t *count, hpcw_error *err);

#endif
