/* SPDX-License-Identifier: BSD-3-Clause */
/* A span: a call of MPI by the program, from its begin to its end. */
#ifndef HPCW_TRACE_SPAN_H
#define HPCW_TRACE_SPAN_H

#include "libwriter/trace/comms.h"
#include "libwriter/trace/session.h"
#include "libwriter/trace/states.h"

struct hpcw_i_trace_span {
    struct hpcw_i_trace_thread *thread;
    hpcw_clog2_timeline *timeline; /* timeline of the thread; NULL: the call is not recorded */
    /* communicator on which the call is shown; set only if the call is recorded */
    struct hpcw_i_trace_comm comm;
    uint64_t begin; /* the timeline's clock at the begin of the call */
    uint64_t *sent; /* place of the messages that the call sends, if it is recorded and may send */
    uint64_t word;  /* word that describes the record of the begin; the end has `word` + 1 */
    uint64_t now;   /* clock of the last record after MPI's function returned; 0: there is no such record */
};

/* How far ahead of the next record the memory of later records is prefetched, words. */
enum { HPCW_I_TRACE_AHEAD = 64 };

/* Opens the span of a call. If span.timeline is not NULL, the caller must then call hpcw_i_trace_span_show. */
static inline struct hpcw_i_trace_span hpcw_i_trace_span_open(int32_t state) {
    struct hpcw_i_trace_span s = {.thread = &hpcw_i_trace_thread};
    bool recorded = s.thread->depth++ == 0 &&
                    atomic_load_explicit(&hpcw_i_trace_states.active[state], memory_order_relaxed) != 0;
    if (__builtin_expect(recorded, true)) { /* the hint keeps the instructions for a recorded call together */
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

/* Begins a call on a file or window, as hpcw_i_trace_span_begin does. `key` is the handle of the file or
 * window. */
static inline struct hpcw_i_trace_span hpcw_i_trace_span_begin_on(int32_t state, uintptr_t key) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_open(state);
    if (s.timeline != NULL) {
        hpcw_i_trace_span_show(&s, state, hpcw_i_trace_comm_of_owned(key));
    }
    return s;
}

/* Ends a recorded call at time `now` of the timeline's clock. Returns `code`, the result of the call. */
static inline int hpcw_i_trace_span_end_at(const struct hpcw_i_trace_span *s, uint64_t now, int code) {
    hpcw_clog2_timeline_put(s->timeline, now, s->word + 1);
    s->thread->depth--;
    return code;
}

/* Ends a call. Returns `code`, the result of the call. */
static inline int hpcw_i_trace_span_end(const struct hpcw_i_trace_span *s, int code) {
    if (__builtin_expect(s->timeline != NULL, true)) {
        return hpcw_i_trace_span_end_at(s, s->now != 0 ? s->now : hpcw_clog2_timeline_clock(s->timeline), code);
    }
    s->thread->depth--;
    return code;
}

/* Ends a recorded call with cargo (data). Returns `code`, the result of the call. */
static inline int hpcw_i_trace_span_end_with(const struct hpcw_i_trace_span *s, int code,
                                             const hpcw_clog2_cargo *cargo) {
    hpcw_clog2_log_cargo(s->timeline, s->comm.own, (int32_t)(uint32_t)s->word + 1, cargo);
    s->thread->depth--;
    return code;
}

/* Returns whether the program made this call, not MPI itself, and the tables of handles are kept. Handles are
 * put into the tables even if the call is not recorded. */
static inline bool hpcw_i_trace_span_follows(const struct hpcw_i_trace_span *s) {
    return s->thread->depth == 1 && hpcw_i_trace_following();
}

#endif
