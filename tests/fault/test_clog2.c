/* SPDX-License-Identifier: BSD-3-Clause */
/* Every call of a log's life fails once; see the containers' test of the same kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "read/clog2.h"
#include "support/clog2_cases.h"
#include "support/faults.h"
#include "support/files.h"

static void fail_each_call(const struct clog2_case *c, enum fault fault, const unsigned char *want,
                           size_t want_size) {
    for (unsigned long n = 1;; n++) {
        char dir[256], path[512];
        scratch_make(dir, sizeof dir);
        (void)snprintf(path, sizeof path, "%s/app.clog2", dir);
        hpcw_error err = {.message = ""};
        int descriptors = count_descriptors();
        fault_arm(fault, n);
        hpcw_status s = clog2_case_write(c, path, 1, &err);
        bool met = fault_disarm();
        assert_int_equal(count_descriptors(), descriptors);
        if (met && !fault_is_harmless(fault)) {
            if (s != fault_status(fault) || !good_message(s, &err, path)) {
                fail_msg("%s, call %lu: status %d, \"%s\"", fault_name(fault), n, (int)s, err.message);
            }
            assert_int_equal(count_entries(dir), 0);
        } else {
            size_t size = 0;
            if (s != HPCW_OK) {
                fail_msg("%s, call %lu: %s", fault_name(fault), n, err.message);
            }
            unsigned char *got = read_file(path, &size);
            assert_non_null(got);
            assert_true(same_bytes(path, want, want_size, got, size));
            free(got);
            assert_int_equal(count_entries(dir), 1);
        }
        scratch_remove(dir);
        if (!met) {
            assert_true(n > 1);
            return;
        }
    }
}

static void every_call_fails_once(void **state) {
    (void)state;
    struct clog2_case c;
    clog2_case_make(&c, 2, 8000); /* two slices */
    assert_true(c.count > HPCW_CLOG2_SEGMENT);
    c.options.durability = HPCW_SYNC_DIRECTORY;
    char dir[256], path[512];
    scratch_make(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/app.clog2", dir);
    hpcw_error err;
    assert_int_equal(clog2_case_write(&c, path, 1, &err), HPCW_OK);
    size_t size;
    unsigned char *want = read_file(path, &size);
    assert_non_null(want);
    for (int fault = 0; fault < FAULTS; fault++) {
        fail_each_call(&c, (enum fault)fault, want, size);
    }
    free(want);
    scratch_remove(dir);
    clog2_case_free(&c);
}

/* Every allocation of the reader. */
static void reading_fails(void **state) {
    (void)state;
    struct clog2_case c;
    clog2_case_make(&c, 3, 50);
    char dir[256], path[512];
    scratch_make(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/app.clog2", dir);
    hpcw_error err;
    assert_int_equal(clog2_case_write(&c, path, 0, &err), HPCW_OK);
    bool met = true;
    for (unsigned long n = 1; met; n++) {
        struct hpcw_i_clog2_reader *reader;
        int descriptors = count_descriptors();
        err = (hpcw_error){.message = ""};
        fault_arm(FAULT_NOMEM, n);
        hpcw_status s = hpcw_i_clog2_reader_open(path, &reader, &err);
        if (s == HPCW_OK) {
            s = hpcw_i_clog2_reader_verify(reader, HPCW_I_CLOG2_STRICT, &err);
            hpcw_i_clog2_reader_free(reader);
        }
        met = fault_disarm();
        assert_int_equal(count_descriptors(), descriptors);
        assert_int_equal(s, met ? HPCW_ENOMEM : HPCW_OK);
        assert_true(!met || (n < 1000 && good_message(s, &err, path)));
    }
    scratch_remove(dir);
    clog2_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_fails_once),
        cmocka_unit_test(reading_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
