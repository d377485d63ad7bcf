/* SPDX-License-Identifier: BSD-3-Clause */
/* Parser of worked examples: what it accepts, and that it notices every error in a page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/files.h"
#include "tests/support/hexdump.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define FENCE "```"

static char page[300];

static int set_up(void **state) {
    (void)scratch_set_up(state);
    (void)snprintf(page, sizeof page, "%s/page.md", scratch);
    return 0;
}

static void write_page(const char *text) {
    FILE *f = fopen(page, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void examples_are_read(void **state) {
    (void)state;
    write_page("# Page\n" FENCE "\n0000  ff\n" FENCE "\n" FENCE "hex a\n"
               "0000  00 0a ff       | three bytes | of them the last\n"
               "\n"
               "0003  01 * 4 02\n" FENCE "\nBetween.\n" FENCE "hex b\n000  07\n" FENCE "\n" FENCE "hex a\n"
               "0008  6d * 1  00 * 2   | the end\n" FENCE "\n" FENCE "json c\n{\n  \"x\": 1}\n" FENCE "\n" FENCE
               "text d\n  a b \n\n| c\n" FENCE "\n");
    static const struct {
        const char *block, *want;
        size_t size;
    } cases[] = {
        {"hex a", "\x00\x0a\xff\1\1\1\1\2m\0\0", 11},
        {"hex b", "\7", 1},
        {"json c", "{\"x\": 1}", 8},
        {"text d", "  a b \n\n| c\n", 12},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t size = 0;
        hpcw_error err = {.message = ""};
        unsigned char *got = hexdump_read(page, cases[i].block, &size, &err);
        if (got == NULL) {
            fail_msg("%s", err.message);
        }
        assert_true(same_bytes(cases[i].block, (const unsigned char *)cases[i].want, cases[i].size, got, size));
        free(got);
    }
    assert_int_equal(hexdump_line(page, "hex a", 2), 6);
    assert_int_equal(hexdump_line(page, "hex a", 6), 8);
    assert_int_equal(hexdump_line(page, "hex a", 8), 15);
    assert_int_equal(hexdump_line(page, "hex a", 11), 0);
    assert_int_equal(hexdump_line(page, "text d", 11), 24);
}

static void errors_are_found(void **state) {
    (void)state;
    static const struct {
        const char *line, *want;
    } cases[] = {
        {"0000  00\n0002  00\n", ":3: offset: expected 0001, got 0002"},
        {"0000  00\n0000  00\n", ":3: offset: expected 0001, got 0000"},
        {"0000  00 * 4096\n1001  00\n", ":3: offset: expected 1000, got 1001"},
        {"00  00\n", ":2: expected an offset"},
        {"000000000  00\n", ":2: expected an offset"},
        {"| note\n", ":2: expected an offset"},
        {"0000\n", ":2: expected an offset"},
        {"0000  | note\n", ":2: expected bytes"},
        {"0000  0\n", ":2: expected two hexadecimal digits"},
        {"0000  000\n", ":2: expected two hexadecimal digits"},
        {"0000  0A\n", ":2: expected two hexadecimal digits"},
        {"0000  00 note\n", ":2: expected two hexadecimal digits"},
        {"0000  00 * \n", ":2: expected a number of repetitions"},
        {"0000  00 * 0\n", ":2: expected a number of repetitions"},
        {"0000  00 * -1\n", ":2: expected a number of repetitions"},
        {"0000  00 * 4x\n", ":2: expected a number of repetitions"},
        {"0000  00 * 1048577\n", ":2: expected an example of at most"},
        {"0000  00 * 99999999999999999999\n", ":2: expected an example of at most"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[256];
        (void)snprintf(text, sizeof text, FENCE "hex a\n%s" FENCE "\n", cases[i].line);
        write_page(text);
        size_t size;
        hpcw_error err = {.message = ""};
        assert_null(hexdump_read(page, "hex a", &size, &err));
        if (strstr(err.message, cases[i].want) == NULL || err.code != HPCW_EFORMAT) {
            fail_msg("%s: expected \"%s\" in: %s", cases[i].line, cases[i].want, err.message);
        }
    }
    static const char *const pages[][2] = {
        {"", ":0: expected a block ```hex a"},
        {FENCE "hex b\n0000  00\n" FENCE "\n", ":3: expected a block ```hex a"},
        {FENCE "hex a\n0000  00\n", ":2: expected ``` after the last block"},
        {FENCE "hex a\n0000  00", ":1: expected a newline"},
    };
    for (size_t i = 0; i < COUNT(pages); i++) {
        write_page(pages[i][0]);
        size_t size;
        hpcw_error err = {.message = ""};
        assert_null(hexdump_read(page, "hex a", &size, &err));
        if (strstr(err.message, pages[i][1]) == NULL) {
            fail_msg("expected \"%s\" in: %s", pages[i][1], err.message);
        }
    }
    assert_int_equal(remove(page), 0);
    size_t size;
    hpcw_error err = {.message = ""};
    assert_null(hexdump_read(page, "hex a", &size, &err));
    assert_non_null(strstr(err.message, "page.md:0: cannot be read"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_are_read),
        cmocka_unit_test(errors_are_found),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_tear_down);
}
