/* SPDX-License-Identifier: BSD-3-Clause */
/* Each system call and each allocation in the life of a file fails once. Expected after each failure: the right
 * status, a message with the path, no file with the final name, no temporary file, and no open descriptor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/counter_cases.h"
#include "tests/support/faults.h"
#include "tests/support/files.h"

static hpcw_status live(const char *path, hpcw_error *err) {
    hpcw_counter_options o;
    hpcw_counter_options_init(&o);
    o.count = 3;
    o.durability = HPCW_SYNC_DIRECTORY;
    return counter_case_write(path, NULL, &o, err);
}

/* Returns whether the failure occurred. */
static bool fail_call(enum fault fault, unsigned long n) {
    char dir[256];
    char path[300];
    scratch_make(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/a.counter", dir);
    hpcw_error err = {.message = ""};
    int descriptors = count_descriptors();
    fault_arm(fault, n);
    hpcw_status s = live(path, &err);
    bool met = fault_disarm();
    assert_int_equal(count_descriptors(), descriptors);
    bool fails = met && !fault_is_harmless(fault);
    if (s != (fails ? fault_status(fault) : HPCW_OK) || (fails && !good_message(s, &err, path))) {
        fail_msg("%s, call %lu: status %d: %s", fault_name(fault), n, (int)s, err.message);
    }
    assert_int_equal(count_entries(dir), !fails || is_late_failure(&err, path));
    scratch_remove(dir);
    return met;
}

static void every_call_fails_once(void **state) {
    (void)state;
    for (int fault = 0; fault < FAULTS; fault++) {
        unsigned long n = 1;
        while (fail_call((enum fault)fault, n)) {
            n++;
        }
        assert_true(n > 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_call_fails_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
