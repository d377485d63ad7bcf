/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Communicators: the processes that write together.
 *
 * A *process* is one program instance; a *rank* (or task) is a number written into a file. A process may own
 * many ranks. This header needs no MPI; <hpcw/mpi.h> makes a communicator out of an MPI_Comm.
 */
#ifndef HPCW_COMM_H
#define HPCW_COMM_H

#include <hpcw/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An opaque communicator. Borrowed by every handle opened with it: free it after them. */
typedef struct hpcw_comm hpcw_comm;

/**
 * The communicator of one process alone. Never initialises MPI. NULL means this one wherever a call takes a
 * communicator.
 *
 * @param out  the communicator, to be freed with hpcw_comm_free; NULL on failure
 * @return HPCW_OK, HPCW_EINVAL (out is NULL) or HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_comm_self(hpcw_comm **out, hpcw_error *err);

/** This process's number, 0 .. hpcw_comm_size - 1. 0 for NULL. */
HPCW_API int hpcw_comm_process(const hpcw_comm *comm);

/** The number of processes. 1 for NULL. */
HPCW_API int hpcw_comm_size(const hpcw_comm *comm);

/** Frees a communicator; collective over its processes if it came from MPI. NULL is allowed. */
HPCW_API void hpcw_comm_free(hpcw_comm *comm);

#ifdef __cplusplus
}
#endif

#endif
