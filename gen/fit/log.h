/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is learned from an event log. Iterations consist of the collective call that all ranks make equally often, the most
 * frequent one, or of several of them, if messages come before every second or third one. What a rank computes in an
 * iteration is taken as its only task of a phase, and the messages that it receives as the edges to it, one from each rank:
 * so the statistics and parameters are those of load data.
 */
#ifndef HPCW_GEN_FIT_LOG_H
#define HPCW_GEN_FIT_LOG_H

#include "gen/fit/facts.h"
#include "gen/fit/twin.h"

/* Reads the log three times. Memory: 8 bytes for each rank and call and 24 for each message, 128 MiB each at most; what is
 * beyond that is left out, with a remark; and that of load data. */
hpcw_status gen_fit_log(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                        hpcw_error *err);

#endif
