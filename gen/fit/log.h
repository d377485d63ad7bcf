/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is learned from an event log. Iterations are the calls that recur most often and regularly, up to a collective call if
 * there is one (log_places.h). What a rank computes in an iteration is taken as its only task of a phase, and the messages that it receives as the edges to it, one from each rank:
 * so the statistics and parameters are those of load data.
 */
#ifndef HPCW_GEN_FIT_LOG_H
#define HPCW_GEN_FIT_LOG_H

#include "gen/fit/facts.h"
#include "gen/fit/twin.h"

/* Reads the log twice. Memory: 8 bytes for each rank and iteration and 24 for each message, 128 MiB each at most; what is
 * beyond that is left out, with a remark; that of places; and that of load data. */
hpcw_status gen_fit_log(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                        hpcw_error *err);

#endif
