/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns recorded words into records of the file, in order. A stream covers the timelines of one rank or of
 * several. It leaves out records that must not be in the file. */
#ifndef HPCW_FORMAT_CLOG2_MERGE_STREAM_H
#define HPCW_FORMAT_CLOG2_MERGE_STREAM_H

#include "libwriter/format/clog2/file/definitions.h"
#include "libwriter/format/clog2/file/records.h"
#include "libwriter/format/clog2/merge/chunk.h"
#include "libwriter/format/clog2/merge/comms.h"
#include "libwriter/format/clog2/merge/time_heap.h"

/* What the event numbers of a log mean. */
struct hpcw_i_clog2_events {
    uint32_t ranks;
    int32_t end;      /* all event numbers are below this value */
    uint8_t *role;    /* [end] role of each event */
    uint64_t *pieces; /* [end] types of the pieces in each event's cargo */
};

/* Role of an event. */
enum { HPCW_I_CLOG2_NO_EVENT, HPCW_I_CLOG2_STARTS, HPCW_I_CLOG2_ENDS, HPCW_I_CLOG2_SOLO };

hpcw_status hpcw_i_clog2_events_make(struct hpcw_i_clog2_events *e,
                                     const struct hpcw_i_clog2_definition *definition, uint32_t count,
                                     hpcw_error *err);
void hpcw_i_clog2_events_free(struct hpcw_i_clog2_events *e);

static inline uint32_t hpcw_i_clog2_role(const struct hpcw_i_clog2_events *t, int32_t event) {
    return event >= 0 && event < t->end ? t->role[event] : HPCW_I_CLOG2_NO_EVENT;
}

/* The records of one rank. */
struct hpcw_i_clog2_origin {
    uint32_t rank;
    uint64_t base;       /* tick of the clock's zero point */
    double scale, shift; /* seconds are (tick - base) * scale + shift */
    const struct hpcw_i_clog2_membership *membership;
    uint32_t memberships;
    int fd;                       /* descriptor of the local file; -1: none */
    const char *local;            /* name of the local file, for messages */
    const unsigned char *encoded; /* records that are encoded already, in the order of time */
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

/* Begins a stream. `origin` [count] is sorted by rank and must exist as long as the stream. Free the stream also
 * after a failure. */
hpcw_status hpcw_i_clog2_stream_begin(struct hpcw_i_clog2_stream *stream,
                                      const struct hpcw_i_clog2_events *events,
                                      const struct hpcw_i_clog2_origin *origin, uint32_t count,
                                      hpcw_error *err);
void hpcw_i_clog2_stream_free(struct hpcw_i_clog2_stream *stream);

/* Gets the time of the next record, and its size in the file. False if there is no record. */
bool hpcw_i_clog2_stream_peek(const struct hpcw_i_clog2_stream *stream, double *time, uint32_t *size);

/* Encodes the next records, at most `most` records and at most `room` bytes. *count becomes their number, *size
 * their bytes. *count is 0 only if there is no record, or if the first one does not fit. */
hpcw_status hpcw_i_clog2_stream_fill(struct hpcw_i_clog2_stream *stream, unsigned char *to, size_t room,
                                     size_t most, size_t *size, size_t *count, hpcw_error *err);

#endif
