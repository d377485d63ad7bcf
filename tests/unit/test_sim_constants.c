/* SPDX-License-Identifier: BSD-3-Clause */
/* Each constant of the simulator carries a figure: it holds, and fails when the constant is switched off. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/sim_script.h"

enum { RANKS = 64, NODE = 128, MESSAGES = 1000, LARGE = 256 << 10, MIB = 1 << 20 };

/* Nanoseconds of `bytes` on the line between nodes, and the latency there. */
static double line_ns(const struct script *s, double bytes) {
    return bytes / s->machine.params.line_gbs[MODEL_OTHER_GROUP];
}

static double latency_ns(const struct script *s) {
    return s->machine.params.latency_us[MODEL_OTHER_GROUP] * 1e3;
}

/* What one collective call of all ranks takes. */
static double time_of(struct script *s, const struct sim_constants *c, uint32_t ranks, enum sim_call call,
                      uint64_t bytes) {
    script_begin(s, ranks, 1);
    s->constants = *c;
    for (uint32_t r = 0; r < ranks; r++) {
        script_meet(s, r, call, 0, bytes);
    }
    script_run(s);
    return (double)sim_end_ns(s->sim);
}

/* No call is over when it begins: viewers show each on its own. */
static bool calls_take_time(const struct sim_constants *c) {
    struct script s;
    script_begin(&s, 1, 1);
    s.constants = *c;
    script_recv(&s, 0, SIM_NONE, 0);
    script_run(&s);
    const bool good = sim_end_ns(s.sim) > 0;
    script_end(&s);
    return good;
}

/* A send is not free: it takes at least a tenth of the latency of the processor. */
static bool send_takes_time(const struct sim_constants *c) {
    struct script s;
    script_begin(&s, 8, 1);
    s.constants = *c;
    script_send(&s, 0, 7, 8, 0);
    script_mark(&s, 0);
    script_recv(&s, 7, 0, 0);
    script_run(&s);
    const bool good = (double)s.mark[0] > 0.1 * s.machine.params.latency_us[MODEL_SAME_SWITCH] * 1e3;
    script_end(&s);
    return good;
}

/* The ranks of a node do not send more messages than its card can: 215 million a second. */
static bool card_limits_messages(const struct sim_constants *c) {
    struct script s;
    script_begin_on(&s, "dragonfly-ss11", 2 * NODE, 1);
    s.constants = *c;
    for (uint32_t r = 0; r < NODE; r++) {
        for (int i = 0; i < MESSAGES; i++) {
            script_send(&s, r, NODE + r, 0, 0);
            script_recv(&s, NODE + r, r, 0);
        }
    }
    script_run(&s);
    const bool good = NODE * (double)MESSAGES / (double)sim_end_ns(s.sim) < 0.216;
    script_end(&s);
    return good;
}

/* To combine 1 MiB takes longer than a core needs to read it from its memory at 100 GB/s. */
static bool combining_takes_time(const struct sim_constants *c) {
    struct script s;
    struct sim_constants without = *c;
    without.value[SIM_COMBINE] = 0;
    const double with_ns = time_of(&s, c, RANKS, SIM_CALL_REDUCE, MIB);
    script_end(&s);
    const double without_ns = time_of(&s, &without, RANKS, SIM_CALL_REDUCE, MIB);
    script_end(&s);
    return with_ns - without_ns > MIB / 100.0;
}

/* Large broadcasts and reductions move each byte about twice, however many ranks there are. */
static bool moves_bytes_twice(const struct sim_constants *c, enum sim_call call) {
    struct script s;
    const double got_ns = time_of(&s, c, RANKS, call, LARGE);
    const double combine_ns = call == SIM_CALL_BCAST ? 0 : LARGE * c->value[SIM_COMBINE];
    const double most_ns = 3 * line_ns(&s, LARGE) + combine_ns + 2 * 6 * latency_ns(&s);
    script_end(&s);
    return got_ns < most_ns;
}

static bool bcast_moves_bytes_twice(const struct sim_constants *c) {
    return moves_bytes_twice(c, SIM_CALL_BCAST);
}
static bool allreduce_moves_bytes_twice(const struct sim_constants *c) {
    return moves_bytes_twice(c, SIM_CALL_ALLREDUCE);
}
static bool reduce_moves_bytes_twice(const struct sim_constants *c) {
    return moves_bytes_twice(c, SIM_CALL_REDUCE);
}

/* On two nodes with one card each, a large allgather takes little more than its bytes take through the card. */
static bool allgather_passes_the_card_once(const struct sim_constants *c, uint32_t ranks) {
    enum { BYTES = 64 << 10 };
    struct script s;
    script_begin_on(&s, "dragonfly-ss11", ranks, 1);
    s.constants = *c;
    for (uint32_t r = 0; r < ranks; r++) {
        script_meet(&s, r, SIM_CALL_ALLGATHER, 0, BYTES);
    }
    script_run(&s);
    const bool good = (double)sim_end_ns(s.sim) <
                      (ranks - 1) * (line_ns(&s, BYTES) + line_ns(&s, BYTES) + 3 * latency_ns(&s));
    script_end(&s);
    return good;
}

static bool even_allgather_is_a_ring(const struct sim_constants *c) {
    return allgather_passes_the_card_once(c, 2 * NODE);
}
static bool odd_allgather_is_a_ring(const struct sim_constants *c) {
    return allgather_passes_the_card_once(c, 2 * NODE - 1);
}

/* A large alltoall moves each part once: it takes no longer than a message to each rank, one after the other. */
static bool alltoall_moves_parts_once(const struct sim_constants *c) {
    struct script s;
    const double got_ns = time_of(&s, c, RANKS, SIM_CALL_ALLTOALL, LARGE);
    const double most_ns = (RANKS - 1) * (line_ns(&s, LARGE) + 3 * latency_ns(&s));
    script_end(&s);
    return got_ns < most_ns;
}

/* Few ranks send whole messages down a tree: two steps of all bytes. */
static bool few_ranks_use_a_tree(const struct sim_constants *c) {
    struct script s;
    const double got_ns = time_of(&s, c, 4, SIM_CALL_BCAST, MIB);
    const double *gbs = s.machine.params.line_gbs;
    const double least_ns = MIB / gbs[MODEL_SAME_NODE] + MIB / gbs[MODEL_SAME_SOCKET];
    script_end(&s);
    return got_ns > least_ns;
}

/* Each constant, a value without its effect, and its figure. */
static const struct {
    double off;
    const char *figure;
    bool (*holds)(const struct sim_constants *constants);
} figures[SIM_CONSTANTS] = {
    [SIM_CALL] = {0, "length of a receive from nobody", calls_take_time},
    [SIM_OVERHEAD] = {0, "processor time of a send", send_takes_time},
    [SIM_GAP] = {0, "messages of a node in a second", card_limits_messages},
    [SIM_COMBINE] = {0, "time to combine 1 MiB", combining_takes_time},
    [SIM_BCAST_MEDIUM] = {1e18, "broadcast of 256 KiB", bcast_moves_bytes_twice},
    [SIM_BCAST_RANKS] = {0, "broadcast of 1 MiB to 4 ranks", few_ranks_use_a_tree},
    [SIM_ALLREDUCE_LONG] = {1e18, "allreduce of 256 KiB", allreduce_moves_bytes_twice},
    [SIM_REDUCE_LONG] = {1e18, "reduce of 256 KiB", reduce_moves_bytes_twice},
    [SIM_ALLGATHER_LONG] = {1e18, "allgather of 64 KiB on 256 ranks", even_allgather_is_a_ring},
    [SIM_ALLGATHER_ODD] = {1e18, "allgather of 64 KiB on 255 ranks", odd_allgather_is_a_ring},
    [SIM_ALLTOALL_LONG] = {1e18, "alltoall of 256 KiB", alltoall_moves_parts_once},
};

static void test_ablation(void **state) {
    (void)state;
    for (int i = 0; i < SIM_CONSTANTS; i++) {
        const struct sim_constant_row *row = &sim_constant_row[i];
        struct sim_constants c;
        assert_string_equal(row->figure, figures[i].figure);
        assert_true(strlen(row->name) > 0 && strlen(row->unit) > 0 && strlen(row->source) > 0);
        sim_constants_init(&c);
        if (!figures[i].holds(&c)) {
            fail_msg("%s: does not hold: %s", row->name, row->figure);
        }
        c.value[i] = figures[i].off;
        if (figures[i].holds(&c)) {
            fail_msg("%s: holds without it: %s", row->name, row->figure);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ablation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
