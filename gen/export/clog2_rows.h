/* SPDX-License-Identifier: BSD-3-Clause */
/* States, messages and solo events of an event log, one row each. */
#ifndef HPCW_GEN_EXPORT_CLOG2_ROWS_H
#define HPCW_GEN_EXPORT_CLOG2_ROWS_H

#include "gen/export/export.h"

/* Writes the rows of hpcw_clog2_reader_states or hpcw_clog2_reader_messages as CSV, or all of them as NPZ, to
 * a sink, from its beginning. With a null sink it only counts. Rows that overlap the window are written whole,
 * not cut at its ends.
 *
 * NPZ: the arrays `states`, `messages` and `events`. The column `name` of `states` is an index into the array
 * `names`, that of `events` an index into `event_names`.
 *
 * Memory: a block of rows, and what the reader needs for them.
 *
 * HPCW_EINVAL: an empty window. HPCW_ENOMEM, and errors of the reader and of the sink. */
hpcw_status gen_export_clog2_rows(const char *path, const struct gen_export *what, hpcw_sink *sink,
                                  struct gen_exported *done, hpcw_error *err);

#endif
