/* SPDX-License-Identifier: BSD-3-Clause */
/* Maintenance of a prefix with many datasets: how often it reads the directory .scr and the index, which have an
 * entry for each dataset. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/rank2file.h>

#include "libwriter/io/sys.h"
#include "tests/support/files.h"
#include "tests/support/prefix.h"

#define OK(call) assert_int_equal(call, HPCW_OK)

static unsigned long calls[HPCW_I_SYS_OWN + 1];

static int count_calls(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    calls[call]++;
    return 0;
}

/* Makes a new prefix with datasets 1 .. n. */
static void begin_with(hpcw_rank2file_layout layout, uint64_t n) {
    (void)prefix_end(NULL);
    (void)prefix_begin(NULL);
    for (uint64_t id = 1; id <= n; id++) {
        prefix_written(layout, id);
    }
    memset(calls, 0, sizeof calls);
}

/* Asserts that the number of calls for 4, 8 and 16 datasets grows by the same number for each dataset. */
static void assert_linear(const unsigned long number[3]) {
    assert_true(number[0] > 0);
    assert_int_equal(number[2] - number[1], 2 * (number[1] - number[0]));
}

/* Rebuilds a lost index. Each dataset has the same number of entries of .scr, and none of them is listed again for
 * each other dataset. */
static void reindex_lists_once(void **state) {
    (void)state;
    static const hpcw_rank2file_layout layout[] = {HPCW_RANK2FILE_SCR_1_2, HPCW_RANK2FILE_SCR_3,
                                                   HPCW_RANK2FILE_SHARED};
    for (size_t l = 0; l < sizeof layout / sizeof layout[0]; l++) {
        unsigned long entries[3];
        for (unsigned k = 0; k < 3; k++) {
            const uint64_t n = UINT64_C(4) << k;
            hpcw_rank2file_tally tally = {.added = 0};
            begin_with(layout[l], n);
            assert_int_equal(remove(in_prefix(".scr/index.scr")), 0);
            hpcw_i_sys_gate = count_calls;
            OK(hpcw_rank2file_reindex(prefix_dir, NULL, &tally, NULL));
            hpcw_i_sys_gate = NULL;
            assert_int_equal(tally.added, n);
            assert_int_equal(prefix_restarts(NULL), n);
            entries[k] = calls[HPCW_I_SYS_LIST];
        }
        assert_linear(entries);
    }
}

/* Returns the tally of a prune that keeps one dataset. Fails the test if a file or marker of datasets 1 .. n - 1
 * stays, except of `left`. */
static hpcw_rank2file_tally prune_but_one(hpcw_rank2file_layout layout, uint64_t n, uint64_t left) {
    hpcw_rank2file_tally tally = {.added = 0};
    hpcw_error err = {.message = ""};
    hpcw_i_sys_gate = count_calls;
    hpcw_status s = hpcw_rank2file_prune(prefix_dir, NULL, 1, NULL, &tally, &err);
    hpcw_i_sys_gate = NULL;
    if (s != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(prefix_listed(), left == 0 ? 1 : 2);
    for (uint64_t id = 1; id <= n; id++) {
        assert_true(prefix_exists(prefix_data_path(layout, id)) == (id == n || id == left));
        assert_false(prefix_exists(in_prefix(".scr/hpcw.%u.dropped", (unsigned)id)));
    }
    return tally;
}

/* One change of the index drops many datasets, and entries of .scr are not listed again for each of them. */
static void prune_changes_the_index_once(void **state) {
    (void)state;
    for (int layout = HPCW_RANK2FILE_SCR_1_1; layout <= HPCW_RANK2FILE_SHARED; layout++) {
        unsigned long entries[3];
        for (unsigned k = 0; k < 3; k++) {
            const uint64_t n = UINT64_C(4) << k;
            begin_with((hpcw_rank2file_layout)layout, n + 1);
            assert_int_equal(prune_but_one((hpcw_rank2file_layout)layout, n + 1, 0).removed, n);
            assert_int_equal(calls[HPCW_I_SYS_RENAME], 1);
            entries[k] = calls[HPCW_I_SYS_LIST];
        }
        assert_linear(entries);
    }
    begin_with(HPCW_RANK2FILE_SCR_3, 71);
    assert_int_equal(prune_but_one(HPCW_RANK2FILE_SCR_3, 71, 0).removed, 70);
    assert_int_equal(calls[HPCW_I_SYS_RENAME], 3); /* groups of 32, 32 and 6 */
}

/* A dataset that cannot be dropped stays, and no other one. */
static void prune_skips_one(void **state) {
    (void)state;
    enum { N = 21 };
    for (uint64_t left = 1; left < N; left += 6) {
        for (int intent = 0; intent < 2; intent++) {
            begin_with(HPCW_RANK2FILE_SCR_3, N);
            const char *file = intent == 1 ? in_prefix(".scr/hpcw.%u.dropped", (unsigned)left)
                                           : in_prefix(".scr/scr.dataset.%u/rank2file", (unsigned)left);
            assert_true(intent == 1 || unlink(file) == 0);
            assert_int_equal(mkdir(file, 0777), 0); /* no map, or no intent, can have this name */
            hpcw_rank2file_tally tally = {.added = 0};
            hpcw_error err = {.message = ""};
            hpcw_i_sys_gate = count_calls;
            OK(hpcw_rank2file_prune(prefix_dir, NULL, 1, NULL, &tally, &err));
            hpcw_i_sys_gate = NULL;
            assert_int_equal(tally.removed, N - 2);
            assert_int_equal(tally.skipped, 1);
            assert_int_equal(prefix_listed(), 2);
            for (uint64_t id = 1; id <= N; id++) {
                assert_true(prefix_exists(prefix_data_path(HPCW_RANK2FILE_SCR_3, id)) ==
                            (id == N || id == left));
            }
            assert_true(calls[HPCW_I_SYS_RENAME] <= 2); /* those before it, and those after it */
        }
    }
}

/* In SCR 1 two datasets may have one id, and so one name of an intent. */
static void prune_two_of_one_id(void **state) {
    (void)state;
    begin_with(HPCW_RANK2FILE_SCR_1_2, 3);
    hpcw_kvtree *index = prefix_read_index();
    hpcw_kvtree *names = hpcw_kvtree_get(hpcw_kvtree_get(hpcw_kvtree_get(index, "DSET"), "1"), "NAME");
    hpcw_kvtree *twin;
    OK(hpcw_kvtree_add(names, "twin", &twin, NULL));
    OK(hpcw_kvtree_merge(twin, hpcw_kvtree_get(names, "scr.dataset.1"), NULL));
    OK(hpcw_kvtree_add(hpcw_kvtree_get(index, "NAME"), "twin", &twin, NULL));
    OK(hpcw_kvtree_set(twin, "DSET", "1", NULL));
    prefix_write_index(index);
    assert_int_equal(prefix_listed(), 4);
    const hpcw_rank2file_tally tally = prune_but_one(HPCW_RANK2FILE_SCR_1_2, 3, 0);
    assert_int_equal(tally.removed, 3);
    assert_int_equal(tally.skipped, 0);
    assert_false(prefix_exists(in_prefix(".scr/scr.dataset.1")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reindex_lists_once, prefix_begin, prefix_end),
        cmocka_unit_test_setup_teardown(prune_changes_the_index_once, prefix_begin, prefix_end),
        cmocka_unit_test_setup_teardown(prune_skips_one, prefix_begin, prefix_end),
        cmocka_unit_test_setup_teardown(prune_two_of_one_id, prefix_begin, prefix_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
