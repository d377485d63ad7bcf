/* SPDX-License-Identifier: BSD-3-Clause */
/* The collective calls of an iteration: a solver makes several, and has sent messages before some of them. */
#ifndef HPCW_GEN_FIT_LOG_PERIOD_H
#define HPCW_GEN_FIT_LOG_PERIOD_H

#include <stdint.h>

/* Whole periods of calls: the first of them, their number, and the calls of each. */
struct gen_fit_log_periods {
    uint32_t first, count, calls;
};

/* After how many calls the numbers of messages before them repeat, most of the time; 1 if they do not. A period begins where
 * messages come after none. Calls before the first and after the last number that is usual at its place belong to no period: a
 * program makes them before and after its iterations. */
struct gen_fit_log_periods gen_fit_log_periods(const uint32_t *messages, uint32_t calls);

#endif
