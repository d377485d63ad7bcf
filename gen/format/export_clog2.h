/* SPDX-License-Identifier: BSD-3-Clause */
/* F4: an event log as text for other viewers: JSON of Chrome's trace viewer, which Perfetto reads, too, or CSV. */
#ifndef HPCW_GEN_FORMAT_EXPORT_CLOG2_H
#define HPCW_GEN_FORMAT_EXPORT_CLOG2_H

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
    uint64_t events; /* lines of CSV, or entries of the list, besides headings */
    uint64_t bytes;
};

/*
 * Writes what happened in a window of time on some ranks to a sink, from its beginning; a null sink only counts. Reads
 * the log twice, and holds its definitions, open states and numbers of messages, never its records.
 *
 * Chrome: a process per rank and a thread per thread; states as B and E, of which those that cross an end of the window
 * are cut there; solo events as instants, messages as flows. CSV: time in seconds, rank, thread, what, name, peer, tag,
 * bytes; the lines are in the order of the log.
 *
 * HPCW_EFORMAT and the others of the reader, HPCW_EINVAL for an empty window, HPCW_ENOMEM, the sink's.
 */
hpcw_status gen_export_clog2(const char *path, const struct gen_export *what, hpcw_sink *sink,
                             struct gen_exported *done, hpcw_error *err);

#endif
