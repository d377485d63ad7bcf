/* SPDX-License-Identifier: BSD-3-Clause */
/* To be preloaded: on process 1, MPI_Recv fails from its 20th call on, as with a broken network. */
#include <mpi.h>

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status) {
    static int calls;
    int process = 0;
    (void)PMPI_Comm_rank(MPI_COMM_WORLD, &process);
    if (process == 1 && ++calls >= 20) {
        (void)MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
        return MPI_ERR_OTHER;
    }
    return PMPI_Recv(data, count, type, from, tag, comm, status);
}
