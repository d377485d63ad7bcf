/* SPDX-License-Identifier: BSD-3-Clause */
/* Learns a workload in Lua from an event log. It makes the same calls with the same bytes, partners and times,
 * and has as many ranks as the log, or any number if there are logs with several numbers. */
#ifndef HPCW_GEN_FIT_LOG_LEARN_H
#define HPCW_GEN_FIT_LOG_LEARN_H

#include "gen/fit/facts.h"
#include "gen/fit/twin.h"

/* Memory: 200 bytes for each MPI call and each end of a message. */
hpcw_status gen_fit_log(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                        hpcw_error *err);

/* Learns one workload from logs of one program, path[count], each with another number of ranks. HPCW_EINVAL: they have the
 * same number, or not the same calls. */
hpcw_status gen_fit_logs(const char *const *path, size_t count, struct gen_fit_twin *twin, hpcw_error *err);

#endif
