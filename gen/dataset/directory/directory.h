/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The directory of a dataset, and the state that it keeps until the dataset is finished.
 *
 *   DIR/<format>/...            data
 *   DIR/truth.json              what was injected
 *   DIR/manifest.json           all parameters and every file; written last
 *   DIR/CHECKSUMS.xxh128        for `xxhsum -c`
 *   DIR/.hpcw/parameters.ini    state: the description of the dataset, a file for --config
 *   DIR/.hpcw/workload.lua      state: the text of its workload, if it has one
 *   DIR/.hpcw/lease             state: who writes here (lease.h)
 *   DIR/.hpcw/FORMAT.A-B.jsonl  state: units A .. B-1 are written, with their digests and partial results
 *
 * DIR itself may be a symbolic link, and files are read through links. But whatever creates, replaces or removes a file in it
 * follows none: it goes through gen_run.below, which is held with the lease.
 */
#ifndef HPCW_GEN_DATASET_DIRECTORY_DIRECTORY_H
#define HPCW_GEN_DATASET_DIRECTORY_DIRECTORY_H

#include <cjson/cJSON.h>

#include "gen/dataset/directory/digest.h"
#include "gen/dataset/directory/run.h"
#include "gen/format/format.h"

enum { GEN_DIRECTORY_PATH = 4096 + GEN_UNIT_PATH };

#define GEN_STATE_DIR ".hpcw"
#define GEN_MANIFEST "manifest.json"
#define GEN_TRUTH "truth.json"
#define GEN_CHECKSUMS "CHECKSUMS.xxh128"
#define GEN_PARAMETERS GEN_STATE_DIR "/parameters.ini"
#define GEN_WORKLOAD_TEXT GEN_STATE_DIR "/workload.lua"

/* Whether a path from a file stays below the directory: relative, short, no "..", no empty part. */
bool gen_directory_is_below(const char *path);

/* "<dir>/<name>" into `path`. */
void gen_directory_path(const char *dir, const char *name, char path[GEN_DIRECTORY_PATH]);

/* Reads a whole file of at most 256 MiB, otherwise HPCW_EFORMAT, and appends a NUL. The caller frees the text. */
hpcw_status gen_directory_read(const char *path, char **text, hpcw_error *err);

/* Reads a JSON file. HPCW_EFORMAT if it does not parse. Delete with cJSON_Delete. */
hpcw_status gen_directory_read_json(const char *path, cJSON **json, hpcw_error *err);

/* A sink for a file in the directory of a run that has the lease. */
hpcw_status gen_directory_open(const struct gen_run *run, const char *name, hpcw_durability durability,
                               hpcw_sink **out, hpcw_error *err);

/* *is: a path is that of a file, itself and not by a link; *size is its size. Fails if it cannot be looked at. */
hpcw_status gen_directory_find(const char *path, bool *is, uint64_t *size, hpcw_error *err);

/* Size of a file. */
hpcw_status gen_directory_size(const char *path, uint64_t *size, hpcw_error *err);

/* What a directory holds before a run. */
enum gen_directory_state {
    GEN_DIRECTORY_FRESH,      /* nothing, or it does not exist */
    GEN_DIRECTORY_UNFINISHED, /* an unfinished dataset of this description */
    GEN_DIRECTORY_FINISHED,   /* a finished dataset of this description */
    GEN_DIRECTORY_DIFFERENT,  /* a dataset of another description, finished or not */
    GEN_DIRECTORY_OTHER       /* something else */
};
hpcw_status gen_directory_look(const struct gen_run *run, enum gen_directory_state *state, hpcw_error *err);

/* The error for GEN_DIRECTORY_DIFFERENT: HPCW_EEXIST with the first parameter that differs. */
hpcw_status gen_directory_refuse_different(const struct gen_run *run, hpcw_error *err);

/* With the lease on the directory: makes those of the formats in it, and writes the description. `stripes` become the default of the formats' directories, unless zeroed. */
hpcw_status gen_directory_begin(const struct gen_run *run, const struct hpcw_i_stripes *stripes,
                                hpcw_error *err);

/* Removes temporary files of killed runs, in the directory itself and in those of some formats (bits). */
hpcw_status gen_directory_sweep(const struct gen_run *run, uint64_t formats, hpcw_error *err);

/* The file with the state of units [begin, end) of a format, below the dataset's directory. */
void gen_directory_range_name(const struct gen_format *format, uint64_t begin, uint64_t end,
                              char name[GEN_UNIT_PATH]);

/* Whether this is the name of such a file, in .hpcw. */
bool gen_directory_is_range(const struct gen_format *format, const char *name);

/* Whether runs give this name to a file in .hpcw. All other names there are somebody else's. */
bool gen_directory_is_state(const char *name);

/* Removes the files of runs in .hpcw but the lease. `left` (may be NULL): what is somebody else's. */
hpcw_status gen_directory_remove_state(const struct gen_run *run, struct gen_left *left, hpcw_error *err);

/* Removes the state of a finished dataset, and temporary files of killed runs in the directories of its formats. Sets
 * *run->left. */
hpcw_status gen_directory_end(const struct gen_run *run, hpcw_error *err);

/* With a durability other than none: flushes all files of this part, also those of earlier runs and other parts, their
 * directories, that of the dataset, and its parent. */
hpcw_status gen_directory_sync(const struct gen_run *run, hpcw_error *err);

/* Removes one file; the truth, manifest and checksums. No error if they do not exist. */
hpcw_status gen_directory_remove(const struct gen_run *run, const char *name, hpcw_error *err);
hpcw_status gen_directory_remove_lists(const struct gen_run *run, hpcw_error *err);

/*
 * Sets *whole if a finished dataset still has all its files, if the run computes checksums also their list. If not, makes
 * it an unfinished dataset with the state of those formats whose files all exist.
 */
hpcw_status gen_directory_reopen(const struct gen_run *run, bool *whole, hpcw_error *err);

/* What is known of a file. Has 64-bit words only. */
struct gen_stored {
    uint64_t size;
    struct gen_digest digest;
};
enum { GEN_STORED_WORDS = sizeof(struct gen_stored) / sizeof(uint64_t) };

/* What is known of units [begin, end) of a format, which one run wrote. */
struct gen_range {
    uint64_t begin, end;
    bool digested;           /* the run computed checksums */
    struct gen_stored *file; /* [end - begin] */
    cJSON *partial;
};
void gen_range_free(struct gen_range *range);

/* Writes the state of a range. `partial` [size], a JSON object, replaces range->partial. */
hpcw_status gen_directory_write_range(const struct gen_run *run, const struct gen_format *format,
                                      const struct gen_range *range, const void *partial, size_t size,
                                      hpcw_error *err);

/* Whether the state of exactly these units exists, fits the description, and its files have their sizes. Fails if that cannot
 * be known. */
hpcw_status gen_directory_has_range(const struct gen_run *run, const struct gen_format *format,
                                    struct gen_slice units, bool *has, hpcw_error *err);

/* Removes the state of all ranges of a format, which another run is going to write as a whole. */
hpcw_status gen_directory_forget(const struct gen_run *run, const struct gen_format *format, hpcw_error *err);

/* Reads the ranges of a format in ascending order. HPCW_ESTATE if they do not cover its units, with the first gap. The
 * caller frees each of range[*count], and the array, also after a failure. */
hpcw_status gen_directory_ranges(const struct gen_run *run, const struct gen_format *format,
                                 struct gen_range **range, size_t *count, hpcw_error *err);

#endif
