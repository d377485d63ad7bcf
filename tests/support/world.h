/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tests under mpiexec share. Every verdict is reduced over all processes before it is asserted: an assert on one
 * process alone would leave the others waiting in the next collective.
 */
#ifndef HPCW_TESTS_SUPPORT_WORLD_H
#define HPCW_TESTS_SUPPORT_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/mpi.h>

extern hpcw_comm *world; /* all processes */
extern int process;
extern int processes;
extern char scratch[256]; /* the same directory on all of them */

/* Starts MPI, makes the world and the scratch directory with `folders` folders 0, 1, ... in it. */
void world_begin(int *argc, char ***argv, int folders);

/* Whether it is made of callbacks instead of MPI's communicator. */
bool world_of_callbacks(void);

/* Takes everything down; returns its argument, for main. */
int world_end(int failed);

/* Whether it is true on all processes. */
bool on_all(bool mine);

/* The same, also when some know nothing: whether it is true on any. */
bool on_any(bool mine);

/* Whether all processes got the same status and the same message, naming the same process. */
bool same_verdict(hpcw_status s, const hpcw_error *err);

/* Empties a directory on process 0, everybody waits. */
void empty_directory(const char *path);

/* Entries of a directory, as process 0 sees them when all are here. */
int entries_seen(const char *path);

/* Whether two files are equal, as process 0 sees it; the answer is for all. */
bool same_file(const char *want_path, const char *got_path);

/* Name of physical file `file` of a set. */
void name_of_file(char *name, size_t size, const char *base, uint32_t file);

/* How the tasks are spread over the processes. */
enum spread { BLOCKS, BLOCK_LISTS, ROUND_ROBIN, ALL_ON_LAST, BACKWARDS, PARITY, SPREADS };

/* The tasks of this process: fills ranks [tasks], returns how many. BLOCKS are consecutive and need no list. */
uint32_t own_tasks(enum spread spread, uint32_t tasks, uint32_t *ranks);

#endif
