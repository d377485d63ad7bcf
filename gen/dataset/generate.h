/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing a dataset, or one part of it, and joining parts. Collective over `comm`. */
#ifndef HPCW_GEN_DATASET_GENERATE_H
#define HPCW_GEN_DATASET_GENERATE_H

#include "gen/dataset/directory/run.h"

/* The result, the same on all processes. */
struct gen_outcome {
    uint64_t files;       /* written by this run */
    uint64_t kept;        /* of an earlier run */
    struct gen_size size; /* of this part */
    bool complete;        /* the dataset is finished */
    bool already;         /* it was so before a join */
};

/*
 * Prepares the directory, writes what is missing, and joins if this is the only part. Fails before it writes or removes with
 * HPCW_EEXIST if the directory holds something else or another run writes there, HPCW_ENOTSUP if it is to have stripes and is
 * not on Lustre, HPCW_ENOSPC or HPCW_EIO if the disk or the limits of a process leave no room for it (room.h).
 */
hpcw_status gen_generate(struct gen_run *run, struct gen_outcome *outcome, hpcw_error *err);

/* Joins the parts. Not collective. HPCW_ESTATE names the files that are not written yet, HPCW_EEXIST the run that writes there.
 * A dataset that is finished already is flushed, if asked to, and loses the state that a killed join may have left. */
hpcw_status gen_join(struct gen_run *run, struct gen_outcome *outcome, hpcw_error *err);

/*
 * The last step of a dataset, when all its files are written. Not collective. Checks that all units exist, completes them,
 * writes truth, manifest and checksums, and removes the state. The result depends only on the dataset, not on the parts
 * that it was written in.
 */
struct gen_lease;
hpcw_status gen_finish(const struct gen_run *run, const struct gen_lease *lease, hpcw_error *err);

#endif
