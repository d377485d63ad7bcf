/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups depend on the requested chunk sizes of all tasks, so the first process of a file makes the groups. */
#include <stdlib.h>

#include "bindings/sionlib/mpi/groups.h"

bool sionlib_group(struct sionlib_parallel *p, struct sionlib_member *own, int count) {
    struct sionlib_mpi *mpi = sionlib_mpi_of(p);
    int rank, processes;
    sionlib_forget_groups(mpi);
    (void)MPI_Comm_split(mpi->all, p->file, p->rank_in_file, &mpi->of_file);
    (void)MPI_Comm_rank(mpi->of_file, &rank);
    (void)MPI_Comm_size(mpi->of_file, &processes);
    int64_t tasks = (int64_t)processes * count;
    struct sionlib_member *all = rank == 0 ? malloc((size_t)tasks * sizeof *all) : NULL;
    bool well = sionlib_agree(&p->processes, rank != 0 || all != NULL);
    if (well) {
        (void)MPI_Gather(own, SIONLIB_MEMBER_WORDS * count, MPI_INT64_T, all, SIONLIB_MEMBER_WORDS * count,
                         MPI_INT64_T, 0, mpi->of_file);
        well = rank != 0 || sionlib_group_tasks(all, tasks, &p->mode, p->again, p->block_size);
        well = sionlib_agree(&p->processes, well);
    }
    if (well) {
        (void)MPI_Scatter(all, SIONLIB_MEMBER_WORDS * count, MPI_INT64_T, own, SIONLIB_MEMBER_WORDS * count,
                          MPI_INT64_T, 0, mpi->of_file);
    } else {
        sionlib_report("%s: expected memory for the groups, and chunks that fit into a file", p->path);
    }
    free(all);
    return well;
}
