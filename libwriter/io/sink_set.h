/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of files that get their final names together, so that nobody sees new files beside old ones. The first
 * file of the set is renamed last. Before the first rename, a file ".hpcw-set-NAME" beside the set, the
 * intent, lists all files; NAME is the name of the set. If a writer dies between two renames, the next open of
 * the set finishes the renames.
 */
#ifndef HPCW_IO_SINK_SET_H
#define HPCW_IO_SINK_SET_H

#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"

struct hpcw_i_set;

struct hpcw_i_set_file {
    char *path;      /* path whose last part is the final name in the set's directory */
    uint64_t number; /* number in the temporary name: hpcw_i_sink_number */
};

/*
 * Writes the intent of a set. `file` has its settled file sinks, in the order of the set. If another writer is
 * renaming files of the set, waits for it. `path` is that of the set. After success, the caller passes *out to
 * hpcw_i_set_end or hpcw_i_set_leave.
 */
hpcw_status hpcw_i_set_announce(struct hpcw_i_dir *dir, const char *path, uint32_t files,
                                const struct hpcw_i_set_file *file, hpcw_durability durability,
                                struct hpcw_i_set **out, hpcw_error *err);

/* Removes the older file that has the name of the set's first file. So an old first file is never beside new
 * files. */
hpcw_status hpcw_i_set_retire(const struct hpcw_i_set *set, hpcw_sink *first, hpcw_error *err);

/* Removes the intent, after all files were renamed, or if none will be. `set` may be NULL. After a failure the
 * intent stays, and the next open of the set removes it. */
hpcw_status hpcw_i_set_end(struct hpcw_i_set *set, hpcw_error *err);

/* Leaves the intent to the next open, which finishes the renames. `set` may be NULL. */
void hpcw_i_set_leave(struct hpcw_i_set *set);

/* Adds to the message in `err` that the next open of `path` finishes the set. Returns the code in `err`. */
hpcw_status hpcw_i_set_begun(hpcw_error *err, const char *path);

/*
 * Finishes the set `path` in `dir` if its writer died between two renames. Does nothing if there is no intent of
 * this user. If the writer is alive, waits until it has renamed its files. HPCW_EEXIST: the writer needs more than
 * a minute.
 */
hpcw_status hpcw_i_set_finish(struct hpcw_i_dir *dir, const char *path, hpcw_error *err);

#endif
