/* SPDX-License-Identifier: BSD-3-Clause */
/* The directory that holds all data of one run, and is removed after it. */
#ifndef HPCW_BENCH_MEASURE_WORKDIR_H
#define HPCW_BENCH_MEASURE_WORKDIR_H

#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "bench/measure/processes.h"

enum { BENCH_WORKDIR = 3072, BENCH_PATH = 4096 };

/*
 * Process 0 makes PARENT/.hpcw-bench.PID and PARENT/.hpcw-bench.PID.owner, which it locks, and broadcasts the name of the
 * directory. Before, it removes what killed runs left in PARENT, and says so on stderr: whatever nobody has locked any more. Collective. HPCW_ERANGE (name too long),
 * HPCW_EMISMATCH (a process does not see it) and errors of the system.
 */
hpcw_status bench_workdir_make(const struct bench_processes *p, const char *parent, char path[BENCH_WORKDIR],
                               hpcw_error *err);

/* Process 0 removes it with all its content, after all processes have stopped using it. Collective. */
void bench_workdir_remove(const struct bench_processes *p, const char *path);

/* Removes its content, and waits until the file system has recorded that. By one process. */
hpcw_status bench_workdir_clear(const char *path, hpcw_error *err);

/* Removes a directory and all below it, if it exists; follows no link. */
void bench_remove_tree(const char *path);

/* All of a file of at most `most` bytes. HPCW_EFORMAT: it is longer. *data: to be freed, in any case. */
hpcw_status bench_read_file(const char *path, uint64_t most, unsigned char **data, size_t *size,
                            hpcw_error *err);

#endif
