/* SPDX-License-Identifier: BSD-3-Clause */
/* F4: the checkpoints of a dataset as files: which ones there are, how large, and what is in those of the map. */
#ifndef HPCW_GEN_SPEC_CHECKPOINT_FILES_H
#define HPCW_GEN_SPEC_CHECKPOINT_FILES_H

#include <hpcw/rank2file.h>

#include "gen/model/checkpoint/checkpoint.h"

enum { GEN_CHECKPOINT_PATH = 256 };

struct gen_checkpoints;

/* Models the files and finds the shapes of all maps: O(files). `start` of the first one, seconds since 1970. */
hpcw_status gen_checkpoints_new(const struct model_checkpoint_params *params, uint32_t ranks, uint64_t seed,
                                uint64_t start, struct gen_checkpoints **out, hpcw_error *err);
void gen_checkpoints_free(struct gen_checkpoints *c);

const struct model_checkpoint *gen_checkpoints_model(const struct gen_checkpoints *c);

/* Files below the prefix in the order in which they are counted: the index, then the metadata of each checkpoint, then
 * the data files. */
uint64_t gen_checkpoints_files(const struct gen_checkpoints *c);
uint64_t gen_checkpoints_first_data(const struct gen_checkpoints *c);
void gen_checkpoints_file(const struct gen_checkpoints *c, uint64_t index, char path[GEN_CHECKPOINT_PATH],
                          uint64_t *size);

/* The folders they are in, parents first; false behind the last. */
bool gen_checkpoints_folder(const struct gen_checkpoints *c, uint32_t index, char path[GEN_CHECKPOINT_PATH]);

/* Writes one of them: metadata to a sink, a data file to `path`, through `buffer` [buffer_size], a multiple of 8. */
hpcw_status gen_checkpoints_put(const struct gen_checkpoints *c, uint64_t index, hpcw_sink *sink,
                                hpcw_error *err);
hpcw_status gen_checkpoints_put_data(const struct gen_checkpoints *c, uint64_t index, const char *path,
                                     hpcw_durability durability, unsigned char *buffer, size_t buffer_size,
                                     hpcw_error *err);

/* Where the data file with this number in the model is, or would be. */
void gen_checkpoints_data_path(const struct gen_checkpoints *c, uint64_t file, char path[GEN_CHECKPOINT_PATH]);

/* The name of the dataset of a checkpoint, counted from 0; behind the last one that of a stale index. */
void gen_checkpoints_name(const struct gen_checkpoints *c, uint32_t checkpoint,
                          char name[HPCW_RANK2FILE_MAX_DATASET + 1]);

#endif
