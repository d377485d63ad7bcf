/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Reads LinkTest 2.1.17 results, written by <hpcw/linktest.h> or by LinkTest, in either byte order.
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
 * The reader is strict: if data break a rule of the format, a call fails with HPCW_EFORMAT or HPCW_ETRUNCATED, and
 * the message has the file, offset, expected and actual value. `hpcgen verify` also checks the rules between rows.
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

/** Size of a buffer for any host name that this reader accepts, with its NUL. */
#define HPCW_LINKTEST_READER_HOST_SIZE 4096u

/** An opaque result open for reading. */
typedef struct hpcw_linktest_reader hpcw_linktest_reader;

/**
 * Opens a result by the name of its container. Reads the file header, and checks that the stream of task 0 is long
 * enough for it. The streams of other tasks are checked when they are read.
 *
 * @param out  the handle, to be freed with hpcw_linktest_reader_free; NULL on failure
 * @return HPCW_OK; HPCW_EINVAL (a bad argument, not a regular file, a later file of a set); HPCW_EFORMAT;
 *         HPCW_ETRUNCATED; HPCW_ENOTSUP (a container variant that no known program reads); HPCW_ERANGE (a mode
 *         string of 256 bytes or more, more retests than the larger of the number of tasks and 2^20, a host name of
 *         task 0 of 4096 bytes or more); HPCW_ENOMEM; and the system's HPCW_ENOENT, HPCW_EACCES, HPCW_EIO. If the
 *         result consists of several files, the further files are opened when they are needed. This and later calls
 *         fail with HPCW_EIO if the result was replaced after this open
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_reader_open(const char *path, hpcw_linktest_reader **out,
                                                               hpcw_error *err);

/** Closes a handle and frees it. NULL is allowed. */
HPCW_API void hpcw_linktest_reader_free(hpcw_linktest_reader *reader);

/** Content of the file header. Texts are valid as long as the handle. Later versions may add members at the end. */
typedef struct hpcw_linktest_info {
    uint32_t tasks; /**< number N of tasks */
    /** number of steps of a permutation: N - 1, or N / 2 for the bisection test. In each step a task has one
     * partner */
    uint32_t steps;
    uint64_t permutations; /**< number of permutations, at least 1 */
    uint32_t version[3];   /**< version of LinkTest: 2, 1, 17 */
    const char *git_hash;  /**< git hash of LinkTest, usually 40 hex digits */
    const char *mode;      /**< communication that was measured: "mpi", "tcp", ... */
    bool all_to_all;       /**< each permutation has an all-to-all test */
    /** both tasks of a pair send at the same time. If neither bidirectional nor unidirectional is set, they play
     * ping-pong */
    bool bidirectional;
    bool unidirectional;  /**< only one task of a pair sends */
    bool bisection;       /**< tasks are in two halves, and each pair has a task of each half */
    bool randomize_steps; /**< the order of the steps is shuffled */
    bool serial;          /**< only one pair measures at a time */
    /** stored flag no_sion: LinkTest was started with the option to write no container */
    bool no_sion;
    bool parallel_sion;       /**< stored flag parallel_sion: all processes wrote the container together */
    bool gpu_memory;          /**< message buffers are in the memory of a GPU */
    bool many_buffers;        /**< a pair uses several message buffers */
    bool random_buffers;      /**< message buffers have random content, made with buffer_seed */
    bool check_buffers;       /**< each received message is compared with the message that was sent */
    uint8_t allocator;        /**< code of the memory allocator, as stored */
    bool randomized;          /**< tasks are renumbered in each permutation, with task_seed */
    uint64_t messages;        /**< number of timed messages per pair */
    uint64_t message_size;    /**< bytes */
    uint64_t warmup_messages; /**< number of messages per pair before the timed messages */
    uint64_t retests;         /**< length of the list of slowest connections of a permutation */
    uint64_t message_buffers; /**< number of message buffers of a pair */
    uint64_t buffer_seed;     /**< seed of the buffers' content if random_buffers is set */
    uint64_t task_seed;       /**< seed of the renumbering if randomized is set */
} hpcw_linktest_info;

/** Returns the file header, valid as long as the handle; NULL if `reader` is NULL. */
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
 * Gets rows of the matrix of a permutation. Element [a, b] of the matrix is the time of a message between tasks a
 * and b, measured by task a. The element is NaN if task a measured none: on the diagonal, and in the bisection test
 * if a and b are in the same half.
 *
 * @param permutation   0 .. permutations - 1
 * @param first, count  the rows of tasks `first` .. first + count - 1
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
 * @param all_to_all_s  out: time of the all-to-all test, seconds, 0 if there is none; may be NULL
 * @return as hpcw_linktest_reader_host
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_reader_row(hpcw_linktest_reader *reader, uint32_t rank,
                                                              uint64_t permutation, double *time_s,
                                                              uint32_t *partner, double *all_to_all_s,
                                                              hpcw_error *err);

/** The summary of a permutation, as stored. Its times are finite numbers > 0. The reader does not compare them with
 * the rows; `hpcgen verify` does. */
typedef struct hpcw_linktest_totals {
    char start[33];          /**< time at which the permutation began, usually YYYY-MM-DDThh:mm:ssZ */
    char end[33];            /**< time at which the permutation ended, in the form of `start` */
    double min_s;            /**< smallest timing of all tasks, seconds */
    double avg_s;            /**< mean timing of all tasks, seconds */
    double max_s;            /**< largest timing of all tasks, seconds */
    double all_to_all_min_s; /**< smallest time of an all-to-all test, seconds; 0 without these tests */
    double all_to_all_avg_s; /**< mean time of an all-to-all test, seconds */
    double all_to_all_max_s; /**< largest time of an all-to-all test, seconds */
} hpcw_linktest_totals;

/** Reads the summary of a permutation. @return as hpcw_linktest_reader_host */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_reader_totals(hpcw_linktest_reader *reader,
                                                                 uint64_t permutation,
                                                                 hpcw_linktest_totals *totals, hpcw_error *err);

/** One of the slowest connections, with its second measurement. */
typedef struct hpcw_linktest_connection {
    double time_s;   /**< time that `from` measured, seconds */
    double retest_s; /**< time of the second measurement, seconds */
    uint32_t from;   /**< the task that measured */
    uint32_t to;     /**< the partner in the measurement */
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
