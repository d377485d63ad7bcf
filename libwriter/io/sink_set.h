/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives several files their names together, so that nobody sees new files beside old ones. The first of them gets
 * its name last. Before the first rename, an intent lists them all: a file ".hpcw-set-NAME" beside the set, where
 * NAME is that of the set. If a writer dies between two renames, the next open finishes what the intent says.
 */
#ifndef HPCW_IO_SINK_SET_H
#define HPCW_IO_SINK_SET_H

#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"

struct hpcw_i_set;

struct hpcw_i_set_file {
    char *path;      /* the last part is the name in the directory of the set */
    uint64_t number; /* hpcw_i_sink_number */
};

/*
 * Writes the intent for settled file sinks, [files] in the order of the set. If another writer is giving this set
 * its names, the call waits for it. `path` is that of the set. On success the caller must end or leave *out.
 */
hpcw_status hpcw_i_set_announce(struct hpcw_i_dir *dir, const char *path, uint32_t files,
                                const struct hpcw_i_set_file *file, hpcw_durability durability,
                                struct hpcw_i_set **out, hpcw_error *err);

/* Removes the older file that has the name of the first file, so that no old file is beside new ones at any
 * time. */
hpcw_status hpcw_i_set_retire(const struct hpcw_i_set *set, hpcw_sink *first, hpcw_error *err);

/* Removes the intent: either all files have their names, or none will get one. NULL is allowed. After a failure
 * the intent stays, and the next open removes it. */
hpcw_status hpcw_i_set_end(struct hpcw_i_set *set, hpcw_error *err);

/* Leaves the intent to the next open. NULL is allowed. */
void hpcw_i_set_leave(struct hpcw_i_set *set);

/* Adds to a message that the next open of the path will finish the set. Returns the code of `err`. */
hpcw_status hpcw_i_set_begun(hpcw_error *err, const char *path);

/*
 * Finishes what a writer of `path`, in `dir`, left if it died between two renames. Does nothing if this user has
 * no intent there. Waits for a live writer that gives the files their names; HPCW_EEXIST: a minute was not enough.
 */
hpcw_status hpcw_i_set_finish(struct hpcw_i_dir *dir, const char *path, hpcw_error *err);

#endif
