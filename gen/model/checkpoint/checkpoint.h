/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checkpoints of the simulated application, evenly over its phases, the last one after the last phase: one data file
 * per rank, which holds the memory of the objects on the rank at that time. Content and CRC-32 are drawn independently, and
 * the last four bytes of a file make its content fit its CRC: so the maps are the same with and without the files. Faults
 * are drawn from all files. Everything is a pure function of (parameters, number of ranks, seed, checkpoint, rank).
 */
#ifndef HPCW_GEN_MODEL_CHECKPOINT_CHECKPOINT_H
#define HPCW_GEN_MODEL_CHECKPOINT_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/model/load/load.h"

enum { MODEL_CHECKPOINT_LEAST = 4 }; /* bytes of the smallest file: those that fit the CRC */

enum model_checkpoint_content { MODEL_CHECKPOINT_RANDOM, MODEL_CHECKPOINT_COMPRESSIBLE };
enum model_checkpoint_payload { MODEL_CHECKPOINT_FILES, MODEL_CHECKPOINT_NONE };

/* Faults of a file. A file has at most one. */
enum model_checkpoint_fault {
    MODEL_CHECKPOINT_MISSING_FILE,   /* it is in the map, and does not exist */
    MODEL_CHECKPOINT_TRUNCATED_FILE, /* it is shorter than the map says */
    MODEL_CHECKPOINT_WRONG_CRC,      /* a byte changed after the CRC was computed */
    MODEL_CHECKPOINT_MISSING_RANK,   /* it exists, and its rank has no entry in the map */
    MODEL_CHECKPOINT_FAULTS
};

/* Keys "rank2file.*". */
struct model_checkpoint_params {
    int layout; /* enum hpcw_rank2file_layout */
    uint32_t checkpoints;
    uint64_t mean_size;
    double sigma; /* of ln(memory of an object) */
    int content;  /* enum model_checkpoint_content */
    int payload;  /* enum model_checkpoint_payload */
    uint32_t leaf_ranks;
    uint64_t leaf_bytes;
    uint32_t faults[MODEL_CHECKPOINT_FAULTS]; /* number of files with each */
    bool stale_index;                         /* the index's current dataset does not exist */
};

extern const struct ui_param model_checkpoint_param[];
extern const size_t model_checkpoint_param_count;
extern const char *const model_checkpoint_fault_name[MODEL_CHECKPOINT_FAULTS];
void model_checkpoint_params_init(struct model_checkpoint_params *params);

/* With more ranks there can be no log or load data to agree with, and sizes follow the work of the ranks alone. */
#define MODEL_CHECKPOINT_MOST_MOVED UINT32_C(65536)

/* Files are numbered checkpoint * ranks + rank, checkpoints from 0. Read-only after init: threads may share it. */
struct model_checkpoint {
    struct model_checkpoint_params params;
    const struct model_load *load;
    uint32_t ranks;
    uint64_t seed;
    uint64_t *size;                           /* of every file; NULL with too many ranks */
    uint64_t *fault[MODEL_CHECKPOINT_FAULTS]; /* [params.faults[k]] files, ascending */
};

/* Memory: 8 bytes per file, and 4 per object while it runs. HPCW_ERANGE for faults in more than half of the files, or for more
 * checkpoints than phases; HPCW_ENOMEM. Free also after a failure. The load model must outlive this one. */
hpcw_status model_checkpoint_init(struct model_checkpoint *model, const struct model_checkpoint_params *params,
                                  const struct model_load *load, hpcw_error *err);
void model_checkpoint_free(struct model_checkpoint *model);

/* The phase after which a checkpoint is written, and the checkpoint after a phase; UINT32_MAX: none. */
uint32_t model_checkpoint_phase(const struct model_checkpoint *model, uint32_t checkpoint);
uint32_t model_checkpoint_after(const struct model_checkpoint *model, uint32_t phase);

/* Size and CRC of a file in the map. */
uint64_t model_checkpoint_size(const struct model_checkpoint *model, uint64_t file);
uint32_t model_checkpoint_crc(const struct model_checkpoint *model, uint64_t file);

bool model_checkpoint_has(const struct model_checkpoint *model, enum model_checkpoint_fault fault,
                          uint64_t file);

/* The number of files before `file` with that fault. */
uint64_t model_checkpoint_before(const struct model_checkpoint *model, enum model_checkpoint_fault fault,
                                 uint64_t file);

/* The real size of an existing file: a truncated one is smaller than in the map. */
uint64_t model_checkpoint_length(const struct model_checkpoint *model, uint64_t file);

/* Bytes offset .. offset + size - 1 of a file, except its last four. Both are multiples of 8, but for a size that ends with
 * the file. */
void model_checkpoint_fill(const struct model_checkpoint *model, uint64_t file, uint64_t offset, size_t size,
                           unsigned char *out);

/* The last four bytes; the content before them has CRC `before`. */
void model_checkpoint_last(const struct model_checkpoint *model, uint64_t file, uint32_t before,
                           unsigned char last[MODEL_CHECKPOINT_LEAST]);

#endif
