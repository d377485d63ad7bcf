/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * LinkTest 2.1.17 results: N tasks measure the time of a message to every other task. In each step, each task
 * measures with one partner. The result is a SION container with one stream per task.
 *
 * Timings are whole picoseconds: sums are exact and do not depend on the order of additions. The file stores the
 * double that is nearest to the decimal number of seconds.
 *
 *     hpcw_linktest_params p;
 *     hpcw_linktest_params_init(&p);
 *     p.tasks = n;  p.messages = 100;  p.message_size = 1 << 20;
 *     p.count = 1;                                                        // one task per process
 *     hpcw_linktest_open("pingpong_results_bin.sion", comm, &p, &lt, &err);  // collective
 *     hpcw_linktest_schedule_new(&p, 0, &meetings, &err);
 *     for (step ...) measure with hpcw_linktest_partner(meetings, rank, step), time_ps[step] = ...;
 *     hpcw_linktest_task(lt, rank, host, core, &err);
 *     hpcw_linktest_timings(lt, rank, time_ps, NULL, 0, &err);
 *     hpcw_linktest_slowest(lt, slow, &n, &err);                          // collective: what to measure again
 *     hpcw_linktest_end_permutation(lt, start, end, slow, &err);          // collective
 *     hpcw_linktest_close(lt, &err);                                      // collective
 *
 * Readers: <hpcw/linktest_read.h>, linktest-report of LinkTest 2.1.17; SIONlib's tools for the container.
 * The bytes: doc/formats/linktest.md.
 */
#ifndef HPCW_LINKTEST_H
#define HPCW_LINKTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/comm.h>
#include <hpcw/sink.h>
#include <hpcw/sion.h>
#include <hpcw/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** LinkTest's default name of a result file */
#define HPCW_LINKTEST_FILE_NAME "pingpong_results_bin.sion"
#define HPCW_LINKTEST_HASH_SIZE 41 /**< size of a git hash: 40 hex digits and a NUL */
#define HPCW_LINKTEST_TIME_SIZE 32 /**< size of a time as text, with its NUL */
/** longest host name that the library writes, without NUL */
#define HPCW_LINKTEST_MAX_HOST 1023u

/** What a pair exchanges. */
typedef enum hpcw_linktest_kernel {
    /** ping-pong; the flags bidirectional and unidirectional of the file are 0 */
    HPCW_LINKTEST_SEMIDIRECTIONAL = 0,
    HPCW_LINKTEST_UNIDIRECTIONAL = 1,
    HPCW_LINKTEST_BIDIRECTIONAL = 2
} hpcw_linktest_kernel;

/**
 * Parameters of a run; they fill the file header (doc/formats/linktest.md, "File header") and determine the layout.
 * Each process has its own `count` and `ranks`; all other members must be the same on all processes.
 */
typedef struct hpcw_linktest_params {
    uint32_t tasks; /**< number N of tasks, even, >= 2 */
    uint32_t count; /**< number of tasks that this process owns, see hpcw_sion_options */
    /** [count] the tasks that this process owns, strictly ascending; NULL: consecutive in the order of processes */
    const uint32_t *ranks;

    const char *git_hash; /**< git hash of LinkTest: 40 lower-case hex digits; NULL: forty zeros */
    /** communication that was measured: "mpi" (default), "tcp", "ucp", "ibverbs", "psm2" or "cuda" */
    const char *mode;
    hpcw_linktest_kernel kernel; /**< what a pair exchanges; default semidirectional */
    bool all_to_all;             /**< each permutation has an all-to-all test; mode "mpi" only */
    /** tasks are in two halves, and each pair has a task of each half; N/2 steps */
    bool bisection;
    bool randomize_steps;     /**< the order of the steps is shuffled with step_seed */
    bool serial;              /**< only one pair measures at a time */
    bool gpu_memory;          /**< message buffers are in the memory of a GPU */
    bool random_buffers;      /**< message buffers have random content, made with buffer_seed */
    bool check_buffers;       /**< each received message is compared with the message that was sent */
    uint64_t messages;        /**< number of timed messages per pair, >= 1 */
    uint64_t message_size;    /**< bytes */
    uint64_t warmup_messages; /**< number of messages per pair before the timed messages */
    /** number of slowest connections to measure again; the file has min(retests, N) */
    uint64_t retests;
    /** number of message buffers; default 1. More than 1 sets the flag many_buffers of the file */
    uint64_t message_buffers;
    uint64_t buffer_seed; /**< seed of the buffers' random content; must be 0 unless random_buffers */
    /** number of permutations, each with randomly renumbered tasks; 0: one permutation in the order of ranks */
    uint64_t permutations;
    uint64_t task_seed; /**< seed of the renumbering; must be 0 if permutations is 0 */
    uint64_t step_seed; /**< seed of the step shuffle; not stored in the file */

    size_t max_host_size;    /**< size of the longest host name of all tasks, with its NUL; default 64 */
    uint32_t files;          /**< number of physical SION files; default 1 */
    uint32_t set_first_file; /**< if set_files > 0: the first physical file that is written */
    /** number of physical files that are written, as in hpcw_sion_options; 0 (default): all. If it is not 0, the
     * files have no summaries, which need the timings of all files: see hpcw_linktest_complete */
    uint32_t set_files;
    uint32_t fs_block_size; /**< size of a file system block, as in hpcw_sion_options, bytes */
    /** default HPCW_SION_ALIGNED; HPCW_SION_PACKED avoids the padding after each stream */
    hpcw_sion_layout layout;
    hpcw_durability durability;   /**< default HPCW_SYNC_FILE */
    hpcw_sink_source sink_source; /**< where the bytes go; all zero: to files */
} hpcw_linktest_params;

/** Fills in the defaults: no tasks, mode "mpi", 25 messages of 256 KiB, 3 warm-ups, 10 retests, 1 file. */
HPCW_API void hpcw_linktest_params_init(hpcw_linktest_params *params);

/**
 * Checks parameters without opening anything.
 *
 * @return HPCW_OK; HPCW_EINVAL with the expected and the actual value; HPCW_ERANGE if a stream or a file would
 * exceed a limit
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_params_check(const hpcw_linktest_params *params,
                                                                hpcw_error *err);

/** Returns the number of permutations in the file: max(1, params->permutations). */
HPCW_API uint64_t hpcw_linktest_permutations(const hpcw_linktest_params *params);

/** Returns the number of steps of a permutation: N - 1, or N / 2 for the bisection test. In each step a task has
 * one partner. */
HPCW_API uint32_t hpcw_linktest_steps(const hpcw_linktest_params *params);

/** Returns the size of the stream of task `rank`, bytes. `host_size` is the size of the task's host name with
 * NUL. */
HPCW_API uint64_t hpcw_linktest_stream_size(const hpcw_linktest_params *params, uint32_t rank,
                                            size_t host_size);

/* ------------------------------------------------------------------------------------------------------------
 *  Schedule: which tasks are partners in which step
 * --------------------------------------------------------------------------------------------------------- */

/**
 * The partners of all tasks in each step of a permutation, after the shuffle of steps and the renumbering of
 * tasks. Memory O(N) if the parameters ask for a shuffle, otherwise O(1). Read-only after creation: threads may
 * share it.
 */
typedef struct hpcw_linktest_schedule hpcw_linktest_schedule;

/**
 * Makes the schedule of permutation `permutation` (0 .. permutations - 1).
 *
 * @param out  to be freed with hpcw_linktest_schedule_free; NULL on failure
 * @return HPCW_OK, HPCW_EINVAL or HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_schedule_new(const hpcw_linktest_params *params,
                                                                uint64_t permutation,
                                                                hpcw_linktest_schedule **out, hpcw_error *err);

/** Returns the partner of `rank` in step `step` (0 .. steps - 1). Time O(1). */
HPCW_API uint32_t hpcw_linktest_partner(const hpcw_linktest_schedule *schedule, uint32_t rank, uint32_t step);

/** Gets all partners of `rank`: partner[s] for s = 0 .. steps - 1. Much faster than hpcw_linktest_partner for each
 * step. */
HPCW_API void hpcw_linktest_partners(const hpcw_linktest_schedule *schedule, uint32_t rank, uint32_t *partner);

/** Frees a schedule, NULL allowed. Copied partners stay valid. */
HPCW_API void hpcw_linktest_schedule_free(hpcw_linktest_schedule *schedule);

/* ------------------------------------------------------------------------------------------------------------
 *  Writing
 * --------------------------------------------------------------------------------------------------------- */

/** An opaque result file open for writing. */
typedef struct hpcw_linktest hpcw_linktest;

/** One of the slowest connections. */
typedef struct hpcw_linktest_slow {
    uint64_t time_ps;   /**< time that `from` measured */
    uint64_t retest_ps; /**< time of the second measurement; the caller fills it */
    uint32_t from;      /**< the task that measured */
    uint32_t to;        /**< the partner in the measurement */
} hpcw_linktest_slow;

/** Creates the file. Collective. `params` is copied. @return as hpcw_sion_open and hpcw_linktest_params_check */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_open(const char *path, hpcw_comm *comm,
                                                        const hpcw_linktest_params *params, hpcw_linktest **out,
                                                        hpcw_error *err);

/** Returns the first task of this process, see hpcw_sion_first_rank. */
HPCW_API uint32_t hpcw_linktest_first_rank(const hpcw_linktest *lt);

/**
 * Sets host and core of a task of this process. Call it once per task, before its first timings. Different threads
 * may handle different tasks.
 *
 * @param host  ASCII, not empty, at most max_host_size - 1 characters; every node needs a different name
 * @param core  number of the core, >= 0
 * @return HPCW_OK, HPCW_EINVAL, HPCW_ERANGE (name too long), HPCW_ESTATE (set before), and as hpcw_sion_write
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_task(hpcw_linktest *lt, uint32_t rank, const char *host,
                                                        int32_t core, hpcw_error *err);

/**
 * Stores the timings of a task of this process in the current permutation. Call it once per task and permutation.
 * Different threads may handle different tasks.
 *
 * @param time_ps     [steps] picoseconds per message, one way, 1 .. 2^52 - 1
 * @param partner     [steps] the partner in each step; NULL: the schedule of hpcw_linktest_schedule_new
 * @param all_to_all_ps  time of the all-to-all test, >= 1 if params->all_to_all, ignored otherwise
 * @return HPCW_OK, HPCW_EINVAL (a time of 0, a partner out of range or equal to the task), HPCW_ESTATE (no
 *         hpcw_linktest_task before, or stored before), HPCW_ENOMEM, and as hpcw_sion_write
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_timings(hpcw_linktest *lt, uint32_t rank,
                                                           const uint64_t *time_ps, const uint32_t *partner,
                                                           uint64_t all_to_all_ps, hpcw_error *err);

/**
 * Reports that this process cannot deliver its timings: the next collective call fails on all processes, with this
 * reason, and no file gets its name. Not collective, one thread.
 *
 * @param reason  code and message; copied. NULL or code HPCW_OK: the call fails with HPCW_ESTATE
 */
HPCW_API void hpcw_linktest_abandon(hpcw_linktest *lt, const hpcw_error *reason);

/**
 * Gets the slowest connections of the current permutation over all processes, slowest first. Connections with equal
 * times are sorted by measuring task, then by partner. Collective; call it after all processes have stored their
 * timings. The caller may measure these connections again.
 *
 * @param slow   out [min(retests, N)]: the connections, the same on all processes. Each retest_ps is equal to
 *               time_ps
 * @param count  out: number of entries
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_slowest(hpcw_linktest *lt, hpcw_linktest_slow *slow,
                                                           size_t *count, hpcw_error *err);

/**
 * Ends a permutation. The summary (minimum, mean, maximum, slowest connections) is computed over all processes and
 * stored in the stream of task 0. Collective.
 *
 * @param start   time as text of at most 31 characters, by convention YYYY-MM-DDThh:mm:ssZ; the same on all
 *                processes
 * @param end     time in the form of `start`, not before `start`; the same on all processes
 * @param slow    [min(retests, N)] connections from hpcw_linktest_slowest, with retest_ps filled in; NULL: each
 *                retest_ps is equal to time_ps. Only the array of the process that owns task 0 is used
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_end_permutation(hpcw_linktest *lt, const char *start,
                                                                   const char *end,
                                                                   const hpcw_linktest_slow *slow,
                                                                   hpcw_error *err);

/** Exact count, minimum, maximum and sum of timings. Ranges can be merged in any order and grouping. */
typedef struct hpcw_linktest_range {
    uint64_t count;    /**< number of timings */
    uint64_t min_ps;   /**< smallest timing, ps; UINT64_MAX if count is 0 */
    uint64_t max_ps;   /**< largest timing, ps; 0 if count is 0 */
    uint64_t sum_low;  /**< low 64 bits of the sum of all timings, ps */
    uint64_t sum_high; /**< high 64 bits of the sum of all timings, ps */
} hpcw_linktest_range;

/** Merges `from` into `into`. A range of no timings is {0, UINT64_MAX, 0, 0, 0}. */
HPCW_API void hpcw_linktest_range_merge(hpcw_linktest_range *into, const hpcw_linktest_range *from);

/**
 * Gets the figures of the last permutation that ended, over all processes of the communicator. Not collective.
 *
 * @param times       out, may be NULL
 * @param all_to_all  out, may be NULL
 * @return HPCW_OK, HPCW_EINVAL, HPCW_ESTATE if no permutation has ended
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_figures(const hpcw_linktest *lt, hpcw_linktest_range *times,
                                                           hpcw_linktest_range *all_to_all, hpcw_error *err);

/**
 * Finishes the file after the last permutation. Collective. Returns HPCW_ESTATE if tasks or permutations are
 * missing; otherwise as hpcw_sion_close.
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_close(hpcw_linktest *lt, hpcw_error *err);

/** Frees a handle in any state, NULL allowed. A file that was not closed is discarded. In a child of fork(), no
 * file is touched. */
HPCW_API void hpcw_linktest_free(hpcw_linktest *lt);

/* ------------------------------------------------------------------------------------------------------------
 *  Results in parts: several runs write the files of one set (array jobs)
 * --------------------------------------------------------------------------------------------------------- */

/** The summary of one permutation. */
typedef struct hpcw_linktest_summary {
    const char *start;              /**< as in hpcw_linktest_end_permutation */
    const char *end;                /**< as in hpcw_linktest_end_permutation */
    hpcw_linktest_range times;      /**< figures of the timings of all tasks of the set */
    hpcw_linktest_range all_to_all; /**< figures of the all-to-all tests; ignored if there are none */
    /** [min(retests, N)] slowest connections, slowest first, with retest_ps filled in */
    const hpcw_linktest_slow *slow;
} hpcw_linktest_summary;

/**
 * Writes the summaries into file 0 of a set whose files were written with set_files > 0, once the timings of all
 * files are known. Not collective. The file is not renamed; the caller renames it after success.
 *
 * @param path       the current name of the file
 * @param params     the parameters with which the file was opened; fs_block_size must be the block size of the
 *                   file, not 0
 * @param host_size  size of task 0's host name with NUL
 * @param summary    [hpcw_linktest_permutations(params)]
 * @return HPCW_OK; HPCW_EINVAL; HPCW_EFORMAT if the stream of task 0 is not at its offset in the file; errors of
 *         the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_complete(const char *path,
                                                            const hpcw_linktest_params *params,
                                                            size_t host_size,
                                                            const hpcw_linktest_summary *summary,
                                                            hpcw_error *err);

/** Sorts connections as in the file: slowest first; connections with equal times by measuring task, then by
 * partner. */
HPCW_API void hpcw_linktest_sort_slow(hpcw_linktest_slow *slow, size_t count);

#ifdef __cplusplus
}
#endif

#endif
