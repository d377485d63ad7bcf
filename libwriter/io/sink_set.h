/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that get their names together, so that nobody meets some that are new and some that are old. The first of
 * them gets its name last. Before the first rename, an intent lists them all: a file ".hpcw-set-NAME" beside the
 * set, where NAME is that of the set. Whoever opens it after a writer died between two renames finishes what the
 * intent says.
 */
#ifndef HPCW_IO_SINK_SET_H
#define HPCW_IO_SINK_SET_H

#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"

struct hpcw_i_set;

struct hpcw_i_set_file {
    char *path;      /* whose last part is the name in the directory of the set */
    uint64_t number; /* hpcw_i_sink_number */
};

/*
 * Writes the intent for settled file sinks, [files] in the order of the set. Where another writer is giving this
 * set its names, it waits for the end of that. `path` is that of the set. On success *out is to be ended or left.
 */
hpcw_status hpcw_i_set_announce(struct hpcw_i_dir *dir, const char *path, uint32_t files,
                                const struct hpcw_i_set_file *file, hpcw_durability durability,
                                struct hpcw_i_set **out, hpcw_error *err);

/* Removes the older file whose name the first file gets, so that no moment shows old and new files together. */
hpcw_status hpcw_i_set_retire(const struct hpcw_i_set *set, hpcw_sink *first, hpcw_error *err);

/* Removes the intent: all files have their names, or none will get one. NULL is allowed. After a failure it is
 * left, and the next open removes it. */
hpcw_status hpcw_i_set_end(struct hpcw_i_set *set, hpcw_error *err);

/* Leaves the intent to the next open. NULL is allowed. */
void hpcw_i_set_leave(struct hpcw_i_set *set);

/* Adds to a message that the next open of the path finishes the set. Returns its code. */
hpcw_status hpcw_i_set_begun(hpcw_error *err, const char *path);

/*
 * Finishes what a writer of `path`, in `dir`, left that died between two renames. Does nothing if there is no
 * intent of this user. Waits for a writer that is alive and gives the files their names; HPCW_EEXIST: for a minute
 * in vain.
 */
hpcw_status hpcw_i_set_finish(struct hpcw_i_dir *dir, const char *path, hpcw_error *err);

#endif
