/* SPDX-License-Identifier: BSD-3-Clause */
/* A call of the program, from its begin to its end. */
#ifndef HPCW_TRACE_SPAN_H
#define HPCW_TRACE_SPAN_H

#include "libwriter/trace/comms.h"
#include "libwriter/trace/session.h"
#include "libwriter/trace/states.h"

struct hpcw_i_trace_span {
    struct hpcw_i_trace_thread *thread;
    hpcw_clog2_timeline *timeline; /* NULL: the call is not recorded */
    struct hpcw_i_trace_comm comm; /* set only if the call is recorded */
    uint64_t begin;                /* clock at the begin of the call */
    uint64_t word;                 /* word of the record of the begin; that of the end is one more */
    uint64_t now;                  /* the clock at the last record after MPI's call; 0: there is none */
};

/* Distance in words from the next record to the cache line that is prefetched for later records. */
enum { HPCW_I_TRACE_AHEAD = 64 };

/* Opens the span of a call of the program. A call that is recorded must then be shown. */
static inline struct hpcw_i_trace_span hpcw_i_trace_span_open(int32_t state) {
    struct hpcw_i_trace_span s = {.thread = &hpcw_i_trace_thread};
    bool recorded = s.thread->depth++ == 0 &&
                    atomic_load_explicit(&hpcw_i_trace_states.active[state], memory_order_relaxed) != 0;
    if (__builtin_expect(recorded, true)) { /* the hint keeps the code of a recorded call in one piece */
        s.timeline = hpcw_i_trace_timeline(s.thread);
    }
    return s;
}

static inline void hpcw_i_trace_span_show(struct hpcw_i_trace_span *s, int32_t state,
                                          struct hpcw_i_trace_comm comm) {
    hpcw_i_trace_state_use(state);
    s->comm = comm;
    s->word = hpcw_clog2_timeline_word(HPCW_CLOG2_BARE, comm.own, 2 * state);
    __builtin_prefetch(s->timeline->next + HPCW_I_TRACE_AHEAD, 1);
    s->begin = hpcw_clog2_timeline_clock(s->timeline);
    hpcw_clog2_timeline_put(s->timeline, s->begin, s->word);
}

static inline struct hpcw_i_trace_span hpcw_i_trace_span_begin(int32_t state, MPI_Comm comm) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_open(state);
    if (__builtin_expect(s.timeline != NULL, true)) {
        hpcw_i_trace_span_show(&s, state, hpcw_i_trace_comm_of(comm));
    }
    return s;
}

/* Does the same for a call on a file or a window, which belongs to a communicator. */
static inline struct hpcw_i_trace_span hpcw_i_trace_span_begin_on(int32_t state, uintptr_t key) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_open(state);
    if (s.timeline != NULL) {
        hpcw_i_trace_span_show(&s, state, hpcw_i_trace_comm_of_owned(key));
    }
    return s;
}

/* Ends a recorded call at the clock `now`. Returns `code`, its result. */
static inline int hpcw_i_trace_span_end_at(const struct hpcw_i_trace_span *s, uint64_t now, int code) {
    hpcw_clog2_timeline_put(s->timeline, now, s->word + 1);
    s->thread->depth--;
    return code;
}

/* Ends a call. Returns `code`, its result. */
static inline int hpcw_i_trace_span_end(const struct hpcw_i_trace_span *s, int code) {
    if (__builtin_expect(s->timeline != NULL, true)) {
        return hpcw_i_trace_span_end_at(s, s->now != 0 ? s->now : hpcw_clog2_timeline_clock(s->timeline), code);
    }
    s->thread->depth--;
    return code;
}

/* Does the same with cargo, for a recorded call. */
static inline int hpcw_i_trace_span_end_with(const struct hpcw_i_trace_span *s, int code,
                                             const hpcw_clog2_cargo *cargo) {
    hpcw_clog2_log_cargo(s->timeline, s->comm.own, (int32_t)(uint32_t)s->word + 1, cargo);
    s->thread->depth--;
    return code;
}

/* Returns whether the program made this call, not MPI, and handles are followed. Then the handles that it makes or
 * completes are noted, even if the call is not recorded. */
static inline bool hpcw_i_trace_span_follows(const struct hpcw_i_trace_span *s) {
    return s->thread->depth == 1 && hpcw_i_trace_following();
}

#endif
