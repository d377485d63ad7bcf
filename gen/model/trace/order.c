/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks, and the order of events by them. */
#include "gen/model/trace/private.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

enum { MOST_BITS = 11, MOST_DIGITS = 3 };

/* A radix sort, least significant digit first: each pass keeps the order of the one before among equal digits. */
uint64_t *model_trace_sort(uint64_t *entry, uint64_t *other, uint64_t count, uint32_t bits) {
    uint32_t start[MOST_DIGITS][1 << MOST_BITS] = {{0}};
    const uint32_t digits = (bits + MOST_BITS - 1) / MOST_BITS;
    const uint32_t width = digits == 0 ? 0 : (bits + digits - 1) / digits;
    const uint32_t mask = ((uint32_t)1 << width) - 1;
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t low = (uint32_t)entry[i];
        start[0][low & mask]++;
        start[1][low >> width & mask]++;
        start[2][low >> 2 * width & mask]++;
    }
    for (uint32_t d = 0; d < digits; d++) {
        uint32_t sum = 0;
        for (uint32_t value = 0; value <= mask; value++) {
            uint32_t here = start[d][value];
            start[d][value] = sum;
            sum += here;
        }
        for (uint64_t i = 0; i < count; i++) {
            other[start[d][(uint32_t)entry[i] >> d * width & mask]++] = entry[i];
        }
        uint64_t *swap = entry;
        entry = other;
        other = swap;
    }
    return entry;
}

/* ---- clocks ---- */

/* A clock shows only every 26th cycle: doc/realism.md, "Calls". */
enum { CYCLES_IN_STEP = 26 };

/* Cycles since a clock of phase 0 made its last step. That of rank 0's host made one when the tracer read it for the first
 * time, which is the microsecond of MODEL_TRACE_ZERO_NS in the log; the clocks of other hosts are compared to a nanosecond, so
 * their steps come at times of their own. */
static uint64_t phase_of(const struct model_trace *m, uint32_t node) {
    uint32_t w[4];
    hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_CLOCK, node, 3, 0, w);
    return node == model_machine_node(m->load->machine, 0)
               ? CYCLES_IN_STEP - model_trace_cycles(m, MODEL_TRACE_ZERO_NS) % CYCLES_IN_STEP
               : w[0] % CYCLES_IN_STEP;
}

static uint64_t shown_at(uint64_t cycle, uint64_t phase) {
    return (cycle + phase) / CYCLES_IN_STEP * CYCLES_IN_STEP - phase;
}

/* By how much the clock of a core is ahead of that of its host: a cycle more or less, or nothing, and a whole step so that
 * it is not negative. An integer hash, as this is asked for in each iteration. */
static uint64_t own_cycle_of(const struct model_trace *m, uint32_t rank) {
    uint32_t x = rank * 2654435769u ^ (uint32_t)m->load->seed;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return CYCLES_IN_STEP - 1 + (rank > 0 ? (x >> 16) % 3 : 1);
}

/* A program that reads the clock itself leaves no event. One in this many of these reads is in the same step as the event after
 * it. */
enum { LOOKS_ONE_IN = 32 };
static bool has_looked(const struct model_trace *m, const struct model_trace_event *e) {
    return model_trace_what_of(e) == m->style.looks &&
           ((uint32_t)(e->time ^ e->rank) * 2654435769u >> 16) % LOOKS_ONE_IN == 0;
}

/* Makes all times those of the ranks' clocks. So that none is negative, clocks that differ are late by the guard, which no
 * error exceeds (model_trace_check_clocks); and events are later than a step. */
static void read_clocks(const struct model_trace *m, const struct model_trace_scratch *s, uint64_t start_ns,
                        uint64_t count) {
    const uint64_t start = model_trace_cycles(m, start_ns);
    const struct model_trace_clock *clock = NULL;
    uint64_t phase = 0;
    uint32_t last_node = UINT32_MAX;
    uint64_t own_cycle = 0;
    uint64_t before_ns = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct model_trace_event *e = &s->event[i];
        const bool begins = i == 0 || e->rank != e[-1].rank;
        const bool same = !begins && e->time == before_ns;
        before_ns = e->time;
        if (begins) {
            const uint32_t node = model_machine_node(m->load->machine, e->rank);
            clock = m->clock == NULL ? NULL : &m->clock[node];
            phase = node == last_node ? phase : phase_of(m, node);
            last_node = node;
            own_cycle = own_cycle_of(m, e->rank);
        }
        uint64_t time_ns = e->time;
        if (clock != NULL) {
            const double wrong = clock->offset_ns + clock->drift * (double)(start_ns + time_ns);
            time_ns = (uint64_t)((int64_t)(time_ns + m->guard_ns) + (int64_t)wrong);
        }
        e->time = shown_at(start + model_trace_cycles(m, time_ns), phase + own_cycle) - start;
        /* What happens within a step gets times of its own: the next cycles. */
        if (!begins && e->time <= e[-1].time) {
            e->time = same ? e[-1].time : e[-1].time + 1;
        } else if (has_looked(m, e)) {
            e->time++;
        }
    }
}

/* Lists the messages that arrive before they are sent. */
static hpcw_status compare_clocks(const struct model_trace *m, struct model_trace_scratch *s,
                                  struct model_trace_run *run, hpcw_error *err) {
    uint64_t *const sent = s->sent;
    uint64_t *const came = hpcw_i_malloc(s->messages * sizeof *came);
    hpcw_status status = came == NULL ? hpcw_i_fail_memory(err, "trace", s->messages, "messages") : HPCW_OK;
    for (uint64_t i = 0; status == HPCW_OK && i < run->count; i++) {
        const uint32_t what = model_trace_what_of(&s->event[i]);
        if (what == MODEL_TRACE_SEND) {
            sent[model_trace_message_of(&s->event[i])] = s->event[i].time;
        } else if (what == MODEL_TRACE_RECEIVE) {
            came[model_trace_message_of(&s->event[i])] = s->event[i].time;
        }
    }
    s->backward.size = 0;
    for (uint32_t i = 0; status == HPCW_OK && i < s->messages; i++) {
        if (came[i] < sent[i]) {
            const struct model_trace_backward b = {s->message[i].from, s->message[i].to,
                                                   (sent[i] - came[i]) * 1000000 / m->clock_khz};
            status = hpcw_i_buf_append(&s->backward, &b, sizeof b)
                         ? HPCW_OK
                         : hpcw_i_fail_memory(err, "trace", 0, "the faults of an iteration");
        }
    }
    hpcw_i_free(came);
    run->backward = (const void *)s->backward.data;
    run->backwards = s->backward.size / sizeof *run->backward;
    return status;
}

/* ---- order ---- */

static uint32_t bits_of(uint64_t x) {
    return x == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(x);
}

static void use_entries(struct model_trace_scratch *s, uint64_t *sorted) {
    if (sorted != s->entry) {
        s->other = s->entry;
        s->entry = sorted;
    }
}

hpcw_status model_trace_order(const struct model_trace *m, struct model_trace_scratch *s, uint64_t start_ns,
                              struct model_trace_run *run, hpcw_error *err) {
    uint64_t last = run->facts.duration_ns;
    hpcw_status status = m->clock != NULL ? model_trace_check_clocks(m, start_ns + last, err) : HPCW_OK;
    if (status == HPCW_OK) {
        read_clocks(m, s, start_ns, run->count);
    }
    if (status == HPCW_OK && m->clock != NULL) {
        status = compare_clocks(m, s, run, err);
        last += 2 * m->guard_ns;
    }
    if (status != HPCW_OK) {
        return status;
    }
    for (uint64_t i = 0; i < run->count; i++) {
        s->entry[i] = i << 32 | (uint32_t)s->event[i].time;
    }
    /* Long iterations are sorted by the low half of their times, then by the high one. */
    const uint32_t bits = bits_of(model_trace_cycles(m, last) + CYCLES_IN_STEP);
    use_entries(s, model_trace_sort(s->entry, s->other, run->count, bits < 32 ? bits : 32));
    if (bits > 32) {
        for (uint64_t i = 0; i < run->count; i++) {
            const uint64_t event = s->entry[i] >> 32;
            s->entry[i] = event << 32 | s->event[event].time >> 32;
        }
        use_entries(s, model_trace_sort(s->entry, s->other, run->count, bits - 32));
    }
    run->order = s->entry;
    return HPCW_OK;
}
