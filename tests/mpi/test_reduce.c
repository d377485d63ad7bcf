/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the combined reduction and scan that every open uses. 11 processes make a tree of several levels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libwriter/comm/reduce.h"
#include "tests/support/faults.h"
#include "tests/support/world.h"

/* A record has the number of processes that it combines, and a number to base 101. The number has a digit for each
 * process, in the order in which the records were combined. */
static void append_number(uint64_t *left, const uint64_t *right) {
    uint64_t power = 1;
    for (uint64_t k = 0; k < right[0]; k++) {
        power *= 101;
    }
    left[1] = left[1] * power + right[1];
    left[0] += right[0];
}

/* The operation changes only the first two words. The others must be those of the lowest process, 0. */
static void reduces_and_scans(void **state) {
    (void)state;
    bool good = true;
    for (size_t words = 2; words <= HPCW_I_SCAN_WORDS; words++) {
        uint64_t record[HPCW_I_SCAN_WORDS] = {1, (uint64_t)process % 100 + 1};
        uint64_t below[HPCW_I_SCAN_WORDS] = {0};
        uint64_t want_all[HPCW_I_SCAN_WORDS] = {0};
        uint64_t want_below[HPCW_I_SCAN_WORDS] = {0};
        for (size_t i = 2; i < words; i++) {
            record[i] = (uint64_t)process + i;
            want_all[i] = i;
            want_below[i] = process > 0 ? i : 0;
        }
        for (int p = 0; p < processes; p++) {
            const uint64_t one[2] = {1, (uint64_t)p % 100 + 1};
            append_number(want_all, one);
            if (p < process) {
                append_number(want_below, one);
            }
        }
        good = good && hpcw_i_comm_reduce_scan(world, record, below, words, append_number, NULL) == HPCW_OK;
        good = good && memcmp(record, want_all, sizeof record) == 0;
        good = good && memcmp(below, want_below, sizeof below) == 0;
    }
    assert_true(on_all(good));
}

static void too_many_words(void **state) {
    (void)state;
    uint64_t record[HPCW_I_SCAN_WORDS + 1] = {0};
    hpcw_status s = hpcw_i_comm_reduce_scan(world, record, record, HPCW_I_SCAN_WORDS + 1, append_number, NULL);
    assert_true(on_all(s == HPCW_EINTERNAL));
}

/* With a communicator of callbacks, each process gathers all records. One has no memory for them: all learn of it,
 * and none waits. */
static void without_memory(void **state) {
    (void)state;
    if (!world_of_callbacks() || processes == 1) {
        skip();
    }
    for (int culprit = 0; culprit < processes; culprit++) {
        uint64_t record[2] = {1, 1}, below[2];
        hpcw_error err = {.message = ""};
        fault_arm(FAULT_NOMEM, process == culprit ? 1 : 0);
        hpcw_status s = hpcw_i_comm_reduce_scan(world, record, below, 2, append_number, &err);
        (void)fault_disarm();
        assert_true(on_all(s == HPCW_ENOMEM));
        assert_true(same_verdict(s, &err));
    }
}

int main(int argc, char **argv) {
    world_begin(&argc, &argv, 0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(reduces_and_scans), cmocka_unit_test(too_many_words),
                                       cmocka_unit_test(without_memory)};
    return world_end(cmocka_run_group_tests(tests, NULL, NULL));
}
