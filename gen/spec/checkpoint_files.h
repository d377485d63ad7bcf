/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of a dataset's checkpoints: their paths, sizes and content. */
#ifndef HPCW_GEN_SPEC_CHECKPOINT_FILES_H
#define HPCW_GEN_SPEC_CHECKPOINT_FILES_H

#include <hpcw/rank2file.h>

#include "gen/model/checkpoint/checkpoint.h"

enum { GEN_CHECKPOINT_PATH = 256 };

struct gen_checkpoints;

/* Computes the shapes of all maps, in time O(files). The model must outlive the files. start: begin of the run,
 * seconds since 1970. at_ns: [checkpoints] when rank 0 begins each checkpoint after that, as in the event log.
 * NULL: ranks are too many to be simulated; checkpoints are spaced by the mean time of the phases. */
hpcw_status gen_checkpoints_new(const struct model_checkpoint *model, const uint64_t *at_ns, uint64_t start,
                                struct gen_checkpoints **out, hpcw_error *err);
void gen_checkpoints_free(struct gen_checkpoints *c);

/* Number of files below the prefix directory. Their order is the index, the metadata of each checkpoint, the
 * data files. */
uint64_t gen_checkpoints_files(const struct gen_checkpoints *c);
uint64_t gen_checkpoints_first_data(const struct gen_checkpoints *c);
void gen_checkpoints_file(const struct gen_checkpoints *c, uint64_t index, char path[GEN_CHECKPOINT_PATH],
                          uint64_t *size);

/* Returns their directories, parents first; false after the last one. */
bool gen_checkpoints_folder(const struct gen_checkpoints *c, uint32_t index, char path[GEN_CHECKPOINT_PATH]);

/* Writes a file to a sink. Data are copied through `buffer`; buffer_size: a multiple of 8. Metadata do not need
 * it. */
hpcw_status gen_checkpoints_put(struct gen_checkpoints *c, uint64_t index, hpcw_sink *sink,
                                unsigned char *buffer, size_t buffer_size, hpcw_error *err);

/* Writes the path of the data file with this number in the model, even of a missing one. */
void gen_checkpoints_data_path(const struct gen_checkpoints *c, uint64_t file, char path[GEN_CHECKPOINT_PATH]);

/* Writes SCR's name of a checkpoint, counted from 0. After the last one, it is the name for a stale index. */
void gen_checkpoints_name(const struct gen_checkpoints *c, uint32_t checkpoint,
                          char name[HPCW_RANK2FILE_MAX_DATASET + 1]);

#endif
