/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that make and free communicators. */
#include "libwriter/trace/requests.h"
#include "libwriter/trace/span.h"

static int end_made(const struct hpcw_i_trace_span *s, int code, MPI_Comm parent, const MPI_Comm *made) {
    if (code == MPI_SUCCESS && hpcw_i_trace_span_follows(s)) {
        hpcw_i_trace_comm_made(s->thread, parent, *made);
    }
    return hpcw_i_trace_span_end(s, code);
}

#define MAKES(state, class, colour, parent, function, prototype, arguments)                                    \
    int function prototype {                                                                                   \
        struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(state, parent);                                   \
        return end_made(&s, REAL(function) arguments, parent, made);                                           \
    }
#include "libwriter/trace/calls.h"

static struct hpcw_i_trace_span begin_idup(MPI_Comm comm, struct hpcw_i_trace_duplicate *duplicate) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Comm_idup, comm);
    *duplicate = (struct hpcw_i_trace_duplicate){0};
    if (hpcw_i_trace_span_follows(&s)) {
        *duplicate = hpcw_i_trace_comm_duplicate(s.thread, comm);
    }
    return s;
}

static int end_idup(const struct hpcw_i_trace_span *s, int code, struct hpcw_i_trace_duplicate duplicate,
                    const MPI_Comm *made, const MPI_Request *request) {
    struct hpcw_i_trace_handle *h =
        hpcw_i_trace_request_note(s, code, HPCW_I_TRACE_KEY(*request), HPCW_I_TRACE_DUPLICATE, duplicate.comm);
    if (h != NULL) {
        h->as.duplicate.number = duplicate.number;
        h->as.duplicate.kind = duplicate.kind;
        h->as.duplicate.made = s->thread->binding ? NULL : made;
        h->as.duplicate.key = HPCW_I_TRACE_KEY(*made);
    }
    return hpcw_i_trace_span_end(s, code);
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request) {
    struct hpcw_i_trace_duplicate duplicate;
    struct hpcw_i_trace_span s = begin_idup(comm, &duplicate);
    return end_idup(&s, REAL(MPI_Comm_idup)(comm, made, request), duplicate, made, request);
}

#if HPCW_I_HAVE_PARTITIONED
int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *made, MPI_Request *request) {
    struct hpcw_i_trace_duplicate duplicate;
    struct hpcw_i_trace_span s = begin_idup(comm, &duplicate);
    return end_idup(&s, REAL(MPI_Comm_idup_with_info)(comm, info, made, request), duplicate, made, request);
}
#endif

/*
 * Frees a communicator. Its entry is reserved meanwhile, as MPI may give an equal handle to another thread
 * before the call returns. This also holds in MPI's callbacks, in which a program may free communicators that
 * are attributes of another one.
 */
static int leave(const struct hpcw_i_trace_span *s, MPI_Comm *comm, int (*call)(MPI_Comm *)) {
    uintptr_t key = HPCW_I_TRACE_KEY(*comm);
    struct hpcw_i_trace_handle *h = hpcw_i_trace_following() ? hpcw_i_trace_comm_find(*comm) : NULL;
    if (h != NULL && !hpcw_i_trace_handle_hide(h, key)) {
        h = NULL;
    }
    int code = call(comm);
    if (h != NULL && code == MPI_SUCCESS) {
        hpcw_i_trace_comm_freed(s->thread, h);
    } else if (h != NULL) {
        hpcw_i_trace_handle_show(h, key);
    }
    return hpcw_i_trace_span_end(s, code);
}

int MPI_Comm_free(MPI_Comm *comm) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Comm_free, *comm);
    return leave(&s, comm, REAL(MPI_Comm_free));
}

int MPI_Comm_disconnect(MPI_Comm *comm) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Comm_disconnect, *comm);
    return leave(&s, comm, REAL(MPI_Comm_disconnect));
}
