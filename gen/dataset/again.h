/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a dataset again from its parameters: for sinks of the caller, not into its directory. Not collective. */
#ifndef HPCW_GEN_DATASET_AGAIN_H
#define HPCW_GEN_DATASET_AGAIN_H

#include "gen/dataset/lists.h"

/* What a format is given to write units of a run's dataset. */
struct gen_write gen_write_of(const struct gen_run *run, const struct gen_format *format,
                              struct gen_slice units);

/*
 * Makes units of a format. `outputs` opens a sink for each file that the writer wants, also on several threads. *partial
 * is the partial result; delete it with cJSON_Delete; NULL: not needed. Some units of a set need all others: see
 * gen_again_range.
 */
hpcw_status gen_again(const struct gen_run *run, const struct gen_format *format, struct gen_slice units,
                      hpcw_sink_source outputs, cJSON **partial, hpcw_error *err);

/* The units to make for [first, last): all, if file 0 of a set is among them, because it has what all files add up to. */
struct gen_slice gen_again_range(const struct gen_dataset *d, const struct gen_format *format, uint64_t first,
                                 uint64_t last);

#endif
