/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures kernels of the table, one after the other, and reports them. */
#ifndef HPCW_BENCH_KERNELS_RUN_H
#define HPCW_BENCH_KERNELS_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "bench/measure/processes.h"
#include "bench/measure/workdir.h"

struct bench_kernels_options {
    char dir[BENCH_PATH];    /* on the file system to measure */
    char json[BENCH_PATH];   /* file of all samples; "": none */
    char hpcgen[BENCH_PATH]; /* path of the generator; "": not found */
    uint64_t only;           /* bit i: the i-th kernel; 0: all */
    uint32_t repeat;
    double scale; /* 0 < scale <= 1: share of the full size */
    bool warm;    /* touch the memory that a run will need before it starts */
    bool quiet;   /* no table */
};

/* Collective. Process 0 writes the reports. Kernels that do not fit the number of processes are skipped and say why. */
hpcw_status bench_kernels_run(const struct bench_kernels_options *options,
                              const struct bench_processes *processes, hpcw_error *err);

#endif
