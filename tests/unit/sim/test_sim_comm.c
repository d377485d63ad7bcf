/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators of the simulator: places (ranks in a communicator), messages, collective calls, and the costs
 * of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/sim_script.h"

static void expect_failure(struct script *s, const char *expected) {
    assert_int_equal(script_try(s), HPCW_EINVAL);
    if (strstr(s->err.message, expected) == NULL) {
        fail_msg("expected \"%s\", got \"%s\"", expected, s->err.message);
    }
    script_end(s);
}

static const struct sim_made *made_by(const struct script *s, uint32_t rank, uint32_t number) {
    return &s->rank[rank].made[number - 1];
}

/* A place is the rank in a communicator. Places are in the order of keys, then of old places. A rank may get no
 * communicator. */
static void test_places(void **state) {
    enum { RANKS = 9, NO_MEMBER = 4 };
    /* One new communicator has ranks 8, 6, 0, 2, the other one 5, 7, 1, 3, in this order. */
    static const uint32_t place[RANKS] = {2, 2, 3, 3, 0, 0, 1, 1, 0};
    (void)state;
    struct script s;
    script_begin(&s, RANKS, 1);
    for (uint32_t r = 0; r < RANKS; r++) {
        script_split(&s, r, SIM_CALL_SPLIT, r == NO_MEMBER ? SIM_NONE : r % 2, -(int32_t)(r / 4));
        script_split(&s, r, SIM_CALL_DUP, 0, 0);
    }
    script_run(&s);
    for (uint32_t r = 0; r < RANKS; r++) {
        const struct sim_made *half = made_by(&s, r, 1);
        const struct sim_made *dup = made_by(&s, r, 2);
        assert_int_equal(half->comm == SIM_NONE, r == NO_MEMBER);
        if (r != NO_MEMBER) {
            assert_int_equal(half->place, place[r]);
            assert_int_equal(half->leader, r % 2 == 0 ? 8 : 5);
            assert_int_equal(half->count, 0);
            assert_int_equal(sim_comm_size(s.sim, half->comm), 4);
        }
        assert_int_equal(dup->place, r);
        assert_int_equal(dup->leader, 0);
    }
    assert_int_not_equal(made_by(&s, 0, 1)->comm, made_by(&s, 1, 1)->comm);
    script_end(&s);
}

/* Messages of one tag between two ranks match within a communicator, whatever the order of the receives. A
 * receive from any rank takes none of another communicator. Partners are places (ranks in a communicator), here
 * in reverse order. */
static void test_messages(void **state) {
    enum { RANKS = 4 };
    (void)state;
    struct script s;
    script_begin(&s, RANKS, 1);
    for (uint32_t r = 0; r < RANKS; r++) {
        script_split(&s, r, SIM_CALL_SPLIT, 0, -(int32_t)r);
    }
    script_send(&s, 1, 3, 100, 0);
    script_use(&s, 1, 1);
    script_send(&s, 1, RANKS - 1 - 3, 200, 0);
    script_send(&s, 1, RANKS - 1 - 3, 300, 0);
    script_use(&s, 3, 1);
    script_recv(&s, 3, RANKS - 1 - 1, 0);
    script_recv(&s, 3, SIM_ANY, 0);
    script_use(&s, 3, 0);
    script_recv(&s, 3, SIM_ANY, 0);
    script_run(&s);
    static const uint64_t bytes[] = {200, 300, 100};
    size_t received = 0;
    for (size_t i = 0; i < s.events; i++) {
        if (s.event[i].what == SIM_RECEIVED) {
            assert_int_equal(s.event[i].peer, 1);
            assert_int_equal(s.event[i].bytes, bytes[received]);
            assert_int_equal(s.event[i].comm, received == 2 ? SIM_WORLD : made_by(&s, 3, 1)->comm);
            received++;
        }
    }
    assert_int_equal(received, 3);
    assert_int_equal(sim_received(s.sim, 3).from, 1);
    script_end(&s);
}

/* A collective call waits only for the members of its communicator. Its root is a place (rank in it). */
static void test_members_wait_for_members(void **state) {
    enum { RANKS = 12, LATE = 7, LATE_NS = 10000000 };
    static const enum sim_call call[] = {SIM_CALL_BARRIER, SIM_CALL_ALLREDUCE, SIM_CALL_BCAST,
                                         SIM_CALL_ALLTOALL};
    (void)state;
    for (size_t i = 0; i < sizeof call / sizeof call[0]; i++) {
        struct script s;
        script_begin(&s, RANKS, 1);
        for (uint32_t r = 0; r < RANKS; r++) {
            script_split(&s, r, SIM_CALL_SPLIT, r / 4, 0);
            script_use(&s, r, 1);
            script_compute(&s, r, r == LATE ? LATE_NS : 1000);
            script_meet(&s, r, call[i], call[i] == SIM_CALL_BCAST ? LATE % 4 : 0,
                        call[i] == SIM_CALL_BARRIER ? 0 : 8);
            script_mark(&s, r);
        }
        script_run(&s);
        for (uint32_t r = 0; r < RANKS; r++) {
            assert_int_equal(r / 4 == LATE / 4, s.mark[r] >= LATE_NS);
        }
        script_end(&s);
    }
}

/* Returns the time of a call of 1 MiB in all communicators at once. Each has `size` ranks, `stride` apart. */
static uint64_t time_in_parts(enum sim_call call, uint32_t ranks, uint32_t size, uint32_t stride) {
    struct script s;
    script_begin(&s, ranks, 1);
    for (uint32_t r = 0; r < ranks; r++) {
        script_split(&s, r, SIM_CALL_SPLIT, r / (size * stride) * stride + r % stride, 0);
        script_use(&s, r, 1);
        script_mark(&s, r);
        script_meet(&s, r, call, 0, 1 << 20);
        script_mark(&s, r);
    }
    script_run(&s);
    uint64_t longest_ns = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        const uint64_t time_ns = s.mark[2 * r + 1] - s.mark[2 * r];
        longest_ns = time_ns > longest_ns ? time_ns : longest_ns;
    }
    script_end(&s);
    return longest_ns;
}

/* Messages of all communicators of a node's ranks share the node's cards. */
static void test_parts_share_the_cards(void **state) {
    (void)state;
    struct model_machine_params p;
    hpcw_error err;
    assert_int_equal(model_machine_params_init(&p, model_machine_preset[0].name, &err), HPCW_OK);
    const uint32_t ranks = 4 * p.ppn;
    const double card_gbs = p.nics * p.message.line_gbs[MODEL_SAME_SWITCH];
    /* an alltoall sends to the other three members */
    const double node_bytes = 3.0 * p.ppn * (1 << 20);
    assert_true((double)time_in_parts(SIM_CALL_ALLTOALL, ranks, 4, p.ppn) > node_bytes / card_gbs);
    /* In an allreduce each rank sends and receives at least 2 (n - 1) / n times the bytes. */
    assert_true((double)time_in_parts(SIM_CALL_ALLREDUCE, ranks, 4, p.ppn) > 1.5 / 3 * node_bytes / card_gbs);
}

static void test_wrong_calls(void **state) {
    (void)state;
    struct script s;
    script_begin(&s, 4, 1);
    for (uint32_t r = 0; r < 4; r++) {
        script_split(&s, r, SIM_CALL_SPLIT, r / 2, 0);
        script_use(&s, r, 1);
    }
    script_send(&s, 3, 2, 8, 0);
    expect_failure(&s, "send: expected a rank from 0 to 1 or none, got 2");
    script_begin(&s, 4, 1);
    for (uint32_t r = 0; r < 4; r++) {
        script_split(&s, r, SIM_CALL_SPLIT, r / 2, 0);
        script_use(&s, r, 1);
        script_meet(&s, r, SIM_CALL_REDUCE, r == 3 ? 1 : 0, 8);
    }
    expect_failure(&s, "reduce: expected the collective call of rank 2, reduce with root 0 and 8 bytes, got "
                       "reduce with root 1");
    script_begin(&s, 4, 1);
    script_meet(&s, 0, SIM_CALL_BCAST, 0, 8);
    expect_failure(&s, "rank 0: expected bcast of all 4 ranks of its communicator, got that of 1");
    script_begin(&s, 2, 1);
    for (uint32_t i = 0; i <= SIM_MOST_COMMS; i++) {
        for (uint32_t r = 0; r < 2; r++) {
            script_split(&s, r, SIM_CALL_DUP, 0, 0);
        }
    }
    expect_failure(&s, "dup: expected at most 256 communicators of a rank, got one more");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_members_wait_for_members),
        cmocka_unit_test(test_parts_share_the_cards),
        cmocka_unit_test(test_wrong_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
