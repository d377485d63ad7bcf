/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts an event log for other viewers: to the JSON of Chrome's trace viewer, which Perfetto also reads, or
 * to CSV. */
#ifndef HPCW_GEN_EXPORT_CLOG2_H
#define HPCW_GEN_EXPORT_CLOG2_H

#include "gen/export/export.h"

/* Exports the events of some ranks in a time window. Reads the log twice.
 * Memory: definitions, open states and message numbers, but not the records.
 *
 * Chrome: a process for each rank, with its threads. States become B and E events, cut at the ends of the
 * window. Solo events become instants, messages flows. CSV: time in seconds, rank, thread, kind of event, name,
 * peer, tag, bytes; lines have the order of the log.
 *
 * For the other forms see clog2_rows.h.
 *
 * HPCW_EINVAL: an empty window. HPCW_ENOMEM, and errors of the reader and of the sink. */
extern const struct gen_exporter gen_export_clog2;

#endif
