/* SPDX-License-Identifier: BSD-3-Clause */
/* The seed decides the workload, its date and its length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen/spec/dataset.h"

enum { SEEDS = 64 };

/* Returns the number of different workloads of all seeds, and whether all use edges(). A seed always gives the
 * same workload. */
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
    d.load_params.balancer.kind = MODEL_BALANCER_GREEDY;
    assert_int_equal(draw(&d, &edges), WITH_EDGES);
    assert_true(edges);
    d.load_params.balancer.kind = MODEL_BALANCER_NONE;
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

/* Draws the length of a dataset. phases 0: not set. checkpoints UINT32_MAX: not set. */
static void draw_length(uint64_t seed, enum gen_scale scale, uint32_t phases, uint32_t checkpoints,
                        struct gen_dataset *d) {
    assert_int_equal(gen_dataset_init(d, "dfplus-hdr200", scale, NULL), HPCW_OK);
    d->seed = seed;
    d->load_params.phases = phases == 0 ? d->load_params.phases : phases;
    d->ckpt_params.checkpoints = checkpoints == UINT32_MAX ? d->ckpt_params.checkpoints : checkpoints;
    gen_dataset_draw_length(d, phases != 0, checkpoints != UINT32_MAX);
}

static void test_lengths(void **state) {
    (void)state;
    static const struct {
        enum gen_scale scale;
        uint32_t least, most;
    } bounds[] = {{GEN_SCALE_TINY, 5, 6},
                  {GEN_SCALE_SMALL, 12, 15},
                  {GEN_SCALE_MEDIUM, 30, 40},
                  {GEN_SCALE_LARGE, 150, 200}};
    enum { ENOUGH = 4096, MOST_CHECKPOINTS = 3 };
    struct gen_dataset d;
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        uint32_t least = UINT32_MAX;
        uint32_t most = 0;
        bool drawn[MOST_CHECKPOINTS + 1] = {false};
        for (uint64_t seed = 1; seed <= ENOUGH; seed++) {
            draw_length(seed, bounds[i].scale, 0, UINT32_MAX, &d);
            const uint32_t phases = d.load_params.phases;
            least = phases < least ? phases : least;
            most = phases > most ? phases : most;
            assert_in_range(d.ckpt_params.checkpoints, 1, MOST_CHECKPOINTS);
            drawn[d.ckpt_params.checkpoints] = true;
        }
        assert_int_equal(least, bounds[i].least);
        assert_int_equal(most, bounds[i].most);
        assert_true(drawn[1] && drawn[2] && drawn[3]);
    }
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        /* If phases or checkpoints are set, this number stays, and the other one is drawn to fit it. */
        draw_length(seed, GEN_SCALE_MEDIUM, 1, UINT32_MAX, &d);
        assert_int_equal(d.load_params.phases, 1);
        assert_int_equal(d.ckpt_params.checkpoints, 1);
        draw_length(seed, GEN_SCALE_MEDIUM, 0, 39, &d);
        assert_in_range(d.load_params.phases, 39, 40);
        assert_int_equal(d.ckpt_params.checkpoints, 39);
        draw_length(seed, GEN_SCALE_MEDIUM, 7, 0, &d);
        assert_int_equal(d.load_params.phases, 7);
        assert_int_equal(d.ckpt_params.checkpoints, 0);
        /* More checkpoints than the scale has phases are refused later, with any seed. */
        draw_length(seed, GEN_SCALE_MEDIUM, 0, 41, &d);
        assert_true(d.load_params.phases < 41);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_workloads), cmocka_unit_test(test_starts),
                                       cmocka_unit_test(test_lengths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
