/* SPDX-License-Identifier: BSD-3-Clause */
#include "bindings/sionlib/mpi/processes.h"

#include <stdlib.h>

#include <hpcw/mpi.h>

static int64_t reduce(void *context, int64_t mine, enum sionlib_reduction how) {
    const struct sionlib_mpi *mpi = context;
    (void)MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT64_T,
                        how == SIONLIB_LEAST  ? MPI_MIN
                        : how == SIONLIB_MOST ? MPI_MAX
                                              : MPI_SUM,
                        mpi->all);
    return mine;
}

static hpcw_status make_comm(void *context, hpcw_comm **out, hpcw_error *err) {
    const struct sionlib_mpi *mpi = context;
    return hpcw_comm_from_mpi(mpi->all, out, err);
}

void sionlib_forget_groups(struct sionlib_mpi *mpi) {
    if (mpi->of_group != MPI_COMM_NULL) {
        (void)MPI_Comm_free(&mpi->of_group);
    }
    if (mpi->of_file != MPI_COMM_NULL) {
        (void)MPI_Comm_free(&mpi->of_file);
    }
}

static void free_mpi(void *context) {
    sionlib_forget_groups(context);
    free(context);
}

bool sionlib_processes_of_mpi(struct sionlib_processes *processes, MPI_Comm all) {
    struct sionlib_mpi *mpi = malloc(sizeof *mpi);
    int least, mine = mpi != NULL;
    (void)MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, all);
    if (least == 0) {
        sionlib_report("sion: expected memory for an open container, got none on a process");
        free(mpi);
        return false;
    }
    *mpi = (struct sionlib_mpi){all, MPI_COMM_NULL, MPI_COMM_NULL};
    *processes =
        (struct sionlib_processes){.context = mpi, .reduce = reduce, .comm = make_comm, .free = free_mpi};
    (void)MPI_Comm_rank(all, &processes->rank);
    (void)MPI_Comm_size(all, &processes->size);
    return true;
}

bool sionlib_divide_by_comm(struct sionlib_parallel *p, MPI_Comm part, int tasks) {
    MPI_Comm all = sionlib_mpi_of(p)->all;
    if (part == MPI_COMM_NULL) {
        p->rank_in_file = p->processes.rank;
        return true;
    }
    int rank, files, file = 0;
    (void)MPI_Comm_rank(part, &rank);
    /* As in SIONlib, files are numbered in the order of the first processes of their communicators. */
    int leads = rank == 0;
    (void)MPI_Allreduce(&leads, &files, 1, MPI_INT, MPI_SUM, all);
    (void)MPI_Exscan(&leads, &file, 1, MPI_INT, MPI_SUM, all);
    file = p->processes.rank == 0 ? 0 : file;
    (void)MPI_Bcast(&file, 1, MPI_INT, 0, part);
    return sionlib_divide_by_place(p, true, files, file, rank, tasks);
}
