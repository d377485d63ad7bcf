/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * LinkTest 2.1.17 results: N tasks measure the time of a message to every other task, in steps in which each
 * task has one partner. The result is a SION container with one stream per task.
 *
 * Timings are whole picoseconds: sums are exact and do not depend on the order of additions, and the stored double
 * is the one nearest to the decimal number of seconds.
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

#define HPCW_LINKTEST_FILE_NAME "pingpong_results_bin.sion" /**< LinkTest's own default */
#define HPCW_LINKTEST_HASH_SIZE 41                          /**< git hash: 40 hex digits and a NUL */
#define HPCW_LINKTEST_TIME_SIZE 32                          /**< time text with its NUL */
#define HPCW_LINKTEST_MAX_HOST 1023u                        /**< longest host name we write, without NUL */

/** What a pair exchanges. */
typedef enum hpcw_linktest_kernel {
    HPCW_LINKTEST_SEMIDIRECTIONAL = 0, /**< ping-pong (both flags 0) */
    HPCW_LINKTEST_UNIDIRECTIONAL = 1,
    HPCW_LINKTEST_BIDIRECTIONAL = 2
} hpcw_linktest_kernel;

/**
 * Parameters of a run; they fill the file header (doc/formats/linktest.md, "File header") and determine the layout.
 * `count`, `ranks` and `buffer_size` belong to a process; all others must agree on all processes.
 */
typedef struct hpcw_linktest_params {
    uint32_t tasks;        /**< N, even, >= 2 */
    uint32_t count;        /**< tasks that this process owns, see hpcw_sion_options */
    const uint32_t *ranks; /**< [count] their numbers, strictly ascending; NULL: consecutive in process order */

    const char *git_hash;        /**< 40 lower-case hex digits; NULL: forty zeros */
    const char *mode;            /**< "mpi" (default), "tcp", "ucp", "ibverbs", "psm2" or "cuda" */
    hpcw_linktest_kernel kernel; /**< what a pair exchanges; default semidirectional */
    bool all_to_all;             /**< an all-to-all test per permutation; mode "mpi" only */
    bool bisection;              /**< pairs only across the halves, N/2 steps */
    bool randomize_steps;        /**< the order of the steps is shuffled with step_seed */
    bool serial;                 /**< one pair at a time */
    bool gpu_memory;             /**< message buffers are in the memory of a GPU */
    bool random_buffers;         /**< message buffers filled at random with buffer_seed */
    bool check_buffers;          /**< received messages are compared with those sent */
    uint64_t messages;           /**< number of timed messages per pair, >= 1 */
    uint64_t message_size;       /**< bytes */
    uint64_t warmup_messages;    /**< messages per pair before the timed ones */
    uint64_t retests;            /**< number d of slowest connections to measure again; min(d, N) is written */
    /** number of buffers; 1 (default), or more, which sets the several-buffers flag */
    uint64_t message_buffers;
    uint64_t buffer_seed;  /**< must be 0 unless random_buffers */
    uint64_t permutations; /**< R: iterations with randomly renumbered tasks; 0: one, in plain rank order */
    uint64_t task_seed;    /**< seed of the renumbering, must be 0 if permutations is 0 */
    uint64_t step_seed;    /**< seed of the step shuffle; not stored in the file */

    size_t max_host_size;    /**< longest host name with its NUL among all tasks; default 64 */
    uint32_t files;          /**< physical SION files, default 1 */
    uint32_t set_first_file; /**< with set_files: the first physical file that this call writes */
    /** 0 (default): all files are written. Otherwise only this many of the `files`, as in hpcw_sion_options,
     * and without summaries, which need all timings: see hpcw_linktest_complete */
    uint32_t set_files;
    uint32_t fs_block_size;       /**< as in hpcw_sion_options; 0: that of the directory */
    hpcw_sion_layout layout;      /**< default HPCW_SION_ALIGNED; packed avoids the padding per stream */
    hpcw_durability durability;   /**< default HPCW_SYNC_FILE */
    hpcw_sink_source sink_source; /**< where bytes go; zeroed: files */
} hpcw_linktest_params;

/** Fills in the defaults: no tasks, mode "mpi", 25 messages of 256 KiB, 3 warm-ups, 10 retests, 1 file. */
HPCW_API void hpcw_linktest_params_init(hpcw_linktest_params *params);

/**
 * Checks parameters without opening anything.
 *
 * @return HPCW_OK; HPCW_EINVAL with the expected and the actual value; HPCW_ERANGE if a stream or a file would
 * pass a limit
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_params_check(const hpcw_linktest_params *params,
                                                                hpcw_error *err);

/** Number of permutations in the file: max(1, params->permutations). */
HPCW_API uint64_t hpcw_linktest_permutations(const hpcw_linktest_params *params);

/** Steps in which a task has a partner: N - 1, or N / 2 for the bisection test. */
HPCW_API uint32_t hpcw_linktest_steps(const hpcw_linktest_params *params);

/** Bytes of task `rank`'s stream, given its host name's size with NUL. */
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

/** One connection among the slowest. */
typedef struct hpcw_linktest_slow {
    uint64_t time_ps;   /**< time that `from` measured */
    uint64_t retest_ps; /**< time of the second measurement; the caller fills it */
    uint32_t from;      /**< the task that measured */
    uint32_t to;        /**< its partner */
} hpcw_linktest_slow;

/** Creates the file. Collective. `params` is copied. @return as hpcw_sion_open and hpcw_linktest_params_check */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_open(const char *path, hpcw_comm *comm,
                                                        const hpcw_linktest_params *params, hpcw_linktest **out,
                                                        hpcw_error *err);

/** First task of this process, see hpcw_sion_first_rank. */
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
 * @param reason  code and message; copied
 */
HPCW_API void hpcw_linktest_abandon(hpcw_linktest *lt, const hpcw_error *reason);

/**
 * Gets the slowest connections of the current permutation over all processes, slowest first. Equal times are
 * sorted by measuring task, then by partner. Collective; call it after all processes have stored their timings.
 * The caller may measure these connections again.
 *
 * @param slow   out: [min(retests, N)], the same on all processes, retest_ps = time_ps
 * @param count  out: number of entries
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_slowest(hpcw_linktest *lt, hpcw_linktest_slow *slow,
                                                           size_t *count, hpcw_error *err);

/**
 * Ends a permutation. The summary (minimum, mean, maximum, slowest connections) is computed over all processes and
 * stored with task 0. Collective.
 *
 * @param start   text of at most 31 characters, by convention YYYY-MM-DDThh:mm:ssZ (agree)
 * @param end     the same, not before `start`
 * @param slow    [min(retests, N)] from hpcw_linktest_slowest with retest_ps filled in; only that of the owner of
 * task 0 counts. NULL: retest_ps = time_ps
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_linktest_end_permutation(hpcw_linktest *lt, const char *start,
                                                                   const char *end,
                                                                   const hpcw_linktest_slow *slow,
                                                                   hpcw_error *err);

/** Exact figures of any number of timings. They can be merged in any order and grouping. */
typedef struct hpcw_linktest_range {
    uint64_t count;    /**< number of timings */
    uint64_t min_ps;   /**< UINT64_MAX if count is 0 */
    uint64_t max_ps;   /**< 0 if count is 0 */
    uint64_t sum_low;  /**< sum in ps: low 64 bits */
    uint64_t sum_high; /**< and high 64 bits */
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
 * Finishes the file after the last permutation. Collective. HPCW_ESTATE if tasks or permutations are missing;
 * otherwise as hpcw_sion_close.
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
    hpcw_linktest_range times;      /**< figures over all tasks of the set */
    hpcw_linktest_range all_to_all; /**< ignored without all-to-all tests */
    const hpcw_linktest_slow *slow; /**< [min(retests, N)], slowest first, retests filled in */
} hpcw_linktest_summary;

/**
 * Writes the summaries into a file 0 that was made with set_files > 0, once the timings of all other parts are
 * known. Not collective. The file keeps its name; the caller renames it after success.
 *
 * @param path       the current name of the file
 * @param params     the parameters of its open; fs_block_size must be the block size of the file, not 0
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

/** Sorts connections as in the file: slowest first; equal times by measuring task, then by partner. */
HPCW_API void hpcw_linktest_sort_slow(hpcw_linktest_slow *slow, size_t count);

#ifdef __cplusplus
}
#endif

#endif
