/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages become records: a send where it is posted, a receive where it is found complete. */
#ifndef HPCW_TRACE_MESSAGES_H
#define HPCW_TRACE_MESSAGES_H

#include "libwriter/trace/trace.h"

/* Bytes of a message. */
static inline uint64_t hpcw_i_message_bytes(int count, MPI_Datatype type) {
    int size = 0;
    return PMPI_Type_size(type, &size) == MPI_SUCCESS && size > 0 && count > 0
               ? (uint64_t)size * (uint64_t)count
               : 0;
}

/* Across an inter-communicator the peer is in its other half. */
static inline void hpcw_i_message_sent(hpcw_clog2_timeline *line, struct hpcw_i_place place, int peer, int tag,
                                       uint64_t size) {
    if (peer != MPI_PROC_NULL && place.remote != HPCW_I_NOT_FOLLOWED) {
        hpcw_clog2_timeline_message(line, place.comm, HPCW_CLOG2_SEND, place.remote, peer, tag, size);
    }
}

/* The status of a message that was received says where it came from, whatever was asked for. */
static inline void hpcw_i_message_received(hpcw_clog2_timeline *line, struct hpcw_i_place place,
                                           const MPI_Status *status) {
    if (status->MPI_SOURCE == MPI_PROC_NULL || place.remote == HPCW_I_NOT_FOLLOWED) {
        return;
    }
    int bytes = 0;
    uint64_t size = UINT64_MAX; /* more than an int can say */
    if (PMPI_Get_count(status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes != MPI_UNDEFINED) {
        size = (uint64_t)bytes;
    }
    hpcw_clog2_timeline_message(line, place.comm, HPCW_CLOG2_RECEIVE, place.remote, status->MPI_SOURCE,
                                status->MPI_TAG, size);
}

#endif
