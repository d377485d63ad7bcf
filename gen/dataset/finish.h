/* SPDX-License-Identifier: BSD-3-Clause */
/* F4: the last step of a dataset, when all its files are written. Not collective. */
#ifndef HPCW_GEN_DATASET_FINISH_H
#define HPCW_GEN_DATASET_FINISH_H

#include "gen/dataset/generate.h"

/*
 * Checks that all units exist, completes them, writes truth, manifest and checksums, and removes the state. The result
 * depends only on the dataset, not on the parts that it was written in.
 */
hpcw_status gen_finish(const struct gen_run *run, const char *fingerprint, hpcw_error *err);

#endif
