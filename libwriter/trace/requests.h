/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of requests. It has those whose completion is recorded: receives, also of matched messages,
 * persistent requests, and communicators that MPI duplicates in the background. Other sends are recorded when
 * they are posted; they are only in the table if their communicator is not MPI_COMM_WORLD. The table also has
 * messages that a probe has matched.
 *
 * A receive is recorded if recording was on when it was posted, even if it is off when the receive completes.
 * If all processes switch recording at the same point between posting and waiting, the log then has both ends
 * of every message. If one end were missing, viewers would pair all later messages wrongly.
 */
#ifndef HPCW_TRACE_REQUESTS_H
#define HPCW_TRACE_REQUESTS_H

#include "libwriter/trace/handles.h"
#include "libwriter/trace/span.h"

enum hpcw_i_trace_request_kind {
    HPCW_I_TRACE_RECEIVE,
    HPCW_I_TRACE_EXCHANGE,  /* receive of MPI_Isendrecv, with the source and tag of the call */
    HPCW_I_TRACE_MESSAGE,   /* message that a probe has matched and that is not yet being received */
    HPCW_I_TRACE_DUPLICATE, /* communicator that MPI_Comm_idup is making */
    HPCW_I_TRACE_OTHER,     /* another request, whose completion is not recorded */
    /* entries of the following kinds stay in the table when the request completes */
    HPCW_I_TRACE_PERSISTENT_RECEIVE,
    HPCW_I_TRACE_PERSISTENT_SEND,
    HPCW_I_TRACE_PERSISTENT_OTHER,
    HPCW_I_TRACE_COMPLETE /* the one handle that MPI returns for every request which is complete at once */
};

extern struct hpcw_i_trace_handles hpcw_i_trace_requests;

/* Returns the entry of a request that was passed to call `s`. NULL if there is none, or if the call was made by
 * MPI itself and not by the program. */
static inline struct hpcw_i_trace_handle *hpcw_i_trace_request_find(const struct hpcw_i_trace_span *s,
                                                                    uintptr_t key) {
    return hpcw_i_trace_span_follows(s) ? hpcw_i_trace_handles_find(&hpcw_i_trace_requests, key) : NULL;
}

/* Adds a request or message of call `s` to the table. Returns NULL if memory runs out, the call failed, or the
 * program did not make it. */
struct hpcw_i_trace_handle *hpcw_i_trace_request_note(const struct hpcw_i_trace_span *s, int code,
                                                      uintptr_t key, enum hpcw_i_trace_request_kind kind,
                                                      struct hpcw_i_trace_comm comm);

/* Adds a request as hpcw_i_trace_request_note does. `comm` is the communicator of the request. */
static inline struct hpcw_i_trace_handle *hpcw_i_trace_request_note_on(const struct hpcw_i_trace_span *s,
                                                                       int code, uintptr_t key,
                                                                       enum hpcw_i_trace_request_kind kind,
                                                                       MPI_Comm comm) {
    return hpcw_i_trace_span_follows(s)
               ? hpcw_i_trace_request_note(s, code, key, kind, hpcw_i_trace_comm_of(comm))
               : NULL;
}

/* ---- requests in a call that may complete them: their entries are reserved during the call ----------------- */

struct hpcw_i_trace_held {
    struct hpcw_i_trace_handle *handle; /* NULL: the request is not in the table */
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

/* Returns the communicator on which a call for one request is shown. `h` is the request's entry, or NULL. */
static inline struct hpcw_i_trace_comm hpcw_i_trace_request_comm(const struct hpcw_i_trace_handle *h) {
    return h == NULL ? (struct hpcw_i_trace_comm){HPCW_I_TRACE_WORLD, HPCW_I_TRACE_WORLD} : h->comm;
}

/* Begins a call that may complete one request, and reserves the request's entry. */
static inline struct hpcw_i_trace_span hpcw_i_trace_request_begin(int32_t state, MPI_Request request,
                                                                  struct hpcw_i_trace_held *held) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_open(state);
    *held = hpcw_i_trace_request_hold(&s, request);
    if (s.timeline != NULL) {
        hpcw_i_trace_span_show(&s, state, hpcw_i_trace_request_comm(held->handle));
    }
    return s;
}

/* Begins a call on a request that cannot complete it. *handle becomes the request's entry, or NULL. */
static inline struct hpcw_i_trace_span hpcw_i_trace_request_use(int32_t state, MPI_Request request,
                                                                struct hpcw_i_trace_handle **handle) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_open(state);
    *handle = hpcw_i_trace_request_find(&s, HPCW_I_TRACE_KEY(request));
    if (s.timeline != NULL) {
        hpcw_i_trace_span_show(&s, state, hpcw_i_trace_request_comm(*handle));
    }
    return s;
}

/* Restores the entry of a request that has not completed. */
static inline void hpcw_i_trace_request_keep(const struct hpcw_i_trace_held *held) {
    if (held->handle != NULL) {
        hpcw_i_trace_handle_show(held->handle, held->key);
    }
}

/* Adds a request that a recorded call has made, so that a wait for it is shown on its communicator. A wait for an
 * unknown request is shown on MPI_COMM_WORLD anyway, so requests on MPI_COMM_WORLD are not added. */
void hpcw_i_trace_request_note_other(const struct hpcw_i_trace_span *s, int code, MPI_Request request);
static inline void hpcw_i_trace_request_belongs(const struct hpcw_i_trace_span *s, int code,
                                                const MPI_Request *request) {
    if (request != NULL && s->timeline != NULL && s->comm.own != HPCW_I_TRACE_WORLD) {
        hpcw_i_trace_request_note_other(s, code, *request);
    }
}

/* Records that a request has completed, successfully or not. Its entry is removed, unless the request is
 * persistent. */
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
