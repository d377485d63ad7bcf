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
    bool already;         /* a join found it finished */
};

/* Prepares the directory, writes missing files, and joins if this is the only part. The following errors occur
 * before it writes or removes anything. HPCW_EEXIST: the directory holds something else, or another run writes
 * there. HPCW_ENOTSUP: stripes are wanted and it is not on Lustre. HPCW_ENOSPC, HPCW_EIO: the disk or the limits
 * of a process leave no room (room.h). */
hpcw_status gen_generate(struct gen_run *run, struct gen_outcome *outcome, hpcw_error *err);

/* Joins the parts. Not collective. HPCW_ESTATE: files are not written yet; the message names them. HPCW_EEXIST:
 * a run writes there; the message names it. For a dataset that is already finished, flushes it if asked to, and
 * removes what a killed join left of the state. */
hpcw_status gen_join(struct gen_run *run, struct gen_outcome *outcome, hpcw_error *err);

/* Last step of a dataset, after all its files are written. Not collective. Checks that all units exist,
 * completes them, writes truth, manifest and checksums, and removes the state. The result depends only on the
 * dataset, not on its parts. */
struct gen_lease;
hpcw_status gen_finish(const struct gen_run *run, const struct gen_lease *lease, hpcw_error *err);

#endif
