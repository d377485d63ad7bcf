/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes files of a dataset again from its parameters. The files go to sinks of the caller, not into the
 * dataset's directory. Not collective. */
#ifndef HPCW_GEN_DATASET_AGAIN_H
#define HPCW_GEN_DATASET_AGAIN_H

#include "gen/dataset/lists.h"

/* Returns the arguments with which a format writes the files `units` of a run's dataset. */
struct gen_write gen_write_of(const struct gen_run *run, const struct gen_format *format,
                              struct gen_slice units);

/* Makes the files `units` of a format again, chosen by gen_again_range. `outputs` opens a sink for each file,
 * possibly on several threads. *partial becomes the partial result (sums and counts of these files), freed with
 * cJSON_Delete. `partial` may be NULL. */
hpcw_status gen_again(const struct gen_run *run, const struct gen_format *format, struct gen_slice units,
                      hpcw_sink_source outputs, cJSON **partial, hpcw_error *err);

/* Returns which files to make in order to get the files [first, last). File 0 of a set has sums over all files
 * of the set, so all files are made to get it. */
struct gen_slice gen_again_range(const struct gen_dataset *d, const struct gen_format *format, uint64_t first,
                                 uint64_t last);

#endif
