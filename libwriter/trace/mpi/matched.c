/* SPDX-License-Identifier: BSD-3-Clause */
/* Matched messages: a probe finds them, and a receive gets them by their handle. */
#include "libwriter/trace/messages.h"
#include "libwriter/trace/requests.h"
#include "libwriter/trace/span.h"

static void found(const struct hpcw_i_trace_span *s, int code, MPI_Comm comm, MPI_Message message) {
    if (message != MPI_MESSAGE_NULL && message != MPI_MESSAGE_NO_PROC) {
        (void)hpcw_i_trace_request_note_on(s, code, HPCW_I_TRACE_KEY(message), HPCW_I_TRACE_MESSAGE, comm);
    }
}

/* Removes the entry of a message before its receive: MPI may give the same handle to the request. Returns its
 * communicator. */
static struct hpcw_i_trace_comm take(const struct hpcw_i_trace_span *s, MPI_Message message) {
    struct hpcw_i_trace_comm comm = {HPCW_I_TRACE_WORLD, HPCW_I_TRACE_UNKNOWN};
    struct hpcw_i_trace_handle *h = hpcw_i_trace_request_find(s, HPCW_I_TRACE_KEY(message));
    if (h != NULL) {
        comm = h->comm;
        hpcw_i_trace_handle_drop(h);
    }
    return comm;
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Mprobe, comm);
    int code = REAL(MPI_Mprobe)(source, tag, comm, message, status);
    found(&s, code, comm, *message);
    return hpcw_i_trace_span_end(&s, code);
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Improbe, comm);
    int code = REAL(MPI_Improbe)(source, tag, comm, flag, message, status);
    if (code == MPI_SUCCESS && *flag) {
        found(&s, code, comm, *message);
    }
    return hpcw_i_trace_span_end(&s, code);
}

int MPI_Mrecv(void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status) {
    MPI_Status own;
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Mrecv, MPI_COMM_WORLD);
    struct hpcw_i_trace_comm comm = take(&s, *message);
    status = s.timeline != NULL && status == MPI_STATUS_IGNORE ? &own : status;
    int code = REAL(MPI_Mrecv)(buf, count, type, message, status);
    if (s.timeline != NULL && code == MPI_SUCCESS) {
        hpcw_i_trace_message_received(s.timeline, comm, status);
    }
    return hpcw_i_trace_span_end(&s, code);
}

int MPI_Imrecv(void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Imrecv, MPI_COMM_WORLD);
    struct hpcw_i_trace_comm comm = take(&s, *message);
    int code = REAL(MPI_Imrecv)(buf, count, type, message, request);
    if (comm.peers != HPCW_I_TRACE_UNKNOWN) {
        (void)hpcw_i_trace_request_note(&s, code, HPCW_I_TRACE_KEY(*request), HPCW_I_TRACE_MATCHED, comm);
    }
    return hpcw_i_trace_span_end(&s, code);
}
