/* SPDX-License-Identifier: BSD-3-Clause */
/* F6: the directory that holds all data of one run, and is gone afterwards. */
#ifndef HPCW_BENCH_MEASURE_WORKDIR_H
#define HPCW_BENCH_MEASURE_WORKDIR_H

#include <hpcw/status.h>

#include "bench/measure/processes.h"

enum { BENCH_WORKDIR = 3072, BENCH_PATH = 4096 };

/*
 * Process 0 makes PARENT/.hpcw-bench.PID, all learn its name. Collective. HPCW_ERANGE (name too long) and the
 * system's refusals.
 */
hpcw_status bench_workdir_make(const struct bench_processes *p, const char *parent, char path[BENCH_WORKDIR],
                               hpcw_error *err);

/* Removes it with all that is in it; by process 0, when nobody uses it any more. Collective. */
void bench_workdir_remove(const struct bench_processes *p, const char *path);

/* Removes all that is in it, and waits until the file system has noted that. By one process. */
hpcw_status bench_workdir_clear(const char *path, hpcw_error *err);

/* Removes a directory and all below it, if it is there; follows no link. */
void bench_remove_tree(const char *path);

#endif
