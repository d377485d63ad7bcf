/* SPDX-License-Identifier: BSD-3-Clause */
/* The files about the whole dataset: truth, manifest and checksums. */
#ifndef HPCW_GEN_DATASET_LISTS_H
#define HPCW_GEN_DATASET_LISTS_H

#include "gen/dataset/directory/directory.h"

/* The ranges of one format in order, each written by one run. Zeroed if the dataset does not have the
 * format. */
struct gen_ranges {
    struct gen_range *range; /* [count] */
    const cJSON **partial;   /* [count] the members `partial` of the ranges */
    size_t count;
    uint64_t changed; /* number of files, from the first one on, whose content gen_format.complete changed */
};

/* Makes one range of all files of a format, as if one run had written them, with sizes and digests of 0. `outputs`
 * opens sinks for the files, which are made again to get the partial results; NULL: there are no partial results. */
hpcw_status gen_ranges_of_all(const struct gen_run *run, const struct gen_format *format,
                              const hpcw_sink_source *outputs, struct gen_ranges *r, hpcw_error *err);

/* Frees the ranges of all formats. */
void gen_ranges_free(struct gen_ranges ranges[GEN_MOST_FORMATS]);

/* Write files of the dataset to sinks of gen_run.outputs. `ranges`: of all formats; truth.json gets the
 * partial results of the ranges, and the manifest gets the digests of the files. gen_write_truth comes first,
 * since the manifest has the digest of the published truth.json. `with_list`: also writes the checksum list,
 * which has the digest of the published manifest. */
hpcw_status gen_write_truth(const struct gen_run *run, const struct gen_ranges *ranges, hpcw_error *err);
hpcw_status gen_write_manifest(const struct gen_run *run, const struct gen_ranges *ranges, bool with_list,
                               hpcw_error *err);

#endif
