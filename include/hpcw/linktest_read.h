/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Reading LinkTest 2.1.17 results: those of <hpcw/linktest.h> and of LinkTest itself, in either byte order.
 *
 *     hpcw_linktest_reader *r;
 *     hpcw_linktest_reader_open("pingpong_results_bin.sion", &r, &err);
 *     uint32_t steps = hpcw_linktest_reader_info(r)->steps;
 *     for (uint32_t rank = 0; rank < hpcw_linktest_reader_info(r)->tasks; rank++)
 *         hpcw_linktest_reader_row(r, rank, 0, time_s, partner, NULL, &err);  // [steps] times and partners
 *     hpcw_linktest_reader_free(r);
 *
 * Nothing here is collective: every process that reads opens the result, and reads any rows.
 *
 * The reader is strict. Data that break a rule of the format give HPCW_EFORMAT or HPCW_ETRUNCATED, and the message
 * has the file, offset, expected and actual value. `hpcgen verify` checks all rules, also those between rows.
 * Memory: less than 1 MiB, whatever the content, or 7 MiB for a set of several physical files.
 *
 * One thread at a time may use a handle. Several handles may read the same result. The bytes:
 * doc/formats/linktest.md.
 */
#ifndef HPCW_LINKTEST_READ_H
#define HPCW_LINKTEST_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes for any host name that this reader takes, with its NUL. */
#define HPCW_LINKTEST_READER_HOST_SIZE 4096u

/** An opaque result open for reading. */
typedef struct hpcw_linktest_reader hpcw_linktest_reader;

/**
 * Opens a result by the name of its container. Reads the file header, and checks all lengths against it.
 *
 * @param out  the handle, to be freed with hpcw_linktest_reader_free; NULL on failure
 * @return HPCW_OK; HPCW_EINVAL (a bad argument, not a regular file, a later file of a set); HPCW_EFORMAT;
 *         HPCW_ETRUNCATED; HPCW_ENOTSUP (a container that no program reads); HPCW_ERANGE (a mode string of 256
 *         bytes or more, more retests than both the tasks and 2^20, a host name of task 0 of 4096 bytes or more);
 *         HPCW_ENOMEM; and the system's HPCW_ENOENT, HPCW_EACCES, HPCW_EIO. The further files of a divided result
 *         are opened when they are needed: HPCW_EIO, here and later, if it was replaced since this open
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_reader_open(const char *path, hpcw_linktest_reader **out,
                                                               hpcw_error *err);

/** Closes and frees, NULL allowed. */
HPCW_API void hpcw_linktest_reader_free(hpcw_linktest_reader *reader);

/** Content of the file header. Texts are valid as long as the handle. Later versions may add members at the end. */
typedef struct hpcw_linktest_info {
    uint32_t tasks; /**< N */
    /** steps of a permutation, with one partner each: N - 1, or N / 2 for the bisection test */
    uint32_t steps;
    uint64_t permutations; /**< at least 1 */
    uint32_t version[3];   /**< version of LinkTest: 2, 1, 17 */
    const char *git_hash;  /**< usually 40 hex digits */
    const char *mode;      /**< "mpi", "tcp", ... */
    bool all_to_all;       /**< an all-to-all test in each permutation */
    /** both tasks of a pair send at once; with neither this nor unidirectional, they play ping-pong */
    bool bidirectional;
    bool unidirectional;      /**< one task of a pair sends */
    bool bisection;           /**< pairs only across the halves */
    bool randomize_steps;     /**< the steps are shuffled */
    bool serial;              /**< one pair at a time */
    bool no_sion;             /**< flag of this name: LinkTest was to write no result in a container */
    bool parallel_sion;       /**< flag of this name: the container was written by all processes */
    bool gpu_memory;          /**< messages lie in the memory of a GPU */
    bool many_buffers;        /**< a pair uses several message buffers */
    bool random_buffers;      /**< buffers have random content, made with buffer_seed */
    bool check_buffers;       /**< received messages are compared with those sent */
    uint8_t allocator;        /**< code of the memory allocator, as stored */
    bool randomized;          /**< tasks are renumbered in each permutation, with task_seed */
    uint64_t messages;        /**< timed messages per pair */
    uint64_t message_size;    /**< bytes */
    uint64_t warmup_messages; /**< messages per pair before the timed ones */
    uint64_t retests;         /**< connections in the list of the slowest, per permutation */
    uint64_t message_buffers; /**< number of buffers */
    uint64_t buffer_seed;     /**< see random_buffers */
    uint64_t task_seed;       /**< see randomized */
} hpcw_linktest_info;

/** Returns the file header, valid as long as the handle. NULL for NULL. */
HPCW_API const hpcw_linktest_info *hpcw_linktest_reader_info(const hpcw_linktest_reader *reader);

/**
 * Gets the place where a task ran: a host name of printable ASCII, and a core >= 0.
 *
 * @param rank  0 .. tasks - 1
 * @param host  [HPCW_LINKTEST_READER_HOST_SIZE] out
 * @param core  out: number of the core
 * @return HPCW_OK; HPCW_EINVAL; HPCW_EFORMAT; HPCW_ETRUNCATED; HPCW_ERANGE (a longer host name); HPCW_ENOMEM; and
 *         errors of the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_reader_host(hpcw_linktest_reader *reader, uint32_t rank,
                                                               char *host, int32_t *core, hpcw_error *err);

/**
 * Gets rows of the matrix of a permutation. Its element [a, b] is the time of a message between tasks a and b,
 * measured by a. It is NaN if a measured none: on the diagonal, and within a half in the bisection test.
 *
 * @param permutation   0 .. permutations - 1
 * @param first, count  rows: tasks `first` .. first + count - 1
 * @param time_s        [count][tasks] out, seconds
 * @return as hpcw_linktest_reader_row
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_reader_matrix(hpcw_linktest_reader *reader,
                                                                 uint64_t permutation, uint32_t first,
                                                                 uint32_t count, double *time_s,
                                                                 hpcw_error *err);

/**
 * Gets the measurements of a task in a permutation. In step s it exchanged messages with partner[s], and time_s[s]
 * is the one-way time of a message. Every timing is a finite number > 0, every partner another task.
 *
 * Reading ranks in ascending order is fastest.
 *
 * @param rank          0 .. tasks - 1
 * @param permutation   0 .. permutations - 1
 * @param time_s        [steps] out, seconds; may be NULL
 * @param partner       [steps] out; may be NULL
 * @param all_to_all_s  out: time of the all-to-all test in seconds, 0 without it; may be NULL
 * @return as hpcw_linktest_reader_host
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_reader_row(hpcw_linktest_reader *reader, uint32_t rank,
                                                              uint64_t permutation, double *time_s,
                                                              uint32_t *partner, double *all_to_all_s,
                                                              hpcw_error *err);

/** The summary of a permutation, as stored. Its times are finite numbers > 0. Only `hpcgen verify` compares them
 * with the rows. */
typedef struct hpcw_linktest_totals {
    char start[33];          /**< usually YYYY-MM-DDThh:mm:ssZ */
    char end[33];            /**< see start */
    double min_s;            /**< smallest timing of all tasks, seconds */
    double avg_s;            /**< mean timing, seconds */
    double max_s;            /**< largest timing, seconds */
    double all_to_all_min_s; /**< smallest time of an all-to-all test, seconds; 0 without these tests */
    double all_to_all_avg_s; /**< mean time of an all-to-all test */
    double all_to_all_max_s; /**< largest time of an all-to-all test */
} hpcw_linktest_totals;

/** Reads the summary of a permutation. @return as hpcw_linktest_reader_host */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_reader_totals(hpcw_linktest_reader *reader,
                                                                 uint64_t permutation,
                                                                 hpcw_linktest_totals *totals, hpcw_error *err);

/** One connection among the slowest, and its second measurement. */
typedef struct hpcw_linktest_connection {
    double time_s;   /**< seconds, measured by `from` */
    double retest_s; /**< seconds of the second measurement */
    uint32_t from;   /**< the task that measured */
    uint32_t to;     /**< its partner */
} hpcw_linktest_connection;

/**
 * Reads entries [first, first + count) of the list of the slowest connections of a permutation, first + count <=
 * retests. The slowest connection comes first. Times are finite numbers > 0, and the two tasks differ.
 *
 * @param connection  [count] out
 * @return as hpcw_linktest_reader_host
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_reader_slowest(hpcw_linktest_reader *reader,
                                                                  uint64_t permutation, uint64_t first,
                                                                  size_t count,
                                                                  hpcw_linktest_connection *connection,
                                                                  hpcw_error *err);

#ifdef __cplusplus
}
#endif

#endif
