/* SPDX-License-Identifier: BSD-3-Clause */
/* F4: writing a dataset, or one part of it, and joining parts. Collective over `comm`. */
#ifndef HPCW_GEN_DATASET_GENERATE_H
#define HPCW_GEN_DATASET_GENERATE_H

#include "gen/spec/dataset.h"
#include "libwriter/comm/comm.h"
#include "libwriter/io/fsinfo.h"

struct gen_run {
    const struct gen_dataset *dataset;
    const char *directory;
    hpcw_comm *comm;
    uint32_t jobs;
    uint32_t part, parts; /* part 0 .. parts - 1 */
    bool resume, force, checksums;
    struct hpcw_i_stripes stripes; /* default layout of the formats' directories; zeroed: theirs */
    hpcw_durability durability;
    /* Called with what the run does, and with bytes written; may be NULL. From any thread. */
    void (*label)(void *context, const char *text);
    void (*progress)(void *context, uint64_t bytes);
    void *context;
};

/* The result, the same on all processes. */
struct gen_outcome {
    uint64_t files;     /* written by this run */
    uint64_t kept;      /* of an earlier run */
    uint64_t apparent;  /* bytes of all files of this part */
    uint64_t allocated; /* as planned */
    bool complete;      /* the dataset is finished */
    char fingerprint[33];
};

/* Units of a format that belong to a part: [*begin, *end). */
void gen_part_of(const struct gen_dataset *d, size_t format, uint32_t part, uint32_t parts, uint64_t *begin,
                 uint64_t *end);

/* Files and bytes of a part. */
hpcw_status gen_part_size(const struct gen_dataset *d, uint32_t part, uint32_t parts, uint64_t *files,
                          uint64_t *apparent, uint64_t *allocated, hpcw_error *err);

/*
 * Prepares the directory, writes what is missing, and joins if this is the only part. Fails before it writes with
 * HPCW_EEXIST if the directory holds something else, HPCW_ENOSPC if there are too few free bytes, HPCW_ENOTSUP if it is
 * to have stripes and is not on Lustre.
 */
hpcw_status gen_generate(const struct gen_run *run, struct gen_outcome *outcome, hpcw_error *err);

/* Joins the parts. Not collective. HPCW_ESTATE names the files that are not written yet. */
hpcw_status gen_join(const struct gen_run *run, struct gen_outcome *outcome, hpcw_error *err);

#endif
