/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace model: a rank's events are in order, messages arrive after they were sent, no rank leaves a collective call
 * before the last one has entered it, and slow links make ranks wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/model/trace/private.h"
#include "gen/model/trace/trace.h"
#include "libwriter/base/mem.h"

struct trace_made {
    struct model_machine_params machine_params;
    struct model_load_params load_params;
    struct model_trace_params trace_params;
    struct model_machine machine;
    struct model_load load;
    struct model_trace trace;
    struct model_trace_scratch *scratch;
};

static void begin(struct trace_made *m) {
    assert_int_equal(model_machine_params_init(&m->machine_params, "dfplus-hdr200", NULL), HPCW_OK);
    model_load_params_init(&m->load_params);
    model_trace_params_init(&m->trace_params);
}

static void make(struct trace_made *m, uint32_t ranks, uint64_t seed) {
    hpcw_error err;
    if (model_machine_init(&m->machine, &m->machine_params, ranks, seed, &err) != HPCW_OK ||
        model_load_init(&m->load, &m->load_params, &m->machine, &err) != HPCW_OK ||
        model_trace_init(&m->trace, &m->trace_params, &m->load, &err) != HPCW_OK ||
        model_trace_scratch_new(&m->trace, &m->scratch, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
}

static void drop(struct trace_made *m) {
    model_trace_scratch_free(m->scratch);
    model_trace_free(&m->trace);
    model_load_free(&m->load);
    model_machine_free(&m->machine);
}

static struct model_trace_run run_of(struct trace_made *m, uint32_t iteration) {
    struct model_trace_run run;
    hpcw_error err;
    if (model_trace_iteration(&m->trace, m->scratch, iteration, &run, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    return run;
}

/* ---- one log, event by event ---- */

enum { MOST_DEPTH = 8, MOST_OPEN = 4 };

struct timeline {
    uint64_t last;
    uint32_t depth;
    uint16_t state[MOST_DEPTH];
    uint64_t begun[MOST_DEPTH];
};

struct flight {
    uint32_t from, to, bytes;
    uint16_t tag;
    uint64_t sent;
};

struct watch {
    struct timeline *timeline; /* [ranks] */
    struct flight *flight;     /* [ranks * MOST_OPEN] messages in flight */
    size_t flights, most_flights;
    uint64_t backwards;
    uint64_t waited_ns; /* inside calls that exchange */
    uint64_t computed_ns;
};

static void watch_state(struct watch *w, const struct model_trace_event *e) {
    struct timeline *l = &w->timeline[e->rank];
    if (e->what % 2 == 0) {
        assert_true(l->depth < MOST_DEPTH);
        for (uint32_t i = 0; i < l->depth; i++) {
            assert_int_not_equal(l->state[i], e->what); /* no state is inside itself */
        }
        l->begun[l->depth] = e->time_ns;
        l->state[l->depth++] = e->what;
        return;
    }
    assert_true(l->depth > 0 && l->state[l->depth - 1] == e->what - 1);
    uint64_t length = e->time_ns - l->begun[--l->depth];
    w->waited_ns += l->state[l->depth] == MODEL_TRACE_SENDRECV ? length : 0;
    w->computed_ns += l->state[l->depth] == MODEL_TRACE_COMPUTE ? length : 0;
}

static void watch_message(struct watch *w, const struct trace_made *m, const struct model_trace_event *e) {
    struct timeline *l = &w->timeline[e->rank];
    uint16_t call = l->state[l->depth - 1];
    assert_true(l->depth == 3 && e->peer < m->trace.ranks && e->peer != e->rank && e->bytes > 0);
    if (e->what == MODEL_TRACE_SEND) {
        assert_true(call == MODEL_TRACE_SENDRECV || call == MODEL_TRACE_MPI_SEND);
        assert_true(w->flights < (size_t)m->trace.ranks * MOST_OPEN);
        w->flight[w->flights++] = (struct flight){e->rank, e->peer, e->bytes, e->tag, e->time_ns};
        w->most_flights = w->flights > w->most_flights ? w->flights : w->most_flights;
        return;
    }
    assert_true(call == MODEL_TRACE_SENDRECV || call == MODEL_TRACE_MPI_RECV);
    for (size_t i = 0; i < w->flights; i++) {
        struct flight *f = &w->flight[i];
        if (f->from == e->peer && f->to == e->rank && f->tag == e->tag) {
            assert_int_equal(f->bytes, e->bytes);
            assert_true(e->time_ns > f->sent);
            *f = w->flight[--w->flights];
            return;
        }
    }
    w->backwards++;
}

/* With skewed clocks, some messages arrive before they are sent; `w->backwards` counts them, and their sends remain. */
static void watch_iteration(struct watch *w, const struct trace_made *m, uint32_t iteration,
                            const struct model_trace_run *run) {
    uint64_t last = 0;
    uint32_t last_rank = 0;
    uint32_t inside = 0;
    *w = (struct watch){.timeline = calloc(m->trace.ranks, sizeof(struct timeline)),
                        .flight = calloc((size_t)m->trace.ranks * MOST_OPEN, sizeof(struct flight))};
    assert_true(w->timeline != NULL && w->flight != NULL);
    assert_int_equal(run->count, model_trace_events(&m->trace, iteration));
    for (uint64_t i = 0; i < run->count; i++) {
        const struct model_trace_event here = model_trace_event(run, i);
        const struct model_trace_event *e = &here;
        assert_true(e->time_ns == model_trace_time(run, i) && e->rank < m->trace.ranks);
        assert_true(e->time_ns > last || (e->time_ns == last && (i == 0 || e->rank > last_rank)));
        last = e->time_ns;
        last_rank = e->rank;
        assert_true(w->timeline[e->rank].last < e->time_ns);
        w->timeline[e->rank].last = e->time_ns;
        if (e->what < MODEL_TRACE_STATES) {
            watch_state(w, e);
        } else if (e->what != MODEL_TRACE_STEP) {
            watch_message(w, m, e);
        } else {
            assert_int_equal(e->rank, 0);
        }
        if (e->what == MODEL_TRACE_ALLREDUCE) {
            inside++;
        } else if (e->what == MODEL_TRACE_ALLREDUCE + 1 && m->trace.most_skew_ns == 0) {
            assert_int_equal(inside, m->trace.ranks);
        }
    }
    assert_true(last < run->facts.duration_ns);
    for (uint32_t r = 0; r < m->trace.ranks; r++) {
        assert_int_equal(w->timeline[r].depth, 0);
    }
    assert_int_equal(w->flights, w->backwards);
    free(w->timeline);
    free(w->flight);
}

static void rules_hold(void **state) {
    (void)state;
    static const uint32_t ranks[] = {1, 2, 3, 12, 64};
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        for (uint32_t kind = 0; kind < 12; kind++) {
            struct trace_made m;
            struct watch w;
            begin(&m);
            m.trace_params.dims = 1 + kind % 3;
            m.trace_params.periodic = kind / 3 % 2 != 0;
            m.trace_params.checkpoint_every = 3;
            m.trace_params.noise = 0.1;
            m.load_params.subphases = kind / 6 * 3;
            m.load_params.phases = 7;
            make(&m, ranks[i], kind + 1);
            for (uint32_t k = 0; k < 7; k++) {
                struct model_trace_run run = run_of(&m, k);
                watch_iteration(&w, &m, k, &run);
                assert_int_equal(w.backwards, 0);
                assert_int_equal(run.backwards, 0);
                assert_true(w.most_flights <= ranks[i]);
                uint64_t noise = 0;
                for (size_t n = 0; n < run.noises; n++) {
                    assert_true(run.noise[n].length_ns >= 2000000 && run.noise[n].length_ns <= 8000000);
                    noise += run.noise[n].length_ns;
                }
                /* Computing takes the time of the objects and of interruptions, and the calls a little. */
                uint64_t extra = w.computed_ns - run.facts.compute_ns - noise;
                assert_true(extra <= (uint64_t)100 * ranks[i] * m.trace.halos);
            }
            drop(&m);
        }
    }
}

/* Iterations of minutes, whose times do not fit into 32 bits, and with clocks that differ. */
static void long_iterations(void **state) {
    (void)state;
    struct trace_made m;
    struct watch w;
    uint32_t wide = 0;
    begin(&m);
    m.load_params.mean_first_ms = 50;
    m.load_params.mean_last_ms = 20000;
    m.load_params.phases = 20;
    m.trace_params.skew_us = 1e4;
    make(&m, 40, 3);
    for (uint32_t k = 0; k < 20; k++) {
        struct model_trace_run run = run_of(&m, k);
        watch_iteration(&w, &m, k, &run);
        wide += run.wide;
    }
    assert_true(wide > 10 && wide < 20);
    drop(&m);
}

/* All instruction sets make the same events. */
static void lanes_agree(void **state) {
    (void)state;
    struct trace_made m[MODEL_SIMD_COUNT];
    for (int simd = 0; simd < MODEL_SIMD_COUNT; simd++) {
        begin(&m[simd]);
        m[simd].trace_params.noise = 0.05;
        m[simd].trace_params.checkpoint_every = 2;
        make(&m[simd], 777, 5);
        m[simd].load.lanes = model_lanes((enum model_simd)simd);
        for (uint32_t k = 0; simd != MODEL_SIMD_NONE && m[simd].load.lanes != NULL && k < 5; k++) {
            struct model_trace_run one = run_of(&m[MODEL_SIMD_NONE], k);
            struct model_trace_run other = run_of(&m[simd], k);
            assert_memory_equal(&other.facts, &one.facts, sizeof one.facts);
            assert_int_equal(other.count, one.count);
            assert_memory_equal(other.order, one.order, one.count * sizeof *one.order);
            assert_int_equal(other.noises, one.noises);
            for (size_t i = 0; i < one.noises; i++) {
                assert_int_equal(other.noise[i].rank, one.noise[i].rank);
                assert_int_equal(other.noise[i].length_ns, one.noise[i].length_ns);
            }
        }
    }
    for (int simd = 0; simd < MODEL_SIMD_COUNT; simd++) {
        drop(&m[simd]);
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

/* The compute time of a rank is the sum of its objects' loads in the phase. */
static void loads_are_the_model_s(void **state) {
    (void)state;
    struct trace_made m;
    begin(&m);
    m.load_params.migration = 0.1;
    make(&m, 16, 2);
    static const uint32_t order[] = {0, 1, 5, 39, 4, 4, 38}; /* back and forth */
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        uint64_t sum = 0;
        uint64_t most = 0;
        struct model_trace_run run = run_of(&m, order[i]);
        for (uint32_t r = 0; r < 16; r++) {
            double slowness = model_machine_slowness(&m.machine, model_machine_node(&m.machine, r));
            uint64_t rank = 0;
            for (uint32_t slot = 0; slot < m.load.per_rank; slot++) {
                rank +=
                    model_load_time(&m.load, model_load_object(&m.load, r, slot, order[i]), order[i], slowness);
            }
            sum += rank;
            most = rank > most ? rank : most;
        }
        assert_true(run.facts.compute_ns == sum && run.facts.slowest_ns == most);
    }
    drop(&m);
}

static void clocks_that_differ(void **state) {
    (void)state;
    struct trace_made m;
    struct watch w;
    uint64_t backwards = 0;
    begin(&m);
    m.trace_params.skew_us = 100;
    make(&m, 36, 2);
    for (uint32_t k = 0; k < 5; k++) {
        struct model_trace_run run = run_of(&m, k);
        watch_iteration(&w, &m, k, &run);
        assert_int_equal(w.backwards, run.backwards);
        backwards += w.backwards;
        for (size_t i = 0; i < run.backwards; i++) {
            const struct model_trace_backward *b = &run.backward[i];
            int64_t ahead = model_trace_skew(&m.trace, b->from) - model_trace_skew(&m.trace, b->to);
            assert_true(b->by_ns > 0 && (int64_t)b->by_ns < ahead);
        }
    }
    assert_true(backwards > 0);
    drop(&m);
}

/* A port that leaves a hundredth of the bandwidth makes its neighbours wait. */
static void slow_ports_are_seen(void **state) {
    (void)state;
    uint64_t waited[2];
    for (int slow = 0; slow < 2; slow++) {
        struct trace_made m;
        struct watch w;
        begin(&m);
        m.machine_params.bad_node_share = slow;
        m.machine_params.bad_factor[0] = m.machine_params.bad_factor[1] = m.machine_params.bad_factor[2] = 0.01;
        m.machine_params.slow_node_share = 0;
        m.load_params.sigma_first = m.load_params.sigma_last = m.load_params.jitter = 0;
        m.trace_params.message_bytes = 4 << 20;
        m.trace_params.noise = 0;
        make(&m, 64, 2);
        struct model_trace_run run = run_of(&m, 8);
        watch_iteration(&w, &m, 8, &run);
        waited[slow] = w.waited_ns;
        drop(&m);
    }
    assert_true(waited[1] > 5 * waited[0]);
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
    begin(&m);
    make(&m, 8, 2);
    struct model_trace other;
    m.trace_params.noise_min_ms = 9;
    assert_int_equal(model_trace_init(&other, &m.trace_params, &m.load, &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "trace.noise_min: expected at most trace.noise_max = 8 ms, got 9"));
    model_trace_free(&other);
    m.trace_params.noise_min_ms = 1;
    struct model_load many = m.load;
    many.ranks = 1 << 22;
    many.params.subphases = 1024;
    assert_int_equal(model_trace_init(&other, &m.trace_params, &many, &err), HPCW_ERANGE);
    assert_string_equal(err.message,
                        "trace: expected at most 131072 ranks, so that the events of an iteration with 1024 "
                        "subphases can be numbered, got 4194304");
    hpcw_status s = HPCW_ENOMEM;
    for (unsigned n = 0; s == HPCW_ENOMEM; n++) {
        struct model_trace_scratch *scratch = NULL;
        left = n;
        hpcw_i_mem_gate = some;
        s = model_trace_init(&other, &m.trace_params, &m.load, &err);
        if (s == HPCW_OK) {
            s = model_trace_scratch_new(&other, &scratch, &err);
            model_trace_scratch_free(scratch);
        }
        hpcw_i_mem_gate = NULL;
        model_trace_free(&other);
        assert_true(n < 20);
    }
    assert_int_equal(s, HPCW_OK);
    drop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_hold),
        cmocka_unit_test(long_iterations),
        cmocka_unit_test(lanes_agree),
        cmocka_unit_test(entries_are_sorted),
        cmocka_unit_test(loads_are_the_model_s),
        cmocka_unit_test(clocks_that_differ),
        cmocka_unit_test(slow_ports_are_seen),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
