/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is learned from an event log: a workload in Lua that makes the calls of its ranks, with their bytes and partners, and
 * takes the times that they took. It has as many ranks as the log.
 */
#ifndef HPCW_GEN_FIT_LOG_LEARN_H
#define HPCW_GEN_FIT_LOG_LEARN_H

#include "gen/fit/facts.h"
#include "gen/fit/twin.h"

/* Memory: 200 bytes for each call of MPI and each end of a message. */
hpcw_status gen_fit_log(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                        hpcw_error *err);

#endif
