/* SPDX-License-Identifier: BSD-3-Clause */
/* F6: the subcommands of hpcgen. Each prints its result on stdout and what is for people on stderr. */
#ifndef HPCW_GEN_CLI_COMMANDS_H
#define HPCW_GEN_CLI_COMMANDS_H

#include "gen/cli/options.h"
#include "gen/spec/dataset.h"
#include "libwriter/comm/comm.h"

/* Applies --set and what a configuration file set. */
hpcw_status hpcgen_apply(const struct hpcw_i_settings *settings, struct hpcw_i_dataset *dataset,
                         hpcw_error *err);

/* The dataset that a command line describes: preset, scale, settings, the rest; built and checked. */
hpcw_status hpcgen_resolve(const struct hpcgen_options *options, struct hpcw_i_dataset *dataset,
                           hpcw_error *err);

/* Collective over `comm`; only process 0 prints. */
hpcw_status hpcgen_generate(const struct hpcgen_options *options, hpcw_comm *comm, hpcw_error *err);
hpcw_status hpcgen_plan(const struct hpcgen_options *options, hpcw_comm *comm, hpcw_error *err);

hpcw_status hpcgen_verify(const struct hpcgen_options *options, const char *path, hpcw_error *err);
hpcw_status hpcgen_info(const struct hpcgen_options *options, const char *path, hpcw_error *err);
hpcw_status hpcgen_list(const struct hpcgen_options *options, hpcw_error *err);
hpcw_status hpcgen_export(const struct hpcgen_options *options, const char *path, hpcw_error *err);
hpcw_status hpcgen_report(const struct hpcgen_options *options, const char *path, hpcw_error *err);
hpcw_status hpcgen_recover(const struct hpcgen_options *options, const char *const *path, size_t count,
                           hpcw_error *err);
hpcw_status hpcgen_join(const struct hpcgen_options *options, const char *dir, hpcw_error *err);

#endif
