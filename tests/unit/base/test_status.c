/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/version.h>

#include "libwriter/base/status.h"

static const hpcw_status all[] = {
    HPCW_OK,      HPCW_EINVAL,     HPCW_ESTATE,    HPCW_ERANGE, HPCW_EMISMATCH, HPCW_ENOTSUP,
    HPCW_ENOMEM,  HPCW_ENOSPC,     HPCW_EIO,       HPCW_ENOENT, HPCW_EACCES,    HPCW_EEXIST,
    HPCW_EFORMAT, HPCW_ETRUNCATED, HPCW_ECHECKSUM, HPCW_ECOMM,  HPCW_EINTERNAL,
};

enum { CODES = sizeof all / sizeof all[0] };

static void codes_have_names_and_texts_of_their_own(void **state) {
    (void)state;
    for (int i = 0; i < CODES; i++) {
        assert_int_equal(strncmp(hpcw_status_name(all[i]), "HPCW_", 5), 0);
        assert_string_not_equal(hpcw_status_name(all[i]), "HPCW_?");
        assert_null(strchr(hpcw_status_text(all[i]), '\n'));
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(hpcw_status_name(all[i]), hpcw_status_name(all[k]));
            assert_string_not_equal(hpcw_status_text(all[i]), hpcw_status_text(all[k]));
        }
    }
    assert_string_equal(hpcw_status_name((hpcw_status)-77), "HPCW_?");
    assert_string_equal(hpcw_status_text((hpcw_status)1), "unknown status");
    assert_string_equal(hpcw_status_name(HPCW_ENOSPC), "HPCW_ENOSPC");
}

/* The numbers are fixed, since other programs have them in logs and scripts. */
static void numbers_never_change(void **state) {
    (void)state;
    static const int want[CODES] = {0,   -1,  -2,  -3,  -4,  -5,  -10, -11, -20,
                                    -21, -22, -23, -30, -31, -32, -40, -90};
    for (int i = 0; i < CODES; i++) {
        assert_int_equal(all[i], want[i]);
    }
}

static void version_is_the_headers(void **state) {
    (void)state;
    char want[32];
    (void)snprintf(want, sizeof want, "%d.%d.%d", HPCW_VERSION_MAJOR, HPCW_VERSION_MINOR, HPCW_VERSION_PATCH);
    assert_string_equal(hpcw_version(), want);
}

static void failures_fill_the_record(void **state) {
    (void)state;
    hpcw_error err;
    memset(&err, 0xff, sizeof err);
    assert_int_equal(hpcw_i_fail(&err, HPCW_ERANGE, "%s: wanted %d", "field", 7), HPCW_ERANGE);
    assert_int_equal(err.code, HPCW_ERANGE);
    assert_int_equal(err.sys_errno, 0);
    assert_int_equal(err.process, 0);
    assert_string_equal(err.message, "field: wanted 7");
    assert_int_equal(hpcw_i_fail(NULL, HPCW_EINVAL, "unseen"), HPCW_EINVAL);
    assert_int_equal(hpcw_i_fail_sys(NULL, ENOSPC, "unseen"), HPCW_ENOSPC);

    assert_int_equal(hpcw_i_fail_sys(&err, EACCES, "%s: cannot open", "x"), HPCW_EACCES);
    assert_int_equal(err.sys_errno, EACCES);
    assert_string_equal(err.message, "x: cannot open: Permission denied");
    /* A failed system call without an errno value. */
    assert_int_equal(hpcw_i_fail_sys(&err, 0, "x"), HPCW_EIO);
    assert_string_equal(err.message, "x");
}

static void memory_runs_out_in_one_form(void **state) {
    (void)state;
    hpcw_error err;
    assert_int_equal(hpcw_i_fail_memory(&err, "out/x.json", UINT64_MAX, "tasks"), HPCW_ENOMEM);
    assert_int_equal(err.code, HPCW_ENOMEM);
    assert_string_equal(err.message, "out/x.json: out of memory for 18446744073709551615 tasks");
    (void)hpcw_i_fail_memory(&err, "x", 0, "its name");
    assert_string_equal(err.message, "x: out of memory for its name");
    (void)hpcw_i_fail_memory(&err, "x", 7, NULL);
    assert_string_equal(err.message, "x: out of memory");
    (void)hpcw_i_fail_memory(&err, NULL, 7, "ranks");
    assert_string_equal(err.message, "out of memory for 7 ranks");
    assert_int_equal(hpcw_i_fail_memory(NULL, NULL, 0, NULL), HPCW_ENOMEM);
}

static void errno_has_a_status(void **state) {
    (void)state;
    static const struct {
        int e;
        hpcw_status want;
    } cases[] = {{0, HPCW_OK},           {ENOSPC, HPCW_ENOSPC}, {EDQUOT, HPCW_ENOSPC},
                 {EFBIG, HPCW_ENOSPC},   {ENOMEM, HPCW_ENOMEM}, {ENOENT, HPCW_ENOENT},
                 {ENOTDIR, HPCW_ENOENT}, {EACCES, HPCW_EACCES}, {EPERM, HPCW_EACCES},
                 {EROFS, HPCW_EACCES},   {EEXIST, HPCW_EEXIST}, {EIO, HPCW_EIO},
                 {EBADF, HPCW_EIO},      {EINTR, HPCW_EIO},     {ENAMETOOLONG, HPCW_ERANGE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(hpcw_i_status_of_errno(cases[i].e), cases[i].want);
    }
}

/* A path can have any content and length. A message is one line and fits its field. */
static void messages_are_one_line(void **state) {
    (void)state;
    hpcw_error err;
    char path[3000];
    memset(path, 'p', sizeof path);
    path[sizeof path - 1] = '\0';
    path[1] = '\n';
    path[2] = '\r';
    path[3] = '\t';
    (void)hpcw_i_fail_sys(&err, EIO, "%s: cannot write", path);
    assert_int_equal(strlen(err.message), HPCW_ERROR_MESSAGE_SIZE - 1);
    assert_int_equal(strncmp(err.message, "p???pp", 6), 0);
    /* The end of a message is more important than the middle of a path. */
    assert_non_null(strstr(err.message, "pp...pp"));
    const char *end = "ppp: cannot write: Input/output error";
    assert_string_equal(err.message + strlen(err.message) - strlen(end), end);
}

static void about_names_the_file_once(void **state) {
    (void)state;
    hpcw_error err;
    (void)hpcw_i_fail_sys(&err, EIO, "out of luck");
    err.process = 3;
    hpcw_i_fail_about(&err, "dir/x.sion");
    hpcw_i_fail_about(&err, "dir/x.sion");
    assert_string_equal(err.message, "dir/x.sion: out of luck: Input/output error");
    assert_int_equal(err.code, HPCW_EIO);
    assert_int_equal(err.sys_errno, EIO);
    assert_int_equal(err.process, 3);
    hpcw_i_fail_about(NULL, "x");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_have_names_and_texts_of_their_own),
        cmocka_unit_test(numbers_never_change),
        cmocka_unit_test(version_is_the_headers),
        cmocka_unit_test(failures_fill_the_record),
        cmocka_unit_test(memory_runs_out_in_one_form),
        cmocka_unit_test(errno_has_a_status),
        cmocka_unit_test(messages_are_one_line),
        cmocka_unit_test(about_names_the_file_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
