/* SPDX-License-Identifier: BSD-3-Clause */
/* The load model: positions and senders of objects. Closed forms agree with their inverses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/model/draw/grid.h"
#include "gen/model/draw/permute.h"
#include "libwriter/base/mem.h"
#include "tests/support/load_made.h"

/* ---- boxes and orders ------------------------------------------------------------------------------------ */

static void boxes(void **state) {
    (void)state;
    static const struct {
        uint32_t n, dims, side[3];
    } rows[] = {{1, 3, {1, 1, 1}},  {8, 1, {8, 1, 1}},  {8, 2, {4, 2, 1}},      {8, 3, {2, 2, 2}},
                {7, 3, {7, 1, 1}},  {12, 3, {3, 2, 2}}, {4096, 2, {64, 64, 1}}, {4096, 3, {16, 16, 16}},
                {36, 2, {6, 6, 1}}, {30, 3, {5, 2, 3}}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t side[3];
        uint32_t at[3];
        model_grid_shape(rows[i].n, rows[i].dims, side);
        assert_memory_equal(side, rows[i].side, sizeof side);
        for (uint32_t cell = 0; cell < rows[i].n; cell++) {
            model_grid_position(side, cell, at);
            assert_true(at[0] < side[0] && at[1] < side[1] && at[2] < side[2]);
            assert_int_equal(model_grid_cell(side, at), cell);
        }
    }
}

static void orders_are_orders(void **state) {
    (void)state;
    static const uint32_t counts[] = {1, 2, 3, 4, 5, 16, 17, 1000, 4096};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        uint32_t n = counts[i];
        uint32_t fixed = 0;
        bool *seen = calloc(n, sizeof *seen);
        for (uint32_t key = 0; key < 3; key++) {
            const struct model_permutation p = {n, key, 2, HPCW_I_FOR_LOAD_FAR};
            memset(seen, 0, n * sizeof *seen);
            for (uint32_t x = 0; x < n; x++) {
                uint32_t y = model_permute(&p, x);
                assert_true(y < n && !seen[y]);
                seen[y] = true;
                fixed += x == y;
                assert_int_equal(model_permute_back(&p, y), x);
            }
        }
        /* On average, one entry of a permutation stays in its place. */
        assert_true(n < 100 || fixed < 15);
        free(seen);
    }
    /* A permutation of almost 2^32 entries. */
    const struct model_permutation large = {UINT32_MAX - 4, 0, 2, HPCW_I_FOR_LOAD_FAR};
    for (uint32_t x = 0; x < 1000; x++) {
        assert_int_equal(model_permute_back(&large, model_permute(&large, x * 4294967u)), x * 4294967u);
    }
}

/* ---- placement of objects --------------------------------------------------------------------------------- */

static void owners(void **state) {
    (void)state;
    static const uint32_t ranks[] = {1, 2, 3, 8, 37};
    struct model_load_params p = load_defaults();
    p.migration = 0.2;
    p.collections = 2;
    p.objects = 5;
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        struct load_made m;
        load_make(&m, ranks[i], 7, &p);
        struct model_load_cursor *at = calloc(ranks[i], sizeof *at);
        uint32_t *object = calloc(m.load.objects, sizeof *object);
        uint32_t *all = calloc(m.load.objects, sizeof *all);
        uint32_t *before = calloc(m.load.objects, sizeof *before);
        uint32_t moved = 0;
        for (uint32_t phase = 0; phase < p.phases; phase++) {
            bool *seen = calloc(m.load.objects, sizeof *seen);
            for (uint32_t r = 0; r < ranks[i]; r++) {
                if (phase == 0) {
                    model_load_begin(&m.load, r, object + (size_t)r * m.load.per_rank, &at[r]);
                } else {
                    model_load_next(&m.load, &at[r]);
                }
            }
            for (uint32_t o = 0; o < m.load.objects && phase == 0; o++) {
                all[o] = o;
            }
            if (phase > 0) {
                model_load_move(&m.load, all, phase);
            }
            assert_memory_equal(all, object, m.load.objects * sizeof *all);
            for (uint32_t o = 0; o < m.load.objects; o++) {
                uint32_t rank = o / m.load.per_rank;
                uint32_t slot = o % m.load.per_rank;
                assert_int_equal(model_load_object(&m.load, rank, slot, phase), object[o]);
                assert_int_equal(model_load_slot(&m.load, object[o]), slot);
                assert_false(seen[object[o]]);
                seen[object[o]] = true;
                moved += phase > 0 && before[object[o]] != rank && model_load_exists(&m.load, object[o]);
                before[object[o]] = rank;
            }
            free(seen);
        }
        /* About p.migration of the objects move in a phase, fewer at the ends of the grid, where a neighbour is
         * missing. */
        double share = (double)moved / m.load.objects / (p.phases - 1);
        assert_true(ranks[i] == 1 ? moved == 0 : share > 0.3 * p.migration && share < 1.25 * p.migration);
        free(at);
        free(all);
        free(before);
        free(object);
        load_drop(&m);
    }
}

/* Objects move to a neighbour on the grid of ranks, so they stay near their homes. */
static void migrations_keep_locality(void **state) {
    (void)state;
    struct model_load_params p = load_defaults();
    struct load_made m;
    p.migration = 0.05;
    load_make(&m, 256, 3, &p);
    uint32_t *before = calloc(m.load.objects, sizeof *before);
    uint32_t *after = calloc(m.load.objects, sizeof *after);
    uint32_t moved = 0;
    for (uint32_t o = 0; o < m.load.objects; o++) {
        before[o] = after[o] = o;
    }
    for (uint32_t phase = 1; phase < p.phases; phase++) {
        model_load_move(&m.load, after, phase);
        for (uint32_t i = 0; i < m.load.objects; i++) {
            if (before[i] != after[i]) {
                uint32_t here[3];
                uint32_t there[3];
                uint32_t away = 0;
                uint32_t was = 0;
                while (before[was] != after[i]) {
                    was++;
                }
                model_grid_position(m.load.grid, i / m.load.per_rank, here);
                model_grid_position(m.load.grid, was / m.load.per_rank, there);
                for (int d = 0; d < 3; d++) {
                    away += here[d] > there[d] ? here[d] - there[d] : there[d] - here[d];
                }
                assert_int_equal(away, 1);
                moved++;
            }
        }
        memcpy(before, after, m.load.objects * sizeof *before);
    }
    assert_true(moved > 1000);
    free(before);
    free(after);
    load_drop(&m);
}

/* Ranks have different numbers of objects, at least one. The numbers change as objects move into empty places
 * of the index space. */
static void counts_differ(void **state) {
    (void)state;
    struct model_load_params p;
    struct load_made m;
    model_load_params_init(&p);
    p.migration = 0.05;
    load_make(&m, 512, 3, &p);
    uint32_t *object = calloc(m.load.objects, sizeof *object);
    uint32_t before[512] = {0};
    uint32_t seen[16] = {0};
    uint32_t changed = 0;
    uint32_t all = 0;
    for (uint32_t o = 0; o < m.load.objects; o++) {
        object[o] = o;
    }
    for (uint32_t phase = 0; phase < p.phases; phase++) {
        uint32_t sum = 0;
        if (phase > 0) {
            model_load_move(&m.load, object, phase);
        }
        for (uint32_t r = 0; r < 512; r++) {
            uint32_t count = 0;
            for (uint32_t slot = 0; slot < m.load.per_rank; slot++) {
                count += model_load_exists(&m.load, object[r * m.load.per_rank + slot]);
            }
            assert_true(model_load_exists(&m.load, object[r * m.load.per_rank]));
            assert_true(count >= 1 && count <= 9);
            seen[count]++;
            changed += phase > 0 && count != before[r];
            before[r] = count;
            sum += count;
        }
        assert_true(phase == 0 || sum == all);
        all = sum;
    }
    assert_true(fabs((double)all / 512 - model_load_mean_objects(&m.load)) < 0.2);
    for (uint32_t count = 6; count <= 9; count++) {
        assert_true(seen[count] > 0);
    }
    assert_true(changed > 100);
    free(object);
    load_drop(&m);
}

static void places_are_unique(void **state) {
    (void)state;
    struct model_load_params p = load_defaults();
    for (p.dims = 1; p.dims <= 3; p.dims++) {
        struct load_made m;
        p.objects = 12;
        load_make(&m, 24, 3, &p);
        assert_int_equal(m.load.side[0] * m.load.side[1] * m.load.side[2], m.load.objects);
        bool *seen = calloc(m.load.objects, sizeof *seen);
        for (uint32_t o = 0; o < m.load.objects; o++) {
            uint32_t at[3];
            model_load_index(&m.load, o, at);
            assert_true(at[0] < m.load.side[0] && at[1] < m.load.side[1] && at[2] < m.load.side[2]);
            uint32_t cell = model_grid_cell(m.load.side, at);
            assert_false(seen[cell]);
            seen[cell] = true;
        }
        free(seen);
        load_drop(&m);
    }
}

/* ---- messages -------------------------------------------------------------------------------------------- */

static void senders(void **state) {
    (void)state;
    struct model_load_params p = load_defaults();
    static const uint32_t ranks[] = {1, 2, 16, 81};
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        for (uint32_t kind = 0; kind < 12; kind++) {
            struct load_made m;
            p.dims = 1 + kind % 3;
            p.periodic = kind / 3 % 2 != 0;
            p.collections = 1 + kind / 6;
            p.edge.far = 1.5;
            load_make(&m, ranks[i], 3, &p);
            uint64_t edges = 0;
            uint64_t asymmetric = 0;
            for (uint32_t o = 0; o < m.load.objects; o++) {
                struct model_load_edge from[MODEL_LOAD_MOST_KINDS];
                struct model_load_edge back[MODEL_LOAD_MOST_KINDS];
                uint32_t n = model_load_senders(&m.load, o, from);
                assert_true(n <= MODEL_LOAD_MOST_KINDS);
                edges += n;
                for (uint32_t k = 0; k < n; k++) {
                    assert_true(from[k].from < m.load.objects && from[k].from != o &&
                                from[k].kind < m.load.kinds);
                    for (uint32_t j = 0; j < k; j++) {
                        assert_int_not_equal(from[k].from, from[j].from);
                        assert_int_not_equal(from[k].kind, from[j].kind);
                    }
                    uint32_t twin = 0;
                    uint32_t answers = model_load_senders(&m.load, from[k].from, back);
                    for (uint32_t j = 0; j < answers; j++) {
                        twin += back[j].from == o;
                    }
                    asymmetric += twin == 0;
                }
            }
            /* Neighbours send to each other. Distant senders and counterparts in other collections mostly send
             * one way. */
            double one_way = p.edge.far + (p.collections > 2);
            if (ranks[i] == 81) {
                assert_true(fabs((double)asymmetric / m.load.objects - one_way) < 0.15);
                assert_true(p.dims > 1 || !p.periodic || p.collections > 1 ||
                            fabs((double)edges / m.load.objects - 3.5) < 0.1);
            }
            load_drop(&m);
        }
    }
}

static void nobody_sends(void **state) {
    (void)state;
    struct model_load_params p = load_defaults();
    struct model_load_edge edge[MODEL_LOAD_MOST_KINDS];
    struct load_made m;
    p.comm = MODEL_COMM_NONE;
    p.groups = 0;
    load_make(&m, 16, 3, &p);
    for (uint32_t o = 0; o < m.load.objects; o++) {
        assert_int_equal(model_load_senders(&m.load, o, edge), 0);
    }
    load_drop(&m);
}

static bool nothing(size_t size) {
    (void)size;
    return false;
}

static void limits(void **state) {
    (void)state;
    struct model_load_params p = load_defaults();
    struct model_machine_params machine;
    struct model_machine m;
    struct model_load load;
    hpcw_error err;
    p.objects = 4096;
    assert_int_equal(model_machine_params_init(&machine, "dfplus-hdr200", &err), HPCW_OK);
    assert_int_equal(model_machine_init(&m, &machine, 1 << 20, 2, &err), HPCW_OK);
    assert_int_equal(model_load_init(&load, &p, &m, &err), HPCW_ERANGE);
    assert_non_null(
        strstr(err.message, "expected at most 3 * 2^30 objects, got 4096 on each of 1048576 ranks"));
    model_load_free(&load);
    p.objects = 8;
    hpcw_i_mem_gate = nothing;
    hpcw_status s = model_load_init(&load, &p, &m, &err);
    hpcw_i_mem_gate = NULL;
    assert_int_equal(s, HPCW_ENOMEM);
    model_load_free(&load);
    model_machine_free(&m);
}

/* Mean and variance of a rank's number of objects. */
static void count_objects(const struct model_load *m, double *mean, double *variance) {
    double sum = 0;
    double squares = 0;
    for (uint32_t r = 0; r < m->ranks; r++) {
        double count = 0;
        for (uint32_t slot = 0; slot < m->per_rank; slot++) {
            count += model_load_exists(m, r * m->per_rank + slot);
        }
        sum += count;
        squares += count * count;
    }
    *mean = sum / m->ranks;
    *variance = squares / m->ranks - *mean * *mean;
}

/* With fill_spread 0, the number of objects of a rank has a binomial distribution. A larger fill_spread makes
 * the variance larger. */
static void ranks_can_differ(void **state) {
    (void)state;
    static const double spreads[] = {0, 0.5};
    for (size_t i = 0; i < 2; i++) {
        struct model_load_params p = load_defaults();
        struct load_made m;
        double mean;
        double variance;
        p.objects = 100;
        p.fill = 0.3;
        p.fill_spread = spreads[i];
        load_make(&m, 2000, 3, &p);
        count_objects(&m.load, &mean, &variance);
        assert_true(fabs(mean - 1 - 99 * 0.3) < 1.5);
        const double of_share = 99 * 99 * 0.09 * (exp(spreads[i] * spreads[i]) - 1);
        assert_true(fabs(variance / (99 * 0.21 + of_share) - 1) < 0.25);
        load_drop(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes),         cmocka_unit_test(orders_are_orders),
        cmocka_unit_test(owners),        cmocka_unit_test(migrations_keep_locality),
        cmocka_unit_test(counts_differ), cmocka_unit_test(places_are_unique),
        cmocka_unit_test(senders),       cmocka_unit_test(nobody_sends),
        cmocka_unit_test(limits),        cmocka_unit_test(ranks_can_differ),
    };
    return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
