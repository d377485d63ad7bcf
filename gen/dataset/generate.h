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
    struct hpcw_i_stripes stripes; /* default layout of the folders of formats; zeroed: as it is */
    hpcw_durability durability;
    /* Told what is being done and how far it is; may be NULL. From any thread. */
    void (*label)(void *context, const char *text);
    void (*progress)(void *context, uint64_t bytes);
    void *context;
};

/* What became of it, the same on all processes except where marked. */
struct gen_outcome {
    uint64_t files;     /* written by this run */
    uint64_t kept;      /* found finished */
    uint64_t apparent;  /* bytes of all files of this part */
    uint64_t allocated; /* as planned */
    bool complete;      /* the dataset is finished */
    char fingerprint[33];
};

/* Units of a format that belong to a part: [*begin, *end). */
void gen_part_of(const struct gen_dataset *d, size_t format, uint32_t part, uint32_t parts, uint64_t *begin,
                 uint64_t *end);

/* Bytes of a part, without what is there already. */
hpcw_status gen_part_size(const struct gen_dataset *d, uint32_t part, uint32_t parts, uint64_t *files,
                          uint64_t *apparent, uint64_t *allocated, hpcw_error *err);

/*
 * Prepares the directory, writes what is missing, and joins if this is the only part. Fails with HPCW_EEXIST
 * for a directory that holds something else; before anything was written with HPCW_ENOSPC if there is no room, with
 * HPCW_ENOTSUP if stripes are wanted and the directory is not on Lustre.
 */
hpcw_status gen_generate(const struct gen_run *run, struct gen_outcome *outcome, hpcw_error *err);

/* Joins the parts that are there. Not collective. HPCW_ESTATE names what is missing. */
hpcw_status gen_join(const struct gen_run *run, struct gen_outcome *outcome, hpcw_error *err);

#endif
