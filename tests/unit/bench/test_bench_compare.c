/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares simulated sweeps (measurements of many layouts). The machine's speed varies, and repetitions scatter. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/measure/random.h"
#include "bench/report/compare.h"

enum { RUNS = 5, POINTS = 20 };

/* Layout of each point (a layout with its sizes and mode) of a default sweep. */
static const enum bench_layout layout_of[POINTS] = {
    BENCH_SION_ALIGNED, BENCH_SION_ALIGNED, BENCH_SION_ALIGNED, BENCH_SION_ALIGNED, BENCH_SION_ALIGNED,
    BENCH_SION_ALIGNED, BENCH_SION_ALIGNED, BENCH_SION_PACKED,  BENCH_SION_PACKED,  BENCH_SION_PACKED,
    BENCH_SION_PACKED,  BENCH_SION_SHIFTED, BENCH_SION_SHIFTED, BENCH_SION_SHIFTED, BENCH_TASK_LOCAL,
    BENCH_TASK_LOCAL,   BENCH_TASK_LOCAL,   BENCH_SHARED_POSIX, BENCH_SHARED_POSIX, BENCH_SHARED_POSIX};

struct sweep {
    struct bench_results r;
    struct bench_point point[POINTS];
    struct bench_trial trial[POINTS][2][RUNS];
};

/* Disturbances of a sweep. */
struct disturbance {
    double scatter; /* relative scatter of a run */
    /* share of the runs that other programs delay to three times their duration */
    double held_up;
    /* share of the plain writes (ceilings) that other programs delay to three times their duration */
    double ceilings_held_up;
    /* variation of the whole machine's speed between repetitions */
    double weather;
    enum bench_layout layout; /* layout whose runs take `slower` times as long */
    double slower;
    size_t point; /* point whose runs take another `point_slower` times as long */
    double point_slower;
};

static double normal(uint64_t *random) {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        sum += (double)(bench_random(random) >> 11) / 9007199254740992.0;
    }
    return sum;
}

static void simulate(struct sweep *w, const struct disturbance *d, uint64_t *random) {
    w->r = (struct bench_results){
        .points = POINTS, .point = w->point, .processes = 1, .hosts = 1, .writers = 1, .readers = 1};
    for (size_t i = 0; i < POINTS; i++) {
        w->point[i] = (struct bench_point){.layout = layout_of[i],
                                           .mode = BENCH_FSYNC,
                                           .bytes = 300000000,
                                           .trials = RUNS,
                                           .trial = w->trial[i][0],
                                           .ceiling_trials = RUNS,
                                           .ceiling = w->trial[i][1],
                                           .twin = SIZE_MAX};
        (void)snprintf(w->point[i].id, sizeof w->point[i].id, "%s/fsync/%zu", bench_layout_name[layout_of[i]],
                       i);
    }
    double weather[RUNS];
    for (size_t k = 0; k < RUNS; k++) {
        weather[k] = d->weather * normal(random);
    }
    for (size_t i = 0; i < POINTS; i++) {
        for (size_t side = 0; side < 2; side++) {
            for (size_t k = 0; k < RUNS; k++) {
                double ns = 1e9 * exp(weather[k] + d->scatter * normal(random) + 0.02 * (double)i);
                ns *= (double)(bench_random(random) % 1000) < 1000 * d->held_up ? 3 : 1;
                if (side == 1 && d->ceilings_held_up > 0) {
                    ns *= (double)(bench_random(random) % 1000) < 1000 * d->ceilings_held_up ? 3 : 1;
                }
                ns *= side == 0 && d->slower > 0 && layout_of[i] == d->layout ? d->slower : 1;
                ns *= side == 0 && d->point_slower > 0 && i == d->point ? d->point_slower : 1;
                w->trial[i][side][k] = (struct bench_trial){.repetition = (uint32_t)k + 1,
                                                            .order = 1,
                                                            .total_ns = (uint64_t)ns,
                                                            .written_ns = (uint64_t)ns};
            }
        }
        assert_int_equal(bench_results_rate(&w->point[i], NULL), HPCW_OK);
    }
    assert_int_equal(bench_results_spread(&w->r, NULL), HPCW_OK);
}

/* Simulates a sweep with each of two disturbances, and compares both sweeps. The caller frees the comparison. */
static void compare(const struct disturbance *first, const struct disturbance *second, uint64_t *random,
                    struct bench_comparison *c) {
    static struct sweep a, b;
    simulate(&a, first, random);
    simulate(&b, second, random);
    assert_int_equal(bench_compare(&a.r, &b.r, c, NULL), HPCW_OK);
    assert_int_equal(c->pairs, POINTS);
    assert_int_equal(c->groups, 5);
}

static size_t differing_layouts(const struct bench_comparison *c, enum bench_layout *which) {
    size_t n = 0;
    for (size_t i = 0; i < c->groups; i++) {
        if (strcmp(bench_layout_verdict(c, &c->group[i].change), "no difference shown") != 0) {
            *which = c->group[i].layout;
            n++;
        }
    }
    return n;
}

static const struct disturbance quiet = {.scatter = 0.08, .weather = 0.3};

/* Of 300 pairs of equal sweeps, only a handful may show a difference. The significance level allows 6. The
 * draws are reproducible. */
static void equal_sweeps_show_none(void **state) {
    (void)state;
    uint64_t random = 1;
    size_t alarms = 0;
    for (int i = 0; i < 300; i++) {
        struct bench_comparison c;
        compare(&quiet, &quiet, &random, &c);
        alarms += strncmp(c.verdict, "no difference was shown; ", 25) != 0;
        bench_comparison_free(&c);
    }
    assert_true(alarms <= 8);
}

/* One run in twenty takes three times as long. There are no false alarms, and slow layouts are found. */
static void a_busy_machine_hides_little(void **state) {
    (void)state;
    uint64_t random = 8;
    const struct disturbance busy = {.scatter = 0.08, .weather = 0.3, .held_up = 0.05};
    struct disturbance slow = busy;
    slow.slower = 1.5;
    size_t alarms = 0, found = 0;
    for (int i = 0; i < 200; i++) {
        struct bench_comparison c;
        enum bench_layout which = BENCH_LAYOUTS;
        compare(&busy, &busy, &random, &c);
        alarms += differing_layouts(&c, &which) > 0;
        bench_comparison_free(&c);
        slow.layout = layout_of[i % POINTS];
        compare(&busy, &slow, &random, &c);
        found += differing_layouts(&c, &which) == 1 && which == slow.layout;
        bench_comparison_free(&c);
    }
    assert_true(alarms <= 4);
    assert_true(found >= 180);
}

/* One plain write in ten takes three times as long, as when the system is slow to give memory. That is no
 * difference of layouts. */
static void ceilings_that_are_held_up_hide_little(void **state) {
    (void)state;
    uint64_t random = 9;
    const struct disturbance late = {.scatter = 0.03, .weather = 0.1, .ceilings_held_up = 0.1};
    struct disturbance slow = late;
    slow.slower = 1.3;
    size_t alarms = 0, found = 0;
    for (int i = 0; i < 200; i++) {
        struct bench_comparison c;
        enum bench_layout which = BENCH_LAYOUTS;
        compare(&late, &late, &random, &c);
        alarms += strncmp(c.verdict, "no difference was shown; ", 25) != 0;
        bench_comparison_free(&c);
        slow.layout = layout_of[i % POINTS];
        compare(&late, &slow, &random, &c);
        found += differing_layouts(&c, &which) == 1 && which == slow.layout;
        bench_comparison_free(&c);
    }
    print_message("%zu alarms, %zu found\n", alarms, found);
    assert_true(alarms <= 10);
    assert_true(found >= 150);
}

static void a_slower_layout_is_found_and_no_other(void **state) {
    (void)state;
    uint64_t random = 2;
    struct disturbance slow = quiet;
    slow.slower = 1.3;
    size_t found = 0;
    for (int i = 0; i < 200; i++) {
        struct bench_comparison c;
        slow.layout = layout_of[i % POINTS];
        compare(&quiet, &slow, &random, &c);
        enum bench_layout which = BENCH_LAYOUTS;
        found += differing_layouts(&c, &which) == 1 && which == slow.layout &&
                 strncmp(c.verdict, "slower relative to plain writes: ", 33) == 0;
        bench_comparison_free(&c);
    }
    assert_true(found >= 180);
}

/* If a layout is slower by what a comparison calls visible, nine of ten comparisons find it. */
static void the_power_is_as_stated(void **state) {
    (void)state;
    uint64_t random = 3;
    size_t found = 0, all = 0;
    struct bench_comparison c;
    for (int i = 0; i < 200; i++) {
        compare(&quiet, &quiet, &random, &c);
        struct disturbance slow = quiet;
        slow.layout = c.group[i % 5].layout;
        slow.slower = 1 + c.group[i % 5].change.seen;
        bench_comparison_free(&c);
        compare(&quiet, &slow, &random, &c);
        enum bench_layout which = BENCH_LAYOUTS;
        found += differing_layouts(&c, &which) > 0;
        all++;
        bench_comparison_free(&c);
    }
    assert_true(10 * found >= 8 * all);
}

static void a_single_point_is_named(void **state) {
    (void)state;
    uint64_t random = 4;
    struct disturbance slow = quiet;
    slow.point = 5;
    slow.point_slower = 2.5;
    struct bench_comparison c;
    compare(&quiet, &slow, &random, &c);
    assert_non_null(strstr(c.verdict, "slower relative to plain writes: sion-aligned/fsync/5 (-"));
    bench_comparison_free(&c);
}

/* Simulates two sweeps of one program, the second on a disk `factor` times as slow. Plain writes wait only for
 * the disk. Containers need the processor half of the time. */
static void slow_the_disk(double factor, uint64_t *random, struct bench_comparison *c) {
    static struct sweep a, b;
    const struct disturbance calm = {.scatter = 0.02, .weather = 0.02};
    simulate(&a, &calm, random);
    simulate(&b, &calm, random);
    for (size_t i = 0; i < POINTS; i++) {
        const double slower[2] = {i < 14 ? 0.5 + 0.5 * factor : factor, factor};
        for (size_t k = 0; k < 2 * RUNS; k++) {
            struct bench_trial *t = &b.trial[i][k % 2][k / 2];
            t->total_ns = (uint64_t)((double)t->total_ns * slower[k % 2]);
        }
        assert_int_equal(bench_results_rate(&b.point[i], NULL), HPCW_OK);
    }
    assert_int_equal(bench_compare(&a.r, &b.r, c, NULL), HPCW_OK);
}

/* A slower disk makes no layout faster, although each layout's ratio to the ceilings (plain writes) rises. */
static void the_machine_is_told_apart(void **state) {
    (void)state;
    uint64_t random = 5;
    static const double factor[] = {1, 1.2, 1.5, 1.8, 2.2, 5, 0.6, 0.2};
    for (size_t i = 0; i < sizeof factor / sizeof factor[0]; i++) {
        struct bench_comparison c;
        slow_the_disk(factor[i], &random, &c);
        const bool changed = factor[i] > 2 || factor[i] < 0.5;
        assert_int_equal(c.machine_changed, changed);
        assert_true(fabs((1 + c.plain.change) * factor[i] - 1) < 0.1);
        assert_string_equal(bench_change_verdict(&c.plain), factor[i] == 1  ? "no difference shown"
                                                            : factor[i] > 1 ? "slower"
                                                                            : "faster");
        for (size_t k = 0; k < c.groups; k++) {
            assert_string_equal(bench_layout_verdict(&c, &c.group[k].change), "no difference shown");
        }
        for (size_t k = 0; k < c.pairs; k++) {
            assert_string_equal(bench_layout_verdict(&c, &c.pair[k].change), "no difference shown");
        }
        char plain[256] = "", says[512];
        if (factor[i] != 1) {
            (void)snprintf(
                plain, sizeof plain,
                "plain writes are %s (%+.0f %%): the machine or the file system changed, not the library; ",
                factor[i] > 1 ? "slower" : "faster", 100 * c.plain.change);
        }
        (void)snprintf(says, sizeof says, "%s%s", plain,
                       changed ? "nothing can be said of layouts: repeat both sweeps"
                               : "no difference was shown; differences above ");
        assert_int_equal(strncmp(c.verdict, says, strlen(says)), 0);
        if (!changed) { /* The verdict names the largest visible differences of the table. */
            int layout, point;
            double seen[2] = {0, 0};
            assert_int_equal(
                sscanf(c.verdict + strlen(says), "%d %% in a layout, %d %% in a point,", &layout, &point), 2);
            for (size_t k = 0; k < c.groups; k++) {
                seen[0] = fmax(seen[0], c.group[k].change.seen);
            }
            for (size_t k = 0; k < c.pairs; k++) {
                seen[1] = fmax(seen[1], c.pair[k].change.seen);
            }
            assert_int_equal(layout, (int)ceil(100 * seen[0]));
            assert_int_equal(point, (int)ceil(100 * seen[1]));
        }
        bench_comparison_free(&c);
    }
}

static void noise_says_nothing(void **state) {
    (void)state;
    uint64_t random = 6;
    const struct disturbance storm = {.scatter = 1.5, .weather = 0.1};
    struct bench_comparison c;
    compare(&storm, &storm, &random, &c);
    assert_string_equal(c.verdict, "nothing can be said: noisy; use --budget 20m for both sweeps");
    bench_comparison_free(&c);
}

/* With four runs, the verdict asks for more runs, and does not speak of noise. */
static void few_runs_are_not_noise(void **state) {
    (void)state;
    static struct sweep a, b;
    uint64_t random = 6;
    const struct disturbance storm = {.scatter = 1.5, .weather = 0.1};
    struct bench_comparison c;
    simulate(&a, &storm, &random);
    simulate(&b, &storm, &random);
    for (size_t i = 0; i < POINTS; i++) {
        b.point[i].trials = b.point[i].ceiling_trials = 4;
    }
    assert_int_equal(bench_compare(&a.r, &b.r, &c, NULL), HPCW_OK);
    assert_string_equal(c.verdict,
                        "nothing can be said: too few runs of a point (expected 5 or more, got 4); use "
                        "--repeat 5 for both sweeps");
    bench_comparison_free(&c);
}

/* Two points are too few to show how sweeps scatter. The comparison gives no interval and advises more block
 * sizes. */
static void two_points_are_too_few(void **state) {
    (void)state;
    static struct sweep a, b;
    uint64_t random = 12;
    const struct disturbance calm = {.scatter = 0.01, .weather = 0.05};
    struct disturbance slow = calm;
    slow.point = 1;
    slow.point_slower = 1.2;
    struct bench_comparison c;
    simulate(&a, &calm, &random);
    simulate(&b, &slow, &random);
    a.r.points = b.r.points = 2;
    assert_int_equal(bench_compare(&a.r, &b.r, &c, NULL), HPCW_OK);
    assert_int_equal(c.groups, 1);
    assert_true(isinf(c.group[0].change.low) && isinf(c.pair[0].change.high));
    assert_string_equal(c.verdict, "nothing can be said: 2 points of 1 layout are too few to show how sweeps "
                                   "scatter; use more block sizes for both sweeps (--blocksize 4K:16M:x4)");
    bench_comparison_free(&c);
    /* The first sweep was to measure more block sizes, but its budget had no time for them. */
    a.r.points = 3;
    a.r.limits.budget_ns = UINT64_C(600000000000);
    a.point[2].fate = BENCH_LEFT_OUT;
    (void)snprintf(a.point[2].reason, sizeof a.point[2].reason,
                   "the budget of 10 min 00 s is too small for it");
    assert_int_equal(bench_compare(&a.r, &b.r, &c, NULL), HPCW_OK);
    assert_string_equal(c.verdict,
                        "nothing can be said: 2 points of 1 layout are too few to show how sweeps scatter; the "
                        "budget left others out: use --budget 40m for both sweeps");
    bench_comparison_free(&c);
    a.point[2].fate = BENCH_MEASURED;
    a.r.points = b.r.points = 7;
    assert_int_equal(bench_compare(&a.r, &b.r, &c, NULL), HPCW_OK);
    assert_true(isfinite(c.group[0].change.low) && isfinite(c.group[0].change.high));
    bench_comparison_free(&c);
}

static void only_what_counts_is_compared(void **state) {
    (void)state;
    static struct sweep a, b;
    uint64_t random = 7;
    struct bench_comparison c;
    simulate(&a, &quiet, &random);
    simulate(&b, &quiet, &random);
    a.point[0].fate = BENCH_FAILED;
    b.point[1].trials = 1;
    b.point[2].record_size = 1;
    assert_int_equal(bench_compare(&a.r, &b.r, &c, NULL), HPCW_OK);
    assert_int_equal(c.pairs, POINTS - 2);
    assert_true(c.pair[0].other_size && !c.pair[1].other_size);
    bench_comparison_free(&c);
    b.r.limits.least_bytes = 300000001;
    assert_int_equal(bench_compare(&a.r, &b.r, &c, NULL), HPCW_OK);
    assert_int_equal(c.pairs, 0);
    assert_string_equal(c.verdict,
                        "nothing can be said: no point counts in both sweeps; some points are too small: "
                        "use a larger --per-rank for both sweeps");
    bench_comparison_free(&c);
}

/* Points are compared by name. Less data per rank may make the record size in a name smaller. Such a point
 * cannot be compared. */
static void other_sizes_are_told(void **state) {
    (void)state;
    static struct sweep a, b;
    uint64_t random = 11;
    struct bench_comparison c;
    simulate(&a, &quiet, &random);
    simulate(&b, &quiet, &random);
    for (size_t i = 0; i < POINTS; i++) {
        a.point[i].record_size = b.point[i].record_size = 48128;
        a.point[i].rank_size = 4 << 20;
        b.point[i].rank_size = 96256;
    }
    b.point[19].record_size = 96256;
    assert_int_equal(bench_compare(&a.r, &b.r, &c, NULL), HPCW_OK);
    assert_null(strstr(c.verdict, "--per-rank"));
    bench_comparison_free(&c);
    (void)snprintf(b.point[19].id, sizeof b.point[19].id, "shared-posix/fsync/records-94K");
    assert_int_equal(bench_compare(&a.r, &b.r, &c, NULL), HPCW_OK);
    assert_int_equal(c.pairs, POINTS - 1);
    assert_non_null(strstr(c.verdict,
                           "; some points cannot be compared, as the runs of the sweeps have other sizes: "
                           "use --per-rank 4M for both"));
    bench_comparison_free(&c);
    for (size_t i = 0; i < POINTS; i++) {
        b.point[i].files = 2; /* the number of files counts as a size */
        (void)snprintf(b.point[i].id, sizeof b.point[i].id, "%s", a.point[i].id);
    }
    assert_int_equal(bench_compare(&a.r, &b.r, &c, NULL), HPCW_OK);
    assert_int_equal(c.pairs, POINTS);
    assert_non_null(
        strstr(c.verdict, "; the runs of the two sweeps write other sizes: use --per-rank 4M for both"));
    bench_comparison_free(&c);
    a.r.limits.least_bytes = 4 << 20;
    b.r.limits.least_bytes = 3 << 20;
    assert_int_equal(bench_compare(&a.r, &b.r, &c, NULL), HPCW_OK);
    assert_non_null(strstr(c.verdict, ": use --per-rank 4M --least-bytes 3M for both"));
    bench_comparison_free(&c);
}

/* Returns the text that the command prints for two files, to be freed by the caller. */
static char *print(const char *first, const char *second, bool json) {
    char path[] = "compare.XXXXXX";
    int fd = mkstemp(path), out = dup(STDOUT_FILENO);
    assert_true(fd >= 0 && out >= 0);
    (void)fflush(stdout);
    assert_true(dup2(fd, STDOUT_FILENO) >= 0);
    hpcw_status s = bench_compare_command(first, second, json, false, NULL);
    (void)fflush(stdout);
    assert_true(dup2(out, STDOUT_FILENO) >= 0);
    assert_int_equal(s, HPCW_OK);
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(pread(fd, text, (size_t)size, 0), size);
    (void)close(fd);
    (void)close(out);
    (void)unlink(path);
    return text;
}

/* Compares two sweeps, the second with slower task-local files. Checks tables, last line and JSON. */
static void the_command_names_what_is_slow(void **state) {
    (void)state;
    static struct sweep a, b;
    char first[] = "first.XXXXXX", second[] = "second.XXXXXX";
    const int fd[2] = {mkstemp(first), mkstemp(second)};
    assert_true(fd[0] >= 0 && fd[1] >= 0 && close(fd[0]) == 0 && close(fd[1]) == 0);
    uint64_t random = 10;
    struct disturbance slow = quiet;
    slow.layout = BENCH_TASK_LOCAL;
    slow.slower = 3;
    simulate(&a, &quiet, &random);
    simulate(&b, &slow, &random);
    assert_int_equal(bench_results_write_json(&a.r, NULL, first, NULL), HPCW_OK);
    assert_int_equal(bench_results_write_json(&b.r, NULL, second, NULL), HPCW_OK);
    char *text = print(first, second, false), *json = print(first, second, true);
    const char *row = strstr(text, "\ntask-local ");
    assert_non_null(row);
    const char *end = strchr(row + 1, '\n');
    assert_true(end != NULL && strncmp(end - 32, " slower relative to plain writes", 32) == 0);
    assert_non_null(strstr(text, "\nslower relative to plain writes: task-local (-"));
    assert_non_null(strstr(json, "\"verdict\": \"slower relative to plain writes: task-local (-"));
    free(text);
    free(json);
    assert_int_equal(unlink(first), 0);
    assert_int_equal(unlink(second), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_busy_machine_hides_little),
        cmocka_unit_test(ceilings_that_are_held_up_hide_little),
        cmocka_unit_test(equal_sweeps_show_none),
        cmocka_unit_test(a_slower_layout_is_found_and_no_other),
        cmocka_unit_test(the_power_is_as_stated),
        cmocka_unit_test(a_single_point_is_named),
        cmocka_unit_test(the_machine_is_told_apart),
        cmocka_unit_test(noise_says_nothing),
        cmocka_unit_test(two_points_are_too_few),
        cmocka_unit_test(few_runs_are_not_noise),
        cmocka_unit_test(only_what_counts_is_compared),
        cmocka_unit_test(other_sizes_are_told),
        cmocka_unit_test(the_command_names_what_is_slow),
    };
    return cmocka_run_group_tests_name("bench_compare", tests, NULL, NULL);
}
