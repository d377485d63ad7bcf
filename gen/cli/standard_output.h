/* SPDX-License-Identifier: BSD-3-Clause */
/* A sink for a pipe, a terminal or whatever standard output is. */
#ifndef HPCW_GEN_CLI_STANDARD_OUTPUT_H
#define HPCW_GEN_CLI_STANDARD_OUTPUT_H

#include <hpcw/sink.h>

/* What is written must follow what was written before, and is out at once or later: nothing is held back until a publish. The
 * caller flushes stdout at the end. HPCW_ENOMEM. */
hpcw_status gen_cli_standard_output(hpcw_sink **out, hpcw_error *err);

#endif
