/* SPDX-License-Identifier: BSD-3-Clause */
/* The states, messages and solo events of an event log, a row each. */
#ifndef HPCW_GEN_EXPORT_CLOG2_ROWS_H
#define HPCW_GEN_EXPORT_CLOG2_ROWS_H

#include "gen/export/export.h"

/*
 * Writes the rows of hpcw_clog2_reader_states or hpcw_clog2_reader_messages as CSV, or all of them as NPZ, to a sink, from its
 * beginning; with a null sink it only counts. A row has a part in the window, and is not cut at its ends.
 *
 * NPZ: `states`, `names` of the states by their column `name`, `messages`, `events`, `event_names` in the same way.
 *
 * Memory: a block of rows, and what the reader keeps for them.
 *
 * HPCW_EINVAL for an empty window, HPCW_ENOMEM, errors of the reader and of the sink.
 */
hpcw_status gen_export_clog2_rows(const char *path, const struct gen_export *what, hpcw_sink *sink,
                                  struct gen_exported *done, hpcw_error *err);

#endif
