/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "libwriter/base/shown.h"
#include "libwriter/base/status.h"

static const struct {
    const char *text, *shown;
} texts[] = {
    {"", ""},
    {"plain", "plain"},
    {"\x1b[31mred", "?[31mred"},
    {"a\nb\rc\td\x7f", "a?b?c?d?"},
    {"h\xc3\xa4tte \xe2\x82\xac \xf0\x9f\x9a\x80", "h\xc3\xa4tte \xe2\x82\xac \xf0\x9f\x9a\x80"},
    {"\xc2\x9b"
     "2J",
     "??2J"}, /* U+009B starts a command like ESC [ */
    {"\x9b"
     "2J",
     "?2J"},
    {"\xe2\x82", "??"}, /* an incomplete character */
};

static void no_terminal_takes_a_command(void **state) {
    (void)state;
    char room[64];
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        (void)snprintf(room, sizeof room, "%s", texts[i].text);
        hpcw_i_shown(room);
        assert_string_equal(room, texts[i].shown);
    }
}

static void messages_are_shown(void **state) {
    (void)state;
    hpcw_error err;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        (void)hpcw_i_fail(&err, HPCW_EINVAL, "%s", texts[i].text);
        assert_string_equal(err.message, texts[i].shown);
    }
    (void)hpcw_i_fail(&err, HPCW_EINVAL, "no name");
    hpcw_i_fail_about(&err, "\x1b]0;title");
    assert_string_equal(err.message, "?]0;title: no name");
}

static void words_of_commands_are_quoted(void **state) {
    (void)state;
    char room[16];
    static const struct {
        const char *path, *word;
    } known[] = {
        {"a/b-c_1.d", "a/b-c_1.d"},
        {"a b", "'a b'"},
        {"$(x);y", "'$(x);y'"},
        {"it's", "'it'\\''s'"},
        {"", "''"},
        {"-x", "./-x"},
        {"- x", "'./- x'"},
        {"~", "'~'"},
        {"a\nb", "DIR"},
        {"\xc2\x9b", "DIR"},
        {"h\xc3\xa4", "'h\xc3\xa4'"},
        {"123456789012", "DIR"},
        {"''''", "DIR"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        assert_string_equal(hpcw_i_shown_word(room, sizeof room, known[i].path, "DIR"), known[i].word);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_terminal_takes_a_command),
        cmocka_unit_test(messages_are_shown),
        cmocka_unit_test(words_of_commands_are_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
