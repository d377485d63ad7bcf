/* SPDX-License-Identifier: BSD-3-Clause */
/* The statistics of an event log. */
#ifndef HPCW_GEN_FIT_LOG_FACTS_H
#define HPCW_GEN_FIT_LOG_FACTS_H

#include "gen/fit/facts.h"
#include "gen/fit/log/program/program.h"

/* Adds the facts of a log to a list. Fails as gen_waits_read, or with HPCW_ENOMEM. */
hpcw_status fit_log_facts(const char *path, const struct fit_program *p, struct gen_fit_facts *facts,
                          hpcw_error *err);

#endif
