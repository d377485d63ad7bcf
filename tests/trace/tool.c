/* SPDX-License-Identifier: BSD-3-Clause */
/* Another tool that replaces functions of MPI. */
#include <mpi.h>

int MPI_Finalize(void) {
    return PMPI_Finalize();
}
