/* SPDX-License-Identifier: BSD-3-Clause */
/* A result does not depend on who wrote it: any ownership, number of processes and division in parts gives the
 * same bytes. Parameters that differ between processes are refused by all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "tests/support/linktest_cases.h"
#include "tests/support/world.h"

enum { MOST_TASKS = 64, MOST_PERMUTATIONS = 4, REFERENCE = SPREADS, PARTS, REFUSED, FOLDERS };

static void path_in(int folder, const char *name, char *path, size_t size) {
    (void)snprintf(path, size, "%s/%d/%s", scratch, folder, name);
}

static bool same_files(const struct linktest_case *c, const char *want_base, const char *got_base) {
    bool same = true;
    for (uint32_t f = 0; f < c->params.files; f++) {
        char want[600];
        char got[600];
        name_of_file(want, sizeof want, want_base, f);
        name_of_file(got, sizeof got, got_base, f);
        same = same_file(want, got) && same;
    }
    return same;
}

/* Process 0 alone writes the result. The figures (smallest and largest timing, and so on) are sent to all
 * processes. */
static void write_reference(const struct linktest_case *c, const char *path, hpcw_linktest_range *figures) {
    hpcw_error err = {.message = ""};
    hpcw_status s = HPCW_OK;
    bool refuses;
    if (process == 0) {
        s = linktest_case_write(c, NULL, path, NULL, c->params.tasks, NULL, figures, &refuses, &err);
        if (s != HPCW_OK) {
            print_error("%s: %s\n", c->name, err.message);
        }
    }
    assert_true(on_all(s == HPCW_OK));
    MPI_Bcast(figures, (int)(MOST_PERMUTATIONS * sizeof *figures), MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void ownership_does_not_matter(void **state) {
    (void)state;
    for (unsigned i = 0; i < linktest_case_count; i++) {
        const struct linktest_case *c = &linktest_cases[i];
        hpcw_linktest_range want[MOST_PERMUTATIONS] = {{0}};
        char reference[512];
        path_in(REFERENCE, c->name, reference, sizeof reference);
        write_reference(c, reference, want);
        for (int spread = 0; spread < SPREADS; spread++) {
            char path[512];
            uint32_t ranks[MOST_TASKS];
            hpcw_linktest_range figures[MOST_PERMUTATIONS] = {{0}};
            hpcw_error err = {.message = ""};
            bool refuses;
            path_in(spread, c->name, path, sizeof path);
            uint32_t count = own_tasks((enum spread)spread, c->params.tasks, ranks);
            if (spread == PARITY && processes == 1) {
                continue;
            }
            hpcw_status s = linktest_case_write(c, NULL, path, world, count, spread == BLOCKS ? NULL : ranks,
                                                figures, &refuses, &err);
            if (s != HPCW_OK) {
                print_error("%s, spread %d, process %d: %s\n", c->name, spread, process, err.message);
            }
            assert_true(on_all(s == HPCW_OK));
            assert_true(on_all(refuses));
            assert_true(on_all(memcmp(figures, want, sizeof want) == 0));
            assert_true(same_files(c, reference, path));
        }
    }
}

/* ---- parts ---- */

/* Finds the slowest connections of a permutation by sorting all connections. */
static void slowest_of(const struct linktest_case *c, uint64_t m, hpcw_linktest_slow *slow) {
    static hpcw_linktest_slow all[MOST_TASKS * MOST_TASKS];
    const hpcw_linktest_params *p = &c->params;
    hpcw_linktest_schedule *schedule;
    uint32_t partner[MOST_TASKS];
    size_t n = 0;
    if (hpcw_linktest_schedule_new(p, m, &schedule, NULL) != HPCW_OK) {
        return;
    }
    for (uint32_t r = 0; r < p->tasks; r++) {
        linktest_case_partners(c, schedule, r, partner);
        for (uint32_t s = 0; s < hpcw_linktest_steps(p); s++) {
            uint64_t t = linktest_case_time(c, m, r, partner[s]);
            all[n++] = (hpcw_linktest_slow){t, c->retest ? linktest_case_retest(t) : t, r, partner[s]};
        }
    }
    hpcw_linktest_schedule_free(schedule);
    hpcw_linktest_sort_slow(all, n);
    memcpy(slow, all, (p->retests < p->tasks ? p->retests : p->tasks) * sizeof *slow);
}

/* Writes the files [first, first + files) of the case. `first` decides which process writes which tasks. */
static hpcw_status write_part(const struct linktest_case *c, const char *path, uint32_t first, uint32_t files,
                              hpcw_linktest_range *figures, hpcw_error *err) {
    hpcw_linktest_params p = c->params;
    p.set_first_file = first;
    p.set_files = files;
    uint32_t begin = hpcw_sion_first_task_of_file(p.tasks, p.files, first);
    uint32_t end = hpcw_sion_first_task_of_file(p.tasks, p.files, first + files);
    uint32_t ranks[MOST_TASKS];
    enum spread spread = first % 2 == 0 ? BLOCKS : BLOCK_LISTS;
    uint32_t count = own_tasks(spread, end - begin, ranks);
    for (uint32_t i = 0; i < count; i++) {
        ranks[i] += begin;
    }
    bool refuses;
    return linktest_case_write(c, &p, path, world, count, spread == BLOCKS ? NULL : ranks, figures, &refuses,
                               err);
}

/* Completes a result that was written in parts. times: figures over all parts, of each permutation. */
static void complete(const struct linktest_case *c, const char *path, const hpcw_linktest_range *times) {
    const hpcw_linktest_params *p = &c->params;
    static hpcw_linktest_slow slow[MOST_PERMUTATIONS][MOST_TASKS];
    hpcw_linktest_summary summary[MOST_PERMUTATIONS];
    char start[MOST_PERMUTATIONS][HPCW_LINKTEST_TIME_SIZE];
    char end[MOST_PERMUTATIONS][HPCW_LINKTEST_TIME_SIZE];
    for (uint64_t m = 0; m < hpcw_linktest_permutations(p); m++) {
        linktest_case_text(m, false, start[m], sizeof start[m]);
        linktest_case_text(m, true, end[m], sizeof end[m]);
        slowest_of(c, m, slow[m]);
        summary[m] = (hpcw_linktest_summary){start[m], end[m], times[m], {0, UINT64_MAX, 0, 0, 0}, slow[m]};
        for (uint32_t r = 0; r < p->tasks; r++) {
            uint64_t t = linktest_case_all_to_all(m, r);
            hpcw_linktest_range_merge(&summary[m].all_to_all, &(hpcw_linktest_range){1, t, t, t, 0});
        }
    }
    hpcw_error err = {.message = ""};
    hpcw_status s = HPCW_OK;
    if (process == 0) {
        /* The summaries are stored at an offset that depends on the length of the host name. A wrong length is
         * refused. */
        s = hpcw_linktest_complete(path, p, sizeof "node0" + 1, summary, &err) == HPCW_EFORMAT ? HPCW_OK
                                                                                               : HPCW_EINTERNAL;
        if (s == HPCW_OK) {
            s = hpcw_linktest_complete(path, p, sizeof "node0", summary, &err);
        }
        if (s != HPCW_OK) {
            print_error("%s: %s\n", c->name, err.message);
        }
    }
    assert_true(on_all(s == HPCW_OK));
}

static void parts_make_the_whole(void **state) {
    (void)state;
    static const uint32_t cuts[][4] = {{0, 1, 2, 3}, {0, 1, 3, 3}, {0, 2, 3, 3}, {0, 3, 3, 3}};
    for (unsigned i = 0; i < linktest_case_count; i++) {
        for (size_t k = 0; k < 4; k++) {
            struct linktest_case c = linktest_cases[i];
            if (c.params.tasks < 6) {
                continue;
            }
            c.params.files = 3;
            hpcw_linktest_range want[MOST_PERMUTATIONS] = {{0}};
            hpcw_linktest_range sum[MOST_PERMUTATIONS];
            char reference[512];
            char path[512];
            path_in(REFERENCE, c.name, reference, sizeof reference);
            path_in(PARTS, c.name, path, sizeof path);
            write_reference(&c, reference, want);
            for (uint64_t m = 0; m < MOST_PERMUTATIONS; m++) {
                sum[m] = (hpcw_linktest_range){.min_ps = UINT64_MAX};
            }
            for (size_t part = 3; part-- > 0;) { /* in any order, but the first file is last */
                if (cuts[k][part] == cuts[k][part + 1]) {
                    continue;
                }
                hpcw_linktest_range figures[MOST_PERMUTATIONS] = {{0}};
                hpcw_error err = {.message = ""};
                hpcw_status s =
                    write_part(&c, path, cuts[k][part], cuts[k][part + 1] - cuts[k][part], figures, &err);
                if (s != HPCW_OK) {
                    print_error("%s, process %d: %s\n", c.name, process, err.message);
                }
                assert_true(on_all(s == HPCW_OK));
                for (uint64_t m = 0; m < hpcw_linktest_permutations(&c.params); m++) {
                    hpcw_linktest_range_merge(&sum[m], &figures[m]);
                }
            }
            uint64_t n = hpcw_linktest_permutations(&c.params);
            assert_true(on_all(memcmp(sum, want, n * sizeof *sum) == 0));
            complete(&c, path, sum);
            assert_true(same_files(&c, reference, path));
            char dir[300];
            (void)snprintf(dir, sizeof dir, "%s/%d", scratch, PARTS);
            empty_directory(dir);
        }
    }
}

/* ---- refusals ---- */

static hpcw_status try_open(const hpcw_linktest_params *p, const char *path, hpcw_error *err) {
    hpcw_linktest *lt = (hpcw_linktest *)&lt; /* the open must set it to NULL */
    *err = (hpcw_error){.code = HPCW_OK, .message = ""};
    hpcw_status s = hpcw_linktest_open(path, world, p, &lt, err);
    if (s == HPCW_OK) {
        hpcw_linktest_free(lt);
    } else if (lt != NULL) {
        err->code = HPCW_OK; /* `lt` is not NULL: makes the test fail */
    }
    return s;
}

static void wrong_calls_fail_everywhere(void **state) {
    (void)state;
    char path[512];
    path_in(REFUSED, "x.sion", path, sizeof path);
    hpcw_linktest_params good;
    hpcw_linktest_params_init(&good);
    good.tasks = 2 * (uint32_t)processes;
    good.count = 2;
    hpcw_error err;
    for (int culprit = 0; culprit < processes; culprit++) {
        bool me = process == culprit;
        hpcw_linktest_params p = good;
        p.messages = me ? 0 : 1;
        assert_true(on_all(try_open(&p, path, &err) == HPCW_EINVAL));
        assert_true(same_verdict(HPCW_EINVAL, &err));
        assert_int_equal(err.process, culprit);
        p = good;
        p.count = me ? 1 : 2;
        assert_true(on_all(try_open(&p, path, &err) == HPCW_EMISMATCH));
        assert_true(same_verdict(HPCW_EMISMATCH, &err));

        hpcw_linktest *lt;
        assert_true(on_all(hpcw_linktest_open(path, world, &good, &lt, &err) == HPCW_OK));
        uint64_t time[2 * 64];
        for (uint32_t s = 0; s + 1 < good.tasks; s++) {
            time[s] = 1 + s;
        }
        uint32_t first = hpcw_linktest_first_rank(lt);
        bool ok = hpcw_linktest_task(lt, first, "n", 0, &err) == HPCW_OK;
        ok = ok && hpcw_linktest_task(lt, first + 1, "n", 1, &err) == HPCW_OK;
        ok = ok && hpcw_linktest_timings(lt, first, time, NULL, 0, &err) == HPCW_OK;
        ok = ok && (me || hpcw_linktest_timings(lt, first + 1, time, NULL, 0, &err) == HPCW_OK);
        assert_true(on_all(ok));
        /* The timings of one task are missing. */
        hpcw_status s = hpcw_linktest_end_permutation(lt, "s", "t", NULL, &err);
        assert_true(on_all(s == HPCW_ESTATE));
        assert_true(same_verdict(s, &err));
        assert_int_equal(err.process, culprit);
        ok = !me || hpcw_linktest_timings(lt, first + 1, time, NULL, 0, &err) == HPCW_OK;
        assert_true(on_all(ok));
        hpcw_linktest_slow slow[64];
        size_t n;
        s = hpcw_linktest_slowest(lt, me ? NULL : slow, &n, &err);
        assert_true(on_all(s == HPCW_EINVAL));
        assert_true(same_verdict(s, &err));
        s = hpcw_linktest_end_permutation(lt, "s", me ? "r" : "t", NULL, &err);
        assert_true(on_all(s == HPCW_EINVAL));
        assert_true(same_verdict(s, &err));
        /* The refusals above have broken nothing. */
        assert_true(on_all(hpcw_linktest_end_permutation(lt, "s", "t", NULL, &err) == HPCW_OK));
        assert_true(on_all(hpcw_linktest_close(lt, &err) == HPCW_OK));
        hpcw_linktest_free(lt);
    }
}

int main(int argc, char **argv) {
    world_begin(&argc, &argv, FOLDERS);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ownership_does_not_matter),
        cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(wrong_calls_fail_everywhere),
    };
    return world_end(cmocka_run_group_tests(tests, NULL, NULL));
}
