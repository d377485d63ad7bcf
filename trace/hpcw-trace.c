/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcw-trace, the command. */
#include <stdio.h>
#include <stdlib.h>

#include "libwriter/trace/launched.h"
#include "trace/start.h"

int main(int argc, char **argv) {
    struct ui_parse parse;
    struct trace_options options;
    hpcw_error err;
    int code = 2;
    hpcw_status s = ui_options_init(&parse, &trace_program, &options, &err);
    s = s == HPCW_OK ? ui_options_parse(&parse, argc, argv, &err) : s;
    if (s == HPCW_OK && parse.answer != UI_ANSWER_NONE) {
        ui_options_answer(&parse, stdout);
        if (fflush(stdout) == 0) {
            return EXIT_SUCCESS;
        }
        (void)fprintf(stderr, "hpcw-trace: standard output: cannot write\n");
        return EXIT_FAILURE;
    }
    if (s == HPCW_OK) {
        /* The last arguments are the program and its arguments. trace_start returns only after a failure. */
        (void)trace_start(&parse, argv + argc - parse.arg_count, &code, &err);
    }
    /* Problems with files may exist on this host only, so each process reports them. */
    if (code == 126 || code == 127 || hpcw_i_launched_first()) {
        (void)fprintf(stderr, "hpcw-trace: %s\n", err.message);
    }
    return code;
}
