/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Communicators: the processes that write together.
 *
 * A *process* is one program instance; a *rank* (or task) is a number written into a file. A process may own many
 * ranks. This header needs no MPI; <hpcw/mpi.h> makes a communicator out of an MPI_Comm. Programs that communicate
 * by other means give the library functions of their own: hpcw_comm_from_callbacks.
 */
#ifndef HPCW_COMM_H
#define HPCW_COMM_H

#include <stddef.h>

#include <hpcw/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An opaque communicator. Borrowed by every handle opened with it: free it after them. */
typedef struct hpcw_comm hpcw_comm;

/**
 * Makes the communicator of one process alone. Never initialises MPI. Where a call takes a communicator, NULL
 * means this one.
 *
 * @param out  the communicator, to be freed with hpcw_comm_free; NULL on failure
 * @return HPCW_OK, HPCW_EINVAL (out is NULL) or HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_comm_self(hpcw_comm **out, hpcw_error *err);

/**
 * A program's own communication. Initialise with hpcw_comm_callbacks_init.
 *
 * The library calls each function on all processes of the communicator, in the same order, on the thread that
 * calls the library. A function may return on a process once that process has its result and may change its data.
 * In a gather or scatter, the sizes are multiples of 8, or the same on all processes.
 *
 * The functions return 0, or any other number for a failure; the error message contains that number. A call must
 * fail on all processes or on none: otherwise the others wait in the next call.
 */
typedef struct hpcw_comm_callbacks {
    size_t size; /**< of this struct; hpcw_comm_callbacks_init sets it (hpcw.h) */
    /** Sends the [size] bytes of `data` on process `root` to all processes. */
    int (*broadcast)(void *context, void *data, size_t size, int root);
    /** Gathers the messages of all processes, including its own, on process `root`, one after the other in `all`.
     * Process p sends `mine`, of sizes[p] bytes. `all` and `sizes` are NULL on the others. */
    int (*gather)(void *context, const void *mine, size_t size, void *all, const size_t *sizes, int root);
    /** Scatters `all` of process `root`, the reverse of gather: process p receives the next sizes[p] bytes of it in
     * `mine` [size]. */
    int (*scatter)(void *context, const void *all, const size_t *sizes, void *mine, size_t size, int root);
    /**
     * Divides the processes into `parts` parts. This process becomes process `process` of the `size` processes of
     * part `part`. Only SION containers with one file per colour need it (hpcw_sion_options, `files` 0); NULL:
     * they are refused.
     *
     * @param out  the context of calls within the part; passed to free_part at the end
     */
    int (*split)(void *context, int part, int parts, int process, int size, void **out);
    /** Frees the context that `split` made, on all processes of the part. May be NULL. */
    void (*free_part)(void *context);
} hpcw_comm_callbacks;

/** Private: fills in the defaults of a struct of this size. */
HPCW_API void hpcw_comm_callbacks_fill(hpcw_comm_callbacks *callbacks, size_t size);

/** Sets all calls to NULL. */
static inline void hpcw_comm_callbacks_init(hpcw_comm_callbacks *callbacks) {
    hpcw_comm_callbacks_fill(callbacks, sizeof *callbacks);
}

/**
 * Makes a communicator from a program's own functions. Not collective; calls none of them.
 *
 * Reductions and exchanges go through process 0, which holds the messages of all processes for a while. In an
 * exchange that is one word for each pair of processes. So this suits up to some thousands of processes; with MPI,
 * hpcw_comm_from_mpi is faster. All handles but hpcw_clog2_log can use it: that one measures message times between
 * two processes.
 *
 * @param callbacks  `broadcast`, `gather` and `scatter` are not NULL; copied
 * @param context    first argument of the calls; stays the caller's, and valid as long as the communicator
 * @param process    this process's number, 0 .. size - 1
 * @param size       the number of processes
 * @param out        the communicator, to be freed with hpcw_comm_free; NULL on failure
 * @return HPCW_OK, HPCW_EINVAL or HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_comm_from_callbacks(const hpcw_comm_callbacks *callbacks,
                                                              void *context, int process, int size,
                                                              hpcw_comm **out, hpcw_error *err);

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
