/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Communicators: groups of processes that write or read together.
 *
 * A *process* is a running program; a *rank* (or task) is a number that is written into a file. A process may own
 * many ranks. This header needs no MPI; <hpcw/mpi.h> makes a communicator out of an MPI_Comm. Programs that
 * communicate by other means give the library functions of their own: hpcw_comm_from_callbacks.
 */
#ifndef HPCW_COMM_H
#define HPCW_COMM_H

#include <stddef.h>

#include <hpcw/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An opaque communicator. Every handle that is opened with a communicator borrows it: free the handles first. */
typedef struct hpcw_comm hpcw_comm;

/**
 * Makes the communicator of one process alone, without initialising MPI. Where a call takes a communicator, NULL
 * stands for such a communicator.
 *
 * @param out  the communicator, to be freed with hpcw_comm_free; NULL on failure
 * @return HPCW_OK, HPCW_EINVAL (out is NULL) or HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_comm_self(hpcw_comm **out, hpcw_error *err);

/**
 * Functions with which a program communicates by its own means. Initialise with hpcw_comm_callbacks_init.
 *
 * The library calls each function on all processes of the communicator, in the same order, on the thread that calls
 * the library. A function may return on a process as soon as this process has its result and may change its data.
 * In a gather or scatter, either all sizes are multiples of 8, or all sizes are equal.
 *
 * The functions return 0, or any other number for a failure; the error message contains that number. A call must
 * fail on all processes or on none. Otherwise the processes without a failure wait in the next call.
 */
typedef struct hpcw_comm_callbacks {
    size_t size; /**< size of this struct; hpcw_comm_callbacks_init sets it (hpcw.h) */
    /** Sends the [size] bytes of `data` on process `root` to all processes. */
    int (*broadcast)(void *context, void *data, size_t size, int root);
    /** Gathers a message from each process, also from `root`, on process `root`: one after the other in `all`.
     * Process p sends `mine`, which has sizes[p] bytes. `all` and `sizes` are NULL on the other processes. */
    int (*gather)(void *context, const void *mine, size_t size, void *all, const size_t *sizes, int root);
    /** Scatters `all` of process `root`, the reverse of gather: process p receives the next sizes[p] bytes of `all`
     * in `mine` [size]. */
    int (*scatter)(void *context, const void *all, const size_t *sizes, void *mine, size_t size, int root);
    /**
     * Divides the processes into `parts` parts. This process becomes process `process` of the `size` processes of
     * part `part`. Only SION containers with `files` 0 in hpcw_sion_options need this function. NULL: such
     * containers are refused.
     *
     * @param out  the context of calls within the part; free_part gets it at the end
     */
    int (*split)(void *context, int part, int parts, int process, int size, void **out);
    /** Frees the context that `split` made, on all processes of the part. May be NULL. */
    void (*free_part)(void *context);
} hpcw_comm_callbacks;

/** Private: fills in the defaults of a struct of this size. */
HPCW_API void hpcw_comm_callbacks_fill(hpcw_comm_callbacks *callbacks, size_t size);

/** Sets all functions to NULL. */
static inline void hpcw_comm_callbacks_init(hpcw_comm_callbacks *callbacks) {
    hpcw_comm_callbacks_fill(callbacks, sizeof *callbacks);
}

/**
 * Makes a communicator from a program's own functions. Not collective; this call does not call the functions.
 *
 * Reductions and exchanges go through process 0, which holds the messages of all processes for a while. During an
 * exchange, process 0 holds one word for each pair of processes. So this communicator suits up to some thousands of
 * processes; with MPI, hpcw_comm_from_mpi is faster. hpcw_clog2_log cannot use this communicator, because a log
 * measures message times between two processes. All other handles can.
 *
 * @param callbacks  the functions; `broadcast`, `gather` and `scatter` must not be NULL. The struct is copied
 * @param context    first argument of the functions; the caller owns it, and it must be valid as long as the
 *                   communicator
 * @param process    this process's number, 0 .. size - 1
 * @param size       the number of processes
 * @param out        the communicator, to be freed with hpcw_comm_free; NULL on failure
 * @return HPCW_OK, HPCW_EINVAL or HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_comm_from_callbacks(const hpcw_comm_callbacks *callbacks,
                                                              void *context, int process, int size,
                                                              hpcw_comm **out, hpcw_error *err);

/** Returns the number of this process, 0 .. hpcw_comm_size - 1; 0 if `comm` is NULL. */
HPCW_API int hpcw_comm_process(const hpcw_comm *comm);

/** Returns the number of processes; 1 if `comm` is NULL. */
HPCW_API int hpcw_comm_size(const hpcw_comm *comm);

/** Frees a communicator. Collective if hpcw_comm_from_mpi made the communicator. NULL is allowed. */
HPCW_API void hpcw_comm_free(hpcw_comm *comm);

#ifdef __cplusplus
}
#endif

#endif
