/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts an event log for other viewers: to the JSON of Chrome's trace viewer, which Perfetto also reads, or CSV. */
#ifndef HPCW_GEN_EXPORT_CLOG2_H
#define HPCW_GEN_EXPORT_CLOG2_H

#include "gen/export/export.h"

/*
 * Writes the events of some ranks in a window of time to a sink, from its beginning; with a null sink it only counts.
 * Reads the log twice. Memory: definitions, open states and numbers of messages, not the records.
 *
 * Chrome: a process for each rank, with its threads; states as B and E, cut at the ends of the window; solo events as
 * instants; messages as flows. CSV: time in seconds, rank, thread, what, name, peer, tag, bytes, in the order of the log.
 *
 * The other forms: clog2_rows.h.
 *
 * HPCW_EINVAL for an empty window, HPCW_ENOMEM, errors of the reader and of the sink.
 */
extern const struct gen_exporter gen_export_clog2;

#endif
