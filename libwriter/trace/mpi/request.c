/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that start, cancel or free a request. Calls that make requests are with the calls of their kind. */
#include "libwriter/trace/messages.h"
#include "libwriter/trace/requests.h"
#include "libwriter/trace/span.h"

/* Records the send that a request starts, before MPI starts it: in the log, no send must come after its receive.
 * Returns the number of words. */
static int start(const struct hpcw_i_trace_span *s, struct hpcw_i_trace_handle *h) {
    if (h == NULL) {
        return 0;
    }
    if (h->kind == HPCW_I_TRACE_OTHER) {
        h->kind = HPCW_I_TRACE_PERSISTENT_OTHER;
    }
    h->cancelled = false;
    if (h->kind == HPCW_I_TRACE_PERSISTENT_RECEIVE) {
        h->waited = s->timeline != NULL ? HPCW_I_STATE_MPE_Irecv_waited : 0;
    } else if (h->kind == HPCW_I_TRACE_PERSISTENT_SEND && s->timeline != NULL) {
        hpcw_i_trace_state_use(HPCW_I_STATE_MPE_Isend_waited);
        hpcw_clog2_log_begin(s->timeline, h->comm.own, HPCW_I_STATE_MPE_Isend_waited);
        const int words =
            hpcw_i_trace_message_sent(s->timeline, hpcw_clog2_timeline_clock(s->timeline), h->comm,
                                      h->as.message.peer, h->as.message.tag, h->as.message.size);
        hpcw_clog2_log_end(s->timeline, h->comm.own, HPCW_I_STATE_MPE_Isend_waited);
        return words + 2 * HPCW_CLOG2_WORDS_BARE;
    }
    return 0;
}

/* Ends a call that starts requests. If it failed, takes back their sends, `words` words. */
static int end_start(const struct hpcw_i_trace_span *s, int words, int code) {
    if (code != MPI_SUCCESS) {
        hpcw_i_trace_message_take_back(s->timeline, s->sent, words);
    }
    return hpcw_i_trace_span_end(s, code);
}

int MPI_Start(MPI_Request *request) {
    struct hpcw_i_trace_handle *h;
    struct hpcw_i_trace_span s = hpcw_i_trace_request_use(HPCW_I_STATE_MPI_Start, *request, &h);
    s.sent = s.timeline == NULL ? NULL : s.timeline->next;
    const int words = start(&s, h);
    return end_start(&s, words, REAL(MPI_Start)(request));
}

int MPI_Startall(int count, MPI_Request requests[]) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Startall, MPI_COMM_WORLD);
    int words = 0;
    s.sent = s.timeline == NULL ? NULL : s.timeline->next;
    for (int i = 0; i < count; i++) {
        words += start(&s, hpcw_i_trace_request_find(&s, HPCW_I_TRACE_KEY(requests[i])));
    }
    return end_start(&s, words, REAL(MPI_Startall)(count, requests));
}

int MPI_Cancel(MPI_Request *request) {
    struct hpcw_i_trace_handle *h;
    struct hpcw_i_trace_span s = hpcw_i_trace_request_use(HPCW_I_STATE_MPI_Cancel, *request, &h);
    if (h != NULL) {
        h->cancelled = true;
    }
    return hpcw_i_trace_span_end(&s, REAL(MPI_Cancel)(request));
}

/* A message that is received after its request was freed is not recorded. */
int MPI_Request_free(MPI_Request *request) {
    struct hpcw_i_trace_held held;
    struct hpcw_i_trace_span s = hpcw_i_trace_request_begin(HPCW_I_STATE_MPI_Request_free, *request, &held);
    int code = REAL(MPI_Request_free)(request);
    if (code != MPI_SUCCESS) {
        hpcw_i_trace_request_keep(&held);
    } else if (held.handle != NULL) {
        hpcw_i_trace_handle_drop(held.handle);
    }
    return hpcw_i_trace_span_end(&s, code);
}

#if HPCW_I_HAVE_PARTITIONED
/* Several threads may make these calls for one request at the same time. They only read its entry in the table. */
int MPI_Pready(int partition, MPI_Request request) {
    struct hpcw_i_trace_handle *h;
    struct hpcw_i_trace_span s = hpcw_i_trace_request_use(HPCW_I_STATE_MPI_Partition, request, &h);
    return hpcw_i_trace_span_end(&s, REAL(MPI_Pready)(partition, request));
}

int MPI_Pready_range(int low, int high, MPI_Request request) {
    struct hpcw_i_trace_handle *h;
    struct hpcw_i_trace_span s = hpcw_i_trace_request_use(HPCW_I_STATE_MPI_Partition, request, &h);
    return hpcw_i_trace_span_end(&s, REAL(MPI_Pready_range)(low, high, request));
}

int MPI_Pready_list(int count, PREADY_CONST int partitions[], MPI_Request request) {
    struct hpcw_i_trace_handle *h;
    struct hpcw_i_trace_span s = hpcw_i_trace_request_use(HPCW_I_STATE_MPI_Partition, request, &h);
    return hpcw_i_trace_span_end(&s, REAL(MPI_Pready_list)(count, partitions, request));
}

int MPI_Parrived(MPI_Request request, int partition, int *flag) {
    struct hpcw_i_trace_handle *h;
    struct hpcw_i_trace_span s = hpcw_i_trace_request_use(HPCW_I_STATE_MPI_Partition, request, &h);
    return hpcw_i_trace_span_end(&s, REAL(MPI_Parrived)(request, partition, flag));
}
#endif
