/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of an older dataset in the directory of a run with --force. The run removes a file of a format only if
 * the manifest lists it or the description of an unfinished dataset includes it. It also removes truth.json,
 * manifest, checksum list, and the state in .hpcw. Without a manifest or a description it removes nothing. */
#ifndef HPCW_GEN_DATASET_DIRECTORY_OLDER_H
#define HPCW_GEN_DATASET_DIRECTORY_OLDER_H

#include "gen/dataset/directory/directory.h"

struct gen_older;

/* Finds the files of an older dataset, and everything that would stop the run after it removed some of them.
 * Requires the lease; changes nothing. Free with gen_older_free. HPCW_EEXIST, HPCW_EINVAL: the name of a new
 * file is taken, or readers would take a remaining file for a new one. HPCW_EACCES: no permission to remove or
 * replace a file. */
hpcw_status gen_older_find(const struct gen_run *run, struct gen_older **out, hpcw_error *err);
void gen_older_free(struct gen_older *older);

/* Upper bounds of what removing an older dataset changes.
 * bytes, files: space and inodes of the files that will be removed.
 * folders: directories that the new dataset needs and that do not exist. */
struct gen_older_size {
    uint64_t bytes, files, folders;
};
struct gen_older_size gen_older_size(const struct gen_older *older);

/* Removes the files of formats, directories that are then empty, truth.json, manifest, checksum list and
 * state. */
hpcw_status gen_older_remove(const struct gen_older *older, const struct gen_run *run, hpcw_error *err);

#endif
