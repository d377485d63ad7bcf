/* SPDX-License-Identifier: BSD-3-Clause */
/* Only some processes of this program have the wrapper. A collective call of the wrapper itself would match the
 * first collective call of the program on the other processes. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    static char text[20000];
    int rank, processes, sum = 1, from = -1;
    MPI_Comm made;
    (void)MPI_Init(&argc, &argv);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (rank == 0) {
        memset(text, 'x', sizeof text - 1);
    }
    (void)MPI_Bcast(text, sizeof text, MPI_CHAR, 0, MPI_COMM_WORLD);
    (void)MPI_Comm_dup(MPI_COMM_WORLD, &made);
    (void)MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % processes, 3, &from, 1, MPI_INT,
                       (rank + processes - 1) % processes, 3, made, MPI_STATUS_IGNORE);
    (void)MPI_Comm_free(&made);
    (void)MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    (void)MPI_Finalize();
    if (strspn(text, "x") != sizeof text - 1 || sum != processes ||
        from != (rank + processes - 1) % processes) {
        (void)fprintf(stderr, "process %d: expected what its calls ask for, got something else\n", rank);
        return 1;
    }
    return 0;
}
