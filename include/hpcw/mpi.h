/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Communicators from MPI: the only public header that includes mpi.h. Link with libhpcw_mpi (pkg-config
 * hpcw-mpi).
 */
#ifndef HPCW_MPI_H
#define HPCW_MPI_H

#include <mpi.h>

#include <hpcw/comm.h>
#include <hpcw/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Wraps an MPI communicator. Collective over `mpi`.
 *
 * This call duplicates `mpi` once. The duplicate returns errors instead of aborting, and its messages never mix
 * with the caller's. MPI must be initialised, with any thread level; the library calls MPI only on the threads that
 * call it, and never MPI_Init or MPI_Finalize.
 *
 * Close all handles before MPI_Finalize. After it, collective calls of several processes fail with HPCW_ECOMM, so
 * nothing is published. Handles and communicator can still be freed.
 *
 * @param mpi  an intra-communicator, which the caller still owns
 * @param out  the communicator, to be freed with hpcw_comm_free before MPI_Finalize; NULL on failure
 * @return HPCW_OK; HPCW_EINVAL (out is NULL, MPI not initialised or finalised, MPI_COMM_NULL or an
 *         inter-communicator); HPCW_ENOMEM; HPCW_ECOMM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_comm_from_mpi(MPI_Comm mpi, hpcw_comm **out, hpcw_error *err);

#ifdef __cplusplus
}
#endif

#endif
