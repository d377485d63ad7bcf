/* SPDX-License-Identifier: BSD-3-Clause */
/* Each constant of the simulator has a test here. The test passes with the constant, and would fail if the
 * effect of the constant were switched off. */
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

/* Returns the time of `bytes` at the line rate between nodes, ns. */
static double line_ns(const struct script *s, double bytes) {
    return bytes / s->machine.params.message.line_gbs[MODEL_OTHER_GROUP];
}

static double latency_ns(const struct script *s) {
    return s->machine.params.message.latency_us[MODEL_OTHER_GROUP] * 1e3;
}

/* Time of one collective call of all ranks. */
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

/* No call takes zero time, so viewers show each one. */
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

/* A send takes processor time: at least a tenth of the latency. */
static bool send_takes_time(const struct sim_constants *c) {
    struct script s;
    script_begin(&s, 8, 1);
    s.constants = *c;
    script_send(&s, 0, 7, 8, 0);
    script_mark(&s, 0);
    script_recv(&s, 7, 0, 0);
    script_run(&s);
    const bool good = (double)s.mark[0] > 0.1 * s.machine.params.message.latency_us[MODEL_SAME_SWITCH] * 1e3;
    script_end(&s);
    return good;
}

/* The ranks of a node send no more messages than its card can: 215 million a second. */
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

/* Combining 1 MiB takes longer than a core needs to read it from memory at 100 GB/s. */
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

/* Large broadcasts and reductions move each byte about twice, for any number of ranks. */
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

/* On two nodes with one card each, a large allgather takes little more time than its bytes need in the card. */
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

/* With few ranks, a broadcast sends the whole message in two steps down a tree. */
static bool few_ranks_use_a_tree(const struct sim_constants *c) {
    struct script s;
    const double got_ns = time_of(&s, c, 4, SIM_CALL_BCAST, MIB);
    const double *gbs = s.machine.params.message.line_gbs;
    const double least_ns = MIB / gbs[MODEL_SAME_NODE] + MIB / gbs[MODEL_SAME_SOCKET];
    script_end(&s);
    return got_ns > least_ns;
}

/* ---- noise ---- */

enum { SECOND_MS = 1000, MS_NS = 1000000, CUT_NS = 202000 };

/* All ranks work in `parts` equal parts, with noise. */
static void work_in_parts(struct script *s, const struct sim_constants *c, const struct sim_noise_params *noise,
                          uint32_t ranks, uint32_t parts, uint64_t part_ns) {
    script_begin(s, ranks, 1);
    s->constants = *c;
    s->noise = *noise;
    s->seed = 5;
    for (uint32_t r = 0; r < ranks; r++) {
        for (uint32_t i = 0; i < parts; i++) {
            script_compute(s, r, part_ns);
        }
    }
    script_run(s);
}

/* Equal work takes up to 16 % longer on some processors, and some differ by more than 1 %. */
static bool processors_differ(const struct sim_constants *c) {
    struct script s;
    uint64_t least_ns = UINT64_MAX;
    uint64_t most_ns = 0;
    work_in_parts(&s, c, &(struct sim_noise_params){1, 1, 1}, 16 * RANKS, 1, (uint64_t)SECOND_MS * MS_NS);
    for (size_t i = 0; i < s.events; i++) {
        const uint64_t time_ns = s.event[i].bytes;
        if (s.event[i].what == SIM_COMPUTES) {
            least_ns = time_ns < least_ns ? time_ns : least_ns;
            most_ns = time_ns > most_ns ? time_ns : most_ns;
        }
    }
    script_end(&s);
    const double spread = (double)(most_ns - least_ns) / (double)least_ns;
    return spread > 0.01 && spread < 0.16;
}

/* Every tenth part of 100 us has a tick: a thousand ticks a second. */
static bool ticks_have_a_period(const struct sim_constants *c) {
    enum { PARTS = 2000, PART_NS = 100000 };
    struct script s;
    uint32_t hit = 0;
    uint64_t last_ns = 0;
    uint32_t intervals = 0;
    work_in_parts(&s, c, &(struct sim_noise_params){0, 1, 0}, 1, PARTS, PART_NS);
    for (size_t i = 0; i < s.events; i++) {
        if (s.event[i].what == SIM_LOSES) {
            const uint64_t interval_ns = s.event[i].time_ns - last_ns;
            intervals += hit > 0 && interval_ns > MS_NS - 2 * PART_NS && interval_ns < MS_NS + 2 * PART_NS;
            last_ns = s.event[i].time_ns;
            hit++;
        }
    }
    script_end(&s);
    return hit >= PARTS / 10 - 1 && hit <= PARTS / 10 + 2 && intervals == hit - 1;
}

/* The system takes 0.39 to 0.64 % of the time. */
static bool system_takes_time(const struct sim_constants *c) {
    struct script s;
    uint64_t lost_ns = 0;
    uint64_t total_ns = 0;
    work_in_parts(&s, c, &(struct sim_noise_params){0, 1, 1}, 16, SECOND_MS, MS_NS);
    for (size_t i = 0; i < s.events; i++) {
        lost_ns += s.event[i].what == SIM_LOSES ? s.event[i].bytes : 0;
        total_ns += s.event[i].what == SIM_COMPUTES ? s.event[i].bytes : 0;
    }
    script_end(&s);
    const double share = (double)lost_ns / (double)total_ns;
    return share > 0.0039 && share < 0.0064;
}

/* Sets the longest interruption of each rank in a second, ascending. */
static void longest_of_second(const struct sim_constants *c, uint64_t longest_ns[RANKS]) {
    struct script s;
    memset(longest_ns, 0, RANKS * sizeof *longest_ns);
    work_in_parts(&s, c, &(struct sim_noise_params){0, 0, 1}, RANKS, SECOND_MS, MS_NS);
    for (size_t i = 0; i < s.events; i++) {
        const struct sim_event *e = &s.event[i];
        if (e->what == SIM_LOSES && e->bytes > longest_ns[e->rank]) {
            longest_ns[e->rank] = e->bytes;
        }
    }
    script_end(&s);
    for (uint32_t i = 1; i < RANKS; i++) {
        for (uint32_t k = i; k > 0 && longest_ns[k] < longest_ns[k - 1]; k--) {
            const uint64_t other_ns = longest_ns[k];
            longest_ns[k] = longest_ns[k - 1];
            longest_ns[k - 1] = other_ns;
        }
    }
}

/* The median of the longest interruptions in a second is between the measured quartiles: 45 and 107 us. */
static bool second_has_a_long_detour(const struct sim_constants *c) {
    uint64_t longest_ns[RANKS];
    longest_of_second(c, longest_ns);
    return longest_ns[RANKS / 2] > 45000 && longest_ns[RANKS / 2] < 107000;
}

/* No interruption is much longer than the longest measured one, 202 us; some are more than half as long. */
static bool detours_have_a_longest(const struct sim_constants *c) {
    uint64_t longest_ns[RANKS];
    longest_of_second(c, longest_ns);
    return longest_ns[RANKS - 1] > CUT_NS / 2 && longest_ns[RANKS - 1] < CUT_NS;
}

/* Of 160 interruptions of a rank, 72 also stop the next rank on its host. None stops a rank on another host. */
static bool hosts_stop(const struct sim_constants *c) {
    enum { TIMES = 10000, AFTER = 3 };
    struct script s;
    struct sim_noise noise;
    hpcw_error err;
    uint32_t hit[AFTER] = {0};
    script_begin(&s, RANKS, 1);
    const uint32_t rank[AFTER] = {0, 1, RANKS - 1};
    assert_int_equal(sim_noise_init(&noise, &(struct sim_noise_params){0, 0, 1}, c, &s.machine, 7, &err),
                     HPCW_OK);
    for (uint64_t i = 0; i < TIMES; i++) {
        const uint64_t begin_ns = i * MS_NS;
        const uint64_t end_ns = begin_ns + MS_NS / 2;
        bool hits[AFTER];
        for (uint32_t k = 0; k < AFTER; k++) {
            hits[k] = sim_noise_interrupt(&noise, rank[k], begin_ns, MS_NS / 2) > end_ns;
            hit[k] += hits[0] && hits[k];
        }
    }
    sim_noise_free(&noise);
    script_end(&s);
    return hit[0] > 50 && hit[1] > hit[0] / 4 && hit[1] < hit[0] * 6 / 10 && hit[2] < hit[0] / 10;
}

/* For each constant: a value that switches it off, and its test. */
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
    [SIM_PROCESSORS] = {0, "spread of processors", processors_differ},
    [SIM_TICK_PERIOD] = {1e18, "period of the ticks", ticks_have_a_period},
    [SIM_TICK] = {0, "time lost to the system", system_takes_time},
    [SIM_DETOUR_RATE] = {0, "longest interruption of a second", second_has_a_long_detour},
    [SIM_DETOUR_SHARED] = {0, "interruptions of a whole host", hosts_stop},
    [SIM_DETOUR_LEAST] = {0, "longest interruption of a second", second_has_a_long_detour},
    [SIM_DETOUR_MOST] = {1e18, "longest interruption of all", detours_have_a_longest},
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
