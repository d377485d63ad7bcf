/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/measure/program.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/measure/timer.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"

static void complain(const struct bench_call *call, const hpcw_error *err) {
    if (call->processes.process == 0) {
        (void)fprintf(stderr, "%s: %s\n", call->parse.program->name, err->message);
    }
}

/* Flushes the output, so that write errors are not lost. */
static hpcw_status end_output(hpcw_status s, hpcw_error *err) {
    return s == HPCW_OK && (fflush(stdout) != 0 || ferror(stdout))
               ? hpcw_i_fail(err, HPCW_EIO, "standard output: cannot write")
               : s;
}

/* Starts the processes, runs a command that measures, and returns the exit status. s: HPCW_OK if the command
 * line is right on this process. */
static int measure(struct bench_call *call, const struct bench_command_row *row, hpcw_status s,
                   hpcw_error *err) {
    hpcw_error not_started;
    hpcw_status started = bench_processes_start(&call->processes, &not_started);
    bool right = s == HPCW_OK;
    if (started == HPCW_OK) {
        s = hpcw_i_agree(call->processes.comm, s, NULL, err);
        right = s == HPCW_OK;
    }
    s = bench_first_failure(s, started, err, &not_started);
    if (s == HPCW_OK) {
        bench_timer_catch_signals();
        s = row->run(call, err);
        s = call->processes.process == 0 ? end_output(s, err) : s;
    }
    if (s != HPCW_OK) {
        complain(call, err);
    }
    bench_processes_end(&call->processes);
    if (bench_timer_stopped() != 0) {
        return 128 + bench_timer_stopped();
    }
    return !right ? 2 : s == HPCW_OK && !call->failed ? EXIT_SUCCESS : EXIT_FAILURE;
}

int bench_program_run(int argc, char **argv, const struct ui_program *program, void *options,
                      const struct bench_command_row *row) {
    struct bench_call call = {.argc = argc, .argv = argv, .options = options};
    hpcw_error err;
    /* With SIGXFSZ ignored, a write beyond the limit of the file size returns an error and does not end the
     * program. The call precedes the start of MPI, which also writes files. */
    (void)signal(SIGXFSZ, SIG_IGN);
    hpcw_status s = ui_options_init(&call.parse, program, options, &err);
    if (s == HPCW_OK) {
        s = ui_options_parse(&call.parse, argc, argv, &err);
    }
    if (s == HPCW_OK && call.parse.answer != UI_ANSWER_NONE) {
        ui_options_answer(&call.parse, stdout);
        s = end_output(s, &err);
        if (s != HPCW_OK) {
            complain(&call, &err);
        }
        return s == HPCW_OK ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    if (s == HPCW_OK) {
        s = ui_options_finish(&call.parse, &err);
    }
    /* A wrong command line must end all processes of a launcher with one message. So `measure` starts the processes
     * and reports the error. */
    row += s == HPCW_OK ? call.parse.command : 0;
    if (s != HPCW_OK || row->measures) {
        return measure(&call, row, s, &err);
    }
    s = end_output(row->run(&call, &err), &err);
    if (s != HPCW_OK) {
        complain(&call, &err);
    }
    return s == HPCW_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
