/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a dataset or one part of it, and joins parts. Collective over `comm`. */
#ifndef HPCW_GEN_DATASET_GENERATE_H
#define HPCW_GEN_DATASET_GENERATE_H

#include "gen/dataset/directory/run.h"

/* Result of a run, the same on all processes. */
struct gen_outcome {
    uint64_t files;       /* files written by this run */
    uint64_t kept;        /* files kept from an earlier run */
    struct gen_size size; /* total size of this part */
    bool complete;        /* the dataset is finished */
    bool already;         /* gen_join found the dataset finished */
};

/* Prepares the directory, writes missing files, and finishes the dataset if this is the only part. These errors
 * occur before files are written or removed. HPCW_EEXIST: the directory has other content, or another run
 * writes there. HPCW_ENOTSUP: stripes are wanted, and the directory is not on Lustre. HPCW_ENOSPC, HPCW_EIO:
 * the disk or the limits of a process do not allow the run (room.h). */
hpcw_status gen_generate(struct gen_run *run, struct gen_outcome *outcome, hpcw_error *err);

/* Finishes a dataset whose parts are written. Not collective. HPCW_ESTATE: files are missing; the message names
 * them. HPCW_EEXIST: another run writes there; the message names it. A dataset that is finished already is only
 * flushed, as run->durability says, and loses the state that a killed join left. */
hpcw_status gen_join(struct gen_run *run, struct gen_outcome *outcome, hpcw_error *err);

/* Last step of a dataset, after all files of its formats are written. Not collective. Checks that these files
 * exist, completes them, writes truth.json, manifest and checksum list, and removes the state. The result does
 * not depend on the number of parts. */
struct gen_lease;
hpcw_status gen_finish(const struct gen_run *run, const struct gen_lease *lease, hpcw_error *err);

#endif
