/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a command writes: standard output, whatever that is, or a file. */
#ifndef HPCW_GEN_CLI_COMMON_STANDARD_OUTPUT_H
#define HPCW_GEN_CLI_COMMON_STANDARD_OUTPUT_H

#include <stdbool.h>

#include <hpcw/sink.h>

/* What is written must follow what was written before, and is out at once or later: nothing is held back until a publish. The
 * caller flushes stdout at the end. HPCW_ENOMEM. */
hpcw_status gen_cli_standard_output(hpcw_sink **out, hpcw_error *err);

/* Whether an --output is standard output. */
bool gen_cli_is_standard(const char *output);

/* The sink of an --output. */
hpcw_status gen_cli_open_output(const char *output, hpcw_durability durability, hpcw_sink **out,
                                hpcw_error *err);

/* What messages call an --output. */
const char *gen_cli_output_name(const char *output, hpcw_error *room);

#endif
