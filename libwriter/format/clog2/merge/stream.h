/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: turns recorded words into records of the file, in order. A stream covers the timelines of one rank or of
 * several. It leaves out what must not be in the file. */
#ifndef HPCW_FORMAT_CLOG2_MERGE_STREAM_H
#define HPCW_FORMAT_CLOG2_MERGE_STREAM_H

#include "libwriter/format/clog2/file/records.h"
#include "libwriter/format/clog2/merge/chunk.h"
#include "libwriter/format/clog2/merge/comms.h"
#include "libwriter/format/clog2/merge/events.h"
#include "libwriter/format/clog2/merge/time_heap.h"

/* The records of one rank. */
struct hpcw_i_clog2_origin {
    uint32_t rank;
    uint64_t base;       /* the tick from which times count */
    double scale, shift; /* seconds are (tick - base) * scale + shift */
    const struct hpcw_i_clog2_membership *membership;
    uint32_t memberships;
    int fd;                       /* of the local file, -1: none */
    const char *local;            /* its name */
    const unsigned char *encoded; /* encoded records, in order */
    size_t encoded_size;
    struct hpcw_i_clog2_chunk **first; /* [timelines] */
    uint32_t timelines;
};

struct hpcw_i_clog2_cursor;

struct hpcw_i_clog2_stream {
    const struct hpcw_i_clog2_events *events;
    struct hpcw_i_clog2_cursor *cursor;
    uint32_t cursors;
    struct hpcw_i_clog2_heap heap;
    uint64_t undefined, end_alone, start_alone, bad_cargo, records;
};

/* `origin` [count] is sorted by rank and must outlive the stream. Free the stream in any case. */
hpcw_status hpcw_i_clog2_stream_begin(struct hpcw_i_clog2_stream *stream,
                                      const struct hpcw_i_clog2_events *events,
                                      const struct hpcw_i_clog2_origin *origin, uint32_t count,
                                      hpcw_error *err);
void hpcw_i_clog2_stream_free(struct hpcw_i_clog2_stream *stream);

/* Whether there is a next record, and if so its time and its size in the file. */
bool hpcw_i_clog2_stream_peek(const struct hpcw_i_clog2_stream *stream, double *time, uint32_t *size);

/* Encodes the next records, at most `most`, as far as they fit into `room` bytes: *count records of *size
 * bytes. None only at the end, or if the first one does not fit. */
hpcw_status hpcw_i_clog2_stream_fill(struct hpcw_i_clog2_stream *stream, unsigned char *to, size_t room,
                                     size_t most, size_t *size, size_t *count, hpcw_error *err);

#endif
