/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Status codes and the error record.
 *
 * Every call that can fail returns an `hpcw_status` and takes, as its last argument, an optional
 * `hpcw_error` that the caller owns. The library never prints, exits, aborts or raises a signal.
 */
#ifndef HPCW_STATUS_H
#define HPCW_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
/** Marks exported functions. */
#define HPCW_API __attribute__((visibility("default")))
/** Makes the compiler warn about an unused result. */
#define HPCW_MUST_CHECK __attribute__((warn_unused_result))
/** Makes the compiler check arguments against the format. */
#define HPCW_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define HPCW_API
#define HPCW_MUST_CHECK
#define HPCW_PRINTF(fmt, args)
#endif

/**
 * The result of a call. Zero is success, every failure is negative. The number of a code never changes; new codes
 * get free numbers. The tens digit is the class of error.
 */
typedef enum hpcw_status {
    HPCW_OK = 0,

    /* -1..-9: the call was wrong. The call did nothing, and the handle is unchanged. */
    HPCW_EINVAL = -1, /**< an argument is invalid by itself */
    /** the handle does not allow the call in its present state (closed, broken by an earlier failure, wrong
     * order) */
    HPCW_ESTATE = -2,
    HPCW_ERANGE = -3, /**< a value does not fit the format's field or its documented limit */
    HPCW_EMISMATCH =
        -4, /**< collective arguments differ between processes, or tasks are missing or owned twice */
    HPCW_ENOTSUP = -5, /**< the request is legal, but not supported in this build or on this destination */

    /* -10..-19: a resource is exhausted. */
    HPCW_ENOMEM = -10, /**< no memory */
    HPCW_ENOSPC = -11, /**< no space or quota left at the destination */

    /* -20..-29: the system refused or failed; `sys_errno` is the reason. */
    HPCW_EIO = -20,    /**< a failure of a system call that has no other code */
    HPCW_ENOENT = -21, /**< a file or directory does not exist */
    HPCW_EACCES = -22, /**< no permission, or a read-only file system */
    HPCW_EEXIST = -23, /**< the target exists already */

    /* -30..-39: the data that was read is wrong. */
    HPCW_EFORMAT = -30,    /**< a field contradicts the format */
    HPCW_ETRUNCATED = -31, /**< the data ends too early for its format */
    HPCW_ECHECKSUM = -32,  /**< the content differs from its recorded digest */

    /* -40..-49: communication. */
    HPCW_ECOMM = -40, /**< a message-passing call failed */

    HPCW_EINTERNAL = -90 /**< a broken invariant of this library: please report */
} hpcw_status;

#define HPCW_ERROR_MESSAGE_SIZE 1024 /**< bytes of a message, NUL included */

/**
 * Description of the first failure. The caller owns the struct, which may be on the stack and needs no
 * initialisation. A call that fails fills in the struct, a call that succeeds does not change it. NULL is always
 * allowed. After a collective call the struct has the same content on every process.
 */
typedef struct hpcw_error {
    hpcw_status code; /**< same value as the return value of the call */
    int sys_errno;    /**< errno of the failure, 0 if none */
    int process;      /**< process that failed first, by its number in the communicator; 0 without MPI */
    char message[HPCW_ERROR_MESSAGE_SIZE]; /**< one line: "PATH: what: expected X, got Y", without newline */
} hpcw_error;

/** Returns a text for a code, for instance "no space left at the destination". Static, never NULL. */
HPCW_API const char *hpcw_status_text(hpcw_status code);

/** Returns the symbol of a code, for instance "HPCW_ENOSPC"; "HPCW_?" for an unknown number. Static. */
HPCW_API const char *hpcw_status_name(hpcw_status code);

#ifdef __cplusplus
}
#endif

#endif
