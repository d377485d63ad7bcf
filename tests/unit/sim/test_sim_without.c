/* SPDX-License-Identifier: BSD-3-Clause */
/* Cost of faults: clocks that run along with the simulation. Each shows the times without one of the faults. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gen/sim/timing/cost.h"
#include "tests/support/sim_script.h"

enum { MS = 1000000, RANKS = 24, ROUNDS = 4, LATE_NS = 3 * MS, CLOCK = 2, CLOCKS = 4, LATE_RANK = 9, SLOW = 3 };

/* ---- by hand ---- */

/* Each rank computes, receives from the previous rank, and sends to the next one. */
static void add_pipeline(struct script *s, uint32_t ranks, const uint64_t *work_ns, uint32_t late,
                         uint64_t late_ns) {
    for (uint32_t r = 0; r < ranks; r++) {
        script_compute_less(s, r, work_ns[r] + (r == late ? late_ns : 0), 0, r == late ? late_ns : 0);
        if (r > 0) {
            script_recv(s, r, r - 1, 0);
        }
        if (r + 1 < ranks) {
            script_send(s, r, r + 1, 8, 0);
        }
    }
}

/* Rank 1 is interrupted, and the ranks after it wait for it. Without the fault, their own work would delay
 * them. */
static void test_chain(void **state) {
    static const uint64_t work_ns[] = {1 * MS, 1 * MS, 2 * MS, 1 * MS};
    (void)state;
    struct script s;
    script_begin(&s, 4, 1);
    s.clocks = 1;
    add_pipeline(&s, 4, work_ns, 1, 5 * MS);
    script_run(&s);
    const struct sim_price price = sim_price_of(s.sim, 0);
    const struct sim_cost cost = sim_cost_between(&s.network, &s.constants, 1, 2, 8);
    const uint64_t call_ns = (uint64_t)s.constants.value[SIM_CALL];
    /* Rank 1 has its message long before its work ends, and sends at once. Without the fault, rank 2 has its
     * message when its own work ends. Rank 2 goes on after a call and the message's processor time. */
    const struct sim_cost before = sim_cost_between(&s.network, &s.constants, 0, 1, 8);
    const uint64_t sends_ns = 6 * MS + call_ns + before.overhead_ns + cost.overhead_ns;
    const uint64_t with_ns = sends_ns + cost.flight_ns + cost.overhead_ns;
    const uint64_t without_ns = 2 * MS + call_ns + cost.overhead_ns;
    assert_int_equal(price.time_ns, with_ns - without_ns);
    assert_int_equal(price.ranks, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(price.affected[i].rank, 2 + i);
        assert_int_equal(price.affected[i].wait_ns, price.time_ns);
    }
    script_end(&s);
}

/* A fault costs nothing if another fault delays all ranks longer. The longer fault costs the difference. */
static void test_hidden(void **state) {
    (void)state;
    struct script s;
    script_begin(&s, 4, 1);
    s.clocks = 2;
    script_compute_less(&s, 0, 3 * MS, 0, 2 * MS);
    script_compute_less(&s, 1, 6 * MS, 1, 5 * MS);
    script_compute(&s, 2, 1 * MS);
    script_compute(&s, 3, 1 * MS);
    for (uint32_t r = 0; r < 4; r++) {
        script_meet(&s, r, SIM_CALL_ALLREDUCE, 0, 8);
    }
    script_run(&s);
    const struct sim_price hidden = sim_price_of(s.sim, 0);
    const struct sim_price other = sim_price_of(s.sim, 1);
    assert_int_equal(hidden.time_ns, 0);
    assert_int_equal(hidden.ranks, 0);
    /* without the second fault, the first would still delay all ranks */
    assert_int_equal(other.time_ns, 3 * MS);
    assert_int_equal(other.ranks, 3);
    assert_int_equal(other.affected[0].rank, 0);
    script_end(&s);
}

/* If more ranks are affected than fit into the list, those that wait longest are listed, and of equal ones the
 * lowest. */
static void test_most_affected(void **state) {
    (void)state;
    struct script s;
    script_begin(&s, RANKS, 1);
    s.clocks = 1;
    script_compute_less(&s, 0, 9 * MS, 0, 8 * MS);
    for (uint32_t r = 1; r < RANKS; r++) {
        script_send(&s, 0, r, 0, 0);
        script_compute(&s, r, r % 2 == 0 ? 0 : 3 * MS);
        script_recv(&s, r, 0, 0);
    }
    script_run(&s);
    const struct sim_price price = sim_price_of(s.sim, 0);
    assert_int_equal(price.ranks, SIM_MOST_AFFECTED);
    for (uint32_t i = 0; i < price.ranks; i++) {
        assert_int_equal(price.affected[i].rank, 2 * (i + 1));
        assert_int_equal(price.affected[i].wait_ns, 8 * MS);
    }
    script_end(&s);
}

/* ---- a run without the fault ---- */

/* Work of a rank in a round; one rank is interrupted in the second round. */
static void add_work(struct script *s, uint32_t rank, uint32_t round, bool faulty) {
    const uint64_t calm_ns = 20000 * (1 + (rank * 7919 + round * 31) % 13);
    const uint64_t late_ns = faulty && rank == LATE_RANK && round == 1 ? LATE_NS : 0;
    if (s->clocks > 0) {
        script_compute_less(s, rank, calm_ns + late_ns, CLOCK, late_ns);
    } else {
        script_compute(s, rank, calm_ns + late_ns);
    }
}

static const uint64_t sizes[ROUNDS] = {100, 200000, 8192, 9000};

static void add_halo(struct script *s, uint32_t k, bool faulty) {
    for (uint32_t r = 0; r < RANKS; r++) {
        const uint32_t up = (r + 1) % RANKS;
        const uint32_t down = (r + RANKS - 1) % RANKS;
        script_irecv(s, r, up, 1);
        script_isend(s, r, up, sizes[k], 2);
        add_work(s, r, k, faulty);
        script_irecv(s, r, down, 2);
        script_isend(s, r, down, sizes[ROUNDS - 1 - k], 1);
        script_waitall(s, r);
        script_sendrecv(s, r, (r + 5) % RANKS, sizes[k], (r + RANKS - 5) % RANKS, 3);
    }
}

static void add_wavefront(struct script *s, uint32_t k, bool faulty) {
    for (uint32_t r = 0; r < RANKS; r++) {
        script_recv(s, r, r > 0 ? r - 1 : SIM_NONE, 0);
        add_work(s, r, k, faulty);
        script_send(s, r, r + 1 < RANKS ? r + 1 : SIM_NONE, sizes[k], 0);
    }
}

/* All send to one rank, which receives them one after the other. */
static void add_funnel(struct script *s, uint32_t k, bool faulty) {
    for (uint32_t r = 0; r < RANKS; r++) {
        add_work(s, r, k, faulty);
        for (uint32_t other = 1; r == 0 && other < RANKS; other++) {
            script_recv(s, r, other, 0);
        }
        if (r > 0) {
            script_send(s, r, 0, sizes[k], 0);
        }
    }
}

static void meet_all(struct script *s, uint32_t rank, uint32_t size, uint64_t bytes) {
    const struct sim_parts parts = {.first = (int64_t)bytes, .step = 100};
    script_meet(s, rank, SIM_CALL_BCAST, 3 % size, bytes);
    script_meet(s, rank, SIM_CALL_REDUCE, (size - 1) / 2, bytes);
    script_meet(s, rank, SIM_CALL_GATHER, 5 % size, bytes);
    script_meet_parts(s, rank, SIM_CALL_GATHERV, 5 % size, &parts);
    script_meet(s, rank, SIM_CALL_SCATTER, size - 1, bytes);
    script_meet_parts(s, rank, SIM_CALL_SCATTERV, size - 1, &parts);
    script_meet(s, rank, SIM_CALL_ALLREDUCE, 0, bytes);
    script_meet(s, rank, SIM_CALL_ALLGATHER, 0, bytes);
    script_meet(s, rank, SIM_CALL_ALLTOALL, 0, bytes);
    script_meet_parts(s, rank, SIM_CALL_ALLGATHERV, 0, &parts);
    script_meet_parts(s, rank, SIM_CALL_ALLTOALLV, 0, &parts);
    script_meet(s, rank, SIM_CALL_BARRIER, 0, 0);
}

static void add_collectives(struct script *s, uint32_t k, bool faulty) {
    for (uint32_t r = 0; r < RANKS; r++) {
        add_work(s, r, k, faulty);
        meet_all(s, r, RANKS, sizes[k]);
    }
}

/* A collective call in which not all ranks wait for all others. No barrier follows, so ranks end at different
 * times. */
static void add_trees(struct script *s, uint32_t k, bool faulty) {
    static const enum sim_call call[ROUNDS] = {SIM_CALL_BCAST, SIM_CALL_REDUCE, SIM_CALL_GATHER,
                                               SIM_CALL_SCATTER};
    for (uint32_t r = 0; r < RANKS; r++) {
        add_work(s, r, k, faulty);
        script_meet(s, r, call[k], k, 1000);
    }
}

static void add_groups(struct script *s, uint32_t k, bool faulty) {
    for (uint32_t r = 0; r < RANKS; r++) {
        if (k == 0) {
            script_split(s, r, SIM_CALL_SPLIT, r % 3, (int32_t)(RANKS - r));
        }
        script_use(s, r, 1);
        add_work(s, r, k, faulty);
        meet_all(s, r, RANKS / 3, sizes[k]);
        script_use(s, r, 0);
    }
}

typedef void add_round(struct script *s, uint32_t round, bool faulty);
static add_round *const programs[] = {add_halo,        add_wavefront, add_funnel,
                                      add_collectives, add_trees,     add_groups};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

static void run_rounds(struct script *s, size_t program, bool faulty) {
    for (uint32_t k = 0; k < ROUNDS; k++) {
        programs[program](s, k, faulty);
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        script_mark(s, r);
    }
    script_run(s);
}

/* A clock that leaves out a fault agrees to the nanosecond with a run without the fault. A clock that leaves
 * out nothing equals the main clock. */
static void test_interruption(void **state) {
    (void)state;
    for (size_t i = 0; i < PROGRAMS; i++) {
        struct script with;
        struct script without;
        script_begin(&with, RANKS, 1);
        with.clocks = CLOCKS;
        run_rounds(&with, i, true);
        script_begin(&without, RANKS, 1);
        run_rounds(&without, i, false);
        const uint64_t cost_ns = sim_end_ns(with.sim) - sim_end_ns(without.sim);
        const struct sim_price price = sim_price_of(with.sim, CLOCK);
        if (price.time_ns != cost_ns || cost_ns == 0) {
            fail_msg("program %zu: expected %" PRIu64 " ns, got %" PRIu64, i, cost_ns, price.time_ns);
        }
        assert_true(price.ranks > 0);
        for (uint32_t k = 0; k < price.ranks; k++) {
            const uint32_t r = price.affected[k].rank;
            const uint64_t later_ns = with.mark[r] - without.mark[r] - (r == LATE_RANK ? LATE_NS : 0);
            assert_int_equal(price.affected[k].wait_ns, later_ns);
        }
        assert_int_equal(sim_price_of(with.sim, 0).time_ns, 0);
        assert_int_equal(sim_price_of(with.sim, 0).ranks, 0);
        script_end(&with);
        script_end(&without);
    }
}

enum way { OUT, IN, CABLE, WAYS };

/* Runs a program on two switches, with or without a slow port or cable. Another port is slow in both runs. */
static uint64_t run_network(enum way way, size_t program, bool faulty, uint64_t *price_ns) {
    struct model_machine_params p;
    struct script s;
    hpcw_error err;
    assert_int_equal(model_machine_params_init(&p, model_machine_preset[0].name, &err), HPCW_OK);
    p.nodes = RANKS / p.ppn;
    p.nodes_per_switch = p.nodes / 2;
    p.bad.node_share = 0;
    p.bad.cable_share = way == CABLE && faulty ? 1 : 0;
    p.bad.cable_factor = 0.1;
    script_begin_with(&s, &p, RANKS, 1);
    assert_int_equal(s.machine.switches, 2);
    s.machine.out_slowdown[1] = 2;
    s.machine.out_slowdown[SLOW] = way == OUT && faulty ? 9 : 1;
    s.machine.in_slowdown[SLOW] = way == IN && faulty ? 9 : 1;
    s.clocks = faulty ? CLOCKS : 0;
    s.repair[CLOCK] = way == CABLE ? (struct model_repair){MODEL_REPAIRS_CABLE, 0, 1}
                                   : (struct model_repair){MODEL_REPAIRS_PORT, SLOW, 0};
    run_rounds(&s, program, false);
    const uint64_t end_ns = sim_end_ns(s.sim);
    *price_ns = faulty ? sim_price_of(s.sim, CLOCK).time_ns : 0;
    script_end(&s);
    return end_ns;
}

/* As test_interruption, for a port slow in sending or receiving, and for a cable between two switches. */
static void test_network(void **state) {
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        uint64_t sum_ns = 0;
        for (size_t i = 0; i < PROGRAMS; i++) {
            uint64_t price_ns;
            uint64_t none_ns;
            const uint64_t with_ns = run_network((enum way)way, i, true, &price_ns);
            const uint64_t without_ns = run_network((enum way)way, i, false, &none_ns);
            if (price_ns != with_ns - without_ns) {
                fail_msg("program %zu, way %d: expected %" PRIu64 " ns, got %" PRIu64, i, way,
                         with_ns - without_ns, price_ns);
            }
            sum_ns += price_ns;
        }
        assert_true(sum_ns > 0);
    }
}

/* ---- the order in which ranks run ---- */

/* A master with workers, files and noise. Costs of faults do not depend on the order of the ranks, and never
 * exceed the interruption. */
static void add_all(struct script *s) {
    for (uint32_t k = 0; k < ROUNDS; k++) {
        for (uint32_t r = 1; r < RANKS; r++) {
            script_recv(s, 0, SIM_ANY, 0);
            script_answer(s, 0, 32);
            add_work(s, r, k, true);
            script_send(s, r, 0, sizes[k], 0);
            script_recv(s, r, 0, 5);
            script_irecv(s, r, r % (RANKS - 1) + 1, 6);
            script_isend(s, r, (r + RANKS - 3) % (RANKS - 1) + 1, 64, 6);
            script_waitany(s, r, 1300);
            script_waitany(s, r, 1300);
        }
        for (uint32_t r = 0; r < RANKS; r++) {
            script_checkpoint(s, r, 1000000 + r);
        }
    }
}

static void test_order(void **state) {
    static const uint64_t order[] = {0, 1, 77};
    struct sim_price first = {0};
    uint64_t end_ns = 0;
    (void)state;
    for (size_t i = 0; i <= sizeof order / sizeof order[0]; i++) {
        const bool counts = i < sizeof order / sizeof order[0];
        struct script s;
        script_begin(&s, RANKS, 1);
        s.clocks = CLOCKS;
        s.checkpoints = ROUNDS;
        s.noise = (struct sim_noise_params){1, 1, 1};
        s.order = counts ? order[i] : 0;
        s.horizon_ns = counts ? i * 10000 : 0;
        add_all(&s);
        script_run(&s);
        const struct sim_price price = sim_price_of(s.sim, CLOCK);
        first = i == 0 ? price : first;
        end_ns = i == 0 ? sim_end_ns(s.sim) : end_ns;
        assert_int_equal(sim_end_ns(s.sim), end_ns);
        assert_int_equal(price.time_ns, first.time_ns);
        assert_int_equal(price.ranks, first.ranks);
        for (uint32_t k = 0; k < price.ranks; k++) {
            assert_int_equal(price.affected[k].rank, first.affected[k].rank);
            assert_int_equal(price.affected[k].wait_ns, first.affected[k].wait_ns);
        }
        assert_true(price.time_ns > 0 && price.time_ns <= LATE_NS);
        script_end(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),         cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_most_affected), cmocka_unit_test(test_interruption),
        cmocka_unit_test(test_network),       cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
