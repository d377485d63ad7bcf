/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace model, event by event: a rank's events are in order, messages arrive after they were sent, no rank leaves a
 * collective call before the last one has entered it; with clocks that differ, too. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/model/trace/private.h"
#include "gen/model/trace/trace.h"
#include "libwriter/base/mem.h"
#include "tests/support/trace_made.h"

/* ---- one log, event by event ---- */

enum { MOST_DEPTH = 8 };

struct timeline {
    uint64_t last;
    uint32_t depth;
    uint32_t reductions; /* entered */
    bool receives;       /* a receive has just ended */
    uint32_t state[MOST_DEPTH];
    uint64_t begun[MOST_DEPTH];
};

/* A log, from iteration to iteration: a state may begin in one and end in the next. */
struct watch {
    struct timeline *timeline; /* [ranks] */
    uint64_t *sent;            /* [messages] of this iteration; 0: not yet */
    uint64_t start;            /* of this iteration */
    uint64_t backwards;
    uint64_t computed; /* as the other times: cycles */
    uint64_t steps, checkpoints, received;
};

static void watch_begin(struct watch *w, const struct trace_made *m) {
    *w = (struct watch){.timeline = calloc(m->trace.ranks, sizeof(struct timeline))};
    assert_non_null(w->timeline);
}

static void watch_state(struct watch *w, const struct trace_made *m, uint32_t rank, uint32_t what,
                        uint64_t time) {
    struct timeline *l = &w->timeline[rank];
    if (what % 2 == 0) {
        assert_true(l->depth < MOST_DEPTH);
        for (uint32_t i = 0; i < l->depth; i++) {
            assert_int_not_equal(l->state[i], what); /* no state is inside itself */
        }
        l->begun[l->depth] = time;
        l->state[l->depth++] = what;
        l->reductions += what == MODEL_TRACE_ALLREDUCE;
        return;
    }
    assert_true(l->depth > 0 && l->state[l->depth - 1] == what - 1);
    uint64_t length = time - l->begun[--l->depth];
    w->computed += l->state[l->depth] == MODEL_TRACE_COMPUTE ? length : 0;
    w->checkpoints += l->state[l->depth] == MODEL_TRACE_CHECKPOINT;
    for (uint32_t r = 0; what == MODEL_TRACE_ALLREDUCE + 1 && r < m->trace.ranks; r++) {
        assert_true(w->timeline[r].reductions >= l->reductions);
    }
}

/* The clock is read once for a call that sends, and once for each receive that ends, with which its wait may end. */
static void watch_clock(struct timeline *l, uint32_t what, uint64_t time) {
    const bool of_message =
        what == MODEL_TRACE_SEND || what == MODEL_TRACE_RECEIVE || what == MODEL_TRACE_WAITED + 1;
    const bool ends_wait = l->receives && (what == MODEL_TRACE_WAIT + 1 || what == MODEL_TRACE_WAITALL + 1 ||
                                           what == MODEL_TRACE_WAITANY + 1);
    assert_true(of_message || ends_wait ? l->last == time : l->last < time);
    l->last = time;
    l->receives = what == MODEL_TRACE_RECEIVE || (l->receives && what == MODEL_TRACE_WAITED + 1);
}

static void watch_message(struct watch *w, const struct trace_made *m, const struct model_trace_run *run,
                          const struct model_trace_event *e, uint64_t time) {
    const uint32_t number = model_trace_message_of(e);
    const struct model_trace_message *message = &run->message[number];
    const struct timeline *l = &w->timeline[e->rank];
    assert_true(number < run->messages && message->from != message->to && message->bytes % 8 == 0);
    assert_true(message->from < m->trace.ranks && message->to < m->trace.ranks && message->bytes > 0);
    if (model_trace_what_of(e) == MODEL_TRACE_SEND) {
        const uint32_t call = l->state[l->depth - 1];
        assert_true(e->rank == message->from && (call == MODEL_TRACE_ISEND || call == MODEL_TRACE_SENDING));
        assert_int_equal(w->sent[number], 0);
        w->sent[number] = time;
        return;
    }
    const uint32_t outer = l->state[l->depth - 2];
    assert_true(e->rank == message->to && l->state[l->depth - 1] == MODEL_TRACE_WAITED);
    assert_true(outer == MODEL_TRACE_WAITALL || outer == MODEL_TRACE_WAIT || outer == MODEL_TRACE_WAITANY);
    w->backwards += w->sent[number] == 0;
    w->received++;
}

static void watch_iteration(struct watch *w, const struct trace_made *m, uint32_t iteration,
                            const struct model_trace_run *run) {
    uint64_t last = 0;
    uint32_t last_rank = 0;
    uint64_t events;
    w->sent = calloc(run->messages + (size_t)1, sizeof *w->sent);
    w->received = 0;
    assert_non_null(w->sent);
    assert_int_equal(model_trace_count(&m->trace, m->scratch, iteration, &events, NULL), HPCW_OK);
    assert_int_equal(run->count, events);
    for (uint64_t i = 0; i < run->count; i++) {
        const struct model_trace_event *e = model_trace_event(run, i);
        const uint32_t what = model_trace_what_of(e);
        const uint64_t time = model_trace_cycles(&m->trace, w->start) + e->time;
        assert_true(e->rank < m->trace.ranks);
        assert_true(time > last || (time == last && (i == 0 || e->rank >= last_rank)));
        last = time;
        last_rank = e->rank;
        watch_clock(&w->timeline[e->rank], what, time);
        if (what < MODEL_TRACE_STATES) {
            watch_state(w, m, e->rank, what, time);
        } else if (what != MODEL_TRACE_STEP) {
            watch_message(w, m, run, e, time);
        } else {
            assert_int_equal(e->rank, 0);
            w->steps++;
        }
    }
    assert_int_equal(w->received, run->messages);
    free(w->sent);
    w->start += run->facts.duration_ns;
    /* Nothing of an iteration comes after the first event of the next one. */
    assert_true(
        last < model_trace_cycles(&m->trace, w->start + (m->trace.clock != NULL ? 2 * m->trace.guard_ns : 0)) ||
        iteration + 1 == m->trace.iterations);
}

static void watch_end(struct watch *w, const struct trace_made *m) {
    for (uint32_t r = 0; r < m->trace.ranks; r++) {
        assert_int_equal(w->timeline[r].depth, 0);
    }
    assert_int_equal(w->steps, m->trace.iterations);
    assert_int_equal(w->checkpoints, (uint64_t)m->trace.ranks * m->checkpoint.params.checkpoints);
    free(w->timeline);
}

static void rules_hold(void **state) {
    (void)state;
    static const uint32_t ranks[] = {1, 2, 3, 12, 64};
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        for (uint32_t kind = 0; kind < 24; kind++) {
            struct trace_made m;
            struct watch w;
            trace_begin(&m);
            m.trace_params.application = (int)(MODEL_TRACE_STENCIL + kind % 4);
            m.trace_params.exchanges = kind % 7;
            m.load_params.handlers = kind % 5 != 0;
            m.load_params.dims = 1 + kind % 3;
            m.load_params.periodic = kind / 3 % 2 != 0;
            m.load_params.collections = 1 + kind % 2;
            m.load_params.noise = 0.1;
            m.load_params.migration = 0.1;
            m.load_params.phases = kind == 7 ? 1 : 7;
            m.checkpoint_params.checkpoints = 1 + kind % m.load_params.phases;
            m.trace_params.aggregate = kind / 12 == 0;
            trace_make(&m, ranks[i], kind + 1);
            watch_begin(&w, &m);
            uint64_t expected_ns = 0;
            for (uint32_t k = 0; k < m.load_params.phases; k++) {
                struct model_trace_run run = trace_run_of(&m, k);
                for (size_t n = 0; n < run.noises; n++) {
                    assert_true(run.noise[n].length_ns >= 60000000 && run.noise[n].length_ns <= 240000000);
                }
                expected_ns += run.facts.compute_ns;
                watch_iteration(&w, &m, k, &run);
                assert_int_equal(w.backwards, 0);
                assert_int_equal(run.backwards, 0);
            }
            /* Up to what the clocks cannot resolve. */
            const uint64_t unresolved =
                model_trace_cycles(&m.trace, 200 * (uint64_t)ranks[i] * m.load_params.phases);
            const uint64_t expected = model_trace_cycles(&m.trace, expected_ns);
            assert_true(w.computed <= expected + unresolved && expected <= w.computed + unresolved);
            watch_end(&w, &m);
            trace_drop(&m);
        }
    }
}

/* Iterations of minutes, whose times do not fit into 32 bits, and with clocks that differ. */
static void long_iterations(void **state) {
    (void)state;
    struct trace_made m;
    struct watch w;
    uint32_t wide = 0;
    trace_begin(&m);
    m.load_params.mean_first_ms = 50;
    m.load_params.mean_last_ms = 20000;
    m.load_params.phases = 20;
    m.trace_params.skew_us = 0.5;
    trace_make(&m, 40, 3);
    watch_begin(&w, &m);
    for (uint32_t k = 0; k < 20; k++) {
        struct model_trace_run run = trace_run_of(&m, k);
        wide += run.facts.duration_ns > UINT32_MAX;
        watch_iteration(&w, &m, k, &run);
    }
    assert_true(wide > 10 && wide < 20);
    watch_end(&w, &m);
    trace_drop(&m);
}

/* All instruction sets make the same events. */
static void lanes_agree(void **state) {
    (void)state;
    struct trace_made m[MODEL_SIMD_COUNT];
    for (int simd = 0; simd < MODEL_SIMD_COUNT; simd++) {
        trace_begin(&m[simd]);
        m[simd].load_params.noise = 0.05;
        m[simd].load_params.phases = 5;
        trace_make(&m[simd], 777, 5);
        m[simd].load.lanes = model_lanes((enum model_simd)simd);
        for (uint32_t k = 0; simd != MODEL_SIMD_NONE && m[simd].load.lanes != NULL && k < 5; k++) {
            struct model_trace_run one = trace_run_of(&m[MODEL_SIMD_NONE], k);
            struct model_trace_run other = trace_run_of(&m[simd], k);
            assert_memory_equal(&other.facts, &one.facts, sizeof one.facts);
            assert_int_equal(other.count, one.count);
            assert_memory_equal(other.order, one.order, one.count * sizeof *one.order);
            assert_memory_equal(other.event, one.event, one.count * sizeof *one.event);
            assert_int_equal(other.noises, one.noises);
            for (size_t i = 0; i < one.noises; i++) {
                assert_int_equal(other.noise[i].rank, one.noise[i].rank);
                assert_int_equal(other.noise[i].length_ns, one.noise[i].length_ns);
            }
        }
    }
    for (int simd = 0; simd < MODEL_SIMD_COUNT; simd++) {
        trace_drop(&m[simd]);
    }
}

/* Keys of every length, equal ones in their order. */
static void entries_are_sorted(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    uint64_t *entry = calloc(2 * COUNT, sizeof *entry);
    assert_non_null(entry);
    for (uint32_t bits = 0; bits <= 32; bits++) {
        const uint64_t mask = (UINT64_C(1) << bits) - 1;
        uint64_t sum = 0;
        for (uint32_t i = 0; i < COUNT; i++) {
            uint64_t key = (i * UINT64_C(0x9e3779b97f4a7c15) >> (i % 3 == 0 ? 60 : 13)) & mask;
            entry[i] = (uint64_t)i << 32 | key;
            sum += entry[i];
        }
        const uint64_t *sorted = model_trace_sort(entry, entry + COUNT, COUNT, bits);
        for (uint32_t i = 0; i < COUNT; i++) {
            sum -= sorted[i];
            assert_true(i == 0 || (sorted[i - 1] & mask) < (sorted[i] & mask) ||
                        ((sorted[i - 1] & mask) == (sorted[i] & mask) && sorted[i - 1] < sorted[i]));
        }
        assert_int_equal(sum, 0);
    }
    free(entry);
}

static void clocks_that_differ(void **state) {
    (void)state;
    struct trace_made m;
    struct watch w;
    uint64_t backwards = 0;
    trace_begin(&m);
    m.trace_params.skew_us = 2;
    m.trace_params.drift_ppm = 0.1;
    m.load_params.sigma_first = m.load_params.sigma_last = 0; /* so that nobody waits */
    m.load_params.phases = 5;
    trace_make_plain(&m, 256, 3);
    /* Few clocks are off by all of it, the others by a twentieth. */
    uint32_t lost = 0;
    for (uint32_t n = 0; n < m.machine.nodes; n++) {
        const double wrong_us = fabs(m.trace.clock[n].offset_ns) / 1e3;
        assert_true(wrong_us < 0.2 * 2 || (wrong_us >= 2 && wrong_us < 1.5 * 2));
        lost += wrong_us >= 2;
    }
    assert_true(lost >= 1 && lost < m.machine.nodes / 4);
    watch_begin(&w, &m);
    for (uint32_t k = 0; k < 5; k++) {
        struct model_trace_run run = trace_run_at(&m, k, w.start);
        const uint64_t start = w.start;
        const uint64_t before = w.backwards;
        watch_iteration(&w, &m, k, &run);
        assert_int_equal(w.backwards - before, run.backwards);
        for (size_t i = 0; i < run.backwards; i++) {
            const struct model_trace_backward *b = &run.backward[i];
            const struct model_trace_clock *from = &m.trace.clock[model_machine_node(&m.machine, b->from)];
            const struct model_trace_clock *to = &m.trace.clock[model_machine_node(&m.machine, b->to)];
            const double last = (double)(start + run.facts.duration_ns);
            double ahead = from->offset_ns - to->offset_ns;
            ahead = ahead + (from->drift > to->drift ? (from->drift - to->drift) * last : 0);
            assert_true(b->by_ns > 0 && (double)b->by_ns < ahead + 4);
        }
    }
    backwards = w.backwards;
    print_message("%u messages arrive before they are sent\n", (unsigned)backwards);
    assert_true(backwards > 0);
    watch_end(&w, &m);
    trace_drop(&m);
}

/* doc/hpcgen.md gives these two values. No time of the log is below zero or beyond the iteration, whatever the signs. */
static void clocks_of_any_sign(void **state) {
    (void)state;
    static const uint32_t ranks[] = {1, 2, 5, 16};
    static const uint64_t late_ns = UINT64_C(3000000000);
    for (uint64_t seed = 0; seed < 100; seed++) {
        for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
            struct trace_made m;
            trace_begin(&m);
            m.trace_params.skew_us = 1;
            m.trace_params.drift_ppm = 0.1;
            m.load_params.phases = 2;
            trace_make(&m, ranks[i], seed);
            assert_true(m.trace.clock == NULL || m.trace.clock[0].offset_ns == 0);
            assert_true(m.trace.clock == NULL || m.trace.clock[0].drift == 0);
            assert_int_equal(m.trace.clock == NULL, m.machine.nodes == 1);
            const struct model_trace_run run = trace_run_at(&m, 0, late_ns);
            /* A microsecond is for the steps of the clock. */
            const uint64_t most_ns = run.facts.duration_ns + 2 * m.trace.guard_ns + 1000;
            const uint64_t most = model_trace_cycles(&m.trace, most_ns);
            for (uint64_t k = 0; k < run.count; k++) {
                assert_true(m.scratch->event[k].time <= most);
            }
            trace_drop(&m);
        }
    }
}

/* Clocks that differ by more than a reduction takes would mix iterations. */
static void wrong_clocks_are_refused(void **state) {
    (void)state;
    struct trace_made m;
    struct model_trace other;
    struct model_trace_run run;
    hpcw_error err;
    trace_begin(&m);
    trace_make(&m, 256, 2);
    m.trace_params.skew_us = 50;
    assert_int_equal(model_trace_init(&other, &m.trace_params, &m.load, &m.checkpoint, &err), HPCW_ERANGE);
    assert_non_null(
        strstr(err.message, "trace.skew and trace.drift: expected clocks that differ by less than "));
    trace_drop(&m);
    trace_begin(&m);
    m.trace_params.drift_ppm = 0.3;
    trace_make(&m, 256, 2);
    m.trace_params.drift_ppm = 100;
    assert_int_equal(model_trace_init(&other, &m.trace_params, &m.load, &m.checkpoint, &err), HPCW_ERANGE);
    assert_int_equal(model_trace_iteration(&m.trace, m.scratch, 3, &run, &err), HPCW_OK);
    assert_int_equal(model_trace_order(&m.trace, m.scratch, 1000000, &run, &err), HPCW_OK);
    assert_int_equal(model_trace_iteration(&m.trace, m.scratch, 3, &run, &err), HPCW_OK);
    assert_int_equal(model_trace_order(&m.trace, m.scratch, UINT64_C(100000000000), &run, &err), HPCW_ERANGE);
    assert_non_null(strstr(err.message, " us after 100"));
    trace_drop(&m);
}

static unsigned left;
static bool some(size_t size) {
    (void)size;
    return left-- > 0;
}

static void refusals(void **state) {
    (void)state;
    struct trace_made m;
    hpcw_error err;
    struct model_trace other;
    struct model_trace_run run;
    trace_begin(&m);
    m.load_params.edge_bytes_mean = 25;
    trace_make(&m, 8, 2);
    assert_int_equal(model_trace_iteration(&m.trace, m.scratch, 0, &run, &err), HPCW_ERANGE);
    assert_non_null(strstr(err.message, "trace: expected at most 2147483647 bytes from rank "));
    trace_drop(&m);
    trace_begin(&m);
    trace_make(&m, 8, 2);
    hpcw_status s = HPCW_ENOMEM;
    m.trace_params.skew_us = 0.01;
    for (unsigned n = 0; s == HPCW_ENOMEM; n++) {
        struct model_trace_scratch *scratch = NULL;
        left = n;
        hpcw_i_mem_gate = some;
        s = model_trace_init(&other, &m.trace_params, &m.load, &m.checkpoint, &err);
        if (s == HPCW_OK) {
            s = model_trace_scratch_new(&other, &scratch, &err);
        }
        if (s == HPCW_OK) {
            s = model_trace_iteration(&other, scratch, 0, &run, &err);
        }
        if (s == HPCW_OK) {
            s = model_trace_order(&other, scratch, 0, &run, &err);
        }
        hpcw_i_mem_gate = NULL;
        model_trace_scratch_free(scratch);
        model_trace_free(&other);
        assert_true(n < 60);
    }
    assert_int_equal(s, HPCW_OK);
    trace_drop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_hold),
        cmocka_unit_test(long_iterations),
        cmocka_unit_test(lanes_agree),
        cmocka_unit_test(entries_are_sorted),
        cmocka_unit_test(clocks_that_differ),
        cmocka_unit_test(clocks_of_any_sign),
        cmocka_unit_test(wrong_clocks_are_refused),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
