/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line, from one table. A program describes its subcommands and options once; parsing, --help,
 * configuration files, the manual page and the completions of three shells all read that description.
 *
 *     struct ui_parse parse;
 *     status = ui_options_init(&parse, &program, &options, &err);        defaults
 *     status = ui_options_parse(&parse, argc, argv, &err);               the command line
 *     if (parse.answer != UI_ANSWER_NONE)
 *         return ui_options_answer(&parse, stdout), 0;                   --help and similar options
 *     status = ui_config_read(&parse, options.config, &err);             config.h; the command line wins
 *     status = ui_options_finish(&parse, &err);                          options that are missing
 *     switch (parse.command) ...  parse.args[0] ...  options.ranks ...
 *
 * The forms are --name value, --name=value, -n value, -nvalue, and -abc for three flags. Options and arguments
 * may come in any order, except in a program that starts another one. "--" ends the options. The subcommand comes
 * first. Without it the first one of the table runs. "help" means "--help", and "help X" and "X help" mean "X
 * --help". A file named help is given as ./help. Names are never abbreviated. If an option is given twice, the
 * last one counts. A value in a separate word cannot begin with "--": `--out --force` lacks a value,
 * `--out=--force` has one.
 */
#ifndef HPCW_UI_CLI_OPTIONS_H
#define HPCW_UI_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <hpcw/status.h>

#include "ui/cli/settings.h"
#include "ui/cli/text.h"
#include "ui/param/param.h"

enum {
    UI_OPTIONS_MAX = 128, /* rows of a table */
    UI_ARGS_MAX = 16384,  /* arguments of a subcommand: enough for a file of each process */
};

/* ---- The description of a program ---- */

struct ui_command {
    const char *name; /* "plan"; NULL in a program without subcommands, which has one row */
    const char *help; /* one phrase without a full stop */
    const char *args; /* arguments of the subcommand for the usage line, "DIR|FILE"; NULL: none */
    unsigned min_args, max_args;
};

/* Bit of a subcommand in ui_option.commands and .required. */
#define UI_COMMAND(index) (UINT32_C(1) << (index))

enum ui_option_flag {
    UI_OPTION_NEGATABLE = 1, /* a flag that also has a --no- form */
    UI_OPTION_NO_CONFIG = 2, /* the option is no key of a configuration file */
    UI_OPTION_STRAY = 4,     /* a superfluous argument was probably meant for this option */
};

struct ui_option;

/*
 * Parses text into the field at `field`. `name` is the name of the option for messages: "--part", or the key in a
 * configuration file. `origin` says where the value was given: "--part" or "run.ini:3".
 */
typedef hpcw_status ui_option_read(const struct ui_option *option, void *field, const char *name,
                                   const char *text, const char *origin, hpcw_error *err);

struct ui_option {
    /*
     * `key` is the long name without dashes. `offset` is the offset of the field in the program's struct. `type`,
     * `min`, `max`, `choices` and `size` are as in any parameter. `help` is one sentence, without a full stop and
     * without the default.
     */
    struct ui_param param;
    const char *metavar; /* "N"; "DIR" and "FILE" are completed as paths. NULL: a flag, param.type is BOOL */
    const char *default_text; /* default value, as on the command line; NULL: the field is zeroed */
    const char *default_help; /* the default as help shows it, for instance "the end"; NULL: default_text */
    const char *zero_word;    /* a word that stands for the number 0, for instance "auto"; NULL: none */
    ui_option_read *read;     /* parser; NULL: the one for param.type. values.h has more */
    ui_text_name *words;      /* legal or likely words, for messages and completion; NULL: none */
    const void *word_list;    /* first argument of `words` */
    const char *section;      /* heading in help and manual; rows of a section stand together */
    uint32_t commands;        /* subcommands that take the option: sum of UI_COMMAND */
    uint32_t required;        /* subcommands that require the option: sum of UI_COMMAND */
    unsigned flags;           /* sum of enum ui_option_flag */
    char letter;              /* 'n' for -n, or 0 */
};

/* A row of the table. The first parameters are members that all options have; designators for other members may
 * follow. `owner` is the type of the program's options struct. */
#define UI_OPTION(owner, section_, commands_, letter_, name, metavar_, kind, field, help_, ...)                \
    {                                                                                                          \
        .section = section_, .commands = commands_, .letter = letter_, .metavar = metavar_, .param.key = name, \
        .param.type = UI_PARAM_##kind, .param.offset = offsetof(owner, field),                                 \
        .param.size = sizeof((owner *)0)->field, .param.help = help_, __VA_ARGS__                              \
    }
#define UI_LIMITS(least, most) .param.min = (least), .param.max = (most)

enum { UI_EXAMPLES = 2 }; /* number of example command lines of a subcommand */

/* A chapter of the manual. Blank lines separate paragraphs; lines that begin with a space stay as they are. */
struct ui_chapter {
    const char *title; /* "EXIT STATUS" */
    const char *text;
};

struct ui_program {
    const char *name;    /* "hpcgen"; also the section of its options in a configuration file */
    const char *summary; /* one phrase, for the NAME line of the manual */
    const char *description;
    const char *(*version)(void);
    const struct ui_command *commands; /* the first one runs if none is named */
    size_t command_count;
    const struct ui_option *options;
    size_t option_count;
    size_t options_size; /* sizeof the program's own struct */
    const struct ui_chapter *chapters;
    size_t chapter_count;
    /* the first argument names a program to start; all words after it are for that program */
    bool starts_another;
    /* [command_count] examples of each subcommand, for --help and the chapter EXAMPLES; NULL: none */
    const char *const (*examples)[UI_EXAMPLES];
    /* [command_count] for completions: words that the argument of a subcommand may be, NULL-terminated; NULL:
     * any */
    const char *const *const *words;
};

/* ---- the result of parsing ---- */

enum ui_answer {
    UI_ANSWER_NONE,      /* run the subcommand */
    UI_ANSWER_HELP,      /* --help, -h: help for all subcommands, or for the named one */
    UI_ANSWER_VERSION,   /* --version, -V: the program, and the libraries of this build */
    UI_ANSWER_MAN,       /* --help-man: the manual page, for the build; --help does not show this option */
    UI_ANSWER_COMPLETION /* --help-completion bash|zsh|fish; --help does not show this option */
};

enum ui_origin { UI_FROM_DEFAULT = 0, UI_FROM_CONFIG, UI_FROM_COMMAND_LINE };

struct ui_parse {
    const struct ui_program *program;
    void *options; /* the program's struct, borrowed */
    size_t command;
    bool command_named;
    enum ui_answer answer;
    int shell;                     /* for UI_ANSWER_COMPLETION: index into bash, zsh, fish */
    const char *args[UI_ARGS_MAX]; /* point into argv */
    size_t arg_count;
    unsigned char source[UI_OPTIONS_MAX]; /* [row] an enum ui_origin */
};

/* Clears *parse and the program's struct, and fills in the defaults. HPCW_EINTERNAL: a default in
 * the table is not valid. */
HPCW_MUST_CHECK hpcw_status ui_options_init(struct ui_parse *parse, const struct ui_program *program,
                                            void *options, hpcw_error *err);

/* Reads argv[1 .. argc-1]. HPCW_EINVAL, HPCW_ERANGE, HPCW_ENOMEM: the message is one line. */
HPCW_MUST_CHECK hpcw_status ui_options_parse(struct ui_parse *parse, int argc, char *const *argv,
                                             hpcw_error *err);

/*
 * Checks that all required options of the subcommand were given. HPCW_EINVAL names the first one that is missing.
 */
HPCW_MUST_CHECK hpcw_status ui_options_finish(const struct ui_parse *parse, hpcw_error *err);

/* Prints the answer to --help, --version and the hidden options. Help is as wide as the stream's terminal, but at
 * most 100 columns. */
void ui_options_answer(const struct ui_parse *parse, FILE *stream);

/* ---- For the other files of this directory ---- */

/* Sets row `index` from text; `name` and `origin` as in ui_option_read. */
HPCW_MUST_CHECK hpcw_status ui_options_set(struct ui_parse *parse, size_t index, const char *name,
                                           const char *text, const char *origin, enum ui_origin source,
                                           hpcw_error *err);

/* Returns the row of a long name, which is given without dashes; option_count if there is none. */
size_t ui_options_find(const struct ui_program *program, const char *name);

/* Returns the long name, without dashes, that is nearest to `name` among the options of `commands`. NULL: none is
 * near. */
const char *ui_options_nearest(const struct ui_program *program, uint32_t commands, const char *name);

void ui_options_print_help(const struct ui_parse *parse, FILE *stream, unsigned width);
void ui_options_print_man(const struct ui_program *program, FILE *stream);
void ui_options_print_bash(const struct ui_program *program, FILE *stream);
void ui_options_print_zsh(const struct ui_program *program, FILE *stream);
void ui_options_print_fish(const struct ui_program *program, FILE *stream);

#endif
