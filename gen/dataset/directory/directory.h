/* SPDX-License-Identifier: BSD-3-Clause */
/* Directory of a dataset, and the state that it keeps until the dataset is finished.
 *
 *  DIR/<format>/...            data
 *  DIR/truth.json              injected faults
 *  DIR/manifest.json           all parameters and files; written last
 *  DIR/CHECKSUMS.xxh128        for `xxhsum -c`
 *  DIR/.hpcw/parameters.json   state: description of the dataset, as at the begin of the manifest
 *  DIR/.hpcw/lease             state: the run that writes here (lease.h)
 *  DIR/.hpcw/FORMAT.A-B.jsonl  state: units A .. B-1 are written, with their digests and partial results
 *
 * DIR itself may be a symbolic link, and files are read through links. But creating, replacing or removing a file
 * follows no link: it starts from gen_run.below, the directory held open with the lease. */
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
#define GEN_PARAMETERS GEN_STATE_DIR "/parameters.json"

/* Returns whether a path that was read from a file stays below the directory: it is relative, short, and has no
 * ".." and no empty parts. */
bool gen_directory_is_below(const char *path);

/* Writes "<dir>/<name>" to `path`. */
void gen_directory_path(const char *dir, const char *name, char path[GEN_DIRECTORY_PATH]);

/* Reads a whole file and appends a NUL. The caller frees the text. HPCW_EFORMAT: the file has more than 256 MiB. */
hpcw_status gen_directory_read(const char *path, char **text, hpcw_error *err);

/* Reads a JSON file. Free it with cJSON_Delete. HPCW_EFORMAT: it does not parse. */
hpcw_status gen_directory_read_json(const char *path, cJSON **json, hpcw_error *err);

/* Reads the description in a file of a dataset's directory, GEN_MANIFEST or GEN_PARAMETERS, and builds the dataset.
 * *text: the text of the file, which the caller frees, also after a failure; NULL: not wanted. Fails as
 * gen_dataset_of_manifest and gen_directory_read_json. */
hpcw_status gen_directory_read_dataset(const char *dir, const char *name, struct gen_dataset *d, char **text,
                                       hpcw_error *err);

/* Text of messages about an unfinished dataset: the commands that finish it. */
#define GEN_TO_FINISH "`hpcgen --resume` or `hpcgen join` finishes it"

/* Fails with HPCW_ESTATE if the directory is that of an unfinished dataset. A missing directory is no error. */
hpcw_status gen_directory_check_finished(const char *dir, hpcw_error *err);

/* Opens a sink for a file in the directory of a run that holds the lease. */
hpcw_status gen_directory_open(const struct gen_run *run, const char *name, hpcw_durability durability,
                               hpcw_sink **out, hpcw_error *err);

/* *is: the path is a file, and not a symbolic link to one; *size: its size. Fails if the path cannot be
 * examined. */
hpcw_status gen_directory_find(const char *path, bool *is, uint64_t *size, hpcw_error *err);

hpcw_status gen_directory_size(const char *path, uint64_t *size, hpcw_error *err);

/* Content of a directory before a run. */
enum gen_directory_state {
    GEN_DIRECTORY_FRESH,      /* empty, or it does not exist */
    GEN_DIRECTORY_UNFINISHED, /* an unfinished dataset with the description of the run */
    GEN_DIRECTORY_FINISHED,   /* a finished dataset with the description of the run */
    GEN_DIRECTORY_DIFFERENT,  /* a dataset with another description, finished or not */
    GEN_DIRECTORY_OTHER       /* something else */
};
hpcw_status gen_directory_look(const struct gen_run *run, enum gen_directory_state *state, hpcw_error *err);

/* Fails for GEN_DIRECTORY_DIFFERENT: HPCW_EEXIST with the first parameter that differs. */
hpcw_status gen_directory_refuse_different(const struct gen_run *run, hpcw_error *err);

/* Makes the directories of the formats and writes the description. Requires the lease. stripes: default layout
 * of the formats' directories; zeroed: unchanged. */
hpcw_status gen_directory_begin(const struct gen_run *run, const struct hpcw_i_stripes *stripes,
                                hpcw_error *err);

/* Removes temporary files of killed runs from the dataset's directory and from the directories of formats.
 * `formats` has a bit for each of these formats. */
hpcw_status gen_directory_sweep(const struct gen_run *run, uint64_t formats, hpcw_error *err);

/* Writes the name of the file with the state of the files [begin, end) of a format, relative to the dataset's
 * directory. */
void gen_directory_range_name(const struct gen_format *format, uint64_t begin, uint64_t end,
                              char name[GEN_UNIT_PATH]);

/* Returns whether a name in .hpcw is that of a file with the state of a range of this format. */
bool gen_directory_is_range(const struct gen_format *format, const char *name);

/* Returns whether runs give this name to a file in .hpcw. Files of all other names are foreign. */
bool gen_directory_is_state(const char *name);

/* Removes the files that runs wrote into .hpcw, except the lease. `left` receives the foreign files, and may be
 * NULL. */
hpcw_status gen_directory_remove_state(const struct gen_run *run, struct gen_left *left, hpcw_error *err);

/* Removes the state of a finished dataset, and temporary files of killed runs in the directories of its
 * formats. *run->left receives what stays in .hpcw. */
hpcw_status gen_directory_end(const struct gen_run *run, hpcw_error *err);

/* Flushes the files of this run's part (in a join: of all parts) and all directories above them, up to the
 * parent of the dataset's directory. Does nothing for HPCW_SYNC_NONE. */
hpcw_status gen_directory_sync(const struct gen_run *run, hpcw_error *err);

/* gen_directory_remove: removes one file of the dataset.
 * gen_directory_remove_lists: removes truth.json, manifest and checksum list.
 * A missing file is no error. */
hpcw_status gen_directory_remove(const struct gen_run *run, const char *name, hpcw_error *err);
hpcw_status gen_directory_remove_lists(const struct gen_run *run, hpcw_error *err);

/* Sets *whole to whether a finished dataset still has all its files, with a checksum list if the run computes
 * checksums. If not, makes it an unfinished dataset, and writes the state of each format whose files all
 * exist. */
hpcw_status gen_directory_reopen(const struct gen_run *run, bool *whole, hpcw_error *err);

/* Reads the size of a file from its entry in the manifest. Returns false, with a size of 0, if there is none. */
bool gen_directory_listed_size(const cJSON *entry, uint64_t *size);

/* Size and digest of a file. All members are 64-bit words, so that processes can sum them. */
struct gen_stored {
    uint64_t size;
    struct gen_digest digest;
};
enum { GEN_STORED_WORDS = sizeof(struct gen_stored) / sizeof(uint64_t) };

/* A range: the files [begin, end) of a format, which one run wrote, and the partial result of this run. */
struct gen_range {
    uint64_t begin, end;
    bool digested;           /* the run computed digests */
    struct gen_stored *file; /* [end - begin] */
    cJSON *partial;
};
void gen_range_free(struct gen_range *range);

/* Writes the state file of a range. partial: a JSON object of `size` bytes to write instead of range->partial. */
hpcw_status gen_directory_write_range(const struct gen_run *run, const struct gen_format *format,
                                      const struct gen_range *range, const void *partial, size_t size,
                                      hpcw_error *err);

/* Sets *has to whether the state of exactly these files exists, has the fingerprint of the run, and all files
 * have their sizes. Fails if that cannot be determined. */
hpcw_status gen_directory_has_range(const struct gen_run *run, const struct gen_format *format,
                                    struct gen_slice units, bool *has, hpcw_error *err);

/* Removes the state of all ranges of a format, before a run writes all files of the format. */
hpcw_status gen_directory_forget(const struct gen_run *run, const struct gen_format *format, hpcw_error *err);

/* Reads the ranges of a format in ascending order. HPCW_ESTATE: they do not cover all files of the format; the
 * message has the first gap. The caller frees each range[i], i < *count, and the array, also after a
 * failure. */
hpcw_status gen_directory_ranges(const struct gen_run *run, const struct gen_format *format,
                                 struct gen_range **range, size_t *count, hpcw_error *err);

#endif
