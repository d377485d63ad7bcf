/* SPDX-License-Identifier: BSD-3-Clause */
/* Visibility of a fault: values computed by hand, and cases in which it is unknown. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen/spec/visibility.h"
#include "libwriter/base/buf.h"

static void test_by_hand(void **state) {
    (void)state;
    /* The peers are 1 .. 9: median 5, distances 0 1 1 2 2 3 3 4 4 with the median 2. */
    double value[] = {9, 1, 8, 2, 100, 7, 3, 6, 4, 5};
    const double sd = gen_visibility_sd(value, 10, 4);
    assert_true(fabs(sd - 95 / (1.4826 * 2)) < 1e-12);
}

static void test_a_second_fault_among_the_peers_changes_little(void **state) {
    (void)state;
    double value[] = {1e9, 1, 8, 2, 100, 7, 3, 6, 4, 5};
    assert_true(fabs(gen_visibility_sd(value, 10, 4) - 95 / (1.4826 * 2)) < 1e-12);
}

static void test_nobody_can_tell(void **state) {
    (void)state;
    double few[] = {1, 2, 3, 4, 5, 6, 7, 100};
    double equal[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 100};
    double unknown[] = {1, 2, 3, 4, 5, 6, 7, 8, NAN, 100};
    double itself[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, NAN};
    assert_true(isnan(gen_visibility_sd(few, 8, 7)));
    assert_true(isnan(gen_visibility_sd(equal, 10, 9)));
    assert_true(gen_visibility_sd(unknown, 10, 9) > 5);
    assert_true(isnan(gen_visibility_sd(itself, 10, 9)));
}

static void test_elements(void **state) {
    (void)state;
    struct hpcw_i_buf buf = {0};
    struct hpcw_i_json json;
    hpcw_i_json_open_buf(&json, &buf, NULL);
    hpcw_i_json_begin_array(&json);
    gen_visibility_put(&json, "vom", "vom/data.0.json", 12.345);
    gen_visibility_put(&json, "vom", "vom/data.1.json", NAN);
    gen_visibility_put_certain(&json, "rank2file", "scr/a",
                               (const char *const[]){"SCR 3.1.0", "accepts", NULL});
    hpcw_i_json_end_array(&json);
    assert_int_equal(hpcw_i_json_finish(&json, NULL), HPCW_OK);
    static const char expected[] = "[{\"format\":\"vom\",\"file\":\"vom/data.0.json\",\"sd\":12.3},"
                                   "{\"format\":\"vom\",\"file\":\"vom/data.1.json\",\"sd\":null},"
                                   "{\"format\":\"rank2file\",\"file\":\"scr/a\",\"certain\":true,"
                                   "\"readers\":{\"SCR 3.1.0\":\"accepts\"}}]";
    assert_int_equal(buf.size, sizeof expected - 1);
    assert_memory_equal(buf.data, expected, buf.size);
    hpcw_i_buf_free(&buf);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_a_second_fault_among_the_peers_changes_little),
        cmocka_unit_test(test_nobody_can_tell),
        cmocka_unit_test(test_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
