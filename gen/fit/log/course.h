/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What times before calls have in common. Those of one turn of the longest loop are longer or shorter together: on all ranks, as
 * loads grow, which is the course of the run; and on one rank, as its load changes, which is its luck. So a time is
 *
 *     mean of the step * factor of the rank * course of the turn * luck of the rank in the turn * the rest
 *
 * Of a small run, the luck of each rank in each turn is a table: it decides who waits for whom. Of a large one, it is drawn.
 */
#ifndef HPCW_GEN_FIT_LOG_COURSE_H
#define HPCW_GEN_FIT_LOG_COURSE_H

#include "gen/fit/log/program.h"

/* Learns course and luck of a program that has phases, from its long times, which are then over these. `least` as in
 * fit_draws_members. False when memory runs out. */
bool fit_course_learn(struct fit_program *p, double least);

#endif
