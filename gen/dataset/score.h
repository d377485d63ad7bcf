/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares a tool's findings in a dataset with the faults in truth.json (doc/truth.md, "Scoring a tool"). */
#ifndef HPCW_GEN_DATASET_SCORE_H
#define HPCW_GEN_DATASET_SCORE_H

#include <hpcw/status.h>

#include "libwriter/io/json.h"

/* Adds the score of each kind of fault to an open JSON object. `findings`: path of a JSON file. HPCW_EFORMAT: a
 * finding or a fault is not as described; the message has its number. HPCW_ECHECKSUM: truth.json does not match
 * the dataset's checksum list. Memory: both files as JSON trees, and 50 bytes per rank of a slow node. */
hpcw_status gen_score(const char *findings, const char *dir, struct hpcw_i_json *json, hpcw_error *err);

#endif
