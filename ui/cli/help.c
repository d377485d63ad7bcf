/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints --help and the manual page from the option table. */
#include "ui/cli/options.h"

#include <string.h>

#include "ui/cli/values.h"

/* ---- Shared by --help and the manual page ---- */

enum { NAMES_SIZE = 96, HELP_SIZE = 1024 };

/* Returns whether help shows the --no- form: a flag that is on by default can only be switched off. */
static bool shown_negated(const struct ui_option *option) {
    return (option->flags & UI_OPTION_NEGATABLE) != 0 && option->default_text != NULL;
}

/* Returns the long name as help shows it: "--[no-]sync", "--no-checksums", "--ranks". */
static const char *long_name(const struct ui_option *option, char *text, size_t size) {
    const char *no = shown_negated(option) ? "no-" : (option->flags & UI_OPTION_NEGATABLE) != 0 ? "[no-]" : "";
    (void)snprintf(text, size, "--%s%s", no, option->param.key);
    return text;
}

/* Returns the help sentence, followed by the words and the default. */
static const char *full_help(const struct ui_option *option, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "%s", option->param.help);
    const char *word = NULL, *between = ": ";
    for (size_t i = 0; used < size; i++) {
        word = option->param.choices != NULL                              ? option->param.choices[i]
               : option->words != NULL && option->read != ui_read_setting ? option->words(option->word_list, i)
                                                                          : NULL;
        if (word == NULL) {
            break;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", between, word);
        between = ", ";
    }
    if (used < size && option->default_text != NULL && option->metavar != NULL) {
        (void)snprintf(text + used, size - used, " (default: %s)",
                       option->default_help != NULL ? option->default_help : option->default_text);
    }
    return text;
}

/* The options that every program has. */
static const struct ui_option common[] = {
    {.param = {.key = "help", .help = "print this and exit"},
     .letter = 'h',
     .section = "Help",
     .commands = UINT32_MAX},
    {.param = {.key = "version", .help = "print the version and exit"},
     .letter = 'V',
     .section = "Help",
     .commands = UINT32_MAX},
};

/* Returns the next row, from *i on, that one of the subcommands takes; NULL after the last row. before: the row
 * that was returned last. *new_section: the row has another section than `before`. */
static const struct ui_option *next_row(const struct ui_program *program, uint32_t commands, size_t *i,
                                        const struct ui_option *before, bool *new_section) {
    const size_t own = program->option_count, all = own + sizeof common / sizeof common[0];
    while (*i < all) {
        const struct ui_option *option = *i < own ? &program->options[*i] : &common[*i - own];
        ++*i;
        if ((option->commands & commands) != 0) {
            *new_section = before == NULL || strcmp(before->section, option->section) != 0;
            return option;
        }
    }
    return NULL;
}

/* ---- --help ---- */

static void help_row(FILE *stream, unsigned width, const struct ui_option *option) {
    enum { COLUMN = 26 };
    char name[NAMES_SIZE], names[NAMES_SIZE], text[HELP_SIZE];
    (void)long_name(option, name, sizeof name);
    char letter[5] = "    ";
    if (option->letter != 0) {
        (void)snprintf(letter, sizeof letter, "-%c, ", option->letter);
    }
    int n = snprintf(names, sizeof names, "  %s%.60s%s%.20s", letter, name, option->metavar == NULL ? "" : " ",
                     option->metavar == NULL ? "" : option->metavar);
    (void)fprintf(stream, "%s", names);
    unsigned column = n < 0 ? 0 : (unsigned)n;
    unsigned indent = width >= 60 ? COLUMN : 8;
    if (column + 2 > indent) {
        (void)fprintf(stream, "\n");
        column = 0;
    }
    ui_text_wrap(stream, full_help(option, text, sizeof text), column, indent, width);
}

/* Prints a usage line: "hpcgen plan --ranks N [OPTION...]". */
static void print_usage(const struct ui_program *program, size_t command, bool bracket_name, FILE *stream,
                        unsigned column, unsigned width) {
    const struct ui_command *c = &program->commands[command];
    char text[HELP_SIZE];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", program->name);
    if (c->name != NULL) {
        used += (size_t)snprintf(text + used, sizeof text - used, bracket_name ? " [%s]" : " %s", c->name);
    }
    for (size_t i = 0; i < program->option_count && used < sizeof text; i++) {
        const struct ui_option *option = &program->options[i];
        if ((option->required & UI_COMMAND(command)) != 0) {
            used += (size_t)snprintf(text + used, sizeof text - used, " --%s %s", option->param.key,
                                     option->metavar);
        }
    }
    if (used < sizeof text) {
        (void)snprintf(text + used, sizeof text - used, " [OPTION...]%s%s", c->args == NULL ? "" : " ",
                       c->args == NULL ? "" : c->args);
    }
    ui_text_wrap(stream, text, column, column, width);
}

void ui_options_print_help(const struct ui_parse *parse, FILE *stream, unsigned width) {
    const struct ui_program *program = parse->program;
    bool whole = !parse->command_named && program->command_count > 1;
    (void)fprintf(stream, "Usage: ");
    print_usage(program, parse->command, whole, stream, 7, width);
    if (whole) {
        (void)fprintf(stream, "       ");
        char other[NAMES_SIZE];
        (void)snprintf(other, sizeof other, "%s COMMAND [OPTION...] [ARGUMENT...]", program->name);
        ui_text_wrap(stream, other, 7, 7, width);
    }
    (void)fprintf(stream, "\n");
    if (!whole && program->command_count > 1) {
        char text[HELP_SIZE];
        (void)snprintf(text, sizeof text, "%s.", program->commands[parse->command].help);
        text[0] = (char)(text[0] >= 'a' && text[0] <= 'z' ? text[0] - 'a' + 'A' : text[0]);
        ui_text_wrap(stream, text, 0, 0, width);
    } else {
        ui_text_wrap(stream, program->description, 0, 0, width);
    }
    if (whole) {
        (void)fprintf(stream, "\nCommands (`%s COMMAND --help` shows the options of each):\n", program->name);
        for (size_t c = 0; c < program->command_count; c++) {
            int n = fprintf(stream, "  %s", program->commands[c].name);
            ui_text_wrap(stream, program->commands[c].help, n < 0 ? 0 : (unsigned)n, 14, width);
        }
    }
    const struct ui_option *option = NULL;
    bool new_section;
    for (size_t i = 0;
         (option = next_row(program, UI_COMMAND(parse->command), &i, option, &new_section)) != NULL;) {
        if (new_section) {
            (void)fprintf(stream, "\n%s:\n", option->section);
        }
        help_row(stream, width, option);
    }
    for (size_t i = 0; program->examples != NULL && i < UI_EXAMPLES; i++) {
        (void)fprintf(stream, "%s  %s\n", i == 0 ? "\nExamples:\n" : "", program->examples[parse->command][i]);
    }
}

/* ---- the manual page ---- */

/* Escapes text for roff: backslashes, hyphens, and a dot or quote at the start of a line. */
static void roff_part(FILE *stream, const char *text, size_t length) {
    bool line_start = true;
    for (const char *p = text; p < text + length; p++) {
        if (line_start && (*p == '.' || *p == '\'')) {
            (void)fprintf(stream, "\\&");
        }
        if (*p == '\\') {
            (void)fprintf(stream, "\\e");
        } else if (*p == '-') {
            (void)fprintf(stream, "\\-");
        } else {
            (void)fputc(*p, stream);
        }
        line_start = *p == '\n';
    }
}

static void roff(FILE *stream, const char *text) {
    roff_part(stream, text, strlen(text));
}

/* Prints the text of a chapter: paragraphs, and lines that stay as they are (see struct ui_chapter). */
static void roff_chapter(FILE *stream, const char *text) {
    bool literal = false, fresh = true;
    for (const char *p = text; *p != '\0';) {
        const char *line = p;
        size_t length = strcspn(p, "\n");
        p += length + (p[length] == '\n');
        bool now_literal = line[0] == ' ';
        if (length == 0) {
            if (!fresh && (!literal || *p == ' ')) {
                (void)fprintf(stream, literal ? ".sp\n" : ".PP\n");
            }
            fresh = true;
            continue;
        }
        if (now_literal != literal) {
            (void)fprintf(stream, "%s%s", now_literal && !fresh ? ".PP\n" : "",
                          now_literal ? ".nf\n.RS\n" : ".RE\n.fi\n.PP\n");
            literal = now_literal;
        }
        size_t blanks = strspn(line, " ");
        roff_part(stream, line + blanks, length - blanks);
        (void)fprintf(stream, "\n");
        fresh = false;
    }
    if (literal) {
        (void)fprintf(stream, ".RE\n.fi\n");
    }
}

static void man_row(FILE *stream, const struct ui_program *program, const struct ui_option *option) {
    char name[NAMES_SIZE], text[HELP_SIZE];
    (void)fprintf(stream, ".TP\n\\fB");
    if (option->letter != 0) {
        (void)fprintf(stream, "\\-%c\\fR, \\fB", option->letter);
    }
    roff(stream, long_name(option, name, sizeof name));
    (void)fprintf(stream, "\\fR");
    if (option->metavar != NULL) {
        (void)fprintf(stream, " \\fI");
        roff(stream, option->metavar);
        (void)fprintf(stream, "\\fR");
    }
    (void)fprintf(stream, "\n");
    roff(stream, full_help(option, text, sizeof text));
    (void)fprintf(stream, ".\n");
    uint32_t every = program->command_count == 32 ? UINT32_MAX : UI_COMMAND(program->command_count) - 1;
    if (program->command_count > 1 && (option->commands & every) != every) {
        const char *between = "Taken by ";
        for (size_t c = 0; c < program->command_count; c++) {
            if ((option->commands & UI_COMMAND(c)) != 0) {
                (void)fprintf(stream, "%s\\fB%s\\fR", between, program->commands[c].name);
                between = ", ";
            }
        }
        (void)fprintf(stream, ".\n");
    }
}

static void man_title(FILE *stream, const struct ui_program *program) {
    (void)fprintf(stream, ".\\\" Made from the option table of %s at build time.\n.TH \"", program->name);
    for (const char *p = program->name; *p != '\0'; p++) {
        (void)fputc(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p, stream);
    }
    (void)fprintf(stream, "\" 1 \"\" \"%s %s\" \"User Commands\"\n", program->name, program->version());
    /* .nh: do not hyphenate words. .ad l: do not justify lines. */
    (void)fprintf(stream, ".nh\n.ad l\n");
    (void)fprintf(stream, ".SH NAME\n%s \\- ", program->name);
    roff(stream, program->summary);
    (void)fprintf(stream, "\n.SH SYNOPSIS\n");
    for (size_t c = 0; c < program->command_count; c++) {
        const struct ui_command *command = &program->commands[c];
        (void)fprintf(stream, "%s\\fB%s\\fR", c == 0 ? "" : ".br\n", program->name);
        if (command->name != NULL) {
            (void)fprintf(stream, c == 0 && program->command_count > 1 ? " [\\fB%s\\fR]" : " \\fB%s\\fR",
                          command->name);
        }
        for (size_t i = 0; i < program->option_count; i++) {
            if ((program->options[i].required & UI_COMMAND(c)) != 0) {
                (void)fprintf(stream, " \\fB\\-\\-");
                roff(stream, program->options[i].param.key);
                (void)fprintf(stream, "\\fR \\fI%s\\fR", program->options[i].metavar);
            }
        }
        (void)fprintf(stream, " [\\fIOPTION\\fR...]");
        if (command->args != NULL) {
            (void)fprintf(stream, " \\fI");
            roff(stream, command->args);
            (void)fprintf(stream, "\\fR");
        }
        (void)fprintf(stream, "\n");
    }
}

/* Prints the examples of --help that `text`, the chapter EXAMPLES, does not contain. */
static void man_examples(FILE *stream, const struct ui_program *program, const char *text) {
    bool any = false;
    for (size_t k = 0; program->examples != NULL && k < program->command_count * UI_EXAMPLES; k++) {
        const char *example = program->examples[k / UI_EXAMPLES][k % UI_EXAMPLES];
        char line[HELP_SIZE];
        (void)snprintf(line, sizeof line, "  %s\n", example);
        if (strstr(text, line) == NULL) {
            (void)fprintf(stream, any ? "" : ".PP\nMore:\n.PP\n.nf\n.RS\n");
            roff(stream, example);
            (void)fprintf(stream, "\n");
            any = true;
        }
    }
    (void)fprintf(stream, any ? ".RE\n.fi\n" : "");
}

void ui_options_print_man(const struct ui_program *program, FILE *stream) {
    man_title(stream, program);
    (void)fprintf(stream, ".SH DESCRIPTION\n");
    roff_chapter(stream, program->description);
    if (program->command_count > 1) {
        (void)fprintf(stream, ".SH COMMANDS\n");
        for (size_t c = 0; c < program->command_count; c++) {
            (void)fprintf(stream, ".TP\n\\fB%s\\fR", program->commands[c].name);
            if (program->commands[c].args != NULL) {
                (void)fprintf(stream, " \\fI%s\\fR", program->commands[c].args);
            }
            (void)fprintf(stream, "\n");
            roff(stream, program->commands[c].help);
            (void)fprintf(stream, ".\n");
        }
    }
    (void)fprintf(stream, ".SH OPTIONS\n");
    const struct ui_option *option = NULL;
    bool new_section;
    for (size_t i = 0; (option = next_row(program, UINT32_MAX, &i, option, &new_section)) != NULL;) {
        if (new_section) {
            (void)fprintf(stream, ".SS ");
            roff(stream, option->section);
            (void)fprintf(stream, "\n");
        }
        man_row(stream, program, option);
    }
    for (size_t c = 0; c < program->chapter_count; c++) {
        (void)fprintf(stream, ".SH ");
        roff(stream, program->chapters[c].title);
        (void)fprintf(stream, "\n");
        roff_chapter(stream, program->chapters[c].text);
        if (strcmp(program->chapters[c].title, "EXAMPLES") == 0) {
            man_examples(stream, program, program->chapters[c].text);
        }
    }
}
