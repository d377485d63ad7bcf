/* SPDX-License-Identifier: BSD-3-Clause */
/* Directory with all data of a run. It is removed after the run. */
#ifndef HPCW_BENCH_MEASURE_WORKDIR_H
#define HPCW_BENCH_MEASURE_WORKDIR_H

#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "bench/measure/processes.h"

enum { BENCH_WORKDIR = 3072, BENCH_PATH = 4096 };

/* Collective. Process 0 makes PARENT/.hpcw-bench.PID, makes and locks PARENT/.hpcw-bench.PID.owner, and
 * broadcasts the name of the directory. First it removes what killed runs left in PARENT, which is everything
 * that is no longer locked, and reports it on stderr. HPCW_ERANGE: the name is too long. HPCW_EMISMATCH: a
 * process does not see the directory. Also errors of the system. */
hpcw_status bench_workdir_make(const struct bench_processes *p, const char *parent, char path[BENCH_WORKDIR],
                               hpcw_error *err);

/* Collective. When all processes have stopped using the directory, process 0 removes it with its content. */
void bench_workdir_remove(const struct bench_processes *p, const char *path);

/* Removes the content of the directory, and waits until the file system has recorded that. It follows no link that has
 * taken the place of the directory. Called by one process. */
hpcw_status bench_workdir_clear(const char *path, hpcw_error *err);

/* Removes a directory with its content if it exists. Follows no link. */
void bench_remove_tree(const char *path);

/* Reads a whole file of at most `most` bytes. HPCW_EFORMAT: it is longer. *data: to be freed in any case. */
hpcw_status bench_read_file(const char *path, uint64_t most, unsigned char **data, size_t *size,
                            hpcw_error *err);

#endif
