/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of messages. */
#ifndef HPCW_TRACE_MESSAGES_H
#define HPCW_TRACE_MESSAGES_H

#include "libwriter/trace/comms.h"

/*
 * Bytes of a message. MPI would report a datatype that is none to the error handler of MPI_COMM_WORLD, which may not be that
 * of the program's call; besides, it is legal beside a count of 0 in some calls.
 */
static inline uint64_t hpcw_i_trace_message_bytes(uint64_t count, MPI_Datatype type) {
    MPI_Count size = 0;
    return type != MPI_DATATYPE_NULL && REAL(MPI_Type_size_x)(type, &size) == MPI_SUCCESS && size > 0
               ? (uint64_t)size * count
               : 0;
}

/* `now`: the clock of the timeline, which the caller has read for its state anyway. */
static inline void hpcw_i_trace_message_sent(hpcw_clog2_timeline *timeline, uint64_t now,
                                             struct hpcw_i_trace_comm comm, int peer, int tag, uint64_t size) {
    if (peer != MPI_PROC_NULL && comm.peers != HPCW_I_TRACE_UNKNOWN) {
        hpcw_clog2_timeline_message_at(timeline, now, comm.own, HPCW_CLOG2_SEND, comm.peers, peer, tag, size);
    }
}

/* Source and tag are those of the status: the call may have given wildcards. */
static inline void hpcw_i_trace_message_received(hpcw_clog2_timeline *timeline, uint64_t now,
                                                 struct hpcw_i_trace_comm comm, const MPI_Status *status) {
    if (status->MPI_SOURCE == MPI_PROC_NULL || comm.peers == HPCW_I_TRACE_UNKNOWN) {
        return;
    }
    int bytes = 0;
    uint64_t size = UINT64_MAX; /* does not fit in an int */
    if (REAL(MPI_Get_count)(status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes != MPI_UNDEFINED) {
        size = (uint64_t)bytes;
    }
    hpcw_clog2_timeline_message_at(timeline, now, comm.own, HPCW_CLOG2_RECEIVE, comm.peers, status->MPI_SOURCE,
                                   status->MPI_TAG, size);
}

#endif
