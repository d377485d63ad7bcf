/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes calls of MPI within MPI_Finalize, in the delete callback of an attribute of MPI_COMM_SELF. Libraries close
 * their files there. Usage: finalize FILE */
#include <mpi.h>
#include <stdio.h>

static int work(MPI_Comm comm, int key, void *file, void *context) {
    (void)comm, (void)key, (void)context;
    int rank = 0, processes = 1, sum = 1, got = -1;
    MPI_Comm made;
    MPI_File fh;
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &processes);
    (void)MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    (void)MPI_Comm_dup(MPI_COMM_WORLD, &made);
    (void)MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % processes, 5, &got, 1, MPI_INT,
                       (rank + processes - 1) % processes, 5, made, MPI_STATUS_IGNORE);
    (void)MPI_Comm_free(&made);
    (void)MPI_File_open(MPI_COMM_WORLD, file, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &fh);
    (void)MPI_File_write_at(fh, 4 * rank, &rank, 4, MPI_BYTE, MPI_STATUS_IGNORE);
    (void)MPI_File_close(&fh);
    return sum == processes && got == (rank + processes - 1) % processes ? MPI_SUCCESS : MPI_ERR_OTHER;
}

int main(int argc, char **argv) {
    int level, key;
    (void)MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (argc != 2) {
        (void)fprintf(stderr, "usage: finalize FILE\n");
        return 2;
    }
    (void)MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, work, &key, NULL);
    (void)MPI_Comm_set_attr(MPI_COMM_SELF, key, argv[1]);
    (void)MPI_Comm_free_keyval(&key);
    (void)MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize() == MPI_SUCCESS ? 0 : 1;
}
