/* SPDX-License-Identifier: BSD-3-Clause */
/* Learns a workload in Lua that makes the same calls as event logs, with the same bytes, partners and times. The
 * workload has the number of ranks of the log. From logs with different numbers of ranks, it can have any
 * number. */
#ifndef HPCW_GEN_FIT_LOG_LEARN_H
#define HPCW_GEN_FIT_LOG_LEARN_H

#include "gen/fit/facts.h"
#include "gen/fit/twin.h"

/* Adds the facts of a log, or learns the twin if it is not NULL. Memory: 200 bytes for each MPI call and each
 * end of a message. */
hpcw_status gen_fit_log(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                        hpcw_error *err);

/* Learns one workload from several logs of one program, path[count]. HPCW_EINVAL: two logs have the same number
 * of ranks, or their calls differ. */
hpcw_status gen_fit_logs(const char *const *path, size_t count, struct gen_fit_twin *twin, hpcw_error *err);

#endif
