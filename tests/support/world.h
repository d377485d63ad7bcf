/* SPDX-License-Identifier: BSD-3-Clause */
/* Common parts of tests under mpiexec. Every verdict is reduced over all processes before it is asserted. An
 * assert on one process alone would leave the others waiting in the next collective. */
#ifndef HPCW_TESTS_SUPPORT_WORLD_H
#define HPCW_TESTS_SUPPORT_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/mpi.h>

#include "tests/support/files.h"

extern hpcw_comm *world; /* all processes */
extern int process;
extern int processes;

/* Starts MPI, makes the communicator `world` of all processes, and makes the scratch directory, the same on all
 * processes, with `folders` folders 0, 1, ... in it. */
void world_begin(int *argc, char ***argv, int folders);

/* Returns whether the communicator `world` is made of the test's own callbacks, not of MPI_COMM_WORLD. */
bool world_of_callbacks(void);

/* Shuts everything down. Returns its argument, for main. */
int world_end(int failed);

/* Returns whether `mine` is true on all processes. */
bool on_all(bool mine);

/* Returns on all processes whether `mine` is true on at least one process. */
bool on_any(bool mine);

/* Returns whether all processes got the same status and the same message, which names the same process. */
bool same_verdict(hpcw_status s, const hpcw_error *err);

/* Empties a directory on process 0, while all others wait. */
void empty_directory(const char *path);

/* Returns the number of entries of a directory on process 0, once all processes are here. */
int entries_seen(const char *path);

/* Returns on all processes whether process 0 sees two equal files. */
bool same_file(const char *want_path, const char *got_path);

/* Writes the name of physical file `file` of a set. */
void name_of_file(char *name, size_t size, const char *base, uint32_t file);

/* Distribution of the tasks over the processes. */
enum spread { BLOCKS, BLOCK_LISTS, ROUND_ROBIN, ALL_ON_LAST, BACKWARDS, PARITY, SPREADS };

/* Fills ranks [tasks] with the tasks of this process and returns their number. BLOCKS are consecutive and need no
 * list. */
uint32_t own_tasks(enum spread spread, uint32_t tasks, uint32_t *ranks);

#endif
