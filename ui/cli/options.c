/* SPDX-License-Identifier: BSD-3-Clause */
#include "ui/cli/options.h"

#include <string.h>

#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"
#include "ui/cli/values.h"

static bool is_flag(const struct ui_option *option) {
    return option->metavar == NULL;
}

static void *field_of(const struct ui_parse *parse, const struct ui_option *option) {
    return (char *)parse->options + option->param.offset;
}

/* Name of a subcommand for messages. */
static const char *command_title(const struct ui_program *program, size_t command) {
    const char *name = program->commands[command].name;
    return name == NULL ? program->name : name;
}

/* ---- the table ---- */

size_t ui_options_find(const struct ui_program *program, const char *name) {
    size_t i = 0;
    while (i < program->option_count && strcmp(program->options[i].param.key, name) != 0) {
        i++;
    }
    return i;
}

static size_t find_letter(const struct ui_program *program, char letter) {
    size_t i = 0;
    while (i < program->option_count && program->options[i].letter != letter) {
        i++;
    }
    return i;
}

const char *ui_options_nearest(const struct ui_program *program, uint32_t commands, const char *name) {
    const char *names[UI_OPTIONS_MAX + 3];
    size_t n = 0;
    for (size_t i = 0; i < program->option_count; i++) {
        if ((program->options[i].commands & commands) != 0) {
            names[n++] = program->options[i].param.key;
        }
    }
    names[n++] = "help";
    names[n++] = "version";
    names[n] = NULL;
    return ui_text_nearest(name, ui_text_name_in_array, names);
}

static const char *command_name(const void *list, size_t index) {
    const struct ui_program *program = list;
    return index < program->command_count ? program->commands[index].name : NULL;
}

/* ---- values ---- */

hpcw_status ui_options_set(struct ui_parse *parse, size_t index, const char *name, const char *text,
                           const char *origin, enum ui_origin source, hpcw_error *err) {
    const struct ui_option *option = &parse->program->options[index];
    hpcw_status status;
    if (option->read != NULL) {
        status = option->read(option, field_of(parse, option), name, text, origin, err);
    } else {
        if (option->param.type == UI_PARAM_STRING && text[0] == '\0') {
            return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a value (%s), got an empty one", name,
                               option->metavar);
        }
        struct ui_param param = option->param;
        param.key = name; /* messages name the option as the user wrote it */
        bool zero = option->zero_word != NULL && strcmp(text, option->zero_word) == 0;
        if (zero) {
            param.min = 0; /* the zero word may stand for a number below the minimum */
        }
        status = ui_param_set(&param, parse->options, zero ? "0" : text, err);
    }
    if (status == HPCW_OK) {
        parse->source[index] = (unsigned char)source;
    }
    return status;
}

hpcw_status ui_options_init(struct ui_parse *parse, const struct ui_program *program, void *options,
                            hpcw_error *err) {
    *parse = (struct ui_parse){.program = program, .options = options};
    if (program->option_count > UI_OPTIONS_MAX || program->command_count == 0 || program->command_count > 32) {
        return hpcw_i_fail(
            err, HPCW_EINTERNAL,
            "option table of %s: expected at most %d options and 1 to 32 subcommands, got %zu and %zu",
            program->name, UI_OPTIONS_MAX, program->option_count, program->command_count);
    }
    memset(options, 0, program->options_size);
    for (size_t i = 0; i < program->option_count; i++) {
        const struct ui_option *option = &program->options[i];
        if (option->default_text == NULL) {
            continue;
        }
        hpcw_status status =
            ui_options_set(parse, i, option->param.key, option->default_text, "default", UI_FROM_DEFAULT, err);
        if (status != HPCW_OK) {
            hpcw_status code = status == HPCW_ENOMEM ? status : HPCW_EINTERNAL;
            return ui_fail_at(err, code, "default of an option");
        }
    }
    return HPCW_OK;
}

/* ---- the command line ---- */

struct scan {
    struct ui_parse *parse;
    int argc;
    char *const *argv;
    int at; /* index of the current word in argv */
};

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

/* Returns the next word as the value of option `shown`. NULL, with an error, if there is none or if it is an
 * option. */
static const char *next_value(struct scan *scan, const char *shown, const char *metavar, hpcw_error *err) {
    if (scan->at + 1 >= scan->argc) {
        (void)hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a value (%s), got the end of the command line", shown,
                          metavar);
        return NULL;
    }
    const char *value = scan->argv[scan->at + 1];
    if (strncmp(value, "--", 2) == 0) {
        (void)hpcw_i_fail(err, HPCW_EINVAL,
                          "%s: expected a value (%s), got the option %s (%s%s%s if it is the value)", shown,
                          metavar, value, shown, shown[1] == '-' ? "=" : "", value);
        return NULL;
    }
    scan->at++;
    return value;
}

/* Makes a list of the subcommands in a set: "generate, plan". */
static const char *commands_text(const struct ui_program *program, uint32_t set, char *text, size_t size) {
    text[0] = '\0';
    for (size_t c = 0; c < program->command_count; c++) {
        if ((set & UI_COMMAND(c)) != 0 && program->commands[c].name != NULL) {
            size_t used = strlen(text);
            (void)snprintf(text + used, size - used, "%s%s", used == 0 ? "" : ", ", program->commands[c].name);
        }
    }
    return text;
}

static hpcw_status check_taken(const struct scan *scan, const struct ui_option *option, const char *shown,
                               hpcw_error *err) {
    const struct ui_program *program = scan->parse->program;
    if ((option->commands & UI_COMMAND(scan->parse->command)) != 0) {
        return HPCW_OK;
    }
    char takers[256];
    return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected an option of %s, got one of %s", shown,
                       command_title(program, scan->parse->command),
                       commands_text(program, option->commands, takers, sizeof takers));
}

static hpcw_status unknown_option(const struct scan *scan, const char *shown, const char *name,
                                  hpcw_error *err) {
    const struct ui_program *program = scan->parse->program;
    bool negated = strncmp(name, "no-", 3) == 0;
    const char *positive = negated ? name + 3 : name;
    const char *near = ui_options_nearest(program, UI_COMMAND(scan->parse->command), positive);
    if (near == NULL) {
        near = ui_options_nearest(program, UINT32_MAX, positive);
    }
    const char *title = command_title(program, scan->parse->command);
    if (near == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected an option of %s (see --help), got no such", shown,
                           title);
    }
    size_t i = ui_options_find(program, near);
    negated = negated && i < program->option_count && (program->options[i].flags & UI_OPTION_NEGATABLE) != 0;
    return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected an option of %s, got no such; did you mean --%s%s?",
                       shown, title, negated ? "no-" : "", near);
}

static hpcw_status no_value_expected(const char *shown, const char *value, hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected no value, got \"%s\"", shown, value);
}

/* Handles the options that every program has. *known: `name` is one of them. */
static hpcw_status built_in(struct scan *scan, const char *shown, const char *name, const char *value,
                            bool *known, hpcw_error *err) {
    static const struct {
        const char *name;
        enum ui_answer answer;
    } built_ins[] = {
        {"help", UI_ANSWER_HELP},
        {"version", UI_ANSWER_VERSION},
        {"help-man", UI_ANSWER_MAN},
        {"help-completion", UI_ANSWER_COMPLETION},
    };
    size_t b = 0;
    while (b < sizeof built_ins / sizeof built_ins[0] && strcmp(built_ins[b].name, name) != 0) {
        b++;
    }
    *known = b < sizeof built_ins / sizeof built_ins[0];
    if (!*known) {
        return HPCW_OK;
    }
    enum ui_answer answer = built_ins[b].answer;
    if (answer == UI_ANSWER_COMPLETION) {
        if (value == NULL && (value = next_value(scan, shown, "SHELL", err)) == NULL) {
            return HPCW_EINVAL;
        }
        int s = 0;
        while (shells[s] != NULL && strcmp(shells[s], value) != 0) {
            s++;
        }
        if (shells[s] == NULL) {
            return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected bash, zsh or fish, got \"%s\"", shown, value);
        }
        scan->parse->shell = s;
    } else if (value != NULL) {
        return no_value_expected(shown, value, err);
    }
    scan->parse->answer = answer;
    return HPCW_OK;
}

/* Parses "--name" or "--name=value" at argv[at]. */
static hpcw_status long_option(struct scan *scan, hpcw_error *err) {
    const struct ui_program *program = scan->parse->program;
    const char *word = scan->argv[scan->at];
    const char *equals = strchr(word, '=');
    const char *value = equals == NULL ? NULL : equals + 1;
    size_t length = equals == NULL ? strlen(word) : (size_t)(equals - word);
    char shown[128];
    if (length >= sizeof shown) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "option of %zu characters: expected one of those in --help, got %.40s...", length,
                           word);
    }
    memcpy(shown, word, length);
    shown[length] = '\0';
    const char *name = shown + 2;

    bool known = false;
    hpcw_status status = built_in(scan, shown, name, value, &known, err);
    if (known || status != HPCW_OK) {
        return status;
    }
    size_t i = ui_options_find(program, name);
    bool on = true;
    if (i == program->option_count && strncmp(name, "no-", 3) == 0) {
        i = ui_options_find(program, name + 3);
        on = false;
        if (i < program->option_count && (program->options[i].flags & UI_OPTION_NEGATABLE) == 0) {
            i = program->option_count;
        }
    }
    if (i == program->option_count) {
        return unknown_option(scan, shown, name, err);
    }
    const struct ui_option *option = &program->options[i];
    status = check_taken(scan, option, shown, err);
    if (status != HPCW_OK) {
        return status;
    }
    if (is_flag(option)) {
        if (value != NULL) {
            return no_value_expected(shown, value, err);
        }
        value = on ? "true" : "false";
    } else if (value == NULL && (value = next_value(scan, shown, option->metavar, err)) == NULL) {
        return HPCW_EINVAL;
    }
    return ui_options_set(scan->parse, i, shown, value, shown, UI_FROM_COMMAND_LINE, err);
}

/* Parses "-n", "-nvalue" or "-abc" at argv[at]. */
static hpcw_status short_options(struct scan *scan, hpcw_error *err) {
    const struct ui_program *program = scan->parse->program;
    for (const char *p = scan->argv[scan->at] + 1; *p != '\0'; p++) {
        char shown[3] = {'-', *p, '\0'};
        if (*p == 'h' || *p == 'V') {
            scan->parse->answer = *p == 'h' ? UI_ANSWER_HELP : UI_ANSWER_VERSION;
            return HPCW_OK;
        }
        size_t i = find_letter(program, *p);
        if (i == program->option_count) {
            return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected an option of %s (see --help), got no such",
                               scan->argv[scan->at], command_title(program, scan->parse->command));
        }
        const struct ui_option *option = &program->options[i];
        hpcw_status status = check_taken(scan, option, shown, err);
        if (status != HPCW_OK) {
            return status;
        }
        const char *value = "true";
        bool last = false;
        if (!is_flag(option)) {
            last = true;
            value = p[1] != '\0' ? p + 1 : next_value(scan, shown, option->metavar, err);
            if (value == NULL) {
                return HPCW_EINVAL;
            }
        }
        status = ui_options_set(scan->parse, i, shown, value, shown, UI_FROM_COMMAND_LINE, err);
        if (status != HPCW_OK || last) {
            return status;
        }
    }
    return HPCW_OK;
}

static size_t find_command(const struct ui_program *program, const char *name) {
    size_t c = 0;
    while (c < program->command_count &&
           (program->commands[c].name == NULL || strcmp(program->commands[c].name, name) != 0)) {
        c++;
    }
    return c;
}

static hpcw_status unknown_command(const struct ui_program *program, const char *word, hpcw_error *err) {
    char text[256];
    const char *near = ui_text_nearest(word, command_name, program);
    return near != NULL
               ? hpcw_i_fail(err, HPCW_EINVAL, "unknown command `%.60s`; did you mean `%s`?", word, near)
               : hpcw_i_fail(err, HPCW_EINVAL, "unknown command `%.60s`: expected one of %s", word,
                             commands_text(program, UINT32_MAX, text, sizeof text));
}

/* Returns whether a first word is nearly the name of a subcommand and not the name of a file. */
static bool is_misspelt_command(const struct ui_program *program, const char *word) {
    struct hpcw_i_entry entry;
    return ui_text_nearest(word, command_name, program) != NULL &&
           (hpcw_i_sys_look(word, false, &entry) != 0 || entry.kind == HPCW_I_NOTHING);
}

static hpcw_status argument(struct scan *scan, hpcw_error *err) {
    struct ui_parse *parse = scan->parse;
    const struct ui_program *program = parse->program;
    const struct ui_command *command = &program->commands[parse->command];
    const char *word = scan->argv[scan->at];
    const bool may_be_command = !parse->command_named && program->command_count > 1;
    if (may_be_command && parse->arg_count == 0 && command->max_args > 0 &&
        is_misspelt_command(program, word)) {
        return unknown_command(program, word, err);
    }
    if (parse->arg_count < command->max_args && parse->arg_count < UI_ARGS_MAX) {
        parse->args[parse->arg_count++] = word;
        return HPCW_OK;
    }
    if (command->max_args > 0) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected at most %u argument%s (%s), got \"%s\" beyond",
                           command_title(program, parse->command), command->max_args,
                           command->max_args == 1 ? "" : "s", command->args, word);
    }
    if (may_be_command && find_command(program, word) < program->command_count) {
        return hpcw_i_fail(err, HPCW_EINVAL, "command %s: expected as the first word, got it after \"%s\"",
                           word, scan->argv[scan->at - 1]);
    }
    if (may_be_command && (scan->at == 1 || is_misspelt_command(program, word))) {
        return unknown_command(program, word, err);
    }
    size_t stray = 0;
    while (stray < program->option_count &&
           ((program->options[stray].flags & UI_OPTION_STRAY) == 0 || parse->source[stray] != UI_FROM_DEFAULT ||
            (program->options[stray].commands & UI_COMMAND(parse->command)) == 0)) {
        stray++;
    }
    return stray < program->option_count
               ? hpcw_i_fail(err, HPCW_EINVAL, "%s: expected options only, got \"%s\"; did you mean --%s %s?",
                             command_title(program, parse->command), word, program->options[stray].param.key,
                             word)
               : hpcw_i_fail(err, HPCW_EINVAL, "%s: expected options only, got \"%s\"",
                             command_title(program, parse->command), word);
}

/* Reads the questions "help", "help X" and, for a subcommand X, "X help". */
static hpcw_status read_question(struct ui_parse *parse, int argc, char *const *argv, hpcw_error *err) {
    const struct ui_program *program = parse->program;
    const bool first = argc > 1 && strcmp(argv[1], "help") == 0;
    if (first && argc > 2 && program->command_count > 1) {
        size_t c = find_command(program, argv[2]);
        if (c == program->command_count) {
            return unknown_command(program, argv[2], err);
        }
        parse->command = c;
        parse->command_named = true;
    }
    if (first || (parse->command_named && argc == 3 && strcmp(argv[2], "help") == 0)) {
        parse->answer = UI_ANSWER_HELP;
    }
    return HPCW_OK;
}

hpcw_status ui_options_parse(struct ui_parse *parse, int argc, char *const *argv, hpcw_error *err) {
    const struct ui_program *program = parse->program;
    struct scan scan = {.parse = parse, .argc = argc, .argv = argv, .at = 1};
    if (argc > 1 && program->command_count > 1) {
        size_t c = find_command(program, argv[1]);
        if (c < program->command_count) {
            parse->command = c;
            parse->command_named = true;
            scan.at = 2;
        }
    }
    hpcw_status status = read_question(parse, argc, argv, err);
    if (status != HPCW_OK || parse->answer != UI_ANSWER_NONE) {
        return status;
    }
    bool options_over = false;
    for (; scan.at < argc; scan.at++) {
        const char *word = argv[scan.at];
        if (options_over || word[0] != '-' || word[1] == '\0') {
            status = argument(&scan, err);
            options_over = options_over || program->starts_another;
        } else if (strcmp(word, "--") == 0) {
            options_over = true;
            continue;
        } else if (word[1] == '-') {
            status = long_option(&scan, err);
        } else {
            status = short_options(&scan, err);
        }
        if (status != HPCW_OK || parse->answer != UI_ANSWER_NONE) {
            return status;
        }
    }
    const struct ui_command *command = &program->commands[parse->command];
    if (parse->arg_count < command->min_args) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected %s, got %zu argument%s",
                           command_title(program, parse->command), command->args, parse->arg_count,
                           parse->arg_count == 1 ? "" : "s");
    }
    return HPCW_OK;
}

hpcw_status ui_options_finish(const struct ui_parse *parse, hpcw_error *err) {
    const struct ui_program *program = parse->program;
    for (size_t i = 0; i < program->option_count; i++) {
        const struct ui_option *option = &program->options[i];
        if ((option->required & UI_COMMAND(parse->command)) != 0 && parse->source[i] == UI_FROM_DEFAULT) {
            return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected --%s %s, got none (see --help)",
                               command_title(program, parse->command), option->param.key,
                               option->metavar == NULL ? "" : option->metavar);
        }
    }
    return HPCW_OK;
}
