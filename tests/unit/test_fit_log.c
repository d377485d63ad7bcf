/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fit learns from event logs of a few ranks, which the generator does not make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gen/fit/log_grid.h"

static void add_pair(struct hpcw_i_table *pair, uint32_t a, uint32_t b) {
    for (int back = 0; back < 2; back++) {
        uint64_t *times =
            hpcw_i_table_add(pair, back ? (const uint64_t[]){b, a} : (const uint64_t[]){a, b}, NULL);
        assert_non_null(times);
        *times = 10;
    }
}

/* Ranks in a row, in a ring, in a sheet and in a box. */
static void grids(void **state) {
    (void)state;
    static const struct gen_fit_log_grid usual = {2, false};
    static const struct {
        uint32_t ranks, side[3]; /* the last one changes fastest */
        struct gen_fit_log_grid grid;
    } rows[] = {
        {2, {2, 1, 1}, {2, false}},  {4, {4, 1, 1}, {1, false}}, {6, {6, 1, 1}, {1, true}},
        {12, {4, 3, 1}, {2, false}}, {12, {4, 3, 1}, {2, true}}, {24, {4, 3, 2}, {3, false}},
        {125, {5, 5, 5}, {3, true}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct hpcw_i_table pair = {.key_words = 2, .value_size = 8, .seed = 1};
        const uint32_t step[3] = {rows[i].side[1] * rows[i].side[2], rows[i].side[2], 1};
        for (uint32_t r = 0; r < rows[i].ranks; r++) {
            for (int d = 0; d < 3; d++) {
                const uint32_t side = rows[i].side[d];
                const uint32_t at = r / step[d] % side;
                if (at + 1 < side) {
                    add_pair(&pair, r, r + step[d]);
                } else if (rows[i].grid.periodic && side > 1) {
                    add_pair(&pair, r, r - at * step[d]);
                }
            }
        }
        const struct gen_fit_log_grid got = gen_fit_log_grid(&pair, rows[i].ranks, 10, usual);
        print_message("row %zu: %u dimensions, %s\n", i, got.dims, got.periodic ? "periodic" : "open");
        assert_int_equal(got.dims, rows[i].grid.dims);
        assert_int_equal(got.periodic, rows[i].grid.periodic);
        hpcw_i_table_free(&pair);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
