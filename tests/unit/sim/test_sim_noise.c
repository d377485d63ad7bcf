/* SPDX-License-Identifier: BSD-3-Clause */
/* Effects of noise on work and calls. Its amount is tested in test_sim_constants.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "libwriter/base/rng.h"
#include "tests/support/sim_script.h"

enum { RANKS = 16, MS_NS = 1000000 };

static void begin(struct script *s, struct sim_noise *noise, const struct sim_noise_params *params) {
    hpcw_error err;
    script_begin(s, RANKS, 1);
    assert_int_equal(sim_noise_init(noise, params, &s->constants, &s->machine, 3, &err), HPCW_OK);
}

static void end(struct script *s, struct sim_noise *noise) {
    sim_noise_free(noise);
    script_end(s);
}

/* A rank is interrupted all the time. Work in parts ends when undivided work would. */
static void test_parts(void **state) {
    (void)state;
    const struct sim_noise_params params = {0, 20, 300};
    struct script s;
    struct sim_noise whole;
    begin(&s, &whole, &params);
    for (uint32_t r = 0; r < RANKS; r++) {
        struct sim_noise parts;
        hpcw_error err;
        uint64_t work_ns = 0;
        uint64_t end_ns = 0;
        assert_int_equal(sim_noise_init(&parts, &params, &s.constants, &s.machine, 3, &err), HPCW_OK);
        for (uint32_t i = 0; i < 1000; i++) {
            uint32_t w[4];
            hpcw_i_draw(1, HPCW_I_FOR_WORKLOAD, r, i, 0, w);
            end_ns = sim_noise_work(&parts, r, end_ns, w[0] % 200000);
            work_ns += w[0] % 200000;
        }
        assert_int_equal(sim_noise_work(&whole, r, 0, work_ns), end_ns);
        assert_true(end_ns > work_ns + work_ns / 10);
        sim_noise_free(&parts);
    }
    end(&s, &whole);
}

/* Noise never makes work shorter. Waits absorb noise: a rank that waits half of the time loses less than one
 * that always works. */
static void test_waits(void **state) {
    (void)state;
    const struct sim_noise_params params = {1, 1, 50};
    struct script s;
    struct sim_noise works, waits;
    hpcw_error err;
    begin(&s, &works, &params);
    assert_int_equal(sim_noise_init(&waits, &params, &s.constants, &s.machine, 3, &err), HPCW_OK);
    uint64_t lost_ns = 0;
    uint64_t lost_less_ns = 0;
    uint64_t works_ns = 0;
    uint64_t waits_ns = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        const uint64_t begin_ns = works_ns;
        works_ns = sim_noise_work(&works, 0, begin_ns, MS_NS);
        assert_true(works_ns >= begin_ns + MS_NS);
        lost_ns += works_ns - begin_ns - MS_NS;
        const uint64_t returns_ns = sim_noise_return(&waits, 0, waits_ns + MS_NS / 2);
        assert_true(returns_ns >= waits_ns + MS_NS / 2);
        lost_less_ns += returns_ns - waits_ns - MS_NS / 2;
        waits_ns = sim_noise_work(&waits, 0, returns_ns, MS_NS / 2);
        lost_less_ns += waits_ns - returns_ns - MS_NS / 2;
    }
    assert_true(lost_less_ns > 0);
    assert_true(lost_less_ns < lost_ns * 2 / 3);
    sim_noise_free(&waits);
    end(&s, &works);
}

/* A call that ends while its rank is interrupted returns at the end of the interruption. */
static void test_returns(void **state) {
    (void)state;
    struct script s;
    struct sim_noise noise;
    begin(&s, &noise, &(struct sim_noise_params){0, 50, 0});
    const uint64_t first_ns = noise.rank[0].tick_ns;
    assert_int_equal(sim_noise_return(&noise, 0, first_ns - 1), first_ns - 1);
    assert_int_equal(sim_noise_return(&noise, 0, first_ns + 100000), first_ns + 250000);
    assert_int_equal(sim_noise_return(&noise, 0, first_ns + 250000), first_ns + 250000);
    assert_int_equal(sim_noise_return(&noise, 0, first_ns + MS_NS - 1), first_ns + MS_NS - 1);
    assert_int_equal(sim_noise_return(&noise, 0, first_ns + MS_NS + 1), first_ns + MS_NS + 250000);
    /* A tick makes half a period of work longer by a quarter of a period. */
    assert_int_equal(sim_noise_work(&noise, 0, first_ns + MS_NS + 900000, MS_NS / 2),
                     first_ns + 2 * MS_NS + 650000);
    end(&s, &noise);
}

/* Ticks and processor speeds are the same on a host. Another seed changes the interruptions, but not the
 * speeds. */
static void test_hosts_and_seeds(void **state) {
    (void)state;
    const struct sim_noise_params params = {1, 1, 1};
    struct script s;
    struct sim_noise one, other;
    hpcw_error err;
    begin(&s, &one, &params);
    assert_int_equal(sim_noise_init(&other, &params, &s.constants, &s.machine, 4, &err), HPCW_OK);
    assert_int_equal(model_machine_node(&s.machine, 1), 0);
    assert_int_equal(one.rank[0].tick_ns, one.rank[1].tick_ns);
    assert_int_not_equal(one.rank[0].tick_ns, one.rank[RANKS - 1].tick_ns);
    assert_int_equal(one.rank[0].detours[SIM_DETOURS_OF_HOST].begin_ns,
                     one.rank[1].detours[SIM_DETOURS_OF_HOST].begin_ns);
    assert_int_not_equal(one.rank[0].detours[SIM_DETOURS_OF_RANK].begin_ns,
                         one.rank[1].detours[SIM_DETOURS_OF_RANK].begin_ns);
    for (uint32_t r = 0; r < RANKS; r++) {
        assert_true(one.rank[r].slower == other.rank[r].slower);
        assert_true(one.rank[r].slower >= 0);
        assert_int_not_equal(one.rank[r].tick_ns, other.rank[r].tick_ns);
        assert_int_not_equal(one.rank[r].detours[SIM_DETOURS_OF_RANK].begin_ns,
                             other.rank[r].detours[SIM_DETOURS_OF_RANK].begin_ns);
    }
    sim_noise_free(&other);
    end(&s, &one);
}

/* Returns the share by which detours alone make work longer. The work of a rank is in equal parts. */
static double share_lost(struct sim_noise *noise, uint32_t rank, uint32_t parts, uint64_t part_ns,
                         uint64_t *now_ns) {
    const uint64_t begin_ns = *now_ns;
    for (uint32_t i = 0; i < parts; i++) {
        *now_ns = sim_noise_work(noise, rank, *now_ns, part_ns);
    }
    return (double)(*now_ns - begin_ns) / ((double)parts * (double)part_ns) - 1;
}

/* A year of work needs few draws, however many interruptions it has. They take as much of it as of short work, and
 * interrupt what follows. */
static void test_year(void **state) {
    (void)state;
    const uint64_t year_ns = UINT64_C(31536000000000000);
    struct script s;
    struct sim_noise noise;
    begin(&s, &noise, &(struct sim_noise_params){0, 0, 100});
    uint64_t short_ns = 0;
    const double usual = share_lost(&noise, 0, 100000, MS_NS, &short_ns);
    uint64_t now_ns = 0;
    const double of_year = share_lost(&noise, 1, 1, year_ns, &now_ns);
    assert_true(noise.rank[1].detours[SIM_DETOURS_OF_RANK].number < 1 << 11);
    assert_true(usual > 0.03 && of_year > 0.95 * usual && of_year < 1.05 * usual);
    const double later = share_lost(&noise, 1, 100000, MS_NS, &now_ns);
    assert_true(later > 0.95 * usual && later < 1.05 * usual);
    assert_true(sim_noise_return(&noise, 1, now_ns + year_ns) >= now_ns + year_ns);
    assert_true(noise.rank[1].detours[SIM_DETOURS_OF_HOST].begin_ns >= now_ns + year_ns);
    end(&s, &noise);
}

/* In a run, the reported noise is exactly the extra time of the work. */
static void test_told(void **state) {
    (void)state;
    struct script s;
    script_begin(&s, RANKS, 1);
    s.noise = (struct sim_noise_params){1, 10, 1000};
    for (uint32_t r = 0; r < RANKS; r++) {
        for (uint32_t i = 0; i < 100; i++) {
            script_compute(&s, r, 100000);
            script_meet(&s, r, SIM_CALL_BARRIER, 0, 0);
        }
    }
    script_run(&s);
    uint64_t lost_ns[RANKS] = {0};
    uint64_t in_calls_ns = 0;
    for (size_t i = 0; i < s.events; i++) {
        const struct sim_event *e = &s.event[i];
        if (e->what == SIM_LOSES && e->number == SIM_WORK_OBJECTS) {
            lost_ns[e->rank] = e->bytes;
        } else if (e->what == SIM_LOSES) {
            assert_int_equal(e->number, SIM_WORK_CALL);
            in_calls_ns += e->bytes;
        } else if (e->what == SIM_COMPUTES) {
            assert_int_equal(e->bytes, 100000 + lost_ns[e->rank]);
            lost_ns[e->rank] = 0;
        }
    }
    assert_true(in_calls_ns > 0);
    script_end(&s);
}

/* Returns the time of 100 rounds: 1 ms of work and a barrier. */
static uint64_t time_to_meet(uint32_t ranks, const struct sim_noise_params *noise) {
    struct script s;
    script_begin(&s, ranks, 1);
    s.noise = *noise;
    for (uint32_t r = 0; r < ranks; r++) {
        for (uint32_t i = 0; i < 100; i++) {
            script_compute(&s, r, MS_NS);
            script_meet(&s, r, SIM_CALL_BARRIER, 0, 0);
        }
    }
    script_run(&s);
    const uint64_t end_ns = sim_end_ns(s.sim);
    script_end(&s);
    return end_ns;
}

/* An interrupted rank makes all others wait, so the loss grows with the number of ranks (Petrini, Kerbyson,
 * Pakin, SC 2003). The timer costs one or two ticks per period of computing, whatever the number of hosts is. */
static void test_more_ranks_lose_more(void **state) {
    static const struct sim_noise_params detours = {0, 0, 1};
    static const struct sim_noise_params ticks = {0, 1, 0};
    uint64_t less_ns = 0;
    (void)state;
    for (uint32_t ranks = 4; ranks <= 1024; ranks *= 16) {
        const uint64_t calm_ns = time_to_meet(ranks, &(struct sim_noise_params){0});
        const uint64_t lost_ns = time_to_meet(ranks, &detours) - calm_ns;
        assert_true(lost_ns > 2 * less_ns);
        less_ns = lost_ns;
        assert_in_range(time_to_meet(ranks, &ticks) - calm_ns, 90 * 5000, 220 * 5000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_returns),
        cmocka_unit_test(test_hosts_and_seeds),
        cmocka_unit_test(test_year),
        cmocka_unit_test(test_told),
        cmocka_unit_test(test_more_ranks_lose_more),
    };
    return cmocka_run_group_tests_name("sim noise", tests, NULL, NULL);
}
