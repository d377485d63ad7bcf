/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace model's messages are the edges of the load model, in the ways of different applications. */
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
#include "tests/support/trace_made.h"

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
    for (uint32_t r = 1; load->params.handlers && r < ranks; r++) {
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
        trace_begin(&m);
        m.load_params.migration = 0.1;
        m.trace_params.aggregate = aggregate != 0;
        trace_make(&m, RANKS, 2);
        static const uint32_t order[] = {0, 1, 5, 39, 4, 4, 38}; /* back and forth */
        for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
            uint64_t *bytes = calloc(RANKS * RANKS, sizeof *bytes);
            uint32_t *edges = calloc(RANKS * RANKS, sizeof *edges);
            sum_edges(&m, order[i], bytes, edges);
            struct model_trace_run run = trace_run_of(&m, order[i]);
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
        trace_drop(&m);
    }
}

/* In whatever exchanges they are sent, between two ranks they have the same bytes together. */
static void exchanges_share_the_bytes(void **state) {
    (void)state;
    enum { RANKS = 48, PHASE = 3 };
    for (int kind = MODEL_TRACE_STENCIL; kind <= MODEL_TRACE_ADAPTIVE; kind++) {
        struct trace_made m;
        uint32_t most = 0;
        trace_begin(&m);
        m.trace_params.application = kind;
        m.trace_params.exchanges = 3;
        trace_make(&m, RANKS, 2);
        uint64_t *bytes = calloc(RANKS * RANKS, sizeof *bytes);
        uint32_t *edges = calloc(RANKS * RANKS, sizeof *edges);
        uint32_t *messages = calloc(RANKS * RANKS, sizeof *messages);
        sum_edges(&m, PHASE, bytes, edges);
        struct model_trace_run run = trace_run_of(&m, PHASE);
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
        trace_drop(&m);
    }
}

/* Of a mesh, an exchange carries whole layers of it; each inner iteration of a solver one. */
static void exchanges_carry_layers(void **state) {
    (void)state;
    enum { RANKS = 12, PHASES = 10 };
    for (int kind = MODEL_TRACE_STENCIL; kind <= MODEL_TRACE_ADAPTIVE; kind++) {
        struct trace_made m;
        trace_begin(&m);
        m.load_params.comm = MODEL_COMM_MESH;
        m.load_params.fill = 1;
        m.load_params.handlers = false;
        m.load_params.migration = 0;
        m.load_params.phases = PHASES;
        m.trace_params.application = kind;
        m.trace_params.exchanges = 0;
        trace_make(&m, RANKS, 2);
        m.trace.style.sets_up = true;
        for (uint32_t k = 0; k < PHASES; k++) {
            uint64_t *bytes = calloc(RANKS * RANKS, sizeof *bytes);
            uint32_t *edges = calloc(RANKS * RANKS, sizeof *edges);
            sum_edges(&m, k, bytes, edges);
            const uint32_t layers = m.load.phase[k].layers;
            struct model_trace_run run = trace_run_of(&m, k);
            uint32_t from_0 = 0;
            for (uint32_t i = 0; i < run.messages; i++) {
                const struct model_trace_message *one = &run.message[i];
                const uint64_t layer = bytes[one->from * RANKS + one->to] / layers;
                assert_int_equal(one->bytes % layer, 0);
                assert_true(kind != MODEL_TRACE_SOLVER || one->bytes == layer);
                from_0 += one->from == 0 && one->to == 1;
            }
            assert_true(kind == MODEL_TRACE_SOLVER ? from_0 == layers : from_0 <= 3 + (k == 0));
            free(bytes);
            free(edges);
        }
        trace_drop(&m);
    }
}

/* ---- kinds of applications ---- */

/* How often something happens in a run, over all ranks. */
static void count_events(struct trace_made *m, uint64_t happened[MODEL_TRACE_WHATS]) {
    memset(happened, 0, MODEL_TRACE_WHATS * sizeof happened[0]);
    for (uint32_t k = 0; k < m->trace.iterations; k++) {
        struct model_trace_run run = trace_run_of(m, k);
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
        trace_begin(&m);
        m.trace_params.application = kind;
        m.trace_params.exchanges = 3;
        trace_make(&m, RANKS, 2);
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
        trace_drop(&m);
    }
}

/* The seed chooses among all kinds, and a balancer the one that has use for it. */
static void seeds_choose(void **state) {
    (void)state;
    uint32_t kinds = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct trace_made m;
        trace_begin(&m);
        m.trace_params.application = MODEL_TRACE_AUTO;
        m.trace_params.exchanges = 0;
        trace_make(&m, 4, seed);
        kinds |= 1u << m.trace.style.kind;
        assert_true(m.trace.style.exchanges >= 1 && m.trace.style.exchanges <= 3);
        m.load.params.balancer = MODEL_BALANCER_GREEDY;
        model_trace_draw_style(&m.trace);
        assert_int_equal(m.trace.style.kind, MODEL_TRACE_ADAPTIVE);
        trace_drop(&m);
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
        trace_begin(&m);
        m.trace_params.application = MODEL_TRACE_SOLVER;
        m.trace_params.record = record;
        trace_make(&m, 16, 2);
        count_events(&m, record == MODEL_TRACE_RECORD_ALL ? all : happened);
        for (uint32_t what = 0; record != MODEL_TRACE_RECORD_ALL && what < MODEL_TRACE_WHATS; what++) {
            const bool message = what == MODEL_TRACE_SEND || what == MODEL_TRACE_RECEIVE;
            const bool call = what >= MODEL_TRACE_CALLS && what < MODEL_TRACE_STATES;
            const bool seen = message || call == (record == MODEL_TRACE_RECORD_CALLS);
            assert_int_equal(happened[what], seen ? all[what] : 0);
        }
        const uint64_t ns = trace_run_of(&m, 7).facts.duration_ns;
        assert_true(record == MODEL_TRACE_RECORD_ALL || ns == duration_ns);
        duration_ns = ns;
        trace_drop(&m);
    }
}

/* The median rank has at most 12 partners. */
static void partners_are_few(void **state) {
    (void)state;
    enum { RANKS = 1024 };
    struct trace_made m;
    trace_begin(&m);
    trace_make(&m, RANKS, 2);
    struct model_trace_run run = trace_run_of(&m, 39);
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
    trace_drop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_edges),     cmocka_unit_test(exchanges_share_the_bytes),
        cmocka_unit_test(applications_differ),    cmocka_unit_test(seeds_choose),
        cmocka_unit_test(records_are_chosen),     cmocka_unit_test(partners_are_few),
        cmocka_unit_test(exchanges_carry_layers),
    };
    return cmocka_run_group_tests_name("trace_messages", tests, NULL, NULL);
}
