/* SPDX-License-Identifier: BSD-3-Clause */
/* Each system call and each allocation in the life of a result fails once, also those that complete a result of
 * several runs. test_sion.c lists what is checked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "tests/support/faults.h"
#include "tests/support/files.h"
#include "tests/support/linktest_cases.h"

static const struct linktest_case *case_named(const char *name) {
    for (unsigned i = 0; i < linktest_case_count; i++) {
        if (strcmp(linktest_cases[i].name, name) == 0) {
            return &linktest_cases[i];
        }
    }
    fail_msg("no case %s", name);
    return NULL;
}

/* Returns the bytes of a file, to be freed by the caller. */
static unsigned char *content(const char *dir, const char *name, uint32_t file, size_t *size) {
    char path[512];
    char suffix[16] = "";
    if (file > 0) {
        (void)snprintf(suffix, sizeof suffix, ".%06u", file);
    }
    (void)snprintf(path, sizeof path, "%s/%s%s", dir, name, suffix);
    return read_file(path, size);
}

static void assert_same_files(const struct linktest_case *c, const char *want_dir, const char *dir) {
    assert_int_equal(count_entries(dir), (int)c->params.files);
    for (uint32_t f = 0; f < c->params.files; f++) {
        size_t want_size = 0;
        size_t got_size = 0;
        unsigned char *want = content(want_dir, c->name, f, &want_size);
        unsigned char *got = content(dir, c->name, f, &got_size);
        assert_non_null(want);
        assert_non_null(got);
        bool same = same_bytes(c->name, want, want_size, got, got_size);
        free(want);
        free(got);
        assert_true(same);
    }
}

static hpcw_status live(const struct linktest_case *c, const char *dir, hpcw_error *err) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", dir, c->name);
    hpcw_linktest_params p = c->params;
    p.durability = p.tasks == 2 ? HPCW_SYNC_DIRECTORY : p.files == 1 ? HPCW_SYNC_FILE : HPCW_SYNC_NONE;
    bool refuses = false;
    hpcw_status s = linktest_case_write(c, &p, path, NULL, p.tasks, NULL, NULL, &refuses, err);
    assert_true(refuses);
    return s;
}

static void fail_each_call(const struct linktest_case *c, enum fault fault, const char *want_dir) {
    for (unsigned long n = 1;; n++) {
        char dir[256];
        char path[512];
        scratch_make(dir, sizeof dir);
        (void)snprintf(path, sizeof path, "%s/%s", dir, c->name);
        hpcw_error err = {.message = ""};
        int descriptors = count_descriptors();
        fault_arm(fault, n);
        hpcw_status s = live(c, dir, &err);
        bool met = fault_disarm();
        assert_int_equal(count_descriptors(), descriptors);
        if (met && !fault_is_harmless(fault)) {
            /* The test's own schedules allocate through the same hook, and their messages have no path. */
            bool own = fault == FAULT_NOMEM && strncmp(err.message, "linktest schedule", 17) == 0;
            if (s != fault_status(fault) || !good_message(s, &err, own ? "linktest" : path)) {
                fail_msg("%s, %s, call %lu: status %d", c->name, fault_name(fault), n, (int)s);
            }
            if (is_finished_by_next_open(&err, path) || is_late_failure(&err, path)) {
                assert_same_files(c, want_dir, dir);
            } else {
                assert_int_equal(count_entries(dir), 0);
            }
        } else {
            if (s != HPCW_OK) {
                fail_msg("%s, %s, call %lu: %s", c->name, fault_name(fault), n, err.message);
            }
            assert_same_files(c, want_dir, dir);
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
    static const char *const names[] = {"pair.sion", "bisection.sion", "all_to_all.sion", "all_flags.sion"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct linktest_case *c = case_named(names[i]);
        char want_dir[256];
        hpcw_error err = {.message = ""};
        scratch_make(want_dir, sizeof want_dir);
        assert_int_equal(live(c, want_dir, &err), HPCW_OK);
        for (int fault = 0; fault < FAULTS; fault++) {
            fail_each_call(c, (enum fault)fault, want_dir);
        }
        scratch_remove(want_dir);
    }
}

/* An older file stays until the new one is complete. */
static void an_older_file_stays(void **state) {
    (void)state;
    const struct linktest_case *c = case_named("plain.sion");
    char dir[256];
    char path[512];
    scratch_make(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/%s", dir, c->name);
    for (unsigned long n = 1;; n++) {
        FILE *older = fopen(path, "wb");
        assert_non_null(older);
        assert_int_equal(fputs("older", older) >= 0 && fclose(older) == 0, 1);
        hpcw_error err;
        fault_arm(FAULT_ENOSPC, n);
        hpcw_status s = live(c, dir, &err);
        bool met = fault_disarm();
        assert_int_equal(s, met ? HPCW_ENOSPC : HPCW_OK);
        size_t size = 0;
        unsigned char *data = content(dir, c->name, 0, &size);
        assert_non_null(data);
        assert_int_equal(size == 5 && memcmp(data, "older", 5) == 0, met);
        free(data);
        assert_int_equal(count_entries(dir), 1);
        if (!met) {
            break;
        }
    }
    scratch_remove(dir);
}

/* ---- hpcw_linktest_complete ---- */

static void completing_fails(void **state) {
    (void)state;
    const struct linktest_case *c = case_named("all_to_all.sion");
    char dir[256];
    char path[512];
    scratch_make(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/%s", dir, c->name);
    hpcw_linktest_params p = c->params;
    p.set_files = 1;
    uint32_t count = hpcw_sion_first_task_of_file(p.tasks, p.files, 1);
    hpcw_error err = {.message = ""};
    bool refuses;
    hpcw_status s = linktest_case_write(c, &p, path, NULL, count, NULL, NULL, &refuses, &err);
    if (s != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    hpcw_linktest_slow slow[5] = {{0}};
    hpcw_linktest_summary summary = {
        .start = "s", .end = "t", .times = {1, 1, 1, 1, 0}, .all_to_all = {1, 1, 1, 1, 0}, .slow = slow};
    for (int fault = 0; fault < FAULTS; fault++) {
        for (unsigned long n = 1;; n++) {
            p.durability = HPCW_SYNC_FILE;
            int descriptors = count_descriptors();
            fault_arm((enum fault)fault, n);
            s = hpcw_linktest_complete(path, &p, sizeof "node0", &summary, &err);
            bool met = fault_disarm();
            assert_int_equal(count_descriptors(), descriptors);
            bool fails = met && !fault_is_harmless((enum fault)fault);
            assert_int_equal(s, fails ? fault_status((enum fault)fault) : HPCW_OK);
            assert_true(!fails || good_message(s, &err, path));
            if (!met) {
                assert_true(n > 1);
                break;
            }
        }
    }
    scratch_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_fails_once),
        cmocka_unit_test(an_older_file_stays),
        cmocka_unit_test(completing_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
