/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator: times of calls, their independence of the order in which ranks run, and messages for wrong
 * programs. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "gen/sim/timing/cost.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "tests/support/sim_script.h"

/* ---- programs ---- */

static void ping_pong(struct script *s, uint64_t bytes) {
    script_send(s, 0, 1, bytes, 7);
    script_recv(s, 1, 0, 7);
    script_send(s, 1, 0, bytes, 8);
    script_recv(s, 0, 1, 8);
}

static void add_chain(struct script *s, uint32_t ranks, uint32_t iterations, uint64_t late_ns) {
    for (uint32_t k = 0; k < iterations; k++) {
        for (uint32_t r = 0; r < ranks; r++) {
            script_compute(s, r, 1000000 + (k == 1 && r == ranks / 2 ? late_ns : 0));
            script_mark(s, r);
            for (int side = -1; side <= 1; side += 2) {
                const bool has = side < 0 ? r > 0 : r + 1 < ranks;
                if (has) {
                    script_send(s, r, (uint32_t)((int)r + side), 64, 0);
                }
            }
            for (int side = -1; side <= 1; side += 2) {
                const bool has = side < 0 ? r > 0 : r + 1 < ranks;
                if (has) {
                    script_recv(s, r, (uint32_t)((int)r + side), 0);
                }
            }
        }
    }
}

/* A master gives work to the ranks that ask for it, with two kinds of messages. */
static void add_farm(struct script *s, uint32_t ranks, uint32_t rounds) {
    for (uint32_t k = 0; k < rounds; k++) {
        for (uint32_t r = 1; r < ranks; r++) {
            script_recv(s, 0, SIM_ANY, (int32_t)(r % 2));
            script_answer(s, 0, 32);
            script_compute(s, r, 1000 + r * 37 % 11 * 1000 + k * 100);
            script_send(s, r, 0, 100 + r % 3 * 20000, (int32_t)(r % 2));
            script_recv(s, r, 0, 5);
        }
    }
}

static void add_collectives(struct script *s, uint32_t ranks) {
    static const uint64_t size[] = {8, 4096, 65536, 1 << 20};
    for (uint32_t k = 0; k < 4; k++) {
        for (uint32_t r = 0; r < ranks; r++) {
            script_compute(s, r, 5000 + (r * 7919 + k) % 13 * 10000);
            script_meet(s, r, SIM_CALL_BCAST, 3 % ranks, size[k]);
            script_meet(s, r, SIM_CALL_REDUCE, (ranks - 1) / 2, size[k]);
            script_meet(s, r, SIM_CALL_ALLREDUCE, 0, size[k]);
            script_meet(s, r, SIM_CALL_GATHER, 5 % ranks, size[k]);
            script_meet(s, r, SIM_CALL_SCATTER, ranks - 1, size[k]);
            script_meet(s, r, SIM_CALL_ALLGATHER, 0, size[k]);
            script_meet(s, r, SIM_CALL_ALLTOALL, 0, size[k]);
            const struct sim_parts parts = {.first = (int64_t)size[k], .step = 100};
            script_meet_parts(s, r, SIM_CALL_GATHERV, 5 % ranks, &parts);
            script_meet_parts(s, r, SIM_CALL_SCATTERV, ranks - 1, &parts);
            script_meet_parts(s, r, SIM_CALL_ALLGATHERV, 0, &parts);
            script_meet_parts(s, r, SIM_CALL_ALLTOALLV, 0, &parts);
            script_meet(s, r, SIM_CALL_BARRIER, 0, 0);
        }
    }
}

/* All ranks post receives, and then send small or large messages to both neighbours. */
static void add_halo(struct script *s, uint32_t ranks, uint32_t rounds) {
    for (uint32_t k = 0; k < rounds; k++) {
        for (uint32_t r = 0; r < ranks; r++) {
            const uint32_t up = (r + 1) % ranks;
            const uint32_t down = (r + ranks - 1) % ranks;
            script_irecv(s, r, up, 1);
            script_irecv(s, r, down, 2);
            script_isend(s, r, up, k % 2 == 0 ? 100 : 200000, 2);
            script_compute(s, r, 3000 * (1 + (r + k) % 5));
            script_isend(s, r, down, k % 2 == 0 ? 200000 : 100, 1);
            script_waitall(s, r);
            script_sendrecv(s, r, up, 50000, down, 3);
        }
    }
}

/* Ranks handle small and large sends and receives in the order of completion. Their next step depends on which
 * request completed. */
static void add_as_they_come(struct script *s, uint32_t ranks, uint32_t rounds) {
    for (uint32_t k = 0; k < rounds; k++) {
        for (uint32_t r = 0; r < ranks; r++) {
            const uint32_t up = (r + 1) % ranks;
            const uint32_t down = (r + ranks - 1) % ranks;
            script_irecv(s, r, down, 6);
            script_irecv(s, r, up, 7);
            script_compute(s, r, 2000 * (1 + (r * 31 + k) % 7));
            script_isend(s, r, up, (r + k) % 2 == 0 ? 100 : 90000, 6);
            script_isend(s, r, down, (r + k) % 3 == 0 ? 90000 : 100, 7);
            for (int i = 0; i < 4; i++) {
                script_waitany(s, r, 1300);
            }
        }
    }
}

/* ---- times ---- */

/* A ping-pong takes the time of the network model, whatever part of it is processor time. All receives wait. */
static void test_ping_pong(void **state) {
    enum { EARLY_NS = 10000 };
    static const uint64_t size[] = {0, 8, 1024, 8192, 8193, 1 << 20};
    (void)state;
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        struct script s;
        script_begin(&s, 2, 1);
        script_compute(&s, 0, EARLY_NS);
        ping_pong(&s, size[i]);
        script_run(&s);
        const struct model_contention alone = {0};
        const struct model_way way = model_network_way(&s.network, 0, 1, size[i], &alone);
        const double expected_ns = model_network_time(&way, 1, model_network_pair(&s.network, 0, 1), 0) / 1e3;
        const double got_ns = (double)(sim_end_ns(s.sim) - EARLY_NS) / 2;
        if (got_ns < expected_ns - 3 || got_ns > expected_ns + 3) {
            fail_msg("%" PRIu64 " bytes: expected %.1f ns, got %.1f", size[i], expected_ns, got_ns);
        }
        script_end(&s);
    }
}

/* If the receive of a large message is late, the sender waits. For a small one it does not. */
static void test_late_receiver(void **state) {
    enum { LATE_NS = 10000000 };
    (void)state;
    for (int large = 0; large < 2; large++) {
        struct script s;
        script_begin(&s, 2, 1);
        script_send(&s, 0, 1, large ? 1 << 20 : 8, 0);
        script_mark(&s, 0);
        script_compute(&s, 1, LATE_NS);
        script_recv(&s, 1, 0, 0);
        script_run(&s);
        assert_true(large ? s.mark[0] > LATE_NS : s.mark[0] < LATE_NS / 100);
        script_end(&s);
    }
}

/* If the receive of a large message is late, the sender learns of it a latency later. Then the data need a latency,
 * too, and the time of their bytes at line rate. */
static void test_late_receiver_answers(void **state) {
    enum { FROM = 0, TO = 7, LATE_NS = 10000000, BYTES = 8193 };
    (void)state;
    struct script s;
    script_begin(&s, TO + 1, 1);
    script_send(&s, FROM, TO, BYTES, 0);
    script_mark(&s, FROM);
    script_compute(&s, TO, LATE_NS);
    script_recv(&s, TO, FROM, 0);
    script_mark(&s, TO);
    script_run(&s);
    const struct sim_cost cost = sim_cost_between(&s.network, &s.constants, FROM, TO, BYTES);
    const double data_ns = cost.latency_ns + BYTES / s.machine.params.message.line_gbs[MODEL_SAME_SWITCH];
    assert_true(cost.rendezvous);
    assert_true(s.mark[0] >= LATE_NS + cost.latency_ns);
    assert_true((double)s.mark[1] >= LATE_NS + cost.latency_ns + data_ns);
    script_end(&s);
}

/* A delay in a chain of ranks reaches the n-th neighbour on both sides n iterations later. */
static void test_idle_wave(void **state) {
    enum { RANKS = 21, ITERATIONS = 12, LATE_NS = 50000000 };
    (void)state;
    struct script s;
    script_begin(&s, RANKS, 1);
    add_chain(&s, RANKS, ITERATIONS, LATE_NS);
    script_run(&s);
    for (uint32_t r = 0; r < RANKS; r++) {
        const uint32_t far = r > RANKS / 2 ? r - RANKS / 2 : RANKS / 2 - r;
        for (uint32_t k = 1; k < ITERATIONS; k++) {
            const bool is_late = s.mark[k * RANKS + r] > LATE_NS;
            if (is_late != (k >= 1 + far)) {
                fail_msg("rank %u, iteration %u: %s", r, k, is_late ? "late" : "not late");
            }
        }
    }
    script_end(&s);
}

/* A rank cannot send faster than its share of the cards. */
static void test_rate_of_a_card(void **state) {
    enum { MESSAGES = 100, BYTES = 8000 };
    (void)state;
    struct script s;
    script_begin(&s, 8, 1);
    for (int i = 0; i < MESSAGES; i++) {
        script_send(&s, 0, 7, BYTES, 0);
        script_recv(&s, 7, 0, 0);
    }
    script_run(&s);
    const struct model_machine_params *p = &s.machine.params;
    const double least_ns = MESSAGES * BYTES / p->message.line_gbs[MODEL_SAME_SWITCH];
    assert_true((double)sim_end_ns(s.sim) > least_ns);
    script_end(&s);
}

/* Returns the time of large messages from each of the first `senders` ranks of a node of 64 to another node. */
static uint64_t time_of_streams(uint32_t senders, uint32_t messages) {
    enum { NODE = 64, BYTES = 1000000, IDLE_NS = 10000000 };
    struct script s;
    script_begin_on(&s, "fattree-hdr100", 2 * NODE, 1);
    for (uint32_t r = 0; r < senders; r++) {
        script_compute(&s, r, IDLE_NS);
        for (uint32_t i = 0; i < messages; i++) {
            script_irecv(&s, NODE + r, r, 0);
            script_isend(&s, r, NODE + r, BYTES, 0);
        }
        script_waitall(&s, NODE + r);
        script_waitall(&s, r);
    }
    script_run(&s);
    const uint64_t time_ns = sim_end_ns(s.sim) - IDLE_NS;
    script_end(&s);
    return time_ns;
}

/* A rank has a fixed share of its node's network cards. A message after a pause still has the rate of a card. */
static void test_share_of_a_card(void **state) {
    (void)state;
    assert_in_range(time_of_streams(1, 1), 80000, 100000); /* 1 MB at 12.5 GB/s */
    assert_in_range(time_of_streams(1, 8), 35000000, 41000000);
    assert_in_range(time_of_streams(64, 8), 35000000, 41000000);
}

/* Messages from one rank with one tag are received in the order of their sends, by receives from this rank and
 * from any rank. */
static void test_order_of_messages(void **state) {
    (void)state;
    struct script s;
    script_begin(&s, 2, 1);
    for (uint32_t i = 0; i < 6; i++) {
        /* A large message's request arrives before the data of an earlier small message. */
        script_isend(&s, 0, 1, i % 2 == 0 ? 8000 + i : 100000 + i, 0);
        script_recv(&s, 1, i < 3 ? 0 : SIM_ANY, 0);
    }
    script_waitall(&s, 0);
    script_run(&s);
    uint32_t next = 0;
    for (size_t i = 0; i < s.events; i++) {
        if (s.event[i].what == SIM_RECEIVED) {
            assert_int_equal(s.event[i].bytes, (next % 2 == 0 ? 8000 : 100000) + next);
            next++;
        }
    }
    assert_int_equal(next, 6);
    script_end(&s);
}

/* A receive from any source takes the message that is first in simulated time, not that of the rank that ran
 * first. */
static void test_any_takes_the_first(void **state) {
    (void)state;
    struct script s;
    script_begin(&s, 5, 1);
    for (uint32_t r = 1; r < 5; r++) {
        script_compute(&s, r, 1000000 * (5 - r));
        script_send(&s, r, 0, 8, 0);
        script_recv(&s, 0, SIM_ANY, 0);
    }
    script_run(&s);
    uint32_t expected = 4;
    for (size_t i = 0; i < s.events; i++) {
        if (s.event[i].what == SIM_RECEIVED) {
            assert_int_equal(s.event[i].peer, expected--);
        }
    }
    script_end(&s);
}

/* Searching all messages that wait for each receive would take minutes of processor time. The limit is 20 s. */
static void test_any_among_many(void **state) {
    enum { RANKS = 4097, MESSAGES = 12, LONGEST_S = 20 };
    (void)state;
    struct script s;
    script_begin(&s, RANKS, 1);
    script_compute(&s, 0, UINT64_C(1000000000));
    for (int32_t tag = 2; tag-- > 0;) {
        for (uint32_t i = 0; i < (RANKS - 1) * MESSAGES; i++) {
            script_recv(&s, 0, SIM_ANY, tag);
            script_send(&s, 1 + i / MESSAGES, 0, 8, 1 - tag);
        }
    }
    const clock_t start = clock();
    script_run(&s);
    assert_true((clock() - start) / CLOCKS_PER_SEC < LONGEST_S);
    script_end(&s);
}

static size_t largest;

static bool note_size(size_t size) {
    largest = size > largest ? size : largest;
    return true;
}

/* A rank that has once received from any source needs no more memory for messages that it receives by name. */
static void test_any_forgets(void **state) {
    enum { MESSAGES = 20000, FEW_BYTES = 1 << 17 };
    (void)state;
    for (int32_t tags = 1; tags <= MESSAGES; tags += MESSAGES - 1) {
        struct script s;
        script_begin(&s, 2, 1);
        script_send(&s, 1, 0, 8, 0);
        script_recv(&s, 0, SIM_ANY, 0);
        for (int32_t i = 0; i < MESSAGES; i++) {
            script_send(&s, 1, 0, 8, i % tags);
            script_compute(&s, 0, 10000);
            script_recv(&s, 0, 1, i % tags);
            script_sendrecv(&s, 0, 1, 0, 1, 0);
            script_sendrecv(&s, 1, 0, 0, 0, 0);
        }
        s.event = hpcw_i_grow(NULL, &s.event_capacity, (size_t)32 * MESSAGES, sizeof *s.event);
        largest = 0;
        hpcw_i_mem_gate = note_size;
        script_run(&s);
        hpcw_i_mem_gate = NULL;
        assert_in_range(largest, 1, FEW_BYTES);
        script_end(&s);
    }
}

/* sim_waitany takes the request that completes first, and not that of the sender that ran first. Of several
 * complete requests, it takes the first in the list. A message to SIM_NONE is complete at once. */
static void test_waitany_takes_the_first(void **state) {
    (void)state;
    for (int late = 0; late < 2; late++) {
        struct script s;
        script_begin(&s, 4, 1);
        for (uint32_t r = 1; r < 4; r++) {
            script_irecv(&s, 0, r, 0);
            script_compute(&s, r, 1000000 * (4 - r));
            script_send(&s, r, 0, r == 2 ? 100000 : 8, 0);
        }
        script_compute(&s, 0, late ? 10000000 : 0);
        for (int i = 0; i < 3; i++) {
            script_waitany(&s, 0, 0);
        }
        script_irecv(&s, 0, 1, 3);
        script_isend(&s, 0, SIM_NONE, 8, 3);
        script_waitany(&s, 0, 0);
        script_send(&s, 1, 0, 8, 3);
        script_waitany(&s, 0, 0);
        script_run(&s);
        uint32_t received = 0;
        for (size_t i = 0; i < s.events; i++) {
            if (s.event[i].what == SIM_RECEIVED) {
                assert_int_equal(s.event[i].peer, received == 3 ? 1 : late ? received + 1 : 3 - received);
                received++;
            }
        }
        assert_int_equal(received, 4);
        script_end(&s);
    }
}

/* The first rank of a row receives from nobody, and the last one sends to nobody. */
static void test_shift_in_a_row(void **state) {
    enum { RANKS = 3 };
    (void)state;
    struct script s;
    script_begin(&s, RANKS, 1);
    for (uint32_t r = 0; r < RANKS; r++) {
        script_sendrecv(&s, r, r + 1 < RANKS ? r + 1 : SIM_NONE, 8, r > 0 ? r - 1 : SIM_NONE, 0);
    }
    script_run(&s);
    uint32_t count[RANKS][2] = {{0}};
    for (size_t i = 0; i < s.events; i++) {
        count[s.event[i].rank][0] += s.event[i].what == SIM_SENT;
        count[s.event[i].rank][1] += s.event[i].what == SIM_RECEIVED;
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        assert_int_equal(count[r][0], r + 1 < RANKS);
        assert_int_equal(count[r][1], r > 0);
    }
    script_end(&s);
}

/* The root of a broadcast or scatter does not wait for others. The others wait for the root, and not for each
 * other. */
static void test_who_waits_for_the_root(void **state) {
    enum { RANKS = 16, LATE = 7, LATE_NS = 10000000 };
    (void)state;
    for (int i = 0; i < 4; i++) {
        const uint32_t late = i < 2 ? LATE : 0;
        struct script s;
        script_begin(&s, RANKS, 1);
        for (uint32_t r = 0; r < RANKS; r++) {
            script_compute(&s, r, r == late ? LATE_NS : 1000);
            script_meet(&s, r, i % 2 == 0 ? SIM_CALL_BCAST : SIM_CALL_SCATTER, 0, 8);
            script_mark(&s, r);
        }
        script_run(&s);
        for (uint32_t r = 0; r < RANKS; r++) {
            const bool waits = r == late || late == 0;
            assert_int_equal(waits, s.mark[r] >= LATE_NS);
        }
        script_end(&s);
    }
}

/* Rank 12 is late. All ranks wait for rank 12 if each gets data of all. In a reduce and a gather, only the
 * ranks on the path from rank 12 to the root wait. */
static void test_who_waits_in_collectives(void **state) {
    enum { RANKS = 13, LATE = 12, LATE_NS = 10000000 };
    static const enum sim_call call[] = {SIM_CALL_BARRIER,  SIM_CALL_ALLREDUCE, SIM_CALL_ALLGATHER,
                                         SIM_CALL_ALLTOALL, SIM_CALL_REDUCE,    SIM_CALL_GATHER};
    (void)state;
    for (size_t i = 0; i < sizeof call / sizeof call[0]; i++) {
        struct script s;
        script_begin(&s, RANKS, 1);
        for (uint32_t r = 0; r < RANKS; r++) {
            script_compute(&s, r, r == LATE ? LATE_NS : 1000);
            script_meet(&s, r, call[i], 0, call[i] == SIM_CALL_BARRIER ? 0 : 8);
            script_mark(&s, r);
        }
        script_run(&s);
        for (uint32_t r = 0; r < RANKS; r++) {
            /* In the tree, rank 12 sends to rank 8, rank 8 to the root. */
            const bool waits =
                (call[i] != SIM_CALL_REDUCE && call[i] != SIM_CALL_GATHER) || r == 0 || r == 8 || r == LATE;
            if (waits != (s.mark[r] >= LATE_NS)) {
                fail_msg("%s: rank %u leaves at %" PRIu64, sim_call_name[call[i]], r, s.mark[r]);
            }
        }
        script_end(&s);
    }
}

/* Bytes that must enter or leave a node in a collective call with root 0. */
static double bytes_of_node(enum sim_call call, double ranks, double on_node, double bytes) {
    switch (call) {
    case SIM_CALL_ALLTOALL:
        return on_node * (ranks - on_node) * bytes;
    case SIM_CALL_GATHER:
    case SIM_CALL_SCATTER:
    case SIM_CALL_ALLGATHER:
        return (ranks - on_node) * bytes;
    default:
        return bytes;
    }
}

static void check_cards(const char *preset, uint32_t ranks, enum sim_call call, uint64_t bytes) {
    struct script s;
    script_begin_on(&s, preset, ranks, 1);
    for (uint32_t r = 0; r < ranks; r++) {
        script_meet(&s, r, call, 0, bytes);
    }
    script_run(&s);
    const struct model_machine_params *p = &s.machine.params;
    double gbs = 0;
    for (int c = MODEL_SAME_SWITCH; c < MODEL_CLASSES; c++) {
        gbs = p->message.line_gbs[c] > gbs ? p->message.line_gbs[c] : gbs;
    }
    const double least_ns =
        ranks > p->ppn ? bytes_of_node(call, ranks, p->ppn, (double)bytes) / (gbs * p->nics) : 0;
    if ((double)sim_end_ns(s.sim) < least_ns) {
        fail_msg("%s: %s of %" PRIu64 " bytes on %" PRIu32 " ranks: expected at least %.0f ns, got %" PRIu64,
                 preset, sim_call_name[call], bytes, ranks, least_ns, sim_end_ns(s.sim));
    }
    script_end(&s);
}

/* No collective call is faster than the cards of a node can transfer the necessary bytes. */
static void test_collectives_pass_the_cards(void **state) {
    static const uint64_t size[] = {8, 256, 4096, 65536, 1 << 20, 16 << 20};
    static const uint32_t ranks[] = {64, 250, 512, 4096};
    (void)state;
    for (size_t i = 0; i < model_machine_preset_count; i++) {
        for (size_t n = 0; n < sizeof ranks / sizeof ranks[0]; n++) {
            for (size_t k = 0; k < sizeof size / sizeof size[0]; k++) {
                for (int call = SIM_CALL_BCAST; call <= SIM_CALL_ALLTOALL; call++) {
                    check_cards(model_machine_preset[i].name, ranks[n], (enum sim_call)call, size[k]);
                }
            }
        }
    }
}

/* A broadcast takes no longer than its steps down the tree, however many ranks share a network card: only one
 * rank of a node uses the card. */
static void test_trees_do_not_share_cards(void **state) {
    enum { RANKS = 4096, STEPS = 12, BYTES = 8192 };
    (void)state;
    struct script s;
    script_begin_on(&s, "dragonfly-ss11", RANKS, 1);
    for (uint32_t r = 0; r < RANKS; r++) {
        script_meet(&s, r, SIM_CALL_BCAST, 0, BYTES);
    }
    script_run(&s);
    const struct model_machine_params *p = &s.machine.params;
    const double step_ns =
        3 * p->message.latency_us[MODEL_OTHER_GROUP] * 1e3 + BYTES / p->message.line_gbs[MODEL_OTHER_GROUP];
    if ((double)sim_end_ns(s.sim) > STEPS * step_ns) {
        fail_msg("expected at most %.0f ns, got %" PRIu64, STEPS * step_ns, sim_end_ns(s.sim));
    }
    script_end(&s);
}

/* A gather or scatter takes about as long as the messages of all ranks, one after the other. */
static void test_trees_carry_what_is_below(void **state) {
    enum { RANKS = 256, BYTES = 1 << 20 };
    (void)state;
    for (int call = SIM_CALL_GATHER; call <= SIM_CALL_SCATTER; call++) {
        struct script s;
        script_begin(&s, RANKS, 1);
        for (uint32_t r = 0; r < RANKS; r++) {
            script_meet(&s, r, (enum sim_call)call, 0, BYTES);
        }
        script_run(&s);
        const double line_ns = (RANKS - 1.0) * BYTES / s.machine.params.message.line_gbs[MODEL_SAME_SWITCH];
        assert_true((double)sim_end_ns(s.sim) > 0.9 * line_ns && (double)sim_end_ns(s.sim) < 1.5 * line_ns);
        script_end(&s);
    }
}

/* ---- the order in which ranks run ---- */

/* Communicators for rows and columns of a grid, with messages and collective calls, and a duplicate of the
 * world. */
static void add_grid(struct script *s, uint32_t ranks) {
    const uint32_t side = ranks > 3 ? 3 : 2;
    for (uint32_t r = 0; r < ranks; r++) {
        script_compute(s, r, 1000 * (1 + r * 17 % 7));
        script_split(s, r, SIM_CALL_SPLIT, r / side, -(int32_t)r);
        script_split(s, r, SIM_CALL_SPLIT, r % side, 0);
        script_split(s, r, SIM_CALL_DUP, 0, 0);
        const uint32_t rows = (ranks - r % side + side - 1) / side;
        for (uint32_t k = 0; k < 3; k++) {
            script_use(s, r, 1);
            script_meet(s, r, SIM_CALL_ALLTOALL, 0, 1000);
            script_use(s, r, 2);
            script_sendrecv(s, r, (r / side + 1) % rows, 5000, (r / side + rows - 1) % rows, 9);
            script_meet(s, r, SIM_CALL_BCAST, 0, 64);
            script_use(s, r, 3);
            script_sendrecv(s, r, (r + 1) % ranks, 70, (r + ranks - 1) % ranks, 9);
        }
        script_use(s, r, 0);
    }
}

/* Files of several sizes that several ranks write at the same time, with messages in between. */
static void add_files(struct script *s, uint32_t ranks) {
    for (uint32_t r = 0; r < ranks; r++) {
        script_compute(s, r, 1000 * (1 + r * 13 % 5));
        script_open(s, r);
        for (uint32_t k = 0; k < 3; k++) {
            script_move(s, r, k == 1 ? SIM_CALL_FILE_READ : SIM_CALL_FILE_WRITE, (1 + r % 3) * 5000000);
            script_sendrecv(s, r, (r + 1) % ranks, 1000, (r + ranks - 1) % ranks, 4);
        }
        script_close(s, r);
    }
}

static void add_all(struct script *s, uint32_t ranks) {
    add_collectives(s, ranks);
    add_chain(s, ranks, 5, 300000);
    add_halo(s, ranks, 4);
    add_farm(s, ranks, 6);
    add_as_they_come(s, ranks, 5);
    add_grid(s, ranks);
    add_files(s, ranks);
    add_collectives(s, ranks);
}

/* Returns a number for a communicator that does not depend on the order in which ranks run. */
static uint32_t fixed_number(const struct script *s, uint32_t ranks, uint32_t comm) {
    for (uint32_t r = 0; r < ranks; r++) {
        for (uint32_t i = 0; i < s->rank[r].mades; i++) {
            const struct sim_made *m = &s->rank[r].made[i];
            if (m->comm == comm) {
                return 1 + m->leader * SCRIPT_MOST_COMMS + m->count;
            }
        }
    }
    return comm;
}

static void fix_numbers(struct script *s, uint32_t ranks) {
    for (size_t i = 0; i < s->events; i++) {
        struct sim_event *e = &s->event[i];
        e->comm = fixed_number(s, ranks, e->comm) & SIM_LAST_COMM;
        e->tag = e->what == SIM_MADE ? (int32_t)fixed_number(s, ranks, (uint32_t)e->tag) : e->tag;
    }
}

static void sort_and_end(struct script *s, struct sim_event **event, size_t *events) {
    script_sort(s);
    *event = s->event;
    *events = s->events;
    s->event = NULL;
    script_end(s);
}

/* Neither the order of the ranks nor the horizon (the time at which they stop) changes a result. */
static void run_in_orders(const struct sim_noise_params *noise) {
    static const uint64_t horizon_ns[] = {0, 1, 777, 100000, UINT64_MAX / 4};
    for (uint32_t ranks = 2; ranks < 100; ranks = 3 * ranks + 1) {
        struct sim_event *expected = NULL;
        size_t count = 0;
        for (uint64_t order = 0; order < 10; order++) {
            struct script s;
            struct sim_event *event;
            size_t events;
            script_begin(&s, ranks, 1);
            add_all(&s, ranks);
            s.noise = *noise;
            s.order = order;
            s.horizon_ns = horizon_ns[order % 5];
            script_run(&s);
            fix_numbers(&s, ranks);
            sort_and_end(&s, &event, &events);
            if (order == 0) {
                expected = event;
                count = events;
                continue;
            }
            assert_int_equal(events, count);
            assert_memory_equal(event, expected, count * sizeof *event);
            free(event);
        }
        free(expected);
    }
}

static void test_order_of_ranks(void **state) {
    (void)state;
    run_in_orders(&(struct sim_noise_params){0});
}

/* All kinds of noise, strong enough to interrupt ranks half of the time. */
static void test_order_of_ranks_with_noise(void **state) {
    (void)state;
    run_in_orders(&(struct sim_noise_params){1, 10, 1000});
}

/* Returns how often the horizon (the time at which ranks stop) moves while ranks wait for one that computes,
 * and in barriers afterwards. */
static uint32_t passes_with(uint32_t barriers) {
    enum { MANY_RANKS = 16 };
    struct script s;
    script_begin(&s, MANY_RANKS, 1);
    for (uint32_t r = 0; r < MANY_RANKS; r++) {
        for (uint32_t i = 0; r == 0 && i < 20; i++) {
            script_compute(&s, r, 1000000000);
        }
        script_meet(&s, r, SIM_CALL_BARRIER, 0, 0);
        for (uint32_t i = 0; i < barriers; i++) {
            script_meet(&s, r, SIM_CALL_BARRIER, 0, 0);
        }
    }
    script_run(&s);
    const uint32_t passes = s.passes;
    script_end(&s);
    return passes;
}

/* After a wait in which ranks run far ahead, events stay in memory no longer than before. */
static void test_pause(void **state) {
    (void)state;
    const uint32_t pause = passes_with(1);
    assert_in_range(passes_with(2000), pause + 2000 / 128, pause + 2000 / 8);
}

/* After the observer is told that a time has passed, no earlier event follows. */
static void test_passed(void **state) {
    (void)state;
    struct script s;
    script_begin(&s, 20, 1);
    add_all(&s, 20);
    s.horizon_ns = 5000;
    script_run(&s);
    assert_true(s.passes > 10);
    assert_int_equal(s.before_passed, 0);
    script_end(&s);
}

/* ---- wrong programs ---- */

static void expect_failure(struct script *s, const char *expected) {
    assert_int_equal(script_try(s), HPCW_EINVAL);
    if (strstr(s->err.message, expected) == NULL) {
        fail_msg("expected \"%s\", got \"%s\"", expected, s->err.message);
    }
    script_end(s);
}

static void test_deadlocks(void **state) {
    (void)state;
    struct script s;
    script_begin(&s, 4, 1);
    script_recv(&s, 1, 2, 3);
    expect_failure(
        &s, "1 that wait for ever: rank 1 in recv from rank 2 with tag 3, but rank 2 has ended (step 0)");
    script_begin(&s, 4, 1);
    for (uint32_t r = 0; r < 4; r++) {
        script_send(&s, r, (r + 1) % 4, 1 << 20, 0);
        script_recv(&s, r, (r + 3) % 4, 0);
    }
    expect_failure(&s,
                   "got 4 that wait for ever: rank 0 in send to rank 1 with tag 0 (step 0); rank 1 in send");
    script_begin(&s, 4, 1);
    script_recv(&s, 3, SIM_ANY, 3);
    expect_failure(&s, "rank 3 in recv from any rank with tag 3");
    script_begin(&s, 4, 1);
    script_irecv(&s, 2, 1, 3);
    script_waitany(&s, 2, 0);
    expect_failure(&s, "rank 2 in waitany from rank 1 with tag 3");
    script_begin(&s, 6, 1);
    for (uint32_t r = 1; r < 6; r++) {
        script_meet(&s, r, SIM_CALL_BARRIER, 0, 0);
    }
    expect_failure(
        &s, "rank 1 in barrier of 6 ranks without rank 0, as rank 0 has ended (step 0); rank 2 in barrier");
    script_begin(&s, 6, 1);
    script_meet(&s, 4, SIM_CALL_BARRIER, 0, 0);
    expect_failure(&s, "rank 4 in barrier of 6 ranks without rank 0 and 4 more, as rank 0 has ended (step 0)");
}

/* The message names the rank that waits elsewhere than all others, and what it waits for in vain. */
static void test_deadlock_causes(void **state) {
    (void)state;
    struct script s;
    script_begin(&s, 64, 1);
    script_recv(&s, 37, 5, 3);
    for (uint32_t r = 0; r < 64; r++) {
        script_meet(&s, r, SIM_CALL_BARRIER, 0, 0);
    }
    expect_failure(
        &s,
        "got 64 that wait for ever: rank 0 in barrier of 64 ranks without rank 37 (step 0); rank 37 in recv "
        "from rank 5 with tag 3 (step 0); rank 1 in barrier of 64 ranks without rank 37 (step 0); rank 2 in "
        "barrier of 64 ranks without rank 37 (step 0); and 60 more");
    script_begin(&s, 64, 1);
    for (uint32_t r = 0; r < 60; r++) {
        script_recv(&s, r, r + 1, 0);
    }
    expect_failure(&s, "rank 0 in recv from rank 1 with tag 0 (step 0); rank 59 in recv from rank 60 with tag "
                       "0, but rank 60 has ended (step 0)");
    script_begin(&s, 4, 1);
    script_send(&s, 1, 0, 8, 4);
    script_recv(&s, 0, 1, 3);
    expect_failure(&s, "rank 0 in recv from rank 1 with tag 3, but rank 1 sends tag 4 (step 0)");
    script_begin(&s, 4, 1);
    script_send(&s, 1, 0, 1 << 20, 4);
    script_recv(&s, 0, 1, 3);
    expect_failure(&s, "rank 1 in send to rank 0 with tag 4, but rank 0 receives tag 3 (step 0)");
}

static void test_wrong_calls(void **state) {
    (void)state;
    struct script s;
    script_begin(&s, 4, 1);
    script_send(&s, 0, 4, 8, 0);
    expect_failure(&s, "send: expected a rank from 0 to 3 or none, got 4");
    script_begin(&s, 4, 1);
    script_send(&s, 0, 1, UINT64_C(1) << 31, 0);
    expect_failure(&s, "send: expected 0 to 2147483647 bytes, got 2147483648");
    script_begin(&s, 2, 1);
    script_meet(&s, 0, SIM_CALL_BCAST, 0, 8);
    script_meet(&s, 1, SIM_CALL_BCAST, 1, 8);
    expect_failure(
        &s,
        "bcast: expected the collective call of rank 0, bcast with root 0 and 8 bytes, got bcast with root 1");
    script_begin(&s, 2, 1);
    script_send(&s, 0, 1, 8, 4);
    expect_failure(
        &s, "rank 1: expected a receive for each message to it, got none for 8 bytes from rank 0 with tag 4");
    script_begin(&s, 2, 1);
    script_isend(&s, 0, 1, 8, 4);
    script_recv(&s, 1, 0, 4);
    expect_failure(&s, "rank 0: expected a wait for each isend and irecv, got 1 without one, the first an "
                       "isend to rank 1 with tag 4");
    script_begin(&s, 2, 1);
    for (int32_t tag = 1; tag <= 3; tag++) {
        script_irecv(&s, 0, 1, tag);
        script_send(&s, 1, 0, 8, tag);
        if (tag == 1) {
            script_waitall(&s, 0);
        }
    }
    expect_failure(&s, "got 2 without one, the first an irecv from rank 1 with tag 2");
    script_begin(&s, 2, 1);
    script_waitany(&s, 0, 0);
    expect_failure(&s, "waitany: expected at least one request, got none");
    script_begin(&s, 2, 2);
    expect_failure(&s, "rank 0: expected 2 calls of next_phase, got 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ping_pong),
        cmocka_unit_test(test_late_receiver),
        cmocka_unit_test(test_late_receiver_answers),
        cmocka_unit_test(test_idle_wave),
        cmocka_unit_test(test_rate_of_a_card),
        cmocka_unit_test(test_share_of_a_card),
        cmocka_unit_test(test_order_of_messages),
        cmocka_unit_test(test_any_takes_the_first),
        cmocka_unit_test(test_any_among_many),
        cmocka_unit_test(test_any_forgets),
        cmocka_unit_test(test_waitany_takes_the_first),
        cmocka_unit_test(test_shift_in_a_row),
        cmocka_unit_test(test_who_waits_for_the_root),
        cmocka_unit_test(test_who_waits_in_collectives),
        cmocka_unit_test(test_collectives_pass_the_cards),
        cmocka_unit_test(test_trees_do_not_share_cards),
        cmocka_unit_test(test_trees_carry_what_is_below),
        cmocka_unit_test(test_order_of_ranks),
        cmocka_unit_test(test_order_of_ranks_with_noise),
        cmocka_unit_test(test_passed),
        cmocka_unit_test(test_pause),
        cmocka_unit_test(test_deadlocks),
        cmocka_unit_test(test_deadlock_causes),
        cmocka_unit_test(test_wrong_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
