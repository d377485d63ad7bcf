/* SPDX-License-Identifier: BSD-3-Clause */
/* What times before calls have in common. All times of one turn of the longest loop may be longer or shorter
 * together. If this holds for all ranks, as loads grow, it is the course of the run. If it holds for one rank, as
 * its load changes, it is the rank's luck. A time is then the product
 *
 *    mean of the step * factor of the rank * course of the turn * luck of the rank in the turn * the rest
 *
 * For a small run, luck is a table of ranks and turns, since it decides who waits for whom. For a large run, luck
 * is drawn. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_COURSE_H
#define HPCW_GEN_FIT_LOG_PROGRAM_COURSE_H

#include "gen/fit/log/program/program.h"

/* Learns course and luck of a program with phases from its long times, then divides the times by both. `least`
 * as in fit_draws_members. Returns false when memory runs out. */
bool fit_course_learn(struct fit_program *p, double least);

#endif
