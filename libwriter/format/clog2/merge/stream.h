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

/* The meaning of the event numbers of a log. */
struct hpcw_i_clog2_events {
    uint32_t ranks;
    int32_t end;      /* all events are below this */
    uint8_t *role;    /* [end] role of each event */
    uint64_t *pieces; /* [end] coded format of the cargo */
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
    uint64_t base;       /* tick where times start */
    double scale, shift; /* seconds are (tick - base) * scale + shift */
    const struct hpcw_i_clog2_membership *membership;
    uint32_t memberships;
    int fd;                       /* descriptor of the local file; -1: none */
    const char *local;            /* name of the local file */
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

/* Begins a stream. `origin` [count] is sorted by rank and must outlive it. Free the stream also after a failure. */
hpcw_status hpcw_i_clog2_stream_begin(struct hpcw_i_clog2_stream *stream,
                                      const struct hpcw_i_clog2_events *events,
                                      const struct hpcw_i_clog2_origin *origin, uint32_t count,
                                      hpcw_error *err);
void hpcw_i_clog2_stream_free(struct hpcw_i_clog2_stream *stream);

/* Gets time and file size of the next record. False if there is none. */
bool hpcw_i_clog2_stream_peek(const struct hpcw_i_clog2_stream *stream, double *time, uint32_t *size);

/* Encodes the next records, at most `most`, as far as they fit into `room` bytes: *count records of *size
 * bytes. *count is 0 only at the end, or if the first record does not fit. */
hpcw_status hpcw_i_clog2_stream_fill(struct hpcw_i_clog2_stream *stream, unsigned char *to, size_t room,
                                     size_t most, size_t *size, size_t *count, hpcw_error *err);

#endif
