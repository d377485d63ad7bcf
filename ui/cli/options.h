/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F5: the command line, from one table. A program describes its subcommands and options once; parsing, --help,
 * configuration files, the manual page and the completions of three shells all read that description.
 *
 *     struct hpcw_i_parse parse;
 *     status = hpcw_i_options_init(&parse, &program, &options, &err);        defaults
 *     status = hpcw_i_options_parse(&parse, argc, argv, &err);               the command line
 *     if (parse.answer != HPCW_I_ANSWER_NONE)
 *         return hpcw_i_options_answer(&parse, stdout), 0;                   --help and its like
 *     status = hpcw_i_config_read(&parse, options.config, &err);             config.h; the command line wins
 *     status = hpcw_i_options_finish(&parse, &err);                          what is missing
 *     switch (parse.command) ...  parse.args[0] ...  options.ranks ...
 *
 * The command line: --name value, --name=value, -n value, -nvalue, -abc for three flags; options and arguments
 * in any order; "--" ends the options; the subcommand comes first, without one the first of the table is meant.
 * Names are never abbreviated. Of an option given twice the last one counts. A value of its own word cannot
 * begin with "--": `--out --force` is a forgotten value, `--out=--force` says it is not.
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
    HPCW_I_OPTIONS_MAX = 128, /* rows of a table */
    HPCW_I_ARGS_MAX = 16384,  /* arguments of a subcommand: a file of every process */
};

/* ---- what a program describes ---- */

struct hpcw_i_command {
    const char *name; /* "plan"; NULL in a program without subcommands, which has one row */
    const char *help; /* one phrase without a full stop */
    const char *args; /* its arguments for the usage line, "DIR|FILE"; NULL: none */
    unsigned min_args, max_args;
};

/* Bit of a subcommand in hpcw_i_option.commands and .required: its place in the table. */
#define HPCW_I_COMMAND(index) (UINT32_C(1) << (index))

enum hpcw_i_option_flag {
    HPCW_I_OPTION_NEGATABLE = 1, /* a flag that also has a --no- form */
    HPCW_I_OPTION_NO_CONFIG = 2, /* no key of a configuration file */
};

struct hpcw_i_option;

/*
 * Turns text into the field at `field`. `name` is how to call the option in a message ("--part", or the key in
 * a configuration file), `origin` where it was said ("--part", "run.ini:3").
 */
typedef hpcw_status hpcw_i_option_read(const struct hpcw_i_option *option, void *field, const char *name,
                                       const char *text, const char *origin, hpcw_error *err);

struct hpcw_i_option {
    /*
     * key: the long name without dashes. offset: of the field in the program's own options struct. type, min,
     * max, choices, size as in any parameter; help: one sentence without a full stop and without the default.
     */
    struct hpcw_i_param param;
    const char *metavar;      /* "N"; DIR and FILE are completed as such. NULL: a flag, param.type is BOOL */
    const char *default_text; /* as one would write it; NULL: the field is zeroed */
    const char *zero_word;    /* a word for the value 0 of a number, "auto"; NULL: none */
    hpcw_i_option_read *read; /* NULL: by param.type; values.h has others */
    hpcw_i_text_name *words;  /* legal or likely words, for messages and completion; NULL: none */
    const void *word_list;    /* first argument of `words` */
    const char *section;      /* heading in help and manual; rows of a section stand together */
    uint32_t commands;        /* subcommands that take it */
    uint32_t required;        /* subcommands that cannot do without */
    unsigned flags;           /* of hpcw_i_option_flag */
    char letter;              /* 'n' for -n, or 0 */
};

/* A chapter of the manual. Blank lines part paragraphs; lines that begin with a space are set as they are. */
struct hpcw_i_chapter {
    const char *title; /* "EXIT STATUS" */
    const char *text;
};

struct hpcw_i_program {
    const char *name;    /* "hpcgen"; also the section of its options in a configuration file */
    const char *summary; /* one phrase, for the NAME line of the manual */
    const char *description;
    const char *(*version)(void);
    const struct hpcw_i_command *commands; /* the first one is meant where none is named */
    size_t command_count;
    const struct hpcw_i_option *options;
    size_t option_count;
    size_t options_size; /* sizeof the program's own struct */
    const struct hpcw_i_chapter *chapters;
    size_t chapter_count;
};

/* ---- what became of a command line ---- */

enum hpcw_i_answer {
    HPCW_I_ANSWER_NONE,      /* run the subcommand */
    HPCW_I_ANSWER_HELP,      /* --help, -h: all subcommands, or those of the one named */
    HPCW_I_ANSWER_VERSION,   /* --version, -V */
    HPCW_I_ANSWER_MAN,       /* --help-man: the manual page; these two are for the build and not shown */
    HPCW_I_ANSWER_COMPLETION /* --help-completion bash|zsh|fish */
};

enum hpcw_i_source { HPCW_I_FROM_DEFAULT = 0, HPCW_I_FROM_CONFIG, HPCW_I_FROM_COMMAND_LINE };

struct hpcw_i_parse {
    const struct hpcw_i_program *program;
    void *options; /* the program's struct, borrowed */
    size_t command;
    bool command_named;
    enum hpcw_i_answer answer;
    int shell;                         /* of HPCW_I_ANSWER_COMPLETION: index into bash, zsh, fish */
    const char *args[HPCW_I_ARGS_MAX]; /* point into argv */
    size_t arg_count;
    unsigned char source[HPCW_I_OPTIONS_MAX]; /* enum hpcw_i_source per row */
};

/* Clears *parse and the program's struct, and fills in the defaults. A default the table gets wrong is
 * HPCW_EINTERNAL. */
HPCW_MUST_CHECK hpcw_status hpcw_i_options_init(struct hpcw_i_parse *parse,
                                                const struct hpcw_i_program *program, void *options,
                                                hpcw_error *err);

/* Reads argv[1 .. argc-1]. HPCW_EINVAL, HPCW_ERANGE, HPCW_ENOMEM: one line with what, wanted and got. */
HPCW_MUST_CHECK hpcw_status hpcw_i_options_parse(struct hpcw_i_parse *parse, int argc, char *const *argv,
                                                 hpcw_error *err);

/* Demands the required options of the subcommand. HPCW_EINVAL names the first one that nobody gave. */
HPCW_MUST_CHECK hpcw_status hpcw_i_options_finish(const struct hpcw_i_parse *parse, hpcw_error *err);

/* Whether the option whose field is at `offset` was given, by whomever. */
bool hpcw_i_options_given(const struct hpcw_i_parse *parse, size_t offset);

/* Prints what --help, --version and the hidden ones ask for. Help is as wide as the stream's terminal, at most
 * 100. */
void hpcw_i_options_answer(const struct hpcw_i_parse *parse, FILE *stream);

/* ---- pieces that the other modules of this floor use ---- */

/* Sets row `index` from text; `name` and `origin` as in hpcw_i_option_read. */
HPCW_MUST_CHECK hpcw_status hpcw_i_options_set(struct hpcw_i_parse *parse, size_t index, const char *name,
                                               const char *text, const char *origin, enum hpcw_i_source source,
                                               hpcw_error *err);

/* Row of a long name without dashes, option_count if there is none. */
size_t hpcw_i_options_find(const struct hpcw_i_program *program, const char *name);

/* The long name without dashes that is nearest to `name`, among the options in `commands`. NULL if none is
 * near. */
const char *hpcw_i_options_nearest(const struct hpcw_i_program *program, uint32_t commands, const char *name);

void hpcw_i_options_print_help(const struct hpcw_i_parse *parse, FILE *stream, unsigned width);
void hpcw_i_options_print_man(const struct hpcw_i_program *program, FILE *stream);
void hpcw_i_options_print_bash(const struct hpcw_i_program *program, FILE *stream);
void hpcw_i_options_print_zsh(const struct hpcw_i_program *program, FILE *stream);
void hpcw_i_options_print_fish(const struct hpcw_i_program *program, FILE *stream);

#endif
