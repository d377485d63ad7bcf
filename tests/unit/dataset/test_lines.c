/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading line by line: lines of all lengths are complete, and invalid input is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/dataset/directory/lines.h"
#include "tests/support/files.h"

static char path[512];

static int make_scratch(void **state) {
    (void)scratch_set_up(state);
    (void)snprintf(path, sizeof path, "%s/text", scratch);
    return 0;
}

static void put(const void *text, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Lengths near the size of one read, and much longer ones. */
static void lines_of_all_lengths(void **state) {
    (void)state;
    static const size_t length[] = {0,     1,     65533, 0,      65535,  65536, 65537, 3,
                                    65531, 65534, 0,     300000, 131071, 7,     0};
    enum { LINES = sizeof length / sizeof length[0] };
    size_t size = 0;
    for (size_t i = 0; i < LINES; i++) {
        size += length[i] + 1;
    }
    char *text = malloc(size);
    assert_non_null(text);
    char *to = text;
    for (size_t i = 0; i < LINES; i++) {
        memset(to, 'a' + (int)i, length[i]);
        to[length[i]] = '\n';
        to += length[i] + 1;
    }
    put(text, size);
    free(text);
    struct gen_lines lines;
    assert_int_equal(gen_lines_open(&lines, path, NULL), HPCW_OK);
    char *line;
    for (size_t i = 0; i < LINES; i++) {
        assert_int_equal(gen_lines_next(&lines, &line, NULL), HPCW_OK);
        assert_non_null(line);
        assert_int_equal(lines.number, i + 1);
        assert_int_equal(strlen(line), length[i]);
        char all[2] = {(char)('a' + (int)i), '\0'};
        assert_int_equal(strspn(line, all), length[i]);
    }
    for (int again = 0; again < 2; again++) {
        assert_int_equal(gen_lines_next(&lines, &line, NULL), HPCW_OK);
        assert_null(line);
    }
    gen_lines_close(&lines);
}

static void refused_in_line(const void *text, size_t size, uint64_t number) {
    struct gen_lines lines;
    hpcw_error err;
    char want[600];
    char *line;
    put(text, size);
    assert_int_equal(gen_lines_open(&lines, path, NULL), HPCW_OK);
    for (uint64_t i = 1; i < number; i++) {
        assert_int_equal(gen_lines_next(&lines, &line, NULL), HPCW_OK);
        assert_non_null(line);
    }
    assert_int_equal(gen_lines_next(&lines, &line, &err), HPCW_EFORMAT);
    assert_null(line);
    (void)snprintf(want, sizeof want, "%s: line %llu: expected ", path, (unsigned long long)number);
    assert_int_equal(strncmp(err.message, want, strlen(want)), 0);
    gen_lines_close(&lines);
}

static void what_is_no_line_is_refused(void **state) {
    (void)state;
    refused_in_line("a", 1, 1);
    refused_in_line("one\ntwo\nthree", 13, 3);
    refused_in_line("one\nt\0o\nthree\n", 14, 2);
    refused_in_line("\0\n", 2, 1);
    static char longer[70000];
    memset(longer, 'x', sizeof longer);
    longer[2] = '\n';
    refused_in_line(longer, sizeof longer, 2);
}

static void files_without_lines(void **state) {
    (void)state;
    struct gen_lines lines;
    hpcw_error err;
    char *line;
    put("", 0);
    assert_int_equal(gen_lines_open(&lines, path, &err), HPCW_OK);
    assert_int_equal(gen_lines_next(&lines, &line, &err), HPCW_OK);
    assert_null(line);
    gen_lines_close(&lines);
    gen_lines_close(&lines); /* harmless */
    assert_int_equal(gen_lines_open(&lines, scratch, &err), HPCW_EINVAL);
    gen_lines_close(&lines);
    (void)snprintf(path, sizeof path, "%s/none", scratch);
    assert_int_equal(gen_lines_open(&lines, path, &err), HPCW_ENOENT);
    gen_lines_close(&lines);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_all_lengths),
        cmocka_unit_test(what_is_no_line_is_refused),
        cmocka_unit_test(files_without_lines),
    };
    return cmocka_run_group_tests(tests, make_scratch, scratch_tear_down);
}
