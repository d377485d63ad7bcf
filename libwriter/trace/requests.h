/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests whose completion is recorded: receives, matched receives, persistent requests, and communicators that
 * MPI duplicates in the background. Other sends are recorded when they are posted. They are only followed on
 * communicators other than the world. The table also has the messages that a probe has matched.
 *
 * A receive is recorded if the call that posted it was, even if recording stops before it completes. If all
 * processes switch recording at the same point between posting and waiting, the log then has both ends of every
 * message. If one end were missing, viewers would pair all later messages wrongly.
 */
#ifndef HPCW_TRACE_REQUESTS_H
#define HPCW_TRACE_REQUESTS_H

#include "libwriter/trace/handles.h"
#include "libwriter/trace/span.h"

enum hpcw_i_trace_request_kind {
    HPCW_I_TRACE_RECEIVE,
    HPCW_I_TRACE_EXCHANGE,  /* of MPI_Isendrecv: a receive whose source and tag are those of the call */
    HPCW_I_TRACE_MESSAGE,   /* a matched message whose receive has not begun */
    HPCW_I_TRACE_DUPLICATE, /* a communicator that MPI_Comm_idup makes */
    HPCW_I_TRACE_OTHER,     /* any other request, whose completion is not recorded */
    /* Entries of the following kinds stay when a request completes. */
    HPCW_I_TRACE_PERSISTENT_RECEIVE,
    HPCW_I_TRACE_PERSISTENT_SEND,
    HPCW_I_TRACE_PERSISTENT_OTHER,
    HPCW_I_TRACE_COMPLETE /* the one handle of all requests that are complete when MPI returns them */
};

extern struct hpcw_i_trace_handles hpcw_i_trace_requests;

/* Returns the entry of a request that is passed to call `s`. NULL if there is none, or if the program did not make
 * the call. */
static inline struct hpcw_i_trace_handle *hpcw_i_trace_request_find(const struct hpcw_i_trace_span *s,
                                                                    uintptr_t key) {
    return hpcw_i_trace_span_follows(s) ? hpcw_i_trace_handles_find(&hpcw_i_trace_requests, key) : NULL;
}

/* Adds a request that call `s` has made. Returns NULL if there is nothing to add, or no memory. */
struct hpcw_i_trace_handle *hpcw_i_trace_request_note(const struct hpcw_i_trace_span *s, int code,
                                                      uintptr_t key, enum hpcw_i_trace_request_kind kind,
                                                      struct hpcw_i_trace_comm comm);

/* Does the same for a request on a communicator of MPI. */
static inline struct hpcw_i_trace_handle *hpcw_i_trace_request_note_on(const struct hpcw_i_trace_span *s,
                                                                       int code, uintptr_t key,
                                                                       enum hpcw_i_trace_request_kind kind,
                                                                       MPI_Comm comm) {
    return hpcw_i_trace_span_follows(s)
               ? hpcw_i_trace_request_note(s, code, key, kind, hpcw_i_trace_comm_of(comm))
               : NULL;
}

/* ---- requests in a call that may complete them ------------------------------------------------------------ */

struct hpcw_i_trace_held {
    struct hpcw_i_trace_handle *handle; /* NULL: the request is not followed */
    uintptr_t key;
};

static inline struct hpcw_i_trace_held hpcw_i_trace_request_hold(const struct hpcw_i_trace_span *s,
                                                                 MPI_Request request) {
    struct hpcw_i_trace_held held = {.key = HPCW_I_TRACE_KEY(request)};
    held.handle = request == MPI_REQUEST_NULL ? NULL : hpcw_i_trace_request_find(s, held.key);
    if (held.handle != NULL && !hpcw_i_trace_handle_hide(held.handle, held.key)) {
        held.handle = NULL;
    }
    return held;
}

/* Returns the communicator that a call for one request is shown on. */
static inline struct hpcw_i_trace_comm hpcw_i_trace_request_comm(const struct hpcw_i_trace_handle *h) {
    return h == NULL ? (struct hpcw_i_trace_comm){HPCW_I_TRACE_WORLD, HPCW_I_TRACE_WORLD} : h->comm;
}

/* Begins a call that may complete one request, and holds the request's entry. */
static inline struct hpcw_i_trace_span hpcw_i_trace_request_begin(int32_t state, MPI_Request request,
                                                                  struct hpcw_i_trace_held *held) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_open(state);
    *held = hpcw_i_trace_request_hold(&s, request);
    if (s.timeline != NULL) {
        hpcw_i_trace_span_show(&s, state, hpcw_i_trace_request_comm(held->handle));
    }
    return s;
}

/* Begins another call on a request. *handle becomes its entry, or NULL. */
static inline struct hpcw_i_trace_span hpcw_i_trace_request_use(int32_t state, MPI_Request request,
                                                                struct hpcw_i_trace_handle **handle) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_open(state);
    *handle = hpcw_i_trace_request_find(&s, HPCW_I_TRACE_KEY(request));
    if (s.timeline != NULL) {
        hpcw_i_trace_span_show(&s, state, hpcw_i_trace_request_comm(*handle));
    }
    return s;
}

/* Ends the hold of a request that has not completed. */
static inline void hpcw_i_trace_request_keep(const struct hpcw_i_trace_held *held) {
    if (held->handle != NULL) {
        hpcw_i_trace_handle_show(held->handle, held->key);
    }
}

/*
 * Notes a request that a recorded call has started, so that waits for it are shown on its communicator. Waits for
 * an unknown request are shown on the world, so requests on the world need no note.
 */
void hpcw_i_trace_request_note_other(const struct hpcw_i_trace_span *s, int code, MPI_Request request);
static inline void hpcw_i_trace_request_belongs(const struct hpcw_i_trace_span *s, int code,
                                                const MPI_Request *request) {
    if (request != NULL && s->timeline != NULL && s->comm.own != HPCW_I_TRACE_WORLD) {
        hpcw_i_trace_request_note_other(s, code, *request);
    }
}

/* Ends a request that has completed, successfully or not. The entry of a persistent request stays. */
void hpcw_i_trace_request_completed(struct hpcw_i_trace_span *s, const struct hpcw_i_trace_held *held, int code,
                                    const MPI_Status *status);

static inline void hpcw_i_trace_request_release(struct hpcw_i_trace_span *s,
                                                const struct hpcw_i_trace_held *held, int code,
                                                const MPI_Status *status) {
    if (held->handle != NULL) {
        hpcw_i_trace_request_completed(s, held, code, status);
    }
}

#endif
