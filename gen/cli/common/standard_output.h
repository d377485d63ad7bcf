/* SPDX-License-Identifier: BSD-3-Clause */
/* The place where a command writes: standard output, which may be anything, or a file. */
#ifndef HPCW_GEN_CLI_COMMON_STANDARD_OUTPUT_H
#define HPCW_GEN_CLI_COMMON_STANDARD_OUTPUT_H

#include <stdbool.h>

#include <hpcw/sink.h>

/* Opens a sink that writes to standard output. Writes must be in order, each where the one before ended. The
 * bytes can come out before the sink is published. The caller flushes stdout at the end. Fails only with
 * HPCW_ENOMEM. */
hpcw_status gen_cli_standard_output(hpcw_sink **out, hpcw_error *err);

/* Returns whether a value of --output means standard output. */
bool gen_cli_is_standard(const char *output);

/* Opens the sink for a value of --output: a file or standard output. */
hpcw_status gen_cli_open_output(const char *output, hpcw_durability durability, hpcw_sink **out,
                                hpcw_error *err);

/* Returns the words for a value of --output in messages. `room` may hold them. */
const char *gen_cli_output_name(const char *output, hpcw_error *room);

#endif
