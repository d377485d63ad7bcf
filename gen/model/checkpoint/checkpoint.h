/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints of the simulated application. They are spread evenly over its phases, the last one after the last
 * phase. A checkpoint has a data file per rank with the memory of the objects on the rank at that time. Content and
 * CRC-32 are drawn independently; the last four bytes of a file make the content fit the CRC. So the maps are the
 * same with and without the files. Files with faults are drawn from all files. Everything is a pure function of
 * (parameters, number of ranks, seed, checkpoint, rank). */
#ifndef HPCW_GEN_MODEL_CHECKPOINT_CHECKPOINT_H
#define HPCW_GEN_MODEL_CHECKPOINT_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/model/load/load.h"

/* Smallest size of a file: its last four bytes, by which the content gets the drawn CRC. */
enum { MODEL_CHECKPOINT_LEAST = 4 };

enum model_checkpoint_content { MODEL_CHECKPOINT_RANDOM, MODEL_CHECKPOINT_COMPRESSIBLE };
enum model_checkpoint_payload { MODEL_CHECKPOINT_FILES, MODEL_CHECKPOINT_NONE };

/* Faults of a file. A file has at most one. */
enum model_checkpoint_fault {
    MODEL_CHECKPOINT_MISSING_FILE,   /* the map lists the file, but it does not exist */
    MODEL_CHECKPOINT_TRUNCATED_FILE, /* the file is shorter than the map says */
    MODEL_CHECKPOINT_WRONG_CRC,      /* a byte changed after the CRC was computed */
    MODEL_CHECKPOINT_MISSING_RANK,   /* the file exists, but the map has no entry for its rank */
    MODEL_CHECKPOINT_FAULTS
};

/* Keys "rank2file.*". */
struct model_checkpoint_params {
    int layout; /* enum hpcw_rank2file_layout */
    uint32_t checkpoints;
    uint64_t mean_size;
    double sigma; /* standard deviation of ln(memory of an object) */
    int content;  /* enum model_checkpoint_content */
    int payload;  /* enum model_checkpoint_payload */
    uint32_t leaf_ranks;
    uint64_t leaf_bytes;
    uint32_t faults[MODEL_CHECKPOINT_FAULTS]; /* number of files with each fault */
    bool stale_index;                         /* the index's current dataset does not exist */
};

extern const struct ui_param model_checkpoint_param[];
extern const size_t model_checkpoint_param_count;
extern const char *const model_checkpoint_fault_name[MODEL_CHECKPOINT_FAULTS];
void model_checkpoint_params_init(struct model_checkpoint_params *params);

/* With more ranks than this, logs and load data cannot exist. File sizes then follow only the work of each
 * rank. */
#define MODEL_CHECKPOINT_MOST_MOVED UINT32_C(65536)

/* Files are numbered checkpoint * ranks + rank. The first checkpoint is 0. Read-only after init, so threads may
 * share a model. */
struct model_checkpoint {
    struct model_checkpoint_params params;
    const struct model_load *load;
    uint32_t ranks;
    uint64_t seed;
    uint64_t *size; /* [checkpoints * ranks] file sizes; NULL: too many ranks */
    /* [params.faults[k]] numbers of the files with fault k, ascending */
    uint64_t *fault[MODEL_CHECKPOINT_FAULTS];
};

/* Memory: 8 bytes per file, and 4 per object during the call. HPCW_ERANGE: faults in more than half of the
 * files or in more than 65536, or more checkpoints than phases. HPCW_ENOMEM. Free the model also after a
 * failure. The load model must outlive this model. */
hpcw_status model_checkpoint_init(struct model_checkpoint *model, const struct model_checkpoint_params *params,
                                  const struct model_load *load, hpcw_error *err);
void model_checkpoint_free(struct model_checkpoint *model);

/* model_checkpoint_phase returns the phase after which a checkpoint is written, model_checkpoint_after the
 * checkpoint after a phase; UINT32_MAX: none. */
uint32_t model_checkpoint_phase(const struct model_checkpoint *model, uint32_t checkpoint);
uint32_t model_checkpoint_after(const struct model_checkpoint *model, uint32_t phase);

/* Return the size and the CRC that the map lists for a file. */
uint64_t model_checkpoint_size(const struct model_checkpoint *model, uint64_t file);
uint32_t model_checkpoint_crc(const struct model_checkpoint *model, uint64_t file);

bool model_checkpoint_has(const struct model_checkpoint *model, enum model_checkpoint_fault fault,
                          uint64_t file);

/* Returns the number of files that have this fault and a number below `file`. */
uint64_t model_checkpoint_before(const struct model_checkpoint *model, enum model_checkpoint_fault fault,
                                 uint64_t file);

/* Size of an existing file on disk; a truncated file is smaller than in the map. */
uint64_t model_checkpoint_length(const struct model_checkpoint *model, uint64_t file);

/* Stores the bytes offset .. offset + size - 1 of a file, except its last four bytes. `offset` and `size` must
 * be multiples of 8; only the last range of a file may have another size. */
void model_checkpoint_fill(const struct model_checkpoint *model, uint64_t file, uint64_t offset, size_t size,
                           unsigned char *out);

/* Computes the last four bytes of a file. before: CRC of all bytes before these four. */
void model_checkpoint_last(const struct model_checkpoint *model, uint64_t file, uint32_t before,
                           unsigned char last[MODEL_CHECKPOINT_LEAST]);

#endif
