/* SPDX-License-Identifier: BSD-3-Clause */
/* The main function of a program that measures: options, processes, signals, exit status. */
#ifndef HPCW_BENCH_MEASURE_PROGRAM_H
#define HPCW_BENCH_MEASURE_PROGRAM_H

#include <stdbool.h>

#include <hpcw/status.h>

#include "bench/measure/processes.h"
#include "ui/cli/options.h"

struct bench_call {
    int argc;
    char **argv;
    struct ui_parse parse;
    void *options;                    /* options of the program */
    struct bench_processes processes; /* set if bench_command_row.measures */
    /* set by the command: exit with status 1 and no message */
    bool failed;
};

/* A command of a program. measures: `run` is collective over all processes, and ends when a signal arrives. */
struct bench_command_row {
    hpcw_status (*run)(struct bench_call *call, hpcw_error *err);
    bool measures;
};

/* Runs the command that the command line names. row: one for each of program->commands, in the same order. Returns
 * the exit status. */
int bench_program_run(int argc, char **argv, const struct ui_program *program, void *options,
                      const struct bench_command_row *row);

#endif
