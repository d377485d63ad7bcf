/* SPDX-License-Identifier: BSD-3-Clause */
/* Learns from the sizes of tasks and files: SION containers and SCR checkpoints. */
#ifndef HPCW_GEN_FIT_SIZES_SIZES_H
#define HPCW_GEN_FIT_SIZES_SIZES_H

#include "gen/fit/facts.h"
#include "gen/fit/twin.h"

/* Memory: that of the format's reader, and 130 KiB. */
hpcw_status gen_fit_sion(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                         hpcw_error *err);
hpcw_status gen_fit_checkpoints(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                                hpcw_error *err);

#endif
