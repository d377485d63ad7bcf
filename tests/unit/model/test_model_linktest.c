/* SPDX-License-Identifier: BSD-3-Clause */
/* The LinkTest model: every instruction set gives the bits of the plain formula, and results resemble the
 * measurements it is modelled on. */
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
    struct model_network network;
    struct model_linktest model;
    struct model_linktest_scratch *scratch;
};

static void set_up(struct setup *s, const struct model_machine_params *mp,
                   const struct model_linktest_params *lp, uint32_t ranks, uint64_t seed) {
    hpcw_error err;
    if (model_machine_init(&s->machine, mp, ranks, seed, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    model_network_init(&s->network, &s->machine);
    if (model_linktest_init(&s->model, &s->network, lp, &err) != HPCW_OK ||
        model_linktest_scratch_new(&s->model, &s->scratch, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
}

static void tear_down(struct setup *s) {
    model_linktest_scratch_free(s->scratch);
    model_machine_free(&s->machine);
}

/* The job has the first nodes of the machine, so that the place of a rank is known. */
static struct model_machine_params preset(size_t i) {
    struct model_machine_params p;
    assert_int_equal(model_machine_params_init(&p, model_machine_preset[i].name, NULL), HPCW_OK);
    p.busy_share = 0;
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

/* Compares rows of random partners, offsets and lengths with the plain formula. found: visible delays of each
 * row. */
enum { ROWS = 24, LONGEST = 700 };
static void compare_rows(struct setup *s, uint64_t seed, struct model_truth_outliers found[ROWS]) {
    static uint32_t partner[LONGEST];
    static uint64_t time_ps[LONGEST + 1], slowest[LONGEST + 1];
    const uint32_t ranks = s->machine.ranks;
    uint32_t rank = 0;
    memset(found, 0, ROWS * sizeof *found);
    for (uint32_t k = 0; k < ROWS; k++) {
        uint32_t w[4];
        hpcw_i_draw(seed, HPCW_I_FOR_TIMING, k, 1, 2, w);
        /* consecutive ranks reuse cached tables */
        rank = k % 3 == 0 ? w[0] % ranks : (rank + 1) % ranks;
        uint32_t longest = ranks - 1 < LONGEST ? ranks - 1 : LONGEST;
        uint32_t count = k % 2 == 0 ? w[1] % (longest + 1) : w[1] % (longest < 40 ? longest + 1 : 40);
        uint32_t first = w[2] % (ranks - count), permutation = k / 6;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t v[4];
            hpcw_i_draw(seed, HPCW_I_FOR_RETEST, k, i, 0, v);
            /* one of 8 near ranks, a random rank, or ranks in order, which reuse the congestion of the previous
             * row */
            partner[i] = v[0] % 4 == 0   ? (rank / 8 * 8 + v[1] % 8) % ranks
                         : v[0] % 4 == 1 ? v[1] % ranks
                                         : (rank + first + i + 1) % ranks;
            slowest[i] = v[2] % 2 == 0 ? 1 : UINT64_C(1) << 51;
        }
        time_ps[count] = slowest[count] = 12345;
        model_linktest_row(&s->model, s->scratch, rank, permutation, first, count, partner, time_ps, slowest,
                           &found[k]);
        assert_int_equal(time_ps[count], 12345);
        assert_int_equal(slowest[count], 12345);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t plain = model_linktest_one(&s->model, rank, partner[i], permutation, first + i);
            if (time_ps[i] != plain) {
                fail_msg("%s: rank %u partner %u permutation %u step %u: expected %" PRIu64 ", got %" PRIu64,
                         model_simd_name(s->model.simd), rank, partner[i], permutation, first + i, plain,
                         time_ps[i]);
            }
            assert_true(slowest[i] == plain || slowest[i] == UINT64_C(1) << 51);
        }
    }
}

static void compare_all_simd(const struct model_machine_params *mp, const struct model_linktest_params *lp,
                             uint32_t ranks, uint64_t seed) {
    struct model_truth_outliers found[MODEL_SIMD_COUNT][ROWS];
    for (int simd = 0; simd < MODEL_SIMD_COUNT; simd++) {
        struct setup s;
        set_up(&s, mp, lp, ranks, seed);
        if (model_linktest_use(&s.model, (enum model_simd)simd)) {
            compare_rows(&s, seed, found[simd]);
            for (int k = 0; k < ROWS; k++) {
                const struct model_truth_outliers *a = &found[simd][k], *b = &found[0][k];
                assert_int_equal(a->count, b->count);
                for (int i = 0; i < MODEL_TRUTH_DELAYS; i++) {
                    const struct model_truth_delay *x = &a->worst[i], *y = &b->worst[i];
                    assert_true(x->visibility == y->visibility && x->ps == y->ps && x->step == y->step &&
                                x->partner == y->partner && x->permutation == y->permutation);
                }
            }
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
                mp.bad.node_share = 0.2; /* so many faults that every branch runs */
                mp.bad.cable_share = 0.2;
                lp.kernel = what % 3;
                lp.run.serial = what == 3;
                lp.noisy = what >= 4;
                lp.run.message_size = what == 2 ? 16 << 20 : what == 5 ? 8 : 262144;
                lp.run.bisection = what == 4;
                lp.run.permutations = what == 1 ? 7 : 0;
                lp.run.gpu_memory = what == 3 && mp.gpu.count > 0;
                mp.busy_share = what == 5 ? 0.3 : 0;
                mp.job = what == 1 ? 9 : 0;
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
    mp.bad.node_share = 0.3;
    mp.bad.cable_share = 0.3;
    lp.run.messages = 1;
    lp.s_msg = 1.5;
    mp.pair_spread = 0.5;
    compare_all_simd(&mp, &lp, 1234, 77);
    lp.tail_probability = 1;
    compare_all_simd(&mp, &lp, 1234, 78);
    mp.ppn = 1;
    mp.nodes_per_switch = 1;
    mp.nodes_per_group = 1;
    compare_all_simd(&mp, &lp, 1234, 79);
    /* Times that round to 0 become one picosecond. */
    for (int c = 0; c < MODEL_CLASSES; c++) {
        mp.message.latency_us[c] = 0;
        mp.message.rendezvous_us[c] = 0;
        mp.message.protocol_us[c] = 0;
    }
    lp.run.message_size = 0;
    lp.tail_probability = 0;
    compare_all_simd(&mp, &lp, 1234, 80);
    struct setup s;
    set_up(&s, &mp, &lp, 1234, 80);
    assert_int_equal(model_linktest_one(&s.model, 0, 1, 0, 0), 1);
    tear_down(&s);
}

/* A row has the same times when it is computed at once, in pieces, or after other rows. */
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
    model_linktest_row(&s.model, s.scratch, 500, 2, 0, RANKS - 1, partner, whole, NULL, NULL);
    for (uint32_t piece = 1; piece < 70; piece += 6) {
        for (uint32_t at = 0; at < RANKS - 1; at += piece) {
            uint32_t count = RANKS - 1 - at < piece ? RANKS - 1 - at : piece;
            model_linktest_row(&s.model, s.scratch, 3, at % 2, 0, 50, other, between, NULL, NULL);
            model_linktest_row(&s.model, s.scratch, 500, 2, at, count, partner + at, pieces + at, NULL, NULL);
        }
        assert_memory_equal(whole, pieces, (RANKS - 1) * sizeof *whole);
    }
    tear_down(&s);
}

/* Times of a seed are the same in every version, on every machine and with every compiler. */
static void test_bits_are_pinned(void **state) {
    (void)state;
    enum { RANKS = 4096 };
    static const uint64_t expected[] = {
        0x97bab22c7ce912c1, 0x8fe3dae4bc15a5eb, 0x64ebc14a7252fe61,
        0xe25f013740ccc20e, 0x13f1837134eb2219, 0x4ec531483eb9a617,
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
            model_linktest_row(&s.model, s.scratch, rank, 0, 0, RANKS - 1, partner, time_ps, NULL, NULL);
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

/* Statistics of all timings of a run, in microseconds. row_mean: if not NULL, gets the mean of each rank's row. */
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
        model_linktest_row(&s->model, s->scratch, rank, 0, 0, ranks - 1, partner, time_ps, NULL, &outliers);
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

/* Results resemble a published excerpt: 24 timings of 256 KiB within a switch, one pair at a time, without
 * faults. A step took as long as 175 round trips. No timing is below that of the line rate. */
static void test_like_the_published_steps(void **state) {
    (void)state;
    struct model_machine_params mp = preset(0);
    struct model_linktest_params lp = defaults();
    struct setup s;
    mp.bad.node_share = 0;
    mp.bad.cable_share = 0;
    lp.run.serial = true;
    lp.tail_probability = 0;
    lp.run.messages = 170;
    set_up(&s, &mp, &lp, 4096, 1);
    assert_false(s.model.congested);
    double sum = 0, least = 1e30, most = 0;
    int excerpts = 0;
    for (uint32_t i = 0; i < 48; i++) {
        /* smallest and largest of 24 timings, averaged over excerpts, and the mean of all */
        double low = 1e30, high = 0;
        for (uint32_t j = 48; j < 72; j++) {
            double us = (double)model_linktest_one(&s.model, i, j, 0, j) * 1e-6;
            assert_true(us * 1e6 > 0.9e6 + 262144e3 / 25);
            low = us < low ? us : low;
            high = us > high ? us : high;
            sum += us / 24;
        }
        least = excerpts == 0 ? low : least + low;
        most += high;
        excerpts++;
    }
    near("256 KiB, minimum, us", least / excerpts, 11.535, 0.01);
    near("256 KiB, mean, us", sum / excerpts, 11.688, 0.01);
    near("256 KiB, maximum, us", most / excerpts, 12.012, 0.015);
    tear_down(&s);
}

/* Results resemble a published bisection of 190 nodes with 16 MiB in both directions. Figures of a step are
 * computed as by LinkTest: pairs x 2 x size / mean time. A step took 2.5 s with 1000 messages, so each step has its
 * own congestion. */
static void test_like_the_bisection(void **state) {
    (void)state;
    enum { RANKS = 760, HALF = 380 }; /* 190 nodes of 4 */
    struct model_machine_params mp = preset(0);
    struct model_linktest_params lp = defaults();
    struct setup s;
    lp.run.message_size = 16 << 20;
    lp.run.messages = 1000;
    lp.run.bisection = true;
    lp.kernel = HPCW_LINKTEST_BIDIRECTIONAL;
    mp.bad.node_share = 0;
    mp.bad.cable_share = 0;
    lp.tail_probability = 0;
    double least = 0, most = 0, mean = 0;
    enum { SEEDS = 5 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        set_up(&s, &mp, &lp, RANKS, seed);
        assert_true(s.model.congested);
        double low = 1e30, high = 0, all_us = 0;
        for (uint32_t step = 0; step < HALF; step++) {
            double us = 0;
            for (uint32_t i = 0; i < HALF; i++) {
                us += (double)model_linktest_one(&s.model, i, HALF + (i + step) % HALF, 0, step) * 1e-6 / HALF;
            }
            double tib = HALF * 2.0 * (double)lp.run.message_size / (us * 1e-6) / 0x1p40;
            low = tib < low ? tib : low;
            high = tib > high ? tib : high;
            all_us += us / HALF;
        }
        least += low / SEEDS;
        most += high / SEEDS;
        mean += HALF * 2.0 * (double)lp.run.message_size / (all_us * 1e-6) / 0x1p40 / SEEDS;
        tear_down(&s);
    }
    near("bisection, minimum, TiB/s", least, 8.2409, 0.15);
    near("bisection, mean, TiB/s", mean, 9.2899, 0.15);
    near("bisection, maximum, TiB/s", most, 11.3783, 0.15);
}

static void test_when_links_are_congested(void **state) {
    (void)state;
    struct model_machine_params mp = preset(0), fat = preset(2), torus = preset(4);
    struct model_linktest_params lp = defaults();
    struct setup s;
    set_up(&s, &mp, &lp, 4096, 1);
    assert_true(s.model.congested);
    const double plain = s.model.run.wait[MODEL_OTHER_GROUP];
    tear_down(&s);
    /* With ranks numbered at random, those of a group send to all other groups, and fewer messages need a
     * detour. */
    lp.run.permutations = 1;
    set_up(&s, &mp, &lp, 4096, 1);
    assert_true(s.model.congested && s.model.run.wait[MODEL_OTHER_GROUP] < 0.35 * plain);
    tear_down(&s);
    lp = defaults();
    lp.run.serial = true;
    set_up(&s, &mp, &lp, 4096, 1);
    assert_false(s.model.congested);
    tear_down(&s);
    /* A fat tree of two islands with 33 links down for 7 up. The 64 ranks of a node share its card. */
    lp = defaults();
    set_up(&s, &fat, &lp, 66 * 64 * 2, 1);
    assert_true(s.model.congested);
    double near_us = (double)model_linktest_one(&s.model, 0, 64, 0, 0) * 1e-6;
    assert_true(near_us > 63 * 262.144 / 12.5);
    assert_true(s.model.run.wait[MODEL_OTHER_GROUP] > 0.8 * 262.144e6 / 12.5);
    tear_down(&s);
    /* On a torus, longer paths share more links. */
    set_up(&s, &torus, &lp, 4096, 1);
    assert_true(s.model.congested && s.model.run.hop_wait > 0);
    tear_down(&s);
    set_up(&s, &mp, &lp, 64, 1); /* one switch */
    assert_false(s.model.congested);
    tear_down(&s);
}

static void test_kernels(void **state) {
    (void)state;
    struct model_machine_params mp = preset(0);
    struct model_linktest_params lp = defaults();
    mp.bad.node_share = 0;
    mp.pair_spread = 0;
    lp.s_msg = 0;
    lp.tail_probability = 0;
    const double line = 262.144 / 25, protocol = 0.07 * 262144 / (262144 + 4096.0) + 0.03;
    const double expected[] = {
        0.9 + protocol + line,
        0.9 * (0.1 + 0.9 / 25) + protocol + line,
        0.9 + protocol + line / 0.96,
    };
    for (int kernel = 0; kernel < 3; kernel++) {
        struct setup s;
        lp.kernel = kernel;
        set_up(&s, &mp, &lp, 4096, 1);
        near("kernel, us", (double)model_linktest_one(&s.model, 0, 4, 0, 0) * 1e-6, expected[kernel], 1e-6);
        tear_down(&s);
    }
    /* Without congestion, 3 hops take longer than 1 hop by the time of 2 hops. */
    struct setup s;
    mp = preset(4);
    mp.bad.node_share = 0;
    mp.pair_spread = 0;
    lp.run.serial = true;
    lp.kernel = HPCW_LINKTEST_SEMIDIRECTIONAL;
    set_up(&s, &mp, &lp, 4096, 1);
    double one_hop = (double)model_linktest_one(&s.model, 0, 4, 0, 0);
    double three_hops = (double)model_linktest_one(&s.model, 0, 9 * 4, 0, 0);
    assert_true(fabs(three_hops - one_hop - 2e5) <= 1);
    tear_down(&s);
}

/* Buffers in GPU memory: NVLink within a node, a longer path between nodes, an error without GPUs. */
static void test_gpu_memory(void **state) {
    (void)state;
    struct model_machine_params mp = preset(0);
    struct model_linktest_params lp = defaults();
    double us[2][2];
    for (int gpu = 0; gpu < 2; gpu++) {
        struct setup s;
        lp.run.gpu_memory = gpu == 1;
        lp.run.serial = true;
        set_up(&s, &mp, &lp, 4096, 1);
        us[gpu][0] = (double)model_linktest_one(&s.model, 0, 2, 0, 0) * 1e-6;
        us[gpu][1] = (double)model_linktest_one(&s.model, 0, 8, 0, 0) * 1e-6;
        tear_down(&s);
    }
    assert_true(us[1][0] < 0.4 * us[0][0]);
    assert_true(us[1][1] > us[0][1] + 0.8 && us[1][1] < us[0][1] + 1);
    struct model_machine m;
    struct model_network net;
    struct model_linktest model;
    hpcw_error err;
    mp = preset(5);
    assert_int_equal(model_machine_init(&m, &mp, 64, 1, &err), HPCW_OK);
    model_network_init(&net, &m);
    assert_int_equal(model_linktest_init(&model, &net, &lp, &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "machine.gpus"));
    model_machine_free(&m);
}

/* Nearly all delays stand out of the noise. roundtrip/test_truth.c checks by how much. */
static void test_outliers_stand_out(void **state) {
    (void)state;
    enum { RANKS = 4096 };
    struct model_machine_params mp = preset(0);
    struct model_linktest_params lp = defaults();
    struct setup s;
    mp.bad.node_share = 0;
    mp.bad.cable_share = 0;
    set_up(&s, &mp, &lp, RANKS, 6);
    static uint32_t partner[RANKS];
    static uint64_t time_ps[RANKS];
    uint32_t visible = 0, delays = 0;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct model_truth_outliers o = {0};
        rotate(RANKS, rank, partner);
        model_linktest_row(&s.model, s.scratch, rank, 0, 0, RANKS - 1, partner, time_ps, NULL, &o);
        for (uint32_t k = 0; k < RANKS - 1; k++) {
            uint32_t w[4];
            hpcw_i_draw(s.machine.seed, HPCW_I_FOR_TIMING, rank, partner[k], 0, w);
            delays += w[2] < s.model.tail_threshold;
        }
        visible += (uint32_t)o.count;
        for (uint32_t k = 0; k < MODEL_TRUTH_DELAYS; k++) {
            const struct model_truth_delay *e = &o.worst[k];
            assert_int_equal(e->ps > 0, k < o.count);
            assert_true(k >= o.count || ((e->visibility == 0 || e->visibility >= 5000) &&
                                         time_ps[e->step] > e->ps && partner[e->step] == e->partner));
            assert_true(k == 0 || e->visibility <= e[-1].visibility);
        }
    }
    print_message("%u delays, %u of them stand out\n", delays, visible);
    assert_true(fabs(delays - 419.3) < 100);
    assert_true(visible > 0.9 * delays);
    tear_down(&s);
}

/* The end of a permutation follows from its timings. */
static void test_seconds(void **state) {
    (void)state;
    struct model_machine_params mp = preset(0);
    struct model_linktest_params lp = defaults();
    struct setup s;
    lp.run.messages = 25;
    lp.run.warmup_messages = 3;
    set_up(&s, &mp, &lp, 4, 1);
    const uint64_t slowest[3] = {UINT64_C(1000000000), UINT64_C(2000000000), UINT64_C(3000000000)};
    near("seconds", model_linktest_seconds(&s.model, slowest, 0, 1e9, 500000000), 7e-3 * 56 + 0.0005, 1e-12);
    tear_down(&s);
    lp.run.serial = true;
    set_up(&s, &mp, &lp, 4, 1);
    near("serial seconds", model_linktest_seconds(&s.model, NULL, 24e9, 1e9, 0), 13e-3 * 56, 1e-12);
    tear_down(&s);
}

/* The mean of a node's rows shows every bad port and no other node, for kernels of one and of both directions. */
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
            /* The kernel of one direction shows only bad outgoing ports in the node's own timings. */
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
        assert_true(least_bad > 1.15 * most_good);
        tear_down(&s);
    }
}

static void test_bad_cables_show(void **state) {
    (void)state;
    enum { RANKS = 4096 };
    struct model_machine_params mp = preset(0);
    struct model_linktest_params lp = defaults();
    struct setup s;
    mp.bad.node_share = 0;
    mp.bad.cable_share = 0.01;
    set_up(&s, &mp, &lp, RANKS, 4);
    uint32_t a = 0, b = 0, found = 0;
    struct model_truth_cable cable;
    while (model_truth_next_cable(&s.machine, &a, &b, &cable)) {
        double slow = 0, usual = 0;
        /* usual: the same ranks with partners at another switch, through a good cable */
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
        assert_true(slow > 1.25 * usual);
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
    assert_true(slower < PAIRS / 10); /* without congestion, a retest is rarely slower */
    assert_true(mean > 12.2 && mean < 12.9);
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
        double off = (double)model_linktest_all_to_all(&s.model, r, 3) * 1e-6 / (12 * 1.35) - 1;
        assert_true(off >= 0);
        sum += off;
        squares += off * off;
    }
    double mean = sum / RANKS;
    assert_true(fabs(mean - 0.1 * MODEL_TAIL_MEAN) < 0.008);
    assert_true(fabs(sqrt(squares / RANKS - mean * mean) - 0.1) < 0.005);
    tear_down(&s);
}

/* ---- Bad input ------------------------------------------------------------------------------------------- */

static void test_refusals(void **state) {
    (void)state;
    struct model_machine_params mp = preset(0);
    struct model_machine m;
    struct model_network net;
    struct model_linktest model;
    struct model_linktest_params lp = defaults();
    hpcw_error err;
    assert_int_equal(model_machine_init(&m, &mp, 64, 1, &err), HPCW_OK);
    model_network_init(&net, &m);
    lp.run.messages = 0;
    assert_int_equal(model_linktest_init(&model, &net, &lp, &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "linktest.messages"));
    lp = defaults();
    lp.tail_us = 9000;
    assert_int_equal(model_linktest_init(&model, &net, &lp, &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "linktest.tail_max"));
    lp = defaults();
    lp.run.message_size = (uint64_t)1 << 40;
    m.params.message.line_gbs[2] = 0.01;
    assert_int_equal(model_linktest_init(&model, &net, &lp, &err), HPCW_ERANGE);
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
        cmocka_unit_test(test_like_the_published_steps),
        cmocka_unit_test(test_like_the_bisection),
        cmocka_unit_test(test_when_links_are_congested),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_gpu_memory),
        cmocka_unit_test(test_outliers_stand_out),
        cmocka_unit_test(test_seconds),
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
