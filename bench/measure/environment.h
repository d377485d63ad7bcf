/* SPDX-License-Identifier: BSD-3-Clause */
/* What the batch system and MPI were told by environment variables. */
#ifndef HPCW_BENCH_MEASURE_ENVIRONMENT_H
#define HPCW_BENCH_MEASURE_ENVIRONMENT_H

#include <stddef.h>

enum { BENCH_VARIABLE = 192, BENCH_VARIABLES = 48 };

/* "SLURM_NTASKS=64", ascending: variables of Slurm that describe the job, and settings of MPI libraries and their file
 * access. Returns their number, at most BENCH_VARIABLES. A value that is too long is cut. */
size_t bench_environment(char text[BENCH_VARIABLES][BENCH_VARIABLE]);

#endif
