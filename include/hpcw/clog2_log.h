/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Records what a running program does as a CLOG-2 event log. A record takes nanoseconds; at the end the library
 * merges the records of all processes into one file.
 *
 *     hpcw_clog2_log_open("app.clog2", comm, NULL, &log, &error);                // collective
 *     hpcw_clog2_log_state(log, "Compute", "blue", NULL, &compute, &error);      // everywhere in the same order
 *     hpcw_clog2_log_thread(log, &timeline, &error);                             // once on each thread
 *     hpcw_clog2_log_begin(timeline, 0, compute);
 *     ...
 *     hpcw_clog2_log_end(timeline, 0, compute);
 *     hpcw_clog2_log_finish(log, NULL, &error);                                  // collective
 *     hpcw_clog2_log_free(log);
 *
 * Recording reads a clock and stores two words in memory of the thread: no lock, no system call, no allocation.
 * It cannot fail and has no result. The library counts what goes wrong (no memory, a full disk, an event that
 * is not defined), and hpcw_clog2_log_finish reports it.
 *
 * That memory is a local file, mapped in windows of 2 MiB: records and definitions are in the file from the moment
 * at which they are made. However the program dies (a signal, abort, exit), nothing that it has recorded is lost,
 * and hpcw_clog2_recover makes a log of the local files of all processes. If the host dies, records are lost that
 * the kernel had not written to the disk; hpcw_clog2_log_flush makes the kernel write. The space of a window is
 * allocated before it is used. If the disk is full, or cannot be mapped, the thread goes on in ordinary memory and
 * the report says so. The directory must be on a tmpfs, ext2, ext3, ext4 or xfs. On other file systems,
 * all threads record in ordinary memory, because a store to allocated space could still end the program (SIGBUS):
 * on file systems that copy on write (btrfs, zfs, bcachefs), network file systems (NFS, Lustre, GPFS), an overlay.
 *
 * When the first window of a process is full, the process starts a helper thread, which prepares further windows in
 * advance. A thread that records faster than the disk can write has to wait; the log shows a wait of more than 2 ms
 * as the state CLOG_Buffer_write2disk. A child process that fork() makes shares the windows and must not record.
 */
#ifndef HPCW_CLOG2_LOG_H
#define HPCW_CLOG2_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** 1 if processors of this architecture have a counter that can serve as a clock, otherwise 0. */
#if defined(__x86_64__) || defined(__aarch64__)
#define HPCW_CLOG2_HAVE_COUNTER 1
#else
#define HPCW_CLOG2_HAVE_COUNTER 0
#endif

#include <hpcw/clog2.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------------
 *  Options
 * --------------------------------------------------------------------------------------------------------- */

/** Clocks. */
typedef enum hpcw_clog2_clock {
    /** the processor's counter if it has a constant rate, otherwise CLOCK_MONOTONIC */
    HPCW_CLOG2_CLOCK_BEST = 0,
    HPCW_CLOG2_CLOCK_COUNTER = 1, /**< the processor's counter, calibrated against CLOCK_MONOTONIC */
    HPCW_CLOG2_CLOCK_SYSTEM = 2,  /**< CLOCK_MONOTONIC */
    HPCW_CLOG2_CLOCK_CALLER = 3   /**< the function `now` of the options, for instance MPI_Wtime */
} hpcw_clog2_clock;

/**
 * How the clocks of all processes are compared with the clock of process 0. All processes of a host share the
 * processor's counter and CLOCK_MONOTONIC. With these clocks, only the first process of each host takes part.
 */
typedef enum hpcw_clog2_sync {
    /** HPCW_CLOG2_SYNC_SEQUENTIAL for up to 16 processes, otherwise HPCW_CLOG2_SYNC_TREE (as in MPE) */
    HPCW_CLOG2_SYNC_BEST = 0,
    HPCW_CLOG2_SYNC_NONE = 1,       /**< clocks are not compared, for processes that all have the same clock */
    HPCW_CLOG2_SYNC_SEQUENTIAL = 2, /**< process 0 compares its clock with each other process in turn */
    /** pairs of processes compare clocks along a binomial tree; offsets add up along the tree */
    HPCW_CLOG2_SYNC_TREE = 3,
    /** each process compares its clock with the process of the next lower number; an exclusive scan adds up the
     * offsets */
    HPCW_CLOG2_SYNC_NEIGHBOURS = 4
} hpcw_clog2_sync;

/** Options of a recording. All members but `directory` must be the same on all processes. */
typedef struct hpcw_clog2_log_options {
    size_t size;            /**< size of this struct; hpcw_clog2_log_options_init sets it (hpcw.h) */
    hpcw_clog2_clock clock; /**< default HPCW_CLOG2_CLOCK_BEST */
    /** for HPCW_CLOG2_CLOCK_CALLER: returns the seconds since any fixed moment; must never decrease */
    double (*now)(void);
    hpcw_clog2_sync sync; /**< default HPCW_CLOG2_SYNC_BEST */
    /** number of ping-pongs of a comparison, of which the quickest counts; default 128 */
    uint32_t sync_rounds;
    /** memory for the records of a process, bytes: at least 8 MiB, and at least 4 MiB for each thread; default 64
     * MiB. When the memory is full, full windows of the local files are unmapped and stay only on the disk */
    uint64_t memory;
    /** Directory of local files, looked up when the log is opened. NULL: no local files. Records that do not fit
     * into `memory` are then lost and counted. */
    const char *directory;
    uint32_t block_size;          /**< block size of the log, bytes; default 65536 */
    hpcw_durability durability;   /**< durability of the log; default HPCW_SYNC_FILE */
    hpcw_sink_source sink_source; /**< where the bytes of the log go; all zero: to files */
} hpcw_clog2_log_options;

/** Private: fills in the defaults of a struct of this size. */
HPCW_API void hpcw_clog2_log_options_fill(hpcw_clog2_log_options *options, size_t size);

/** Fills in the defaults. The directory is $TMPDIR, or /tmp. */
static inline void hpcw_clog2_log_options_init(hpcw_clog2_log_options *options) {
    hpcw_clog2_log_options_fill(options, sizeof *options);
}

/* ------------------------------------------------------------------------------------------------------------
 *  Opening, definitions
 * --------------------------------------------------------------------------------------------------------- */

/** An opaque recording. */
typedef struct hpcw_clog2_log hpcw_clog2_log;

/** The timeline of one thread; see hpcw_clog2_log_thread. */
typedef struct hpcw_clog2_timeline hpcw_clog2_timeline;

/**
 * Begins a recording and compares the clocks. Collective. Process p of `comm` is rank p of the log.
 *
 * @param path     path of the log, which appears in hpcw_clog2_log_finish. All processes must see the same
 *                 directory, now and at the finish; this call checks this with a temporary file. If the directory
 *                 cannot be written to, only hpcw_clog2_log_finish fails. If `path` is a symbolic link, this call
 *                 follows it. hpcw_clog2_log_finish replaces an older file of the resulting name, but this call
 *                 fails with HPCW_EEXIST if it is a local file, whose records may be nowhere else
 * @param options  copied; NULL: the defaults
 * @return HPCW_OK; HPCW_EINVAL; HPCW_EMISMATCH (also if `path` leads processes to different directories);
 * HPCW_EEXIST; HPCW_ENOTSUP: the options ask for the processor's counter, which is not constant here; HPCW_ERANGE:
 * too many processes for the readers, or a name is too long; HPCW_ENOMEM, HPCW_ECOMM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_open(const char *path, hpcw_comm *comm,
                                                         const hpcw_clog2_log_options *options,
                                                         hpcw_clog2_log **out, hpcw_error *err);

/**
 * Defines a state. Not collective; callable on any thread. All processes must define the same states and events in
 * the same order; a process may stop earlier than the others.
 *
 * @param name, colour, format  see hpcw_clog2_record
 * @param state  out: number of the state, from HPCW_CLOG2_USER_STATE on
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ERANGE: more than HPCW_CLOG2_STATES, or a text that is too long; HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_state(hpcw_clog2_log *log, const char *name,
                                                          const char *colour, const char *format,
                                                          int32_t *state, hpcw_error *err);

/**
 * Defines one of MPE's known states (0 .. 299). Otherwise as hpcw_clog2_log_state. A repeated definition counts
 * once.
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_known_state(hpcw_clog2_log *log, int32_t state,
                                                                const char *name, const char *colour,
                                                                const char *format, hpcw_error *err);

/**
 * Names one of MPE's known states that this program may use, without defining it. If the program dies,
 * hpcw_clog2_recover defines the state if a record uses it. This is for programs that know only at the end which
 * states to define. Call it in ascending order of `state`, after hpcw_clog2_log_open. Otherwise as
 * hpcw_clog2_log_known_state.
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_offer_state(hpcw_clog2_log *log, int32_t state,
                                                                const char *name, const char *colour,
                                                                const char *format, hpcw_error *err);

/** Defines an event without duration, numbered from HPCW_CLOG2_USER_SOLO on. Otherwise as hpcw_clog2_log_state. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_solo(hpcw_clog2_log *log, const char *name,
                                                         const char *colour, const char *format, int32_t *event,
                                                         hpcw_error *err);

/** Returns the rank of this process in the log. */
HPCW_API uint32_t hpcw_clog2_log_rank(const hpcw_clog2_log *log);

/** Kinds of communicator. */
typedef enum hpcw_clog2_comm_kind {
    HPCW_CLOG2_INTER = 0,
    HPCW_CLOG2_INTRA = 1,
    /** group of this process in an inter-communicator. An inter-communicator needs three calls of
     * hpcw_clog2_log_comm: HPCW_CLOG2_INTER, then the two halves */
    HPCW_CLOG2_LOCAL_HALF = 2,
    HPCW_CLOG2_REMOTE_HALF = 3
} hpcw_clog2_comm_kind;

/** Makes an identity for a new communicator. The caller sends it to the other members of the communicator. Callable
 * on any thread. */
HPCW_API void hpcw_clog2_log_comm_id(hpcw_clog2_log *log, hpcw_clog2_comm_id *id);

/**
 * Adds a communicator to the log. Call it on each process of the communicator, with the same identity. Not
 * collective. Communicator 0 is the communicator of hpcw_clog2_log_open, and communicator 1 is this process alone.
 *
 * @param timeline  timeline on which the creation is recorded
 * @param parent  number of the parent communicator
 * @param rank    rank of this process in the new communicator; not used for a remote half
 * @param comm    out: number of the new communicator on this process
 * @return HPCW_OK, HPCW_EINVAL, HPCW_ERANGE or HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_comm(hpcw_clog2_timeline *timeline, uint32_t parent,
                                                         hpcw_clog2_comm_kind kind,
                                                         const hpcw_clog2_comm_id *id, uint32_t rank,
                                                         uint32_t *comm, hpcw_error *err);

/** Adds an hpcw_comm to the log. Process 0 of `members` makes the identity that the communicator has in the log.
 * Collective over `members`. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_comm_of(hpcw_clog2_timeline *timeline, uint32_t parent,
                                                            hpcw_comm *members, uint32_t *comm,
                                                            hpcw_error *err);

/**
 * Gets the identity of communicator 0 or 1, or of a communicator that this process has added. A half of an
 * inter-communicator has the identity of the intra-communicator from which the half was made.
 *
 * @return HPCW_OK, HPCW_EINVAL: no such communicator
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_comm_identity(hpcw_clog2_timeline *timeline, uint32_t comm,
                                                                  hpcw_clog2_comm_id *id, hpcw_error *err);

/**
 * Makes a timeline for a thread. Timelines are numbered in the order of these calls: the first timeline is thread
 * 0. The log owns all timelines. Only one thread at a time may use a timeline.
 *
 * @return HPCW_OK, HPCW_EINVAL, HPCW_ERANGE (more than 32767 threads), HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_thread(hpcw_clog2_log *log, hpcw_clog2_timeline **out,
                                                           hpcw_error *err);

/* ------------------------------------------------------------------------------------------------------------
 *  Recording
 * --------------------------------------------------------------------------------------------------------- */

/**
 * Private: the members of a timeline that inline functions need. A record has two or more words of 64 bits. The
 * first word is the time. The second word has kind, communicator and event.
 */
struct hpcw_clog2_timeline {
    uint64_t *next; /**< address of the next record; the largest record fits between `next` and `end` */
    uint64_t *end;  /**< see `next` */
    /** reads the clock of the caller or of the system; NULL: the timeline uses the processor's counter */
    double (*now)(void);
};

/** Private: number of 64-bit words of each kind of record. */
enum { HPCW_CLOG2_WORDS_BARE = 2, HPCW_CLOG2_WORDS_MESSAGE = 4, HPCW_CLOG2_WORDS_CARGO = 7 };

/** Private: a peer's send or receive, which this process records because the peer does not. */
enum { HPCW_CLOG2_PEER_SEND = -1101, HPCW_CLOG2_PEER_RECEIVE = -1102 };

/** Private: in place of the number of a new communicator, says that a communicator is freed. */
enum { HPCW_CLOG2_COMM_FREED = -1 };

/** Private: makes room for further records. Called when the memory between `next` and `end` is full. */
HPCW_API void hpcw_clog2_timeline_next(hpcw_clog2_timeline *timeline);

/** Private: reads the clock of a timeline that does not use the counter. */
HPCW_API uint64_t hpcw_clog2_timeline_time(const hpcw_clog2_timeline *timeline);

static inline uint64_t hpcw_clog2_timeline_clock(const hpcw_clog2_timeline *timeline) {
#if defined(__x86_64__)
    return __builtin_expect(timeline->now == 0, 1) ? __builtin_ia32_rdtsc()
                                                   : hpcw_clog2_timeline_time(timeline);
#elif defined(__aarch64__)
    if (timeline->now == 0) {
        uint64_t ticks;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
    }
    return hpcw_clog2_timeline_time(timeline);
#else
    return hpcw_clog2_timeline_time(timeline);
#endif
}

static inline uint64_t hpcw_clog2_timeline_word(uint32_t kind, uint32_t comm, int32_t event) {
    return (uint64_t)kind << 56 | (uint64_t)(comm & 0xffffff) << 32 | (uint32_t)event;
}

/**
 * Private: completes a record by storing the second word last. If the program dies before, the record does not
 * count.
 */
static inline void hpcw_clog2_timeline_done(hpcw_clog2_timeline *timeline, uint64_t word, int words) {
    uint64_t *p = timeline->next;
    __atomic_signal_fence(__ATOMIC_RELEASE);
    p[1] = word;
    timeline->next = p + words;
    if (__builtin_expect(timeline->next >= timeline->end, 0)) {
        hpcw_clog2_timeline_next(timeline);
    }
}

/** Private: stores a record of two words. */
static inline void hpcw_clog2_timeline_put(hpcw_clog2_timeline *timeline, uint64_t ticks, uint64_t word) {
    timeline->next[0] = ticks;
    hpcw_clog2_timeline_done(timeline, word, HPCW_CLOG2_WORDS_BARE);
}

/** Records that a communicator is freed. Call it on each process of the communicator. */
static inline void hpcw_clog2_log_comm_freed(hpcw_clog2_timeline *timeline, uint32_t comm) {
    hpcw_clog2_timeline_put(timeline, hpcw_clog2_timeline_clock(timeline),
                            hpcw_clog2_timeline_word(HPCW_CLOG2_COMM_EVENT, comm, HPCW_CLOG2_COMM_FREED));
}

/** Records an event on communicator `comm`: start (2s) or end (2s + 1) of a state s, or a solo event. */
static inline void hpcw_clog2_log_event(hpcw_clog2_timeline *timeline, uint32_t comm, int32_t event) {
    hpcw_clog2_timeline_put(timeline, hpcw_clog2_timeline_clock(timeline),
                            hpcw_clog2_timeline_word(HPCW_CLOG2_BARE, comm, event));
}

/** Records that a state begins. States of a thread nest. Viewers show a state that is nested in itself as two
 * overlapping states. */
static inline void hpcw_clog2_log_begin(hpcw_clog2_timeline *timeline, uint32_t comm, int32_t state) {
    hpcw_clog2_log_event(timeline, comm, 2 * state);
}

/** Records that a state ends. */
static inline void hpcw_clog2_log_end(hpcw_clog2_timeline *timeline, uint32_t comm, int32_t state) {
    hpcw_clog2_log_event(timeline, comm, 2 * state + 1);
}

/**
 * Records an event with cargo. Viewers show the cargo of a state's end event, or that of its start event if the end
 * event has none. Cargo that does not match the event's format is left out and counted; the event is then recorded
 * without cargo.
 */
HPCW_API void hpcw_clog2_log_cargo(hpcw_clog2_timeline *timeline, uint32_t comm, int32_t event,
                                   const hpcw_clog2_cargo *cargo);

/** Private: records the send or the receive of a message, at a given time. */
static inline void hpcw_clog2_timeline_message_at(hpcw_clog2_timeline *timeline, uint64_t ticks, uint32_t comm,
                                                  int32_t event, uint32_t peer_comm, int32_t peer, int32_t tag,
                                                  uint64_t size) {
    uint64_t *p = timeline->next;
    p[0] = ticks;
    p[2] = (uint64_t)(uint32_t)peer << 32 | (uint32_t)tag;
    p[3] = (uint64_t)peer_comm << 32 | (size > INT32_MAX ? (uint64_t)INT32_MAX : size);
    hpcw_clog2_timeline_done(timeline, hpcw_clog2_timeline_word(HPCW_CLOG2_MESSAGE, comm, event),
                             HPCW_CLOG2_WORDS_MESSAGE);
}

/** Private: records the send or the receive of a message at the present time. */
static inline void hpcw_clog2_timeline_message(hpcw_clog2_timeline *timeline, uint32_t comm, int32_t event,
                                               uint32_t peer_comm, int32_t peer, int32_t tag, uint64_t size) {
    hpcw_clog2_timeline_message_at(timeline, hpcw_clog2_timeline_clock(timeline), comm, event, peer_comm, peer,
                                   tag, size);
}

/** Records that a message was sent to rank `peer` of `comm`. Sizes from 2 GiB on become 2^31 - 1. */
static inline void hpcw_clog2_log_send(hpcw_clog2_timeline *timeline, uint32_t comm, int32_t peer, int32_t tag,
                                       uint64_t size) {
    hpcw_clog2_timeline_message(timeline, comm, HPCW_CLOG2_SEND, comm, peer, tag, size);
}

/** Records that a message was received, with its actual source and tag. */
static inline void hpcw_clog2_log_receive(hpcw_clog2_timeline *timeline, uint32_t comm, int32_t peer,
                                          int32_t tag, uint64_t size) {
    hpcw_clog2_timeline_message(timeline, comm, HPCW_CLOG2_RECEIVE, comm, peer, tag, size);
}

/** Waits until all records that this process has made so far are on the disk. These records then survive a crash of
 * the host. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_flush(hpcw_clog2_timeline *timeline, hpcw_error *err);

/* ------------------------------------------------------------------------------------------------------------
 *  The end
 * --------------------------------------------------------------------------------------------------------- */

/** What was recorded and what was lost. Counts are totals over all processes. */
typedef struct hpcw_clog2_log_report {
    uint64_t records; /**< number of records in the log */
    uint64_t lost;    /**< number of records lost because memory or disk was full */
    /** number of records left out because their event, communicator, peer or tag was not valid */
    uint64_t undefined;
    uint64_t end_alone;   /**< number of ends of states left out because the state had not begun */
    uint64_t start_alone; /**< number of states that did not end; their begins are in the log */
    uint64_t bad_cargo;   /**< number of events recorded without their cargo, which did not match the format */
    uint64_t spilled;     /**< bytes of records that did not fit into `memory` and were in local files only */
    uint64_t stalls;      /**< number of waits for the disk of more than 2 ms */
    /** number of threads that recorded in memory, because their local file got no space or could not be created.
     * Their records would have been lost if the process had died */
    uint64_t unsaved;
    /** failure of a local file, of the first process that had such a failure; code HPCW_OK: no process had one */
    hpcw_error disk;
    /* The following members describe this process. */
    int64_t begin_offset_ns;      /**< clock of process 0 - clock of this process, ns, at the begin */
    int64_t end_offset_ns;        /**< clock of process 0 - clock of this process, ns, at the end */
    uint64_t begin_round_trip_ns; /**< round trip of the quickest ping-pong at the begin */
    uint64_t end_round_trip_ns;   /**< round trip of the quickest ping-pong at the end */
    /** seconds per second by which the clock of this process is slower than that of process 0 */
    double drift;
    /** true: this process reads the same clock as process 0. Offsets, round trips and drift are then exactly 0 */
    bool same_clock;
    hpcw_clog2_clock clock; /**< the clock that was used */
    double tick_ns;         /**< length of a tick of the clock, ns */
} hpcw_clog2_log_report;

/**
 * Changes the path of the log. Collective, before hpcw_clog2_log_finish. The names of local files stay. A relative
 * path begins in the working directory of process 0, and this call follows `path` if it is a symbolic link.
 *
 * @return HPCW_OK; HPCW_EINVAL; HPCW_EMISMATCH: the paths differ; HPCW_ESTATE: the recording has ended;
 * HPCW_EEXIST as for hpcw_clog2_log_open; HPCW_ENOMEM; HPCW_ECOMM; and errors of the system for the directory. After
 * a failure the log has its old path
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_rename(hpcw_clog2_log *log, const char *path,
                                                           hpcw_error *err);

/**
 * Ends the recording: compares the clocks again, corrects all times for offset and drift, merges and writes the
 * log. Collective. No thread may record any more. Local files are removed on success and kept after a failure.
 * After a failure the message says how to make a log of the local files, and how many threads recorded in memory.
 *
 * @param report  out, may be NULL; valid also if records were lost
 * @return HPCW_OK; HPCW_EMISMATCH: the processes' definitions differ; HPCW_ESTATE; HPCW_ECOMM; HPCW_ENOMEM;
 * errors of the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_finish(hpcw_clog2_log *log, hpcw_clog2_log_report *report,
                                                           hpcw_error *err);

/**
 * Frees a recording and its timelines in any state. NULL is allowed. If no log was written, local files that hold
 * an event are kept.
 */
HPCW_API void hpcw_clog2_log_free(hpcw_clog2_log *log);

/* ------------------------------------------------------------------------------------------------------------
 *  After a crash
 * --------------------------------------------------------------------------------------------------------- */

/** What hpcw_clog2_recover found. */
typedef struct hpcw_clog2_recovered {
    uint64_t records; /**< number of records in the log */
    /** number of records left out, for the reasons of `undefined` and `end_alone` in hpcw_clog2_log_report */
    uint64_t left_out;
    uint32_t files; /**< number of local files that were used */
    /** number of used files that are cut short or damaged, or had no space for all records */
    uint32_t truncated;
    uint32_t missing; /**< number of ranks of the run that have no local file */
} hpcw_clog2_recovered;

/**
 * Searches the directory of local files for files of an earlier run that had the same log name, and that died or
 * could not write its log. Not collective. The search covers only this host, and only files that this host made
 * since it booted, because this host cannot tell whether processes of other hosts run. On a file system without
 * file locks, nothing is found.
 *
 * @param pattern  out [size]: shell pattern that matches all files of one earlier run
 * @return whether there are such files
 */
HPCW_API bool hpcw_clog2_log_left(const hpcw_clog2_log *log, char *pattern, size_t size);

/**
 * Makes a log from the local files of a run that died, written by this library or by MPE2 (clog2_*_taskID=*). Not
 * collective. Clocks are corrected by their comparison at the begin only, because the run did not compare them at
 * the end.
 *
 * @param path   path of the log
 * @param local  [count] paths of local files, all of one run
 * @param partial  also make a log if ranks have no file (they have no events in the log), or if a file of this
 *                 library is cut short, damaged, or had no space for all records
 * @param found  out, may be NULL
 * @return HPCW_OK; HPCW_EINVAL; HPCW_EEXIST if `path` is a local file, whose records may be nowhere else;
 * HPCW_EFORMAT: not a local file, files of different runs, the same rank twice;
 * HPCW_EMISMATCH: without `partial`, a rank has no file or not all its records. The message names the rank, and no
 * log is written; HPCW_ENOMEM; errors of the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_recover(const char *path, const char *const *local,
                                                        size_t count, bool partial, hpcw_clog2_recovered *found,
                                                        hpcw_error *err);

#ifdef __cplusplus
}
#endif

#endif
