/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a communicator from its Fortran handle. */
#include <hpcw/mpi.h>

HPCW_API hpcw_status hpcw_f_comm_from_mpi(MPI_Fint mpi, hpcw_comm **out, hpcw_error *err);

hpcw_status hpcw_f_comm_from_mpi(MPI_Fint mpi, hpcw_comm **out, hpcw_error *err) {
    int begun = 0, ended = 0;
    (void)MPI_Initialized(&begun);
    (void)MPI_Finalized(&ended);
    /* Before MPI_Init or after MPI_Finalize, MPI_Comm_f2c could end the program. */
    return hpcw_comm_from_mpi(begun && !ended ? MPI_Comm_f2c(mpi) : MPI_COMM_NULL, out, err);
}
