/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One format's files of a small dataset, with preset dfplus-hdr200 and scale small. hpcw-bench measures how fast they
 * are written, and includes nothing else of the generator.
 */
#ifndef HPCW_GEN_DATASET_SAMPLE_H
#define HPCW_GEN_DATASET_SAMPLE_H

#include <stdint.h>

#include <hpcw/comm.h>
#include <hpcw/status.h>

enum { GEN_SAMPLE_PATH = 256 };

struct gen_sample;

/* `format`: a name that `hpcgen list` prints. Free with gen_sample_free, which takes NULL. */
hpcw_status gen_sample_new(const char *format, uint32_t ranks, uint64_t seed, struct gen_sample **out,
                           hpcw_error *err);
void gen_sample_free(struct gen_sample *sample);

/* The directory of the files, below the dataset's. The caller creates it. */
const char *gen_sample_folder(const struct gen_sample *sample);

/* The number of files; the path of each below the dataset's directory, and about how many bytes it takes in the file
 * system. `bytes` may be NULL. */
uint64_t gen_sample_files(const struct gen_sample *sample);
hpcw_status gen_sample_file(const struct gen_sample *sample, uint64_t index, char path[GEN_SAMPLE_PATH],
                            uint64_t *bytes, hpcw_error *err);

/* Collective. Writes all files below `directory`, and does not flush them. */
hpcw_status gen_sample_write(const struct gen_sample *sample, const char *directory, hpcw_comm *comm,
                             hpcw_error *err);

#endif
