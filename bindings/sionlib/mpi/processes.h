/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that communicate by MPI. */
#ifndef HPCW_BINDINGS_SIONLIB_MPI_PROCESSES_H
#define HPCW_BINDINGS_SIONLIB_MPI_PROCESSES_H

#include <mpi.h>

#include "bindings/sionlib/handles/parallel.h"

/* Context of a struct sionlib_processes whose processes communicate by MPI. */
struct sionlib_mpi {
    MPI_Comm all;     /* the caller's communicator */
    MPI_Comm of_file; /* processes that share a file with this process; MPI_COMM_NULL: not needed */
    /* processes of this process's group; rank 0 collects the data; MPI_COMM_NULL: not a merged container */
    MPI_Comm of_group;
};

/* Fills in *processes for the processes of communicator `all`. The caller must call processes->free. Collective.
 * Returns false after reporting an error. */
bool sionlib_processes_of_mpi(struct sionlib_processes *processes, MPI_Comm all);

static inline struct sionlib_mpi *sionlib_mpi_of(const struct sionlib_parallel *p) {
    return p->processes.context;
}

/* Frees the communicators of file and group. Collective. */
void sionlib_forget_groups(struct sionlib_mpi *mpi);

/* Divides the processes among files: the processes of each communicator `part` share a file. Each process has
 * `tasks` tasks. Collective. Returns false after reporting an error. */
bool sionlib_divide_by_comm(struct sionlib_parallel *p, MPI_Comm part, int tasks);

#endif
