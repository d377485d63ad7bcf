/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls with parts of different sizes: who waits for whom, bytes, and times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen/sim/timing/cost.h"
#include "tests/support/sim_script.h"

enum { RANKS = 12, ROOT = 3, LATE = 7, LATE_NS = 10000000 };

static const enum sim_call calls[] = {SIM_CALL_GATHERV, SIM_CALL_SCATTERV, SIM_CALL_ALLGATHERV,
                                      SIM_CALL_ALLTOALLV};
enum { CALLS = sizeof calls / sizeof calls[0] };

static uint32_t root_of(enum sim_call call) {
    return call == SIM_CALL_GATHERV || call == SIM_CALL_SCATTERV ? ROOT : 0;
}

/* Runs one collective call of all ranks, to which rank `late` comes later. The marks are the times of return. */
static void run(struct script *s, enum sim_call call, uint32_t late, const struct sim_parts *parts) {
    script_begin(s, RANKS, 1);
    for (uint32_t r = 0; r < RANKS; r++) {
        script_compute(s, r, r == late ? LATE_NS : 1000);
        script_meet_parts(s, r, call, root_of(call), parts);
        script_mark(s, r);
    }
    script_run(s);
}

/* In a gatherv the root waits for all ranks, in a scatterv all wait for the root, in the other calls all wait
 * for all. */
static void test_who_waits(void **state) {
    const struct sim_parts parts = {.first = 100, .step = 10};
    (void)state;
    for (size_t i = 0; i < CALLS; i++) {
        for (int root_is_late = 0; root_is_late < 2; root_is_late++) {
            const uint32_t late = root_is_late ? ROOT : LATE;
            struct script s;
            run(&s, calls[i], late, &parts);
            for (uint32_t r = 0; r < RANKS; r++) {
                const bool waits = r == late || (calls[i] == SIM_CALL_GATHERV    ? r == ROOT
                                                 : calls[i] == SIM_CALL_SCATTERV ? late == ROOT
                                                                                 : true);
                assert_int_equal(waits, s.mark[r] >= LATE_NS);
            }
            script_end(&s);
        }
    }
}

/* Bytes of each call. Listed and computed parts give the same. */
static void test_bytes(void **state) {
    static const uint64_t list[RANKS] = {100, 110, 120, 130, 140, 150, 160, 170, 180, 190, 200, 210};
    static const struct sim_parts parts[] = {{.first = 100, .step = 10}, {.bytes = list}};
    const uint64_t total = RANKS * 100 + 10 * RANKS * (RANKS - 1) / 2;
    (void)state;
    for (size_t i = 0; i < CALLS; i++) {
        uint64_t mark[RANKS];
        for (size_t k = 0; k < 2; k++) {
            struct script s;
            uint32_t ended = 0;
            run(&s, calls[i], LATE, &parts[k]);
            for (size_t e = 0; e < s.events; e++) {
                const struct sim_event *event = &s.event[e];
                const uint64_t own = list[event->rank];
                const bool root = event->rank == ROOT;
                const uint64_t sent[CALLS] = {own, root ? total : 0, own, total};
                const uint64_t received[CALLS] = {root ? total : 0, own, total, RANKS * own};
                if (event->what == SIM_RETURNS) {
                    assert_int_equal(event->bytes, sent[i]);
                    assert_int_equal(sim_event_received(event), received[i]);
                    ended++;
                }
            }
            assert_int_equal(ended, RANKS);
            if (k == 1) {
                assert_memory_equal(mark, s.mark, sizeof mark);
            }
            memcpy(mark, s.mark, sizeof mark);
            script_end(&s);
        }
    }
}

static uint64_t longest_ns(enum sim_call call, const struct sim_parts *parts, uint64_t bytes) {
    enum { MANY = 256 };
    struct script s;
    uint64_t longest = 0;
    script_begin(&s, MANY, 1);
    for (uint32_t r = 0; r < MANY; r++) {
        if (parts != NULL) {
            script_meet_parts(&s, r, call, 0, parts);
        } else {
            script_meet(&s, r, call, 0, bytes);
        }
        script_mark(&s, r);
    }
    script_run(&s);
    for (uint32_t r = 0; r < MANY; r++) {
        longest = s.mark[r] > longest ? s.mark[r] : longest;
    }
    script_end(&s);
    return longest;
}

/* With equal parts, allgatherv takes about as long as allgather, and alltoallv as alltoall. Twice the bytes take up
 * to twice as long. A call with a root takes at least the time of the root's cards. */
static void test_times(void **state) {
    static const struct {
        enum sim_call parts, equal;
    } row[] = {{SIM_CALL_ALLGATHERV, SIM_CALL_ALLGATHER}, {SIM_CALL_ALLTOALLV, SIM_CALL_ALLTOALL}};
    const struct sim_parts parts = {.first = 65536};
    const struct sim_parts twice = {.first = 131072};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const double one = (double)longest_ns(row[i].parts, &parts, 0);
        const double equal = (double)longest_ns(row[i].equal, NULL, 65536);
        const double two = (double)longest_ns(row[i].parts, &twice, 0);
        assert_true(one > 0.7 * equal && one < 1.3 * equal);
        assert_true(two > 1.4 * one && two < 2.1 * one);
    }
    struct model_machine_params p;
    hpcw_error err;
    assert_int_equal(model_machine_params_init(&p, model_machine_preset[0].name, &err), HPCW_OK);
    const double least_ns =
        252 * 65536 / (p.nics * p.message.line_gbs[MODEL_SAME_SWITCH]); /* 4 ranks are on the root's node */
    for (size_t i = 0; i < 2; i++) {
        const double time_ns = (double)longest_ns(calls[i], &parts, 0);
        assert_true(time_ns > least_ns && time_ns < 8 * least_ns);
    }
}

/* In a ring of n ranks, each rank receives n - 1 messages, one after the other. */
static void test_ring(void **state) {
    const struct sim_parts empty = {.first = 0};
    (void)state;
    for (uint64_t bytes = 0; bytes <= 65536; bytes += 65536) {
        struct script s;
        script_begin(&s, RANKS, 1);
        for (uint32_t r = 0; r < RANKS; r++) {
            if (bytes == 0) {
                script_meet_parts(&s, r, SIM_CALL_ALLGATHERV, 0, &empty);
            } else {
                script_meet(&s, r, SIM_CALL_ALLGATHER, 0, bytes);
            }
        }
        script_run(&s);
        const uint64_t message_ns = sim_cost_crowded(&s.network, &s.constants, MODEL_SAME_SWITCH, bytes, 1);
        const uint64_t ring_ns = (RANKS - 1) * message_ns;
        assert_in_range(sim_end_ns(s.sim), ring_ns, ring_ns + message_ns / 2);
        script_end(&s);
    }
}

static void test_wrong_calls(void **state) {
    static const struct sim_parts negative = {.first = 5, .step = -1};
    static const struct sim_parts largest = {.first = SIM_MOST_BYTES};
    (void)state;
    struct script s;
    run(&s, SIM_CALL_ALLGATHERV, LATE, &largest);
    script_end(&s);
    script_begin(&s, RANKS, 1);
    script_meet_parts(&s, 0, SIM_CALL_ALLTOALLV, 0, &negative);
    assert_int_equal(script_try(&s), HPCW_EINVAL);
    assert_non_null(
        strstr(s.err.message, "alltoallv: expected parts of 0 to 2147483647 bytes, got -6 for rank 11"));
    script_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_waits), cmocka_unit_test(test_bytes),       cmocka_unit_test(test_times),
        cmocka_unit_test(test_ring),      cmocka_unit_test(test_wrong_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
