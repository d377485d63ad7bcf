/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator by its number in Fortran. */
#include <hpcw/mpi.h>

HPCW_API hpcw_status hpcw_f_comm_from_mpi(MPI_Fint mpi, hpcw_comm **out, hpcw_error *err);

hpcw_status hpcw_f_comm_from_mpi(MPI_Fint mpi, hpcw_comm **out, hpcw_error *err) {
    return hpcw_comm_from_mpi(MPI_Comm_f2c(mpi), out, err);
}
