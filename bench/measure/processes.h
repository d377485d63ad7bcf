/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes that measure together: one, without MPI, or those that mpirun started. */
#ifndef HPCW_BENCH_MEASURE_PROCESSES_H
#define HPCW_BENCH_MEASURE_PROCESSES_H

#include <stdbool.h>

#include <hpcw/comm.h>
#include <hpcw/status.h>

enum { BENCH_HOST = 64 };

struct bench_processes {
    hpcw_comm *comm; /* never NULL */
    int process, count;
    bool crowded; /* more processes than processors */
    int hosts;
    int *host; /* [count] of each process, numbered by their first processes; NULL: one host has all */
    char (*name)[BENCH_HOST]; /* [hosts], NULL as above */
    char library[128];        /* what carries their messages, "" without MPI */
};

/*
 * Starts MPI if a launcher's environment variables are there, and only then. HPCW_ENOTSUP if they are and this
 * build has no MPI.
 */
hpcw_status bench_processes_start(struct bench_processes *p, hpcw_error *err);

/* After a failure of the start, too. */
void bench_processes_end(struct bench_processes *p);

/* Number of the host of a process. */
int bench_processes_host(const struct bench_processes *p, int process);

/* Returns on all processes at about the same time, with nobody in debt to the scheduler. */
void bench_processes_settle(const struct bench_processes *p);

#endif
