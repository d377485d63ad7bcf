/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the records of messages. */
#ifndef HPCW_TRACE_MESSAGES_H
#define HPCW_TRACE_MESSAGES_H

#include <string.h>

#include "libwriter/trace/comms.h"

/* Returns the size of a message in bytes, 0 for MPI_DATATYPE_NULL. Some calls allow MPI_DATATYPE_NULL with a count
 * of 0, but asking MPI for its size would call the error handler of MPI_COMM_WORLD. */
static inline uint64_t hpcw_i_trace_message_bytes(uint64_t count, MPI_Datatype type) {
    MPI_Count size = 0;
    return type != MPI_DATATYPE_NULL && REAL(MPI_Type_size_x)(type, &size) == MPI_SUCCESS && size > 0
               ? (uint64_t)size * count
               : 0;
}

/* Records a send, if it has a known receiver. Returns the number of words. `now`: time of the send. The caller has
 * read the timeline's clock already, to record the begin or end of the MPI call. */
static inline int hpcw_i_trace_message_sent(hpcw_clog2_timeline *timeline, uint64_t now,
                                            struct hpcw_i_trace_comm comm, int peer, int tag, uint64_t size) {
    if (peer == MPI_PROC_NULL || comm.peers == HPCW_I_TRACE_UNKNOWN) {
        return 0;
    }
    hpcw_clog2_timeline_message_at(timeline, now, comm.own, HPCW_CLOG2_SEND, comm.peers, peer, tag, size);
    return HPCW_CLOG2_WORDS_MESSAGE;
}

/*
 * Takes back the last records of a timeline, `words` words from `at` on: their call failed, so their messages were
 * not sent. The words become 0, as they were, for a reader of the local file. Records that have filled a window
 * stay: the window may be unmapped by now.
 */
static inline void hpcw_i_trace_message_take_back(hpcw_clog2_timeline *timeline, uint64_t *at, int words) {
    if (timeline != NULL && at != NULL && timeline->next == at + words) {
        memset(at, 0, (size_t)words * sizeof *at);
        timeline->next = at;
    }
}

/* Returns whether a call with this result has received its message. A message that was too long for the buffer is
 * received, too, and its call fails. */
static inline bool hpcw_i_trace_message_taken(int code) {
    int class = MPI_SUCCESS;
    return code == MPI_SUCCESS ||
           (REAL(MPI_Error_class)(code, &class) == MPI_SUCCESS && class == MPI_ERR_TRUNCATE);
}

/* Returns the number of bytes that were received; UINT64_MAX if it does not fit in an int. */
static inline uint64_t hpcw_i_trace_message_got(const MPI_Status *status) {
    int bytes = 0;
    return REAL(MPI_Get_count)(status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes != MPI_UNDEFINED
               ? (uint64_t)bytes
               : UINT64_MAX;
}

static inline void hpcw_i_trace_message_received(hpcw_clog2_timeline *timeline, uint64_t now,
                                                 struct hpcw_i_trace_comm comm, int source, int tag,
                                                 uint64_t size) {
    if (source != MPI_PROC_NULL && comm.peers != HPCW_I_TRACE_UNKNOWN) {
        hpcw_clog2_timeline_message_at(timeline, now, comm.own, HPCW_CLOG2_RECEIVE, comm.peers, source, tag,
                                       size);
    }
}

#endif
