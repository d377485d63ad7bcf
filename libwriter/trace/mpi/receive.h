/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that receive. They are compiled for each type of counts, with the macros of counts.h. Sends are in
 * message.c. */

int C(MPI_Recv)(void *buf, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                MPI_Status *status) {
    MPI_Status own;
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Recv, comm);
    status = status_of(&s, status, &own);
    return end_receive(&s, s.comm, status, REAL(C(MPI_Recv))(buf, count, type, source, tag, comm, status));
}

int C(MPI_Sendrecv)(const void *out, COUNT out_count, MPI_Datatype out_type, int dest, int out_tag, void *in,
                    COUNT in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                    MPI_Status *status) {
    MPI_Status own;
    struct hpcw_i_trace_span s =
        begin_send(HPCW_I_STATE_MPI_Sendrecv, (uint64_t)out_count, out_type, dest, out_tag, comm);
    status = status_of(&s, status, &own);
    return end_receive(&s, s.comm, status,
                       REAL(C(MPI_Sendrecv))(out, out_count, out_type, dest, out_tag, in, in_count, in_type,
                                             source, in_tag, comm, status));
}

int C(MPI_Sendrecv_replace)(void *buf, COUNT count, MPI_Datatype type, int dest, int out_tag, int source,
                            int in_tag, MPI_Comm comm, MPI_Status *status) {
    MPI_Status own;
    struct hpcw_i_trace_span s =
        begin_send(HPCW_I_STATE_MPI_Sendrecv_replace, (uint64_t)count, type, dest, out_tag, comm);
    status = status_of(&s, status, &own);
    return end_receive(
        &s, s.comm, status,
        REAL(C(MPI_Sendrecv_replace))(buf, count, type, dest, out_tag, source, in_tag, comm, status));
}

int C(MPI_Irecv)(void *buf, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                 MPI_Request *request) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Irecv, comm);
    int code = REAL(C(MPI_Irecv))(buf, count, type, source, tag, comm, request);
    if (source != MPI_PROC_NULL) {
        (void)note_receive(&s, HPCW_I_STATE_MPE_Irecv_waited, code, s.comm, request);
    }
    return hpcw_i_trace_span_end(&s, code);
}

int C(MPI_Recv_init)(void *buf, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                     MPI_Request *request) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Recv_init, comm);
    int code = REAL(C(MPI_Recv_init))(buf, count, type, source, tag, comm, request);
    return end_receive_init(&s, code, source, comm, request);
}

int C(MPI_Mrecv)(void *buf, COUNT count, MPI_Datatype type, MPI_Message *message, MPI_Status *status) {
    MPI_Status own;
    struct hpcw_i_trace_comm comm;
    struct hpcw_i_trace_span s = take(HPCW_I_STATE_MPI_Mrecv, *message, &comm);
    status = status_of(&s, status, &own);
    return end_receive(&s, comm, status, REAL(C(MPI_Mrecv))(buf, count, type, message, status));
}

int C(MPI_Imrecv)(void *buf, COUNT count, MPI_Datatype type, MPI_Message *message, MPI_Request *request) {
    struct hpcw_i_trace_comm comm;
    struct hpcw_i_trace_span s = take(HPCW_I_STATE_MPI_Imrecv, *message, &comm);
    int code = REAL(C(MPI_Imrecv))(buf, count, type, message, request);
    (void)note_receive(&s, HPCW_I_STATE_MPE_Imrecv_waited, code, comm, request);
    return hpcw_i_trace_span_end(&s, code);
}

#if HPCW_I_HAVE_PARTITIONED
int C(MPI_Isendrecv)(const void *out, COUNT out_count, MPI_Datatype out_type, int dest, int out_tag, void *in,
                     COUNT in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                     MPI_Request *request) {
    struct hpcw_i_trace_span s =
        begin_send(HPCW_I_STATE_MPI_Sendrecv, (uint64_t)out_count, out_type, dest, out_tag, comm);
    int code = REAL(C(MPI_Isendrecv))(out, out_count, out_type, dest, out_tag, in, in_count, in_type, source,
                                      in_tag, comm, request);
    return end_exchange(&s, code, (uint64_t)in_count, in_type, source, in_tag, request);
}

int C(MPI_Isendrecv_replace)(void *buf, COUNT count, MPI_Datatype type, int dest, int out_tag, int source,
                             int in_tag, MPI_Comm comm, MPI_Request *request) {
    struct hpcw_i_trace_span s =
        begin_send(HPCW_I_STATE_MPI_Sendrecv_replace, (uint64_t)count, type, dest, out_tag, comm);
    int code = REAL(C(MPI_Isendrecv_replace))(buf, count, type, dest, out_tag, source, in_tag, comm, request);
    return end_exchange(&s, code, (uint64_t)count, type, source, in_tag, request);
}
#endif
