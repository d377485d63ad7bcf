/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that send or receive and are over when they return, and MPI_Isend and its kin, whose end shows nothing. */
#include "libwriter/trace/messages.h"

/*
 * A send is recorded before MPI is called, so that no receive can be seen earlier. Where the data is in another
 * process by then is not what an arrow says.
 */
static struct hpcw_i_span begin_send(int32_t state, int count, MPI_Datatype type, int dest, int tag,
                                     MPI_Comm comm) {
    struct hpcw_i_span s = hpcw_i_begin(state, comm);
    if (s.line != NULL) {
        hpcw_i_message_sent(s.line, s.place, dest, tag, hpcw_i_message_bytes(count, type));
    }
    return s;
}

static int end_receive(const struct hpcw_i_span *s, const MPI_Status *status, int code) {
    if (s->line != NULL && code == MPI_SUCCESS) {
        hpcw_i_message_received(s->line, s->place, status);
    }
    return hpcw_i_end(s, code);
}

/* Where MPI writes what was received: to the program, or to `own` if that wants nothing but we do. */
static MPI_Status *status_of(const struct hpcw_i_span *s, MPI_Status *status, MPI_Status *own) {
    return s->line != NULL && status == MPI_STATUS_IGNORE ? own : status;
}

#define SEND(state, colour, function)                                                                          \
    int function(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {            \
        struct hpcw_i_span s = begin_send(state, count, type, dest, tag, comm);                                \
        return hpcw_i_end(&s, P##function(buf, count, type, dest, tag, comm));                                 \
    }
#define ISEND(state, colour, function)                                                                         \
    int function(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,              \
                 MPI_Request *q) {                                                                             \
        struct hpcw_i_span s = begin_send(state, count, type, dest, tag, comm);                                \
        return hpcw_i_end(&s, P##function(buf, count, type, dest, tag, comm, q));                              \
    }
#include "libwriter/trace/calls.h"

int MPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    MPI_Status own;
    struct hpcw_i_span s = hpcw_i_begin(77, comm);
    status = status_of(&s, status, &own);
    return end_receive(&s, status, PMPI_Recv(buf, count, type, source, tag, comm, status));
}

int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int dest, int out_tag, void *in,
                 int in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                 MPI_Status *status) {
    MPI_Status own;
    struct hpcw_i_span s = begin_send(81, out_count, out_type, dest, out_tag, comm);
    status = status_of(&s, status, &own);
    return end_receive(&s, status,
                       PMPI_Sendrecv(out, out_count, out_type, dest, out_tag, in, in_count, in_type, source,
                                     in_tag, comm, status));
}

int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype type, int dest, int out_tag, int source, int in_tag,
                         MPI_Comm comm, MPI_Status *status) {
    MPI_Status own;
    struct hpcw_i_span s = begin_send(82, count, type, dest, out_tag, comm);
    status = status_of(&s, status, &own);
    return end_receive(&s, status,
                       PMPI_Sendrecv_replace(buf, count, type, dest, out_tag, source, in_tag, comm, status));
}
