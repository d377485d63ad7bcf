/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The LinkTest model: every instruction set gives the bits of the plain formula, and the results look like the
 * measurements that it is modelled on.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/model/linktest/linktest.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"

struct setup {
    struct model_machine machine;
    struct model_linktest model;
    struct model_linktest_scratch *scratch;
};

static void set_up(struct setup *s, const struct model_machine_params *mp,
                   const struct model_linktest_params *lp, uint32_t ranks, uint64_t seed) {
    hpcw_error err;
    if (model_machine_init(&s->machine, mp, ranks, seed, &err) != HPCW_OK ||
        model_linktest_init(&s->model, &s->machine, lp, &err) != HPCW_OK ||
        model_linktest_scratch_new(&s->model, &s->scratch, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
}

static void tear_down(struct setup *s) {
    model_linktest_scratch_free(s->scratch);
    model_machine_free(&s->machine);
}

static struct model_machine_params preset(size_t i) {
    struct model_machine_params p;
    assert_int_equal(model_machine_params_init(&p, model_machine_preset[i].name, NULL), HPCW_OK);
    return p;
}

static struct model_linktest_params defaults(void) {
    struct model_linktest_params p;
    model_linktest_params_init(&p);
    return p;
}

/* A simple schedule: step s pairs rank r with r + s + 1. */
static void rotate(uint32_t ranks, uint32_t rank, uint32_t *partner) {
    for (uint32_t s = 0; s + 1 < ranks; s++) {
        partner[s] = (uint32_t)(((uint64_t)rank + s + 1) % ranks);
    }
}

/* ---- Same bits ------------------------------------------------------------------------------------------- */

/* Rows of random partners, offsets and lengths, against the plain formula and its count of delays. */
static void compare_rows(struct setup *s, uint64_t seed) {
    enum { ROWS = 24, LONGEST = 700 };
    static uint32_t partner[LONGEST];
    static uint64_t time_ps[LONGEST + 1];
    const uint32_t ranks = s->machine.ranks;
    uint32_t rank = 0;
    for (uint32_t k = 0; k < ROWS; k++) {
        uint32_t w[4];
        hpcw_i_draw(seed, HPCW_I_FOR_TIMING, k, 1, 2, w);
        rank = k % 3 == 0 ? w[0] % ranks : (rank + 1) % ranks; /* neighbours share tables */
        uint32_t longest = ranks - 1 < LONGEST ? ranks - 1 : LONGEST;
        uint32_t count = k % 2 == 0 ? w[1] % (longest + 1) : w[1] % (longest < 40 ? longest + 1 : 40);
        uint32_t first = w[2] % (ranks - count), permutation = k / 6;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t v[4];
            hpcw_i_draw(seed, HPCW_I_FOR_RETEST, k, i, 0, v);
            /* far ones, near ones, and runs with the congestion of the row before */
            partner[i] = v[0] % 4 == 0   ? (rank / 8 * 8 + v[1] % 8) % ranks
                         : v[0] % 4 == 1 ? v[1] % ranks
                                         : (rank + first + i + 1) % ranks;
        }
        struct model_truth_outliers outliers = {0}, worst = {0};
        time_ps[count] = 12345;
        model_linktest_row(&s->model, s->scratch, rank, permutation, first, count, partner, time_ps, &outliers);
        assert_int_equal(time_ps[count], 12345);
        uint64_t tails = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint64_t plain = model_linktest_one(&s->model, rank, partner[i], permutation, first + i);
            if (time_ps[i] != plain) {
                fail_msg("%s: rank %u partner %u permutation %u step %u: wanted %" PRIu64 ", got %" PRIu64,
                         model_simd_name(s->model.simd), rank, partner[i], permutation, first + i, plain,
                         time_ps[i]);
            }
            hpcw_i_draw(s->machine.seed, HPCW_I_FOR_TIMING, rank, partner[i], permutation, w);
            if (w[2] < s->model.tail_threshold) {
                double delay = s->model.tail_ps / sqrt(hpcw_i_uniform(w[3]));
                delay = (delay < s->model.tail_max_ps ? delay : s->model.tail_max_ps) /
                        (double)s->model.params.messages;
                if ((uint64_t)(delay + 0.5) > worst.worst_ps) {
                    worst = (struct model_truth_outliers){.worst_ps = (uint64_t)(delay + 0.5),
                                                          .worst_step = first + i,
                                                          .worst_partner = partner[i],
                                                          .worst_permutation = permutation};
                }
                tails++;
            }
        }
        assert_int_equal(outliers.count, tails);
        assert_int_equal(outliers.worst_ps, worst.worst_ps);
        assert_int_equal(outliers.worst_step, worst.worst_step);
        assert_int_equal(outliers.worst_partner, worst.worst_partner);
        assert_int_equal(outliers.worst_permutation, worst.worst_permutation);
    }
}

static void compare_all_simd(const struct model_machine_params *mp, const struct model_linktest_params *lp,
                             uint32_t ranks, uint64_t seed) {
    for (int simd = 0; simd < MODEL_SIMD_COUNT; simd++) {
        struct setup s;
        set_up(&s, mp, lp, ranks, seed);
        if (model_linktest_use(&s.model, (enum model_simd)simd)) {
            compare_rows(&s, seed);
        }
        tear_down(&s);
    }
}

static void test_same_bits_everywhere(void **state) {
    (void)state;
    static const uint32_t sizes[] = {2, 3, 9, 200, 4096, 1000000};
    uint64_t seed = 1;
    for (size_t i = 0; i < model_machine_preset_count; i++) {
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            for (int what = 0; what < 6; what++) {
                struct model_machine_params mp = preset(i);
                struct model_linktest_params lp = defaults();
                mp.bad_node_share = 0.2; /* so that all paths run */
                mp.bad_cable_share = 0.2;
                lp.kernel = what % 3;
                lp.serial = what == 3;
                lp.noisy = what >= 4;
                lp.message_size = what == 2 ? 16 << 20 : what == 5 ? 8 : 262144;
                lp.load = what == 4 ? MODEL_LINK_LOAD_NONE : MODEL_LINK_LOAD_AUTO;
                compare_all_simd(&mp, &lp, sizes[k], seed++ * 0x9e3779b97f4a7c15);
            }
        }
    }
}

static void test_same_bits_at_odd_shapes(void **state) {
    (void)state;
    struct model_machine_params mp = preset(0);
    struct model_linktest_params lp = defaults();
    mp.cores = 49;
    mp.cores_per_socket = 49;
    mp.cores_per_cache = 7;
    mp.ppn = 7;
    mp.nodes_per_switch = 5;
    mp.nodes_per_group = 15;
    mp.bad_node_share = 0.3;
    mp.bad_cable_share = 0.3;
    lp.messages = 1;
    lp.s_msg = 1.5; /* an exponent up to 6.9: three squarings */
    lp.s_pair = 0.5;
    compare_all_simd(&mp, &lp, 1234, 77);
    lp.tail_probability = 1;
    compare_all_simd(&mp, &lp, 1234, 78);
    mp.ppn = 1;
    mp.nodes_per_switch = 1;
    mp.nodes_per_group = 1;
    compare_all_simd(&mp, &lp, 1234, 79);
    /* Times that round to 0 become one picosecond. */
    for (int c = 0; c < MODEL_CLASSES; c++) {
        mp.latency_us[c] = 0;
        mp.rendezvous_us[c] = 0;
    }
    lp.message_size = 0;
    lp.tail_probability = 0;
    compare_all_simd(&mp, &lp, 1234, 80);
    struct setup s;
    set_up(&s, &mp, &lp, 1234, 80);
    assert_int_equal(model_linktest_one(&s.model, 0, 1, 0, 0), 1);
    tear_down(&s);
}

/* A row is the same in one piece and in any pieces, after any other row. */
static void test_rows_do_not_depend_on_history(void **state) {
    (void)state;
    enum { RANKS = 1000 };
    static uint32_t partner[RANKS], other[RANKS];
    static uint64_t whole[RANKS], pieces[RANKS], between[RANKS];
    struct model_machine_params mp = preset(0);
    struct model_linktest_params lp = defaults();
    struct setup s;
    set_up(&s, &mp, &lp, RANKS, 9);
    rotate(RANKS, 500, partner);
    rotate(RANKS, 3, other);
    model_linktest_row(&s.model, s.scratch, 500, 2, 0, RANKS - 1, partner, whole, NULL);
    for (uint32_t piece = 1; piece < 70; piece += 6) {
        for (uint32_t at = 0; at < RANKS - 1; at += piece) {
            uint32_t count = RANKS - 1 - at < piece ? RANKS - 1 - at : piece;
            model_linktest_row(&s.model, s.scratch, 3, at % 2, 0, 50, other, between, NULL);
            model_linktest_row(&s.model, s.scratch, 500, 2, at, count, partner + at, pieces + at, NULL);
        }
        assert_memory_equal(whole, pieces, (RANKS - 1) * sizeof *whole);
    }
    tear_down(&s);
}

/* Files of a seed must not change, and not differ between machines and compilers. */
static void test_bits_are_pinned(void **state) {
    (void)state;
    enum { RANKS = 4096 };
    static const uint64_t expected[] = {
        0x8f63b1fcc999646a, 0x4b175250fbbfd69f, 0x4a18dd1eb1a2964c,
        0x1fdf22022f66f34a, 0x909ec83ca8e19def, 0x3ddca297476dd4c5,
    };
    static uint32_t partner[RANKS];
    static uint64_t time_ps[RANKS];
    for (size_t i = 0; i < model_machine_preset_count; i++) {
        struct model_machine_params mp = preset(i);
        struct model_linktest_params lp = defaults();
        struct setup s;
        set_up(&s, &mp, &lp, RANKS, 1);
        uint64_t hash = 0xcbf29ce484222325;
        for (uint32_t rank = 0; rank < RANKS; rank += 61) {
            rotate(RANKS, rank, partner);
            model_linktest_row(&s.model, s.scratch, rank, 0, 0, RANKS - 1, partner, time_ps, NULL);
            for (uint32_t k = 0; k < RANKS - 1; k++) {
                hash = (hash ^ time_ps[k]) * 0x100000001b3;
            }
            hash = (hash ^ model_linktest_retest(&s.model, rank, partner[7], 0)) * 0x100000001b3;
            hash = (hash ^ model_linktest_all_to_all(&s.model, rank, 0)) * 0x100000001b3;
        }
        if (hash != expected[i]) {
            fail_msg("%s: expected 0x%016" PRIx64 ", got 0x%016" PRIx64, model_machine_preset[i].name,
                     expected[i], hash);
        }
        tear_down(&s);
    }
}

/* ---- Like the measurements ------------------------------------------------------------------------------- */

struct timing_statistics {
    double min, mean, max;
    double class_mean[MODEL_CLASSES];
    uint64_t class_count[MODEL_CLASSES], outliers;
};

/* Over all timings of a run, in microseconds. sum[rank], if not NULL, gets the mean of each rank's row. */
static struct timing_statistics whole_run(struct setup *s, double *row_mean) {
    const uint32_t ranks = s->machine.ranks;
    uint32_t *partner = calloc(ranks, sizeof *partner);
    uint64_t *time_ps = calloc(ranks, sizeof *time_ps);
    assert_non_null(partner);
    assert_non_null(time_ps);
    struct timing_statistics r = {.min = 1e30};
    double sum = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        struct model_truth_outliers outliers = {0};
        double row = 0;
        rotate(ranks, rank, partner);
        model_linktest_row(&s->model, s->scratch, rank, 0, 0, ranks - 1, partner, time_ps, &outliers);
        r.outliers += outliers.count;
        for (uint32_t k = 0; k + 1 < ranks; k++) {
            double t = (double)time_ps[k] * 1e-6;
            enum model_class c = model_machine_class(&s->machine, rank, partner[k]);
            r.min = t < r.min ? t : r.min;
            r.max = t > r.max ? t : r.max;
            r.class_mean[c] += t;
            r.class_count[c]++;
            row += t;
        }
        sum += row;
        if (row_mean != NULL) {
            row_mean[rank] = row / (ranks - 1);
        }
    }
    r.mean = sum / ((double)ranks * (ranks - 1));
    for (int c = 0; c < MODEL_CLASSES; c++) {
        r.class_mean[c] /= r.class_count[c] > 0 ? (double)r.class_count[c] : 1;
    }
    free(partner);
    free(time_ps);
    return r;
}

static void near(const char *what, double got, double wanted, double tolerance) {
    print_message("%-28s %8.3f, wanted %8.3f (%+.2f %%)\n", what, got, wanted, 100 * (got / wanted - 1));
    assert_true(fabs(got / wanted - 1) <= tolerance);
}

/* The prototype of the model: 4096 ranks, 256 KiB, 25 messages, no congestion. Mean and maximum depend on which nodes a
 * seed makes bad, and the maximum on a single delay, so the test takes four machines. */
static void test_like_the_prototype(void **state) {
    (void)state;
    enum { SEEDS = 4 };
    struct model_machine_params mp = preset(0);
    struct model_linktest_params lp = defaults();
    lp.load = MODEL_LINK_LOAD_NONE;
    double min = 1e30, mean = 0, max = 0, same_switch = 0, events = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct setup s;
        set_up(&s, &mp, &lp, 4096, seed);
        struct timing_statistics r = whole_run(&s, NULL);
        min = r.min < min ? r.min : min;
        max = r.max > max ? r.max : max;
        mean += r.mean / SEEDS;
        same_switch += r.class_mean[MODEL_SAME_SWITCH] / SEEDS;
        events += (double)r.outliers / SEEDS;
        tear_down(&s);
    }
    near("minimum, us", min, 10.64, 0.01);
    near("mean, us", mean, 12.59, 0.02);
    print_message("%-28s %8.3f, prototype 225\n", "maximum, us", max);
    assert_true(max > 50 && max < 1000);
    near("same switch, us", same_switch, 11.74, 0.02);
    near("same switch, GiB/s", 262144 / (same_switch * 1e-6) / 0x1p30, 20.89, 0.02);
    near("tail events", events, 4096.0 * 4095 * 25e-6, 5 / sqrt(SEEDS * 4096.0 * 4095 * 25e-6));
}

/* A machine without faults has the published times of the classes, and the spread of the published excerpt. */
static void test_classes_and_spread(void **state) {
    (void)state;
    struct model_machine_params mp = preset(0);
    struct model_linktest_params lp = defaults();
    struct setup s;
    mp.bad_node_share = 0;
    mp.bad_cable_share = 0;
    lp.load = MODEL_LINK_LOAD_NONE;
    lp.tail_probability = 0;
    set_up(&s, &mp, &lp, 4096, 1);
    struct timing_statistics r = whole_run(&s, NULL);
    static const double expected[MODEL_CLASSES] = {
        0,
        2.05 + 262.144 / 12,
        2.25 + 262.144 / 9,
        1.03 + 262.144 / 24.5,
        1.23 + 262.144 / 24.5,
        1.63 + 262.144 / 24.5,
    };
    assert_int_equal(r.class_count[0], 0); /* four ranks of a node: none share a cache */
    for (int c = 1; c < MODEL_CLASSES; c++) {
        char what[32];
        (void)snprintf(what, sizeof what, "class %d, us", c);
        near(what, r.class_mean[c], expected[c], 0.001);
    }
    /* Published: 24 values from 1.3 % below to 2.8 % above their mean. */
    double s2 = 0, n = 0;
    for (uint32_t i = 0; i < 48; i++) {
        for (uint32_t j = 48; j < 96; j++) {
            double off = log((double)model_linktest_one(&s.model, i, j, 0, j) * 1e-6 / expected[3]);
            s2 += off * off;
            n++;
        }
    }
    near("spread within a switch, %", 100 * sqrt(s2 / n), 100 * sqrt(0.008 * 0.008 + 0.12 * 0.12 / 25), 0.06);
    tear_down(&s);
}

/* Published: steps of a 16 MiB bidirectional cross-half run reached 48 / 54 / 66 % of the links' bandwidth. The
 * model takes these as shares of what a pair alone would get, which is 94 % of the links in both directions. */
static void test_like_the_bisection(void **state) {
    (void)state;
    enum { RANKS = 760, HALF = 380 }; /* 190 nodes of 4 */
    struct model_machine_params mp = preset(0);
    struct model_linktest_params lp = defaults();
    struct setup s;
    lp.message_size = 16 << 20;
    lp.bisection = true;
    lp.kernel = HPCW_LINKTEST_BIDIRECTIONAL;
    mp.bad_node_share = 0;
    mp.bad_cable_share = 0;
    lp.tail_probability = 0;
    set_up(&s, &mp, &lp, RANKS, 1);
    assert_true(s.model.congested && s.model.load.mean == 0.54);
    double least = 1, most = 0, sum = 0;
    for (uint32_t step = 0; step < HALF; step++) {
        double bandwidth = 0; /* of all pairs together, both directions */
        for (uint32_t i = 0; i < HALF; i++) {
            uint32_t j = HALF + (i + step) % HALF;
            bandwidth +=
                (double)lp.message_size / ((double)model_linktest_one(&s.model, i, j, 0, step) * 1e-12);
        }
        double share = bandwidth / (2.0 * HALF * 23.28 * 0x1p30);
        least = share < least ? share : least;
        most = share > most ? share : most;
        sum += share;
    }
    print_message("bisection: %.0f / %.0f / %.0f %% of the line rate, published 48 / 54 / 66\n", 100 * least,
                  100 * sum / HALF, 100 * most);
    assert_true(least > 0.45 && least < 0.54);
    assert_true(fabs(sum / HALF - 0.54) < 0.03);
    assert_true(most > 0.54 && most < 0.68);
    tear_down(&s);
}

static void test_when_links_are_congested(void **state) {
    (void)state;
    struct model_machine_params mp = preset(0), fat = preset(2), torus = preset(4);
    struct model_linktest_params lp = defaults();
    struct setup s;
    set_up(&s, &mp, &lp, 4096, 1);
    assert_true(s.model.congested && s.model.load.mean == 0.9);
    tear_down(&s);
    lp.message_size = 1 << 20;
    set_up(&s, &mp, &lp, 4096, 1);
    assert_true(s.model.congested && s.model.load.mean == 0.54);
    tear_down(&s);
    lp.serial = true;
    set_up(&s, &mp, &lp, 4096, 1);
    assert_false(s.model.congested);
    tear_down(&s);
    lp = defaults();
    set_up(&s, &fat, &lp, 66 * 64 * 2, 1); /* two islands: 33:7 blocking */
    assert_true(s.model.congested && s.model.load.mean == 0.21);
    double near_us = (double)model_linktest_one(&s.model, 0, 64, 0, 0) * 1e-6;
    double far_us = (double)model_linktest_one(&s.model, 0, 66 * 64, 0, 0) * 1e-6;
    assert_true(far_us / near_us > 1 / 0.27 && far_us / near_us < 1 / 0.17);
    tear_down(&s);
    set_up(&s, &torus, &lp, 4096, 1);
    assert_false(s.model.congested);
    tear_down(&s);
    set_up(&s, &mp, &lp, 96, 1); /* one switch */
    assert_false(s.model.congested);
    tear_down(&s);
}

static void test_kernels(void **state) {
    (void)state;
    struct model_machine_params mp = preset(0);
    struct model_linktest_params lp = defaults();
    mp.bad_node_share = 0;
    lp.s_pair = 0;
    lp.s_msg = 0;
    lp.tail_probability = 0;
    static const double expected[] = {
        1.03 + 262.144 / 24.5,
        1.03 / 25 + 262.144 / 24.5,
        (1.03 + 262.144 / 24.5 / 0.96) / 2,
    };
    for (int kernel = 0; kernel < 3; kernel++) {
        struct setup s;
        lp.kernel = kernel;
        set_up(&s, &mp, &lp, 4096, 1);
        assert_true(fabs((double)model_linktest_one(&s.model, 0, 4, 0, 0) * 1e-6 - expected[kernel]) < 1e-6);
        tear_down(&s);
    }
    /* A torus node 3 hops away: two hops more. */
    struct setup s;
    mp = preset(4);
    mp.bad_node_share = 0;
    lp.kernel = HPCW_LINKTEST_SEMIDIRECTIONAL;
    set_up(&s, &mp, &lp, 4096, 1);
    double one_hop = (double)model_linktest_one(&s.model, 0, 4, 0, 0);
    double three_hops = (double)model_linktest_one(&s.model, 0, 9 * 4, 0, 0);
    assert_true(fabs(three_hops - one_hop - 2e5) <= 1);
    tear_down(&s);
}

/* The means of the nodes' rows show every bad port and nothing else, also with the kernel that measures one direction. */
static void test_bad_ports_show(void **state) {
    (void)state;
    enum { RANKS = 4096 };
    static double row_mean[RANKS];
    for (int kernel = 0; kernel < 2; kernel++) {
        struct model_machine_params mp = preset(0);
        struct model_linktest_params lp = defaults();
        struct setup s;
        lp.kernel = kernel;
        set_up(&s, &mp, &lp, RANKS, 4);
        (void)whole_run(&s, row_mean);
        uint32_t bad = 0, found = 0;
        double least_bad = 1e30, most_good = 0, good_sum = 0;
        for (uint32_t n = 0; n < s.machine.nodes; n++) {
            struct model_port port = model_machine_port(&s.machine, n);
            double mean = 0;
            for (uint32_t r = 0; r < 4; r++) {
                mean += row_mean[4 * n + r] / 4;
            }
            /* In one direction, what a node measures is slow only if its sending side is. */
            bool shows = port.factor < 1 && (kernel == HPCW_LINKTEST_SEMIDIRECTIONAL || port.outgoing);
            bad += port.factor < 1;
            found += shows;
            if (shows) {
                least_bad = mean < least_bad ? mean : least_bad;
            } else {
                most_good = mean > most_good ? mean : most_good;
                good_sum += mean;
            }
        }
        print_message(
            "%u of %u bad ports show: rows of %.1f us and more, others %.1f on average, %.1f at most\n", found,
            bad, least_bad, good_sum / (s.machine.nodes - found), most_good);
        assert_true(found >= 1);
        assert_true(least_bad > 1.3 * most_good);
        tear_down(&s);
    }
}

static void test_bad_cables_show(void **state) {
    (void)state;
    enum { RANKS = 4096 };
    struct model_machine_params mp = preset(0);
    struct model_linktest_params lp = defaults();
    struct setup s;
    mp.bad_node_share = 0;
    mp.bad_cable_share = 0.01;
    set_up(&s, &mp, &lp, RANKS, 4);
    uint32_t a = 0, b = 0, found = 0;
    struct model_truth_cable cable;
    while (model_truth_next_cable(&s.machine, &a, &b, &cable)) {
        double slow = 0, usual = 0;
        /* the same ranks with the neighbours of the other switch, in both directions */
        uint32_t beside = (cable.switch_b + 1) % s.machine.switches;
        while (beside == cable.switch_a || model_machine_cable(&s.machine, cable.switch_a, beside) < 1) {
            beside = (beside + 1) % s.machine.switches;
        }
        for (uint32_t k = 0; k < 32; k++) {
            uint32_t i = cable.first_rank_a + k, j = cable.first_rank_b + k, other = beside * 96 + k;
            slow +=
                (double)(model_linktest_one(&s.model, i, j, 0, k) + model_linktest_one(&s.model, j, i, 0, k));
            usual += (double)(model_linktest_one(&s.model, i, other, 0, k) +
                              model_linktest_one(&s.model, other, i, 0, k));
        }
        assert_true(slow > 1.6 * usual);
        found++;
    }
    assert_in_range(found, 2, 25); /* 1 % of 903 pairs */
    tear_down(&s);
}

static void test_retests(void **state) {
    (void)state;
    enum { RANKS = 4096, PAIRS = 2000 };
    struct model_machine_params mp = preset(0);
    struct model_linktest_params lp = defaults();
    struct setup s;
    set_up(&s, &mp, &lp, RANKS, 2);
    uint32_t slower = 0;
    double mean = 0;
    for (uint32_t k = 0; k < PAIRS; k++) {
        uint32_t i = 2 * k % RANKS, j = (i + 2048) % RANKS;
        uint64_t first = model_linktest_one(&s.model, i, j, 0, k),
                 again = model_linktest_retest(&s.model, i, j, 0);
        slower += again > first;
        mean += (double)again * 1e-6 / PAIRS;
        assert_int_not_equal(again, model_linktest_retest(&s.model, i, j, 1));
    }
    assert_true(slower < PAIRS / 10); /* the quiet machine has no congestion */
    assert_true(mean > 12.2 && mean < 12.8);
    tear_down(&s);
}

static void test_all_to_all(void **state) {
    (void)state;
    enum { RANKS = 4096 };
    struct model_machine_params mp = preset(0);
    struct model_linktest_params lp = defaults();
    struct setup s;
    set_up(&s, &mp, &lp, RANKS, 2);
    double sum = 0, squares = 0;
    for (uint32_t r = 0; r < RANKS; r++) {
        double off = log((double)model_linktest_all_to_all(&s.model, r, 3) * 1e-6 / (12 * 1.6));
        sum += off;
        squares += off * off;
    }
    assert_true(fabs(sum / RANKS) < 0.008);
    assert_true(fabs(sqrt(squares / RANKS) - 0.1) < 0.005);
    tear_down(&s);
}

/* ---- Bad input ------------------------------------------------------------------------------------------- */

static void test_refusals(void **state) {
    (void)state;
    struct model_machine_params mp = preset(0);
    struct model_machine m;
    struct model_linktest model;
    struct model_linktest_params lp = defaults();
    hpcw_error err;
    assert_int_equal(model_machine_init(&m, &mp, 64, 1, &err), HPCW_OK);
    lp.messages = 0;
    assert_int_equal(model_linktest_init(&model, &m, &lp, &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "linktest.messages"));
    lp = defaults();
    lp.tail_us = 9000;
    assert_int_equal(model_linktest_init(&model, &m, &lp, &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "linktest.tail_max"));
    lp = defaults();
    lp.message_size = (uint64_t)1 << 40;
    m.params.large_gbs[2] = 0.01;
    assert_int_equal(model_linktest_init(&model, &m, &lp, &err), HPCW_ERANGE);
    assert_non_null(strstr(err.message, "2251 s"));
    model_machine_free(&m);
}

static void test_simd_that_is_not_there(void **state) {
    (void)state;
    struct model_machine_params mp = preset(0);
    struct model_linktest_params lp = defaults();
    struct setup s;
    set_up(&s, &mp, &lp, 64, 1);
    assert_int_equal(s.model.simd, model_simd_best());
    assert_true(model_simd_available(MODEL_SIMD_NONE));
    model_linktest_row_fn *row = s.model.row;
    for (int simd = 0; simd <= MODEL_SIMD_COUNT; simd++) {
        bool there = model_simd_available((enum model_simd)simd);
        assert_true(there || simd != MODEL_SIMD_NONE);
        assert_true(!there || simd <= (int)model_simd_best());
        assert_int_equal(model_linktest_use(&s.model, (enum model_simd)simd), there);
        if (there) {
            row = s.model.row;
        }
        assert_true(s.model.row == row && row != NULL);
    }
    tear_down(&s);
}

static size_t allocations_left;
static bool some_memory(size_t size) {
    (void)size;
    return allocations_left-- > 0;
}

static void test_out_of_memory(void **state) {
    (void)state;
    static const size_t presets[] = {0, 4};
    for (size_t k = 0; k < 2; k++) {
        struct model_machine_params mp = preset(presets[k]);
        struct model_linktest_params lp = defaults();
        struct setup s;
        set_up(&s, &mp, &lp, 4096, 1);
        hpcw_status status = HPCW_ENOMEM;
        size_t n = 0;
        for (; status != HPCW_OK; n++) {
            struct model_linktest_scratch *scratch;
            hpcw_error err;
            allocations_left = n;
            hpcw_i_mem_gate = some_memory;
            status = model_linktest_scratch_new(&s.model, &scratch, &err);
            hpcw_i_mem_gate = NULL;
            assert_true((status == HPCW_OK) == (scratch != NULL));
            assert_true(status == HPCW_OK || status == HPCW_ENOMEM);
            model_linktest_scratch_free(scratch);
        }
        assert_true(n > 5);
        tear_down(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits_everywhere),
        cmocka_unit_test(test_same_bits_at_odd_shapes),
        cmocka_unit_test(test_rows_do_not_depend_on_history),
        cmocka_unit_test(test_bits_are_pinned),
        cmocka_unit_test(test_like_the_prototype),
        cmocka_unit_test(test_classes_and_spread),
        cmocka_unit_test(test_like_the_bisection),
        cmocka_unit_test(test_when_links_are_congested),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_bad_ports_show),
        cmocka_unit_test(test_bad_cables_show),
        cmocka_unit_test(test_retests),
        cmocka_unit_test(test_all_to_all),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_simd_that_is_not_there),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
