/* SPDX-License-Identifier: BSD-3-Clause */
/* Directory with all data of a run. It is removed after the run. */
#ifndef HPCW_BENCH_MEASURE_WORKDIR_H
#define HPCW_BENCH_MEASURE_WORKDIR_H

#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "bench/measure/processes.h"

enum { BENCH_WORKDIR = 3072, BENCH_PATH = 4096 };

/* Collective. Process 0 makes the data directory PARENT/.hpcw-bench.PID, makes and locks the file
 * PARENT/.hpcw-bench.PID.owner, and broadcasts the name of the directory. First it removes the directories of
 * killed runs in PARENT, whose files are no longer locked, and reports them on stderr. HPCW_ERANGE: the name is
 * too long. HPCW_EMISMATCH: a process does not see the directory. Also errors of the system. */
hpcw_status bench_workdir_make(const struct bench_processes *p, const char *parent, char path[BENCH_WORKDIR],
                               hpcw_error *err);

/* Collective. When all processes have stopped using the directory, process 0 removes it with its content. */
void bench_workdir_remove(const struct bench_processes *p, const char *path);

/* Removes the content of the directory and syncs the directory. If the directory was replaced by a link, the
 * link is not followed. Called by one process. */
hpcw_status bench_workdir_clear(const char *path, hpcw_error *err);

/* Removes a directory with its content if it exists. Follows no link. */
void bench_remove_tree(const char *path);

/* Reads a whole file of at most `most` bytes. HPCW_EFORMAT: the file is longer. *data: the caller frees it,
 * also after a failure. */
hpcw_status bench_read_file(const char *path, uint64_t most, unsigned char **data, size_t *size,
                            hpcw_error *err);
/* Like bench_read_file, for file `name` in the directory with descriptor `at`. `path` is for messages. */
hpcw_status bench_read_file_at(int at, const char *name, const char *path, uint64_t most, unsigned char **data,
                               size_t *size, hpcw_error *err);

#endif
