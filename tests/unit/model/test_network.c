/* SPDX-License-Identifier: BSD-3-Clause */
/* The network model: physical laws that hold for every preset, whatever it is calibrated on. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "gen/model/machine/truth.h"
#include "gen/model/network/network.h"
#include "libwriter/base/rng.h"

static struct model_machine machine_of(size_t preset, uint32_t ranks, uint64_t seed) {
    struct model_machine_params p;
    struct model_machine m;
    hpcw_error err;
    assert_int_equal(model_machine_params_init(&p, model_machine_preset[preset].name, &err), HPCW_OK);
    if (model_machine_init(&m, &p, ranks, seed, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    return m;
}

/* Returns the time of a message without congestion, ps. */
static double quiet_time(const struct model_way *w) {
    return model_network_time(w, 1, 0, 0);
}

/* Returns the next message size: 1 more near the limits of the protocols, else 2 % more. */
static uint64_t next_size(const struct model_machine_params *p, uint64_t size) {
    const uint64_t limit[] = {0, p->message.eager_node, p->message.eager_net, 1 << 20};
    for (int i = 0; i < 4; i++) {
        if (size + 300 > limit[i] && size < limit[i] + 300) {
            return size + 1;
        }
    }
    return size + 1 + size / 50;
}

static void test_larger_messages_take_longer(void **state) {
    (void)state;
    for (size_t i = 0; i < model_machine_preset_count; i++) {
        struct model_machine m = machine_of(i, 16384, 1);
        struct model_network net;
        model_network_init(&net, &m);
        const struct model_pattern all = model_network_uniform(&net), none = {0};
        for (int busy = 0; busy < 2; busy++) {
            const struct model_contention c = model_network_contention(&net, busy ? &all : &none);
            for (int d = 0; d < MODEL_CLASSES; d++) {
                double before = -1;
                for (uint64_t size = 0; size < UINT64_C(1) << 32; size = next_size(&m.params, size)) {
                    struct model_way w = model_network_class_way(&net, (enum model_class)d, size, &c);
                    double t = quiet_time(&w);
                    if (t <= before) {
                        fail_msg("%s class %d: %" PRIu64 " bytes take %.0f ps, fewer %.0f",
                                 model_machine_preset[i].name, d, size, t, before);
                    }
                    before = t;
                }
            }
        }
        model_machine_free(&m);
    }
}

/* No message is faster than the hardware, for any contention, port and congestion. */
static void test_nothing_is_below_the_floor(void **state) {
    (void)state;
    static const uint64_t sizes[] = {0, 8, 2048, 8192, 8193, 262144, 1 << 20, 16 << 20};
    for (size_t i = 0; i < model_machine_preset_count; i++) {
        struct model_machine m = machine_of(i, 16384, 3);
        struct model_network net;
        model_network_init(&net, &m);
        const struct model_pattern all = model_network_uniform(&net);
        const struct model_contention c = model_network_contention(&net, &all);
        for (uint32_t k = 0; k < 20000; k++) {
            uint32_t w[4];
            hpcw_i_draw(5, HPCW_I_FOR_TIMING, k, 0, 0, w);
            const uint32_t from = w[0] % m.ranks, to = w[1] % m.ranks;
            const uint64_t size = sizes[k % (sizeof sizes / sizeof sizes[0])];
            const enum model_class d = model_machine_class(&m, from, to);
            struct model_way way = model_network_way(&net, from, to, size, &c);
            double factor = model_network_factor(&net, from, to, w[2] % 1000);
            double floor =
                m.params.message.latency_us[d] * 1e6 + (double)size * 1e3 / m.params.message.line_gbs[d];
            assert_true(way.floor_ps >= floor && way.transfer_ps >= 0 && way.wait_ps >= 0 && factor >= 1);
            double noise = model_network_tail(hpcw_i_normal(w[2], w[3]));
            double pair = model_network_pair(&net, from, to);
            assert_true(noise >= 0 && pair >= 0);
            assert_true(pair == model_network_pair(&net, to, from));
            assert_true(model_network_time(&way, factor, pair, 0.01 * noise) >= floor);
            assert_int_equal(way.rendezvous, size > (d >= MODEL_SAME_SWITCH ? m.params.message.eager_net
                                                                            : m.params.message.eager_node));
        }
        model_machine_free(&m);
    }
}

/* A job with a number has the same congestion for any seed. */
static void test_congestion_of_a_job(void **state) {
    (void)state;
    struct model_machine_params p;
    struct model_machine m[2];
    struct model_network net[2];
    assert_int_equal(model_machine_params_init(&p, "dfplus-hdr200", NULL), HPCW_OK);
    for (uint32_t job = 0; job < 2; job++) {
        uint32_t same = 0;
        p.job = job;
        p.busy_share = 0; /* both machines have the same nodes */
        for (uint32_t i = 0; i < 2; i++) {
            assert_int_equal(model_machine_init(&m[i], &p, 4096, i + 1, NULL), HPCW_OK);
            model_network_init(&net[i], &m[i]);
        }
        for (uint32_t w = 0; w < 100; w++) {
            same += model_network_factor(&net[0], 0, 4000, w) == model_network_factor(&net[1], 0, 4000, w);
        }
        assert_int_equal(same, job == 0 ? 0 : 100);
        model_machine_free(&m[0]);
        model_machine_free(&m[1]);
    }
}

/* Congestion is correlated between adjacent time windows and between links, but not between distant windows. */
static void test_congestion_persists(void **state) {
    (void)state;
    enum { WINDOWS = 40000, LAGS = 97 };
    struct model_machine m = machine_of(0, 4096, 1);
    struct model_network net;
    model_network_init(&net, &m);
    static double x[WINDOWS], y[WINDOWS];
    double mean = 0, square = 0, other = 0, largest = 0;
    for (uint32_t w = 0; w < WINDOWS; w++) {
        x[w] = model_network_factor(&net, 0, 4000, w);
        y[w] = model_network_factor(&net, 300, 2000, w);
        assert_true(x[w] >= 1);
        assert_true(x[w] == model_network_factor(&net, 4000, 0, w));
        mean += x[w] / WINDOWS;
        largest = x[w] > largest ? x[w] : largest;
    }
    double lag[LAGS] = {0};
    for (uint32_t w = 0; w + LAGS < WINDOWS; w++) {
        square += (x[w] - mean) * (x[w] - mean);
        other += (x[w] - mean) * (y[w] - mean);
        for (int k = 0; k < LAGS; k++) {
            lag[k] += (x[w] - mean) * (x[w + (uint32_t)k] - mean);
        }
    }
    print_message(
        "congestion: mean %.3f, sd %.3f, largest %.2f; correlation of windows 1, 2, 4, 8, 32, 96 apart: "
        "%.2f %.2f %.2f %.2f %.2f %.2f; of two links %.2f\n",
        mean, sqrt(square / WINDOWS), largest, lag[1] / square, lag[2] / square, lag[4] / square,
        lag[8] / square, lag[32] / square, lag[96] / square, other / square);
    assert_true(fabs(mean - (1 + m.params.congestion_spread)) < 0.03);
    assert_true(lag[1] / square > 0.75 && lag[1] > lag[2] && lag[2] > lag[4]);
    /* 8 windows apart, only the load of the whole machine is correlated; 96 apart, nothing is. */
    assert_true(fabs(lag[8] / square - 0.48) < 0.06 && fabs(lag[96] / square) < 0.08);
    assert_true(other / square > 0.4 && other / square < 0.6);
    model_machine_free(&m);
}

static void test_noise_is_right_skewed(void **state) {
    (void)state;
    enum { DRAWS = 200000 };
    double sum = 0, squares = 0, cubes = 0;
    for (uint32_t k = 0; k < DRAWS; k++) {
        uint32_t w[4];
        hpcw_i_draw(9, HPCW_I_FOR_TIMING, k, 0, 0, w);
        double x = model_network_tail(hpcw_i_normal(w[0], w[1])) - MODEL_TAIL_MEAN;
        sum += x;
        squares += x * x;
        cubes += x * x * x;
    }
    double sd = sqrt(squares / DRAWS);
    assert_true(fabs(sum / DRAWS) < 0.01);
    assert_true(fabs(sd - 1) < 0.01);
    assert_true(cubes / DRAWS / (sd * sd * sd) > 0.3);
}

/* More senders and longer distances take longer. A single message has no contention. */
static void test_contention_grows_with_the_pattern(void **state) {
    (void)state;
    for (size_t i = 0; i < model_machine_preset_count; i++) {
        struct model_machine m = machine_of(i, 65536, 1);
        struct model_network net;
        model_network_init(&net, &m);
        struct model_pattern p = {0};
        struct model_contention alone = model_network_contention(&net, &p);
        assert_true(alone.card == 0 && alone.hop == 0 && alone.link[MODEL_OTHER_GROUP] == 0);
        double before = 0;
        const struct model_pattern all = model_network_uniform(&net);
        for (int step = 1; step <= 16; step++) {
            p = all;
            p.ranks = all.ranks * step / 16;
            struct model_contention c = model_network_contention(&net, &p);
            struct model_way w =
                model_network_class_way(&net, m.groups > 1 ? MODEL_OTHER_GROUP : MODEL_SAME_SWITCH, 262144, &c);
            double t = quiet_time(&w) + w.wait_ps + c.hop;
            assert_true(t >= before);
            before = t;
        }
        p = all;
        struct model_contention wide = model_network_contention(&net, &p);
        p.groups = 1;
        struct model_contention narrow = model_network_contention(&net, &p);
        assert_true(narrow.link[MODEL_OTHER_GROUP] >= wide.link[MODEL_OTHER_GROUP]);
        print_message("%-16s card %.2f, switch %.3f, group %.3f (to one group %.3f), hop %.3f\n",
                      model_machine_preset[i].name, wide.card, wide.link[MODEL_SAME_GROUP],
                      wide.link[MODEL_OTHER_GROUP], narrow.link[MODEL_OTHER_GROUP], wide.hop);
        model_machine_free(&m);
    }
}

/* Factors by which messages over crowded links take longer when all ranks send at once. doc/workloads.md lists
 * them. */
static void test_crowded_links(void **state) {
    static const struct {
        const char *preset;
        double most;
    } expected[] = {{"dfplus-hdr200", 1},   {"dragonfly-ss11", 1}, {"fattree-hdr100", 2.4},
                    {"dfplus-ndr200", 1.3}, {"torus-tofud", 2},    {"tcp-1g", 1}};
    (void)state;
    assert_int_equal(model_machine_preset_count, sizeof expected / sizeof expected[0]);
    for (size_t i = 0; i < model_machine_preset_count; i++) {
        struct model_machine m = machine_of(i, 4096, 1);
        struct model_network net;
        model_network_init(&net, &m);
        struct model_pattern all = model_network_uniform(&net);
        double factor[MODEL_CLASSES];
        double most = 0;
        model_network_crowding(&net, &all, factor);
        for (int c = 0; c < MODEL_CLASSES; c++) {
            assert_true(c >= MODEL_SAME_SWITCH || factor[c] <= 1);
            most = fmax(most, factor[c]);
        }
        assert_string_equal(model_machine_preset[i].name, expected[i].preset);
        if (fabs(most - expected[i].most) > 0.05) {
            fail_msg("%s: expected %g, got %g", expected[i].preset, expected[i].most, most);
        }
        all.ranks = m.params.nics / 8.0; /* one rank for 8 cards crowds no link */
        model_network_crowding(&net, &all, factor);
        for (int c = 0; c < MODEL_CLASSES; c++) {
            assert_true(factor[c] <= 1 && factor[c] >= 1);
        }
        model_machine_free(&m);
    }
}

/* A slow port makes messages in its direction slower by its factor. */
static void test_slow_ports(void **state) {
    (void)state;
    struct model_machine m = machine_of(0, 65536, 3);
    struct model_network net;
    model_network_init(&net, &m);
    const struct model_contention alone = {0};
    struct model_truth_node port;
    uint32_t node = 0, seen = 0;
    while (model_truth_next_port(&m, &node, &port)) {
        uint32_t rank = port.first_rank, other = rank >= 8 ? rank - 8 : rank + 8;
        if (m.out_slowdown[other / 4] > 1 || m.in_slowdown[other / 4] > 1 ||
            model_machine_class(&m, rank, other) != MODEL_SAME_SWITCH) {
            continue;
        }
        struct model_way out = model_network_way(&net, rank, other, 1 << 20, &alone);
        struct model_way in = model_network_way(&net, other, rank, 1 << 20, &alone);
        double extra = (port.outgoing ? out.transfer_ps - in.transfer_ps : in.transfer_ps - out.transfer_ps) /
                       ((1 << 20) * 1e3 / 25);
        assert_true(fabs(extra - (1 / port.factor - 1)) < 1e-9);
        seen++;
    }
    assert_true(seen > 10);
    model_machine_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_larger_messages_take_longer),
        cmocka_unit_test(test_nothing_is_below_the_floor),
        cmocka_unit_test(test_congestion_of_a_job),
        cmocka_unit_test(test_congestion_persists),
        cmocka_unit_test(test_noise_is_right_skewed),
        cmocka_unit_test(test_contention_grows_with_the_pattern),
        cmocka_unit_test(test_crowded_links),
        cmocka_unit_test(test_slow_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
