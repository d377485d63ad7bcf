/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin that uses MPI. */
#include <mpi.h>
#include <stdio.h>

int run(void);
int run(void) {
    int processes = 0, sum = 1;
    (void)MPI_Init(NULL, NULL);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &processes);
    (void)MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    (void)printf("%d of %d processes\n", sum, processes);
    (void)MPI_Finalize();
    return sum == processes ? 0 : 1;
}
