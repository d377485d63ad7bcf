/* SPDX-License-Identifier: BSD-3-Clause */
/* Each system call and each allocation in the life of a log fails once. test_sion.c lists what is checked. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

static hpcw_status work(const char *path, const char *directory, uint64_t memory, int times,
                        hpcw_clog2_log **log, hpcw_error *err) {
    hpcw_clog2_log_options o;
    hpcw_clog2_log_options_init(&o);
    o.directory = directory;
    o.memory = memory;
    hpcw_clog2_timeline *timeline = NULL;
    int32_t state = 0;
    hpcw_status s = hpcw_clog2_log_open(path, NULL, &o, log, err);
    if (s == HPCW_OK) {
        s = hpcw_clog2_log_state(*log, "Work", "blue", NULL, &state, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_clog2_log_thread(*log, &timeline, err);
    }
    for (int i = 0; s == HPCW_OK && i < times; i++) {
        hpcw_clog2_log_begin(timeline, 0, state);
        hpcw_clog2_log_end(timeline, 0, state);
    }
    return s;
}

/* Records so many events that they fill four chunks of memory. memory: limit of the recording's memory, which may
 * be too small for four chunks. */
static hpcw_status record(const char *path, const char *directory, uint64_t memory,
                          hpcw_clog2_log_report *report, hpcw_error *err) {
    hpcw_clog2_log *log = NULL;
    hpcw_status s = work(path, directory, memory, 230000, &log, err);
    if (s == HPCW_OK) {
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

/* A process ends before it finishes its log. If a call fails while the log is made from its local file, there is no
 * log, and the local file stays. */
static void recovery_fails(void **state) {
    (void)state;
    char dir[256], local_dir[300], path[512], local[400];
    scratch_make(dir, sizeof dir);
    scratch_make(local_dir, sizeof local_dir);
    (void)snprintf(path, sizeof path, "%s/app.clog2", dir);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        hpcw_clog2_log *log;
        _exit(work(path, local_dir, 8 << 20, 1000, &log, NULL) == HPCW_OK ? 0 : 1);
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    (void)snprintf(local, sizeof local, "%s/app.*", local_dir);
    glob_t found;
    assert_int_equal(glob(local, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    const char *const locals[] = {found.gl_pathv[0]};
    size_t want_size;
    assert_int_equal(hpcw_clog2_recover(path, locals, 1, false, NULL, NULL), HPCW_OK);
    unsigned char *want = read_file(path, &want_size);
    (void)remove(path);
    for (int fault = 0; fault < FAULTS; fault++) {
        bool met = true;
        for (unsigned long n = 1; met; n++) {
            hpcw_error err = {.message = ""};
            int descriptors = count_descriptors();
            fault_arm((enum fault)fault, n);
            hpcw_status s = hpcw_clog2_recover(path, locals, 1, false, NULL, &err);
            met = fault_disarm();
            assert_int_equal(count_descriptors(), descriptors);
            assert_int_equal(count_entries(local_dir), 1);
            const bool fails = met && !fault_is_harmless((enum fault)fault);
            if (s == HPCW_OK) { /* also if only a close of what was read fails */
                size_t size;
                unsigned char *got = read_file(path, &size);
                assert_true(got != NULL &&
                            same_bytes(fault_name((enum fault)fault), want, want_size, got, size));
                free(got);
            } else {
                if (!fails || s != fault_status((enum fault)fault) || err.message[0] == '\0') {
                    fail_msg("%s, call %lu: status %d, \"%s\"", fault_name((enum fault)fault), n, (int)s,
                             err.message);
                }
                assert_true(count_entries(dir) == 0 || is_late_failure(&err, path));
            }
            (void)remove(path);
        }
    }
    scratch_remove(dir);
    scratch_remove(local_dir);
    globfree(&found);
    free(want);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_fails_once),
        cmocka_unit_test(ignored_failures_count),
        cmocka_unit_test(recording_fails),
        cmocka_unit_test(recovery_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
