/* SPDX-License-Identifier: BSD-3-Clause */
/* States, messages and solo events of an event log, one row each. */
#ifndef HPCW_GEN_EXPORT_CLOG2_ROWS_H
#define HPCW_GEN_EXPORT_CLOG2_ROWS_H

#include "gen/export/export.h"

/* Exports the states or messages of some ranks in a time window as CSV, or states, messages and events as NPZ.
 * Rows that overlap the window are written whole, not cut at its ends.
 *
 * NPZ: the arrays `states`, `messages` and `events`. The column `name` of `states` is an index into the array
 * `names`, that of `events` an index into `event_names`.
 *
 * Memory: a block of rows, and the memory of hpcw_clog2_reader.
 *
 * HPCW_EINVAL: an empty window. HPCW_ENOMEM, and errors of the reader and of the sink. */
hpcw_status gen_export_clog2_rows(const char *path, const struct gen_export *what, hpcw_sink *sink,
                                  struct gen_exported *done, hpcw_error *err);

#endif
