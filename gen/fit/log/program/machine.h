/* SPDX-License-Identifier: BSD-3-Clause */
/* Learns from the messages of a log: latency and bandwidth, the eager limit, and whether tags are needed. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_MACHINE_H
#define HPCW_GEN_FIT_LOG_PROGRAM_MACHINE_H

#include "gen/fit/log/program/program.h"

/* Fills p->machine and p->tags. If tags are not needed, removes them from the steps. Returns false when memory
 * runs out. */
bool fit_machine_learn(struct fit_program *p);

#endif
