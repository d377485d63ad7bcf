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
 * and hpcw_clog2_recover makes a log of the local files of all processes. If the host dies, what the kernel had
 * not written is lost, except what was flushed. The space of a window is allocated before it is used. If the disk
 * is full, or cannot be mapped, the thread goes on in ordinary memory and the report says so. The directory must
 * be on a tmpfs, ext2, ext3, ext4 or xfs. Elsewhere, a store to space that is allocated could still end the
 * program (SIGBUS), so all threads record in ordinary memory: file systems that copy on write (btrfs, zfs,
 * bcachefs), network file systems (NFS, Lustre, GPFS), an overlay.
 *
 * A helper thread, which a process starts when a first window is full, prepares windows ahead. A thread that
 * records faster than the disk can write has to wait; the log shows a wait of more than 2 ms as the state
 * CLOG_Buffer_write2disk. A child process that fork() makes shares the windows and must not record.
 */
#ifndef HPCW_CLOG2_LOG_H
#define HPCW_CLOG2_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Is 1 if this processor has a counter that can be a clock, otherwise 0. */
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
    HPCW_CLOG2_CLOCK_BEST = 0,    /**< the counter if it is invariant, otherwise CLOCK_MONOTONIC */
    HPCW_CLOG2_CLOCK_COUNTER = 1, /**< the CPU's counter, calibrated against the system's clock */
    HPCW_CLOG2_CLOCK_SYSTEM = 2,  /**< CLOCK_MONOTONIC */
    HPCW_CLOG2_CLOCK_CALLER = 3   /**< `now` in the options, for instance MPI_Wtime */
} hpcw_clog2_clock;

/**
 * How the clocks of processes are compared with that of process 0. All processes of a host share the counter and
 * CLOCK_MONOTONIC. For these clocks only the first process of each host takes part.
 */
typedef enum hpcw_clog2_sync {
    HPCW_CLOG2_SYNC_BEST = 0,       /**< sequential up to 16 processes, then the tree (as MPE) */
    HPCW_CLOG2_SYNC_NONE = 1,       /**< clocks are not compared: all processes have the same clock */
    HPCW_CLOG2_SYNC_SEQUENTIAL = 2, /**< process 0 compares with each other process in turn */
    HPCW_CLOG2_SYNC_TREE = 3,       /**< pairs compare in a binomial tree; offsets add up along it */
    /** each process compares with the one below; offsets add up by an exclusive scan */
    HPCW_CLOG2_SYNC_NEIGHBOURS = 4
} hpcw_clog2_sync;

/** Options of a recording; all but `directory` must agree on all processes. */
typedef struct hpcw_clog2_log_options {
    size_t size;            /**< of this struct; hpcw_clog2_log_options_init sets it (hpcw.h) */
    hpcw_clog2_clock clock; /**< default HPCW_CLOG2_CLOCK_BEST */
    double (*now)(void);    /**< for HPCW_CLOG2_CLOCK_CALLER: seconds since any moment; never steps back */
    hpcw_clog2_sync sync;   /**< default HPCW_CLOG2_SYNC_BEST */
    uint32_t sync_rounds;   /**< number of ping-pongs, of which the quickest counts; default 128 */
    /** bytes of memory for records; default 64 MiB, at least 8 MiB, and 4 MiB for each thread. Beyond it, full
     * windows are unmapped and stay only in the local file */
    uint64_t memory;
    /** Directory of local files, looked up when the log is opened. NULL: no local files; then records beyond
     * `memory` are lost and counted. */
    const char *directory;
    uint32_t block_size;          /**< block size of the log, bytes; default 65536 */
    hpcw_durability durability;   /**< durability of the log; default HPCW_SYNC_FILE */
    hpcw_sink_source sink_source; /**< where the bytes of the log go; zeroed: files */
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
 *                 directory, now and at the finish; a short-lived file checks this. If the directory cannot be
 *                 written to, only hpcw_clog2_log_finish fails. A symbolic link of that name is followed now; a
 *                 file that has the name at the finish is replaced
 * @param options  copied; NULL: the defaults
 * @return HPCW_OK; HPCW_EINVAL; HPCW_EMISMATCH (also if `path` leads processes to different directories);
 * HPCW_ENOTSUP: the options ask for the processor's counter, which is not constant here; HPCW_ERANGE: too many
 * processes for the readers, or a name is too long; HPCW_ENOMEM, HPCW_ECOMM
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
 * Names one of MPE's known states that this program may use, without defining it. A recovered log has the state if
 * a record uses it. This is for programs that know only at the end which states to define. Call it in ascending
 * order of `state`, after hpcw_clog2_log_open. Otherwise as hpcw_clog2_log_known_state.
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_offer_state(hpcw_clog2_log *log, int32_t state,
                                                                const char *name, const char *colour,
                                                                const char *format, hpcw_error *err);

/** Defines an event without duration. As hpcw_clog2_log_state; numbers count from HPCW_CLOG2_USER_SOLO. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_solo(hpcw_clog2_log *log, const char *name,
                                                         const char *colour, const char *format, int32_t *event,
                                                         hpcw_error *err);

/** This process's rank in the log. */
HPCW_API uint32_t hpcw_clog2_log_rank(const hpcw_clog2_log *log);

/** Kinds of communicator. */
typedef enum hpcw_clog2_comm_kind {
    HPCW_CLOG2_INTER = 0,
    HPCW_CLOG2_INTRA = 1,
    /** an inter-communicator needs three calls: for itself, then for its two halves */
    HPCW_CLOG2_LOCAL_HALF = 2,
    HPCW_CLOG2_REMOTE_HALF = 3
} hpcw_clog2_comm_kind;

/** Makes an identity for a new communicator, to be sent to its other members. Callable on any thread. */
HPCW_API void hpcw_clog2_log_comm_id(hpcw_clog2_log *log, hpcw_clog2_comm_id *id);

/**
 * Adds a communicator to the log. Call it on each process of the communicator, with the same identity. Not
 * collective. Communicator 0 is that of hpcw_clog2_log_open, 1 is this process alone.
 *
 * @param timeline  records this event
 * @param parent  number of the parent communicator
 * @param rank    rank of this process in the new communicator; not used for a remote half
 * @param comm    out: number of the new communicator on this process
 * @return HPCW_OK, HPCW_EINVAL, HPCW_ERANGE or HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_comm(hpcw_clog2_timeline *timeline, uint32_t parent,
                                                         hpcw_clog2_comm_kind kind,
                                                         const hpcw_clog2_comm_id *id, uint32_t rank,
                                                         uint32_t *comm, hpcw_error *err);

/** Adds a communicator of this library to the log. Its process 0 makes the identity. Collective over `members`. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_comm_of(hpcw_clog2_timeline *timeline, uint32_t parent,
                                                            hpcw_comm *members, uint32_t *comm,
                                                            hpcw_error *err);

/**
 * Gets the identity of a communicator that this process has added, or of 0 or 1. The halves of an
 * inter-communicator need it: their identity is that of the communicator from which it was made.
 *
 * @return HPCW_OK, HPCW_EINVAL: no such communicator
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_comm_identity(hpcw_clog2_timeline *timeline, uint32_t comm,
                                                                  hpcw_clog2_comm_id *id, hpcw_error *err);

/**
 * Makes a timeline for a thread. Timelines are numbered in the order of these calls: the first one is thread 0.
 * They belong to the log; only one thread at a time may use each.
 *
 * @return HPCW_OK, HPCW_EINVAL, HPCW_ERANGE (more than 32767 threads), HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_thread(hpcw_clog2_log *log, hpcw_clog2_timeline **out,
                                                           hpcw_error *err);

/* ------------------------------------------------------------------------------------------------------------
 *  Recording
 * --------------------------------------------------------------------------------------------------------- */

/**
 * Private: the parts of a timeline that the functions below need. A record has two or more words: the clock, then
 * kind, communicator and event.
 */
struct hpcw_clog2_timeline {
    uint64_t *next;      /**< where the next record goes; the largest record fits between `next` and `end` */
    uint64_t *end;       /**< see `next` */
    double (*now)(void); /**< clock of the caller or the system; NULL: the counter */
};

/** Private: number of words of each kind of record. */
enum { HPCW_CLOG2_WORDS_BARE = 2, HPCW_CLOG2_WORDS_MESSAGE = 4, HPCW_CLOG2_WORDS_CARGO = 7 };

/** Private: events of messages of a peer that records nothing itself, so that its partner records both ends. */
enum { HPCW_CLOG2_PEER_SEND = -1101, HPCW_CLOG2_PEER_RECEIVE = -1102 };

/** Private: in place of a new communicator's number, means that a communicator is freed. */
enum { HPCW_CLOG2_COMM_FREED = -1 };

/** Private: the slow path of a record, taken when a chunk is full. */
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
 * Private: completes a record. Its second word is stored last, so that a record that the program did not complete
 * does not count.
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

/** Records that a communicator is freed. Call it on each of its processes. */
static inline void hpcw_clog2_log_comm_freed(hpcw_clog2_timeline *timeline, uint32_t comm) {
    hpcw_clog2_timeline_put(timeline, hpcw_clog2_timeline_clock(timeline),
                            hpcw_clog2_timeline_word(HPCW_CLOG2_COMM_EVENT, comm, HPCW_CLOG2_COMM_FREED));
}

/** Records an event on communicator `comm`: start (2s) or end (2s + 1) of a state s, or a solo event. */
static inline void hpcw_clog2_log_event(hpcw_clog2_timeline *timeline, uint32_t comm, int32_t event) {
    hpcw_clog2_timeline_put(timeline, hpcw_clog2_timeline_clock(timeline),
                            hpcw_clog2_timeline_word(HPCW_CLOG2_BARE, comm, event));
}

/** Records that a state begins. States of a thread nest. A state nested in itself is shown as two that overlap. */
static inline void hpcw_clog2_log_begin(hpcw_clog2_timeline *timeline, uint32_t comm, int32_t state) {
    hpcw_clog2_log_event(timeline, comm, 2 * state);
}

/** Records that a state ends. */
static inline void hpcw_clog2_log_end(hpcw_clog2_timeline *timeline, uint32_t comm, int32_t state) {
    hpcw_clog2_log_event(timeline, comm, 2 * state + 1);
}

/**
 * Records an event with cargo. Of a state, viewers show the cargo of the end event. Cargo that does not match the
 * event's format is left out and counted; the event is then bare.
 */
HPCW_API void hpcw_clog2_log_cargo(hpcw_clog2_timeline *timeline, uint32_t comm, int32_t event,
                                   const hpcw_clog2_cargo *cargo);

/** Private: records either end of a message, at a given time. */
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

/** Private: records either end of a message, now. */
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

/** Waits until all records of this process so far are on the disk. They then survive a crash of the host, too. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_flush(hpcw_clog2_timeline *timeline, hpcw_error *err);

/* ------------------------------------------------------------------------------------------------------------
 *  The end
 * --------------------------------------------------------------------------------------------------------- */

/** What was recorded and what was not. Counts are totals over all processes. */
typedef struct hpcw_clog2_log_report {
    uint64_t records;     /**< records in the file */
    uint64_t lost;        /**< records lost because memory or disk was full */
    uint64_t undefined;   /**< left out: events, communicators or messages that were not defined */
    uint64_t end_alone;   /**< left out: ends of states that did not begin */
    uint64_t start_alone; /**< states that did not end; kept */
    uint64_t bad_cargo;   /**< pieces of cargo left out */
    uint64_t spilled;     /**< bytes beyond `memory`, which were in local files only */
    uint64_t stalls;      /**< waits for the disk of more than 2 ms */
    /** threads that recorded in memory, as their local file got no space or could not be created. Had the process
     * died, their records would have been lost */
    uint64_t unsaved;
    hpcw_error disk; /**< failure of the first process whose local file had one; code HPCW_OK: none */
    /* The rest describes this process. */
    int64_t begin_offset_ns;      /**< its clock + this = clock of process 0, at the begin */
    int64_t end_offset_ns;        /**< the same at the end */
    uint64_t begin_round_trip_ns; /**< round trip of the quickest ping-pong at the begin */
    uint64_t end_round_trip_ns;   /**< the same at the end */
    double drift;                 /**< seconds per second that its clock is slower than that of process 0 */
    /** it reads the same clock as process 0: offsets, round trips and drift are exactly 0 */
    bool same_clock;
    hpcw_clog2_clock clock; /**< the clock that was used */
    double tick_ns;         /**< length of a tick of this clock */
} hpcw_clog2_log_report;

/**
 * Gives the log another path. Collective, before hpcw_clog2_log_finish. The names of local files stay. A relative
 * path begins in the working directory of process 0, and a symbolic link that has the name is followed now.
 *
 * @return HPCW_OK; HPCW_EINVAL; HPCW_EMISMATCH: the paths differ; HPCW_ESTATE: the recording has ended;
 * HPCW_ENOMEM; HPCW_ECOMM; and errors of the system for the directory. After a failure the log has its old path
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_rename(hpcw_clog2_log *log, const char *path,
                                                           hpcw_error *err);

/**
 * Ends the recording: compares the clocks again, corrects all times for offset and drift, merges and writes the
 * log. Collective. No thread may record any more. Local files are removed on success and kept after a failure. The
 * message then says how to make a log of them, and how many threads recorded in memory.
 *
 * @param report  out, may be NULL; valid also if records were lost
 * @return HPCW_OK; HPCW_EMISMATCH: the processes' definitions differ; HPCW_ESTATE; HPCW_ECOMM; HPCW_ENOMEM;
 * errors of the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_finish(hpcw_clog2_log *log, hpcw_clog2_log_report *report,
                                                           hpcw_error *err);

/**
 * Frees a recording and its timelines in any state. NULL is allowed. The local file of a recording without a log
 * is kept if it holds an event.
 */
HPCW_API void hpcw_clog2_log_free(hpcw_clog2_log *log);

/* ------------------------------------------------------------------------------------------------------------
 *  After a crash
 * --------------------------------------------------------------------------------------------------------- */

/** What hpcw_clog2_recover found. */
typedef struct hpcw_clog2_recovered {
    uint64_t records;   /**< records in the log */
    uint64_t left_out;  /**< records left out, as `undefined` and `end_alone` of hpcw_clog2_log_report */
    uint32_t files;     /**< local files that were used */
    uint32_t truncated; /**< files of these that are cut short or damaged, or had no space for all records */
    uint32_t missing;   /**< ranks of the run without a file */
} hpcw_clog2_recovered;

/**
 * Looks in the directory of local files for files of an earlier run whose log had the same name, and whose
 * processes died or could not write it. Not collective. It sees only this host's directory, and only files that
 * this host made since it booted: it cannot know whether processes of other hosts live. Where files cannot be
 * locked, it finds none.
 *
 * @param pattern  out [size]: shell pattern for all files of that run. If there are several runs, those of one
 * @return whether there are such files
 */
HPCW_API bool hpcw_clog2_log_left(const hpcw_clog2_log *log, char *pattern, size_t size);

/**
 * Makes a log from the local files of a run that died, written by this library or by MPE2 (clog2_*_taskID=*). Not
 * collective. Clocks are corrected by their comparison at the begin, as there was none at the end.
 *
 * @param path   of the log
 * @param local  [count] paths of local files, all of one run
 * @param partial  also make a log if ranks have no file (they are empty in it), or if a file of this library is
 *                 cut short, damaged, or had no space for all records
 * @param found  out, may be NULL
 * @return HPCW_OK; HPCW_EINVAL; HPCW_EFORMAT: not a local file, files of different runs, the same rank twice;
 * HPCW_EMISMATCH: without `partial`, a rank has no file or not all its records; the message names it, and there is
 * no log; HPCW_ENOMEM; errors of the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_recover(const char *path, const char *const *local,
                                                        size_t count, bool partial, hpcw_clog2_recovered *found,
                                                        hpcw_error *err);

#ifdef __cplusplus
}
#endif

#endif
