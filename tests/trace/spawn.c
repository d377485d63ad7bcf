/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program that starts two more processes of itself, by a command that its argument may name. */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
    MPI_Comm parent, across;
    int number = 5;
    (void)MPI_Init(&argc, &argv);
    (void)MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        char *words[] = {argv[0], NULL}, **none = MPI_ARGV_NULL;
        (void)MPI_Comm_spawn(argc > 1 ? argv[1] : argv[0], argc > 1 ? words : none, 2, MPI_INFO_NULL, 0,
                             MPI_COMM_WORLD, &across, MPI_ERRCODES_IGNORE);
        (void)MPI_Send(&number, 1, MPI_INT, 1, 3, across);
    } else {
        int rank;
        across = parent;
        (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 1) {
            (void)MPI_Recv(&number, 1, MPI_INT, 0, 3, across, MPI_STATUS_IGNORE);
        }
        (void)MPI_Bcast(&number, 1, MPI_INT, 1, MPI_COMM_WORLD);
    }
    (void)MPI_Comm_disconnect(&across);
    (void)MPI_Finalize();
    return number == 5 ? 0 : 1;
}
