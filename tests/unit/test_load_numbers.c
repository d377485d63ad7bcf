/* SPDX-License-Identifier: BSD-3-Clause */
/* What numbers of the model of loads decide: the problem, and the channels of distant senders. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gen/model/load/load.h"

enum { RANKS = 128 };

struct made {
    struct model_machine machine;
    struct model_load load;
};

static void make(struct made *m, const struct model_load_params *p, uint64_t seed) {
    struct model_machine_params machine;
    assert_int_equal(model_machine_params_init(&machine, "dfplus-hdr200", NULL), HPCW_OK);
    assert_int_equal(model_machine_init(&m->machine, &machine, RANKS, seed, NULL), HPCW_OK);
    assert_int_equal(model_load_init(&m->load, p, &m->machine, NULL), HPCW_OK);
}

static void drop(struct made *m) {
    model_load_free(&m->load);
    model_machine_free(&m->machine);
}

/* A problem has the same objects, with the same lasting work, whatever the seed; what is new in a phase follows the seed. The
 * seed with the number of the problem has others. */
static void test_problem(void **state) {
    (void)state;
    struct model_load_params p;
    struct made m[3]; /* problem 5 with two seeds; seed 5 */
    uint32_t objects = 0, different_times = 0, as_seed = 0;
    model_load_params_init(&p);
    p.fill_spread = 0.5;
    for (uint32_t i = 0; i < 3; i++) {
        p.problem = i < 2 ? 5 : 0;
        make(&m[i], &p, i == 2 ? 5 : 10 + i);
    }
    for (uint32_t k = 0; k < m[0].load.objects; k++) {
        const double lasting = model_load_lasting(&m[0].load, k);
        assert_int_equal(model_load_exists(&m[0].load, k), model_load_exists(&m[1].load, k));
        assert_true(lasting == model_load_lasting(&m[1].load, k));
        objects++;
        different_times +=
            model_load_time(&m[0].load, k, lasting, 3, 1) != model_load_time(&m[1].load, k, lasting, 3, 1);
        as_seed += lasting == model_load_lasting(&m[2].load, k);
    }
    assert_true(different_times > objects / 2);
    assert_true(as_seed < objects / 100);
    for (uint32_t i = 0; i < 3; i++) {
        drop(&m[i]);
    }
}

/* Mean and variance of the number of senders, over all objects of a torus without empty places. */
static void senders(uint32_t channels, double *mean, double *variance) {
    struct model_load_params p;
    struct made m;
    double sum = 0, squares = 0;
    model_load_params_init(&p);
    p.objects = 64;
    p.fill = 1;
    p.periodic = true;
    p.far_edges = 2;
    p.far_channels = channels;
    make(&m, &p, 3);
    for (uint32_t k = 0; k < m.load.objects; k++) {
        struct model_load_edge edge[MODEL_LOAD_MOST_KINDS];
        const double count = model_load_senders(&m.load, k, edge);
        sum += count;
        squares += count * count;
    }
    *mean = sum / m.load.objects;
    *variance = squares / m.load.objects - *mean * *mean;
    drop(&m);
}

/* The mean stays, the variance is that of a binomial distribution. */
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_problem), cmocka_unit_test(test_channels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
