/* SPDX-License-Identifier: BSD-3-Clause */
/* Each system call and each allocation in the life of a log fails once. test_sion.c lists what is checked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/clog2_log.h>

#include "tests/support/clog2_cases.h"
#include "tests/support/faults.h"
#include "tests/support/files.h"

static void fail_each_call(const struct clog2_case *c, bool in_one_call, enum fault fault,
                           const unsigned char *want, size_t want_size) {
    for (unsigned long n = 1;; n++) {
        char dir[256], path[512];
        scratch_make(dir, sizeof dir);
        (void)snprintf(path, sizeof path, "%s/app.clog2", dir);
        hpcw_error err = {.message = ""};
        int descriptors = count_descriptors();
        fault_arm(fault, n);
        hpcw_status s = in_one_call ? hpcw_clog2_write(path, &c->options, c->record, c->count, &err)
                                    : clog2_case_write(c, path, 1, &err);
        bool met = fault_disarm();
        assert_int_equal(count_descriptors(), descriptors);
        if (met && !fault_is_harmless(fault)) {
            if (s != fault_status(fault) || !good_message(s, &err, path)) {
                fail_msg("%s, call %lu: status %d, \"%s\"", fault_name(fault), n, (int)s, err.message);
            }
        }
        if (met && !fault_is_harmless(fault) && !is_late_failure(&err, path)) {
            assert_int_equal(count_entries(dir), 0);
        } else {
            size_t size = 0;
            if (s != HPCW_OK && !is_late_failure(&err, path)) {
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
        fail_each_call(&c, false, (enum fault)fault, want, size);
        fail_each_call(&c, true, (enum fault)fault, want, size);
    }
    free(want);
    scratch_remove(dir);
    clog2_case_free(&c);
}

/* A failure that the program ignores still counts. Close reports it, even if the program then adds records or
 * frees a slice with records. */
static void ignored_failures_count(void **state) {
    (void)state;
    struct clog2_case c;
    clog2_case_make(&c, 2, 100);
    char dir[256], path[512];
    scratch_make(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/app.clog2", dir);
    for (int fault = 0; fault <= FAULTS; fault++) { /* FAULTS: no failure, but the slice is not ended */
        hpcw_clog2 *log;
        hpcw_clog2_slice *slice;
        hpcw_error err;
        assert_int_equal(hpcw_clog2_open(path, NULL, &c.options, &log, NULL), HPCW_OK);
        assert_int_equal(hpcw_clog2_slice_new(log, 0, &slice, NULL), HPCW_OK);
        assert_int_equal(hpcw_clog2_slice_place(slice, 0, NULL), HPCW_OK);
        if (fault < FAULTS) {
            fault_arm((enum fault)fault, 1);
        }
        hpcw_status put = hpcw_clog2_slice_put(slice, c.record, c.count, NULL);
        put = put == HPCW_OK && fault < FAULTS ? hpcw_clog2_slice_end(slice, HPCW_CLOG2_LAST, NULL) : put;
        bool met = fault_disarm();
        assert_int_equal(met, fault < FAULTS);
        uint64_t blocks = hpcw_clog2_slice_blocks(slice);
        hpcw_clog2_slice_free(slice);
        hpcw_status s = hpcw_clog2_close(log, blocks, &err);
        if (fault < FAULTS && fault_is_harmless((enum fault)fault)) {
            assert_int_equal(s, HPCW_OK);
            assert_int_equal(count_entries(dir), 1);
            assert_int_equal(remove(path), 0);
        } else {
            assert_int_equal(s, fault < FAULTS ? put : HPCW_ESTATE);
            assert_true(good_message(s, &err, path));
            assert_int_equal(count_entries(dir), 0);
        }
        hpcw_clog2_free(log);
    }
    scratch_remove(dir);
    clog2_case_free(&c);
}

/* ---- recording ------------------------------------------------------------------------------------------- */

/* Records so many events that they fill four chunks of memory. memory: limit of the recording's memory, which may
 * be too small for four chunks. */
static hpcw_status record(const char *path, const char *directory, uint64_t memory,
                          hpcw_clog2_log_report *report, hpcw_error *err) {
    hpcw_clog2_log_options o;
    hpcw_clog2_log_options_init(&o);
    o.directory = directory;
    o.memory = memory;
    hpcw_clog2_log *log = NULL;
    hpcw_clog2_timeline *timeline = NULL;
    int32_t work = 0;
    hpcw_status s = hpcw_clog2_log_open(path, NULL, &o, &log, err);
    if (s == HPCW_OK) {
        s = hpcw_clog2_log_state(log, "Work", "blue", NULL, &work, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_clog2_log_thread(log, &timeline, err);
    }
    if (s == HPCW_OK) {
        for (int i = 0; i < 230000; i++) {
            hpcw_clog2_log_begin(timeline, 0, work);
            hpcw_clog2_log_end(timeline, 0, work);
        }
        s = hpcw_clog2_log_finish(log, report, err);
    }
    hpcw_clog2_log_free(log);
    return s;
}

/* If a call fails during the recording, records are lost, and the report counts them. If a later call fails, there
 * is no log. */
static void recording_fails(void **state) {
    (void)state;
    static const uint64_t memory[] = {32 << 20, 8 << 20};
    for (size_t m = 0; m < 2; m++) {
        for (int fault = 0; fault < FAULTS; fault++) {
            bool met = true;
            for (unsigned long n = 1; met; n++) {
                char dir[256], local[300], path[512];
                scratch_make(dir, sizeof dir);
                scratch_make(local, sizeof local);
                (void)snprintf(path, sizeof path, "%s/app.clog2", dir);
                hpcw_error err = {.message = ""};
                hpcw_clog2_log_report report = {0};
                int descriptors = count_descriptors();
                fault_arm((enum fault)fault, n);
                hpcw_status s = record(path, local, memory[m], &report, &err);
                met = fault_disarm();
                assert_int_equal(count_descriptors(), descriptors);
                assert_int_equal(count_entries(dir), s == HPCW_OK ? 1 : 0);
                bool fails = met && !fault_is_harmless((enum fault)fault);
                if (s != HPCW_OK &&
                    (!fails || s != fault_status((enum fault)fault) || err.message[0] == '\0')) {
                    fail_msg("%s, call %lu: status %d, \"%s\"", fault_name((enum fault)fault), n, (int)s,
                             err.message);
                }
                assert_true(s != HPCW_OK || report.records + report.lost >= 460000);
                assert_true(fails || report.lost == 0);
                scratch_remove(dir);
                scratch_remove(local);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_fails_once),
        cmocka_unit_test(ignored_failures_count),
        cmocka_unit_test(recording_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
