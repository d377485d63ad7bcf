/* SPDX-License-Identifier: BSD-3-Clause */
/* Which workload of the library, and when, by the seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen/spec/dataset.h"

enum { SEEDS = 64 };

/* How many workloads the seeds have, and whether all use edges(). Twice the same seed is twice the same. */
static uint32_t draw(struct gen_dataset *d, bool *all_use_edges) {
    char name[SEEDS][GEN_WORKLOAD_NAME];
    uint32_t names = 0;
    *all_use_edges = true;
    for (d->seed = 1; d->seed <= SEEDS; d->seed++) {
        struct gen_workload *w;
        struct gen_workload *again;
        uint32_t k = 0;
        assert_int_equal(gen_workload_draw(d, &w, NULL), HPCW_OK);
        assert_int_equal(gen_workload_draw(d, &again, NULL), HPCW_OK);
        assert_string_equal(w->name, again->name);
        *all_use_edges = *all_use_edges && gen_workload_uses_edges(w);
        while (k < names && strcmp(name[k], w->name) != 0) {
            k++;
        }
        memcpy(name[k], w->name, sizeof name[k]);
        names = k == names ? k + 1 : names;
        gen_workload_free(w);
        gen_workload_free(again);
    }
    return names;
}

static void test_workloads(void **state) {
    (void)state;
    enum { ALL = 8, WITH_EDGES = 4 };
    struct gen_dataset d;
    bool edges;
    assert_int_equal(gen_dataset_init(&d, "dfplus-hdr200", GEN_SCALE_TINY, NULL), HPCW_OK);
    d.ranks = 32768;
    assert_int_equal(draw(&d, &edges), ALL);
    assert_false(edges);
    d.ranks++;
    assert_int_equal(draw(&d, &edges), WITH_EDGES);
    assert_true(edges);
    d.ranks = 2;
    d.load_params.balancer = MODEL_BALANCER_GREEDY;
    assert_int_equal(draw(&d, &edges), WITH_EDGES);
    assert_true(edges);
    d.load_params.balancer = MODEL_BALANCER_NONE;
    d.load_params.comm = MODEL_COMM_MESH;
    assert_int_equal(draw(&d, &edges), WITH_EDGES);
    assert_true(edges);
}

static void test_starts(void **state) {
    (void)state;
    struct gen_dataset d;
    assert_int_equal(gen_dataset_init(&d, "dfplus-hdr200", GEN_SCALE_TINY, NULL), HPCW_OK);
    uint64_t before = 0;
    for (d.seed = 1; d.seed <= SEEDS; d.seed++) {
        char text[24];
        const uint64_t start = gen_dataset_start(&d);
        gen_dataset_time(start, text);
        assert_true(strcmp(text, "2020") > 0 && strcmp(text, "2026") < 0);
        assert_true(start != before);
        before = start;
    }
    d.params.start = 1714557600;
    assert_int_equal(gen_dataset_start(&d), 1714557600);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_workloads), cmocka_unit_test(test_starts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
