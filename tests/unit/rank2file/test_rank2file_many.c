/* SPDX-License-Identifier: BSD-3-Clause */
/* Maintenance of a prefix with many datasets: how often it reads the directory .scr and the index, which have an
 * entry for each dataset. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reindex_lists_once, prefix_begin, prefix_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
