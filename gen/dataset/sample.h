/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One format's files of a small dataset, for those who measure how fast they are written: hpcw-bench includes nothing
 * else of the generator. The dataset is that of preset dfplus-hdr200, scale small.
 */
#ifndef HPCW_GEN_DATASET_SAMPLE_H
#define HPCW_GEN_DATASET_SAMPLE_H

#include <stdint.h>

#include <hpcw/comm.h>
#include <hpcw/status.h>

enum { GEN_SAMPLE_PATH = 256 };

struct gen_sample;

/* `format`: "linktest", "sion", "vom", "clog2" or "rank2file". Free with gen_sample_free, which takes NULL. */
hpcw_status gen_sample_new(const char *format, uint32_t ranks, uint64_t seed, struct gen_sample **out,
                           hpcw_error *err);
void gen_sample_free(struct gen_sample *sample);

/* The directory of the files, below the dataset's. The caller makes it. */
const char *gen_sample_folder(const struct gen_sample *sample);

/* How many files there are, and for each its path below the dataset's directory and the bytes that it takes in the
 * file system, roughly; `bytes` may be NULL. */
uint64_t gen_sample_files(const struct gen_sample *sample);
hpcw_status gen_sample_file(const struct gen_sample *sample, uint64_t index, char path[GEN_SAMPLE_PATH],
                            uint64_t *bytes, hpcw_error *err);

/* Collective. Writes all files below `directory`, without waiting for the disk. */
hpcw_status gen_sample_write(const struct gen_sample *sample, const char *directory, hpcw_comm *comm,
                             hpcw_error *err);

#endif
