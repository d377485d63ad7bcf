/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an older dataset left in the directory of a run with --force. Only files are removed that are known to be of it: those
 * that its manifest lists or the description of an unfinished run plans, if their names are those of a format, and the
 * lists and the state. Without a manifest or a description nothing is removed.
 */
#ifndef HPCW_GEN_DATASET_DIRECTORY_OLDER_H
#define HPCW_GEN_DATASET_DIRECTORY_OLDER_H

#include "gen/dataset/directory/directory.h"

struct gen_older;

/*
 * With the lease on the directory: looks for the files of an older dataset, and for all that would stop the run after some
 * of them were removed. Changes nothing. HPCW_EEXIST, HPCW_EINVAL: something is in the way, or files that stay would be
 * taken for files of the new dataset; HPCW_EACCES: no right to remove or replace a file. Free with gen_older_free.
 */
hpcw_status gen_older_find(const struct gen_run *run, struct gen_older **out, hpcw_error *err);
void gen_older_free(struct gen_older *older);

/* Of the files that will be removed, at most, and of the directories that the new dataset needs and that do not exist. */
struct gen_older_size {
    uint64_t bytes, files, folders;
};
struct gen_older_size gen_older_size(const struct gen_older *older);

/* Removes the files, directories that are then empty, the lists and the state. */
hpcw_status gen_older_remove(const struct gen_older *older, const struct gen_run *run, hpcw_error *err);

#endif
