/* SPDX-License-Identifier: BSD-3-Clause */
/* A call that the program makes, from its begin to its end. */
#ifndef HPCW_TRACE_SPAN_H
#define HPCW_TRACE_SPAN_H

#include "libwriter/trace/comms.h"
#include "libwriter/trace/session.h"
#include "libwriter/trace/states.h"

struct hpcw_i_trace_span {
    struct hpcw_i_trace_thread *thread;
    hpcw_clog2_timeline *timeline; /* NULL: not recorded */
    struct hpcw_i_trace_comm comm; /* if it is recorded */
    int32_t state;
};

static inline struct hpcw_i_trace_span hpcw_i_trace_span_begin(int32_t state, MPI_Comm comm) {
    struct hpcw_i_trace_span s = {.thread = &hpcw_i_trace_thread, .state = state};
    if (s.thread->depth++ == 0 &&
        atomic_load_explicit(&hpcw_i_trace_states.active[state], memory_order_relaxed) != 0) {
        s.timeline = hpcw_i_trace_timeline(s.thread);
    }
    if (s.timeline != NULL) {
        hpcw_i_trace_state_use(state);
        s.comm = hpcw_i_trace_comm_of(comm);
        hpcw_clog2_log_begin(s.timeline, s.comm.own, state);
    }
    return s;
}

/* Returns `code`, the result of the call. */
static inline int hpcw_i_trace_span_end(const struct hpcw_i_trace_span *s, int code) {
    if (s->timeline != NULL) {
        hpcw_clog2_log_end(s->timeline, s->comm.own, s->state);
    }
    s->thread->depth--;
    return code;
}

/* The same with cargo, for a call that is recorded. */
static inline int hpcw_i_trace_span_end_with(const struct hpcw_i_trace_span *s, int code,
                                             const hpcw_clog2_cargo *cargo) {
    hpcw_clog2_log_cargo(s->timeline, s->comm.own, 2 * s->state + 1, cargo); /* the event of its end */
    s->thread->depth--;
    return code;
}

/* Whether the program made this call, not MPI, and handles are followed: then the handles that it makes or completes
 * are noted, whether it is recorded or not. */
static inline bool hpcw_i_trace_span_follows(const struct hpcw_i_trace_span *s) {
    return s->thread->depth == 1 && atomic_load_explicit(&hpcw_i_trace_session.following, memory_order_relaxed);
}

#endif
