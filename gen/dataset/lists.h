/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a dataset as a whole: truth, manifest and checksums. */
#ifndef HPCW_GEN_DATASET_LISTS_H
#define HPCW_GEN_DATASET_LISTS_H

#include "gen/dataset/directory/directory.h"

/* The ranges of one format, in order; zeroed for a format that the dataset does not have. */
struct gen_ranges {
    struct gen_range *range; /* [count] */
    const cJSON **partial;   /* [count], of the ranges */
    size_t count;
    uint64_t changed; /* this many of the first units got their content only now */
};

void gen_ranges_free(struct gen_ranges *r);

/* `ranges` [gen_format_count]. truth.json needs their partials, the other two the digests of the files. They go to
 * gen_run.outputs. The manifest has the digest of truth.json as it is in the directory; likewise the list that of the
 * manifest, so both are published in this order. */
hpcw_status gen_write_truth(const struct gen_run *run, const struct gen_ranges *ranges, hpcw_error *err);
hpcw_status gen_write_manifest(const struct gen_run *run, const struct gen_ranges *ranges, bool with_list,
                               hpcw_error *err);

#endif
