/* SPDX-License-Identifier: BSD-3-Clause */
/* Crowded links: messages take as long as the links need for all of them, whatever the order of the ranks, and
 * no rank blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/sim_script.h"

enum { NODES = 8, PHASES = 12, ROUNDS = 4, BYTES = 1 << 20, MS = 1000000, SETTLED = 3 };

/* Returns a machine of NODES nodes without faults and without other jobs. */
static struct model_machine_params calm_machine(const char *preset, uint32_t ppn) {
    struct model_machine_params p;
    hpcw_error err;
    assert_int_equal(model_machine_params_init(&p, preset, &err), HPCW_OK);
    p.ppn = ppn;
    p.nodes = NODES;
    p.busy_share = 0;
    p.bad.node_share = p.bad.cable_share = 0;
    return p;
}

/* Two islands with a card for each node, and few links between them. */
static void begin_islands(struct script *s, uint32_t links, uint32_t ppn) {
    struct model_machine_params p = calm_machine("fattree-hdr100", ppn);
    p.nodes_per_switch = p.nodes_per_group = NODES / 2;
    p.group_links = links;
    script_begin_with(s, &p, NODES * ppn, PHASES);
    assert_int_equal(s->machine.groups, 2);
}

/* Each rank exchanges messages with a rank of the other island. */
static void add_exchange(struct script *s, uint32_t rank, uint64_t bytes) {
    const uint32_t other = (rank + s->machine.ranks / 2) % s->machine.ranks;
    for (uint32_t k = 0; k < ROUNDS; k++) {
        script_sendrecv(s, rank, other, bytes, other, 0);
    }
}

static void end_phase(struct script *s, uint32_t rank, uint32_t phase) {
    if (phase + 1 < s->phases) {
        script_next_phase(s, rank);
    }
}

/* Returns the length of a phase, ns: from the time at which the last rank ended the previous phase until the
 * last rank ends this one. */
static uint64_t length_of(const struct script *s, uint32_t phase) {
    uint64_t end_ns[2] = {0, 0};
    for (size_t i = 0; i < s->events; i++) {
        const struct sim_event *e = &s->event[i];
        for (uint32_t k = 0; k < 2; k++) {
            if (e->what == SIM_PHASE && e->bytes + 1 == phase + k && e->time_ns > end_ns[k]) {
                end_ns[k] = e->time_ns;
            }
        }
    }
    return end_ns[1] - end_ns[0];
}

/* If all ranks always send, the links are full: a phase takes the time that the links need for its bytes. The first
 * SETTLED phases do not count, since the length of a phase changes in them. */
static void test_full_links(void **state) {
    static const uint32_t ppns[] = {1, 4};
    (void)state;
    for (size_t i = 0; i < sizeof ppns / sizeof ppns[0]; i++) {
        for (uint32_t links = 1; links <= 2 * NODES; links *= 2) {
            struct script s;
            begin_islands(&s, links, ppns[i]);
            for (uint32_t r = 0; r < s.machine.ranks; r++) {
                for (uint32_t k = 0; k < PHASES; k++) {
                    add_exchange(&s, r, BYTES);
                    end_phase(&s, r, k);
                }
            }
            script_run(&s);
            const double line_ns = BYTES / s.machine.params.message.line_gbs[MODEL_OTHER_GROUP];
            const double messages = (double)ROUNDS * s.machine.ranks / 2;
            for (uint32_t k = SETTLED; k < PHASES; k++) {
                const double carried = messages * line_ns / (double)length_of(&s, k) / links;
                if (carried > 1.15 || (links < NODES / 2 && carried < 0.8)) {
                    fail_msg("%u links, %u ranks a node: in phase %u they carry %g of what they can", links,
                             ppns[i], k, carried);
                }
            }
            assert_true(links < NODES / 2 || length_of(&s, 1) == length_of(&s, PHASES - 1));
            script_end(&s);
        }
    }
}

/* Only messages to other switches use the links between switches. */
static void test_links_of_switches(void **state) {
    (void)state;
    struct script s;
    struct model_machine_params p = calm_machine("fattree-hdr100", 1);
    p.nodes_per_switch = NODES / 2;
    p.nodes_per_group = NODES;
    p.switch_links = 1;
    script_begin_with(&s, &p, NODES, PHASES);
    assert_int_equal(s.machine.switches, 2);
    assert_int_equal(s.machine.groups, 1);
    for (uint32_t r = 0; r < NODES; r++) {
        for (uint32_t k = 0; k < PHASES; k++) {
            for (uint32_t i = 0; i < ROUNDS / 2; i++) {
                script_sendrecv(&s, r, r ^ 1, BYTES, r ^ 1, 0);
            }
            add_exchange(&s, r, BYTES);
            end_phase(&s, r, k);
        }
    }
    script_run(&s);
    const double line_ns = BYTES / s.machine.params.message.line_gbs[MODEL_SAME_GROUP];
    for (uint32_t k = SETTLED; k < PHASES; k++) {
        const double carried = ROUNDS * NODES / 2.0 * line_ns / (double)length_of(&s, k);
        if (carried < 0.8 || carried > 1.15) {
            fail_msg("in phase %u the link carries %g of what it can", k, carried);
        }
    }
    script_end(&s);
}

/* On a torus, a message uses as many links as it has hops. */
static void test_hops(void **state) {
    enum { UNIT_NODES = 12, PPN = 4, HOPS = NODES / 2, LINKS = 6 };
    (void)state;
    struct script s;
    struct model_machine_params p = calm_machine("torus-tofud", PPN);
    p.torus_x = NODES;
    p.torus_y = p.torus_z = 1;
    p.nodes = NODES * UNIT_NODES;
    script_begin_with(&s, &p, p.nodes * PPN, PHASES);
    assert_int_equal(model_machine_distance(&s.machine, 0, p.nodes / 2), HOPS);
    for (uint32_t r = 0; r < s.machine.ranks; r++) {
        for (uint32_t k = 0; k < PHASES; k++) {
            add_exchange(&s, r, BYTES);
            end_phase(&s, r, k);
        }
    }
    script_run(&s);
    const double line_ns = BYTES / s.machine.params.message.line_gbs[MODEL_SAME_SWITCH];
    for (uint32_t k = SETTLED; k < PHASES; k++) {
        const double carried = ROUNDS * PPN * HOPS * line_ns / (double)length_of(&s, k) / LINKS;
        if (carried < 0.8 || carried > 1.15) {
            fail_msg("in phase %u links carry %g of what they can", k, carried);
        }
    }
    script_end(&s);
}

/* Pairs of ranks start at different times, so the number of messages on the links changes during phases. The links
 * stay full. */
static void test_ranks_apart(void **state) {
    (void)state;
    for (uint64_t apart_ns = 1000; apart_ns <= 256000; apart_ns *= 2) {
        struct script s;
        begin_islands(&s, 1, 1);
        for (uint32_t r = 0; r < s.machine.ranks; r++) {
            script_compute(&s, r, 1 + r % (NODES / 2) * apart_ns);
            for (uint32_t k = 0; k < PHASES; k++) {
                add_exchange(&s, r, BYTES);
                end_phase(&s, r, k);
            }
        }
        script_run(&s);
        const double line_ns = BYTES / s.machine.params.message.line_gbs[MODEL_OTHER_GROUP];
        const double full_ns = (double)ROUNDS * NODES / 2 * line_ns;
        for (uint32_t k = PHASES / 2; k < PHASES; k++) {
            const double carried = full_ns / (double)length_of(&s, k);
            if (carried < 0.8 || carried > 1.15) {
                fail_msg("%g us apart: in phase %u links carry %g of what they can", 1e-3 * (double)apart_ns, k,
                         carried);
            }
        }
        script_end(&s);
    }
}

/* An alltoall takes at least the time that the links need between the islands, and not much more. */
static void test_alltoall(void **state) {
    (void)state;
    for (int parts = 0; parts < 2; parts++) {
        struct script s;
        begin_islands(&s, 1, 1);
        s.phases = 1;
        for (uint32_t r = 0; r < NODES; r++) {
            if (parts == 1) {
                script_meet_parts(&s, r, SIM_CALL_ALLTOALLV, 0, &(struct sim_parts){.first = BYTES});
            } else {
                script_meet(&s, r, SIM_CALL_ALLTOALL, 0, BYTES);
            }
        }
        script_run(&s);
        const double line_ns = BYTES / s.machine.params.message.line_gbs[MODEL_OTHER_GROUP];
        const double carried = NODES / 2.0 * (NODES / 2.0) * line_ns / (double)sim_end_ns(s.sim);
        assert_true(carried > 0.8 && carried < 1);
        script_end(&s);
    }
}

/* Messages that rarely overlap are as fast as alone. */
static void test_empty_links(void **state) {
    (void)state;
    uint64_t end_ns[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct script s;
        begin_islands(&s, i == 0 ? 1 : NODES, 1);
        for (uint32_t r = 0; r < s.machine.ranks; r++) {
            for (uint32_t k = 0; k < PHASES; k++) {
                script_compute(&s, r, (1 + r % (NODES / 2)) * MS);
                add_exchange(&s, r, 1024);
                end_phase(&s, r, k);
            }
        }
        script_run(&s);
        end_ns[i] = sim_end_ns(s.sim);
        script_end(&s);
    }
    assert_int_equal(end_ns[0], end_ns[1]);
}

/* ---- the order in which ranks run ---- */

/* Messages of both protocols to near and far ranks. Ranks are in different phases: the lowest ones run ahead. */
static void add_all(struct script *s) {
    const uint32_t ranks = s->machine.ranks;
    for (uint32_t r = 0; r < ranks; r++) {
        for (uint32_t k = 0; k < PHASES; k++) {
            script_compute(s, r, (1 + (r * 7 + k * 5) % 11) * 1000);
            for (uint32_t far = 1; far < ranks; far *= 2) {
                script_isend(s, r, (r + far) % ranks, far % 3 == 0 ? 4000 : 300000, (int32_t)far);
                script_irecv(s, r, (r + ranks - far) % ranks, (int32_t)far);
            }
            script_waitall(s, r);
            if (r > 0) {
                script_recv(s, r, r - 1, 9);
            }
            if (r + 1 < ranks) {
                script_send(s, r, r + 1, 5000, 9);
            }
            if (r == 0) {
                for (uint32_t n = 1; n < ranks; n++) {
                    script_recv(s, r, SIM_ANY, 8);
                }
            } else {
                script_send(s, r, 0, 7000, 8);
            }
            end_phase(s, r, k);
        }
    }
}

/* Neither the order of the ranks nor the horizon (the time at which they stop) changes a result. */
static void test_order(void **state) {
    static const uint64_t horizon_ns[] = {0, 777, 100000, UINT64_MAX / 4};
    (void)state;
    struct sim_event *expected = NULL;
    size_t count = 0;
    for (uint64_t order = 0; order < 8; order++) {
        struct script s;
        begin_islands(&s, 1, 2);
        s.order = order;
        s.horizon_ns = horizon_ns[order % 4];
        s.clocks = 1;
        add_all(&s);
        script_run(&s);
        script_sort(&s);
        assert_int_equal(sim_price_of(s.sim, 0).time_ns, 0);
        assert_int_equal(sim_price_of(s.sim, 0).ranks, 0);
        if (order == 0) {
            expected = s.event;
            count = s.events;
            s.event = NULL;
        } else {
            assert_int_equal(s.events, count);
            assert_memory_equal(s.event, expected, count * sizeof *expected);
        }
        script_end(&s);
    }
    free(expected);
}

/* A rank that needs a message from another rank's next phase, or is many phases ahead, blocks no rank. */
static void test_phases_apart(void **state) {
    (void)state;
    struct script s;
    begin_islands(&s, 1, 1);
    for (uint32_t r = 0; r < NODES; r++) {
        for (uint32_t k = 0; k < PHASES; k++) {
            if (r > 0) {
                script_recv(&s, r, r - 1, 0);
            }
            if (r > 0) {
                end_phase(&s, r, k);
            }
            if (r + 1 < NODES) {
                script_send(&s, r, r + 1, 4096, 0);
            }
            if (r == 0) {
                end_phase(&s, r, k);
            }
        }
    }
    script_run(&s);
    script_end(&s);
}

/* A phase of a few nanoseconds comes before one of a second. Ranks do not stop at each call of the long phase. */
static void test_short_phase(void **state) {
    (void)state;
    struct script s;
    begin_islands(&s, 1, 1);
    s.phases = 2;
    for (uint32_t r = 0; r < NODES; r++) {
        end_phase(&s, r, 0);
        for (uint32_t k = 0; k < 1000; k++) {
            script_compute(&s, r, MS);
        }
    }
    script_run(&s);
    assert_true(s.passes < 100);
    script_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_links),  cmocka_unit_test(test_links_of_switches),
        cmocka_unit_test(test_hops),        cmocka_unit_test(test_ranks_apart),
        cmocka_unit_test(test_alltoall),    cmocka_unit_test(test_empty_links),
        cmocka_unit_test(test_order),       cmocka_unit_test(test_phases_apart),
        cmocka_unit_test(test_short_phase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
