/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/cli/common/stop.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gen/cli/common/common.h"
#include "gen/cli/common/standard_output.h"

/* The message of the handler. It is complete before the handler is installed, as a handler may not format text. */
static char stop_text[1200];
static volatile sig_atomic_t stop_size;

static void on_stop(int number) {
    const int e = errno;
    const ssize_t written = write(STDERR_FILENO, stop_text, (size_t)stop_size);
    (void)written; /* a failure is ignored, as no other way to tell the user is left */
    errno = e;
    (void)signal(number, SIG_DFL);
    (void)raise(number); /* the signal is delivered when this function returns, and ends the program */
}

const char *gen_cli_go_on(const struct gen_cli_options *o) {
    return o->resume  ? "finished files stay: go on with the same command"
           : o->force ? "finished files stay: go on with the same command, and --resume instead of --force"
                      : "finished files stay: go on with the same command and --resume";
}

void gen_cli_explain_stop(const struct gen_cli_options *o, enum gen_cli_command command) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    const char *path = "", *what = "nothing was changed";
    hpcw_error room;
    switch (command) {
    case GEN_CLI_GENERATE:
        path = o->out;
        what = gen_cli_go_on(o);
        break;
    case GEN_CLI_JOIN:
    case GEN_CLI_REPAIR:
    case GEN_CLI_SCR:
        what = "what was done stays: go on with the same command";
        break;
    case GEN_CLI_EXPORT:
    case GEN_CLI_REWRITE:
    case GEN_CLI_RECOVER:
    case GEN_CLI_REPORT:
        what = gen_cli_is_standard(o->output) ? "standard output is not complete: begin again"
                                              : "no output is written, an older one stays: begin again";
        break;
    case GEN_CLI_FIT: /* it removes an older configuration before the workload gets its name */
        what = gen_cli_is_standard(o->output) ? "standard output is not complete: begin again"
                                              : "the output may be missing: begin again";
        break;
    case GEN_CLI_PLAN:
    case GEN_CLI_VERIFY:
    case GEN_CLI_INFO:
    case GEN_CLI_LIST:
    case GEN_CLI_SCORE:
        break;
    }
    /* On a terminal the cursor is after "^C" or after a progress bar, so the message begins with a new line. */
    (void)snprintf(stop_text, sizeof stop_text, "%shpcgen: stopped: %.1000s%s%s\n",
                   isatty(STDERR_FILENO) == 1 ? "\n" : "", gen_cli_printable(path, &room),
                   path[0] == '\0' ? "" : ": ", what);
    stop_size = (sig_atomic_t)strlen(stop_text);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction before, action = {.sa_handler = on_stop};
        (void)sigemptyset(&action.sa_mask);
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) {
            (void)sigaction(signals[i], &action, NULL);
        }
    }
}
