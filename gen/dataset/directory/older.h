/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of an older dataset in the directory of a run with --force. Only files known to belong to it are
 * removed: those that its manifest lists or that the description of an unfinished run plans, if a format makes
 * such names; and the lists and the state. Without a manifest or a description nothing is removed. */
#ifndef HPCW_GEN_DATASET_DIRECTORY_OLDER_H
#define HPCW_GEN_DATASET_DIRECTORY_OLDER_H

#include "gen/dataset/directory/directory.h"

struct gen_older;

/* Finds the files of an older dataset, and everything that would stop the run after some were removed. Requires
 * the lease; changes nothing. Free with gen_older_free. HPCW_EEXIST, HPCW_EINVAL: something is in the way, or
 * remaining files would be taken for files of the new dataset. HPCW_EACCES: no permission to remove or replace a
 * file. */
hpcw_status gen_older_find(const struct gen_run *run, struct gen_older **out, hpcw_error *err);
void gen_older_free(struct gen_older *older);

/* Upper bounds: for the files that will be removed, and for the directories that the new dataset needs and that
 * do not exist. */
struct gen_older_size {
    uint64_t bytes, files, folders;
};
struct gen_older_size gen_older_size(const struct gen_older *older);

/* Removes the files, directories that are then empty, the lists and the state. */
hpcw_status gen_older_remove(const struct gen_older *older, const struct gen_run *run, hpcw_error *err);

#endif
