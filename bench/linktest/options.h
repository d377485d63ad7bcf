/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of hpcw-linktest, as a table. */
#ifndef HPCW_BENCH_LINKTEST_OPTIONS_H
#define HPCW_BENCH_LINKTEST_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/measure/workdir.h"
#include "ui/cli/options.h"
#include "ui/cli/values.h"

struct bench_linktest_options {
    uint64_t warmup, messages; /* messages of a pair, in each direction */
    struct ui_sizes sizes;     /* sizes of a message, bytes; each size has a result of its own */
    char mode[16];
    bool bidirectional, unidirectional;
    bool bisection, all_to_all, serial;
    bool randomize; /* shuffle the steps, in each of which all ranks measure in pairs */
    /* number of measurements with randomly renumbered processes; 0: one, not renumbered */
    uint64_t permutations;
    uint64_t seed;
    uint64_t retests;
    char output[BENCH_PATH];
    bool oversubscribe;
    bool quiet;
    bool json; /* print JSON instead of the table */
};

/* The program for ui/cli. Its options are stored in a struct bench_linktest_options. */
extern const struct ui_program bench_linktest_program;

#endif
