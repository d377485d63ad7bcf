/* SPDX-License-Identifier: BSD-3-Clause */
/* The fold below every open, also with so many processes that its tree has more than one level. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libwriter/comm/comm.h"
#include "tests/support/world.h"

/* A record as a fold has it: how many processes it stands for, and their numbers as digits: the order shows. */
static void append_number(uint64_t *left, const uint64_t *right) {
    for (int i = 0; i < 2; i++) { /* scanned words, and the words behind them */
        uint64_t power = 1;
        for (uint64_t k = 0; k < right[2 * i]; k++) {
            power *= 101;
        }
        left[2 * i + 1] = left[2 * i + 1] * power + right[2 * i + 1];
        left[2 * i] += right[2 * i];
    }
}

/* Words past those that are used travel all the same. */
static void folds(void **state) {
    (void)state;
    static const struct hpcw_i_fold kind[] = {{4, 4, 4, append_number},
                                              {4, 2, 2, append_number},
                                              {4, 4, 2, append_number},
                                              {HPCW_I_FOLD_WORDS, 4, 4, append_number},
                                              {4, 4, 0, append_number}};
    bool good = true;
    for (size_t k = 0; k < sizeof kind / sizeof kind[0]; k++) {
        uint64_t own = (uint64_t)process % 100 + 1;
        uint64_t record[HPCW_I_FOLD_WORDS] = {1, own, 1, own + 1};
        uint64_t below[HPCW_I_FOLD_WORDS] = {0};
        uint64_t want[2][4] = {{0}, {0}};
        for (int p = 0; p < processes; p++) {
            uint64_t number = (uint64_t)p % 100 + 1;
            uint64_t one[4] = {1, number, 1, number + 1};
            append_number(want[0], one);
            if (p < process) {
                append_number(want[1], one);
            }
        }
        struct hpcw_i_fold fold = kind[k];
        good = good && hpcw_i_comm_fold(world, &fold, record, below, NULL) == HPCW_OK;
        good = good && memcmp(record, want[0], fold.told * sizeof *record) == 0;
        good = good && memcmp(below, want[1], fold.scanned * sizeof *below) == 0;
        good = good && (fold.scanned > 2 || below[2] == 0);
    }
    assert_true(on_all(good));
}

static void too_many_words(void **state) {
    (void)state;
    const struct hpcw_i_fold fold = {HPCW_I_FOLD_WORDS + 1, 1, 1, append_number};
    uint64_t record[HPCW_I_FOLD_WORDS + 1] = {0};
    assert_true(on_all(hpcw_i_comm_fold(world, &fold, record, record, NULL) == HPCW_EINTERNAL));
}

int main(int argc, char **argv) {
    world_begin(&argc, &argv, 0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(folds), cmocka_unit_test(too_many_words)};
    return world_end(cmocka_run_group_tests(tests, NULL, NULL));
}
