/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "gen/cli/commands.h"
#include "gen/cli/common/options.h"
#include "gen/spec/dataset.h"
#include "libwriter/base/mem.h"
#include "ui/cli/config.h"
#include "ui/cli/settings.h"

/* ---- a command line and the text of a configuration file ---- */

struct config_call {
    struct gen_cli_options options;
    struct ui_parse parse;
    hpcw_error err;
};

static void command_line(struct config_call *c, const char *const *words) {
    char *argv[16] = {(char *)(uintptr_t) "hpcgen"};
    int argc = 1;
    for (; words[argc - 1] != NULL; argc++) {
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    }
    c->err.message[0] = '\0';
    if (ui_options_init(&c->parse, &gen_cli_program, &c->options, &c->err) != HPCW_OK ||
        ui_options_parse(&c->parse, argc, argv, &c->err) != HPCW_OK) {
        fail_msg("%s", c->err.message);
    }
}

static hpcw_status config_n(struct config_call *c, const char *text, size_t size) {
    return ui_config_text(&c->parse, "run.ini", text, size, &c->err);
}

static hpcw_status config(struct config_call *c, const char *text) {
    return config_n(c, text, strlen(text));
}

static void good(struct config_call *c, const char *text) {
    if (config(c, text) != HPCW_OK) {
        fail_msg("%s", c->err.message);
    }
}

/* ---- accepted files ---- */

static void options_and_parameters(void **state) {
    (void)state;
    struct config_call c;
    command_line(&c, (const char *const[]){NULL});
    good(&c, "; a comment\n"
             "[hpcgen]\n"
             "ranks = 4096\n"
             "out=/some/where\n"
             "formats : sion\n"
             "blocksize = 64K   ; of the file system\n"
             "jobs = auto\n"
             "sync = yes\n"
             "checksums = no\n"
             "\n"
             "# another\n"
             "[linktest]\n"
             "messages = 100\n"
             "host = a b  c\n"
             "[machine]\n"
             "torus = true\n");
    assert_int_equal(c.options.ranks, 4096);
    assert_string_equal(c.options.out, "/some/where");
    assert_int_equal(c.options.formats, 2);
    assert_int_equal(c.options.layout.blocksize, 65536);
    assert_int_equal(c.options.jobs, 0);
    assert_true(c.options.sync);
    assert_false(c.options.checksums);
    assert_int_not_equal(c.parse.source[ui_options_find(&gen_cli_program, "ranks")], UI_FROM_DEFAULT);
    assert_int_equal(c.parse.source[ui_options_find(&gen_cli_program, "seed")], UI_FROM_DEFAULT);

    static const char *const expected[][3] = {{"linktest.messages", "100", "run.ini:13"},
                                              {"linktest.host", "a b  c", "run.ini:14"},
                                              {"machine.torus", "true", "run.ini:16"}};
    assert_int_equal(c.options.set.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(c.options.set.items[i].key, expected[i][0]);
        assert_string_equal(c.options.set.items[i].value, expected[i][1]);
        assert_string_equal(c.options.set.items[i].origin, expected[i][2]);
    }
    gen_cli_options_free(&c.options);
}

static void the_command_line_wins(void **state) {
    (void)state;
    struct config_call c;
    command_line(&c, (const char *const[]){"-n", "8", "--set", "a.b=1", "--checksums", "--set", "a.c=1", NULL});
    good(&c, "[hpcgen]\nranks = 16\nseed = 7\nchecksums = no\n[a]\nb = 2\nd = 2\n");
    assert_int_equal(c.options.ranks, 8);
    assert_int_equal(c.options.seed, 7);
    assert_true(c.options.checksums);
    /* Settings are applied in this order: the file, then --set. The last value of a key holds. */
    static const char *const expected[][2] = {{"a.b", "2"}, {"a.d", "2"}, {"a.b", "1"}, {"a.c", "1"}};
    assert_int_equal(c.options.set.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(c.options.set.items[i].key, expected[i][0]);
        assert_string_equal(c.options.set.items[i].value, expected[i][1]);
    }
    gen_cli_options_free(&c.options);
}

static void a_file_may_serve_all_subcommands(void **state) {
    (void)state;
    struct config_call c;
    command_line(&c, (const char *const[]){"list", NULL});
    good(&c, "[hpcgen]\nranks = 16\nscale = tiny\njobs = 2\n");
    assert_int_equal(c.options.scale, GEN_SCALE_TINY);
}

static void the_form_of_lines_does_not_matter(void **state) {
    (void)state;
    static const char *const texts[] = {
        "[hpcgen]\r\nranks = 16\r\nseed=5\r\n",
        "[hpcgen]\nranks=16\nseed=5", /* no line feed at the end */
        "\xef\xbb\xbf[hpcgen]\nranks=16\nseed=5\n",
        "  [hpcgen]\n\tranks = 16\n\t\t seed = 5 \t\n", /* indented, but not a continuation of the previous value */
        "[hpcgen]\nranks = 16\n[a]\n[hpcgen]\nseed = 5\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct config_call c;
        command_line(&c, (const char *const[]){NULL});
        good(&c, texts[i]);
        assert_int_equal(c.options.ranks, 16);
        assert_int_equal(c.options.seed, 5);
        assert_int_equal(c.options.set.count, 0);
    }
    struct config_call c;
    command_line(&c, (const char *const[]){NULL});
    good(&c, "");
    good(&c, "\n\n; nothing\n");
}

static void an_indented_line_continues_a_parameter(void **state) {
    (void)state;
    struct config_call c;
    command_line(&c, (const char *const[]){NULL});
    good(&c, "[a]\nb = one two\n\tthree:3\n    { 4 }\n\n  ; no value\n  c = 5\n  [d]\n  e = 6\n     7\n");
    assert_int_equal(c.options.set.count, 3);
    assert_string_equal(c.options.set.items[0].value, "one two three:3 { 4 }");
    assert_string_equal(c.options.set.items[1].key, "a.c");
    assert_string_equal(c.options.set.items[1].value, "5");
    assert_string_equal(c.options.set.items[2].value, "6 7");
    gen_cli_options_free(&c.options);
}

/* ---- refused files ---- */

static void errors_name_file_and_line(void **state) {
    (void)state;
    static const struct {
        const char *text;
        hpcw_status status;
        const char *message; /* '*' at the end matches any text */
    } rows[] = {
        {"ranks = 3\n", HPCW_EINVAL, "run.ini:1: expected a [section] before the first key, got \"ranks\""},
        {"[hpcgen]\n\nrank = 3\n", HPCW_EINVAL,
         "run.ini:3: expected an option that [hpcgen] can hold, got \"rank\"; did you mean ranks?"},
        {"[hpcgen]\nnonsense = 3\n", HPCW_EINVAL,
         "run.ini:2: expected an option that [hpcgen] can hold, got \"nonsense\""},
        {"[hpcgen]\nforce = yes\n", HPCW_EINVAL,
         "run.ini:2: expected an option that [hpcgen] can hold, got \"force\""},
        {"[hpcgen]\nset = a.b=3\n", HPCW_EINVAL,
         "run.ini:2: expected an option that [hpcgen] can hold, got \"set\""},
        {"[hpcgen]\nno-checksums = yes\n", HPCW_EINVAL,
         "run.ini:2: expected \"checksums = no\", got \"no-checksums\""},
        {"[hpcgen]\nranks = 3\nranks = 4\n", HPCW_EINVAL,
         "run.ini:3: expected every key once, got ranks again (first in line 2)"},
        {"[a]\nb = 3\n[c]\n[a]\nb = 3\n", HPCW_EINVAL,
         "run.ini:5: expected every key once, got a.b again (first at run.ini:2)"},
        {"[hpcgen]\nranks = 3 # many\n", HPCW_EINVAL, "run.ini:2: ranks: *"},
        {"[hpcgen]\nranks = 0\n", HPCW_ERANGE, "run.ini:2: ranks: *"},
        {"[hpcgen]\nranks =\n", HPCW_EINVAL, "run.ini:2: ranks: *"},
        {"[hpcgen]\nsync = perhaps\n", HPCW_EINVAL, "run.ini:2: sync: *"},
        {"[hpcgen]\nout =\n", HPCW_EINVAL, "run.ini:2: out: expected a value (DIR), got an empty one"},
        {"[hpcgen]\nformats = sino\n", HPCW_EINVAL, "run.ini:2: formats: expected one of linktest, sion, *"},
        {"[hpcgen]\nranks 3\n", HPCW_EINVAL, "run.ini:2: expected [section] or key = value, got neither"},
        {"[hpcgen\nranks = 3\n", HPCW_EINVAL, "run.ini:1: expected [section] or key = value, got neither"},
        {"[hpcgen]\nnothing\nranks = x\n", HPCW_EINVAL,
         "run.ini:2: expected [section] or key = value, got neither"},
        {"[hpcgen]\nranks = x\nnothing\n", HPCW_EINVAL, "run.ini:2: ranks: *"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct config_call c;
        command_line(&c, (const char *const[]){NULL});
        hpcw_status status = config(&c, rows[i].text);
        size_t length = strlen(rows[i].message);
        bool open = rows[i].message[length - 1] == '*';
        if (status != rows[i].status || c.err.code != status ||
            (open ? strncmp(c.err.message, rows[i].message, length - 1)
                  : strcmp(c.err.message, rows[i].message)) != 0) {
            fail_msg("\"%s\": expected %d %s, got %d %s", rows[i].text, (int)rows[i].status, rows[i].message,
                     (int)status, c.err.message);
        }
        gen_cli_options_free(&c.options);
        command_line(&c, (const char *const[]){NULL});
        assert_int_equal(ui_config_text(&c.parse, "run.ini", rows[i].text, strlen(rows[i].text), NULL), status);
        gen_cli_options_free(&c.options);
    }
}

static void a_wrong_value_is_an_error_even_if_overruled(void **state) {
    (void)state;
    struct config_call c;
    command_line(&c, (const char *const[]){"-n", "8", NULL});
    assert_int_equal(config(&c, "[hpcgen]\nranks = many\n"), HPCW_EINVAL);
    assert_int_equal(strncmp(c.err.message, "run.ini:2: ranks: ", 18), 0);
    assert_int_equal(c.options.ranks, 8);
}

static void long_lines_are_refused_whole(void **state) {
    (void)state;
    /* Finds libinih's limit: the longest comment that it accepts. */
    char text[4096];
    size_t longest = 0;
    struct config_call c;
    for (size_t n = 1; n < 4000; n++) {
        memset(text, 'x', n);
        text[0] = ';';
        command_line(&c, (const char *const[]){NULL});
        if (config_n(&c, text, n) != HPCW_OK) {
            break;
        }
        longest = n;
    }
    assert_in_range(longest, 190, 3998);
    char expected[128];
    (void)snprintf(expected, sizeof expected, "run.ini:1: expected a line of at most %zu bytes, got %zu",
                   longest, longest + 1);
    assert_string_equal(c.err.message, expected);

    /* The longest accepted value is read completely, with the line after it. One byte more is refused. */
    static const char head[] = "[hpcgen]\nout = ", tail[] = "\nseed = 9\n";
    size_t room = longest - strlen("out = ");
    for (size_t more = 0; more < 2; more++) {
        (void)snprintf(text, sizeof text, "%s%.*s%s", head, (int)(room + more),
                       "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
                       "yyyyyyyyyyyyyyyyyyy"
                       "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
                       "yyyyyyyyyyyyyyyyyyy"
                       "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
                       "yyyyyyyyyyyyyyyyyyy",
                       tail);
        command_line(&c, (const char *const[]){NULL});
        hpcw_status status = config(&c, text);
        if (more == 0) {
            assert_int_equal(status, HPCW_OK);
            assert_int_equal(strlen(c.options.out), room);
            assert_int_equal(c.options.seed, 9);
        } else {
            assert_int_equal(status, HPCW_ERANGE);
            assert_string_equal(c.options.out, "");
        }
    }
}

static void binary_and_huge_files_are_refused(void **state) {
    (void)state;
    struct config_call c;
    command_line(&c, (const char *const[]){NULL});
    assert_int_equal(config_n(&c, "[hpcgen]\nranks\0 = 3\n", 21), HPCW_EINVAL);
    assert_string_equal(c.err.message, "run.ini:2: expected text, got a NUL byte");
    char *big = malloc(UI_CONFIG_MAX_SIZE + 1);
    assert_non_null(big);
    memset(big, '\n', UI_CONFIG_MAX_SIZE + 1);
    command_line(&c, (const char *const[]){NULL});
    assert_int_equal(config_n(&c, big, UI_CONFIG_MAX_SIZE), HPCW_OK);
    assert_int_equal(config_n(&c, big, UI_CONFIG_MAX_SIZE + 1), HPCW_ERANGE);
    free(big);
}

static void a_long_section_cannot_pass_for_another(void **state) {
    (void)state;
    struct config_call c;
    command_line(&c, (const char *const[]){NULL});
    assert_int_equal(
        config(&c, "[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]\nb = 1\n"),
        HPCW_EINVAL);
    assert_int_equal(strncmp(c.err.message, "run.ini:2: expected names of less than 49 characters", 50), 0);
    gen_cli_options_free(&c.options);
}

/* ---- files ---- */

static void files_are_read(void **state) {
    (void)state;
    char path[] = "/tmp/test_config_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    static const char text[] = "[hpcgen]\nranks = 12\nout = d\n";
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    assert_int_equal(close(fd), 0);
    struct config_call c;
    char *argv[] = {(char *)(uintptr_t) "hpcgen", (char *)(uintptr_t) "--config", path, NULL};
    assert_int_equal(gen_cli_options_read(&c.options, &c.parse, 3, argv, &c.err), HPCW_OK);
    assert_int_equal(c.options.ranks, 12); /* the required option --ranks is in the file only */
    gen_cli_options_free(&c.options);
    assert_int_equal(unlink(path), 0);

    assert_int_equal(gen_cli_options_read(&c.options, &c.parse, 3, argv, &c.err), HPCW_ENOENT);
    assert_non_null(strstr(c.err.message, path));
    assert_non_null(strstr(c.err.message, "No such file"));
    command_line(&c, (const char *const[]){NULL});
    assert_true(ui_config_read(&c.parse, "/tmp", &c.err) < 0);
    assert_non_null(strstr(c.err.message, "/tmp: cannot read this configuration file: Is a directory"));
}

/* ---- parameters ---- */

static void settings_reach_their_parameters(void **state) {
    (void)state;
    struct config_call c;
    struct gen_dataset d = {.ranks = 1};
    command_line(&c, (const char *const[]){"--set", "machine.ppn=3", NULL});
    good(&c, "[machine]\nppn = 2\n[linktest]\nmessages = 100\n");
    assert_int_equal(gen_cli_apply(&c.options.set, &d, &c.err), HPCW_OK);
    assert_int_equal(d.linktest_params.run.messages, 100);
    assert_int_equal(d.machine_params.ppn, 3);
    assert_int_equal(d.ranks, 1);
    gen_cli_options_free(&c.options);

    static const struct {
        const char *set, *message;
    } rows[] = {
        {"linktest.mesages=1",
         "--set: expected a parameter, got \"linktest.mesages\"; did you mean linktest.messages?"},
        {"messages=1", "--set: expected a parameter, got \"messages\"; did you mean linktest.messages?"},
        {"foo.bar=1", "--set: expected a parameter, got \"foo.bar\""},
        {"machine.ppn=65537", "--set: machine.ppn: *"},
        {"machine.ppn=", "--set: machine.ppn: *"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        command_line(&c, (const char *const[]){"--set", rows[i].set, NULL});
        assert_true(gen_cli_apply(&c.options.set, &d, &c.err) < 0);
        size_t length = strlen(rows[i].message);
        if (rows[i].message[length - 1] == '*') {
            assert_int_equal(strncmp(c.err.message, rows[i].message, length - 1), 0);
        } else {
            assert_string_equal(c.err.message, rows[i].message);
        }
        gen_cli_options_free(&c.options);
    }
    command_line(&c, (const char *const[]){NULL});
    good(&c, "\n[linktest]\nmessages = 0\n");
    assert_int_equal(gen_cli_apply(&c.options.set, &d, &c.err), HPCW_ERANGE);
    assert_int_equal(strncmp(c.err.message, "run.ini:3: linktest.messages: ", 30), 0);
    gen_cli_options_free(&c.options);
}

static int allocations_left;
static _Bool limited(size_t size) {
    (void)size;
    return allocations_left-- > 0;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    struct config_call c;
    int n = 0;
    for (;; n++) {
        command_line(&c, (const char *const[]){"-n", "3", "--set", "a.b=1", NULL});
        hpcw_i_mem_gate = limited;
        allocations_left = n;
        hpcw_status status = config(&c, "[a]\nb = 2\nc = 3\n[hpcgen]\nranks = 4\nseed = 8\n");
        hpcw_i_mem_gate = NULL;
        size_t count = c.options.set.count;
        gen_cli_options_free(&c.options);
        if (status == HPCW_OK) {
            assert_int_equal(count, 3);
            break;
        }
        assert_int_equal(status, HPCW_ENOMEM);
        assert_int_equal(count, 1);
    }
    assert_in_range(n, 8, 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_and_parameters),
        cmocka_unit_test(the_command_line_wins),
        cmocka_unit_test(a_file_may_serve_all_subcommands),
        cmocka_unit_test(the_form_of_lines_does_not_matter),
        cmocka_unit_test(an_indented_line_continues_a_parameter),
        cmocka_unit_test(errors_name_file_and_line),
        cmocka_unit_test(a_wrong_value_is_an_error_even_if_overruled),
        cmocka_unit_test(long_lines_are_refused_whole),
        cmocka_unit_test(binary_and_huge_files_are_refused),
        cmocka_unit_test(a_long_section_cannot_pass_for_another),
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(settings_reach_their_parameters),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
