/* SPDX-License-Identifier: BSD-3-Clause */
/* What a person reads who stops the program by ^C. */
#ifndef HPCW_GEN_CLI_COMMON_STOP_H
#define HPCW_GEN_CLI_COMMON_STOP_H

#include "gen/cli/common/options.h"

/* From now on SIGINT, SIGTERM and SIGHUP, unless they are ignored, print what stays of the command and how to go on,
 * and then end the program as before. */
void gen_cli_explain_stop(const struct gen_cli_options *options, enum gen_cli_command command);

#endif
