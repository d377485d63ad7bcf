/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers to --help and similar options: chooses the printer. */
#include "ui/cli/options.h"

void ui_options_answer(const struct ui_parse *parse, FILE *stream) {
    enum { WIDTH_MAX = 100 };
    const struct ui_program *program = parse->program;
    switch (parse->answer) {
    case UI_ANSWER_HELP: {
        unsigned width = ui_text_width(stream);
        ui_options_print_help(parse, stream, width > WIDTH_MAX ? WIDTH_MAX : width);
        break;
    }
    case UI_ANSWER_VERSION:
        (void)fprintf(stream, "%s %s\n" UI_BUILT_WITH "\n", program->name, program->version());
        break;
    case UI_ANSWER_MAN:
        ui_options_print_man(program, stream);
        break;
    case UI_ANSWER_COMPLETION:
        if (parse->shell == 0) {
            ui_options_print_bash(program, stream);
        } else if (parse->shell == 1) {
            ui_options_print_zsh(program, stream);
        } else {
            ui_options_print_fish(program, stream);
        }
        break;
    case UI_ANSWER_NONE:
        break;
    }
}
