/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of MPI. */
#ifndef HPCW_BINDINGS_SIONLIB_MPI_PROCESSES_H
#define HPCW_BINDINGS_SIONLIB_MPI_PROCESSES_H

#include <mpi.h>

#include "bindings/sionlib/handles/parallel.h"

/* Context of a struct sionlib_processes. */
struct sionlib_mpi {
    MPI_Comm all;      /* the caller's communicator */
    MPI_Comm of_file;  /* processes of this file; MPI_COMM_NULL: not needed */
    MPI_Comm of_group; /* processes of this group, the collector first; MPI_COMM_NULL: not merged */
};

/* Fills *processes with what the library needs to know about the processes of a communicator. To be freed.
 * Collective. Returns false after reporting an error. */
bool sionlib_processes_of_mpi(struct sionlib_processes *processes, MPI_Comm all);

static inline struct sionlib_mpi *sionlib_mpi_of(const struct sionlib_parallel *p) {
    return p->processes.context;
}

/* Frees the communicators of file and group. Collective. */
void sionlib_forget_groups(struct sionlib_mpi *mpi);

/* Divides processes with `tasks` tasks each among files, by the caller's communicators. Collective. Returns false
 * after reporting an error. */
bool sionlib_divide_by_comm(struct sionlib_parallel *p, MPI_Comm part, int tasks);

#endif
