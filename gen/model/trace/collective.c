/* SPDX-License-Identifier: BSD-3-Clause */
/* When ranks leave collective calls. */
#include "gen/model/load/system.h"
#include "gen/model/trace/track.h"

/* How late a rank leaves, the median; and what a rank that the system held while it waited is late, at least: the tail of
 * doc/realism.md, "Calls". */
enum { EXIT_NS = 450, HELD_NS = 5000 };

/* The share of those, and the part of them that the shortest one has of the longest one. */
static const double held_share = 0.025, held_reach = 0.995;

/* What is late by less does not delay the ranks below it in the tree: it had sent before. */
enum { AHEAD_NS = 4000 };

void model_trace_draw(const struct model_trace *m, enum hpcw_i_purpose purpose, uint32_t first, uint32_t count,
                      uint32_t iteration, uint32_t part, uint32_t words, uint32_t *word) {
    uint32_t number[MODEL_TRACE_AT_ONCE];
    for (uint32_t i = 0; i < count; i++) {
        number[i] = first + i;
    }
    m->load->lanes->words(&(struct model_draws){m->load->seed, purpose, count, number, iteration, part}, words,
                          word);
}

uint64_t model_trace_last(const struct model_trace *m, const struct model_trace_scratch *s) {
    uint64_t last = 0;
    for (uint32_t r = 0; r < m->ranks; r++) {
        last = s->now[r] > last ? s->now[r] : last;
    }
    return last + 1;
}

uint64_t model_trace_late_ns(const struct model_trace *m, double median_ns, uint32_t word) {
    const double late = model_trace_late(m->delays->call, word);
    return (uint64_t)(median_ns * (late < MODEL_TRACE_MOST_LATE ? late : MODEL_TRACE_MOST_LATE));
}

/* Mostly 0: how long the system holds a rank back that others do not wait for. */
static uint64_t held_ns(const struct model_trace *m, uint32_t whether, uint32_t away) {
    const uint64_t threshold = hpcw_i_threshold(held_share);
    const double part = (double)whether / (double)threshold;
    return model_load_absence(m->load, away) +
           (whether < threshold ? (uint64_t)(HELD_NS / (1 - held_reach * part)) : 0);
}

/* Some calls take longer for all ranks. One that is held is as likely to have sent the result on before as after it. */
void model_trace_leave(const struct model_trace *m, enum hpcw_i_purpose purpose, uint32_t iteration,
                       uint64_t last, uint64_t *time_ns) {
    uint32_t word[4 * MODEL_TRACE_AT_ONCE];
    hpcw_i_draw(m->load->seed, purpose, 0, iteration, 1, word);
    last += m->guard_ns + model_trace_late_ns(m, (double)m->guard_ns / 4, word[0]);
    for (uint32_t first = 0, count; first < m->ranks; first += count) {
        count = batch_of(first, m->ranks);
        model_trace_draw(m, purpose, first, count, iteration, 0, 4, word);
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t r = first + i;
            const uint64_t depth_ns = (uint64_t)__builtin_popcount(r) * m->hop_ns / 2;
            time_ns[r] = last + depth_ns + model_trace_late_ns(m, 0.25 * (double)depth_ns, word[count + i]) +
                         model_trace_late_ns(m, EXIT_NS, word[i]) +
                         held_ns(m, word[2 * count + i], word[3 * count + i]);
            const uint64_t above = r > 0 && (word[i] & 1) ? time_ns[model_trace_parent(r)] : 0;
            time_ns[r] = time_ns[r] + AHEAD_NS > above ? time_ns[r] : above - AHEAD_NS;
        }
    }
}

void model_trace_exits(const struct model_trace *m, uint32_t iteration, uint64_t *time_ns) {
    model_trace_leave(m, HPCW_I_FOR_TRACE_EXIT, iteration, 0, time_ns);
}

void model_trace_barrier_exits(const struct model_trace *m, uint32_t iteration, uint64_t *time_ns) {
    model_trace_leave(m, HPCW_I_FOR_TRACE_BARRIER, iteration, 0, time_ns);
}
