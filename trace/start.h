/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets the environment of the program, and starts it. */
#ifndef HPCW_TRACE_START_H
#define HPCW_TRACE_START_H

#include <hpcw/status.h>

#include "trace/options.h"

/* Sets the environment and replaces this process by the program argv[0] with its arguments. Returns only after a
 * failure, with the exit status in *code. */
hpcw_status trace_start(const struct ui_parse *parse, char **argv, int *code, hpcw_error *err);

#endif
