/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the LinkTest format and its writer share. */
#ifndef HPCW_GEN_FORMAT_LINKTEST_H
#define HPCW_GEN_FORMAT_LINKTEST_H

#include <hpcw/linktest.h>

#include "gen/format/format.h"

#define GEN_LINKTEST_FILE "linktest/" HPCW_LINKTEST_FILE_NAME

/* Parameters of the whole run, independent of the range that is written. */
hpcw_linktest_params gen_linktest_params(const struct gen_dataset *d);

static inline uint32_t gen_linktest_first_task(const struct gen_dataset *d, uint64_t file) {
    return hpcw_sion_first_task_of_file(d->ranks, d->linktest_files, (uint32_t)file);
}

/* Members of the format with the same names. */
hpcw_status gen_linktest_write(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err);
hpcw_status gen_linktest_complete(const struct gen_write *w, const cJSON *const *partial, size_t count,
                                  uint64_t *changed, hpcw_error *err);
hpcw_status gen_linktest_truth(const struct gen_dataset *d, const cJSON *const *partial, size_t count,
                               uint32_t jobs, struct hpcw_i_json *json, hpcw_error *err);

/* Computes how visible faults are in the result. The unit is local standard deviations (doc/truth.md,
 * "Visibility"). gen_linktest_slow_ports: sets sd[nodes] for nodes with slow[node]. gen_linktest_slow_cables:
 * sets sd[cables]. NaN: the visibility cannot be determined. */
hpcw_status gen_linktest_slow_ports(const struct gen_dataset *d, const bool *slow, double *sd, hpcw_error *err);
hpcw_status gen_linktest_slow_cables(const struct gen_dataset *d, const struct model_truth_cable *cable,
                                     size_t cables, double *sd, hpcw_error *err);

#endif
