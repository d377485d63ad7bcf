/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of a dataset's checkpoints: their paths, sizes and content. */
#ifndef HPCW_GEN_SPEC_CHECKPOINT_FILES_H
#define HPCW_GEN_SPEC_CHECKPOINT_FILES_H

#include <hpcw/rank2file.h>

#include "gen/model/checkpoint/checkpoint.h"

enum { GEN_CHECKPOINT_PATH = 256 };

struct gen_checkpoints;

/* Computes the sizes of all maps, in time O(files). The model must outlive the files. start: begin of the run,
 * seconds since 1970. at_ns: [checkpoints] time from `start` to the begin of each checkpoint on rank 0, as in
 * the event log. at_ns is NULL if there are too many ranks for a simulation; then the mean time of a phase
 * gives the times. */
hpcw_status gen_checkpoints_new(const struct model_checkpoint *model, const uint64_t *at_ns, uint64_t start,
                                struct gen_checkpoints **out, hpcw_error *err);
void gen_checkpoints_free(struct gen_checkpoints *c);

/* gen_checkpoints_files: returns the number of files in the prefix directory. These are numbered in this order: the
 * index, the metadata of each checkpoint, the data files. gen_checkpoints_first_data: returns the number of the
 * first data file. */
uint64_t gen_checkpoints_files(const struct gen_checkpoints *c);
uint64_t gen_checkpoints_first_data(const struct gen_checkpoints *c);
void gen_checkpoints_file(const struct gen_checkpoints *c, uint64_t index, char path[GEN_CHECKPOINT_PATH],
                          uint64_t *size);

/* Gets the path of a directory of checkpoint files, parents first. Returns false after the last one. */
bool gen_checkpoints_folder(const struct gen_checkpoints *c, uint32_t index, char path[GEN_CHECKPOINT_PATH]);

/* Writes a file to a sink. Data are copied through `buffer`, which metadata files do not need. buffer_size: a
 * multiple of 8. */
hpcw_status gen_checkpoints_put(struct gen_checkpoints *c, uint64_t index, hpcw_sink *sink,
                                unsigned char *buffer, size_t buffer_size, hpcw_error *err);

/* Writes the path of a data file. file: its number in the model; missing files have numbers, too. */
void gen_checkpoints_data_path(const struct gen_checkpoints *c, uint64_t file, char path[GEN_CHECKPOINT_PATH]);

/* Writes SCR's name of a checkpoint. checkpoint: a number from 0. The number after the last one is that of a
 * checkpoint that only a stale index lists. */
void gen_checkpoints_name(const struct gen_checkpoints *c, uint32_t checkpoint,
                          char name[HPCW_RANK2FILE_MAX_DATASET + 1]);

#endif
