/* SPDX-License-Identifier: BSD-3-Clause */
/* The files about the whole dataset: truth, manifest and checksums. */
#ifndef HPCW_GEN_DATASET_LISTS_H
#define HPCW_GEN_DATASET_LISTS_H

#include "gen/dataset/directory/directory.h"

/* Ranges of one format, in order; zeroed if the dataset does not have the format. */
struct gen_ranges {
    struct gen_range *range; /* [count] */
    const cJSON **partial;   /* [count] partials of the ranges */
    size_t count;
    uint64_t changed; /* number of units, from the first one on, that got their content only now */
};

void gen_ranges_free(struct gen_ranges *r);

/* These write to gen_run.outputs. ranges: [gen_format_count]; truth.json needs their partials, the other two the
 * digests of the files. The manifest has the digest of the published truth.json, and the checksum list that of
 * the published manifest. So they must be published in this order. */
hpcw_status gen_write_truth(const struct gen_run *run, const struct gen_ranges *ranges, hpcw_error *err);
hpcw_status gen_write_manifest(const struct gen_run *run, const struct gen_ranges *ranges, bool with_list,
                               hpcw_error *err);

#endif
