/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F4: the directory of a dataset, and what an unfinished one remembers.
 *
 *   DIR/<format>/...          data
 *   DIR/truth.json            what was injected
 *   DIR/manifest.json         what decides the bytes, every file; there only once all data is
 *   DIR/CHECKSUMS.xxh128      for `xxhsum -c`
 *   DIR/.hpcw/parameters.ini  while unfinished: the dataset's description, readable with --config
 *   DIR/.hpcw/FORMAT.A-B.jsonl  while unfinished: units A .. B-1 are there, with their digests and partial results
 */
#ifndef HPCW_GEN_DATASET_DIRECTORY_H
#define HPCW_GEN_DATASET_DIRECTORY_H

#include <cjson/cJSON.h>

#include "gen/dataset/digest.h"
#include "gen/format/format.h"
#include "gen/spec/dataset.h"
#include "libwriter/io/fsinfo.h"

enum { GEN_DIRECTORY_PATH = 4096 + GEN_UNIT_PATH };

#define GEN_STATE_DIR ".hpcw"
#define GEN_MANIFEST "manifest.json"
#define GEN_TRUTH "truth.json"
#define GEN_CHECKSUMS "CHECKSUMS.xxh128"
#define GEN_PARAMETERS GEN_STATE_DIR "/parameters.ini"

/* Whether a path from a manifest or record stays below the directory: relative, short, no "..", no empty part. */
bool gen_directory_is_below(const char *path);

/* "<dir>/<name>" into `path`. */
void gen_directory_path(const char *dir, const char *name, char path[GEN_DIRECTORY_PATH]);

/* A whole small file with a NUL behind it, to be freed; HPCW_EFORMAT beyond 256 MiB. */
hpcw_status gen_directory_read(const char *path, char **text, hpcw_error *err);

/* A JSON file, to be deleted with cJSON_Delete. HPCW_EFORMAT if it does not parse. */
hpcw_status gen_directory_read_json(const char *path, cJSON **json, hpcw_error *err);

/* Size of a file that was just written. */
hpcw_status gen_directory_size(const char *path, uint64_t *size, hpcw_error *err);

/* What a directory is, before a run. */
enum gen_directory_state {
    GEN_DIRECTORY_FRESH,      /* absent, empty, or as good as empty */
    GEN_DIRECTORY_UNFINISHED, /* begun with this dataset's description */
    GEN_DIRECTORY_FINISHED,   /* complete, of this description */
    GEN_DIRECTORY_DIFFERENT,  /* a dataset of another description, finished or not */
    GEN_DIRECTORY_OTHER       /* something else is in it */
};
hpcw_status gen_directory_look(const char *dir, const char *fingerprint, enum gen_directory_state *state,
                               hpcw_error *err);

/* Refuses a directory that is GEN_DIRECTORY_DIFFERENT: HPCW_EEXIST with the first parameter that differs. */
hpcw_status gen_directory_refuse_different(const char *dir, const struct gen_dataset *d, hpcw_error *err);

/* Makes the directory with its folders and remembers the description. Harmless when done before or by others. With
 * `stripes` that are not zeroed the folders of formats get them as their default. */
hpcw_status gen_directory_begin(const char *dir, const struct gen_dataset *d, const char *fingerprint,
                                const struct hpcw_i_stripes *stripes, hpcw_error *err);

/* Removes what older datasets of any description left, finished or not: files, lists, state. What a format does
 * not own stays. */
hpcw_status gen_directory_clear(const char *dir, hpcw_error *err);

/* Removes the state of a finished dataset, and temporaries of runs that were killed. */
hpcw_status gen_directory_end(const char *dir, hpcw_error *err);

/* Removes one file, if it is there; truth, manifest and checksums. */
hpcw_status gen_directory_remove(const char *dir, const char *name, hpcw_error *err);
hpcw_status gen_directory_remove_lists(const char *dir, hpcw_error *err);

/*
 * Looks whether a finished dataset still has all its files, with `checksums` their list, too. If not, makes it an
 * unfinished one that remembers the formats whose files are all there.
 */
hpcw_status gen_directory_reopen(const char *dir, const struct gen_dataset *d, const char *fingerprint,
                                 bool checksums, bool *whole, hpcw_error *err);

/* What is known of the units [begin, end) of a format, which one run wrote. */
struct gen_range {
    uint64_t begin, end;
    bool digested;  /* the run made checksums */
    uint64_t *word; /* [3 * (end - begin)] of each unit: its size, high and low word of its digest */
    cJSON *partial;
};
void gen_range_free(struct gen_range *record);

/* Leaves a record behind, with `partial` [size], a JSON object, in place of its tree. */
hpcw_status gen_directory_write_range(const char *dir, const struct gen_dataset *d,
                                      const struct gen_format *format, const char *fingerprint,
                                      hpcw_durability durability, const struct gen_range *record,
                                      const void *partial, size_t size, hpcw_error *err);

/* Whether the record of exactly these units is there, belongs to the description, and its files have their sizes. */
bool gen_directory_has_range(const char *dir, const struct gen_dataset *d, const struct gen_format *format,
                             uint64_t begin, uint64_t end, const char *fingerprint);

/* Removes all records of a format: another run is going to write all of it. */
hpcw_status gen_directory_forget(const char *dir, const struct gen_format *format, hpcw_error *err);

/* All records of a format in ascending order, which must cover its units without a gap; `record` [*count] and what is
 * in them are the caller's. HPCW_ESTATE names the first units that are missing. */
hpcw_status gen_directory_ranges(const char *dir, const struct gen_dataset *d, const struct gen_format *format,
                                 const char *fingerprint, struct gen_range **record, size_t *count,
                                 hpcw_error *err);

#endif
