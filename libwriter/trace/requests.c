/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/trace/requests.h"

#include "libwriter/trace/messages.h"

struct hpcw_i_trace_handles hpcw_i_trace_requests;

struct hpcw_i_trace_handle *hpcw_i_trace_request_note(const struct hpcw_i_trace_span *s, int code,
                                                      uintptr_t key, enum hpcw_i_trace_request_kind kind,
                                                      struct hpcw_i_trace_comm comm) {
    if (code != MPI_SUCCESS || !hpcw_i_trace_span_follows(s)) {
        return NULL;
    }
    struct hpcw_i_trace_handle *h = hpcw_i_trace_handles_add(&hpcw_i_trace_requests, key);
    if (h == NULL) {
        hpcw_i_trace_forgot();
        return NULL;
    }
    h->comm = comm;
    h->kind = (int32_t)kind;
    h->waited = 0;
    h->cancelled = false;
    return h;
}

void hpcw_i_trace_request_note_other(const struct hpcw_i_trace_span *s, int code, MPI_Request request) {
    struct hpcw_i_trace_held held = hpcw_i_trace_request_hold(s, request);
    if (held.handle == NULL) {
        (void)hpcw_i_trace_request_note(s, code, held.key, HPCW_I_TRACE_OTHER, s->comm);
        return;
    }
    held.handle->kind = HPCW_I_TRACE_COMPLETE;
    held.handle->waited = 0;
    held.handle->comm = hpcw_i_trace_request_comm(NULL);
    hpcw_i_trace_request_keep(&held);
}

/* Records a request that completed without an error. */
static void record(struct hpcw_i_trace_span *s, const struct hpcw_i_trace_handle *h, const MPI_Status *status) {
    if (h->kind == HPCW_I_TRACE_DUPLICATE) {
        hpcw_i_trace_comm_duplicated(
            (struct hpcw_i_trace_duplicate){h->comm, h->as.duplicate.number, h->as.duplicate.kind},
            h->as.duplicate.made != NULL ? HPCW_I_TRACE_KEY(*(const MPI_Comm *)h->as.duplicate.made)
                                         : h->as.duplicate.key);
        return;
    }
    int cancelled = 0;
    if (h->cancelled) {
        (void)REAL(MPI_Test_cancelled)(status, &cancelled);
    }
    hpcw_clog2_timeline *timeline = hpcw_i_trace_timeline(s->thread);
    if (h->waited == 0 || cancelled || timeline == NULL) {
        return;
    }
    hpcw_i_trace_state_use(h->waited);
    /* Read the clock once: the state for the receive has no length, and the call that waited ends at the same
     * time. */
    uint64_t now = s->now = hpcw_clog2_timeline_clock(timeline);
    uint64_t word = hpcw_clog2_timeline_word(HPCW_CLOG2_BARE, h->comm.own, 2 * h->waited);
    hpcw_clog2_timeline_put(timeline, now, word);
    if (h->kind == HPCW_I_TRACE_EXCHANGE) {
        hpcw_i_trace_message_received(timeline, now, h->comm, h->as.message.peer, h->as.message.tag,
                                      h->as.message.size);
    } else {
        hpcw_i_trace_message_received(timeline, now, h->comm, status->MPI_SOURCE, status->MPI_TAG,
                                      hpcw_i_trace_message_got(status));
    }
    hpcw_clog2_timeline_put(timeline, now, word + 1);
}

void hpcw_i_trace_request_completed(struct hpcw_i_trace_span *s, const struct hpcw_i_trace_held *held, int code,
                                    const MPI_Status *status) {
    struct hpcw_i_trace_handle *h = held->handle;
    if (code == MPI_SUCCESS || (h->waited != 0 && hpcw_i_trace_message_taken(code))) {
        record(s, h, status);
    }
    if (h->kind >= HPCW_I_TRACE_PERSISTENT_RECEIVE) {
        h->waited = 0; /* a persistent request is inactive until it is started again */
        h->cancelled = false;
        hpcw_i_trace_request_keep(held);
    } else {
        hpcw_i_trace_handle_drop(h);
    }
}
