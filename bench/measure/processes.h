/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that measure together: those that a launcher of MPI started, or one process without MPI. */
#ifndef HPCW_BENCH_MEASURE_PROCESSES_H
#define HPCW_BENCH_MEASURE_PROCESSES_H

#include <stdbool.h>

#include <hpcw/comm.h>
#include <hpcw/status.h>

enum { BENCH_HOST = 64 };

struct bench_processes {
    hpcw_comm *comm; /* never NULL */
    int process, count;
    bool crowded; /* there are more processes than processors */
    int hosts;
    /* [count] host of each process, numbered in the order of processes; NULL: all are on one host */
    int *host;
    char (*name)[BENCH_HOST]; /* [hosts] NULL: all are on one host */
    char library[128];        /* name of the MPI library; "" without MPI */
};

/* Starts MPI if environment variables of a launcher exist. HPCW_ENOTSUP: there are such variables, but this build
 * has no MPI. */
hpcw_status bench_processes_start(struct bench_processes *p, hpcw_error *err);

/* Ends MPI and frees the members of `p`. Call it also after bench_processes_start failed. */
void bench_processes_end(struct bench_processes *p);

/* Returns the number of a process's host. */
int bench_processes_host(const struct bench_processes *p, int process);

#endif
