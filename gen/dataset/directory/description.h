/* SPDX-License-Identifier: BSD-3-Clause */
/* Description of a dataset as JSON, and its fingerprint. The manifest and, while the dataset is unfinished,
 * GEN_PARAMETERS have both. */
#ifndef HPCW_GEN_DATASET_DIRECTORY_DESCRIPTION_H
#define HPCW_GEN_DATASET_DIRECTORY_DESCRIPTION_H

#include <cjson/cJSON.h>

#include "gen/spec/dataset.h"

/* Adds the description as members of an open JSON object. */
void gen_dataset_json(const struct gen_dataset *d, struct hpcw_i_json *json);

/* Adds the fingerprint and the description as two members of an open JSON object. */
void gen_dataset_describe(const struct gen_dataset *d, const char *fingerprint, struct hpcw_i_json *json);

/* Appends the description as a complete JSON text. */
hpcw_status gen_dataset_text(const struct gen_dataset *d, struct hpcw_i_buf *buf, hpcw_error *err);

/* Writes the XXH3-128 of the JSON text of the description: 32 hex digits and a NUL. */
hpcw_status gen_dataset_fingerprint(const struct gen_dataset *d, char text[33], hpcw_error *err);

/* Builds the dataset that a manifest or GEN_PARAMETERS describes. text: the file; manifest: the same, parsed. Free
 * with gen_dataset_free, also after a failure. HPCW_EMISMATCH: another version of hpcw made it. HPCW_EFORMAT: the
 * description does not match the fingerprint. */
hpcw_status gen_dataset_of_manifest(const char *path, const char *text, const cJSON *manifest,
                                    struct gen_dataset *d, hpcw_error *err);

#endif
