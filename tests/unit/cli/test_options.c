/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/cli/common/options.h"
#include "gen/format/format.h"
#include "gen/spec/dataset.h"
#include "libwriter/base/mem.h"
#include "ui/cli/options.h"
#include "ui/cli/values.h"

/* ---- a program without subcommands ---- */

struct bench_values {
    char dir[64];
    double budget_s;
    struct ui_sizes sizes;
    uint64_t layouts;
    bool verify;
};

static const char *const layouts[] = {"aligned", "packed", "shared", NULL};

static const struct ui_option bench_options[] = {
    {.param = {.key = "budget",
               .type = UI_PARAM_F64,
               .offset = offsetof(struct bench_values, budget_s),
               .min = 1,
               .max = 86400,
               .help = "time to spend"},
     .metavar = "TIME",
     .default_text = "2m",
     .read = ui_read_duration,
     .commands = 1,
     .section = "Sweep"},
    {.param = {.key = "blocksize",
               .type = UI_PARAM_SIZE,
               .offset = offsetof(struct bench_values, sizes),
               .min = 512,
               .max = 0x1p40,
               .help = "sizes to try"},
     .letter = 'b',
     .metavar = "SIZES",
     .default_text = "4K:16M:x2",
     .read = ui_read_sizes,
     .commands = 1,
     .section = "Sweep"},
    {.param = {.key = "layout", .offset = offsetof(struct bench_values, layouts), .help = "what to compare"},
     .metavar = "LIST",
     .default_text = "all",
     .read = ui_read_word_set,
     .words = ui_text_name_in_array,
     .word_list = layouts,
     .commands = 1,
     .section = "Sweep"},
    {.param = {.key = "verify",
               .type = UI_PARAM_BOOL,
               .offset = offsetof(struct bench_values, verify),
               .help = "read back"},
     .letter = 'v',
     .commands = 1,
     .section = "Checks"},
};

static const char *bench_version(void) {
    return "9.8.7";
}

static const struct ui_command bench_command = {.name = NULL, .help = "measure", .args = "DIR", .max_args = 2};

static const struct ui_program bench_program = {
    .name = "bench-it",
    .summary = "measure",
    .description = "Measures.",
    .version = bench_version,
    .commands = &bench_command,
    .command_count = 1,
    .options = bench_options,
    .option_count = sizeof bench_options / sizeof bench_options[0],
    .options_size = sizeof(struct bench_values),
};

/* ---- calling the parser with a list of words ---- */

enum { WORDS_MAX = 48 };

static int split(char *line, char **argv) {
    int argc = 0;
    argv[argc++] = (char *)(uintptr_t) "program";
    for (char *word = strtok(line, " "); word != NULL; word = strtok(NULL, " ")) {
        assert_true(argc < WORDS_MAX);
        argv[argc++] = strcmp(word, "''") == 0 ? word + 2 : word;
    }
    return argc;
}

struct options_call {
    struct gen_cli_options options;
    struct ui_parse parse;
    hpcw_error err;
    char line[512];
};

static hpcw_status call(struct options_call *c, const char *line) {
    char *argv[WORDS_MAX];
    (void)snprintf(c->line, sizeof c->line, "%s", line);
    c->err.message[0] = '\0';
    int argc = split(c->line, argv);
    return gen_cli_options_read(&c->options, &c->parse, argc, argv, &c->err);
}

static void good(struct options_call *c, const char *line) {
    if (call(c, line) != HPCW_OK) {
        fail_msg("%s: %s", line, c->err.message);
    }
}

static hpcw_status bench(struct bench_values *b, const char *line, hpcw_error *err) {
    char copy[512];
    char *argv[WORDS_MAX];
    struct ui_parse parse;
    (void)snprintf(copy, sizeof copy, "%s", line);
    int argc = split(copy, argv);
    hpcw_status status = ui_options_init(&parse, &bench_program, b, err);
    return status == HPCW_OK ? ui_options_parse(&parse, argc, argv, err) : status;
}

/* ---- accepted command lines ---- */

static void defaults_are_what_the_table_says(void **state) {
    (void)state;
    struct options_call c;
    good(&c, "--ranks 4096 --out d");
    assert_int_equal(c.parse.command, GEN_CLI_GENERATE);
    assert_int_equal(c.options.ranks, 4096);
    assert_string_equal(c.options.out, "d");
    assert_int_equal(c.options.seed, 2);
    assert_int_equal(c.options.formats, 0);
    assert_string_equal(c.options.preset, "dfplus-hdr200");
    assert_int_equal(c.options.scale, GEN_SCALE_MEDIUM);
    assert_int_equal(c.options.layout.blocksize, 4096);
    assert_int_equal(c.options.layout.files, 1);
    assert_int_equal(c.options.jobs, 0);
    assert_int_equal(c.options.part.index, 0);
    assert_int_equal(c.options.part.count, 1);
    assert_true(c.options.checksums);
    assert_false(c.options.resume || c.options.force || c.options.sync || c.options.quiet || c.options.json);
    assert_int_not_equal(c.parse.source[ui_options_find(&gen_cli_program, "ranks")], UI_FROM_DEFAULT);
    assert_int_equal(c.parse.source[ui_options_find(&gen_cli_program, "seed")], UI_FROM_DEFAULT);
    gen_cli_options_free(&c.options);
}

static void every_way_to_write_a_value(void **state) {
    (void)state;
    static const char *const lines[] = {
        "--ranks 64 --out d --jobs 3 --resume --quiet",
        "--ranks=64 --out=d --jobs=3 --resume --quiet",
        "-n 64 -o d -j 3 -r -q",
        "-n64 -od -j3 -rq",
        "-qrn64 -qro d -j 3",
        "generate -n 64 -o d -j 3 -r -q",
        "-n 1 -n 2 --ranks 64 -o x -o d -j auto -j3 -rq",
        "-q --no-quiet --quiet -r -o d -n 64 -j 3",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct options_call c;
        good(&c, lines[i]);
        assert_int_equal(c.options.ranks, 64);
        assert_string_equal(c.options.out, "d");
        assert_int_equal(c.options.jobs, 3);
        assert_true(c.options.resume && c.options.quiet);
    }
}

static void values_of_all_kinds(void **state) {
    (void)state;
    struct options_call c;
    good(&c, "-n 2 -o=x --seed 18446744073709551615 -f sion --preset torus-tofud --scale large -b 1M --files 7 "
             "--part 3/8 --sync --no-checksums --json --set a.b=c=d --set=e.f= --jobs auto");
    assert_string_equal(c.options.out, "=x"); /* only long options use '=' */
    assert_true(c.options.seed == UINT64_MAX);
    assert_int_equal(c.options.formats, 2);
    assert_string_equal(c.options.preset, "torus-tofud");
    assert_int_equal(c.options.scale, GEN_SCALE_LARGE);
    assert_int_equal(c.options.layout.blocksize, 1 << 20);
    assert_int_equal(c.options.layout.files, 7);
    assert_int_equal(c.options.part.index, 2);
    assert_int_equal(c.options.part.count, 8);
    assert_true(c.options.sync && !c.options.checksums && c.options.json);
    assert_int_equal(c.options.set.count, 2);
    assert_string_equal(c.options.set.items[0].key, "a.b");
    assert_string_equal(c.options.set.items[0].value, "c=d");
    assert_string_equal(c.options.set.items[0].origin, "--set");
    assert_string_equal(c.options.set.items[1].key, "e.f");
    assert_string_equal(c.options.set.items[1].value, "");
    gen_cli_options_free(&c.options);

    good(&c, "-n 2 -o d -f sion,linktest -b auto --part 1/1 --checksums");
    assert_int_equal(c.options.formats, 3);
    assert_int_equal(c.options.layout.blocksize, 0);
    good(&c, "-n 2 -o d -f all");
    assert_int_equal(c.options.formats, (UINT64_C(1) << gen_format_count) - 1);
}

static void subcommands_and_arguments(void **state) {
    (void)state;
    struct options_call c;
    good(&c, "verify dir");
    assert_int_equal(c.parse.command, GEN_CLI_VERIFY);
    assert_int_equal(c.parse.arg_count, 1);
    assert_string_equal(c.parse.args[0], "dir");
    good(&c, "verify -q dir -j 2");
    assert_true(c.options.quiet);
    assert_int_equal(c.options.jobs, 2);
    good(&c, "info --json -- --file");
    assert_string_equal(c.parse.args[0], "--file");
    good(&c, "info -");
    assert_string_equal(c.parse.args[0], "-");
    good(&c, "join verify"); /* the directory to join is named verify */
    assert_int_equal(c.parse.command, GEN_CLI_JOIN);
    assert_string_equal(c.parse.args[0], "verify");
    good(&c, "list --scale tiny");
    assert_int_equal(c.parse.command, GEN_CLI_LIST);
    good(&c, "plan -n 8");
    assert_int_equal(c.parse.command, GEN_CLI_PLAN);
    good(&c, "-n 8 --dry-run");
    assert_int_equal(c.parse.command, GEN_CLI_PLAN);
    assert_string_equal(c.options.out, "");
}

static void help_and_version_end_the_reading(void **state) {
    (void)state;
    static const struct {
        const char *line;
        enum ui_answer answer;
        int command;
    } rows[] = {
        {"--help", UI_ANSWER_HELP, GEN_CLI_GENERATE},
        {"-h", UI_ANSWER_HELP, GEN_CLI_GENERATE},
        {"plan --help", UI_ANSWER_HELP, GEN_CLI_PLAN},
        {"verify -qh", UI_ANSWER_HELP, GEN_CLI_VERIFY},
        {"-n 3 --help --nonsense", UI_ANSWER_HELP, GEN_CLI_GENERATE},
        {"help", UI_ANSWER_HELP, GEN_CLI_GENERATE},
        {"help plan", UI_ANSWER_HELP, GEN_CLI_PLAN},
        {"verify help", UI_ANSWER_HELP, GEN_CLI_VERIFY},
        {"--version", UI_ANSWER_VERSION, GEN_CLI_GENERATE},
        {"-V", UI_ANSWER_VERSION, GEN_CLI_GENERATE},
        {"--help-man", UI_ANSWER_MAN, GEN_CLI_GENERATE},
        {"--help-completion zsh", UI_ANSWER_COMPLETION, GEN_CLI_GENERATE},
        {"--help-completion=fish", UI_ANSWER_COMPLETION, GEN_CLI_GENERATE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct options_call c;
        good(&c, rows[i].line);
        assert_int_equal(c.parse.answer, rows[i].answer);
        assert_int_equal(c.parse.command, rows[i].command);
    }
}

/* ---- refused command lines ---- */

static void errors_say_what_wanted_and_got(void **state) {
    (void)state;
    static const struct {
        const char *line;
        hpcw_status status;
        const char *message; /* '*' at the end matches any text */
    } rows[] = {
        {"", HPCW_EINVAL, "generate: expected --ranks N, got none (see --help)"},
        {"-n 4", HPCW_EINVAL, "generate: expected --out DIR, got none (see --help)"},
        {"--rank 3", HPCW_EINVAL, "--rank: expected an option of generate, got no such; did you mean --ranks?"},
        {"--rnaks=3", HPCW_EINVAL,
         "--rnaks: expected an option of generate, got no such; did you mean --ranks?"},
        {"--nonsense", HPCW_EINVAL, "--nonsense: expected an option of generate (see --help), got no such"},
        {"--no-checksum", HPCW_EINVAL,
         "--no-checksum: expected an option of generate, got no such; did you mean --no-checksums?"},
        {"--no-resume", HPCW_EINVAL,
         "--no-resume: expected an option of generate, got no such; did you mean --resume?"},
        {"verify --rank x", HPCW_EINVAL,
         "--rank: expected an option of verify, got no such; did you mean --ranks?"},
        {"verify --ranks 3 x", HPCW_EINVAL,
         "--ranks: expected an option of verify, got one of generate, plan, repair"},
        {"info -n3 x", HPCW_EINVAL, "-n: expected an option of info, got one of generate, plan, repair"},
        {"-Z", HPCW_EINVAL, "-Z: expected an option of generate (see --help), got no such"},
        {"-n", HPCW_EINVAL, "-n: expected a value (N), got the end of the command line"},
        {"--out", HPCW_EINVAL, "--out: expected a value (DIR), got the end of the command line"},
        {"--out --force", HPCW_EINVAL,
         "--out: expected a value (DIR), got the option --force (--out=--force if it is the value)"},
        {"-o --force", HPCW_EINVAL,
         "-o: expected a value (DIR), got the option --force (-o--force if it is the value)"},
        {"--out=", HPCW_EINVAL, "--out: expected a value (DIR), got an empty one"},
        {"-o ''", HPCW_EINVAL, "-o: expected a value (DIR), got an empty one"},
        {"--json=yes", HPCW_EINVAL, "--json: expected no value, got \"yes\""},
        {"--help=yes", HPCW_EINVAL, "--help: expected no value, got \"yes\""},
        {"--help-completion tcsh", HPCW_EINVAL, "--help-completion: expected bash, zsh or fish, got \"tcsh\""},
        {"genrate", HPCW_EINVAL, "unknown command `genrate`; did you mean `generate`?"},
        {"-q genrate", HPCW_EINVAL, "unknown command `genrate`; did you mean `generate`?"},
        {"synth", HPCW_EINVAL, "unknown command `synth`: expected one of generate, plan, verify, info, *"},
        {"help genrate", HPCW_EINVAL, "unknown command `genrate`; did you mean `generate`?"},
        {"--ranks 64 d", HPCW_EINVAL, "generate: expected options only, got \"d\"; did you mean --out d?"},
        {"plan -n 64 d", HPCW_EINVAL, "plan: expected options only, got \"d\"; did you mean --out d?"},
        {"-n 64 -o e d", HPCW_EINVAL, "generate: expected options only, got \"d\""},
        {"--quiet verify d", HPCW_EINVAL,
         "command verify: expected as the first word, got it after \"--quiet\""},
        {"generate x", HPCW_EINVAL, "generate: expected options only, got \"x\"; did you mean --out x?"},
        {"verify", HPCW_EINVAL, "verify: expected DIR|FILE, got 0 arguments"},
        {"verify a b", HPCW_EINVAL, "verify: expected at most 1 argument (DIR|FILE), got \"b\" beyond"},
        {"-f linktset", HPCW_EINVAL, "-f: expected one of linktest, sion, *"},
        {"-f sion,", HPCW_EINVAL, "-f: expected one of linktest, sion, *"},
        {"--preset torus", HPCW_EINVAL, "--preset: expected one of dfplus-hdr200, *"},
        {"--part 0/3", HPCW_ERANGE, "--part: expected I/N with 1 <= I <= N, got \"0/3\""},
        {"--part 4/3", HPCW_ERANGE, "--part: expected I/N with 1 <= I <= N, got \"4/3\""},
        {"--part 1", HPCW_EINVAL, "--part: expected I/N, for instance 1/4, got \"1\""},
        {"--part +1/3", HPCW_EINVAL, "--part: expected I/N, for instance 1/4, got \"+1/3\""},
        {"--part 1/4294967297", HPCW_EINVAL, "--part: expected I/N, for instance 1/4, got \"1/4294967297\""},
        {"--set x", HPCW_EINVAL, "--set: expected KEY=VALUE, got \"x\""},
        {"--set =x", HPCW_EINVAL, "--set: expected KEY=VALUE, got \"=x\""},
        {"-n 2 -o d --resume --force", HPCW_EINVAL, "--resume and --force: expected one of them, got both*"},
        {"-n 0 -o d", HPCW_ERANGE, "-n: *"},
        {"-n x -o d", HPCW_EINVAL, "-n: *"},
        {"--scale huge", HPCW_EINVAL, "--scale: *"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct options_call c;
        hpcw_status status = call(&c, rows[i].line);
        size_t length = strlen(rows[i].message);
        bool open = rows[i].message[length - 1] == '*';
        if (status != rows[i].status || c.err.code != status ||
            (open ? strncmp(c.err.message, rows[i].message, length - 1)
                  : strcmp(c.err.message, rows[i].message)) != 0) {
            fail_msg("\"%s\": expected %d %s, got %d %s", rows[i].line, (int)rows[i].status, rows[i].message,
                     (int)status, c.err.message);
        }
        assert_null(strchr(c.err.message, '\n'));
        gen_cli_options_free(&c.options);
    }
}

static void long_words_do_not_harm(void **state) {
    (void)state;
    static char word[20000];
    struct options_call c;
    char *argv[] = {(char *)(uintptr_t) "hpcgen", word, NULL};
    static const char *const heads[] = {"--",     "--out=",     "-o",      "-",      "",
                                        "--set=", "--formats=", "--part=", "--seed="};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        memset(word, 'Q', sizeof word - 1);
        memcpy(word, heads[i], strlen(heads[i]));
        hpcw_status status = gen_cli_options_read(&c.options, &c.parse, 2, argv, &c.err);
        assert_true(status < 0);
        assert_true(strlen(c.err.message) < sizeof c.err.message);
        gen_cli_options_free(&c.options);
        assert_true(gen_cli_options_read(&c.options, &c.parse, 2, argv, NULL) == status); /* err may be NULL */
        gen_cli_options_free(&c.options);
    }
}

static int allocations_left;
static _Bool limited(size_t size) {
    (void)size;
    return allocations_left-- > 0;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    struct options_call c;
    int n = 0;
    hpcw_i_mem_gate = limited;
    for (;; n++) {
        allocations_left = n;
        hpcw_status status = call(&c, "-n 2 -o d --set a.b=1 --set c.d=2");
        gen_cli_options_free(&c.options);
        if (status == HPCW_OK) {
            break;
        }
        if (status != HPCW_ENOMEM) {
            hpcw_i_mem_gate = NULL;
            fail_msg("allocation %d: %s", n, c.err.message);
        }
    }
    hpcw_i_mem_gate = NULL;
    assert_in_range(n, 6, 20);
}

/* ---- values of the benchmark ---- */

static void durations(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double seconds; /* < 0: refused */
    } rows[] = {
        {"90", 90},   {"90s", 90}, {"2m", 120}, {"2min", 120}, {"1.5h", 5400}, {".5h", 1800}, {"1500ms", 1.5},
        {"1.", 1},    {"", -1},    {"m", -1},   {".", -1},     {"1d", -1},     {"-5", -1},    {"1e3", -1},
        {"0x10", -1}, {"inf", -1}, {"nan", -1}, {"2ms", -1},   {"25h", -1},    {"1..2", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bench_values b;
        hpcw_error err;
        char line[64];
        (void)snprintf(line, sizeof line, "--budget=%s", rows[i].text);
        hpcw_status status = bench(&b, line, &err);
        if (rows[i].seconds < 0 ? status == HPCW_OK : status != HPCW_OK || b.budget_s != rows[i].seconds) {
            fail_msg("\"%s\": expected %g s, got status %d, %g s", rows[i].text, rows[i].seconds, (int)status,
                     b.budget_s);
        }
    }
}

static void sweeps_of_sizes(void **state) {
    (void)state;
    struct bench_values b;
    hpcw_error err;
    assert_int_equal(bench(&b, "", &err), HPCW_OK);
    assert_int_equal(b.sizes.count, 13);
    assert_int_equal(b.sizes.at[0], 4096);
    assert_int_equal(b.sizes.at[12], 16 << 20);
    assert_true(b.budget_s == 120);
    assert_int_equal(b.layouts, 7);

    assert_int_equal(bench(&b, "-b 4K,8K:24K:+8K,1M,1000:9999:x3", &err), HPCW_OK);
    static const uint64_t expected[] = {4096, 8192, 16384, 24576, 1 << 20, 1000, 3000, 9000};
    assert_int_equal(b.sizes.count, sizeof expected / sizeof expected[0]);
    assert_memory_equal(b.sizes.at, expected, sizeof expected);

    assert_int_equal(bench(&b, "-b 512:1024G:x1000000000", &err), HPCW_EINVAL); /* ten digits */
    assert_int_equal(bench(&b, "-b 512:1024G:x999999999", &err), HPCW_OK);
    assert_int_equal(b.sizes.count, 2);

    static const char *const wrong[] = {"4K:",       "4K:8K",     "4K:8K:",      "4K:8K:2",     "4K:8K:x1",
                                        "4K:8K:x",   "8K:4K:x2",  "4K:8K:+0",    "4K,",         ",4K",
                                        "1",         "4K:8K:x-2", "4K:8K:+1:x2", "511:1024:x2", "4K:2048G:x2",
                                        "4K:16G:+1", "x:y:z",     "4K:8K:*2"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char line[64];
        (void)snprintf(line, sizeof line, "--blocksize=%s", wrong[i]);
        err.message[0] = '\0';
        if (bench(&b, line, &err) == HPCW_OK) {
            fail_msg("\"%s\" was taken", wrong[i]);
        }
        assert_int_equal(strncmp(err.message, "--blocksize: expected ", 20), 0);
    }
}

static void a_program_without_subcommands(void **state) {
    (void)state;
    struct bench_values b;
    hpcw_error err;
    assert_int_equal(bench(&b, "dir -v --layout packed", &err), HPCW_OK);
    assert_true(b.verify);
    assert_int_equal(b.layouts, 2);
    assert_int_equal(bench(&b, "a b c", &err), HPCW_EINVAL);
    assert_string_equal(err.message, "bench-it: expected at most 2 arguments (DIR), got \"c\" beyond");
    assert_int_equal(bench(&b, "--verfy", &err), HPCW_EINVAL);
    assert_string_equal(err.message,
                        "--verfy: expected an option of bench-it, got no such; did you mean --verify?");
}

/* ---- output ---- */

static char *printed(const struct ui_parse *parse) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    ui_options_answer(parse, stream);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static char *answer_to(const char *line) {
    struct options_call c;
    good(&c, line);
    return printed(&c.parse);
}

static void has(const char *text, const char *part, const char *what) {
    assert_non_null(text);
    if (strstr(text, part) == NULL) {
        fail_msg("%s: expected \"%s\", got:\n%s", what, part, text);
    }
}

static void the_version_is_the_library_s(void **state) {
    (void)state;
    char *text = answer_to("--version");
    char expected[64];
    (void)snprintf(expected, sizeof expected, "hpcgen %s\nbuilt with ", gen_cli_program.version());
    assert_int_equal(strncmp(text, expected, strlen(expected)), 0);
    has(text, "MPI", "version");
    has(text, "HDF5", "version");
    has(text, "OTF2", "version");
    has(text, ", Lua 5.", "version");
    free(text);
}

/* Returns whether a text has the option itself, and not only a longer option that begins with its name. */
static bool names(const char *text, const char *option) {
    const size_t size = strlen(option);
    for (const char *found = strstr(text, option); found != NULL; found = strstr(found + 1, option)) {
        if (found[size] != '-' && (found[size] < 'a' || found[size] > 'z')) {
            return true;
        }
    }
    return false;
}

static void help_names_every_option_where_it_is_taken(void **state) {
    (void)state;
    static const unsigned widths[] = {20, 59, 60, 80, 100};
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        for (size_t k = 0; k < gen_cli_program.command_count; k++) {
            struct ui_parse parse = {.program = &gen_cli_program, .command = k, .command_named = k != 0};
            char *text = NULL;
            size_t size = 0;
            FILE *stream = open_memstream(&text, &size);
            assert_non_null(stream);
            ui_options_print_help(&parse, stream, widths[w]);
            assert_int_equal(fclose(stream), 0);
            for (size_t i = 0; i < gen_cli_program.option_count; i++) {
                const struct ui_option *option = &gen_cli_program.options[i];
                char name[64];
                bool negated = (option->flags & UI_OPTION_NEGATABLE) != 0;
                (void)snprintf(name, sizeof name, "--%s%s%s%s",
                               !negated               ? ""
                               : option->default_text ? "no-"
                                                      : "[no-]",
                               option->param.key, option->metavar == NULL ? "" : " ",
                               option->metavar == NULL ? "" : option->metavar);
                if ((option->commands & UI_COMMAND(k)) != 0) {
                    has(text, name, "help");
                } else if (k != 0) {
                    assert_false(names(text, name));
                }
            }
            has(text, "--version", "help");
            /* in narrower texts, an option and its argument may be longer than a line */
            if (widths[w] >= 80) {
                for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
                    assert_in_range(strlen(line), 1, widths[w]);
                    assert_true(line[strlen(line) - 1] != ' ');
                }
            }
            free(text);
        }
    }
}

static void examples_are_command_lines(void **state) {
    (void)state;
    for (size_t k = 0; k < gen_cli_program.command_count; k++) {
        for (size_t i = 0; i < UI_EXAMPLES; i++) {
            static const char program[] = "hpcgen ";
            char line[128];
            struct options_call c;
            const char *example = gen_cli_program.examples[k][i];
            assert_int_equal(strncmp(example, program, sizeof program - 1), 0);
            (void)snprintf(line, sizeof line, "%s", example + sizeof program - 1);
            line[strcspn(line, "|")] = '\0';
            good(&c, line);
            assert_int_equal(c.parse.command, k);
            gen_cli_options_free(&c.options);
        }
    }
}

static void the_first_lines_of_help(void **state) {
    (void)state;
    char *text = answer_to("plan --help");
    has(text, "Usage: hpcgen plan --ranks N [OPTION...]\n\n", "usage");
    has(text, "  -n, --ranks N           number of virtual ranks", "a row");
    has(text, "(default: 4096)", "a default");
    has(text, "tiny, small, medium, large", "choices");
    free(text);
    text = answer_to("--help");
    has(text, "Usage: hpcgen [generate] --ranks N --out DIR [OPTION...]\n       hpcgen COMMAND ", "usage");
    has(text, "\n  verify      check ", "a command");
    free(text);
}

static void manual_and_completions_name_every_option(void **state) {
    (void)state;
    char *man = answer_to("--help-man");
    char *bash = answer_to("--help-completion bash");
    char *zsh = answer_to("--help-completion zsh");
    char *fish = answer_to("--help-completion fish");
    for (size_t i = 0; i < gen_cli_program.option_count; i++) {
        const struct ui_option *option = &gen_cli_program.options[i];
        const char *key = option->param.key;
        bool only_negated = (option->flags & UI_OPTION_NEGATABLE) != 0 && option->default_text != NULL;
        char name[96], escaped[80];
        (void)snprintf(name, sizeof name, "--%s%s", only_negated ? "no-" : "", key);
        has(bash, name, "bash");
        has(zsh, name, "zsh");
        (void)snprintf(name, sizeof name, " -l %s%s ", only_negated ? "no-" : "", key);
        has(fish, name, "fish");
        size_t n = 0;
        for (const char *p = key; *p != '\0'; p++) {
            n += (size_t)snprintf(escaped + n, sizeof escaped - n, *p == '-' ? "\\-" : "%c", *p);
        }
        (void)snprintf(name, sizeof name, "%s\\fR", escaped);
        has(man, name, "manual");
    }
    for (size_t k = 0; k < gen_cli_program.command_count; k++) {
        has(man, gen_cli_program.commands[k].name, "manual");
        has(bash, gen_cli_program.commands[k].name, "bash");
    }
    for (size_t i = 0; gen_cli_topics[i] != NULL; i++) {
        has(bash, gen_cli_topics[i], "bash");
        has(zsh, gen_cli_topics[i], "zsh");
        has(fish, gen_cli_topics[i], "fish");
    }
    has(zsh, ":\\[TOPIC\\]:(run machine ", "zsh");
    has(fish, "-n '__hpcgen_is list; and not __hpcgen_first' -a 'run machine ", "fish");
    has(man, "\n.SH EXIT STATUS\n", "manual");
    assert_int_equal(strncmp(zsh, "#compdef hpcgen\n", 16), 0);
    has(bash, "\ncomplete -F _hpcgen hpcgen\n", "bash");
    free(man);
    free(bash);
    free(zsh);
    free(fish);
}

/* Each group of parameters is a topic of `list`. */
static void each_group_is_a_topic(void **state) {
    const char *key;
    (void)state;
    for (size_t i = 0; (key = gen_dataset_key(NULL, i)) != NULL; i++) {
        bool found = false;
        for (size_t k = 0; gen_cli_topics[k] != NULL; k++) {
            const size_t n = strlen(gen_cli_topics[k]);
            found = found || (strncmp(key, gen_cli_topics[k], n) == 0 && key[n] == '.');
        }
        assert_true(found);
    }
}

/* Returns the words of a text with one blank between them. If the text is a manual page, leaves out roff's
 * requests, fonts and escapes. */
static char *words_of(const char *text, bool is_page) {
    char *words = malloc(strlen(text) + 1);
    size_t n = 0;
    assert_non_null(words);
    for (const char *p = text; *p != '\0';) {
        const bool line_start = p == text || p[-1] == '\n';
        if (is_page && line_start && *p == '.') {
            p += strcspn(p, "\n");
        } else if (is_page && *p == '\\') {
            if (p[1] == '-' || p[1] == 'e') {
                words[n++] = p[1] == '-' ? '-' : '\\';
            }
            p += p[1] == 'f' ? 3 : 2;
        } else if (*p == ' ' || *p == '\n') {
            if (n > 0 && words[n - 1] != ' ') {
                words[n++] = ' ';
            }
            p++;
        } else {
            words[n++] = *p++;
        }
    }
    words[n > 0 && words[n - 1] == ' ' ? n - 1 : n] = '\0';
    return words;
}

static void has_words(const char *words, const char *text, const char *where) {
    char *wanted = words_of(text, false);
    has(words, wanted, where);
    free(wanted);
}

static void manual_has_all_of_each_text(void **state) {
    (void)state;
    char *text = answer_to("--help-man");
    char *man = words_of(text, true);
    free(text);
    has_words(man, gen_cli_program.description, "manual");
    for (size_t c = 0; c < gen_cli_program.chapter_count; c++) {
        has_words(man, gen_cli_program.chapters[c].text, gen_cli_program.chapters[c].title);
    }
    for (size_t k = 0; k < gen_cli_program.command_count; k++) {
        char line[64];
        (void)snprintf(line, sizeof line, "%s --help", gen_cli_program.commands[k].name);
        text = answer_to(line);
        char *help = words_of(text, false);
        free(text);
        has_words(man, gen_cli_program.commands[k].help, "manual");
        for (size_t i = 0; i < gen_cli_program.option_count; i++) {
            const struct ui_option *option = &gen_cli_program.options[i];
            if ((option->commands & UI_COMMAND(k)) == 0) {
                continue;
            }
            has_words(help, option->param.help, option->param.key);
            has_words(man, option->param.help, option->param.key);
            if (option->default_text != NULL && option->metavar != NULL) {
                char end[96];
                (void)snprintf(end, sizeof end, "(default: %s)",
                               option->default_help != NULL ? option->default_help : option->default_text);
                has(help, end, option->param.key);
                has(man, end, option->param.key);
            }
        }
        free(help);
    }
    free(man);
}

/* Characters special to roff or a shell, which would break a page or a script. */
static const struct ui_option nasty_options[] = {
    {.param = {.key = "it's", .help = "it's a [\"value\"]: `x` \\ $HOME"},
     .metavar = "A:B",
     .commands = 1,
     .section = ".Dots"},
};
static const struct ui_chapter nasty_chapters[] = {{"T", ".dot\n'quote\n\n  code \\n\n\n  more\nend\n"}};

static void special_characters_are_escaped(void **state) {
    (void)state;
    struct ui_program program = bench_program;
    program.options = nasty_options;
    program.option_count = 1;
    program.chapters = nasty_chapters;
    program.chapter_count = 1;
    struct ui_parse parse = {.program = &program, .answer = UI_ANSWER_MAN};
    char *text = printed(&parse);
    has(text, "\n.SS \\&.Dots\n", "manual");
    has(text, "\n\\&.dot\n\\&'quote\n.PP\n.nf\n.RS\ncode \\en\n.sp\nmore\n.RE\n.fi\n.PP\nend\n", "manual");
    has(text, "`x` \\e $HOME", "manual");
    free(text);
    parse.answer = UI_ANSWER_COMPLETION;
    parse.shell = 1;
    text = printed(&parse);
    has(text, "[it'\\''s a \\[\"value\"\\]\\: `x` \\\\ $HOME]:A\\:B: '", "zsh");
    free(text);
    parse.shell = 2;
    text = printed(&parse);
    has(text, "-d 'it\\'s a [\"value\"]: `x` \\\\ $HOME'", "fish");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_what_the_table_says),
        cmocka_unit_test(every_way_to_write_a_value),
        cmocka_unit_test(values_of_all_kinds),
        cmocka_unit_test(subcommands_and_arguments),
        cmocka_unit_test(help_and_version_end_the_reading),
        cmocka_unit_test(errors_say_what_wanted_and_got),
        cmocka_unit_test(long_words_do_not_harm),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(durations),
        cmocka_unit_test(sweeps_of_sizes),
        cmocka_unit_test(a_program_without_subcommands),
        cmocka_unit_test(the_version_is_the_library_s),
        cmocka_unit_test(help_names_every_option_where_it_is_taken),
        cmocka_unit_test(examples_are_command_lines),
        cmocka_unit_test(the_first_lines_of_help),
        cmocka_unit_test(manual_and_completions_name_every_option),
        cmocka_unit_test(each_group_is_a_topic),
        cmocka_unit_test(manual_has_all_of_each_text),
        cmocka_unit_test(special_characters_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
