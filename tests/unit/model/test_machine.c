/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/model/machine/machine.h"
#include "gen/model/machine/truth.h"
#include "libwriter/base/mem.h"

/* The job has the first nodes of the machine, so that the place of a rank is known. */
static struct model_machine machine_of(const char *preset, uint32_t ranks, uint64_t seed) {
    struct model_machine_params p;
    struct model_machine m;
    hpcw_error err;
    assert_int_equal(model_machine_params_init(&p, preset, &err), HPCW_OK);
    p.busy_share = 0;
    if (model_machine_init(&m, &p, ranks, seed, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    return m;
}

static void test_places(void **state) {
    (void)state;
    struct model_machine m = machine_of("dfplus-hdr200", 4096, 1);
    assert_int_equal(m.nodes, 1024);
    assert_int_equal(m.switches, 43); /* 24 nodes each; the last has 16 */
    assert_int_equal(m.groups, 22);
    assert_int_equal(model_machine_node(&m, 4095), 1023);
    assert_int_equal(model_machine_switch(&m, 1023), 42);
    assert_int_equal(model_machine_group(&m, 1023), 21);
    for (uint32_t r = 0; r < 4; r++) {
        assert_int_equal(model_machine_core(&m, 8 + r), 12 * r);
    }
    /* cores 0 and 12 share a processor; 12 and 24 do not */
    assert_int_equal(model_machine_class(&m, 5, 5), MODEL_SAME_CACHE);
    assert_int_equal(model_machine_class(&m, 4, 5), MODEL_SAME_SOCKET);
    assert_int_equal(model_machine_class(&m, 5, 6), MODEL_SAME_NODE);
    assert_int_equal(model_machine_class(&m, 3, 4), MODEL_SAME_SWITCH);
    assert_int_equal(model_machine_class(&m, 95, 96), MODEL_SAME_GROUP);
    assert_int_equal(model_machine_class(&m, 191, 192), MODEL_OTHER_GROUP);
    model_machine_free(&m);

    m = machine_of("dragonfly-ss11", 1000, 1);
    assert_int_equal(m.nodes, 8);
    assert_int_equal(m.switches, 1);
    assert_int_equal(m.groups, 1);
    assert_int_equal(model_machine_class(&m, 128, 135), MODEL_SAME_CACHE);
    assert_int_equal(model_machine_class(&m, 128, 136), MODEL_SAME_SOCKET);
    assert_int_equal(model_machine_class(&m, 128, 192), MODEL_SAME_NODE);
    assert_int_equal(model_machine_class(&m, 128, 256), MODEL_SAME_SWITCH);
    model_machine_free(&m);
}

static void test_every_preset(void **state) {
    (void)state;
    static const struct {
        const char *name, *first_host;
    } expected[] = {
        {"dfplus-hdr200", "jwb0001.juwels"}, {"dragonfly-ss11", "nid005000"}, {"fattree-hdr100", "node00001"},
        {"dfplus-ndr200", "node00001"},      {"torus-tofud", "node00001"},    {"tcp-1g", "node00001"},
    };
    assert_int_equal(model_machine_preset_count, 6);
    for (size_t i = 0; i < model_machine_preset_count; i++) {
        static const uint32_t sizes[] = {1, 2, 7, 4096, 65536, 1000000};
        assert_string_equal(model_machine_preset[i].name, expected[i].name);
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            struct model_machine m = machine_of(expected[i].name, sizes[k], 7);
            char host[MODEL_HOST_SIZE];
            assert_int_equal(model_machine_node(&m, sizes[k] - 1), m.nodes - 1);
            assert_true(model_machine_core(&m, sizes[k] - 1) < m.params.cores);
            model_machine_host(&m, 0, host);
            /* If a job is larger than the machine, the machine grows. */
            assert_true(m.machine_nodes >= m.nodes && m.machine_nodes >= m.params.nodes);
            assert_string_equal(host, m.nodes <= m.params.nodes ? expected[i].first_host : "node00001");
            model_machine_free(&m);
        }
    }
    struct model_machine_params p;
    hpcw_error err;
    assert_int_equal(model_machine_params_init(&p, "cray-1", &err), HPCW_EINVAL);
    for (size_t i = 0; i < model_machine_preset_count; i++) {
        assert_non_null(strstr(err.message, model_machine_preset[i].name));
    }
}

/* Names are in the machine's range, with gaps for other jobs, and all exist on the machine. */
static void test_hosts(void **state) {
    (void)state;
    static const struct {
        uint32_t first, last;
        const char *before, *after;
    } name[] = {
        {1, 936, "jwb", ".juwels"}, {5000, 7977, "nid", ""}, {1, 9408, "frontier", ""}, {1, 99999, "node", ""}};
    static const uint32_t ranks[] = {4, 64, 1024, 3600, 3744, 3748, 4096};
    for (int h = 0; h < 4; h++) {
        for (size_t k = 0; k < sizeof ranks / sizeof ranks[0]; k++) {
            struct model_machine_params p;
            struct model_machine m;
            assert_int_equal(model_machine_params_init(&p, "dfplus-hdr200", NULL), HPCW_OK);
            p.hosts = h;
            assert_int_equal(model_machine_init(&m, &p, ranks[k], 1 + k, NULL), HPCW_OK);
            assert_true(m.nodes < m.machine_nodes || m.nodes == 936);
            const int kind = m.machine_nodes > name[h].last - name[h].first + 1 ? 3 : h;
            assert_int_equal(kind, h == 0 && m.nodes > 936 ? 3 : h);
            uint32_t before = 0, gaps = 0;
            for (uint32_t n = 0; n < m.nodes; n++) {
                char host[MODEL_HOST_SIZE];
                model_machine_host(&m, n, host);
                const size_t length = strlen(name[kind].before);
                char *end;
                assert_memory_equal(host, name[kind].before, length);
                const uint32_t number = (uint32_t)strtoul(host + length, &end, 10);
                assert_string_equal(end, name[kind].after);
                assert_in_range(number, name[kind].first, name[kind].first + m.machine_nodes - 1);
                assert_in_range(number, name[kind].first, name[kind].last);
                assert_int_equal(number - name[kind].first, m.place[n]);
                assert_true(n == 0 || number > before);
                gaps += n > 0 && number > before + 1;
                before = number;
            }
            assert_true(gaps > 0 || m.nodes == 1 || m.nodes == 936 || m.nodes == 16);
            model_machine_free(&m);
        }
    }
}

/* The switch and the group of a node follow from its place. The same nodes of the machine are broken in every
 * job. */
static void test_allocation(void **state) {
    (void)state;
    struct model_machine_params p;
    struct model_machine m, other;
    assert_int_equal(model_machine_params_init(&p, "dfplus-hdr200", NULL), HPCW_OK);
    p.nodes = 20000;
    p.bad.node_share = 0.1;
    p.busy_share = 0.3;
    assert_int_equal(model_machine_init(&m, &p, 40000, 11, NULL), HPCW_OK);
    uint32_t runs = 0;
    for (uint32_t n = 0; n < m.nodes; n++) {
        const uint32_t w = model_machine_switch(&m, n), g = model_machine_group(&m, n);
        assert_true(m.switch_first[w] <= n && n < m.switch_first[w + 1]);
        assert_int_equal(m.place[n] / 24, m.place[m.switch_first[w]] / 24);
        if (n > 0) {
            assert_int_equal(w - model_machine_switch(&m, n - 1), m.place[n] / 24 != m.place[n - 1] / 24);
            assert_int_equal(g - model_machine_group(&m, n - 1), m.place[n] / 48 != m.place[n - 1] / 48);
            runs += m.place[n] != m.place[n - 1] + 1;
        }
    }
    assert_int_equal(m.switches, model_machine_switch(&m, m.nodes - 1) + 1);
    assert_int_equal(m.groups, model_machine_group(&m, m.nodes - 1) + 1);
    assert_int_equal(m.switch_first[m.switches], m.nodes);
    const double taken = 1 - (double)m.nodes / (m.place[m.nodes - 1] - m.place[0] + 1);
    print_message("%u nodes in %u runs, %.0f %% of the nodes between them are not the job's\n", m.nodes,
                  runs + 1, 100 * taken);
    assert_true(runs > 200 && taken > 0.15 && taken < 0.5);

    /* A smaller job on the same machine. */
    assert_int_equal(model_machine_init(&other, &p, 4000, 11, NULL), HPCW_OK);
    uint32_t shared = 0;
    for (uint32_t n = 0, k = 0; n < other.nodes; n++) {
        while (k < m.nodes && m.place[k] < other.place[n]) {
            k++;
        }
        if (k < m.nodes && m.place[k] == other.place[n]) {
            assert_true(m.out_slowdown[k] == other.out_slowdown[n] && m.in_slowdown[k] == other.in_slowdown[n]);
            assert_true(model_machine_slowness(&m, k) == model_machine_slowness(&other, n));
            shared++;
        }
    }
    assert_true(shared > 300);
    model_machine_free(&other);
    model_machine_free(&m);
}

/* A numbered job has the same nodes with any seed. Without a job number, a seed of the same value gives other
 * nodes. */
static void test_job(void **state) {
    (void)state;
    struct model_machine_params p;
    assert_int_equal(model_machine_params_init(&p, "dfplus-hdr200", NULL), HPCW_OK);
    uint32_t same_as_seed = 0, same_as_next = 0;
    for (uint32_t job = 1; job <= 20; job++) {
        /* a job with two seeds; its number as a seed without a job; the next job */
        struct model_machine m[4];
        for (uint32_t i = 0; i < 4; i++) {
            p.job = i == 2 ? 0 : i == 3 ? job + 1 : job;
            assert_int_equal(model_machine_init(&m[i], &p, 400, i == 1 ? 77 : job, NULL), HPCW_OK);
        }
        const size_t size = m[0].nodes * sizeof *m[0].place;
        assert_memory_equal(m[0].place, m[1].place, size);
        same_as_seed += memcmp(m[0].place, m[2].place, size) == 0;
        same_as_next += memcmp(m[0].place, m[3].place, size) == 0;
        for (uint32_t i = 0; i < 4; i++) {
            model_machine_free(&m[i]);
        }
    }
    assert_int_equal(same_as_seed, 0);
    assert_int_equal(same_as_next, 0);
}

static void test_ports(void **state) {
    (void)state;
    struct model_machine m = machine_of("dfplus-hdr200", 4000000, 3);
    assert_int_equal(m.nodes, 1000000);
    uint32_t bad = 0, outgoing = 0, kind[3] = {0}, node = 0;
    struct model_truth_node port;
    while (model_truth_next_port(&m, &node, &port)) {
        assert_int_equal(node, port.node + 1);
        assert_int_equal(port.first_rank, port.node * 4);
        assert_int_equal(port.ranks, 4);
        assert_true(m.out_slowdown[port.node] == (port.outgoing ? 1 / port.factor : 1));
        assert_true(m.in_slowdown[port.node] == (port.outgoing ? 1 : 1 / port.factor));
        bad++;
        outgoing += port.outgoing;
        for (int k = 0; k < 3; k++) {
            kind[k] += port.factor == m.params.bad.factor[k];
        }
    }
    uint32_t slow = 0;
    for (uint32_t n = 0; n < m.nodes; n++) {
        slow += m.out_slowdown[n] > 1 || m.in_slowdown[n] > 1;
    }
    assert_int_equal(slow, bad);
    assert_int_equal(kind[0] + kind[1] + kind[2], bad);
    /* 0.4 % of the nodes have a bad port. Half of these ports are outgoing, and 60, 30 and 10 % are of each kind.
     * Five standard deviations are allowed. */
    assert_in_range(bad, 4000 - 316, 4000 + 316);
    assert_true(fabs(outgoing - 0.5 * bad) < 5 * sqrt(0.25 * bad));
    assert_true(fabs(kind[0] - 0.6 * bad) < 5 * sqrt(0.24 * bad));
    assert_true(fabs(kind[1] - 0.3 * bad) < 5 * sqrt(0.21 * bad));
    assert_true(fabs(kind[2] - 0.1 * bad) < 5 * sqrt(0.09 * bad));

    /* The same nodes are bad in a smaller run on the same machine. */
    struct model_machine small = machine_of("dfplus-hdr200", 4096, 3);
    assert_memory_equal(small.out_slowdown, m.out_slowdown, small.nodes * sizeof(double));
    assert_memory_equal(small.in_slowdown, m.in_slowdown, small.nodes * sizeof(double));
    model_machine_free(&small);
    model_machine_free(&m);
}

static void test_cables(void **state) {
    (void)state;
    struct model_machine m = machine_of("dfplus-hdr200", 65535, 5); /* 683 switches, 232903 pairs */
    uint32_t bad = 0, a = 0, b = 0, expected = 0;
    uint64_t last = 0;
    struct model_truth_cable cable;
    while (model_truth_next_cable(&m, &a, &b, &cable)) {
        assert_true(cable.switch_a < cable.switch_b && cable.switch_b < m.switches);
        uint64_t pair = (uint64_t)cable.switch_a << 32 | cable.switch_b;
        assert_true(pair > last);
        last = pair;
        assert_true(cable.factor == 0.5);
        assert_true(model_machine_cable(&m, cable.switch_b, cable.switch_a) == 0.5);
        assert_int_equal(cable.first_rank_a, cable.switch_a * 96);
        assert_int_equal(cable.ranks_a, 96);
        assert_int_equal(cable.ranks_b, cable.switch_b == 682 ? 63 : 96);
        bad++;
    }
    for (uint32_t i = 0; i < m.switches; i++) {
        assert_true(model_machine_cable(&m, i, i) == 1);
        for (uint32_t k = i + 1; k < m.switches; k++) {
            expected += model_machine_cable(&m, i, k) < 1;
        }
    }
    assert_int_equal(bad, expected);
    assert_in_range(bad, 233 - 76, 233 + 76);
    model_machine_free(&m);
}

static void test_torus(void **state) {
    (void)state;
    struct model_machine m = machine_of("torus-tofud", 4096, 1); /* 1024 nodes, 86 units of 12 */
    assert_true(m.torus[0] * m.torus[1] * m.torus[2] >= 86);
    assert_true(m.torus[0] * m.torus[1] * m.torus[2] <= 125);
    assert_int_equal(m.torus[3] * 100 + m.torus[4] * 10 + m.torus[5], 232);
    uint16_t *hops = calloc(m.nodes, sizeof *hops);
    assert_non_null(hops);
    for (uint32_t from = 0; from < m.nodes; from += 97) {
        model_machine_hops(&m, from, hops);
        for (uint32_t to = 0; to < m.nodes; to++) {
            assert_int_equal(hops[to], model_machine_distance(&m, from, to));
            assert_int_equal(hops[to], model_machine_distance(&m, to, from));
            assert_true((hops[to] == 0) == (from == to));
        }
    }
    /* Ranks fill the axes c, b and a first. Nodes 0..11 are one unit, in which b is a ring of three. */
    static const uint16_t unit[12] = {0, 1, 1, 2, 1, 2, 1, 2, 2, 3, 2, 3};
    model_machine_hops(&m, 0, hops);
    assert_memory_equal(hops, unit, sizeof unit);
    assert_int_equal(hops[12 * (m.torus[2] - 1)], 1); /* around the ring along z */
    free(hops);
    model_machine_free(&m);

    struct model_machine_params p;
    hpcw_error err;
    assert_int_equal(model_machine_params_init(&p, "torus-tofud", &err), HPCW_OK);
    p.torus_x = 24;
    p.torus_z = 24;
    assert_int_equal(model_machine_init(&m, &p, 4 * 158976, 1, &err), HPCW_OK);
    assert_int_equal(m.torus[0], 24);
    assert_int_equal(m.torus[1], 23); /* the side of Fugaku's 24 x 23 x 24 that is no ring */
    assert_int_equal(m.torus[2], 24);
    model_machine_free(&m);
    p.torus_y = 2;
    assert_int_equal(model_machine_init(&m, &p, 4 * 158976, 1, &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "24 x 2 x 24"));

    m = machine_of("dfplus-hdr200", 4096, 1);
    assert_int_equal(model_machine_distance(&m, 0, 1023), 0);
    model_machine_free(&m);
}

static void test_refusals(void **state) {
    (void)state;
    struct model_machine_params good, p;
    struct model_machine m;
    hpcw_error err;
    assert_int_equal(model_machine_params_init(&good, "dfplus-hdr200", &err), HPCW_OK);
    assert_int_equal(model_machine_init(&m, &good, 0, 1, &err), HPCW_ERANGE);
    assert_int_equal(model_machine_init(&m, &good, MODEL_MAX_RANKS + 1, 1, &err), HPCW_ERANGE);

#define REFUSED(change, code, word)                                                                            \
    do {                                                                                                       \
        p = good;                                                                                              \
        change;                                                                                                \
        assert_int_equal(model_machine_init(&m, &p, 4096, 1, &err), code);                                     \
        assert_non_null(strstr(err.message, word));                                                            \
        model_machine_free(&m);                                                                                \
    } while (0)
    REFUSED(p.ppn = 49, HPCW_EINVAL, "machine.ppn");
    REFUSED(p.ppn = 0, HPCW_EINVAL, "machine.ppn");
    REFUSED(p.cores_per_socket = 25, HPCW_EINVAL, "machine.cores_per_socket");
    REFUSED(p.nodes_per_group = 50, HPCW_EINVAL, "machine.nodes_per_group");
    REFUSED(p.torus = true, HPCW_EINVAL, "machine.torus");
    REFUSED(p.bad.weight[1] = 0.5, HPCW_EINVAL, "machine.bad_weight_2");
#undef REFUSED
    p = good;
    p.ppn = 1;
    p.nodes_per_switch = 1;
    p.nodes_per_group = 1;
    assert_int_equal(model_machine_init(&m, &p, 65536, 1, &err), HPCW_ERANGE);
    assert_int_equal(model_machine_init(&m, &p, 65535, 1, &err), HPCW_OK);
    model_machine_free(&m);
}

static bool no_memory(size_t size) {
    (void)size;
    return false;
}

static void test_out_of_memory(void **state) {
    (void)state;
    struct model_machine_params p;
    struct model_machine m;
    hpcw_error err;
    assert_int_equal(model_machine_params_init(&p, "dfplus-hdr200", &err), HPCW_OK);
    hpcw_i_mem_gate = no_memory;
    hpcw_status status = model_machine_init(&m, &p, 4096, 1, &err);
    hpcw_i_mem_gate = NULL;
    assert_int_equal(status, HPCW_ENOMEM);
    model_machine_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),   cmocka_unit_test(test_every_preset),
        cmocka_unit_test(test_hosts),    cmocka_unit_test(test_allocation),
        cmocka_unit_test(test_job),      cmocka_unit_test(test_ports),
        cmocka_unit_test(test_cables),   cmocka_unit_test(test_torus),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
