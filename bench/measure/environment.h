/* SPDX-License-Identifier: BSD-3-Clause */
/* Environment variables that configure the batch system and MPI. */
#ifndef HPCW_BENCH_MEASURE_ENVIRONMENT_H
#define HPCW_BENCH_MEASURE_ENVIRONMENT_H

#include <stddef.h>

enum { BENCH_VARIABLE = 192, BENCH_VARIABLES = 48 };

/* Lists variables such as "SLURM_NTASKS=64", ascending: those of Slurm that describe the job, and settings of
 * MPI libraries and their file access. Returns their number, at most BENCH_VARIABLES. Values that are too long
 * are cut. */
size_t bench_environment(char text[BENCH_VARIABLES][BENCH_VARIABLE]);

#endif
