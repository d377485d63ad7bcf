/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checkpoints: one data file per rank and checkpoint. Sizes are log-normal around a mean, or all equal; contents and
 * CRC-32 are drawn, each by itself: the last four bytes of a file make its content fit its CRC. So a map can be written
 * without the files, by whoever needs it, and is the same. Faults are drawn from all files. Any of it is a pure function
 * of (parameters, number of ranks, seed, checkpoint, rank).
 */
#ifndef HPCW_GEN_MODEL_CHECKPOINT_CHECKPOINT_H
#define HPCW_GEN_MODEL_CHECKPOINT_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "ui/param/param.h"

enum { MODEL_CHECKPOINT_LEAST = 4 }; /* bytes of a file: those that fit the CRC */

enum model_checkpoint_content { MODEL_CHECKPOINT_RANDOM, MODEL_CHECKPOINT_COMPRESSIBLE };
enum model_checkpoint_payload { MODEL_CHECKPOINT_FILES, MODEL_CHECKPOINT_NONE };

/* What can be wrong with a file. At most one fault strikes a file. */
enum model_checkpoint_fault {
    MODEL_CHECKPOINT_MISSING_FILE,   /* it is in the map, and not there */
    MODEL_CHECKPOINT_TRUNCATED_FILE, /* it is shorter than the map says */
    MODEL_CHECKPOINT_WRONG_CRC,      /* a byte of it is another one than when the CRC was taken */
    MODEL_CHECKPOINT_MISSING_RANK,   /* it is there, and its rank has no entry in the map */
    MODEL_CHECKPOINT_FAULTS
};

/* Keys "rank2file.*". */
struct model_checkpoint_params {
    int layout; /* enum hpcw_rank2file_layout */
    uint32_t checkpoints;
    uint64_t mean_size;
    double sigma;
    int content; /* enum model_checkpoint_content */
    int payload; /* enum model_checkpoint_payload */
    uint32_t leaf_ranks;
    uint64_t leaf_bytes;
    uint32_t faults[MODEL_CHECKPOINT_FAULTS]; /* how many files each strikes */
    bool stale_index;                         /* the index's current dataset is not there any more */
};

extern const struct ui_param model_checkpoint_param[];
extern const size_t model_checkpoint_param_count;
extern const char *const model_checkpoint_fault_name[MODEL_CHECKPOINT_FAULTS];
void model_checkpoint_params_init(struct model_checkpoint_params *params);

/* Files are numbered checkpoint * ranks + rank, checkpoints from 0. Read-only after init: may be shared by threads. */
struct model_checkpoint {
    struct model_checkpoint_params params;
    uint32_t ranks;
    uint64_t seed;
    uint64_t *fault[MODEL_CHECKPOINT_FAULTS]; /* [params.faults[k]] files, ascending */
};

/* HPCW_ERANGE if more than half of the files should be faulty; HPCW_ENOMEM. Free also after a failure. */
hpcw_status model_checkpoint_init(struct model_checkpoint *model, const struct model_checkpoint_params *params,
                                  uint32_t ranks, uint64_t seed, hpcw_error *err);
void model_checkpoint_free(struct model_checkpoint *model);

/* What the map says of a file. */
uint64_t model_checkpoint_size(const struct model_checkpoint *model, uint64_t file);
uint32_t model_checkpoint_crc(const struct model_checkpoint *model, uint64_t file);

bool model_checkpoint_has(const struct model_checkpoint *model, enum model_checkpoint_fault fault,
                          uint64_t file);

/* How many of the files below `file` have that fault. */
uint64_t model_checkpoint_before(const struct model_checkpoint *model, enum model_checkpoint_fault fault,
                                 uint64_t file);

/* Bytes that are really there: fewer than the map says of a truncated file. Not for missing ones. */
uint64_t model_checkpoint_length(const struct model_checkpoint *model, uint64_t file);

/* Bytes offset .. offset + size - 1 of a file, without regard to its last four; both multiples of 8, except where the
 * size leads to the end of the file. */
void model_checkpoint_fill(const struct model_checkpoint *model, uint64_t file, uint64_t offset, size_t size,
                           unsigned char *out);

/* The last four bytes, behind content of the CRC `before`. */
void model_checkpoint_last(const struct model_checkpoint *model, uint64_t file, uint32_t before,
                           unsigned char last[MODEL_CHECKPOINT_LEAST]);

#endif
