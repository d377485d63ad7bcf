/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of hpcw-bench, as a table and as a struct. */
#ifndef HPCW_BENCH_OPTIONS_H
#define HPCW_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/count/command.h"
#include "bench/measure/workdir.h"
#include "bench/sweep/sweep.h"
#include "ui/cli/options.h"
#include "ui/cli/values.h"

/* In the order of the table: ui_parse.command. */
enum bench_command { BENCH_COMMAND_SWEEP, BENCH_COMMAND_MODEL, BENCH_COMMAND_REPORT, BENCH_COMMAND_COMPARE };

struct bench_options {
    /* What several commands take; each command receives it as arguments. */
    uint32_t ranks;
    uint64_t layouts, per_rank;
    struct ui_sizes block_sizes, records, files;
    struct bench_sweep_options sweep;
    char json[BENCH_PATH];
    uint32_t repeat;
    bool quiet;
    struct bench_model_options model;
};

extern const struct ui_program bench_program;

#endif
