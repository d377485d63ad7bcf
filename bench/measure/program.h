/* SPDX-License-Identifier: BSD-3-Clause */
/* The course of a program that measures: options, processes, signals, exit status. */
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
    void *options;                    /* of the program */
    struct bench_processes processes; /* of a command that measures */
    bool failed;                      /* set by the command: exit status 1 without a message */
};

/* What a command does. `measures`: collectively, with all processes, until a signal comes. */
struct bench_command_row {
    hpcw_status (*run)(struct bench_call *call, hpcw_error *err);
    bool measures;
};

/* Runs the command that was named. `row`: in the order of program->commands. Returns the exit status. */
int bench_program_run(int argc, char **argv, const struct ui_program *program, void *options,
                      const struct bench_command_row *row);

#endif
