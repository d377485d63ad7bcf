/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * States and events that the program describes, with numbers of its own choice, on any process. In the log, all
 * processes have the same definitions in one order, and the user's are numbered without a gap. So process 0 passes on at
 * once what is next in order: should the program die, it is in the local file. The rest waits for the end.
 */
#ifndef COMPAT_MPE_DEFINITIONS_H
#define COMPAT_MPE_DEFINITIONS_H

#include <stdbool.h>

/* All numbers are free again. Under the lock. */
void mpe_definitions_begin(void);

/* Collective. Gives all processes the definitions of all. True: there is one. */
bool mpe_definitions_settle(void);

#endif
