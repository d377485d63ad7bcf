/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of hpcw-bench, as a table. */
#ifndef HPCW_BENCH_OPTIONS_H
#define HPCW_BENCH_OPTIONS_H

#include "ui/cli/options.h"

/* Indices of the subcommands in the table, as in ui_parse.command. */
enum bench_command {
    BENCH_COMMAND_SWEEP,
    BENCH_COMMAND_METADATA,
    BENCH_COMMAND_MODEL,
    BENCH_COMMAND_REPORT,
    BENCH_COMMAND_COMPARE,
    BENCH_COMMAND_SITE,
    BENCH_COMMANDS
};

/* The program for ui/cli. Its options are stored in a struct bench_options. */
extern const struct ui_program bench_program;

#endif
