/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the results of kernels as tables, with a row per side, phase and figure. */
#ifndef HPCW_BENCH_KERNELS_REPORT_H
#define HPCW_BENCH_KERNELS_REPORT_H

#include <stddef.h>
#include <stdio.h>

#include <hpcw/status.h>

#include "bench/kernels/kernels.h"

struct bench_result {
    const struct bench_kernel *kernel;
    struct bench_amount amount;
    struct bench_samples samples;
    char skipped[HPCW_ERROR_MESSAGE_SIZE]; /* why there are no samples; "": there are samples */
};

hpcw_status bench_report_head(FILE *stream, const struct bench_site *run, hpcw_error *err);
hpcw_status bench_report_result(FILE *stream, const struct bench_result *result, hpcw_error *err);

#endif
