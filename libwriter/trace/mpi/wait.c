/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that wait for requests or test them. */
#include "libwriter/base/mem.h"
#include "libwriter/trace/requests.h"
#include "libwriter/trace/span.h"

/* ------------------------------------------------------------------------------------------------------------
 *  One request
 * --------------------------------------------------------------------------------------------------------- */

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    MPI_Status own;
    struct hpcw_i_trace_held held;
    struct hpcw_i_trace_span s = hpcw_i_trace_request_begin(HPCW_I_STATE_MPI_Wait, *request, &held);
    status = held.handle != NULL && status == MPI_STATUS_IGNORE ? &own : status;
    int code = REAL(MPI_Wait)(request, status);
    hpcw_i_trace_request_release(&s, &held, code, status);
    return hpcw_i_trace_span_end(&s, code);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    MPI_Status own;
    struct hpcw_i_trace_held held;
    struct hpcw_i_trace_span s = hpcw_i_trace_request_begin(HPCW_I_STATE_MPI_Test, *request, &held);
    status = held.handle != NULL && status == MPI_STATUS_IGNORE ? &own : status;
    int code = REAL(MPI_Test)(request, flag, status);
    if (code == MPI_SUCCESS && !*flag) {
        hpcw_i_trace_request_keep(&held);
    } else {
        hpcw_i_trace_request_release(&s, &held, code, status);
    }
    return hpcw_i_trace_span_end(&s, code);
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
    struct hpcw_i_trace_handle *h;
    struct hpcw_i_trace_span s = hpcw_i_trace_request_use(HPCW_I_STATE_MPI_Request_get_status, request, &h);
    return hpcw_i_trace_span_end(&s, REAL(MPI_Request_get_status)(request, flag, status));
}

/* ------------------------------------------------------------------------------------------------------------
 *  Many requests
 * --------------------------------------------------------------------------------------------------------- */

enum { FEW = 32 }; /* largest number of requests for which no memory is allocated */

struct held_batch {
    struct hpcw_i_trace_held few[FEW];
    MPI_Status few_statuses[FEW];
    /* [count] reserved entries of the requests; NULL: none of them is in the table */
    struct hpcw_i_trace_held *held;
    /* [count] statuses of the program, or of the wrapper if the program passes none */
    MPI_Status *statuses;
    bool own;
};

static struct hpcw_i_trace_handle *find(const struct hpcw_i_trace_span *s, MPI_Request request) {
    return request == MPI_REQUEST_NULL ? NULL : hpcw_i_trace_request_find(s, HPCW_I_TRACE_KEY(request));
}

/* Removes the requests of a call from the table, as memory has run out. */
static void forget(const struct hpcw_i_trace_span *s, struct held_batch *b, int count,
                   const MPI_Request *requests) {
    for (int i = 0; i < count; i++) {
        struct hpcw_i_trace_handle *h = find(s, requests[i]);
        if (h != NULL) {
            hpcw_i_trace_forgot();
            hpcw_i_trace_handle_drop(h);
        }
    }
    b->held = NULL;
}

/* Shows the call on the communicator of its requests, or on MPI_COMM_WORLD if they have different ones. Requests
 * that were complete at once do not count. */
static void show(struct hpcw_i_trace_span *s, int32_t state, int count, const MPI_Request *requests) {
    struct hpcw_i_trace_comm comm = hpcw_i_trace_request_comm(NULL);
    bool any = false;
    for (int i = 0; i < count; i++) {
        const struct hpcw_i_trace_handle *h = find(s, requests[i]);
        if (requests[i] == MPI_REQUEST_NULL || (h != NULL && h->kind == HPCW_I_TRACE_COMPLETE)) {
            continue;
        }
        struct hpcw_i_trace_comm its = hpcw_i_trace_request_comm(h);
        comm = any && its.own != comm.own ? hpcw_i_trace_request_comm(NULL) : its;
        any = true;
        if (comm.own == HPCW_I_TRACE_WORLD) {
            break;
        }
    }
    hpcw_i_trace_span_show(s, state, comm);
}

/* Begins a call for several requests and reserves their entries in the table. */
static struct hpcw_i_trace_span hold_all(int32_t state, struct held_batch *b, int count,
                                         const MPI_Request *requests, MPI_Status *statuses) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_open(state);
    b->statuses = statuses;
    b->held = NULL;
    b->own = false;
    int first = 0;
    while (first < count && find(&s, requests[first]) == NULL) {
        first++;
    }
    if (s.timeline != NULL) {
        show(&s, state, count, requests);
    }
    if (first >= count) {
        return s;
    }
    size_t n = (size_t)count;
    b->held = count <= FEW ? b->few : hpcw_i_malloc(n * sizeof *b->held);
    if (b->held == NULL) {
        forget(&s, b, count, requests);
        return s;
    }
    if (statuses == MPI_STATUSES_IGNORE) {
        b->own = true;
        b->statuses = count <= FEW ? b->few_statuses : hpcw_i_malloc(n * sizeof *b->statuses);
        if (b->statuses == NULL) {
            b->statuses = statuses;
            hpcw_i_free(b->held); /* count > FEW, so it was allocated */
            forget(&s, b, count, requests);
            return s;
        }
    }
    for (int i = 0; i < count; i++) {
        b->held[i] = hpcw_i_trace_request_hold(&s, requests[i]);
    }
    return s;
}

static void free_batch(struct held_batch *b, int count) {
    if (b->held != NULL && count > FEW) {
        hpcw_i_free(b->held);
        if (b->own) {
            hpcw_i_free(b->statuses);
        }
    }
}

/* Records the completion of one of several requests. If the call returned MPI_ERR_IN_STATUS, the request's
 * error code is in its status. */
static void settle(struct hpcw_i_trace_span *s, const struct hpcw_i_trace_held *held, int code,
                   const MPI_Status *status) {
    int own = code == MPI_ERR_IN_STATUS ? status->MPI_ERROR : code;
    if (own == MPI_ERR_PENDING) {
        hpcw_i_trace_request_keep(held);
    } else {
        hpcw_i_trace_request_release(s, held, own, status);
    }
}

static void settle_all(struct hpcw_i_trace_span *s, struct held_batch *b, int count, int code) {
    for (int i = 0; b->held != NULL && i < count; i++) {
        settle(s, &b->held[i], code, &b->statuses[i]);
    }
    free_batch(b, count);
}

/* Records the completion of the `n` requests with indices `index`. Their statuses have the same order. The
 * other requests have not completed. */
static void settle_some(struct hpcw_i_trace_span *s, struct held_batch *b, int count, int code, int n,
                        const int *index) {
    if (b->held == NULL) {
        return;
    }
    for (int i = 0; n != MPI_UNDEFINED && i < n; i++) {
        settle(s, &b->held[index[i]], code, &b->statuses[i]);
        b->held[index[i]].handle = NULL;
    }
    for (int i = 0; i < count; i++) {
        hpcw_i_trace_request_keep(&b->held[i]);
    }
    free_batch(b, count);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    struct held_batch b;
    struct hpcw_i_trace_span s = hold_all(HPCW_I_STATE_MPI_Waitall, &b, count, requests, statuses);
    int code = REAL(MPI_Waitall)(count, requests, b.statuses);
    settle_all(&s, &b, count, code);
    return hpcw_i_trace_span_end(&s, code);
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    struct held_batch b;
    struct hpcw_i_trace_span s = hold_all(HPCW_I_STATE_MPI_Testall, &b, count, requests, statuses);
    int code = REAL(MPI_Testall)(count, requests, flag, b.statuses);
    if (code == MPI_SUCCESS && !*flag) {
        settle_some(&s, &b, count, code, 0, NULL);
    } else {
        settle_all(&s, &b, count, code);
    }
    return hpcw_i_trace_span_end(&s, code);
}

int MPI_Waitsome(int count, MPI_Request requests[], int *n, int indices[], MPI_Status statuses[]) {
    struct held_batch b;
    struct hpcw_i_trace_span s = hold_all(HPCW_I_STATE_MPI_Waitsome, &b, count, requests, statuses);
    int code = REAL(MPI_Waitsome)(count, requests, n, indices, b.statuses);
    settle_some(&s, &b, count, code, code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS ? *n : 0, indices);
    return hpcw_i_trace_span_end(&s, code);
}

int MPI_Testsome(int count, MPI_Request requests[], int *n, int indices[], MPI_Status statuses[]) {
    struct held_batch b;
    struct hpcw_i_trace_span s = hold_all(HPCW_I_STATE_MPI_Testsome, &b, count, requests, statuses);
    int code = REAL(MPI_Testsome)(count, requests, n, indices, b.statuses);
    settle_some(&s, &b, count, code, code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS ? *n : 0, indices);
    return hpcw_i_trace_span_end(&s, code);
}

/* Returns 1 if one request has completed, otherwise 0. After an error, `index` may have any value. */
static int is_one(int index, int count) {
    return index >= 0 && index < count;
}

/* This call has one status. If the program passes none, hold_all gets `own`: it would take MPI_STATUS_IGNORE for
 * MPI_STATUSES_IGNORE and allocate an array. */
int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
    struct held_batch b;
    MPI_Status own;
    struct hpcw_i_trace_span s =
        hold_all(HPCW_I_STATE_MPI_Waitany, &b, count, requests, status == MPI_STATUS_IGNORE ? &own : status);
    status = b.held != NULL ? b.statuses : status;
    int code = REAL(MPI_Waitany)(count, requests, index, status);
    settle_some(&s, &b, count, code, is_one(*index, count), index);
    return hpcw_i_trace_span_end(&s, code);
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    struct held_batch b;
    MPI_Status own;
    struct hpcw_i_trace_span s =
        hold_all(HPCW_I_STATE_MPI_Testany, &b, count, requests, status == MPI_STATUS_IGNORE ? &own : status);
    status = b.held != NULL ? b.statuses : status;
    int code = REAL(MPI_Testany)(count, requests, index, flag, status);
    settle_some(&s, &b, count, code, code == MPI_SUCCESS && !*flag ? 0 : is_one(*index, count), index);
    return hpcw_i_trace_span_end(&s, code);
}
