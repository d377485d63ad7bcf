/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates and recommendations for made-up results. */
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
#include "bench/report/metadata.h"
#include "bench/report/results.h"
#include "bench/sweep/sweep.h"
#include "libwriter/base/mem.h"
#include "ui/page/page.h"

#define MS UINT64_C(1000000)

/* Returns a point of 1 MB whose runs take the times `ms`, half of it for writing. Its ceilings (plain writes)
 * take half as long. */
static struct bench_point point_of(enum bench_layout layout, enum bench_mode mode, uint64_t block,
                                   const uint64_t *ms, size_t runs) {
    struct bench_point p = {.layout = layout,
                            .mode = mode,
                            .block_size = block,
                            .bytes = 1000000,
                            .files = 1,
                            .twin = SIZE_MAX,
                            .trials = runs,
                            .ceiling_trials = runs};
    (void)snprintf(p.id, sizeof p.id, "%s/%s/%llu", bench_layout_name[layout], bench_mode_name[mode],
                   (unsigned long long)block);
    p.trial = hpcw_i_calloc(runs, sizeof *p.trial);
    p.ceiling = hpcw_i_calloc(runs, sizeof *p.ceiling);
    assert_true(p.trial != NULL && p.ceiling != NULL);
    for (size_t i = 0; i < runs; i++) {
        p.trial[i] = (struct bench_trial){
            .repetition = (uint32_t)i + 1, .total_ns = ms[i] * MS, .written_ns = ms[i] * MS / 2};
        /* Ceilings are in reverse order, since they are matched by repetition number. */
        p.ceiling[runs - 1 - i] = (struct bench_trial){
            .repetition = (uint32_t)i + 1, .total_ns = ms[i] * MS / 2, .written_ns = ms[i] * MS / 4};
    }
    hpcw_error err;
    assert_int_equal(bench_results_rate(&p, &err), HPCW_OK);
    return p;
}

#define WHERE "On /scratch (ext4, host node1, 2026-11-29) "

static struct bench_results results_of(const struct bench_point *p, size_t n) {
    struct bench_results r = {.points = n,
                              .point = hpcw_i_calloc(n, sizeof *p),
                              .fs.type = "ext4",
                              .directory = "/scratch",
                              .host = "node1",
                              .hosts = 1,
                              .time = "2026-11-29T10:00:00Z"};
    assert_non_null(r.point);
    memcpy(r.point, p, n * sizeof *p);
    hpcw_error err;
    assert_int_equal(bench_results_advise(&r, &err), HPCW_OK);
    for (size_t i = 0; i < r.advices; i++) {
        assert_true(r.advice[i].evidences > 0);
        for (size_t k = 0; k < r.advice[i].evidences; k++) {
            assert_true(r.advice[i].evidence[k] < n);
        }
    }
    return r;
}

static bool says(const struct bench_results *r, const char *text) {
    for (size_t i = 0; i < r->advices; i++) {
        if (strstr(r->advice[i].text, text) != NULL) {
            return true;
        }
    }
    return false;
}

static const uint64_t fast[] = {10, 10, 11, 10, 10};
static const uint64_t slow[] = {20, 21, 20, 20, 20};
static const uint64_t wide[] = {9, 12, 25, 19, 10};
static const uint64_t other[] = {14, 8, 8, 14, 12};
static const uint64_t uneven[] = {1300, 1400, 1500, 1450, 1350};
static const uint64_t far[] = {100, 101, 99, 100, 102};

static void rates_of_a_point(void **state) {
    (void)state;
    struct bench_point p = point_of(BENCH_SION_ALIGNED, BENCH_FSYNC, 4096, fast, 5);
    assert_true(p.durable.there && p.cached.there && p.ratio.there);
    assert_float_equal(p.durable.stats.median, 1e8, 1);
    assert_float_equal(p.cached.stats.median, 2e8, 1);
    assert_float_equal(p.ceiling_durable.stats.median, 2e8, 1);
    /* the ratio to plain writes is the same in all repetitions */
    assert_float_equal(p.ratio.stats.min, 0.5, 1e-9);
    assert_float_equal(p.ratio.stats.max, 0.5, 1e-9);
    p.fate = BENCH_FAILED; /* a failed point has no rate, whatever was measured before */
    hpcw_error err;
    assert_int_equal(bench_results_rate(&p, &err), HPCW_OK);
    assert_false(p.durable.there || p.cached.there || p.ratio.there);
    struct bench_results r = {.points = 0};
    hpcw_i_free(p.trial);
    hpcw_i_free(p.ceiling);
    bench_results_free(&r);
}

static void modes_have_their_rates(void **state) {
    (void)state;
    struct bench_point p[] = {point_of(BENCH_SION_ALIGNED, BENCH_BUFFERED, 4096, fast, 5),
                              point_of(BENCH_SION_ALIGNED, BENCH_DIRECT, 4096, wide, 5)};
    assert_true(!p[0].durable.there && p[0].cached.there);
    assert_float_equal(p[0].ratio.stats.median, 0.5, 1e-9);
    assert_true(p[1].durable.there && !p[1].cached.there);
    struct bench_results r = results_of(p, 2);
    assert_true(r.point[1].noisy);
    assert_int_equal(r.advices, 0); /* no second layout to compare */
    bench_results_free(&r);
}

/* The read rate is that of the disk only if no run read from the page cache. */
static void cached_reading_is_told(void **state) {
    (void)state;
    struct bench_point p = point_of(BENCH_SION_ALIGNED, BENCH_FSYNC, 4096, fast, 5);
    hpcw_error err;
    assert_false(p.read.there || p.read_cached);
    for (size_t i = 0; i < 5; i++) {
        p.trial[i].read_ns = (5 + i) * MS;
        p.trial[i].read_bytes = 950000;
    }
    assert_int_equal(bench_results_rate(&p, &err), HPCW_OK);
    assert_true(p.read.there && !p.read_cached);
    assert_true(p.read.stats.median > 142857142 && p.read.stats.median < 142857143); /* one MB in 7 ms */
    p.trial[3].read_bytes--;
    assert_int_equal(bench_results_rate(&p, &err), HPCW_OK);
    assert_true(p.read.there && p.read_cached);
    struct bench_results r = results_of(&p, 1);
    bench_results_free(&r);
}

static void differences_are_told(void **state) {
    (void)state;
    const struct bench_point p[] = {point_of(BENCH_SION_ALIGNED, BENCH_FSYNC, 4096, slow, 5),
                                    point_of(BENCH_SION_ALIGNED, BENCH_FSYNC, 1048576, fast, 5),
                                    point_of(BENCH_SION_SHIFTED, BENCH_FSYNC, 4096, slow, 5),
                                    point_of(BENCH_SION_SHIFTED, BENCH_FSYNC, 1048576, slow, 5),
                                    point_of(BENCH_SION_PACKED, BENCH_FSYNC, 1048576, slow, 5),
                                    point_of(BENCH_SION_ALIGNED, BENCH_DIRECT, 4096, fast, 5),
                                    point_of(BENCH_SION_ALIGNED, BENCH_PREALLOCATED, 1048576, slow, 5)};
    struct bench_results r = results_of(p, sizeof p / sizeof p[0]);
    assert_string_equal(r.verdict.text, WHERE "this job writes 100.0 MB/s if files "
                                              "are aligned to 1 MiB: 2.0 x unaligned (2.0 to 2.0)");
    assert_true(says(
        &r, "The fastest point is sion-aligned/fsync/1048576, 100.0 MB/s to the disk; 1 of the 4 others may "
            "be as fast, or at most ")); /* the point that may be as fast is sion-aligned/direct/4096 */
    assert_true(says(&r, "Aligned containers are fastest with blocks of 1M"));
    assert_true(says(&r, "every other size is slower beyond noise"));
    assert_true(says(
        &r,
        "Aligned containers compared with unaligned ones: faster beyond noise in 1 of 2 pairs, slower in 0"));
    assert_true(says(&r, "a factor of 2.0 (2.0 to 2.0)."));
    assert_true(says(
        &r, "Packed containers compared with aligned ones: faster beyond noise in 0 of 1 pairs, slower in 1"));
    assert_true(says(&r, "O_DIRECT is worth it"));
    assert_true(says(&r, "Preallocation is not worth it"));
    bench_results_free(&r);
}

/* Other programs delay one of five runs. Verdict and recommendations do not change. */
static void a_run_that_was_held_up_changes_nothing(void **state) {
    (void)state;
    static const uint64_t held_up[] = {100, 104, 500, 99, 102}, even[] = {150, 149, 153, 148, 151};
    const struct bench_point p[] = {point_of(BENCH_SION_ALIGNED, BENCH_FSYNC, 4096, held_up, 5),
                                    point_of(BENCH_SHARED_POSIX, BENCH_FSYNC, 0, even, 5),
                                    point_of(BENCH_TASK_LOCAL, BENCH_FSYNC, 0, even, 5)};
    struct bench_results r = results_of(p, 3);
    assert_string_equal(r.verdict.text, WHERE "this job writes 9.8 MB/s if files are "
                                              "aligned to 4 KiB");
    assert_true(
        says(&r, "The fastest point is sion-aligned/fsync/4096, 9.8 MB/s to the disk; each of the 2 others is "
                 "slower."));
    bench_results_free(&r);
}

static double normal(uint64_t *random) {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        sum += (double)(bench_random(random) >> 11) / 9007199254740992.0;
    }
    return sum;
}

/* Scatter of runs. A delay takes as long as two runs of the usual length, even if a run is shorter. */
struct scatter {
    double run;     /* relative scatter of a run of the usual length */
    double held_up; /* share of the runs of the usual length that are delayed */
};

/* Simulates 200 sweeps of eight points, whose rounds last five usual rounds in total. The machine's
 * speed varies. *given: sweeps with a verdict. *wrong: verdicts for a point more than 10 % slower than the best. */
static void simulate(const struct scatter *scatter, size_t rounds, size_t *given, size_t *wrong) {
    enum { POINTS = 8, MOST = 20 };
    const double length = 5 / (double)rounds;
    uint64_t random = 1;
    assert_true(rounds <= MOST);
    *given = *wrong = 0;
    for (int sweep = 0; sweep < 200; sweep++) {
        struct bench_point p[POINTS];
        double truth[POINTS], weather[MOST];
        for (size_t k = 0; k < rounds; k++) {
            weather[k] = 0.3 * normal(&random);
        }
        for (size_t i = 0; i < POINTS; i++) {
            uint64_t ms[MOST];
            truth[i] = 1000 + 50 * (double)(bench_random(&random) % 10);
            for (size_t k = 0; k < rounds; k++) {
                const double late =
                    (double)(bench_random(&random) % 1000) < 1000 * scatter->held_up * length ? 2 / length : 0;
                ms[k] = (uint64_t)(truth[i] * exp(weather[k] + scatter->run / sqrt(length) * normal(&random)) *
                                   (1 + late));
            }
            p[i] = point_of(BENCH_SION_ALIGNED, BENCH_FSYNC, 4096 * (i + 1), ms, rounds);
        }
        struct bench_results r = results_of(p, POINTS);
        if (strstr(r.verdict.text, " this job writes ") != NULL) {
            double best = truth[0];
            for (size_t i = 1; i < POINTS; i++) {
                best = truth[i] < best ? truth[i] : best;
            }
            *wrong += truth[r.verdict.evidence[0]] > 1.1 * best;
            ++*given;
        }
        bench_results_free(&r);
    }
}

static void verdicts_are_right(void **state) {
    (void)state;
    static const struct {
        struct scatter scatter;
        size_t least; /* verdicts */
    } row[] = {{{0.02, 0}, 200}, {{0.04, 0}, 160}, {{0.03, 0.05}, 70}, {{0.1, 0.1}, 0}, {{0.5, 0.2}, 0}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        size_t given, wrong;
        simulate(&row[i].scatter, 5, &given, &wrong);
        print_message("%g %g: %zu verdicts, %zu wrong\n", row[i].scatter.run, row[i].scatter.held_up, given,
                      wrong);
        assert_true(given >= row[i].least);
        assert_true(wrong <= 4); /* 2 % of 200 */
    }
}

/* In the same time, ten rounds of short runs give more verdicts than five of long ones, and no more wrong ones. */
static void short_rounds_serve_better(void **state) {
    (void)state;
    static const struct scatter scatter[] = {{0.04, 0}, {0.05, 0}, {0.03, 0.05}, {0.03, 0.1}};
    size_t given[4][2], wrong[2];
    for (size_t i = 0; i < 4; i++) {
        simulate(&scatter[i], 5, &given[i][0], &wrong[0]);
        simulate(&scatter[i], BENCH_LEAST_REPEAT, &given[i][1], &wrong[1]);
        print_message("%g %g: %zu verdicts in 5 rounds, %zu in 10; %zu and %zu wrong\n", scatter[i].run,
                      scatter[i].held_up, given[i][0], given[i][1], wrong[0], wrong[1]);
        assert_true(wrong[1] <= 4);
        assert_true(given[i][1] > given[i][0]);
    }
}

/* All points are equally fast. About one sweep in twenty still reports a difference from the best point; with
 * nine points, one sweep in ten does. */
static void equal_points_are_called_equal(void **state) {
    (void)state;
    enum { SWEEPS = 1000, POINTS = 9, ROUNDS = 30 };
    static const size_t shape[][2] = {{2, 5}, {2, 10}, {6, 5}, {6, 10}, {POINTS, 10}, {POINTS, ROUNDS}};
    uint64_t random = 5;
    for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++) {
        const size_t points = shape[i][0], rounds = shape[i][1];
        size_t alarms = 0;
        for (size_t sweep = 0; sweep < SWEEPS; sweep++) {
            double x[POINTS * ROUNDS];
            struct bench_log log[POINTS];
            hpcw_error err;
            for (size_t k = 0; k < points * rounds; k++) {
                x[k] = 0.05 * normal(&random);
            }
            assert_int_equal(bench_log_spread(x, points, rounds, log, &err), HPCW_OK);
            size_t best = 0;
            bool differs = false;
            for (size_t k = 1; k < points; k++) {
                best = log[k].mean > log[best].mean ? k : best;
            }
            for (size_t k = 0; k < points; k++) {
                differs = differs || bench_log_differ(&log[k], &log[best]) != 0;
            }
            alarms += differs;
        }
        print_message("%zu points, %zu rounds: %zu of %d\n", points, rounds, alarms, SWEEPS);
        assert_true(alarms >= 20 && alarms <= 120);
    }
}

/* A difference that the plan calls visible is found in about nine of ten sweeps, and half of that difference in
 * at most half of the sweeps. */
static void the_plan_says_what_shows(void **state) {
    (void)state;
    static const struct {
        size_t points;
        uint32_t rounds;
        double scatter;
    } row[] = {{6, 10, 0.05}, {6, 30, 0.05}, {14, 10, 0.05}, {6, 5, 0.1}, {3, 12, 0.02}};
    uint64_t random = 11;
    assert_true(isinf(bench_sweep_seen(6, 1, 0.05)));
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const double seen = bench_sweep_seen(row[i].points, row[i].rounds, row[i].scatter);
        size_t found[2] = {0};
        for (size_t n = 0; n < 400; n++) {
            struct bench_point p[14];
            for (size_t k = 0; k < row[i].points; k++) {
                uint64_t ms[30];
                /* The second point is slower by the visible difference, or by half of it. */
                const double slower = k != 1 ? 1 : 1 + (n % 2 == 0 ? seen : seen / 2);
                for (size_t run = 0; run < row[i].rounds; run++) {
                    ms[run] = (uint64_t)(100000 * slower * exp(row[i].scatter * normal(&random)));
                }
                p[k] = point_of(BENCH_SION_ALIGNED, BENCH_FSYNC, 4096 * (k + 1), ms, row[i].rounds);
            }
            struct bench_results r = results_of(p, row[i].points);
            found[n % 2] += bench_results_differ(&r.point[0], &r.point[1]) == 1;
            bench_results_free(&r);
        }
        print_message("%zu points, %u rounds: %.1f %%, found %zu and %zu of 200\n", row[i].points,
                      row[i].rounds, 100 * seen, found[0], found[1]);
        assert_true(found[0] >= 160 && found[1] <= 100);
    }
}

/* ---- table and page ---- */

/* Returns the text that a person reads: the table or the page. To be freed. */
static char *shown(const struct bench_results *r, bool page) {
    char path[] = "shown.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *stream = fdopen(fd, "w+");
    assert_non_null(stream);
    if (page) {
        /* the page replaces the file of this path */
        assert_int_equal(bench_report_page(r, ".", NULL, path, NULL), HPCW_OK);
        assert_non_null(freopen(path, "r", stream));
    } else {
        assert_int_equal(bench_output_print(r, stream, NULL), HPCW_OK);
    }
    assert_int_equal(fseek(stream, 0, SEEK_END), 0);
    long size = ftell(stream);
    char *text = calloc(1, (size_t)size + 1);
    assert_true(size > 0 && text != NULL);
    rewind(stream);
    assert_int_equal(fread(text, 1, (size_t)size, stream), size);
    (void)fclose(stream);
    (void)unlink(path);
    return text;
}

static const char *line_of(const char *text, const char *start) {
    for (const char *at = text; at != NULL; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, start, strlen(start)) == 0) {
            return at;
        }
    }
    return NULL;
}

/* Returns what a sentence claims of two points: 1 if the first is faster, -1 if it is slower, 0 for no claim. */
static int claim_of(const char *text) {
    static const char *const faster[] = {": faster beyond noise (", " is worth it "},
                             *const slower[] = {": slower beyond noise (", " is not worth it "};
    for (size_t i = 0; i < 2; i++) {
        if (strstr(text, faster[i]) != NULL || strstr(text, slower[i]) != NULL) {
            return strstr(text, faster[i]) != NULL ? 1 : -1;
        }
    }
    return 0;
}

/* Checks a verdict: no other layout is faster than the best, except BENCH_SION_SHIFTED. */
static void check_verdict(const struct bench_results *r) {
    if (strstr(r->verdict.text, " this job writes ") == NULL) {
        assert_non_null(strstr(r->verdict.text, " can be said: "));
        return;
    }
    const struct bench_point *best = &r->point[r->verdict.evidence[0]];
    size_t equal = 0;
    for (size_t i = 0; i < r->points; i++) {
        const struct bench_point *p = &r->point[i];
        if (p != best && p->layout != BENCH_SION_SHIFTED) {
            assert_true(bench_results_most(p, best) < log1p(0.1));
            assert_true(bench_results_differ(p, best) <= 0);
            equal += bench_results_differ(p, best) == 0;
        }
    }
    assert_int_equal(says(r, "others is slower"), equal == 0);
}

/* Checks that each sentence of the recommendation agrees with bench_results_differ. */
static void check_advice(const struct bench_results *r) {
    for (size_t i = 0; i < r->advices; i++) {
        const struct bench_advice *a = &r->advice[i];
        size_t faster = 0, all = 0, slower = 0;
        const char *pairs = strstr(a->text, "faster beyond noise in ");
        if (pairs != NULL && sscanf(pairs, "faster beyond noise in %zu of %zu pairs, slower in %zu", &faster,
                                    &all, &slower) == 3) {
            const int c = bench_results_differ(&r->point[a->evidence[0]], &r->point[a->evidence[1]]);
            assert_true(c > 0 ? faster > 0 : c < 0 && slower > 0);
        } else if (strstr(a->text, "Aligned containers are fastest with") != NULL) {
            const bool alone = strstr(a->text, "every other size is slower") != NULL;
            assert_int_equal(a->evidences == 1, alone);
            assert_int_equal(
                bench_results_differ(&r->point[a->evidence[0]], &r->point[a->evidence[a->evidences - 1]]), 0);
        } else if (a->evidences == 2) {
            assert_int_equal(claim_of(a->text),
                             bench_results_differ(&r->point[a->evidence[0]], &r->point[a->evidence[1]]));
        }
    }
}

/* Simulates quiet and noisy sweeps with one run or many. Table and page agree on each point, and no sentence
 * claims a difference that bench_results_differ does not find. */
static void one_rule_decides_all(void **state) {
    (void)state;
    static const double scatter[] = {0.005, 0.03, 0.1, 0.4};
    static const size_t runs[] = {1, 2, 5, 12};
    static const struct {
        enum bench_layout layout;
        enum bench_mode mode;
        uint64_t block;
        double ms;
    } row[] = {
        {BENCH_SION_ALIGNED, BENCH_FSYNC, 4096, 1000},        {BENCH_SION_ALIGNED, BENCH_FSYNC, 1048576, 800},
        {BENCH_SION_SHIFTED, BENCH_FSYNC, 4096, 1300},        {BENCH_SION_SHIFTED, BENCH_FSYNC, 1048576, 820},
        {BENCH_SION_PACKED, BENCH_FSYNC, 4096, 980},          {BENCH_SION_ALIGNED, BENCH_DIRECT, 4096, 700},
        {BENCH_SION_ALIGNED, BENCH_PREALLOCATED, 4096, 1010}, {BENCH_TASK_LOCAL, BENCH_FSYNC, 0, 1500}};
    enum { POINTS = sizeof row / sizeof row[0] };
    uint64_t random = 7;
    const bool pages = ui_page_available(NULL) == HPCW_OK;
    size_t verdicts = 0, claims = 0;
    for (size_t n = 0; n < 64; n++) {
        const double s = scatter[n % 4];
        const size_t count = runs[n / 4 % 4];
        struct bench_point p[POINTS];
        double weather[12];
        for (size_t k = 0; k < 12; k++) {
            weather[k] = 0.2 * normal(&random);
        }
        for (size_t i = 0; i < POINTS; i++) {
            uint64_t ms[12];
            for (size_t k = 0; k < count; k++) {
                ms[k] = (uint64_t)(row[i].ms * exp(weather[k] + s * normal(&random)));
            }
            p[i] = point_of(row[i].layout, row[i].mode, row[i].block, ms, count);
        }
        struct bench_results r = results_of(p, POINTS);
        r.processes = r.hosts = 1;
        r.writers = r.readers = 1;
        check_verdict(&r);
        check_advice(&r);
        verdicts += strstr(r.verdict.text, " this job writes ") != NULL;
        for (size_t i = 0; i < r.advices; i++) {
            claims += claim_of(r.advice[i].text) != 0;
        }
        /* With too few runs, the verdict makes no claim. */
        const bool few = count < BENCH_FEWEST_REPEAT;
        assert_int_equal(strstr(r.verdict.text, " nothing can be said: too few runs of a point (") != NULL,
                         few);
        for (size_t i = 0; few && i < POINTS; i++) {
            assert_false(r.point[i].noisy);
        }
        assert_true(!few || (r.advices == 0 && r.verdict.evidences == 0 && !r.verdict.rival.there));
        char *table = shown(&r, false), *page = pages ? shown(&r, true) : NULL;
        assert_int_equal(strstr(table, "\npoints are ranked by ") != NULL, r.verdict.rival.there);
        /* A single run has no confidence interval. */
        assert_int_equal(strstr(table, "B/s to ") != NULL, count > 1);
        for (size_t i = 0; i < POINTS; i++) {
            const char *line = line_of(table, r.point[i].id);
            assert_non_null(line);
            assert_int_equal(strncmp(strchr(line, '\n') - 5, "noisy", 5) == 0, r.point[i].noisy);
        }
        if (page != NULL) {
            char noisy[64];
            size_t found = 0;
            for (size_t i = 0; i < POINTS; i++) {
                found += r.point[i].noisy;
            }
            (void)snprintf(noisy, sizeof noisy, " and %zu are noisy.", found);
            assert_true(found == 0 || strstr(page, noisy) != NULL);
            assert_non_null(strstr(page, r.verdict.text));
        }
        free(table);
        free(page);
        bench_results_free(&r);
    }
    print_message("%zu verdicts, %zu claims\n", verdicts, claims);
    assert_true(verdicts >= 10 && claims >= 20);
}

static void noise_is_reported(void **state) {
    (void)state;
    const struct bench_point p[] = {point_of(BENCH_SION_ALIGNED, BENCH_FSYNC, 4096, fast, 5),
                                    point_of(BENCH_SION_SHIFTED, BENCH_FSYNC, 4096, wide, 5),
                                    point_of(BENCH_SION_ALIGNED, BENCH_FSYNC, 1048576, wide, 5),
                                    point_of(BENCH_TASK_LOCAL, BENCH_FSYNC, 0, other, 5)};
    struct bench_results r = results_of(p, sizeof p / sizeof p[0]);
    assert_non_null(strstr(r.verdict.text, "nothing can be said: noisy, another layout may be "));
    /* The advised budget includes BENCH_SION_SHIFTED. */
    assert_string_equal(strstr(r.verdict.text, "; use"), "; use --budget 20m");
    /* The sentence gives the upper end of the interval, whose middle is the difference of the means. */
    char text[64];
    (void)snprintf(text, sizeof text, "another layout may be %.0f %% faster", 100 * (r.verdict.rival.high - 1));
    assert_non_null(strstr(r.verdict.text, text));
    assert_int_equal(r.verdict.rival.point, 3);
    assert_true(r.verdict.rival.low < 1);
    const double middle = r.point[3].log.mean - r.point[0].log.mean;
    assert_true(fabs(log(r.verdict.rival.low * r.verdict.rival.high) - 2 * middle) < 1e-9);
    assert_true(says(&r, "no block size from 4K to 1M differs"));
    assert_true(
        says(&r, "Aligned containers compared with unaligned ones: no difference beyond noise in 1 pair;"));
    assert_false(says(&r, "faster beyond noise in"));
    /* Other programs are named if they were busy in most runs. */
    hpcw_error err;
    for (size_t i = 0; i < r.points; i++) {
        for (size_t k = 0; k < 5; k++) {
            r.point[i].trial[k].others = k == 0 ? (double)NAN : k == 1 ? 0 : 1.55;
        }
    }
    assert_int_equal(bench_results_advise(&r, &err), HPCW_OK);
    assert_non_null(strstr(r.verdict.text,
                           "; other programs kept 1.6 processors busy: repeat it without them, or "
                           "use --budget 20m"));
    r.point[0].trial[1].others = r.point[0].trial[2].others = 0;
    for (size_t i = 1; i < r.points; i++) {
        r.point[i].trial[2].others = r.point[i].trial[3].others = 0.09;
    }
    assert_int_equal(bench_results_advise(&r, &err), HPCW_OK);
    assert_null(strstr(r.verdict.text, "other programs"));
    bench_results_free(&r);
}

/* The verdict first says what is known of alignment, and then what is unknown. */
static void what_is_known_comes_first(void **state) {
    (void)state;
    const struct bench_point p[] = {point_of(BENCH_SION_ALIGNED, BENCH_FSYNC, 4096, fast, 5),
                                    point_of(BENCH_SION_SHIFTED, BENCH_FSYNC, 4096, far, 5),
                                    point_of(BENCH_SION_ALIGNED, BENCH_FSYNC, 1048576, other, 5)};
    struct bench_results r = results_of(p, sizeof p / sizeof p[0]);
    assert_string_equal(bench_layout_name[r.point[r.verdict.evidence[1]].layout], "sion-shifted");
    assert_ptr_equal(strstr(r.verdict.text,
                            WHERE "aligned to 4 KiB, files are written at 9.9 x the rate of "
                                  "unaligned ones (5.2 to 19.0); nothing else can be said: noisy, "
                                  "another block size may be "),
                     r.verdict.text);
    /* The verdict of a killed sweep says first that it did not end. */
    hpcw_error err;
    (void)snprintf(r.stopped, sizeof r.stopped, "not ended");
    r.repeat = 6;
    assert_int_equal(bench_results_advise(&r, &err), HPCW_OK);
    assert_ptr_equal(strstr(r.verdict.text, "The sweep was not ended, and this is of 15 of its 18 runs: On /"),
                     r.verdict.text);
    bench_results_free(&r);
}

/* On a file system in memory, the verdict says "to memory". */
static void memory_is_no_disk(void **state) {
    (void)state;
    const struct bench_point p[] = {point_of(BENCH_SION_ALIGNED, BENCH_FSYNC, 4096, fast, 5),
                                    point_of(BENCH_TASK_LOCAL, BENCH_FSYNC, 0, slow, 5)};
    struct bench_results r = results_of(p, sizeof p / sizeof p[0]);
    hpcw_error err;
    (void)snprintf(r.fs.type, sizeof r.fs.type, "tmpfs");
    assert_int_equal(bench_results_advise(&r, &err), HPCW_OK);
    assert_non_null(
        strstr(r.verdict.text, "this job writes 100.0 MB/s to memory if files are aligned to 4 KiB"));
    bench_results_free(&r);
}

/* With fewer than five runs of a point there is only a verdict, which says how to get more runs. */
static void too_few_runs_say_nothing(void **state) {
    (void)state;
    const struct bench_point p[] = {point_of(BENCH_SION_ALIGNED, BENCH_FSYNC, 4096, fast, 5),
                                    point_of(BENCH_SION_SHIFTED, BENCH_FSYNC, 4096, far, 4),
                                    point_of(BENCH_SION_ALIGNED, BENCH_FSYNC, 1048576, slow, 4)};
    struct bench_results r = results_of(p, sizeof p / sizeof p[0]);
    hpcw_error err;
    assert_int_equal(r.advices, 0);
    assert_string_equal(r.verdict.text,
                        WHERE "nothing can be said: too few runs of a point (expected 5 or more, "
                              "got 4); use --repeat 5");
    r.repeat = 6;
    assert_int_equal(bench_results_advise(&r, &err), HPCW_OK);
    assert_non_null(strstr(r.verdict.text, "got 4); use --budget 20m"));
    (void)snprintf(r.stopped, sizeof r.stopped, "not ended");
    assert_int_equal(bench_results_advise(&r, &err), HPCW_OK);
    assert_string_equal(r.verdict.text, "The sweep was not ended, and this is of 13 of its 18 runs: " WHERE
                                        "nothing can be said: too few runs of a point (expected 5 or more, got "
                                        "4); go on with --resume");
    bench_results_free(&r);
}

/* With fewer than two points to choose from, the verdict gives the reason. It advises more time if the budget was
 * the reason. */
static void one_choice_says_why(void **state) {
    (void)state;
    for (size_t count = 2; count <= 3; count++) {
        struct bench_point p[3] = {point_of(BENCH_SION_ALIGNED, BENCH_FSYNC, 4096, fast, 5),
                                   point_of(BENCH_SION_SHIFTED, BENCH_FSYNC, 4096, other, 5)};
        if (count == 3) {
            p[2] = point_of(BENCH_TASK_LOCAL, BENCH_FSYNC, 0, other, 5);
            p[2].fate = BENCH_FAILED;
            (void)snprintf(p[2].reason, sizeof p[2].reason, "no space");
        }
        struct bench_results r = results_of(p, count);
        assert_non_null(strstr(r.verdict.text, count == 2
                                                   ? "got 1; name more with --layout, --blocksize or --files"
                                                   : " was not measured: no space"));
        assert_null(strstr(r.verdict.text, "--budget"));
        if (count == 3) {
            hpcw_error err;
            r.point[2].fate = BENCH_LEFT_OUT;
            (void)snprintf(r.point[2].reason, sizeof r.point[2].reason, "%s2 min is too small for it",
                           bench_results_budget);
            for (size_t k = 0; k < 5; k++) {
                r.point[0].trial[k].others = r.point[1].trial[k].others = 0;
            }
            assert_int_equal(bench_results_advise(&r, &err), HPCW_OK);
            assert_non_null(strstr(r.verdict.text, "2 min is too small for it; use --budget 20m"));
            for (size_t k = 0; k < 5; k++) {
                r.point[0].trial[k].others = r.point[1].trial[k].others = 1.9;
            }
            assert_int_equal(bench_results_advise(&r, &err), HPCW_OK);
            assert_non_null(strstr(r.verdict.text,
                                   "; other programs kept 1.9 processors busy: repeat it without "
                                   "them, or use --budget 20m"));
        }
        bench_results_free(&r);
    }
}

/* Points that are too short or too small are in no comparison and no verdict. */
static void small_points_prove_nothing(void **state) {
    (void)state;
    struct bench_point p[] = {point_of(BENCH_SION_ALIGNED, BENCH_FSYNC, 4096, fast, 5),
                              point_of(BENCH_TASK_LOCAL, BENCH_FSYNC, 0, slow, 5),
                              point_of(BENCH_SHARED_POSIX, BENCH_FSYNC, 0, slow, 5)};
    struct bench_results r = results_of(p, 3);
    hpcw_error err;
    assert_float_equal(r.point[0].seconds, 0.010, 1e-9);
    assert_string_equal(r.verdict.text, WHERE "this job writes 100.0 MB/s if files are aligned to 4 KiB");
    r.limits.least_ns = 15 * MS;
    assert_false(bench_results_counts(&r, &r.point[0]));
    assert_true(bench_results_counts(&r, &r.point[1]));
    assert_int_equal(bench_results_advise(&r, &err), HPCW_OK);
    assert_null(strstr(r.verdict.text, "sion-aligned/"));
    r.limits.least_bytes = 1000001;
    assert_false(bench_results_counts(&r, &r.point[1]));
    assert_int_equal(bench_results_advise(&r, &err), HPCW_OK);
    assert_int_equal(r.advices, 0);
    assert_string_equal(r.verdict.text,
                        WHERE "nothing can be said: 3 points are too small (below 976.6 KiB or 15.0 ms); "
                              "use a larger --per-rank");
    /* Not the budget but the free space of the disk limits a run to 4 MB. So the verdict advises more data and
     * more space. */
    r.limits.max_bytes = 4000000;
    r.fs.free_bytes = 4000000;
    r.machine.memory = 80000000;
    assert_int_equal(bench_results_advise(&r, &err), HPCW_OK);
    assert_non_null(strstr(r.verdict.text, "; use a larger --per-rank and a directory with more free space"));
    r.limits.max_bytes = 1000000;
    assert_int_equal(bench_results_advise(&r, &err), HPCW_OK);
    assert_non_null(strstr(r.verdict.text, "; use a larger --per-rank and a larger --max-bytes"));
    bench_results_free(&r);
}

/* Of a long path, a verdict shows the end, from the first whole character on. Of several hosts, it shows their
 * number. */
static void a_verdict_says_where(void **state) {
    (void)state;
    struct bench_results r = {.fs.type = "lustre", .hosts = 4, .host = "node1", .time = "2026-11-29T10:00:00Z"};
    struct bench_advice a = {0};
    for (size_t i = 0; i < 150; i++) {
        memcpy(r.directory + 2 * i, "\u00fc", 2);
    }
    r.directory[300] = 'e';
    bench_advice_where(&a, &r);
    assert_memory_equal(a.text, "On ...\u00fc", 8);
    assert_int_equal(strlen(a.text), strlen("On ...") + 199 + strlen(" (lustre, 4 hosts, 2026-11-29) "));
    assert_non_null(strstr(a.text, "\u00fce (lustre, 4 hosts, 2026-11-29) "));
}

/* The sentence on creating and opening files gives a factor if a difference is significant, and a range if the
 * runs scatter. */
static void metadata_follows_the_rule(void **state) {
    (void)state;
    static const struct {
        const uint64_t *files, *container;
        const char *created;
    } row[] = {{slow, fast, "created 2.0 times as fast (2.0 to 2.0) and opened 2.0 times as fast (2.0 to 2.0)"},
               {uneven, fast, "created 140 times as fast (130 to 150) and opened "},
               {fast, fast, "created as fast, within the noise and opened as fast, within the noise"},
               {wide, other, "created 0."}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct bench_results r = {.fs.type = "ext4",
                                  .directory = "/scratch",
                                  .host = "node1",
                                  .hosts = 1,
                                  .time = "2026-11-29T10:00:00Z",
                                  .metadatas = 2,
                                  .metadata = hpcw_i_calloc(2, sizeof *r.metadata)};
        assert_non_null(r.metadata);
        for (size_t side = 0; side < 2; side++) {
            struct bench_metadata *m = &r.metadata[side];
            *m = (struct bench_metadata){.layout = side == 0 ? BENCH_TASK_LOCAL : BENCH_SION_ALIGNED,
                                         .tasks = 64,
                                         .trials = 5,
                                         .trial = hpcw_i_calloc(5, sizeof *m->trial)};
            assert_non_null(m->trial);
            for (uint32_t k = 0; k < 5; k++) {
                const uint64_t ns = (side == 0 ? row[i].files : row[i].container)[k] * MS;
                m->trial[k] = (struct bench_metadata_trial){.repetition = k + 1, .ns = {ns, ns, ns, ns}};
            }
        }
        assert_int_equal(bench_metadata_conclude(&r, NULL), HPCW_OK);
        assert_non_null(strstr(r.verdict.text, row[i].created));
        if (row[i].files == wide) {
            double low, high;
            const char *opened = strstr(r.verdict.text, "opened ");
            assert_non_null(opened);
            assert_int_equal(sscanf(opened, "opened %lf to %lf times as fast (noisy)", &low, &high), 2);
            assert_true(low < 1 && 1.25 < high);
            assert_string_equal(strstr(opened, "; "), "; use a larger --repeat");
        }
        bench_results_free(&r);
    }
}

static void failed_points_prove_nothing(void **state) {
    (void)state;
    struct bench_point p[] = {point_of(BENCH_SION_ALIGNED, BENCH_FSYNC, 4096, fast, 5),
                              point_of(BENCH_SION_SHIFTED, BENCH_FSYNC, 4096, slow, 5)};
    p[1].fate = BENCH_FAILED;
    hpcw_error err;
    assert_int_equal(bench_results_rate(&p[1], &err), HPCW_OK);
    struct bench_results r = results_of(p, 2);
    assert_int_equal(r.advices, 0);
    bench_results_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_of_a_point),
        cmocka_unit_test(modes_have_their_rates),
        cmocka_unit_test(one_rule_decides_all),
        cmocka_unit_test(cached_reading_is_told),
        cmocka_unit_test(differences_are_told),
        cmocka_unit_test(a_run_that_was_held_up_changes_nothing),
        cmocka_unit_test(verdicts_are_right),
        cmocka_unit_test(short_rounds_serve_better),
        cmocka_unit_test(equal_points_are_called_equal),
        cmocka_unit_test(the_plan_says_what_shows),
        cmocka_unit_test(noise_is_reported),
        cmocka_unit_test(what_is_known_comes_first),
        cmocka_unit_test(memory_is_no_disk),
        cmocka_unit_test(too_few_runs_say_nothing),
        cmocka_unit_test(one_choice_says_why),
        cmocka_unit_test(a_verdict_says_where),
        cmocka_unit_test(failed_points_prove_nothing),
        cmocka_unit_test(small_points_prove_nothing),
        cmocka_unit_test(metadata_follows_the_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
