/* SPDX-License-Identifier: BSD-3-Clause */
/* Files in the simulator: rates of servers and nodes, equal shares, the metadata server, and wrong calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/sim_script.h"

enum { MIB = 1 << 20 };

static void expect_failure(struct script *s, const char *expected) {
    assert_int_equal(script_try(s), HPCW_EINVAL);
    if (strstr(s->err.message, expected) == NULL) {
        fail_msg("expected \"%s\", got \"%s\"", expected, s->err.message);
    }
    script_end(s);
}

/* Returns the longest time of a rank between its two marks; *shortest: the shortest one. */
static double longest_s(const struct script *s, double *shortest) {
    double longest = 0;
    for (uint32_t i = 0; i < s->marks; i += 2) {
        const double time = (double)(s->mark[i + 1] - s->mark[i]) * 1e-9;
        longest = time > longest ? time : longest;
        *shortest = i == 0 || time < *shortest ? time : *shortest;
    }
    return longest;
}

/* In a checkpoint, a rank waits for the others in a barrier. Then it writes. */
static void test_barrier_in_checkpoint(void **state) {
    enum { RANKS = 3, CALL_EVENTS = 4 };
    static const struct {
        enum sim_what what;
        enum sim_call call;
    } expected[CALL_EVENTS] = {{SIM_BEGINS, SIM_CALL_CHECKPOINT},
                               {SIM_BEGINS, SIM_CALL_BARRIER},
                               {SIM_RETURNS, SIM_CALL_BARRIER},
                               {SIM_RETURNS, SIM_CALL_CHECKPOINT}};
    (void)state;
    struct script s;
    script_begin(&s, RANKS, 1);
    s.checkpoints = 1;
    for (uint32_t r = 0; r < RANKS; r++) {
        script_compute(&s, r, r * 1000000);
        script_checkpoint(&s, r, 8 * MIB);
    }
    script_run(&s);
    for (uint32_t r = 0; r < RANKS; r++) {
        size_t n = 0;
        uint64_t time_ns[CALL_EVENTS + 1];
        for (size_t i = 0; i < s.events; i++) {
            const struct sim_event *e = &s.event[i];
            if (e->rank == r && (e->what == SIM_BEGINS || e->what == SIM_RETURNS)) {
                assert_in_range(n, 0, CALL_EVENTS - 1);
                assert_int_equal(e->what, expected[n].what);
                assert_int_equal(e->number, expected[n].call);
                time_ns[n++] = e->time_ns;
            }
        }
        assert_int_equal(n, CALL_EVENTS);
        assert_int_equal(time_ns[1], time_ns[0]);
        /* the barrier ends after the last rank has arrived */
        assert_true(time_ns[2] >= (RANKS - 1) * 1000000);
        assert_true(time_ns[3] > time_ns[2]);
    }
    script_end(&s);
}

/* If all ranks write, each gets an equal share of the servers' bandwidth, whatever the size, in a checkpoint
 * and in files. */
static void test_rate_of_the_servers(void **state) {
    enum { RANKS = 480, SERVERS = 4 };
    (void)state;
    for (int checkpoint = 0; checkpoint < 2; checkpoint++) {
        for (uint64_t bytes = 8 * MIB; bytes <= 512 * MIB; bytes *= 4) {
            struct script s;
            double shortest = 0;
            script_begin(&s, RANKS, 1);
            s.checkpoints = checkpoint == 1;
            for (uint32_t r = 0; r < RANKS; r++) {
                script_mark(&s, r);
                if (checkpoint == 1) {
                    script_checkpoint(&s, r, bytes);
                } else {
                    script_open(&s, r);
                    script_move(&s, r, SIM_CALL_FILE_WRITE, bytes);
                    script_close(&s, r);
                }
                script_mark(&s, r);
            }
            script_run(&s);
            const double longest = longest_s(&s, &shortest);
            const double rate = (double)RANKS * (double)bytes / longest;
            const double most = SERVERS * s.machine.params.file.server_gbs * 1e9;
            assert_true(rate <= most);
            assert_true(rate >=
                        /* the metadata server takes 17 ms for all files */
                        (bytes > 8 * MIB ? 0.8 : 0.5) * most);
            /* smaller files have too few pieces for equal shares */
            assert_true(bytes < 128 * MIB || shortest > 0.8 * longest);
            script_end(&s);
        }
    }
}

/* A single rank gets the bandwidth of its node or of its cards, whichever is smaller. */
static void test_rate_of_a_node(void **state) {
    static const char *const preset[] = {"dfplus-hdr200", "tcp-1g"};
    (void)state;
    for (size_t i = 0; i < sizeof preset / sizeof preset[0]; i++) {
        struct script s;
        script_begin_on(&s, preset[i], 1, 1);
        script_open(&s, 0);
        script_mark(&s, 0);
        script_move(&s, 0, SIM_CALL_FILE_READ, 256 * MIB);
        script_mark(&s, 0);
        script_close(&s, 0);
        script_run(&s);
        const struct model_machine_params *p = &s.machine.params;
        const double card_gbs = p->nics * p->message.line_gbs[MODEL_SAME_SWITCH];
        const double gbs = 256.0 * MIB / (double)(s.mark[1] - s.mark[0]);
        const double expected = p->file.client_gbs < card_gbs ? p->file.client_gbs : card_gbs;
        assert_true(gbs <= expected && gbs > 0.99 * expected);
        script_end(&s);
    }
}

/* The metadata server creates one file after the other. */
static void test_creates(void **state) {
    enum { RANKS = 1000 };
    (void)state;
    struct script s;
    double shortest = 0;
    script_begin(&s, RANKS, 1);
    for (uint32_t r = 0; r < RANKS; r++) {
        script_mark(&s, r);
        script_open(&s, r);
        script_mark(&s, r);
        script_close(&s, r);
    }
    script_run(&s);
    const double rate = RANKS / longest_s(&s, &shortest);
    assert_true(rate <= s.machine.params.file.creates && rate > 0.99 * s.machine.params.file.creates);
    script_end(&s);
}

static void test_wrong_calls(void **state) {
    (void)state;
    struct script s;
    script_begin(&s, 1, 1);
    script_move(&s, 0, SIM_CALL_FILE_WRITE, 8);
    expect_failure(&s, "file_write: expected a file that the rank has opened, got none");
    script_begin(&s, 1, 1);
    script_close(&s, 0);
    expect_failure(&s, "file_close: expected a file that the rank has opened, got none");
    script_begin(&s, 1, 1);
    script_open(&s, 0);
    script_open(&s, 0);
    expect_failure(&s, "file_open: expected one open file of a rank at a time, got another one");
    script_begin(&s, 1, 1);
    script_open(&s, 0);
    expect_failure(&s, "rank 0: expected a file_close for each file_open, got none for the last one");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_barrier_in_checkpoint), cmocka_unit_test(test_rate_of_the_servers),
        cmocka_unit_test(test_rate_of_a_node),        cmocka_unit_test(test_creates),
        cmocka_unit_test(test_wrong_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
