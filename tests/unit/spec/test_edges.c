/* SPDX-License-Identifier: BSD-3-Clause */
/* Edges of the load model between ranks: they are sums over the single edges of objects and handlers in the load
 * data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/spec/edges.h"
#include "tests/support/load_made.h"

enum { RANKS = 12, PHASES = 5 };

/* Computes bytes[from][to] of a phase from single edges. */
static void sum_edges(const struct model_load *m, const struct model_load_whole *w, uint32_t phase,
                      uint64_t bytes[RANKS][RANKS]) {
    for (uint32_t o = 0; o < m->objects; o++) {
        struct model_load_edge edge[MODEL_LOAD_MOST_KINDS];
        const uint32_t senders = model_load_exists(m, o) ? model_load_senders(m, o, edge) : 0;
        for (uint32_t i = 0; i < senders; i++) {
            const uint32_t from = edge[i].from;
            const uint32_t owner = model_load_owner(edge[i].kind, from, o);
            const uint32_t kind = model_load_shared(edge[i].kind);
            const struct model_load_flow flow =
                model_load_flow(m, owner, kind, model_load_lasting(m, o) + model_load_lasting(m, from));
            bytes[w->rank[from]][w->rank[o]] += model_load_volume(m, owner, kind, flow, phase).bytes;
        }
    }
    for (uint32_t r = 1; m->params.handler.send && r < RANKS; r++) {
        const uint32_t owner = model_load_handler(r);
        const uint32_t parent = model_load_parent(r);
        bytes[r][parent] +=
            model_load_volume(m, owner, MODEL_LOAD_UP, model_load_flow(m, owner, MODEL_LOAD_UP, 0), phase)
                .bytes;
        bytes[parent][r] +=
            model_load_volume(m, owner, MODEL_LOAD_DOWN, model_load_flow(m, owner, MODEL_LOAD_DOWN, 0), phase)
                .bytes;
    }
}

static void check(const struct sim_lua_edge *edge, uint32_t count, uint32_t rank, bool sends,
                  uint64_t bytes[RANKS][RANKS]) {
    uint32_t next = 0;
    for (uint32_t other = 0; other < RANKS; other++) {
        const uint64_t expected = other == rank ? 0 : sends ? bytes[rank][other] : bytes[other][rank];
        if (expected > 0) {
            assert_true(next < count);
            assert_int_equal(edge[next].rank, other);
            assert_int_equal(edge[next++].bytes, expected);
        }
    }
    assert_int_equal(next, count);
}

static void check_load(const struct model_load *m) {
    struct model_load_whole whole;
    struct gen_edges *edges;
    hpcw_error err;
    uint32_t partners = 0;
    uint64_t before[RANKS][RANKS] = {{0}};
    struct sim_lua_edges had[RANKS] = {{0}};
    assert_int_equal(model_load_whole_new(&whole, m, &err), HPCW_OK);
    assert_int_equal(gen_edges_new(m, &edges, &err), HPCW_OK);
    for (uint32_t phase = 0; phase < PHASES; phase++) {
        uint64_t bytes[RANKS][RANKS] = {{0}};
        model_load_whole_measure(&whole, phase);
        sum_edges(m, &whole, phase, bytes);
        assert_int_equal(gen_edges_add(edges, phase, whole.rank, &err), HPCW_OK);
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            struct sim_lua_edges of;
            /* A rank's lists of the previous phase stay valid until it asks for this phase. */
            check(had[rank].to, had[rank].to_count, rank, true, before);
            check(had[rank].from, had[rank].from_count, rank, false, before);
            gen_edges_of(edges, rank, phase, &of);
            check(of.to, of.to_count, rank, true, bytes);
            check(of.from, of.from_count, rank, false, bytes);
            partners += of.to_count;
            had[rank] = of;
        }
        memcpy(before, bytes, sizeof before);
    }
    assert_true(partners > 2 * RANKS * PHASES);
    gen_edges_free(edges);
    model_load_whole_free(&whole);
}

static void test_edges(void **state) {
    static const int comm[] = {MODEL_COMM_STENCIL, MODEL_COMM_MESH};
    (void)state;
    for (size_t i = 0; i < sizeof comm / sizeof comm[0]; i++) {
        struct load_made m;
        struct model_load_params p = load_defaults();
        p.phases = PHASES;
        p.comm = comm[i];
        p.migration = 0.2;
        p.edge.phases = 2;
        load_make(&m, RANKS, 3, &p);
        check_load(&m.load);
        load_drop(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
