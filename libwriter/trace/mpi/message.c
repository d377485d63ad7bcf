/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that send or receive, and MPI_Isend and the like: the completion of a send is not recorded. */
#include "libwriter/trace/messages.h"
#include "libwriter/trace/span.h"

/* A send is recorded before MPI is called, so that it never comes after its receive in the log. */
static struct hpcw_i_trace_span begin_send(int32_t state, int count, MPI_Datatype type, int dest, int tag,
                                           MPI_Comm comm) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(state, comm);
    if (s.timeline != NULL) {
        hpcw_i_trace_message_sent(s.timeline, s.comm, dest, tag, hpcw_i_trace_message_bytes(count, type));
    }
    return s;
}

static int end_receive(const struct hpcw_i_trace_span *s, const MPI_Status *status, int code) {
    if (s->timeline != NULL && code == MPI_SUCCESS) {
        hpcw_i_trace_message_received(s->timeline, s->comm, status);
    }
    return hpcw_i_trace_span_end(s, code);
}

/* The status that MPI fills in: the program's, or `own` if it passes none and the receive is recorded. */
static MPI_Status *status_of(const struct hpcw_i_trace_span *s, MPI_Status *status, MPI_Status *own) {
    return s->timeline != NULL && status == MPI_STATUS_IGNORE ? own : status;
}

#define SEND(state, colour, function)                                                                          \
    int function(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {            \
        struct hpcw_i_trace_span s = begin_send(state, count, type, dest, tag, comm);                          \
        return hpcw_i_trace_span_end(&s, REAL(function)(buf, count, type, dest, tag, comm));                   \
    }
#define ISEND(state, colour, function)                                                                         \
    int function(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,              \
                 MPI_Request *q) {                                                                             \
        struct hpcw_i_trace_span s = begin_send(state, count, type, dest, tag, comm);                          \
        return hpcw_i_trace_span_end(&s, REAL(function)(buf, count, type, dest, tag, comm, q));                \
    }
#include "libwriter/trace/calls.h"

int MPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    MPI_Status own;
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Recv, comm);
    status = status_of(&s, status, &own);
    return end_receive(&s, status, REAL(MPI_Recv)(buf, count, type, source, tag, comm, status));
}

int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int dest, int out_tag, void *in,
                 int in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                 MPI_Status *status) {
    MPI_Status own;
    struct hpcw_i_trace_span s =
        begin_send(HPCW_I_STATE_MPI_Sendrecv, out_count, out_type, dest, out_tag, comm);
    status = status_of(&s, status, &own);
    return end_receive(&s, status,
                       REAL(MPI_Sendrecv)(out, out_count, out_type, dest, out_tag, in, in_count, in_type,
                                          source, in_tag, comm, status));
}

int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype type, int dest, int out_tag, int source, int in_tag,
                         MPI_Comm comm, MPI_Status *status) {
    MPI_Status own;
    struct hpcw_i_trace_span s =
        begin_send(HPCW_I_STATE_MPI_Sendrecv_replace, count, type, dest, out_tag, comm);
    status = status_of(&s, status, &own);
    return end_receive(
        &s, status, REAL(MPI_Sendrecv_replace)(buf, count, type, dest, out_tag, source, in_tag, comm, status));
}
