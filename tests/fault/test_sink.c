/* SPDX-License-Identifier: BSD-3-Clause */
/* Every system call and every allocation below a sink fails once. Interrupted and short writes are no failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/sink.h>

#include "libwriter/io/sink.h"
#include "tests/support/faults.h"
#include "tests/support/files.h"

enum kind { PRIVATE, SHARED, LIMITED, KINDS };

static hpcw_status make(enum kind kind, const char *path, hpcw_durability durability, hpcw_sink **out,
                        hpcw_error *err) {
    if (kind == SHARED) {
        return hpcw_sink_open_shared_file(path, 42, true, durability, out, err);
    }
    hpcw_sink *file = NULL;
    hpcw_status s = hpcw_sink_open_file(path, durability, &file, err);
    if (s == HPCW_OK && kind == LIMITED) {
        s = hpcw_sink_open_limited(file, UINT64_MAX, 7, out, err);
        if (s != HPCW_OK) {
            hpcw_sink_free(file);
        }
        return s;
    }
    *out = file;
    return s;
}

/* Does everything that a sink can do once. Returns the first failure. */
static hpcw_status live(enum kind kind, const char *path, hpcw_durability durability, hpcw_error *err) {
    hpcw_sink *sink = NULL;
    hpcw_status s = make(kind, path, durability, &sink, err);
    if (s != HPCW_OK) {
        assert_null(sink);
        return s;
    }
    s = hpcw_sink_write_at(sink, 5, "0123456789", 10, err);
    if (s == HPCW_OK) {
        struct hpcw_i_piece piece[] = {{"abc", 3}, {NULL, 0}, {"defghijk", 8}};
        s = hpcw_i_sink_write(sink, 20, piece, 3, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_sink_set_size(sink, 40, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_sink_sync(sink, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_sink_publish(sink, err);
        assert_int_equal(hpcw_sink_write_at(sink, 0, "x", 1, NULL), HPCW_ESTATE);
        assert_int_equal(hpcw_sink_publish(sink, NULL), HPCW_ESTATE);
    }
    if (s != HPCW_OK) {
        hpcw_sink_discard(sink);
    }
    hpcw_sink_free(sink);
    return s;
}

static const unsigned char want[40] = "\0\0\0\0\0"
                                      "0123456789"
                                      "\0\0\0\0\0"
                                      "abcdefghijk";

static void every_call_fails_once(void **state) {
    (void)state;
    char dir[256];
    char path[512];
    scratch_make(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/file", dir);
    unsigned late_failures = 0;
    for (int i = 0; i < KINDS * 3 * FAULTS * 2; i++) {
        enum kind kind = (enum kind)(i % KINDS);
        hpcw_durability durability = (hpcw_durability)(i / KINDS % 3);
        enum fault fault = (enum fault)(i / KINDS / 3 % FAULTS);
        bool older = i / KINDS / 3 / FAULTS != 0;
        for (unsigned long n = 1;; n++) {
            if (older) {
                FILE *file = fopen(path, "wb");
                assert_non_null(file);
                assert_int_equal(fputs("older", file) >= 0 && fclose(file) == 0, 1);
            }
            hpcw_error err;
            int descriptors = count_descriptors();
            fault_arm(fault, n);
            hpcw_status s = live(kind, path, durability, &err);
            bool met = fault_disarm();
            assert_int_equal(count_descriptors(), descriptors);
            size_t size = 0;
            unsigned char *got = read_file(path, &size);
            if (met && !fault_is_harmless(fault)) {
                assert_int_equal(s, fault_status(fault));
                assert_true(good_message(s, &err, kind == LIMITED && fault == FAULT_NOMEM ? "" : path));
                /* The only late failure: syncing the directory, after everything else was done. */
                bool late = durability == HPCW_SYNC_DIRECTORY && is_late_failure(&err, path);
                assert_int_equal(count_entries(dir), older || late);
                assert_true(!late || same_bytes(path, want, sizeof want, got, size));
                assert_true(late || !older || (size == 5 && memcmp(got, "older", 5) == 0));
                late_failures += late;
            } else {
                assert_int_equal(s, HPCW_OK);
                assert_non_null(got);
                assert_true(same_bytes(path, want, sizeof want, got, size));
                assert_int_equal(count_entries(dir), 1);
            }
            free(got);
            (void)remove(path);
            if (!met) {
                assert_true(n > 1);
                break;
            }
        }
    }
    assert_true(late_failures > 0);
    scratch_remove(dir);
}

/* Two sinks share a file. Whatever fails, the last one removes it. */
static void a_shared_file_is_removed_by_one(void **state) {
    (void)state;
    char dir[256];
    char path[512];
    scratch_make(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/file", dir);
    for (unsigned long n = 1;; n++) {
        hpcw_sink *sink[2];
        hpcw_error err;
        for (int i = 0; i < 2; i++) {
            assert_int_equal(hpcw_sink_open_shared_file(path, 7, i == 0, HPCW_SYNC_FILE, &sink[i], &err),
                             HPCW_OK);
        }
        fault_arm(FAULT_EIO, n);
        hpcw_status s = hpcw_sink_write_at(sink[1], 0, "hello", 5, &err);
        if (s == HPCW_OK) {
            s = hpcw_sink_detach(sink[1], &err);
        }
        if (s == HPCW_OK) {
            s = hpcw_sink_publish(sink[0], &err);
        }
        bool met = fault_disarm();
        assert_int_equal(s, met ? HPCW_EIO : HPCW_OK);
        if (met) {
            hpcw_sink_discard(sink[0]);
        }
        hpcw_sink_free(sink[1]);
        hpcw_sink_free(sink[0]);
        assert_int_equal(count_entries(dir), !met);
        (void)remove(path);
        if (!met) {
            assert_true(n > 5);
            break;
        }
    }
    scratch_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_fails_once),
        cmocka_unit_test(a_shared_file_is_removed_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
