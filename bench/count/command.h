/* SPDX-License-Identifier: BSD-3-Clause */
/* `hpcw-bench model`: counts shared blocks for any machine, without measuring. */
#ifndef HPCW_BENCH_COUNT_COMMAND_H
#define HPCW_BENCH_COUNT_COMMAND_H

#include <hpcw/status.h>

#include "bench/report/options.h"

/* Counts, prints a table to stdout, and writes the JSON file. HPCW_EINVAL, HPCW_ERANGE: the numbers give no
 * valid layout. */
HPCW_MUST_CHECK hpcw_status bench_model(const struct bench_options *o, hpcw_error *err);

#endif
