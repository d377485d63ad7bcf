/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts an event log for other viewers: to the JSON of Chrome's trace viewer, which Perfetto also reads, or CSV. */
#ifndef HPCW_GEN_EXPORT_CLOG2_H
#define HPCW_GEN_EXPORT_CLOG2_H

#include <stdint.h>

#include <hpcw/sink.h>
#include <hpcw/status.h>

enum gen_export_form { GEN_EXPORT_CHROME, GEN_EXPORT_CSV };

struct gen_export {
    int form;                       /* enum gen_export_form */
    double from_s, to_s;            /* events with from <= time < to */
    uint32_t first_rank, last_rank; /* of the world */
};

struct gen_exported {
    uint64_t events; /* lines of CSV without the heading, or entries of the JSON list */
    uint64_t bytes;
};

/*
 * Writes the events of some ranks in a window of time to a sink, from its beginning; with a null sink it only counts.
 * Reads the log twice. Memory: definitions, open states and numbers of messages, not the records.
 *
 * Chrome: a process for each rank, with its threads; states as B and E, cut at the ends of the window; solo events as
 * instants; messages as flows. CSV: time in seconds, rank, thread, what, name, peer, tag, bytes, in the order of the log.
 *
 * HPCW_EINVAL for an empty window, HPCW_ENOMEM, errors of the reader and of the sink.
 */
hpcw_status gen_export_clog2(const char *path, const struct gen_export *what, hpcw_sink *sink,
                             struct gen_exported *done, hpcw_error *err);

#endif
