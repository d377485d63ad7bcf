/* SPDX-License-Identifier: BSD-3-Clause */
/* The load model: channels of distant senders, and meshes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen/model/load/load.h"
#include "tests/support/load_made.h"

enum { RANKS = 128 };

/* Sets mean and variance of the number of senders per object, on a torus without empty places. */
static void senders(uint32_t channels, double *mean, double *variance) {
    struct model_load_params p;
    struct load_made m;
    double sum = 0, squares = 0;
    model_load_params_init(&p);
    p.objects = 64;
    p.fill = 1;
    p.periodic = true;
    p.edge.far = 2;
    p.edge.far_channels = channels;
    load_make(&m, RANKS, 3, &p);
    for (uint32_t k = 0; k < m.load.objects; k++) {
        struct model_load_edge edge[MODEL_LOAD_MOST_KINDS];
        const double count = model_load_senders(&m.load, k, edge);
        sum += count;
        squares += count * count;
    }
    *mean = sum / m.load.objects;
    *variance = squares / m.load.objects - *mean * *mean;
    load_drop(&m);
}

/* The number of channels does not change the mean number of senders. The variance of this number is binomial. */
static void test_channels(void **state) {
    (void)state;
    for (uint32_t channels = 0; channels <= 8; channels += 2) {
        double mean, variance;
        senders(channels, &mean, &variance);
        const double share = channels > 2 ? 2.0 / channels : 1;
        print_message("%u channels: %.3f senders, variance %.3f\n", channels, mean, variance);
        assert_true(fabs(mean - 6) < 0.1);
        assert_true(fabs(variance - 2 * (1 - share)) < 0.15);
    }
}

/* ---- meshes ---- */

/* At each boundary in a dimension, the cells that neighbours send add up to one layer of the mesh, whatever the
 * sizes of the blocks are. */
static void test_mesh(void **state) {
    (void)state;
    enum { PHASE = 5, FEW = 12, MOST_SIDE = 96 };
    for (uint32_t dims = 1; dims <= 3; dims++) {
        struct load_made m;
        struct model_load_params p = load_defaults();
        uint64_t crossing[3][MOST_SIDE] = {{0}};
        p.comm = MODEL_COMM_MESH;
        p.dims = dims;
        p.cells = 7;
        load_make(&m, FEW, 4, &p);
        const uint32_t layers = m.load.phase[PHASE].layers;
        for (uint32_t o = 0; o < m.load.objects; o++) {
            struct model_load_edge edge[MODEL_LOAD_MOST_KINDS];
            const uint32_t senders = model_load_senders(&m.load, o, edge);
            assert_in_range(senders, dims == 1 ? 1 : dims, 2 * dims);
            for (uint32_t i = 0; i < senders; i++) {
                uint32_t at[3];
                const uint32_t kind = edge[i].kind, owner = model_load_owner(kind, edge[i].from, o);
                const struct model_load_flow flow = model_load_flow(&m.load, owner, model_load_shared(kind), 0);
                const struct model_load_volume v =
                    model_load_volume(&m.load, owner, model_load_shared(kind), flow, PHASE);
                model_load_index(&m.load, owner, at);
                assert_int_equal(v.bytes % (8 * (uint64_t)layers), 0);
                assert_int_equal(v.messages, layers);
                crossing[kind / 2][at[kind / 2]] += v.bytes / 8 / layers;
            }
        }
        for (uint32_t d = 0; d < dims; d++) {
            uint64_t layer = 1;
            for (uint32_t e = 0; e < dims; e++) {
                assert_in_range(m.load.cells[e], p.cells * m.load.side[e], (p.cells + 1) * m.load.side[e]);
                layer *= e == d ? 1 : m.load.cells[e];
            }
            assert_true(m.load.side[d] > 1 && m.load.side[d] <= MOST_SIDE);
            for (uint32_t at = 1; at < m.load.side[d]; at++) { /* both ways */
                assert_int_equal(crossing[d][at], 2 * layer);
            }
        }
        load_drop(&m);
    }
}

/* The number of layers differs between phases, and so does the work. */
static void test_layers(void **state) {
    (void)state;
    enum { PHASES = 1000 };
    struct load_made m;
    struct model_load_params p = load_defaults();
    hpcw_error err;
    p.comm = MODEL_COMM_MESH;
    p.phases = PHASES;
    p.layers = 40;
    p.layers_sd = 0.2;
    p.setup.own = false;
    p.mean_last_ms = p.mean_first_ms;
    load_make(&m, 4, 4, &p);
    double sum = 0, changes = 0;
    for (uint32_t k = 1; k < PHASES; k++) {
        const uint32_t layers = m.load.phase[k].layers;
        assert_in_range(layers, 15, 110);
        assert_true(fabs(m.load.phase[k].mean_ns - 1e6 * p.mean_first_ms * layers / p.layers) < 1);
        sum += layers;
        changes += layers != m.load.phase[k - 1].layers;
    }
    print_message("%.1f layers, which change after %.0f %% of the phases\n", sum / (PHASES - 1),
                  100 * changes / (PHASES - 1));
    assert_true(fabs(sum / (PHASES - 1) - p.layers) < 4 && changes > 0.5 * PHASES);
    load_drop(&m);

    p.layers_sd = 0;
    load_make(&m, 4, 4, &p);
    for (uint32_t k = 0; k < PHASES; k++) {
        assert_int_equal(m.load.phase[k].layers, p.layers);
    }
    model_load_free(&m.load);
    p.cells = 65536;
    p.dims = 3;
    assert_int_equal(model_load_init(&m.load, &p, &m.machine, &err), HPCW_ERANGE);
    assert_non_null(strstr(err.message, "load.cells, load.layers: expected at most 1.07374e+09 bytes"));
    model_machine_free(&m.machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_channels), cmocka_unit_test(test_mesh),
                                       cmocka_unit_test(test_layers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
