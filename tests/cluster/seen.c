/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the number of processes, the number of hosts, and the smallest and largest number of processes on a host:
 * "8 on 4, 2 to 2 on each". Processes of a host share memory and the processor name. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    char name[MPI_MAX_PROCESSOR_NAME] = "", first[MPI_MAX_PROCESSOR_NAME];
    int length, rank, size, node_rank, node_size;
    MPI_Comm node;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &node_rank);
    MPI_Comm_size(node, &node_size);
    MPI_Get_processor_name(name, &length);
    memcpy(first, name, sizeof first);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, node);
    int sum[2] = {node_rank == 0, strcmp(name, first) != 0}, most[2] = {node_size, -node_size};
    MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d on %d, %d to %d on each%s\n", size, sum[0], -most[1], most[0],
               sum[1] != 0 ? ", several names" : "");
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}
