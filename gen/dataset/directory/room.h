/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks whether the limits of the disk and of the processes leave room for a run, before it removes or writes a
 * file. */
#ifndef HPCW_GEN_DATASET_DIRECTORY_ROOM_H
#define HPCW_GEN_DATASET_DIRECTORY_ROOM_H

#include "gen/dataset/directory/older.h"

/* Output of a run. */
struct gen_needs {
    uint64_t missing;     /* bits of the formats with units to write */
    struct gen_size size; /* total size of these units */
};

/* Computes the size of the units of the formats `needs->missing`. */
hpcw_status gen_needs_add_up(const struct gen_run *run, struct gen_needs *needs, hpcw_error *err);

/* On process 0. HPCW_ENOSPC: the file system has too few free bytes or files, even after the files of `older`
 * are removed. older: NULL: none. A limit that the file system does not have or report counts as met. */
hpcw_status gen_room_on_disk(const struct gen_run *run, const struct gen_needs *needs,
                             const struct gen_older *older, hpcw_error *err);

/* Collective; requires the lease. missing: as in gen_needs. part: all files of the part. HPCW_ENOSPC, only with
 * --force: a process may not write a file as large as the largest one. HPCW_EIO: it cannot open enough files at
 * once, although its limit was raised as far as allowed. */
hpcw_status gen_room_in_process(const struct gen_run *run, uint64_t missing, const struct gen_size *part,
                                hpcw_error *err);

/* Returns the directory of the run or, if it does not exist, its parent. */
hpcw_status gen_room_find_existing(const struct gen_run *run, char path[GEN_DIRECTORY_PATH], hpcw_error *err);

#endif
