/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace model: a rank's events are in order, messages are the edges of the load model and arrive after they were sent, no
 * rank leaves a collective call before the last one has entered it, and slow links make ranks wait. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/model/load/system.h"
#include "gen/model/trace/private.h"
#include "gen/model/trace/trace.h"
#include "libwriter/base/mem.h"

struct trace_made {
    struct model_machine_params machine_params;
    struct model_load_params load_params;
    struct model_trace_params trace_params;
    struct model_machine machine;
    struct model_checkpoint_params checkpoint_params;
    struct model_load load;
    struct model_checkpoint checkpoint;
    struct model_trace trace;
    struct model_trace_scratch *scratch;
};

static void begin(struct trace_made *m) {
    assert_int_equal(model_machine_params_init(&m->machine_params, "dfplus-hdr200", NULL), HPCW_OK);
    model_load_params_init(&m->load_params);
    model_checkpoint_params_init(&m->checkpoint_params);
    model_trace_params_init(&m->trace_params);
    m->trace_params.application = MODEL_TRACE_STENCIL;
    m->trace_params.exchanges = 1;
}

static void make(struct trace_made *m, uint32_t ranks, uint64_t seed) {
    hpcw_error err;
    if (model_machine_init(&m->machine, &m->machine_params, ranks, seed, &err) != HPCW_OK ||
        model_load_init(&m->load, &m->load_params, &m->machine, &err) != HPCW_OK ||
        model_checkpoint_init(&m->checkpoint, &m->checkpoint_params, &m->load, &err) != HPCW_OK ||
        model_trace_init(&m->trace, &m->trace_params, &m->load, &m->checkpoint, &err) != HPCW_OK ||
        model_trace_scratch_new(&m->trace, &m->scratch, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
}

static void drop(struct trace_made *m) {
    model_trace_scratch_free(m->scratch);
    model_trace_free(&m->trace);
    model_checkpoint_free(&m->checkpoint);
    model_load_free(&m->load);
    model_machine_free(&m->machine);
}

static struct model_trace_run run_at(struct trace_made *m, uint32_t iteration, uint64_t start_ns) {
    struct model_trace_run run;
    hpcw_error err;
    if (model_trace_iteration(&m->trace, m->scratch, iteration, &run, &err) != HPCW_OK ||
        model_trace_order(&m->trace, m->scratch, start_ns, &run, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    return run;
}

static struct model_trace_run run_of(struct trace_made *m, uint32_t iteration) {
    return run_at(m, iteration, 0);
}

/* As in the simplest programs: ranks compute, then wait for all messages at once. */
static void make_plain(struct trace_made *m, uint32_t ranks, uint64_t seed) {
    make(m, ranks, seed);
    m->trace.style.wait = MODEL_TRACE_WAIT_ALL;
    m->trace.style.overlaps = m->trace.style.blocks = false;
}

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
        const uint64_t time = model_trace_cycles(w->start) + e->time;
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
    assert_true(last < model_trace_cycles(w->start + (m->trace.clock != NULL ? 2 * m->trace.guard_ns : 0)) ||
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
            begin(&m);
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
            make(&m, ranks[i], kind + 1);
            watch_begin(&w, &m);
            uint64_t expected_ns = 0;
            for (uint32_t k = 0; k < m.load_params.phases; k++) {
                struct model_trace_run run = run_of(&m, k);
                for (size_t n = 0; n < run.noises; n++) {
                    assert_true(run.noise[n].length_ns >= 60000000 && run.noise[n].length_ns <= 240000000);
                }
                expected_ns += run.facts.compute_ns;
                watch_iteration(&w, &m, k, &run);
                assert_int_equal(w.backwards, 0);
                assert_int_equal(run.backwards, 0);
            }
            /* Up to what the clocks cannot resolve. */
            const uint64_t unresolved = model_trace_cycles(200 * (uint64_t)ranks[i] * m.load_params.phases);
            const uint64_t expected = model_trace_cycles(expected_ns);
            assert_true(w.computed <= expected + unresolved && expected <= w.computed + unresolved);
            watch_end(&w, &m);
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
    m.trace_params.skew_us = 0.5;
    make(&m, 40, 3);
    watch_begin(&w, &m);
    for (uint32_t k = 0; k < 20; k++) {
        struct model_trace_run run = run_of(&m, k);
        wide += run.facts.duration_ns > UINT32_MAX;
        watch_iteration(&w, &m, k, &run);
    }
    assert_true(wide > 10 && wide < 20);
    watch_end(&w, &m);
    drop(&m);
}

/* ---- messages are the edges of the load model ---- */

/* Bytes from rank to rank, by the functions for one object. */
static void sum_edges(const struct trace_made *m, uint32_t phase, uint64_t *bytes, uint32_t *edges) {
    const struct model_load *load = &m->load;
    const uint32_t ranks = load->ranks;
    uint32_t *where = calloc(load->objects, sizeof *where);
    assert_non_null(where);
    for (uint32_t r = 0; r < ranks; r++) {
        for (uint32_t slot = 0; slot < load->per_rank; slot++) {
            where[model_load_object(load, r, slot, phase)] = r;
        }
    }
    for (uint32_t to = 0; to < load->objects; to++) {
        struct model_load_edge from[MODEL_LOAD_MOST_KINDS];
        const uint32_t n = model_load_exists(load, to) ? model_load_senders(load, to, from) : 0;
        for (uint32_t k = 0; k < n; k++) {
            double follows = model_load_lasting(load, to) + model_load_lasting(load, from[k].from);
            const uint32_t owner = model_load_owner(from[k].kind, from[k].from, to);
            const uint32_t kind = model_load_shared(from[k].kind);
            struct model_load_flow flow = model_load_flow(load, owner, kind, follows);
            const size_t at = (size_t)where[from[k].from] * ranks + where[to];
            bytes[at] += model_load_volume(load, owner, kind, flow, phase).bytes;
            edges[at]++;
        }
    }
    for (uint32_t r = 1; r < ranks; r++) {
        for (uint32_t kind = MODEL_LOAD_UP; kind <= MODEL_LOAD_DOWN; kind++) {
            const uint32_t owner = model_load_handler(r);
            const uint32_t parent = model_load_parent(r);
            const size_t at = kind == MODEL_LOAD_UP ? (size_t)r * ranks + parent : (size_t)parent * ranks + r;
            bytes[at] +=
                model_load_volume(load, owner, kind, model_load_flow(load, owner, kind, 0), phase).bytes;
            edges[at]++;
        }
    }
    free(where);
}

static void messages_are_edges(void **state) {
    (void)state;
    enum { RANKS = 48 };
    for (int aggregate = 0; aggregate < 2; aggregate++) {
        struct trace_made m;
        begin(&m);
        m.load_params.migration = 0.1;
        m.trace_params.aggregate = aggregate != 0;
        make(&m, RANKS, 2);
        static const uint32_t order[] = {0, 1, 5, 39, 4, 4, 38}; /* back and forth */
        for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
            uint64_t *bytes = calloc(RANKS * RANKS, sizeof *bytes);
            uint32_t *edges = calloc(RANKS * RANKS, sizeof *edges);
            sum_edges(&m, order[i], bytes, edges);
            struct model_trace_run run = run_of(&m, order[i]);
            for (uint32_t k = 0; k < run.messages; k++) {
                const struct model_trace_message *one = &run.message[k];
                const size_t at = (size_t)one->from * RANKS + one->to;
                bytes[at] -= one->bytes;
                edges[at] -= aggregate ? edges[at] : 1;
            }
            for (uint32_t at = 0; at < RANKS * RANKS; at++) {
                assert_true(at / RANKS == at % RANKS || (bytes[at] == 0 && edges[at] == 0));
            }
            free(bytes);
            free(edges);
        }
        drop(&m);
    }
}

/* In whatever exchanges they are sent, between two ranks they have the same bytes together. */
static void exchanges_share_the_bytes(void **state) {
    (void)state;
    enum { RANKS = 48, PHASE = 3 };
    for (int kind = MODEL_TRACE_STENCIL; kind <= MODEL_TRACE_ADAPTIVE; kind++) {
        struct trace_made m;
        uint32_t most = 0;
        begin(&m);
        m.trace_params.application = kind;
        m.trace_params.exchanges = 3;
        make(&m, RANKS, 2);
        uint64_t *bytes = calloc(RANKS * RANKS, sizeof *bytes);
        uint32_t *edges = calloc(RANKS * RANKS, sizeof *edges);
        uint32_t *messages = calloc(RANKS * RANKS, sizeof *messages);
        sum_edges(&m, PHASE, bytes, edges);
        struct model_trace_run run = run_of(&m, PHASE);
        for (uint32_t k = 0; k < run.messages; k++) {
            const struct model_trace_message *one = &run.message[k];
            const size_t at = (size_t)one->from * RANKS + one->to;
            assert_true(one->bytes > 0 && one->bytes % 8 == 0 && one->tag >= m.trace.style.first_tag &&
                        one->tag < m.trace.style.first_tag + 2 * m.load_params.dims);
            bytes[at] -= one->bytes;
            messages[at]++;
            most = messages[at] > most ? messages[at] : most;
        }
        for (uint32_t at = 0; at < RANKS * RANKS; at++) {
            assert_true(at / RANKS == at % RANKS || bytes[at] == 0);
        }
        assert_int_equal(most, 3);
        free(bytes);
        free(edges);
        free(messages);
        drop(&m);
    }
}

/* ---- kinds of applications ---- */

/* How often something happens in a run, over all ranks. */
static void count_events(struct trace_made *m, uint64_t happened[MODEL_TRACE_WHATS]) {
    memset(happened, 0, MODEL_TRACE_WHATS * sizeof happened[0]);
    for (uint32_t k = 0; k < m->trace.iterations; k++) {
        struct model_trace_run run = run_of(m, k);
        for (uint64_t i = 0; i < run.count; i++) {
            happened[model_trace_what_of(model_trace_event(&run, i))]++;
        }
    }
}

static void applications_differ(void **state) {
    (void)state;
    enum { RANKS = 16, PHASES = 40 };
    for (int kind = MODEL_TRACE_STENCIL; kind <= MODEL_TRACE_ADAPTIVE; kind++) {
        struct trace_made m;
        uint64_t happened[MODEL_TRACE_WHATS];
        begin(&m);
        m.trace_params.application = kind;
        m.trace_params.exchanges = 3;
        make(&m, RANKS, 2);
        m.trace.style.sets_up = false;
        count_events(&m, happened);
        const uint64_t each = (uint64_t)RANKS * PHASES;
        assert_int_equal(happened[MODEL_TRACE_ITERATION], each);
        assert_int_equal(happened[MODEL_TRACE_SEND], happened[MODEL_TRACE_RECEIVE]);
        assert_true(happened[MODEL_TRACE_COMPUTE] >= 3 * each);
        /* Inner iterations with one or two reductions, or with 0, 1 and 2 more; and up to three after them. */
        const uint64_t inner = m.trace.style.reductions == 1 ? 4 : 7;
        const uint64_t reductions = happened[MODEL_TRACE_ALLREDUCE];
        assert_true(kind == MODEL_TRACE_SOLVER ? reductions > inner * each && reductions < (inner + 3) * each
                                               : reductions < each + each / 2);
        /* A dimension after the other, for receives and for sends. */
        assert_true(kind != MODEL_TRACE_HYDRO || happened[MODEL_TRACE_WAITALL] == each * 3 * 2 * 2);
        assert_true((kind == MODEL_TRACE_ADAPTIVE) == (happened[MODEL_TRACE_WAITANY] > 0));
        assert_true((kind == MODEL_TRACE_ADAPTIVE) == (happened[MODEL_TRACE_ALLTOALL] >= RANKS));
        drop(&m);
    }
}

/* The seed chooses among all kinds, and a balancer the one that has use for it. */
static void seeds_choose(void **state) {
    (void)state;
    uint32_t kinds = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct trace_made m;
        begin(&m);
        m.trace_params.application = MODEL_TRACE_AUTO;
        m.trace_params.exchanges = 0;
        make(&m, 4, seed);
        kinds |= 1u << m.trace.style.kind;
        assert_true(m.trace.style.exchanges >= 1 && m.trace.style.exchanges <= 3);
        m.load.params.balancer = MODEL_BALANCER_GREEDY;
        model_trace_draw_style(&m.trace);
        assert_int_equal(m.trace.style.kind, MODEL_TRACE_ADAPTIVE);
        drop(&m);
    }
    assert_int_equal(kinds, 1u << MODEL_TRACE_STENCIL | 1u << MODEL_TRACE_HYDRO | 1u << MODEL_TRACE_SOLVER |
                                1u << MODEL_TRACE_ADAPTIVE);
}

/* A tracer that sees less makes no other run. */
static void records_are_chosen(void **state) {
    (void)state;
    uint64_t all[MODEL_TRACE_WHATS];
    uint64_t duration_ns = 0;
    for (int record = MODEL_TRACE_RECORD_ALL; record <= MODEL_TRACE_RECORD_STATES; record++) {
        struct trace_made m;
        uint64_t happened[MODEL_TRACE_WHATS];
        begin(&m);
        m.trace_params.application = MODEL_TRACE_SOLVER;
        m.trace_params.record = record;
        make(&m, 16, 2);
        count_events(&m, record == MODEL_TRACE_RECORD_ALL ? all : happened);
        for (uint32_t what = 0; record != MODEL_TRACE_RECORD_ALL && what < MODEL_TRACE_WHATS; what++) {
            const bool message = what == MODEL_TRACE_SEND || what == MODEL_TRACE_RECEIVE;
            const bool call = what >= MODEL_TRACE_CALLS && what < MODEL_TRACE_STATES;
            const bool seen = message || call == (record == MODEL_TRACE_RECORD_CALLS);
            assert_int_equal(happened[what], seen ? all[what] : 0);
        }
        const uint64_t ns = run_of(&m, 7).facts.duration_ns;
        assert_true(record == MODEL_TRACE_RECORD_ALL || ns == duration_ns);
        duration_ns = ns;
        drop(&m);
    }
}

/* The median rank has at most 12 partners. */
static void partners_are_few(void **state) {
    (void)state;
    enum { RANKS = 1024 };
    struct trace_made m;
    begin(&m);
    make(&m, RANKS, 2);
    struct model_trace_run run = run_of(&m, 39);
    bool *meets = calloc((size_t)RANKS * RANKS, sizeof *meets);
    assert_non_null(meets);
    for (uint32_t i = 0; i < run.messages; i++) {
        meets[run.message[i].from * RANKS + run.message[i].to] = true;
        meets[run.message[i].to * RANKS + run.message[i].from] = true;
    }
    uint32_t few = 0;
    for (uint32_t r = 0; r < RANKS; r++) {
        uint32_t partners = 0;
        for (uint32_t other = 0; other < RANKS; other++) {
            partners += meets[r * RANKS + other];
        }
        few += partners <= 12;
    }
    print_message("%u of %u ranks have at most 12 partners\n", few, (unsigned)RANKS);
    assert_true(few >= RANKS / 2);
    free(meets);
    drop(&m);
}

/* ---- durations ---- */

/* Calls of one kind differ from rank to rank and from time to time, and a rank leaves reductions at different times. */
static void durations_vary(void **state) {
    (void)state;
    enum { RANKS = 256, ITERATIONS = 12, KINDS = MODEL_TRACE_STATES / 2, MOST = 4096 };
    struct trace_made m;
    begin(&m);
    m.load_params.phases = ITERATIONS;
    make(&m, RANKS, 2);
    static uint64_t seen[KINDS][MOST];
    uint32_t distinct[KINDS] = {0}, calls[KINDS] = {0};
    uint64_t *begun = calloc((size_t)RANKS * KINDS, sizeof *begun);
    uint64_t start = 0;
    for (uint32_t k = 0; k < ITERATIONS; k++) {
        struct model_trace_run run = run_of(&m, k);
        for (uint64_t i = 0; i < run.count; i++) {
            const struct model_trace_event *e = model_trace_event(&run, i);
            const uint32_t what = model_trace_what_of(e);
            if (what >= MODEL_TRACE_STATES) {
                continue;
            }
            if (what % 2 == 0) {
                begun[e->rank * KINDS + what / 2] = model_trace_cycles(start) + e->time;
                continue;
            }
            const uint32_t kind = what / 2;
            const uint64_t length = model_trace_cycles(start) + e->time - begun[e->rank * KINDS + kind];
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
    drop(&m);
}

/* Most ranks leave a reduction together, and few of them much later. */
static void exits_have_a_tail(void **state) {
    (void)state;
    enum { RANKS = 256 };
    struct trace_made m;
    uint64_t time_ns[RANKS], most = 0;
    uint32_t late = 0;
    begin(&m);
    make(&m, RANKS, 2);
    for (uint32_t k = 0; k < m.trace.iterations; k++) {
        model_trace_exit_times(&m.trace, &(struct model_trace_exit){.iteration = k}, time_ns);
        uint64_t least = UINT64_MAX;
        for (uint32_t r = 0; r < RANKS; r++) {
            assert_true(time_ns[r] >= m.trace.guard_ns);
            least = time_ns[r] < least ? time_ns[r] : least;
        }
        for (uint32_t r = 0; r < RANKS; r++) {
            late += time_ns[r] - least > 20000;
            most = time_ns[r] - least > most ? time_ns[r] - least : most;
        }
    }
    print_message("%u of %u exits are 20 us late, one %" PRIu64 " us\n", late, RANKS * m.trace.iterations,
                  most / 1000);
    assert_true(late > RANKS * m.trace.iterations / 1000 && late < RANKS * m.trace.iterations / 10);
    assert_true(most > 200000 && most < 60000000);
    drop(&m);
}

/* Ranks start at times of their own, and get the input from rank 0; in the end, rank 0 gets the results. */
static void programs_start_and_end(void **state) {
    (void)state;
    enum { RANKS = 64 };
    struct trace_made m;
    uint64_t first[RANKS] = {0}, root_begins = 0;
    uint32_t last[RANKS] = {0}, reducing = 0;
    uint32_t rank_of_first = UINT32_MAX;
    begin(&m);
    make(&m, RANKS, 2);
    struct model_trace_run run = run_of(&m, 0);
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
    assert_true(first[rank_of_first] > model_trace_cycles(2000000));
    assert_true(spread > model_trace_cycles(200000) && spread < model_trace_cycles(10000000));
    run = run_of(&m, m.trace.iterations - 1);
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
    drop(&m);
}

/* A rank that begins late, or receives late, makes its partners wait. */
static void late_partners_are_seen(void **state) {
    (void)state;
    uint64_t waited[2];
    for (int late = 0; late < 2; late++) {
        struct trace_made m;
        struct watch w;
        begin(&m);
        m.machine_params.slow_node_share = 0;
        m.load_params.sigma_first = m.load_params.sigma_last = m.load_params.noise = 0;
        m.load_params.scenario = late ? MODEL_SCENARIO_SPIKE : MODEL_SCENARIO_NONE;
        m.load_params.scenario_first = 8;
        m.load_params.fill = 1;
        make_plain(&m, 64, 2);
        watch_begin(&w, &m);
        struct model_trace_run run = run_of(&m, 8);
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
        free(w.timeline);
        drop(&m);
    }
    print_message("%u and %u ranks wait long\n", (unsigned)waited[0], (unsigned)waited[1]);
    assert_true(waited[0] == 0 && waited[1] >= 4 && waited[1] <= 30);
}

/* All instruction sets make the same events. */
static void lanes_agree(void **state) {
    (void)state;
    struct trace_made m[MODEL_SIMD_COUNT];
    for (int simd = 0; simd < MODEL_SIMD_COUNT; simd++) {
        begin(&m[simd]);
        m[simd].load_params.noise = 0.05;
        m[simd].load_params.phases = 5;
        make(&m[simd], 777, 5);
        m[simd].load.lanes = model_lanes((enum model_simd)simd);
        for (uint32_t k = 0; simd != MODEL_SIMD_NONE && m[simd].load.lanes != NULL && k < 5; k++) {
            struct model_trace_run one = run_of(&m[MODEL_SIMD_NONE], k);
            struct model_trace_run other = run_of(&m[simd], k);
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

/* The compute time of a rank is the sum of its objects' loads in the phase, of its groups and handler, and of
 * interruptions. */
static void loads_are_the_model_s(void **state) {
    (void)state;
    struct trace_made m;
    begin(&m);
    m.load_params.migration = 0.1;
    m.load_params.noise = 0.1;
    make(&m, 16, 2);
    static const uint32_t order[] = {0, 1, 5, 39, 4, 4, 38}; /* back and forth */
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        uint64_t sum = 0;
        uint64_t most = 0;
        struct model_trace_run run = run_of(&m, order[i]);
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
    drop(&m);
}

static void clocks_that_differ(void **state) {
    (void)state;
    struct trace_made m;
    struct watch w;
    uint64_t backwards = 0;
    begin(&m);
    m.trace_params.skew_us = 2;
    m.trace_params.drift_ppm = 0.1;
    m.load_params.sigma_first = m.load_params.sigma_last = 0; /* so that nobody waits */
    m.load_params.phases = 5;
    make_plain(&m, 256, 2);
    watch_begin(&w, &m);
    for (uint32_t k = 0; k < 5; k++) {
        struct model_trace_run run = run_at(&m, k, w.start);
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
    drop(&m);
}

/* Clocks that differ by more than a reduction takes would mix iterations. */
static void wrong_clocks_are_refused(void **state) {
    (void)state;
    struct trace_made m;
    struct model_trace other;
    struct model_trace_run run;
    hpcw_error err;
    begin(&m);
    make(&m, 256, 2);
    m.trace_params.skew_us = 50;
    assert_int_equal(model_trace_init(&other, &m.trace_params, &m.load, &m.checkpoint, &err), HPCW_ERANGE);
    assert_non_null(
        strstr(err.message, "trace.skew and trace.drift: expected clocks that differ by less than "));
    drop(&m);
    begin(&m);
    m.trace_params.drift_ppm = 0.3;
    make(&m, 256, 2);
    m.trace_params.drift_ppm = 100;
    assert_int_equal(model_trace_init(&other, &m.trace_params, &m.load, &m.checkpoint, &err), HPCW_ERANGE);
    assert_int_equal(model_trace_iteration(&m.trace, m.scratch, 3, &run, &err), HPCW_OK);
    assert_int_equal(model_trace_order(&m.trace, m.scratch, 1000000, &run, &err), HPCW_OK);
    assert_int_equal(model_trace_iteration(&m.trace, m.scratch, 3, &run, &err), HPCW_OK);
    assert_int_equal(model_trace_order(&m.trace, m.scratch, UINT64_C(100000000000), &run, &err), HPCW_ERANGE);
    assert_non_null(strstr(err.message, " us after 100"));
    drop(&m);
}

/* A port that leaves a hundredth of the bandwidth makes its neighbours wait. */
static void slow_ports_are_seen(void **state) {
    (void)state;
    uint64_t waited[2];
    for (int slow = 0; slow < 2; slow++) {
        struct trace_made m;
        begin(&m);
        m.machine_params.bad_node_share = slow;
        m.machine_params.bad_factor[0] = m.machine_params.bad_factor[1] = m.machine_params.bad_factor[2] = 0.01;
        m.machine_params.slow_node_share = 0;
        m.load_params.sigma_first = m.load_params.sigma_last = m.load_params.noise = m.load_params.groups = 0;
        m.load_params.edge_bytes_mean = 14;
        make_plain(&m, 64, 2);
        struct model_trace_run run = run_of(&m, 8);
        waited[slow] = 0;
        for (uint64_t i = 0; i < run.count; i++) {
            const struct model_trace_event *e = model_trace_event(&run, i);
            const uint32_t what = model_trace_what_of(e);
            waited[slow] += what == MODEL_TRACE_WAITALL + 1 ? e->time : 0;
            waited[slow] -= what == MODEL_TRACE_WAITALL ? e->time : 0;
        }
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
    struct model_trace other;
    struct model_trace_run run;
    begin(&m);
    m.load_params.edge_bytes_mean = 25;
    make(&m, 8, 2);
    assert_int_equal(model_trace_iteration(&m.trace, m.scratch, 0, &run, &err), HPCW_ERANGE);
    assert_non_null(strstr(err.message, "trace: expected at most 2147483647 bytes from rank "));
    drop(&m);
    begin(&m);
    make(&m, 8, 2);
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
    drop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_hold),
        cmocka_unit_test(long_iterations),
        cmocka_unit_test(lanes_agree),
        cmocka_unit_test(entries_are_sorted),
        cmocka_unit_test(messages_are_edges),
        cmocka_unit_test(exchanges_share_the_bytes),
        cmocka_unit_test(applications_differ),
        cmocka_unit_test(seeds_choose),
        cmocka_unit_test(records_are_chosen),
        cmocka_unit_test(partners_are_few),
        cmocka_unit_test(durations_vary),
        cmocka_unit_test(exits_have_a_tail),
        cmocka_unit_test(programs_start_and_end),
        cmocka_unit_test(late_partners_are_seen),
        cmocka_unit_test(loads_are_the_model_s),
        cmocka_unit_test(clocks_that_differ),
        cmocka_unit_test(wrong_clocks_are_refused),
        cmocka_unit_test(slow_ports_are_seen),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
