/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes files of a dataset again from its parameters. They go to the caller's sinks, not to its directory. Not
 * collective. */
#ifndef HPCW_GEN_DATASET_AGAIN_H
#define HPCW_GEN_DATASET_AGAIN_H

#include "gen/dataset/lists.h"

/* Returns what a format needs to write units of a run's dataset. */
struct gen_write gen_write_of(const struct gen_run *run, const struct gen_format *format,
                              struct gen_slice units);

/* Makes units of a format again. `outputs` opens a sink for each file, possibly on several threads. *partial:
 * partial result, to be freed with cJSON_Delete; NULL: not needed. Some units need all others of their set: see
 * gen_again_range. */
hpcw_status gen_again(const struct gen_run *run, const struct gen_format *format, struct gen_slice units,
                      hpcw_sink_source outputs, cJSON **partial, hpcw_error *err);

/* Returns the units to make for [first, last). These are all units if file 0 of a set is among them, since it
 * has sums over all files. */
struct gen_slice gen_again_range(const struct gen_dataset *d, const struct gen_format *format, uint64_t first,
                                 uint64_t last);

#endif
