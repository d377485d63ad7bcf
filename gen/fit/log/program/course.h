/* SPDX-License-Identifier: BSD-3-Clause */
/* Factors that times before calls have in common. All times in one turn of the main loop may be longer or
 * shorter together. The course of the run is a factor of all ranks, for instance as loads grow. Luck is a
 * factor of one rank, for instance as its load changes. A time is the product
 *
 *    mean of the step * factor of the rank * course of the turn * luck of the rank in the turn * the rest
 *
 * Luck is a table of ranks and turns, since it decides which ranks wait for others. A large run has none. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_COURSE_H
#define HPCW_GEN_FIT_LOG_PROGRAM_COURSE_H

#include "gen/fit/log/program/program.h"

/* Learns the two factors of the times before calls of a program with phases: its course (how all times change
 * from turn to turn) and its luck (how the times of a rank differ from that). Then divides the times by both
 * factors. least: see fit_draws_members. Returns false when memory runs out. */
bool fit_course_learn(struct fit_program *p, double least);

#endif
