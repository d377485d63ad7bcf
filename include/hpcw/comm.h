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
 * The communicator of one process alone. Never initialises MPI. NULL means this one wherever a call takes a
 * communicator.
 *
 * @param out  the communicator, to be freed with hpcw_comm_free; NULL on failure
 * @return HPCW_OK, HPCW_EINVAL (out is NULL) or HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_comm_self(hpcw_comm **out, hpcw_error *err);

/**
 * A program's own communication. Initialise with hpcw_comm_callbacks_init.
 *
 * The library makes each call on all processes of the communicator, in the same order, on the thread that calls
 * the library. A call returns on a process as soon as that one has what it is to get and its data may change.
 * Messages of a gather and a scatter have sizes that are multiples of 8, or the same size on all processes.
 *
 * Results: 0, or any other number, which stands in the message of the error. A failure must be one on all
 * processes: otherwise the others wait in the next call.
 */
typedef struct hpcw_comm_callbacks {
    size_t size; /**< of this struct; hpcw_comm_callbacks_init sets it (hpcw.h) */
    /** All get the [size] bytes that process `root` has in `data`. */
    int (*broadcast)(void *context, void *data, size_t size, int root);
    /** Process `root` gets the messages of all one after the other, its own too: sizes[p] bytes of process p, which
     * stand in `mine` there. `all` and `sizes` are NULL on the others. */
    int (*gather)(void *context, const void *mine, size_t size, void *all, const size_t *sizes, int root);
    /** The reverse: process p gets `size` bytes in `mine`, which are the next sizes[p] bytes of `all` on process
     * `root`. */
    int (*scatter)(void *context, const void *all, const size_t *sizes, void *mine, size_t size, int root);
    /**
     * Divides the processes into `parts` parts, of which this one is in number `part`, as process `process` of
     * `size`. Only for SION containers with one file per colour (hpcw_sion_options, `files` 0); NULL: these are
     * refused.
     *
     * @param out  the context of calls among the processes of the part, which free_part gets at the end
     */
    int (*split)(void *context, int part, int parts, int process, int size, void **out);
    /** Frees what `split` made, on all processes of the part; may be NULL. */
    void (*free_part)(void *context);
} hpcw_comm_callbacks;

/** Private: fills in the defaults of a struct of this size. */
HPCW_API void hpcw_comm_callbacks_fill(hpcw_comm_callbacks *callbacks, size_t size);

/** Sets all calls to NULL. */
static inline void hpcw_comm_callbacks_init(hpcw_comm_callbacks *callbacks) {
    hpcw_comm_callbacks_fill(callbacks, sizeof *callbacks);
}

/**
 * A communicator of a program's own calls. Not collective, and makes no call.
 *
 * Reductions and exchanges go through process 0, which holds the messages of all for a while: of an exchange the
 * square of the number of processes, words. So this is for up to some thousands of processes; with MPI,
 * hpcw_comm_from_mpi is faster. All handles can be opened with it but hpcw_clog2_log, which measures the times of
 * messages between two processes.
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
