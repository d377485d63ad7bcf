/* SPDX-License-Identifier: BSD-3-Clause */
/* The message for a user who stops the program by ^C. */
#ifndef HPCW_GEN_CLI_COMMON_STOP_H
#define HPCW_GEN_CLI_COMMON_STOP_H

#include "gen/cli/common/options.h"

/* Installs handlers for SIGINT, SIGTERM and SIGHUP, unless the signal is ignored. They print which results of
 * the command remain and how to go on. Then the signal ends the program, as it does without a handler. */
void gen_cli_explain_stop(const struct gen_cli_options *options, enum gen_cli_command command);

/* Returns how to go on with a run of `generate` that ended early. */
const char *gen_cli_go_on(const struct gen_cli_options *options);

#endif
