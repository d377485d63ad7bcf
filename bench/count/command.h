/* SPDX-License-Identifier: BSD-3-Clause */
/* `hpcw-bench model`: counts shared blocks for any machine, without measuring. */
#ifndef HPCW_BENCH_COUNT_COMMAND_H
#define HPCW_BENCH_COUNT_COMMAND_H

#include <hpcw/status.h>

#include "bench/report/options.h"

/* Counts the shared blocks, prints them as a table to stdout, and writes the JSON file. HPCW_EINVAL, HPCW_ERANGE:
 * the numbers in `o` give no valid layout. */
HPCW_MUST_CHECK hpcw_status bench_model(const struct bench_options *o, hpcw_error *err);

#endif
