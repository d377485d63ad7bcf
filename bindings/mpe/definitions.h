/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * States and events that the program describes, on any process, under numbers that the program chooses. In
 * the log, all processes have the same definitions in the same order, and new numbers without a gap.
 *
 * Process 0 gives a definition to the log as soon as its number is next in order, so that its local file has it if
 * the program dies. The other definitions wait for the end.
 */
#ifndef COMPAT_MPE_DEFINITIONS_H
#define COMPAT_MPE_DEFINITIONS_H

#include <stdbool.h>

/* Forgets all definitions, so that all numbers are free. The caller holds the lock. */
void mpe_definitions_begin(void);

/* Gives each process the definitions of all processes. Collective. Returns whether there is at least one
 * definition. */
bool mpe_definitions_settle(void);

#endif
