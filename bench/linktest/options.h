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
    struct ui_sizes sizes;     /* bytes of a message; each size has its own result */
    char mode[16];
    bool bidirectional, unidirectional;
    bool bisection, all_to_all, serial;
    bool randomize;        /* shuffle the order of the steps */
    uint64_t permutations; /* measurements with processes renumbered at random; 0: one in order */
    uint64_t seed;
    uint64_t retests;
    char output[BENCH_PATH];
    bool oversubscribe;
    bool quiet;
    bool json; /* JSON instead of the table */
};

/* Its options are a struct bench_linktest_options. */
extern const struct ui_program bench_linktest_program;

#endif
