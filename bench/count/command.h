/* SPDX-License-Identifier: BSD-3-Clause */
/* `hpcw-bench model`: the shared blocks of any machine, counted and not measured. */
#ifndef HPCW_BENCH_COUNT_COMMAND_H
#define HPCW_BENCH_COUNT_COMMAND_H

#include <hpcw/status.h>

#include "bench/report/options.h"

/* Counts, prints a table to stdout, writes the JSON file. HPCW_EINVAL or HPCW_ERANGE where the numbers make no layout. */
HPCW_MUST_CHECK hpcw_status bench_model(const struct bench_options *o, hpcw_error *err);

#endif
