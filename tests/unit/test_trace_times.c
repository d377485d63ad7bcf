/* SPDX-License-Identifier: BSD-3-Clause */
/* How long the trace model's calls take: they vary, loads are those of the load model, and slow links make ranks wait. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gen/model/load/system.h"
#include "gen/model/trace/private.h"
#include "gen/model/trace/trace.h"
#include "tests/support/trace_made.h"

/* ---- durations ---- */

/* Calls of one kind differ from rank to rank and from time to time, and a rank leaves reductions at different times. */
static void durations_vary(void **state) {
    (void)state;
    enum { RANKS = 256, ITERATIONS = 12, KINDS = MODEL_TRACE_STATES / 2, MOST = 4096 };
    struct trace_made m;
    trace_begin(&m);
    m.load_params.phases = ITERATIONS;
    trace_make(&m, RANKS, 2);
    static uint64_t seen[KINDS][MOST];
    uint32_t distinct[KINDS] = {0}, calls[KINDS] = {0};
    uint64_t *begun = calloc((size_t)RANKS * KINDS, sizeof *begun);
    uint64_t start = 0;
    for (uint32_t k = 0; k < ITERATIONS; k++) {
        struct model_trace_run run = trace_run_of(&m, k);
        for (uint64_t i = 0; i < run.count; i++) {
            const struct model_trace_event *e = model_trace_event(&run, i);
            const uint32_t what = model_trace_what_of(e);
            if (what >= MODEL_TRACE_STATES) {
                continue;
            }
            if (what % 2 == 0) {
                begun[e->rank * KINDS + what / 2] = model_trace_cycles(&m.trace, start) + e->time;
                continue;
            }
            const uint32_t kind = what / 2;
            const uint64_t length =
                model_trace_cycles(&m.trace, start) + e->time - begun[e->rank * KINDS + kind];
            uint32_t at = 0;
            while (at < distinct[kind] && seen[kind][at] != length) {
                at++;
            }
            if (at == distinct[kind] && at < MOST) {
                seen[kind][distinct[kind]++] = length;
            }
            calls[kind]++;
        }
        start += run.facts.duration_ns;
    }
    /* Of 256 calls or more: those that do nothing take a step of the clock or two, and cycles besides. The end of a receive in a
     * wait is no call, and takes no time. */
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        print_message("state %u: %u durations in %u calls\n", 2 * kind, distinct[kind], calls[kind]);
        const bool waited = kind == MODEL_TRACE_WAITED / 2;
        assert_true(calls[kind] == 0 || (calls[kind] >= RANKS && distinct[kind] >= (waited ? 1 : 3)));
        assert_true(!waited || (distinct[kind] == 1 && seen[kind][0] == 0));
    }
    assert_true(distinct[MODEL_TRACE_BARRIER / 2] > 400 && distinct[MODEL_TRACE_ALLREDUCE / 2] > 2000 &&
                distinct[MODEL_TRACE_OPEN / 2] > 400);
    free(begun);
    trace_drop(&m);
}

/* The frequency that was asked for: in the cycles of events, and in seconds of the log. */
static void clocks_have_their_frequency(void **state) {
    (void)state;
    struct trace_made m;
    hpcw_error err;
    trace_begin(&m);
    m.trace_params.clock_ghz = 1.3;
    trace_make(&m, 4, 2);
    assert_int_equal(model_trace_cycles(&m.trace, 3000000010), 3900000013);
    assert_true(fabs(m.trace.cycle_s * 1.3e9 - 1) < 1e-6);
    struct model_trace other;
    m.trace_params.clock_ghz = 1e-9; /* no cycle in a millisecond */
    assert_int_equal(model_trace_init(&other, &m.trace_params, &m.load, &m.checkpoint, &err), HPCW_ERANGE);
    assert_string_equal(err.message, "trace.clock: expected 0, or at least 0.1 GHz, got 1e-09");
    trace_drop(&m);
}

/* Most ranks leave a reduction together, and few of them much later. */
static void exits_have_a_tail(void **state) {
    (void)state;
    enum { RANKS = 256 };
    struct trace_made m;
    uint64_t time_ns[RANKS], most = 0;
    uint32_t late = 0;
    trace_begin(&m);
    trace_make(&m, RANKS, 2);
    for (uint32_t k = 0; k < m.trace.iterations; k++) {
        model_trace_exit_times(&m.trace, &(struct model_trace_exit){.iteration = k}, time_ns);
        uint64_t least = UINT64_MAX;
        for (uint32_t r = 0; r < RANKS; r++) {
            assert_true(time_ns[r] >= m.trace.guard_ns);
            least = time_ns[r] < least ? time_ns[r] : least;
        }
        for (uint32_t r = 0; r < RANKS; r++) {
            late += time_ns[r] - least > 6000;
            most = time_ns[r] - least > most ? time_ns[r] - least : most;
        }
    }
    print_message("%u of %u exits are 6 us late, one %" PRIu64 " us\n", late, RANKS * m.trace.iterations,
                  most / 1000);
    assert_true(late > RANKS * m.trace.iterations / 1000 && late < RANKS * m.trace.iterations / 10);
    assert_true(most > 200000 && most < 60000000);
    trace_drop(&m);
}

/* Ranks start at times of their own, and get the input from rank 0; in the end, rank 0 gets the results. */
static void programs_start_and_end(void **state) {
    (void)state;
    enum { RANKS = 64 };
    struct trace_made m;
    uint64_t first[RANKS] = {0}, root_begins = 0;
    uint32_t last[RANKS] = {0}, reducing = 0;
    uint32_t rank_of_first = UINT32_MAX;
    trace_begin(&m);
    trace_make(&m, RANKS, 2);
    struct model_trace_run run = trace_run_of(&m, 0);
    for (uint64_t i = 0; i < run.count; i++) {
        const struct model_trace_event *e = model_trace_event(&run, i);
        const uint32_t what = model_trace_what_of(e);
        if (first[e->rank] == 0) {
            assert_true(what == MODEL_TRACE_COMM_RANK || what == MODEL_TRACE_COMM_SIZE);
            first[e->rank] = e->time;
            rank_of_first = rank_of_first == UINT32_MAX ? e->rank : rank_of_first;
        }
        root_begins = e->rank == 0 && what == MODEL_TRACE_BCAST && root_begins == 0 ? e->time : root_begins;
        if (what == MODEL_TRACE_BCAST + 1) {
            assert_true(root_begins > 0);
        }
    }
    uint64_t spread = 0;
    for (uint32_t r = 0; r < RANKS; r++) {
        const uint64_t after = first[r] - first[rank_of_first];
        spread = after > spread ? after : spread;
    }
    assert_true(first[rank_of_first] > model_trace_cycles(&m.trace, 2000000));
    assert_true(spread > model_trace_cycles(&m.trace, 200000) &&
                spread < model_trace_cycles(&m.trace, 10000000));
    run = trace_run_of(&m, m.trace.iterations - 1);
    for (uint64_t i = 0; i < run.count; i++) {
        const struct model_trace_event *e = model_trace_event(&run, i);
        const uint32_t what = model_trace_what_of(e);
        last[e->rank] = what;
        reducing += what == MODEL_TRACE_REDUCE;
        if (e->rank == 0 && what == MODEL_TRACE_REDUCE + 1) {
            assert_true(reducing >= RANKS);
        }
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        assert_int_equal(last[r], last[0]);
    }
    assert_int_equal(reducing, m.trace.style.results * RANKS);
    trace_drop(&m);
}

/* A rank that begins late, or receives late, makes its partners wait. */
static void late_partners_are_seen(void **state) {
    (void)state;
    uint64_t waited[2];
    for (int late = 0; late < 2; late++) {
        struct trace_made m;
        trace_begin(&m);
        m.machine_params.slow_node_share = 0;
        m.load_params.sigma_first = m.load_params.sigma_last = m.load_params.noise = 0;
        m.load_params.scenario = late ? MODEL_SCENARIO_SPIKE : MODEL_SCENARIO_NONE;
        m.load_params.scenario_first = 8;
        m.load_params.fill = 1;
        trace_make_plain(&m, 64, 2);
        struct model_trace_run run = trace_run_of(&m, 8);
        uint64_t length = 0;
        uint64_t wait[64] = {0};
        for (uint64_t i = 0; i < run.count; i++) {
            const struct model_trace_event *e = model_trace_event(&run, i);
            const uint32_t what = model_trace_what_of(e);
            length = e->time;
            if (what == MODEL_TRACE_WAITALL || what == MODEL_TRACE_WAITALL + 1) {
                wait[e->rank] = e->time - wait[e->rank];
            }
        }
        waited[late] = 0;
        for (uint32_t r = 0; r < 64; r++) {
            waited[late] += wait[r] > length / 4;
        }
        trace_drop(&m);
    }
    print_message("%u and %u ranks wait long\n", (unsigned)waited[0], (unsigned)waited[1]);
    assert_true(waited[0] == 0 && waited[1] >= 4 && waited[1] <= 30);
}

/* The compute time of a rank is the sum of its objects' loads in the phase, of its groups and handler, and of
 * interruptions. */
static void loads_are_the_model_s(void **state) {
    (void)state;
    struct trace_made m;
    trace_begin(&m);
    m.load_params.migration = 0.1;
    m.load_params.noise = 0.1;
    trace_make(&m, 16, 2);
    static const uint32_t order[] = {0, 1, 5, 39, 4, 4, 38}; /* back and forth */
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        uint64_t sum = 0;
        uint64_t most = 0;
        struct model_trace_run run = trace_run_of(&m, order[i]);
        for (uint32_t r = 0; r < 16; r++) {
            double slowness = model_load_slowness(&m.load, r, order[i]);
            uint32_t slot;
            uint64_t rank = model_load_interruption(&m.load, r, order[i], &slot);
            for (slot = 0; slot < m.load.per_rank; slot++) {
                const uint32_t o = model_load_object(&m.load, r, slot, order[i]);
                rank += model_load_exists(&m.load, o)
                            ? model_load_time(&m.load, o, model_load_lasting(&m.load, o), order[i], slowness)
                            : 0;
            }
            for (uint32_t which = 0; which <= m.load.params.groups; which++) {
                rank += model_load_other(&m.load, r, which, order[i], slowness);
            }
            sum += rank;
            most = rank > most ? rank : most;
        }
        assert_true(run.facts.compute_ns == sum && run.facts.slowest_ns == most);
    }
    trace_drop(&m);
}

/* A port that leaves a hundredth of the bandwidth makes its neighbours wait. */
static void slow_ports_are_seen(void **state) {
    (void)state;
    uint64_t waited[2];
    for (int slow = 0; slow < 2; slow++) {
        struct trace_made m;
        trace_begin(&m);
        m.machine_params.bad_node_share = slow;
        m.machine_params.bad_factor[0] = m.machine_params.bad_factor[1] = m.machine_params.bad_factor[2] = 0.01;
        m.machine_params.slow_node_share = 0;
        m.load_params.sigma_first = m.load_params.sigma_last = m.load_params.noise = m.load_params.groups = 0;
        m.load_params.edge_bytes_mean = 14;
        trace_make_plain(&m, 64, 2);
        struct model_trace_run run = trace_run_of(&m, 8);
        waited[slow] = 0;
        for (uint64_t i = 0; i < run.count; i++) {
            const struct model_trace_event *e = model_trace_event(&run, i);
            const uint32_t what = model_trace_what_of(e);
            waited[slow] += what == MODEL_TRACE_WAITALL + 1 ? e->time : 0;
            waited[slow] -= what == MODEL_TRACE_WAITALL ? e->time : 0;
        }
        trace_drop(&m);
    }
    assert_true(waited[1] > 5 * waited[0]);
}

/* A piece of what rank 0 computes in an iteration, in nanoseconds since its start. */
struct piece {
    double begin, end;
};
static uint32_t pieces_of(struct trace_made *m, uint32_t k, uint32_t most, struct piece *piece,
                          double *duration_ns) {
    struct model_trace_run run = trace_run_of(m, k);
    uint32_t count = 0;
    for (uint64_t i = 0; i < run.count; i++) {
        const struct model_trace_event *e = model_trace_event(&run, i);
        const double ns = (double)e->time * 1e6 / (double)m->trace.clock_khz;
        if (e->rank == 0 && model_trace_what_of(e) == MODEL_TRACE_COMPUTE) {
            assert_true(count < most);
            piece[count].begin = ns;
        } else if (e->rank == 0 && model_trace_what_of(e) == MODEL_TRACE_COMPUTE + 1) {
            piece[count++].end = ns;
        }
    }
    *duration_ns = (double)run.facts.duration_ns;
    return count;
}

/* Timers interrupt what a rank computes when they tick, by the time of the run: phases of the load data begin when the iterations
 * do. If the rank does not compute then, its next piece of work is longer, or the last one. */
static void timers_tick_on_time(void **state) {
    (void)state;
    enum { PHASES = 400, LONG_NS = 300000, PIECES = 64 };
    struct trace_made m;
    hpcw_error err;
    uint32_t ticks = 0, on_time = 0, at_end = 0;
    double start_ns = 0, apart_ns = 0, estimated_apart_ns = 0;
    trace_begin(&m);
    m.load_params.phases = PHASES;
    m.load_params.mean_first_ms = m.load_params.mean_last_ms = 0.05;
    m.load_params.sigma_first = m.load_params.sigma_last = m.load_params.noise = 0;
    m.load_params.jitter = 1e-6;
    m.load_params.tick_us = m.load_params.steal_us = 600; /* more than any piece */
    m.load_params.preemptions = m.load_params.warm_up = 0;
    m.trace_params.exchanges = 4;
    trace_make(&m, 2, 2);
    struct model_load_phase *phase = m.load.phase;
    double estimated_ns[PHASES];
    for (uint32_t k = 0; k < PHASES; k++) {
        estimated_ns[k] = phase[k].start_ns;
    }
    assert_true(model_trace_finds_starts(&m.load));
    assert_int_equal(model_trace_find_starts(&m.trace, &m.load, &err), HPCW_OK);
    for (uint32_t k = 0; k < PHASES; k++) {
        struct piece piece[PIECES];
        double duration_ns;
        const uint32_t pieces = pieces_of(&m, k, PIECES, piece, &duration_ns);
        for (uint32_t i = 0; i < MODEL_LOAD_TIMERS; i++) {
            const struct model_load_ticks tick = model_load_ticks(&m.load, 0, k, i);
            for (uint32_t j = 0; j < (uint32_t)tick.count; j++) {
                const double at_ns = tick.after_ns + j * tick.period_ns;
                uint32_t p = 0;
                while (p + 1 < pieces && piece[p].end < at_ns) {
                    p++;
                }
                ticks += i == 0;
                on_time += i == 0 && piece[p].end >= at_ns;
                at_end += i == 0 && piece[p].end < at_ns;
                assert_true(piece[p].end - piece[p].begin > LONG_NS);
            }
        }
        apart_ns = fmax(apart_ns, fabs(phase[k].start_ns - start_ns));
        estimated_apart_ns = fmax(estimated_apart_ns, fabs(estimated_ns[k] - start_ns));
        start_ns += duration_ns;
    }
    print_message(
        "%u ticks in %.1f ms, %u while rank 0 computes or before, %u after its last piece; phases start within "
        "%.1f us, by the load alone %.1f us\n",
        ticks, start_ns / 1e6, on_time, at_end, apart_ns / 1e3, estimated_apart_ns / 1e3);
    assert_true(ticks > 0.9 * start_ns / 4e6 && ticks < 1.1 * start_ns / 4e6);
    assert_true(at_end < ticks / 4);
    assert_true(apart_ns < 1000 * m.load_params.tick_us * 1.5 && estimated_apart_ns > 2 * apart_ns);
    trace_drop(&m);
}

/* Also where timers take more than there is: then they tick about when they would. */
static void timers_that_take_all(void **state) {
    (void)state;
    static const struct {
        double mean_ms, tick_us, busy;
    } hard[] = {{1e-5, 3, 0.9}, {1e-4, 30, 0.9}, {0.01, 1000, 0.9}, {0.05, 1000, 0.01}};
    for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++) {
        struct trace_made m;
        hpcw_error err;
        trace_begin(&m);
        m.load_params.phases = 100;
        m.load_params.mean_first_ms = m.load_params.mean_last_ms = hard[i].mean_ms;
        m.load_params.tick_us = m.load_params.steal_us = hard[i].tick_us;
        m.load_params.busy = hard[i].busy;
        m.trace_params.exchanges = 1;
        trace_make(&m, 8, 1);
        assert_int_equal(model_trace_find_starts(&m.trace, &m.load, &err), HPCW_OK);
        double most_ns = 0;
        for (uint32_t k = 1; k < 100; k++) {
            const double ns = m.load.phase[k].start_ns - m.load.phase[k - 1].start_ns;
            assert_true(ns > 0);
            most_ns = ns > most_ns && k > 1 ? ns : most_ns;
        }
        print_message("mean %g ms, tick %g us: run of %.1f ms, longest phase %.1f ms\n", hard[i].mean_ms,
                      hard[i].tick_us, m.load.phase[99].start_ns / 1e6, most_ns / 1e6);
        assert_true(most_ns < 100e6);
        trace_drop(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_vary),
        cmocka_unit_test(exits_have_a_tail),
        cmocka_unit_test(clocks_have_their_frequency),
        cmocka_unit_test(programs_start_and_end),
        cmocka_unit_test(late_partners_are_seen),
        cmocka_unit_test(loads_are_the_model_s),
        cmocka_unit_test(slow_ports_are_seen),
        cmocka_unit_test(timers_tick_on_time),
        cmocka_unit_test(timers_that_take_all),
    };
    return cmocka_run_group_tests_name("trace_times", tests, NULL, NULL);
}
