/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator by its number in Fortran. */
#include <hpcw/mpi.h>

HPCW_API hpcw_status hpcw_f_comm_from_mpi(MPI_Fint mpi, hpcw_comm **out, hpcw_error *err);

hpcw_status hpcw_f_comm_from_mpi(MPI_Fint mpi, hpcw_comm **out, hpcw_error *err) {
    int begun = 0, ended = 0;
    (void)MPI_Initialized(&begun);
    (void)MPI_Finalized(&ended);
    /* Outside of MPI, MPI_Comm_f2c could end the program. */
    return hpcw_comm_from_mpi(begun && !ended ? MPI_Comm_f2c(mpi) : MPI_COMM_NULL, out, err);
}
