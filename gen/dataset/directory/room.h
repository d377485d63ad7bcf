/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the limits of the disk and of the processes leave room for a run: looked for before it removes or writes a file. */
#ifndef HPCW_GEN_DATASET_DIRECTORY_ROOM_H
#define HPCW_GEN_DATASET_DIRECTORY_ROOM_H

#include "gen/dataset/directory/older.h"

/* What a run writes. */
struct gen_needs {
    uint64_t missing;     /* formats with units to write, as bits */
    struct gen_size size; /* of these units */
};

/* Adds up the units of the formats `needs->missing`. */
hpcw_status gen_needs_add_up(const struct gen_run *run, struct gen_needs *needs, hpcw_error *err);

/* On process 0. HPCW_ENOSPC: the file system has too few free bytes or files, also when those of `older` (NULL: none) are
 * gone. What a file system does not limit or does not say is enough. */
hpcw_status gen_room_on_disk(const struct gen_run *run, const struct gen_needs *needs,
                             const struct gen_older *older, hpcw_error *err);

/*
 * Collective, with the lease in hand. `missing`: as in gen_needs; `part`: all files of the part. HPCW_ENOSPC, of a run by force:
 * a process may not write a file as large as the largest one. HPCW_EIO: it cannot open as many files at once as it will,
 * although its limit was raised as far as it may be.
 */
hpcw_status gen_room_in_process(const struct gen_run *run, uint64_t missing, const struct gen_size *part,
                                hpcw_error *err);

/* The directory of the run or, if it does not exist, its parent. */
hpcw_status gen_room_find_existing(const struct gen_run *run, char path[GEN_DIRECTORY_PATH], hpcw_error *err);

#endif
