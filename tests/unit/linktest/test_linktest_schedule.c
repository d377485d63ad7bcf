/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedules: each rank has one partner in each step, and every pair meets once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/linktest.h>

#include "libwriter/base/mem.h"

enum { MOST = 64 };

static hpcw_linktest_params params_of(uint32_t tasks, unsigned variant) {
    hpcw_linktest_params p;
    hpcw_linktest_params_init(&p);
    p.tasks = tasks;
    p.bisection = variant & 1;
    p.randomize_steps = variant & 2;
    p.step_seed = 11;
    p.permutations = variant & 4 ? 3 : 0;
    p.task_seed = variant & 4 ? 12 : 0;
    return p;
}

static hpcw_linktest_schedule *schedule_of(const hpcw_linktest_params *p, uint64_t permutation) {
    hpcw_linktest_schedule *s;
    assert_int_equal(hpcw_linktest_schedule_new(p, permutation, &s, NULL), HPCW_OK);
    return s;
}

static void assert_sound(const hpcw_linktest_params *p, const hpcw_linktest_schedule *s) {
    static unsigned char met[MOST][MOST];
    memset(met, 0, sizeof met);
    uint32_t n = p->tasks;
    uint32_t steps = hpcw_linktest_steps(p);
    assert_int_equal(steps, p->bisection ? n / 2 : n - 1);
    for (uint32_t r = 0; r < n; r++) {
        uint32_t all[MOST];
        hpcw_linktest_partners(s, r, all);
        for (uint32_t step = 0; step < steps; step++) {
            uint32_t partner = hpcw_linktest_partner(s, r, step);
            assert_int_equal(all[step], partner);
            assert_true(partner < n && partner != r);
            assert_int_equal(hpcw_linktest_partner(s, partner, step), r);
            assert_int_equal(met[r][partner]++, 0);
            assert_true(!p->bisection || (r < n / 2) != (partner < n / 2));
        }
    }
}

static void every_pair_meets_once(void **state) {
    (void)state;
    for (uint32_t n = 2; n <= MOST; n += 2) {
        for (unsigned variant = 0; variant < 8; variant++) {
            hpcw_linktest_params p = params_of(n, variant);
            for (uint64_t m = 0; m < hpcw_linktest_permutations(&p); m++) {
                hpcw_linktest_schedule *s = schedule_of(&p, m);
                assert_sound(&p, s);
                hpcw_linktest_schedule_free(s);
            }
        }
    }
}

/* The access pattern of LinkTest 1.2: doc/formats/linktest.md, "Meaning of the numbers". */
static void six_tasks_as_published(void **state) {
    (void)state;
    static const uint32_t want[5][6] = {
        {5, 4, 3, 2, 1, 0}, {4, 2, 1, 5, 0, 3}, {3, 5, 4, 0, 2, 1}, {2, 3, 0, 1, 5, 4}, {1, 0, 5, 4, 3, 2}};
    hpcw_linktest_params p = params_of(6, 0);
    hpcw_linktest_schedule *s = schedule_of(&p, 0);
    for (uint32_t step = 0; step < 5; step++) {
        for (uint32_t r = 0; r < 6; r++) {
            assert_int_equal(hpcw_linktest_partner(s, r, step), want[step][r]);
        }
    }
    hpcw_linktest_schedule_free(s);
    /* Bisection in closed form: in step s, i meets N/2 + ((i + s) mod N/2). */
    p = params_of(6, 1);
    s = schedule_of(&p, 0);
    for (uint32_t step = 0; step < 3; step++) {
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(hpcw_linktest_partner(s, i, step), 3 + (i + step) % 3);
        }
    }
    hpcw_linktest_schedule_free(s);
}

/* With 4 * 10^9 tasks, products in the closed form need 64 bits. */
static void many_tasks(void **state) {
    (void)state;
    hpcw_linktest_params p = params_of(UINT32_C(4000000000), 0);
    hpcw_linktest_schedule *s = schedule_of(&p, 0);
    static const uint32_t ranks[] = {0, 1, 2, 1999999999, 2000000000, 3999999998, 3999999999};
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        for (uint32_t step = 0; step < p.tasks - 1; step += 499999937) {
            uint32_t partner = hpcw_linktest_partner(s, ranks[i], step);
            assert_true(partner < p.tasks && partner != ranks[i]);
            assert_int_equal(hpcw_linktest_partner(s, partner, step), ranks[i]);
        }
    }
    hpcw_linktest_schedule_free(s);
}

static uint64_t fingerprint(const hpcw_linktest_params *p, uint64_t permutation) {
    hpcw_linktest_schedule *s = schedule_of(p, permutation);
    uint64_t h = 0;
    for (uint32_t r = 0; r < p->tasks; r++) {
        for (uint32_t step = 0; step < hpcw_linktest_steps(p); step++) {
            h = h * 1000003 + hpcw_linktest_partner(s, r, step);
        }
    }
    hpcw_linktest_schedule_free(s);
    return h;
}

static void seeds_and_permutations_matter(void **state) {
    (void)state;
    hpcw_linktest_params p = params_of(16, 4);
    assert_true(fingerprint(&p, 0) == fingerprint(&p, 0));
    assert_true(fingerprint(&p, 0) != fingerprint(&p, 1));
    hpcw_linktest_params q = p;
    q.task_seed++;
    assert_true(fingerprint(&p, 0) != fingerprint(&q, 0));
    q = p;
    q.step_seed++; /* without shuffled steps, the seed has no effect */
    assert_true(fingerprint(&p, 0) == fingerprint(&q, 0));
    q.randomize_steps = true;
    assert_true(fingerprint(&p, 0) != fingerprint(&q, 0));

    /* Shuffled steps are the plain ones in another order, the same for all ranks. */
    p = params_of(16, 0);
    q = params_of(16, 2);
    hpcw_linktest_schedule *plain = schedule_of(&p, 0);
    hpcw_linktest_schedule *shuffled = schedule_of(&q, 0);
    unsigned moved = 0;
    for (uint32_t step = 0; step < 15; step++) {
        uint32_t was = 0;
        while (hpcw_linktest_partner(plain, 0, was) != hpcw_linktest_partner(shuffled, 0, step)) {
            was++;
        }
        moved += was != step;
        for (uint32_t r = 0; r < 16; r++) {
            assert_int_equal(hpcw_linktest_partner(plain, r, was), hpcw_linktest_partner(shuffled, r, step));
        }
    }
    assert_true(moved > 5);
    hpcw_linktest_schedule_free(plain);
    hpcw_linktest_schedule_free(shuffled);
}

static unsigned long allowed;

static _Bool allow_some(size_t size) {
    (void)size;
    return allowed-- > 0;
}

static void refusals(void **state) {
    (void)state;
    hpcw_error err;
    hpcw_linktest_params p = params_of(8, 7);
    hpcw_linktest_schedule *s = (hpcw_linktest_schedule *)&p;
    assert_int_equal(hpcw_linktest_schedule_new(&p, 3, &s, &err), HPCW_EINVAL);
    assert_null(s);
    assert_non_null(strstr(err.message, "below 3, got 3"));
    assert_int_equal(hpcw_linktest_schedule_new(&p, 0, NULL, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_linktest_schedule_new(NULL, 0, &s, &err), HPCW_EINVAL);
    hpcw_linktest_params odd = params_of(7, 0);
    assert_int_equal(hpcw_linktest_schedule_new(&odd, 0, &s, &err), HPCW_EINVAL);
    for (unsigned long n = 0;; n++) {
        allowed = n;
        hpcw_i_mem_gate = allow_some;
        hpcw_status got = hpcw_linktest_schedule_new(&p, 1, &s, &err);
        hpcw_i_mem_gate = NULL;
        if (got == HPCW_OK) {
            assert_int_equal(n, 1); /* the handle with its arrays is one allocation */
            break;
        }
        assert_int_equal(got, HPCW_ENOMEM);
        assert_null(s);
    }
    hpcw_linktest_schedule_free(s);
    hpcw_linktest_schedule_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_meets_once),
        cmocka_unit_test(six_tasks_as_published),
        cmocka_unit_test(many_tasks),
        cmocka_unit_test(seeds_and_permutations_matter),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
