/* SPDX-License-Identifier: BSD-3-Clause */
/* What the messages of a log show: how fast they are, whether their senders wait, and whether they need tags. */
#ifndef HPCW_GEN_FIT_LOG_MACHINE_H
#define HPCW_GEN_FIT_LOG_MACHINE_H

#include "gen/fit/log/program.h"

/* Fills p->machine and p->tags, and takes tags out of the steps that need none. False when memory runs out. */
bool fit_machine_learn(struct fit_program *p);

#endif
