/* SPDX-License-Identifier: BSD-3-Clause */
/* vt's specification files (doc/formats/vom.md, "Specification file"): the phases that they enable, and invalid
 * files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/vom.h>

#include "tests/support/faults.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* `on` has the enabled phases below 320, as closed ranges. */
static void phases(void **state) {
    (void)state;
    static const struct {
        const char *text;
        hpcw_vom_range on[8];
        size_t count;
    } rows[] = {
        /* The example in vt's own header. */
        {"0 0 10\n%100 -3 3\n200 -5 5\n", {{0, 10}, {97, 103}, {195, 205}, {297, 303}}, 4},
        {"%100 -3 3", {{0, 3}, {97, 103}, {197, 203}, {297, 303}}, 4},
        {"5\n7 0\n9 -1", {{5, 5}, {7, 9}}, 2},
        {"  %  150\t-0  1 \r\n\n\n 10 -20 2\n", {{0, 12}, {150, 151}, {300, 301}}, 3},
        {"%10 -10 0\n", {{0, 319}}, 1},
        {"%1\n", {{0, 319}}, 1},
        {"3\n%3\n", {{0, 0}, {3, 3}}, 0}, /* multiples of 3 are checked below */
        {"", {{0, 0}}, 0},
        {"9223372036854775807 -9223372036854775807 0", {{0, 319}}, 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        hpcw_vom_spec *spec = NULL;
        hpcw_error err;
        if (hpcw_vom_spec_parse("spec", rows[i].text, strlen(rows[i].text), &spec, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        for (uint64_t phase = 0; phase < 320; phase++) {
            bool want = strncmp(rows[i].text, "3\n", 2) == 0 && phase % 3 == 0;
            for (size_t k = 0; k < rows[i].count; k++) {
                want = want || (phase >= rows[i].on[k].first && phase <= rows[i].on[k].last);
            }
            if (hpcw_vom_spec_on(spec, phase) != want) {
                fail_msg("row %zu, phase %u: expected %d", i, (unsigned)phase, want);
            }
        }
        hpcw_vom_spec_free(spec);
    }
    assert_true(hpcw_vom_spec_on(NULL, 12345));
}

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } rows[] = {
        {"x", "spec, line 1: expected a phase number, got \"x\""},
        {"1\n\n-2 0 0\n", "spec, line 3: expected a phase number, got \"-2 0 0\""},
        {"%", "expected the phase number of a rule for multiples, from 1 on, got \"\""},
        {"%0 0 0", "expected the phase number of a rule for multiples"},
        {"10 5 5", "line 1: expected a first offset of at most 0"},
        {"10 -x 5", "expected a first offset"},
        {"10 - 5", "expected a first offset"},
        {"10 -5 -5", "expected a second offset of at least 0, got \"-5\""},
        {"10 -5 5 5", "expected the end of the line, got \"5\""},
        {"10,5", "expected a phase number"},
        {"9223372036854775808", "expected a phase number"},
        {"99999999999999999999999", "expected a phase number"},
        {"10 0 0\n%5\n10 -1 1\n", "expected one rule for each number, got 10 twice"},
        {"%10\n10\n%10 -1 1\n", "expected one rule for each number, got %10 twice"},
    };
    hpcw_error err;
    for (size_t i = 0; i < COUNT(rows); i++) {
        hpcw_vom_spec *spec = (hpcw_vom_spec *)&err;
        assert_int_equal(hpcw_vom_spec_parse("spec", rows[i].text, strlen(rows[i].text), &spec, &err),
                         HPCW_EFORMAT);
        assert_null(spec);
        if (strstr(err.message, rows[i].message) == NULL) {
            fail_msg("expected \"%s\" in \"%s\"", rows[i].message, err.message);
        }
    }
    hpcw_vom_spec *spec = NULL;
    assert_int_equal(hpcw_vom_spec_parse("spec", "1\0", 2, &spec, &err), HPCW_EFORMAT);
    assert_int_equal(hpcw_vom_spec_parse("spec", NULL, 1, &spec, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_vom_spec_parse(NULL, "1", 1, &spec, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_vom_spec_parse("spec", "1", 1, NULL, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_vom_spec_parse("spec", NULL, 0, &spec, &err), HPCW_OK);
    hpcw_vom_spec_free(spec);
    hpcw_vom_spec_free(NULL);
}

static void no_memory(void **state) {
    (void)state;
    unsigned long n = 0;
    for (bool met = true; met;) {
        hpcw_vom_spec *spec = NULL;
        hpcw_error err;
        fault_arm(FAULT_NOMEM, ++n);
        hpcw_status s = hpcw_vom_spec_parse("spec", "1\n2\n", 4, &spec, &err);
        met = fault_disarm();
        assert_int_equal(s, met ? HPCW_ENOMEM : HPCW_OK);
        hpcw_vom_spec_free(spec);
    }
    assert_true(n > 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases),
        cmocka_unit_test(refused),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests_name("vom_spec", tests, NULL, NULL);
}
