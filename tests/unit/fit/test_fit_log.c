/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that imitate event logs: folded loops unfold to the same sequence, and times keep their distribution. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/fit/log/program/draws.h"
#include "gen/fit/log/program/fold.h"
#include "gen/fit/log/program/partner.h"
#include "libwriter/base/mem.h"

enum { MOST = 20000 };

/* Sequence of calls, as numbers, to be folded into a tree of loops. */
static uint32_t numbers[MOST];

static void check(const struct fit_tree *tree, const uint32_t *number, size_t count) {
    struct fit_place *place = hpcw_i_malloc((count + 1) * sizeof *place);
    uint32_t *of_site = hpcw_i_calloc(tree->sites + (size_t)1, sizeof *of_site);
    hpcw_error err;
    assert_int_equal(fit_tree_places(tree, FIT_LOOP, place, count, &err), HPCW_OK);
    for (size_t i = 0; i < tree->nodes; i++) {
        const struct fit_node *n = &tree->node[i];
        if (n->used && n->number != FIT_LOOP) {
            of_site[n->site] = n->number;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (of_site[place[i].site] != number[i]) {
            fail_msg("number %zu: expected %u, got %u", i, number[i], of_site[place[i].site]);
        }
    }
    hpcw_i_free(place);
    hpcw_i_free(of_site);
}

static void fold(const uint32_t *number, size_t count, struct fit_tree *tree) {
    hpcw_error err;
    assert_int_equal(fit_fold(number, count, tree, &err), HPCW_OK);
    check(tree, number, count);
}

/* Makes 40 turns of 5 planes (1 2) and a sum (3), with an output (4) after every tenth turn. */
static size_t make_nested(void) {
    size_t n = 0;
    for (uint32_t turn = 0; turn < 40; turn++) {
        for (uint32_t plane = 0; plane < 5; plane++) {
            numbers[n++] = 1;
            numbers[n++] = 2;
        }
        numbers[n++] = 3;
        if (turn % 10 == 9) {
            numbers[n++] = 4;
        }
    }
    return n;
}

static void test_loops_are_nested(void **state) {
    (void)state;
    struct fit_tree tree;
    fold(numbers, make_nested(), &tree);
    assert_int_equal(tree.tops, 1); /* one loop of 4 turns: 10 turns of (5 times 1 2, then 3), then 4 */
    assert_int_equal(tree.sites, 4);
    const struct fit_node *outer = &tree.node[tree.top[0]];
    assert_int_equal(outer->turns[0], 4);
    assert_int_equal(outer->children, 2);
    assert_int_equal(tree.node[outer->child[0]].turns[0], 10);
    fit_tree_free(&tree);
}

/* A solver iterates until convergence: an inner loop has 3, 7, 5, 3, 7, 5, ... turns. */
static void test_turns_may_differ(void **state) {
    static const uint32_t turns[] = {3, 7, 5};
    struct fit_tree tree;
    size_t n = 0;
    (void)state;
    for (uint32_t k = 0; k < 30; k++) {
        numbers[n++] = 9;
        for (uint32_t i = 0; i < turns[k % 3]; i++) {
            numbers[n++] = 1;
            numbers[n++] = 2;
        }
    }
    fold(numbers, n, &tree);
    assert_int_equal(tree.tops, 1);
    assert_int_equal(tree.sites, 3);
    fit_tree_free(&tree);
}

/* The tree restores every sequence: random ones without any pattern, and unrolled loops. */
static void test_anything_comes_back(void **state) {
    uint64_t x = 1;
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct fit_tree tree;
        size_t n = 0;
        const uint32_t kinds = 1 + (uint32_t)round % 5;
        for (int i = 0; i < 200; i++) {
            x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
            numbers[n++] = (uint32_t)(x >> 40) % kinds;
        }
        fold(numbers, n, &tree);
        for (size_t i = 0; i < tree.nodes; i++) {
            const struct fit_node *loop = &tree.node[i];
            if (loop->used && loop->number == FIT_LOOP && fit_tree_is_plain(&tree, (uint32_t)i)) {
                assert_true(fit_tree_unroll(&tree, (uint32_t)i));
                check(&tree, numbers, n);
                break;
            }
        }
        fit_tree_free(&tree);
    }
}

/* Two members of a group have times with a long tail. The second member takes three times as long. */
static void test_draws_keep_the_mean(void **state) {
    struct fit_draws d = {0};
    double sum[2] = {0, 0};
    (void)state;
    for (uint32_t member = 0; member < 2; member++) {
        for (int i = 0; i < 500; i++) {
            const double value = (member == 0 ? 1e-3 : 3e-3) * (i % 100 == 0 ? 50 : 1 + i % 7);
            sum[member] += value;
            assert_true(fit_draws_add(&d, (struct fit_time){.value = value, .member = member}));
        }
    }
    assert_true(fit_draws_members(&d, 2, 1e-6));
    assert_non_null(d.factor);
    assert_true(fabs(d.factor[1] / d.factor[0] - 3) < 1e-9);
    fit_draws_learn(&d);
    double mean = 0;
    for (size_t p = 0; p + 1 < d.points; p++) {
        assert_true(d.share[p] < d.share[p + 1] && d.at[p] <= d.at[p + 1]);
        mean += (d.share[p + 1] - d.share[p]) * (d.at[p] + d.at[p + 1]) / 2;
    }
    assert_true(d.points >= 3 && d.share[0] == 0 && d.share[d.points - 1] == 1);
    assert_true(fabs(mean * d.factor[0] * 500 / sum[0] - 1) < 0.01);
    assert_true(fabs(mean * d.factor[1] * 500 / sum[1] - 1) < 0.01);
    fit_draws_free(&d);
}

/* A step usually takes no time, and sometimes long. No times between are drawn. */
static void test_draws_keep_a_jump(void **state) {
    struct fit_draws d = {0};
    (void)state;
    for (int i = 0; i < 1000; i++) {
        const double value = i % 15 == 7 ? 1e-3 * (1 + i % 4) : 0;
        assert_true(fit_draws_add(&d, (struct fit_time){.value = value}));
    }
    fit_draws_learn(&d);
    size_t p = 0;
    while (d.at[p + 1] == 0) {
        p++;
    }
    assert_true(d.share[p] > 0.91 && d.share[p] < 0.95); /* 933 of the values are 0 */
    fit_draws_free(&d);
}

/* ---- partners ---- */

enum { MOST_RANKS = 64 };

/* A program in which each rank sends one message. */
struct sends {
    struct fit_program p;
    struct fit_role role;
    struct fit_steps steps[MOST_RANKS];
    struct fit_step step;
    struct fit_item item[MOST_RANKS];
    uint32_t rank[MOST_RANKS], sample;
};

static struct fit_partner_seen send(struct sends *s, uint32_t ranks,
                                    uint32_t (*to)(uint32_t rank, uint32_t ranks)) {
    *s = (struct sends){.step = {.items = 1}};
    s->p.history.ranks = ranks;
    s->p.steps = s->steps;
    s->role = (struct fit_role){.rank = s->rank, .ranks = ranks};
    for (uint32_t r = 0; r < ranks; r++) {
        s->rank[r] = r;
        s->item[r].peer = to(r, ranks);
        s->steps[r] = (struct fit_steps){.step = &s->step, .item = &s->item[r], .sample = &s->sample};
    }
    return (struct fit_partner_seen){&s->p, &s->role, 0, 0};
}

/* Finds a rule for the partner that `to` returns on 60 and 12 ranks. Their grids are 10 x 6 and 4 x 3, or 5 x 4 x 3
 * and 3 x 2 x 2. */
static struct fit_partner find(uint32_t (*to)(uint32_t rank, uint32_t ranks)) {
    static struct sends more, fewer;
    const struct fit_partner_seen seen[] = {send(&more, 60, to), send(&fewer, 12, to)};
    return fit_partner_find(seen, 2);
}

static uint32_t last(uint32_t rank, uint32_t ranks) {
    (void)rank;
    return ranks - 1;
}

static uint32_t next(uint32_t rank, uint32_t ranks) {
    return rank + 1 < ranks ? rank + 1 : FIT_NOBODY;
}

static uint32_t ring(uint32_t rank, uint32_t ranks) {
    return (rank + ranks - 1) % ranks;
}

static uint32_t above(uint32_t rank, uint32_t ranks) {
    const uint32_t side = ranks == 12 ? 3 : 6;
    return rank >= side ? rank - side : FIT_NOBODY;
}

/* Partner on a periodic grid: one step back in the first dimension, one forward in the second. Ranks are
 * counted along the longer side. */
static uint32_t across(uint32_t rank, uint32_t ranks) {
    const uint32_t x = ranks == 12 ? 4 : 10, y = ranks / x;
    return (rank / x + y - 1) % y * x + (rank % x + 1) % x;
}

static uint32_t in_space(uint32_t rank, uint32_t ranks) {
    const uint32_t plane = ranks == 12 ? 4 : 12;
    return rank + plane < ranks ? rank + plane : FIT_NOBODY;
}

/* Partner a quarter of the ranks further: 3 with 12 ranks, 15 with 60. */
static uint32_t quarter(uint32_t rank, uint32_t ranks) {
    return (rank + ranks / 4) % ranks;
}

static void expect_steps(struct fit_partner f, uint32_t dims, int32_t x, int32_t y, int32_t z) {
    assert_int_equal(f.kind, FIT_PARTNER_GRID);
    assert_int_equal(f.grid.dims, dims);
    assert_int_equal(f.step[0], x);
    assert_int_equal(f.step[1], y);
    assert_int_equal(f.step[2], z);
}

static void test_partners_follow_from_both_numbers(void **state) {
    (void)state;
    assert_int_equal(find(last).kind, FIT_PARTNER_LAST);
    struct fit_partner f = find(next);
    assert_true(f.kind == FIT_PARTNER_SUM && f.step[0] == 1 && !f.wraps);
    f = find(ring);
    assert_true(f.kind == FIT_PARTNER_SUM && f.step[0] == -1 && f.wraps);
    f = find(above);
    expect_steps(f, 2, -1, 0, 0);
    assert_true(!f.wraps && !f.grid.reversed);
    f = find(across);
    expect_steps(f, 2, -1, 1, 0);
    assert_true(f.wraps && f.grid.reversed);
    f = find(in_space);
    expect_steps(f, 3, 1, 0, 0);
    assert_int_equal(find(quarter).kind, FIT_PARTNER_TABLE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops_are_nested),    cmocka_unit_test(test_turns_may_differ),
        cmocka_unit_test(test_anything_comes_back), cmocka_unit_test(test_draws_keep_the_mean),
        cmocka_unit_test(test_draws_keep_a_jump),   cmocka_unit_test(test_partners_follow_from_both_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
