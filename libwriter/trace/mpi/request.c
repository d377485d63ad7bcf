/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that make, start, cancel and free requests. MPI_Isend and the like are in message.c. */
#include "libwriter/trace/messages.h"
#include "libwriter/trace/requests.h"
#include "libwriter/trace/span.h"

int MPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Irecv, comm);
    int code = REAL(MPI_Irecv)(buf, count, type, source, tag, comm, request);
    if (source != MPI_PROC_NULL && s.timeline != NULL && s.comm.peers != HPCW_I_TRACE_UNKNOWN) {
        (void)hpcw_i_trace_request_note(&s, code, HPCW_I_TRACE_KEY(*request), HPCW_I_TRACE_RECEIVE, s.comm);
    }
    return hpcw_i_trace_span_end(&s, code);
}

int MPI_Recv_init(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request *request) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Recv_init, comm);
    int code = REAL(MPI_Recv_init)(buf, count, type, source, tag, comm, request);
    if (source != MPI_PROC_NULL) {
        (void)hpcw_i_trace_request_note_on(&s, code, HPCW_I_TRACE_KEY(*request),
                                           HPCW_I_TRACE_PERSISTENT_RECEIVE, comm);
    }
    return hpcw_i_trace_span_end(&s, code);
}

static int end_send_init(const struct hpcw_i_trace_span *s, int code, int count, MPI_Datatype type, int dest,
                         int tag, MPI_Comm comm, const MPI_Request *request) {
    struct hpcw_i_trace_handle *h = dest == MPI_PROC_NULL
                                        ? NULL
                                        : hpcw_i_trace_request_note_on(s, code, HPCW_I_TRACE_KEY(*request),
                                                                       HPCW_I_TRACE_PERSISTENT_SEND, comm);
    if (h != NULL) {
        h->as.send.peer = dest;
        h->as.send.tag = tag;
        h->as.send.size = hpcw_i_trace_message_bytes(count, type);
    }
    return hpcw_i_trace_span_end(s, code);
}

#define SEND_INIT(state, colour, function)                                                                     \
    int function(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,              \
                 MPI_Request *q) {                                                                             \
        struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(state, comm);                                     \
        int code = REAL(function)(buf, count, type, dest, tag, comm, q);                                       \
        return end_send_init(&s, code, count, type, dest, tag, comm, q);                                       \
    }
#include "libwriter/trace/calls.h"

/* A send is recorded before MPI starts it, as in message.c. */
static void start(const struct hpcw_i_trace_span *s, MPI_Request request) {
    struct hpcw_i_trace_handle *h = hpcw_i_trace_request_find(s, HPCW_I_TRACE_KEY(request));
    if (h == NULL) {
        return;
    }
    h->flags = HPCW_I_TRACE_STARTED | (s->timeline != NULL ? HPCW_I_TRACE_RECORDED : 0u);
    if (h->kind == HPCW_I_TRACE_PERSISTENT_SEND && s->timeline != NULL) {
        hpcw_i_trace_state_use(HPCW_I_STATE_MPE_Isend_waited);
        hpcw_clog2_log_begin(s->timeline, h->comm.own, HPCW_I_STATE_MPE_Isend_waited);
        hpcw_i_trace_message_sent(s->timeline, h->comm, h->as.send.peer, h->as.send.tag, h->as.send.size);
        hpcw_clog2_log_end(s->timeline, h->comm.own, HPCW_I_STATE_MPE_Isend_waited);
    }
}

int MPI_Start(MPI_Request *request) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Start, MPI_COMM_WORLD);
    start(&s, *request);
    return hpcw_i_trace_span_end(&s, REAL(MPI_Start)(request));
}

int MPI_Startall(int count, MPI_Request requests[]) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Startall, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        start(&s, requests[i]);
    }
    return hpcw_i_trace_span_end(&s, REAL(MPI_Startall)(count, requests));
}

int MPI_Cancel(MPI_Request *request) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Cancel, MPI_COMM_WORLD);
    struct hpcw_i_trace_handle *h = hpcw_i_trace_request_find(&s, HPCW_I_TRACE_KEY(*request));
    if (h != NULL) {
        h->flags |= HPCW_I_TRACE_CANCELLED;
    }
    return hpcw_i_trace_span_end(&s, REAL(MPI_Cancel)(request));
}

/* A message that it still receives is not recorded. */
int MPI_Request_free(MPI_Request *request) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Request_free, MPI_COMM_WORLD);
    struct hpcw_i_trace_held held = hpcw_i_trace_request_hold(&s, *request);
    int code = REAL(MPI_Request_free)(request);
    if (code != MPI_SUCCESS) {
        hpcw_i_trace_request_keep(&held);
    } else if (held.handle != NULL) {
        hpcw_i_trace_handle_drop(held.handle);
    }
    return hpcw_i_trace_span_end(&s, code);
}
