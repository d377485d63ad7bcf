/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the completion scripts of bash, zsh and fish from the option table. */
#include "ui/cli/options.h"

#include <string.h>

#include "ui/cli/values.h"

/* ---- What the three shells have in common ---- */

enum completion { KIND_FLAG, KIND_OTHER, KIND_FILE, KIND_DIR, KIND_WORD, KIND_WORD_LIST, KIND_KEY };

static enum completion kind_of(const struct ui_option *option) {
    if (option->metavar == NULL) {
        return KIND_FLAG;
    }
    if (option->read == ui_read_word_set) {
        return KIND_WORD_LIST;
    }
    if (option->read == ui_read_setting && option->words != NULL) {
        return KIND_KEY;
    }
    if (option->param.choices != NULL || option->words != NULL || option->zero_word != NULL) {
        return KIND_WORD;
    }
    return strcmp(option->metavar, "DIR") == 0    ? KIND_DIR
           : strcmp(option->metavar, "FILE") == 0 ? KIND_FILE
                                                  : KIND_OTHER;
}

/* Words that the argument of a command may be; NULL: anything. */
static const char *const *words_of(const struct ui_program *program, size_t c) {
    return program->words == NULL ? NULL : program->words[c];
}

static enum completion kind_of_args(const struct ui_program *program, size_t c) {
    const struct ui_command *command = &program->commands[c];
    if (command->args == NULL) {
        return KIND_FLAG;
    }
    return words_of(program, c) != NULL            ? KIND_WORD
           : strstr(command->args, "FILE") != NULL ? KIND_FILE
           : strstr(command->args, "DIR") != NULL  ? KIND_DIR
                                                   : KIND_OTHER;
}

static const char *word_at(const struct ui_option *option, size_t index) {
    if (option->param.choices != NULL) {
        return option->param.choices[index];
    }
    if (option->words != NULL) {
        return option->words(option->word_list, index);
    }
    return index == 0 ? option->zero_word : NULL;
}

/* Prints the words of an option with blanks between them. Keys of --set get the '=' that follows them. */
static void print_words(FILE *stream, const struct ui_option *option) {
    const char *word, *suffix = kind_of(option) == KIND_KEY ? "=" : "";
    for (size_t i = 0; (word = word_at(option, i)) != NULL; i++) {
        (void)fprintf(stream, "%s%s%s", i == 0 ? "" : " ", word, suffix);
    }
}

/* Prints the words of an argument with blanks between them. */
static void print_argument(FILE *stream, const char *const *words) {
    for (size_t i = 0; words[i] != NULL; i++) {
        (void)fprintf(stream, "%s%s", i == 0 ? "" : " ", words[i]);
    }
}

/* Text that a completion script has for a kind of value. If `after` is not NULL, the words of the option stand
 * between `before` and `after`. */
struct value_form {
    const char *before, *after;
};

static void print_value(FILE *stream, const struct value_form *form, const struct ui_option *option) {
    const struct value_form *f = &form[kind_of(option)];
    (void)fprintf(stream, "%s", f->before);
    if (f->after != NULL) {
        print_words(stream, option);
        (void)fprintf(stream, "%s", f->after);
    }
}

/* Returns whether the plain form of a flag is offered. A flag that is on by default is offered as --no- only. */
static bool offers_plain(const struct ui_option *option) {
    return (option->flags & UI_OPTION_NEGATABLE) == 0 || option->default_text == NULL;
}
static bool offers_negated(const struct ui_option *option) {
    return (option->flags & UI_OPTION_NEGATABLE) != 0;
}

/* Returns the help of an option. If both --X and --no-X are offered, --no-X has the help "undo --X". */
static const char *help_of(const struct ui_option *option, bool negated, char *text, size_t size) {
    if (negated && offers_plain(option)) {
        (void)snprintf(text, size, "undo --%s", option->param.key);
    } else {
        (void)snprintf(text, size, "%s", option->param.help);
    }
    return text;
}

/* Returns the program's name with '_' for characters that a shell function's name must not have. */
static const char *identifier(const struct ui_program *program, char *text, size_t size) {
    (void)snprintf(text, size, "%s", program->name);
    for (char *p = text; *p != '\0'; p++) {
        if (*p == '-' || *p == '.') {
            *p = '_';
        }
    }
    return text;
}

static const char *command_name(const struct ui_program *program, size_t c) {
    return program->commands[c].name == NULL ? "run" : program->commands[c].name;
}

static void print_command_names(FILE *stream, const struct ui_program *program, const char *between) {
    for (size_t c = 0; program->command_count > 1 && c < program->command_count; c++) {
        (void)fprintf(stream, "%s%s", c == 0 ? "" : between, program->commands[c].name);
    }
}

/* ---- bash ---- */

static const struct value_form bash_form[] = {
    [KIND_OTHER] = {"        COMPREPLY=()\n", NULL},
    [KIND_FILE] = {"        compopt -o filenames\n"
                   "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n",
                   NULL},
    [KIND_DIR] = {"        compopt -o filenames\n"
                  "        mapfile -t COMPREPLY < <(compgen -d -- \"$cur\")\n",
                  NULL},
    [KIND_WORD] = {"        mapfile -t COMPREPLY < <(compgen -W '", "' -- \"$cur\")\n"},
    [KIND_WORD_LIST] = {"        [[ $cur == *,* ]] && before=${cur%,*},\n"
                        "        compopt -o nospace\n"
                        "        mapfile -t COMPREPLY < <(compgen -P \"$before\" -W '",
                        "' -- \"${cur##*,}\")\n"},
    [KIND_KEY] = {"        compopt -o nospace\n"
                  "        mapfile -t COMPREPLY < <(compgen -W '",
                  "' -- \"$cur\")\n"},
};

static void bash_values(FILE *stream, const struct ui_program *program) {
    for (size_t i = 0; i < program->option_count; i++) {
        const struct ui_option *option = &program->options[i];
        if (kind_of(option) != KIND_FLAG) {
            (void)fprintf(stream, "    --%s", option->param.key);
            if (option->letter != 0) {
                (void)fprintf(stream, " | -%c", option->letter);
            }
            (void)fprintf(stream, ")\n");
            print_value(stream, bash_form, option);
            (void)fprintf(stream, "        return ;;\n");
        }
    }
}

void ui_options_print_bash(const struct ui_program *program, FILE *stream) {
    char id[64];
    (void)identifier(program, id, sizeof id);
    (void)fprintf(stream,
                  "# bash completion for %s, made from its option table\n"
                  "_%s() {\n"
                  "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} before='' "
                  "options='' args='' words=''\n"
                  "    local command=%s\n",
                  program->name, id, command_name(program, 0));
    /* Bash splits --name=value: it takes the '=' for a word of its own. */
    (void)fprintf(stream, "    if [[ $cur == = ]]; then\n"
                          "        cur=\n"
                          "    elif [[ $prev == = ]] && ((COMP_CWORD > 2)); then\n"
                          "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
                          "    fi\n");
    if (program->command_count > 1) {
        (void)fprintf(stream, "    if ((COMP_CWORD > 1)); then\n        case ${COMP_WORDS[1]} in\n        ");
        print_command_names(stream, program, " | ");
        (void)fprintf(stream, ") command=${COMP_WORDS[1]} ;;\n        esac\n    fi\n");
    }
    (void)fprintf(stream, "    case $prev in\n");
    bash_values(stream, program);
    (void)fprintf(stream, "    esac\n    case $command in\n");
    for (size_t c = 0; c < program->command_count; c++) {
        enum completion args = kind_of_args(program, c);
        (void)fprintf(stream, "    %s)\n        args=%s\n", command_name(program, c),
                      args == KIND_FILE  ? "-f"
                      : args == KIND_DIR ? "-d"
                                         : "");
        if (args == KIND_WORD) {
            (void)fprintf(stream, "        words='");
            print_argument(stream, words_of(program, c));
            (void)fprintf(stream, "'\n");
        }
        (void)fprintf(stream, "        options='");
        for (size_t i = 0; i < program->option_count; i++) {
            const struct ui_option *option = &program->options[i];
            if ((option->commands & UI_COMMAND(c)) != 0) {
                if (offers_plain(option)) {
                    (void)fprintf(stream, "--%s ", option->param.key);
                }
                if (offers_negated(option)) {
                    (void)fprintf(stream, "--no-%s ", option->param.key);
                }
            }
        }
        (void)fprintf(stream, "--help --version' ;;\n");
    }
    (void)fprintf(stream, "    esac\n"
                          "    if [[ $cur == -* ]]; then\n"
                          "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n");
    if (program->command_count > 1) {
        /* Without a named subcommand the first one runs, so the first word may be its argument. */
        (void)fprintf(stream, "    elif ((COMP_CWORD == 1)); then\n"
                              "        [[ -z $args ]] || compopt -o filenames\n"
                              "        mapfile -t COMPREPLY < <(compgen $args -W '");
        print_command_names(stream, program, " ");
        (void)fprintf(stream, "' -- \"$cur\")\n");
    }
    (void)fprintf(stream,
                  "    elif [[ -n $args ]]; then\n"
                  "        compopt -o filenames\n"
                  "        mapfile -t COMPREPLY < <(compgen \"$args\" -- \"$cur\")\n"
                  "    else\n"
                  "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                  "    fi\n"
                  "}\n"
                  "complete -F _%s %s\n",
                  id, program->name);
}

/* ---- zsh ---- */

/* Prints text for a specification of _arguments in single quotes. Brackets and colons are special there. */
static void zsh_text(FILE *stream, const char *text) {
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '\'') {
            (void)fprintf(stream, "'\\''");
        } else {
            (void)fprintf(stream, strchr("[]:\\", *p) != NULL ? "\\%c" : "%c", *p);
        }
    }
}

static const struct value_form zsh_form[] = {
    [KIND_FLAG] = {"", NULL},
    [KIND_OTHER] = {" ", NULL},
    [KIND_FILE] = {"_files", NULL},
    [KIND_DIR] = {"_files -/", NULL},
    [KIND_WORD] = {"(", ")"},
    [KIND_WORD_LIST] = {"_sequence compadd - ", ""},
    [KIND_KEY] = {"compadd -S \"\" - ", ""},
};

static void zsh_option(FILE *stream, const struct ui_option *option, bool negated) {
    enum completion kind = kind_of(option);
    const char *no = negated ? "no-" : "";
    /* "(-n --ranks)" makes zsh offer neither form once one of them is given. '*' allows --set to be repeated. */
    (void)fprintf(stream, "      ");
    if (option->read == ui_read_setting) {
        (void)fprintf(stream, "'*--%s=", option->param.key);
    } else if (option->letter != 0 && !negated) {
        (void)fprintf(stream, "'(-%c --%s)'{-%c%s,--%s%s}'", option->letter, option->param.key, option->letter,
                      kind == KIND_FLAG ? "" : "+", option->param.key, kind == KIND_FLAG ? "" : "=");
    } else if (offers_negated(option)) {
        (void)fprintf(stream, "'(--%s --no-%s)--%s%s", option->param.key, option->param.key, no,
                      option->param.key);
    } else {
        (void)fprintf(stream, "'--%s%s", option->param.key, kind == KIND_FLAG ? "" : "=");
    }
    (void)fprintf(stream, "[");
    char help[512];
    zsh_text(stream, help_of(option, negated, help, sizeof help));
    (void)fprintf(stream, "]");
    if (kind != KIND_FLAG) {
        (void)fprintf(stream, ":");
        zsh_text(stream, option->metavar);
        (void)fprintf(stream, ":");
    }
    print_value(stream, zsh_form, option);
    (void)fprintf(stream, "' \\\n");
}

void ui_options_print_zsh(const struct ui_program *program, FILE *stream) {
    char id[64];
    (void)identifier(program, id, sizeof id);
    (void)fprintf(stream,
                  "#compdef %s\n"
                  "# made from the option table of %s\n"
                  "_%s() {\n"
                  "  local command=%s\n"
                  "  local -a commands\n",
                  program->name, program->name, id, command_name(program, 0));
    if (program->command_count > 1) {
        (void)fprintf(stream, "  commands=(\n");
        for (size_t c = 0; c < program->command_count; c++) {
            (void)fprintf(stream, "    '%s:", program->commands[c].name);
            zsh_text(stream, program->commands[c].help);
            (void)fprintf(stream, "'\n");
        }
        (void)fprintf(stream, "  )\n"
                              "  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
                              "    _describe command commands\n"
                              "    return\n"
                              "  fi\n"
                              "  case $words[2] in\n"
                              "    ");
        print_command_names(stream, program, "|");
        (void)fprintf(stream, ")\n"
                              "      command=$words[2]\n"
                              "      shift words\n"
                              "      (( CURRENT-- ))\n"
                              "      ;;\n"
                              "  esac\n");
    }
    (void)fprintf(stream, "  case $command in\n");
    for (size_t c = 0; c < program->command_count; c++) {
        (void)fprintf(stream, "    %s)\n      _arguments -s -S \\\n", command_name(program, c));
        for (size_t i = 0; i < program->option_count; i++) {
            const struct ui_option *option = &program->options[i];
            if ((option->commands & UI_COMMAND(c)) == 0) {
                continue;
            }
            if (offers_plain(option)) {
                zsh_option(stream, option, false);
            }
            if (offers_negated(option)) {
                zsh_option(stream, option, true);
            }
        }
        enum completion args = kind_of_args(program, c);
        if (args != KIND_FLAG) {
            (void)fprintf(stream, "      '%s:", program->commands[c].max_args > 1 ? "*" : "1");
            zsh_text(stream, program->commands[c].args);
            (void)fprintf(stream, ":%s", zsh_form[args].before);
            if (args == KIND_WORD) {
                print_argument(stream, words_of(program, c));
                (void)fprintf(stream, "%s", zsh_form[args].after);
            }
            (void)fprintf(stream, "' \\\n");
        }
        (void)fprintf(stream, "      '(- *)'{-h,--help}'[print help and exit]' \\\n"
                              "      '(- *)'{-V,--version}'[print the version and exit]'\n"
                              "      ;;\n");
    }
    (void)fprintf(stream, "  esac\n}\n_%s \"$@\"\n", id);
}

/* ---- fish ---- */

/* Prints text inside single quotes. */
static void fish_text(FILE *stream, const char *text) {
    for (const char *p = text; *p != '\0'; p++) {
        (void)fprintf(stream, *p == '\'' || *p == '\\' ? "\\%c" : "%c", *p);
    }
}

static const struct value_form fish_form[] = {
    [KIND_FLAG] = {"", NULL},        [KIND_OTHER] = {" -x", NULL},
    [KIND_FILE] = {" -r -F", NULL},  [KIND_DIR] = {" -x -a '(__fish_complete_directories)'", NULL},
    [KIND_WORD] = {" -x -a '", "'"}, [KIND_WORD_LIST] = {" -x -a '(__fish_append , ", ")'"},
    [KIND_KEY] = {" -x -a '", "'"},
};

static void fish_option(FILE *stream, const struct ui_program *program, const char *id,
                        const struct ui_option *option, bool negated) {
    (void)fprintf(stream, "complete -c %s -n '__%s_is", program->name, id);
    for (size_t c = 0; c < program->command_count; c++) {
        if ((option->commands & UI_COMMAND(c)) != 0) {
            (void)fprintf(stream, " %s", command_name(program, c));
        }
    }
    (void)fprintf(stream, "' -l %s%s", negated ? "no-" : "", option->param.key);
    if (option->letter != 0 && !negated) {
        (void)fprintf(stream, " -s %c", option->letter);
    }
    print_value(stream, fish_form, option);
    (void)fprintf(stream, " -d '");
    char help[512];
    fish_text(stream, help_of(option, negated, help, sizeof help));
    (void)fprintf(stream, "'\n");
}

void ui_options_print_fish(const struct ui_program *program, FILE *stream) {
    char id[64];
    (void)identifier(program, id, sizeof id);
    (void)fprintf(stream,
                  "# fish completion for %s, made from its option table\n"
                  "function __%s_is\n"
                  "    set -l words (commandline -opc)\n"
                  "    set -l command %s\n",
                  program->name, id, command_name(program, 0));
    if (program->command_count > 1) {
        (void)fprintf(stream, "    if set -q words[2]; and contains -- $words[2] ");
        print_command_names(stream, program, " ");
        (void)fprintf(stream, "\n        set command $words[2]\n    end\n");
    }
    (void)fprintf(stream, "    contains -- $command $argv\nend\n");
    if (program->command_count > 1) {
        (void)fprintf(stream, "function __%s_first\n    test (count (commandline -opc)) -eq 1\nend\n", id);
    }
    (void)fprintf(stream, "complete -c %s -f\n", program->name);
    for (size_t c = 0; c < program->command_count; c++) {
        const struct ui_command *command = &program->commands[c];
        if (program->command_count > 1) {
            (void)fprintf(stream, "complete -c %s -n __%s_first -a %s -d '", program->name, id, command->name);
            fish_text(stream, command->help);
            (void)fprintf(stream, "'\n");
        }
        enum completion args = kind_of_args(program, c);
        bool not_first = c > 0; /* the first subcommand runs if none is named, so it takes arguments at once */
        if (args == KIND_FILE || args == KIND_DIR || args == KIND_WORD) {
            (void)fprintf(stream, "complete -c %s -n '__%s_is %s%s%s%s' %s", program->name, id,
                          command_name(program, c), not_first ? "; and not __" : "", not_first ? id : "",
                          not_first ? "_first" : "",
                          args == KIND_FILE  ? "-F"
                          : args == KIND_DIR ? "-a '(__fish_complete_directories)'"
                                             : "-a '");
            if (args == KIND_WORD) {
                print_argument(stream, words_of(program, c));
            }
            (void)fprintf(stream, "%s\n", args == KIND_WORD ? "'" : "");
        }
    }
    for (size_t i = 0; i < program->option_count; i++) {
        if (offers_plain(&program->options[i])) {
            fish_option(stream, program, id, &program->options[i], false);
        }
        if (offers_negated(&program->options[i])) {
            fish_option(stream, program, id, &program->options[i], true);
        }
    }
    (void)fprintf(stream,
                  "complete -c %s -s h -l help -d 'print help and exit'\n"
                  "complete -c %s -s V -l version -d 'print the version and exit'\n",
                  program->name, program->name);
}
