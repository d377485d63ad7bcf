/* SPDX-License-Identifier: BSD-3-Clause */
/* F4: the last step of a dataset: what only the whole of it can say. Not collective. */
#ifndef HPCW_GEN_DATASET_FINISH_H
#define HPCW_GEN_DATASET_FINISH_H

#include "gen/dataset/generate.h"

/*
 * Checks that all units are there, completes them, writes truth, manifest and checksums, and forgets the state.
 * Depends on nothing but the dataset, whoever wrote its parts.
 */
hpcw_status gen_finish(const struct gen_run *run, const char *fingerprint, hpcw_error *err);

#endif
