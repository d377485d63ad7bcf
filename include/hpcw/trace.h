/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The log of the MPI wrapper (libhpcw_trace), for programs and libraries that add states of their own:
 *
 *     if (hpcw_trace_log != NULL && (log = hpcw_trace_log(HPCW_TRACE_VERSION)) != NULL) {
 *         hpcw_clog2_log_state(log, "Compute", "blue", NULL, &compute, &error); // int32_t compute
 *         hpcw_clog2_log_begin(hpcw_trace_timeline(), hpcw_trace_comm(MPI_COMM_WORLD), compute);
 *     }
 *
 * These functions are weak symbols: without the wrapper, their addresses are NULL. So a program links no library
 * for these functions, and runs with and without the wrapper. For the functions of <hpcw/clog2_log.h> it links
 * libhpcw (`pkg-config hpcw`). The wrapper opens the log in MPI_Init and writes it in MPI_Finalize: the program
 * must not finish or free the log.
 */
#ifndef HPCW_TRACE_H
#define HPCW_TRACE_H

#include <mpi.h>

#include <hpcw/clog2_log.h>
#include <hpcw/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of these headers, as a number. */
#define HPCW_TRACE_VERSION (10000 * HPCW_VERSION_MAJOR + 100 * HPCW_VERSION_MINOR + HPCW_VERSION_PATCH)

/** Private: marks functions that may be missing at run time. */
#define HPCW_TRACE_WEAK __attribute__((weak))

/**
 * Returns the wrapper's log, which exists from MPI_Init to MPI_Finalize.
 *
 * @param version  HPCW_TRACE_VERSION; the wrapper and the program's libhpcw must have the same version
 * @return the log; NULL: nothing is recorded, or the wrapper has another version
 */
HPCW_API HPCW_TRACE_WEAK hpcw_clog2_log *hpcw_trace_log(int version);

/** Returns the timeline of the calling thread; NULL if there is none, or no memory. */
HPCW_API HPCW_TRACE_WEAK hpcw_clog2_timeline *hpcw_trace_timeline(void);

/** Returns the number that the log has for a communicator of the program; UINT32_MAX if the wrapper does not record
 * this communicator. */
HPCW_API HPCW_TRACE_WEAK uint32_t hpcw_trace_comm(MPI_Comm comm);

/**
 * Registers a function that the wrapper calls in MPI_Finalize, before it writes the log. States and events can
 * still be defined there, the same on all processes. The function may call MPI; these calls are not recorded. The
 * wrapper calls the functions only if all processes of MPI_COMM_WORLD have registered one, and then on all
 * processes. A second call of hpcw_trace_at_end replaces the function.
 *
 * @param call  returns whether it recorded anything. If so, the log is written even if no MPI call was recorded
 */
HPCW_API HPCW_TRACE_WEAK void hpcw_trace_at_end(bool (*call)(void *context), void *context);

#ifdef __cplusplus
}
#endif

#endif
