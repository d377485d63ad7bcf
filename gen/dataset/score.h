/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares what a tool found in a dataset with what truth.json lists (doc/truth.md, "Scoring a tool"). */
#ifndef HPCW_GEN_DATASET_SCORE_H
#define HPCW_GEN_DATASET_SCORE_H

#include <hpcw/status.h>

#include "libwriter/io/json.h"

/* Adds the score of each kind to an open object. `findings`: path of a JSON file. HPCW_EFORMAT for findings that are not
 * as described, with the number of the first one, and for faults that are not; HPCW_ECHECKSUM for a truth that is not the one
 * that the dataset's list of checksums has. Memory: that of both files as trees, 50 bytes per rank of a slow node. */
hpcw_status gen_score(const char *findings, const char *dir, struct hpcw_i_json *json, hpcw_error *err);

#endif
