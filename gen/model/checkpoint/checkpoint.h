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

enum { HPCW_I_CKPT_LEAST = 4 }; /* bytes of a file: those that fit the CRC */

enum hpcw_i_ckpt_content { HPCW_I_CKPT_RANDOM, HPCW_I_CKPT_COMPRESSIBLE };
enum hpcw_i_ckpt_payload { HPCW_I_CKPT_FILES, HPCW_I_CKPT_NONE };

/* What can be wrong with a file. At most one fault strikes a file. */
enum hpcw_i_ckpt_fault {
    HPCW_I_CKPT_MISSING_FILE,   /* it is in the map, and not there */
    HPCW_I_CKPT_TRUNCATED_FILE, /* it is shorter than the map says */
    HPCW_I_CKPT_WRONG_CRC,      /* a byte of it is another one than when the CRC was taken */
    HPCW_I_CKPT_MISSING_RANK,   /* it is there, and its rank has no entry in the map */
    HPCW_I_CKPT_FAULTS
};

/* Keys "rank2file.*". */
struct hpcw_i_ckpt_params {
    int layout; /* enum hpcw_rank2file_layout */
    uint32_t checkpoints;
    uint64_t mean_size;
    double sigma;
    int content; /* enum hpcw_i_ckpt_content */
    int payload; /* enum hpcw_i_ckpt_payload */
    uint32_t leaf_ranks;
    uint64_t leaf_bytes;
    uint32_t faults[HPCW_I_CKPT_FAULTS]; /* how many files each strikes */
    bool stale_index;                    /* the index's current dataset is not there any more */
};

extern const struct hpcw_i_param hpcw_i_ckpt_param[];
extern const size_t hpcw_i_ckpt_param_count;
extern const char *const hpcw_i_ckpt_fault_name[HPCW_I_CKPT_FAULTS];
void hpcw_i_ckpt_params_init(struct hpcw_i_ckpt_params *params);

/* Files are numbered checkpoint * ranks + rank, checkpoints from 0. Read-only after init: may be shared by threads. */
struct hpcw_i_ckpt {
    struct hpcw_i_ckpt_params params;
    uint32_t ranks;
    uint64_t seed;
    uint64_t *fault[HPCW_I_CKPT_FAULTS]; /* [params.faults[k]] files, ascending */
};

/* HPCW_ERANGE if more than half of the files should be faulty; HPCW_ENOMEM. Free also after a failure. */
hpcw_status hpcw_i_ckpt_init(struct hpcw_i_ckpt *model, const struct hpcw_i_ckpt_params *params, uint32_t ranks,
                             uint64_t seed, hpcw_error *err);
void hpcw_i_ckpt_free(struct hpcw_i_ckpt *model);

/* What the map says of a file. */
uint64_t hpcw_i_ckpt_size(const struct hpcw_i_ckpt *model, uint64_t file);
uint32_t hpcw_i_ckpt_crc(const struct hpcw_i_ckpt *model, uint64_t file);

bool hpcw_i_ckpt_has(const struct hpcw_i_ckpt *model, enum hpcw_i_ckpt_fault fault, uint64_t file);

/* How many of the files below `file` have that fault. */
uint64_t hpcw_i_ckpt_before(const struct hpcw_i_ckpt *model, enum hpcw_i_ckpt_fault fault, uint64_t file);

/* Bytes that are really there: fewer than the map says of a truncated file. Not for missing ones. */
uint64_t hpcw_i_ckpt_length(const struct hpcw_i_ckpt *model, uint64_t file);

/* Bytes offset .. offset + size - 1 of a file, without regard to its last four; both multiples of 8, except where the
 * size leads to the end of the file. */
void hpcw_i_ckpt_fill(const struct hpcw_i_ckpt *model, uint64_t file, uint64_t offset, size_t size,
                      unsigned char *out);

/* The last four bytes, behind content of the CRC `before`. */
void hpcw_i_ckpt_last(const struct hpcw_i_ckpt *model, uint64_t file, uint32_t before,
                      unsigned char last[HPCW_I_CKPT_LEAST]);

#endif
