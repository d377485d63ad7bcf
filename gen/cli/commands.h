/* SPDX-License-Identifier: BSD-3-Clause */
/* The subcommands of hpcgen. Each prints its result on stdout, and messages for people on stderr. */
#ifndef HPCW_GEN_CLI_COMMANDS_H
#define HPCW_GEN_CLI_COMMANDS_H

#include "gen/cli/common/common.h"

/* Collective over `comm`; only process 0 prints. */
hpcw_status gen_cli_generate(const struct gen_cli_options *options, hpcw_comm *comm, hpcw_error *err);
hpcw_status gen_cli_plan(const struct gen_cli_options *options, hpcw_comm *comm, hpcw_error *err);
hpcw_status gen_cli_verify(const struct gen_cli_options *options, const char *path, hpcw_error *err);
hpcw_status gen_cli_info(const struct gen_cli_options *options, const char *path, hpcw_error *err);
hpcw_status gen_cli_list(const struct gen_cli_options *options, const char *topic, hpcw_error *err);
/* `parse` says which options were given. All other options have their defaults in `options`. */
hpcw_status gen_cli_export(const struct gen_cli_options *options, const struct ui_parse *parse,
                           hpcw_error *err);
hpcw_status gen_cli_rewrite(const struct gen_cli_options *options, const struct ui_parse *parse,
                            hpcw_error *err);
hpcw_status gen_cli_report(const struct gen_cli_options *options, const char *path, hpcw_error *err);
hpcw_status gen_cli_recover(const struct gen_cli_options *options, const char *const *path, size_t count,
                            hpcw_error *err);
hpcw_status gen_cli_scr(const struct gen_cli_options *options, const char *const *arg, size_t count,
                        hpcw_error *err);
hpcw_status gen_cli_score(const struct gen_cli_options *options, const char *findings, const char *dir,
                          hpcw_error *err);
hpcw_status gen_cli_fit(const struct gen_cli_options *options, const char *const *path, size_t count,
                        hpcw_error *err);
hpcw_status gen_cli_repair(const struct gen_cli_options *options, const char *dir, hpcw_error *err);
hpcw_status gen_cli_join(const struct gen_cli_options *options, const char *dir, hpcw_error *err);

/* Prints which files of the run remain in the directory .hpcw of a finished dataset. */
struct gen_left;
void gen_cli_print_left(const char *dir, const struct gen_left *left);

#endif
