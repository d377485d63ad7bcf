/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of a command: a file, or standard output, which may be a file, a pipe or a terminal. */
#ifndef HPCW_GEN_CLI_COMMON_STANDARD_OUTPUT_H
#define HPCW_GEN_CLI_COMMON_STANDARD_OUTPUT_H

#include <stdbool.h>

#include <hpcw/sink.h>

/* Opens a sink that writes to standard output. Each write must begin where the write before ended. Bytes may be
 * written before hpcw_sink_publish. The caller flushes stdout at the end. Fails only with HPCW_ENOMEM. */
hpcw_status gen_cli_standard_output(hpcw_sink **out, hpcw_error *err);

/* Returns whether a value of --output means standard output. */
bool gen_cli_is_standard(const char *output);

/* Opens the sink for a value of --output: a file or standard output. */
hpcw_status gen_cli_open_output(const char *output, hpcw_durability durability, hpcw_sink **out,
                                hpcw_error *err);

/* Returns the name of an output for messages: "standard output", or the printable path, stored in `room`. */
const char *gen_cli_output_name(const char *output, hpcw_error *room);

#endif
