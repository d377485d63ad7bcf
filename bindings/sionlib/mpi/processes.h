/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of MPI. */
#ifndef HPCW_BINDINGS_SIONLIB_MPI_PROCESSES_H
#define HPCW_BINDINGS_SIONLIB_MPI_PROCESSES_H

#include <mpi.h>

#include "bindings/sionlib/handles/parallel.h"

/* What sionlib_processes has as its context. */
struct sionlib_mpi {
    MPI_Comm all;      /* the caller's */
    MPI_Comm of_file;  /* the processes of this one's file; MPI_COMM_NULL: not needed */
    MPI_Comm of_group; /* those of its group, the collector first; MPI_COMM_NULL: not merged */
};

/* The processes of the caller's communicator; free them. Collective. False: reported. */
bool sionlib_processes_of_mpi(struct sionlib_processes *processes, MPI_Comm all);

static inline struct sionlib_mpi *sionlib_mpi_of(const struct sionlib_parallel *p) {
    return p->processes.context;
}

/* Frees the communicators of file and group; collective. */
void sionlib_forget_groups(struct sionlib_mpi *mpi);

/* Divides the processes, of `tasks` tasks each, by the caller's communicators. Collective. False: reported. */
bool sionlib_divide_by_comm(struct sionlib_parallel *p, MPI_Comm part, int tasks);

#endif
