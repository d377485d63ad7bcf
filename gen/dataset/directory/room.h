/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks before a run whether the disk has space for it, and whether the limits of its processes allow it. */
#ifndef HPCW_GEN_DATASET_DIRECTORY_ROOM_H
#define HPCW_GEN_DATASET_DIRECTORY_ROOM_H

#include "gen/dataset/directory/older.h"

/* What a run must write. */
struct gen_needs {
    uint64_t missing;     /* a bit for each format of which files must be written */
    struct gen_size size; /* total size of the files to write */
};

/* Computes needs->size: the size of this part's files of the formats in needs->missing. */
hpcw_status gen_needs_add_up(const struct gen_run *run, struct gen_needs *needs, hpcw_error *err);

/* On process 0. HPCW_ENOSPC: the file system has too few free bytes or inodes for the run, even after the files
 * of `older` (NULL: none) are removed. A limit that the file system does not report counts as met. */
hpcw_status gen_room_on_disk(const struct gen_run *run, const struct gen_needs *needs,
                             const struct gen_older *older, hpcw_error *err);

/* Collective; requires the lease. `missing`: as in gen_needs. `part`: size of all files of the part.
 * HPCW_ENOSPC, only with --force: a limit does not allow a file as large as the largest one. HPCW_EIO: a
 * process cannot open enough files at once, although its limit was raised as far as allowed. */
hpcw_status gen_room_in_process(const struct gen_run *run, uint64_t missing, const struct gen_size *part,
                                hpcw_error *err);

/* Writes the path of the directory of the run or, if it does not exist, of its parent. */
hpcw_status gen_room_find_existing(const struct gen_run *run, char path[GEN_DIRECTORY_PATH], hpcw_error *err);

#endif
