/* SPDX-License-Identifier: BSD-3-Clause */
#include "compat/sionlib/mpi/processes.h"

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

bool sionlib_divide_by_comm(struct sionlib_parallel *p, MPI_Comm part) {
    MPI_Comm all = sionlib_mpi_of(p)->all;
    int own = p->processes.rank;
    if (part == MPI_COMM_NULL) {
        p->rank_in_file = own;
        return true;
    }
    int rank, highest, first = own, before = 0;
    (void)MPI_Comm_rank(part, &rank);
    int leads = rank == 0;
    /* A file has its tasks in the order of their ranks. */
    (void)MPI_Scan(&own, &highest, 1, MPI_INT, MPI_MAX, part);
    (void)MPI_Allreduce(&leads, &p->files, 1, MPI_INT, MPI_SUM, all);
    (void)MPI_Exscan(&leads, &before, 1, MPI_INT, MPI_SUM, all);
    p->file = own == 0 ? 0 : before;
    (void)MPI_Bcast(&p->file, 1, MPI_INT, 0, part);
    (void)MPI_Bcast(&first, 1, MPI_INT, 0, part);
    p->rank_in_file = rank;
    p->by_colour = true;
    p->colour = (uint32_t)first;
    if (highest != own) {
        sionlib_report(
            "%s: expected the processes of a file in the order of their ranks, got rank %d before rank %d",
            p->path, highest, own);
    }
    return highest == own;
}
