/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ui/page/raster.h"

static void small_matrices_stay_as_they_are(void **state) {
    (void)state;
    struct ui_raster r;
    assert_int_equal(ui_raster_init(&r, 3, 2, 512, UI_REDUCE_MAX, NULL), HPCW_OK);
    assert_int_equal(r.width, 3);
    assert_int_equal(r.height, 2);
    ui_raster_add(&r, 2, 1, -5);
    ui_raster_add(&r, 0, 0, 7);
    ui_raster_add(&r, 1, 0, NAN);
    ui_raster_finish(&r);
    assert_true(r.cell[0] == 7);
    assert_true(isnan(r.cell[1]));
    assert_true(r.cell[5] == -5); /* negative, so an empty cell must not count as 0 */
    char said[96];
    assert_string_equal(ui_raster_said(&r, said), "");
    ui_raster_free(&r);
}

/* 10 columns in at most 4 cells: 3 in each, one in the last. */
static void values_are_reduced_by_cells_of_one_size(void **state) {
    (void)state;
    static const double want[][4] = {
        [UI_REDUCE_MAX] = {2, 5, 8, 9}, [UI_REDUCE_MEAN] = {1, 4, 7, 9}, [UI_REDUCE_SUM] = {3, 12, 21, 9}};
    for (int how = UI_REDUCE_MAX; how <= UI_REDUCE_SUM; how++) {
        struct ui_raster r;
        assert_int_equal(ui_raster_init(&r, 10, 1, 4, (enum ui_reduce)how, NULL), HPCW_OK);
        assert_int_equal(r.width, 4);
        assert_int_equal(r.span_x, 3);
        for (uint64_t x = 0; x < 10; x++) {
            ui_raster_add(&r, x, 0, (double)x);
        }
        ui_raster_finish(&r);
        for (size_t i = 0; i < 4; i++) {
            assert_true(r.cell[i] == want[how][i]);
        }
        ui_raster_free(&r);
    }
}

static void one_large_value_of_many_stays_visible(void **state) {
    (void)state;
    struct ui_raster r;
    assert_int_equal(ui_raster_init(&r, 1000000, 1000000, UI_RASTER_MAX, UI_REDUCE_MAX, NULL), HPCW_OK);
    assert_true(r.width <= UI_RASTER_MAX && r.height <= UI_RASTER_MAX);
    for (uint64_t x = 0; x < 1000000; x++) {
        ui_raster_add(&r, x, 999999, x == 777777 ? 100 : 1);
    }
    ui_raster_finish(&r);
    size_t large = 0;
    for (uint32_t x = 0; x < r.width; x++) {
        double v = r.cell[(size_t)(r.height - 1) * r.width + x];
        assert_true(v == 1 || v == 100);
        large += v == 100;
    }
    assert_int_equal(large, 1);
    char said[96];
    assert_string_equal(ui_raster_said(&r, said), "each cell is the largest of 1954 x 1954 values");
    ui_raster_free(&r);
}

static void nothing_is_refused(void **state) {
    (void)state;
    struct ui_raster r;
    assert_int_equal(ui_raster_init(&r, 0, 5, 4, UI_REDUCE_MAX, NULL), HPCW_EINVAL);
    assert_int_equal(ui_raster_init(&r, 5, 0, 4, UI_REDUCE_MAX, NULL), HPCW_EINVAL);
    assert_int_equal(ui_raster_init(&r, 5, 5, 0, UI_REDUCE_MAX, NULL), HPCW_EINVAL);
    ui_raster_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_matrices_stay_as_they_are),
        cmocka_unit_test(values_are_reduced_by_cells_of_one_size),
        cmocka_unit_test(one_large_value_of_many_stays_visible),
        cmocka_unit_test(nothing_is_refused),
    };
    return cmocka_run_group_tests_name("raster", tests, NULL, NULL);
}
