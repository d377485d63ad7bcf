/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the time of a message between every two MPI processes and writes the times as a LinkTest result.
 *
 *     mpiexec -n 4 pingpong [FILE [MESSAGES [BYTES]]]
 */
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include <hpcw/mpi.h>

#include "links.h"

int main(int argc, char **argv) {
    hpcw_error error;
    hpcw_comm *comm;
    int process;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);

    /* From here on every status is the same on all processes: they leave together. */
    hpcw_status status = hpcw_comm_from_mpi(MPI_COMM_WORLD, &comm, &error);
    if (status == HPCW_OK)
        status = links_measure(argc > 1 ? argv[1] : HPCW_LINKTEST_FILE_NAME, comm,
                               argc > 2 ? strtoull(argv[2], NULL, 10) : 100,
                               argc > 3 ? strtoull(argv[3], NULL, 10) : 1024, &error);
    if (status != HPCW_OK && process == 0)
        fprintf(stderr, "%s: %s\n", hpcw_status_name(status), error.message);

    hpcw_comm_free(comm);
    MPI_Finalize();
    return status == HPCW_OK ? 0 : 1;
}
