/* SPDX-License-Identifier: BSD-3-Clause */
/* A run that writes a dataset, or one part of it. */
#ifndef HPCW_GEN_DATASET_DIRECTORY_RUN_H
#define HPCW_GEN_DATASET_DIRECTORY_RUN_H

#include "gen/spec/dataset.h"
#include "gen/spec/units.h"
#include "libwriter/comm/comm.h"
#include "libwriter/io/fsinfo.h"
#include "libwriter/io/sink.h"

/* What stays in .hpcw of a finished dataset: foreign files, and a lease that could not be removed. */
struct gen_left {
    uint64_t count;
    char name[256];   /* name of the first foreign file */
    hpcw_error lease; /* why the run's lease stays; HPCW_OK: it does not stay */
};

struct gen_run {
    const struct gen_dataset *dataset;
    char fingerprint[33]; /* fingerprint of the dataset; set by gen_generate and gen_join */
    const char *directory;
    hpcw_comm *comm;
    uint32_t jobs;
    uint32_t part, parts; /* part: 0 .. parts - 1 */
    bool resume, force, checksums;
    /* takes the lease over even if its run may still be alive */
    bool takeover;
    struct hpcw_i_stripes stripes; /* default layout of the formats' directories; zeroed: unchanged */
    hpcw_durability durability;
    /* the directory, held open while the run has the lease (lease.h) */
    struct hpcw_i_sink_below below;
    /* opens truth.json, manifest and checksum list for writing; zeroed: they are files in `directory` */
    hpcw_sink_source outputs;
    /* Called from any thread; may be NULL. label: gets the name of the current action. progress: gets the bytes
     * written since its last call. */
    void (*label)(void *context, const char *text);
    void (*progress)(void *context, uint64_t bytes);
    void *context;
    struct gen_left *left; /* result of process 0: what stays in .hpcw; may be NULL */
};

/* Planned number and size of files. */
struct gen_size {
    uint64_t files;
    uint64_t apparent, allocated; /* bytes, as in struct gen_unit */
    uint64_t largest;             /* apparent bytes of the largest file */
    uint64_t path_bytes;          /* total length of the paths */
};

/* Returns which files of a format belong to part `part` of `parts`. */
struct gen_slice gen_part_of(const struct gen_dataset *d, size_t format, uint32_t part, uint32_t parts);

/* Adds number and size of the files `units` of a format to *size. */
hpcw_status gen_size_add(const struct gen_dataset *d, size_t format, struct gen_slice units,
                         struct gen_size *size, hpcw_error *err);

/* Computes number and size of the files of a part. */
hpcw_status gen_part_size(const struct gen_dataset *d, uint32_t part, uint32_t parts, struct gen_size *size,
                          hpcw_error *err);

#endif
