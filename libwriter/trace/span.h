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
    uint64_t begin;                /* its clock */
    uint64_t now;                  /* the clock at the last record after MPI's call; 0: there is none */
    int32_t state;
};

/* The program calls. A call that is recorded must then be shown. */
static inline struct hpcw_i_trace_span hpcw_i_trace_span_open(int32_t state) {
    struct hpcw_i_trace_span s = {.thread = &hpcw_i_trace_thread, .state = state};
    if (s.thread->depth++ == 0 &&
        atomic_load_explicit(&hpcw_i_trace_states.active[state], memory_order_relaxed) != 0) {
        s.timeline = hpcw_i_trace_timeline(s.thread);
    }
    return s;
}

static inline void hpcw_i_trace_span_show(struct hpcw_i_trace_span *s, struct hpcw_i_trace_comm comm) {
    hpcw_i_trace_state_use(s->state);
    s->comm = comm;
    s->begin = hpcw_clog2_timeline_clock(s->timeline);
    hpcw_clog2_timeline_put(s->timeline, s->begin,
                            hpcw_clog2_timeline_word(HPCW_CLOG2_BARE, comm.own, 2 * s->state));
}

static inline struct hpcw_i_trace_span hpcw_i_trace_span_begin(int32_t state, MPI_Comm comm) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_open(state);
    if (s.timeline != NULL) {
        hpcw_i_trace_span_show(&s, hpcw_i_trace_comm_of(comm));
    }
    return s;
}

/* The same for a call on a file or a window, which belongs to a communicator. */
static inline struct hpcw_i_trace_span hpcw_i_trace_span_begin_on(int32_t state, uintptr_t key) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_open(state);
    if (s.timeline != NULL) {
        hpcw_i_trace_span_show(&s, hpcw_i_trace_comm_of_owned(key));
    }
    return s;
}

/* The end of a call that is recorded, when the clock said `now`. Returns `code`, its result. */
static inline int hpcw_i_trace_span_end_at(const struct hpcw_i_trace_span *s, uint64_t now, int code) {
    hpcw_clog2_timeline_put(s->timeline, now,
                            hpcw_clog2_timeline_word(HPCW_CLOG2_BARE, s->comm.own, 2 * s->state + 1));
    s->thread->depth--;
    return code;
}

/* Returns `code`, the result of the call. */
static inline int hpcw_i_trace_span_end(const struct hpcw_i_trace_span *s, int code) {
    if (s->timeline != NULL) {
        return hpcw_i_trace_span_end_at(s, s->now != 0 ? s->now : hpcw_clog2_timeline_clock(s->timeline), code);
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
    return s->thread->depth == 1 && hpcw_i_trace_following();
}

#endif
