/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that send or receive. The completion of a send is not recorded. */
#include "libwriter/trace/messages.h"
#include "libwriter/trace/requests.h"
#include "libwriter/trace/span.h"

/* Begins a send, and records its message before MPI is called: a send must not come after its receive in the
 * log. */
static inline __attribute__((always_inline)) struct hpcw_i_trace_span
begin_send(int32_t state, uint64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(state, comm);
    if (s.timeline != NULL) {
        s.sent = s.timeline->next;
        (void)hpcw_i_trace_message_sent(s.timeline, s.begin, s.comm, dest, tag,
                                        hpcw_i_trace_message_bytes(count, type));
    }
    return s;
}

/* Ends a call that may send. Returns `code`, the result of the call. */
static inline int end_send(const struct hpcw_i_trace_span *s, int code) {
    if (__builtin_expect(code != MPI_SUCCESS, false)) {
        hpcw_i_trace_message_take_back(s->timeline, s->sent, HPCW_CLOG2_WORDS_MESSAGE);
    }
    return hpcw_i_trace_span_end(s, code);
}

static int end_receive(const struct hpcw_i_trace_span *s, struct hpcw_i_trace_comm comm,
                       const MPI_Status *status, int code) {
    if (s->timeline != NULL && hpcw_i_trace_message_taken(code)) {
        uint64_t now = hpcw_clog2_timeline_clock(s->timeline);
        /* source and tag of the call may be wildcards, so take those of the status */
        hpcw_i_trace_message_received(s->timeline, now, comm, status->MPI_SOURCE, status->MPI_TAG,
                                      hpcw_i_trace_message_got(status));
        return hpcw_i_trace_span_end_at(s, now, code);
    }
    return end_send(s, code);
}

/* Returns the status that MPI is to fill in: `status` of the program, or `own` if that is MPI_STATUS_IGNORE and
 * the receive is recorded. */
static MPI_Status *status_of(const struct hpcw_i_trace_span *s, MPI_Status *status, MPI_Status *own) {
    return s->timeline != NULL && status == MPI_STATUS_IGNORE ? own : status;
}

static int end_send_init(const struct hpcw_i_trace_span *s, int code, uint64_t count, MPI_Datatype type,
                         int dest, int tag, MPI_Comm comm, const MPI_Request *request) {
    struct hpcw_i_trace_handle *h = dest == MPI_PROC_NULL
                                        ? NULL
                                        : hpcw_i_trace_request_note_on(s, code, HPCW_I_TRACE_KEY(*request),
                                                                       HPCW_I_TRACE_PERSISTENT_SEND, comm);
    if (h != NULL) {
        h->as.message.peer = dest;
        h->as.message.tag = tag;
        h->as.message.size = hpcw_i_trace_message_bytes(count, type);
    }
    return hpcw_i_trace_span_end(s, code);
}

static int end_receive_init(const struct hpcw_i_trace_span *s, int code, int source, MPI_Comm comm,
                            const MPI_Request *request) {
    if (source != MPI_PROC_NULL) {
        (void)hpcw_i_trace_request_note_on(s, code, HPCW_I_TRACE_KEY(*request), HPCW_I_TRACE_PERSISTENT_RECEIVE,
                                           comm);
    }
    return hpcw_i_trace_span_end(s, code);
}

/* Adds the request of a receive to the table. Its completion is shown as the state `waited`. A receive that is
 * not recorded is not added. */
static struct hpcw_i_trace_handle *note_receive(const struct hpcw_i_trace_span *s, int32_t waited, int code,
                                                struct hpcw_i_trace_comm comm, const MPI_Request *request) {
    struct hpcw_i_trace_handle *h = NULL;
    if (s->timeline != NULL && comm.peers != HPCW_I_TRACE_UNKNOWN) {
        h = hpcw_i_trace_request_note(s, code, HPCW_I_TRACE_KEY(*request), HPCW_I_TRACE_RECEIVE, comm);
        if (h != NULL) {
            h->waited = (int16_t)waited;
        }
    }
    return h;
}

#if HPCW_I_HAVE_PARTITIONED
/* Ends MPI_Isendrecv. A receive with a wildcard is not recorded, as MPICH 4.0 returns the status of another
 * request for it. */
static int end_exchange(const struct hpcw_i_trace_span *s, int code, uint64_t count, MPI_Datatype type,
                        int source, int tag, const MPI_Request *request) {
    if (source == MPI_PROC_NULL || source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG) {
        hpcw_i_trace_request_belongs(s, code, request);
        return end_send(s, code);
    }
    struct hpcw_i_trace_handle *h = note_receive(s, HPCW_I_STATE_MPE_Irecv_waited, code, s->comm, request);
    if (h != NULL) {
        h->kind = HPCW_I_TRACE_EXCHANGE;
        h->as.message.peer = source;
        h->as.message.tag = tag;
        h->as.message.size = hpcw_i_trace_message_bytes(count, type);
    }
    return end_send(s, code);
}
#endif

#define SEND(state, colour, function)                                                                          \
    int function(const void *buf, COUNT count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {          \
        struct hpcw_i_trace_span s = begin_send(state, (uint64_t)count, type, dest, tag, comm);                \
        return end_send(&s, REAL(function)(buf, count, type, dest, tag, comm));                                \
    }
#define ISEND(state, colour, function)                                                                         \
    int function(const void *buf, COUNT count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,            \
                 MPI_Request *q) {                                                                             \
        struct hpcw_i_trace_span s = begin_send(state, (uint64_t)count, type, dest, tag, comm);                \
        int code = REAL(function)(buf, count, type, dest, tag, comm, q);                                       \
        hpcw_i_trace_request_belongs(&s, code, q);                                                             \
        return end_send(&s, code);                                                                             \
    }
#define SEND_INIT(state, colour, function)                                                                     \
    int function(const void *buf, COUNT count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,            \
                 MPI_Request *q) {                                                                             \
        struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(state, comm);                                     \
        int code = REAL(function)(buf, count, type, dest, tag, comm, q);                                       \
        return end_send_init(&s, code, (uint64_t)count, type, dest, tag, comm, q);                             \
    }
#include "libwriter/trace/calls.h"

/* Begins the receive of a message that a probe has matched. It is shown on the message's communicator. Removes
 * the message from the table, as MPI may give its handle to the new request. */
static struct hpcw_i_trace_span take(int32_t state, MPI_Message message, struct hpcw_i_trace_comm *comm) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_open(state);
    struct hpcw_i_trace_handle *h = hpcw_i_trace_request_find(&s, HPCW_I_TRACE_KEY(message));
    *comm = (struct hpcw_i_trace_comm){HPCW_I_TRACE_WORLD, HPCW_I_TRACE_UNKNOWN};
    if (h != NULL) {
        *comm = h->comm;
        hpcw_i_trace_handle_drop(h);
    }
    if (s.timeline != NULL) {
        hpcw_i_trace_span_show(&s, state, *comm);
    }
    return s;
}

#undef COUNTS_ARE_LARGE
#include "libwriter/trace/counts.h"
/* calls that receive, with counts of type int */
#include "libwriter/trace/mpi/receive.h"
#if HPCW_I_HAVE_LARGE
#define COUNTS_ARE_LARGE
#include "libwriter/trace/counts.h"
/* calls that receive, with counts of type MPI_Count */
#include "libwriter/trace/mpi/receive.h"
#endif

#if HPCW_I_HAVE_PARTITIONED
/* A partitioned message is recorded as one message, which is sent when its request is started. */
int MPI_Psend_init(const void *buf, int partitions, MPI_Count count, MPI_Datatype type, int dest, int tag,
                   MPI_Comm comm, MPI_Info info, MPI_Request *request) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Send_init, comm);
    int code = REAL(MPI_Psend_init)(buf, partitions, count, type, dest, tag, comm, info, request);
    return end_send_init(&s, code, (uint64_t)partitions * (uint64_t)count, type, dest, tag, comm, request);
}

int MPI_Precv_init(void *buf, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag,
                   MPI_Comm comm, MPI_Info info, MPI_Request *request) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Recv_init, comm);
    int code = REAL(MPI_Precv_init)(buf, partitions, count, type, source, tag, comm, info, request);
    return end_receive_init(&s, code, source, comm, request);
}
#endif
