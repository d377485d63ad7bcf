/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Recording a CLOG-2 event log: what a running program does, in nanoseconds, merged at the end into one file.
 *
 *     hpcw_clog2_log_options opt;
 *     hpcw_clog2_log_options_init(&opt);
 *     hpcw_clog2_log_open("app.clog2", comm, &opt, &log, &err);            // collective
 *     hpcw_clog2_log_state(log, "Compute", "blue", NULL, &compute, &err);  // everywhere in the same order
 *     hpcw_clog2_log_thread(log, &timeline, &err);                             // once on each thread
 *     hpcw_clog2_log_begin(timeline, 0, compute);
 *     ...
 *     hpcw_clog2_log_end(timeline, 0, compute);
 *     hpcw_clog2_log_finish(log, &report, &err);                           // collective
 *     hpcw_clog2_log_free(log);
 *
 * Recording takes a clock read and two stores into memory of the thread's own: no lock, no call into the kernel, no
 * allocation, and nothing that could fail or say so. What goes wrong (no memory, a full disk, an event that was not
 * defined) is counted, and reported by hpcw_clog2_log_finish.
 *
 * A thread's records are kept in chunks that never move. When half of the memory that the options allow is full, a
 * helper thread writes chunks to a local file, of which hpcw_clog2_recover makes a log if the program dies. A thread
 * that records faster than the disk takes it waits; the log shows that as the state CLOG_Buffer_write2disk.
 */
#ifndef HPCW_CLOG2_LOG_H
#define HPCW_CLOG2_LOG_H

#include <stdbool.h>
#include <stdint.h>

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

/** What tells the time. */
typedef enum hpcw_clog2_clock {
    HPCW_CLOG2_CLOCK_BEST = 0,    /**< the counter if it is invariant, else the system's clock */
    HPCW_CLOG2_CLOCK_COUNTER = 1, /**< the CPU's counter, calibrated against the system's clock */
    HPCW_CLOG2_CLOCK_SYSTEM = 2,  /**< CLOCK_MONOTONIC */
    HPCW_CLOG2_CLOCK_CALLER = 3   /**< `now` of the options, for instance MPI_Wtime */
} hpcw_clog2_clock;

/** How the clocks of processes are compared with that of process 0. The counter and the system's clock are the same for
 * all processes of a host, and taken as such: then the first process of each host compares for all of them. */
typedef enum hpcw_clog2_sync {
    HPCW_CLOG2_SYNC_BEST = 0,       /**< sequential up to 16 processes, then the tree (as MPE) */
    HPCW_CLOG2_SYNC_NONE = 1,       /**< not at all: the clocks are one */
    HPCW_CLOG2_SYNC_SEQUENTIAL = 2, /**< process 0 with every other one */
    HPCW_CLOG2_SYNC_TREE = 3,       /**< pairwise in a binomial tree; offsets add up along it */
    HPCW_CLOG2_SYNC_NEIGHBOURS = 4  /**< every process with the one below; offsets add up by a prefix sum */
} hpcw_clog2_sync;

/** Options of a recording; all but `directory` must agree on all processes. */
typedef struct hpcw_clog2_log_options {
    hpcw_clog2_clock clock;
    double (*now)(void); /**< for HPCW_CLOG2_CLOCK_CALLER: seconds since anything, never backwards */
    hpcw_clog2_sync sync;
    uint32_t sync_rounds; /**< messages to and fro of which the quickest counts; default 16 */
    uint64_t memory; /**< bytes of records that a process keeps in memory; default 64 MiB, at least 8 MiB; 4 MiB
                                for each thread in any case */
    const char
        *directory;      /**< of local files; NULL: none, and more records than `memory` are lost and counted */
    uint32_t block_size; /**< of the file, default 65536 */
    hpcw_durability durability;   /**< of the file, default HPCW_SYNC_FILE */
    hpcw_sink_source sink_source; /**< of the file */
} hpcw_clog2_log_options;

/** Fills in the defaults; the directory is that of $TMPDIR, or /tmp. */
HPCW_API void hpcw_clog2_log_options_init(hpcw_clog2_log_options *options);

/* ------------------------------------------------------------------------------------------------------------
 *  Opening, definitions
 * --------------------------------------------------------------------------------------------------------- */

/** An opaque recording. */
typedef struct hpcw_clog2_log hpcw_clog2_log;

/** The record of one thread; see below. */
typedef struct hpcw_clog2_timeline hpcw_clog2_timeline;

/**
 * Begins a recording; the clocks are compared. Collective. Process p of `comm` is rank p of the log.
 *
 * @param path     of the log; nothing is there before hpcw_clog2_log_finish
 * @param options  copied; NULL: the defaults
 * @return HPCW_OK; HPCW_EINVAL, HPCW_EMISMATCH; HPCW_ENOTSUP: no such counter here; HPCW_ERANGE: too many processes
 * for the readers; HPCW_ENOMEM, HPCW_ECOMM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_open(const char *path, hpcw_comm *comm,
                                                         const hpcw_clog2_log_options *options,
                                                         hpcw_clog2_log **out, hpcw_error *err);

/**
 * Defines a state. Not collective, any thread, but all processes must define the same things in the same order. A
 * process that defines fewer is all right.
 *
 * @param name, colour, format  see hpcw_clog2_record
 * @param state  out: its number, from HPCW_CLOG2_USER_STATE on
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ERANGE: more than HPCW_CLOG2_STATES, or a text that is too long; HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_state(hpcw_clog2_log *log, const char *name,
                                                          const char *colour, const char *format,
                                                          int32_t *state, hpcw_error *err);

/** Defines one of MPE's known states (0 .. 299). Otherwise as hpcw_clog2_log_state; twice the same is one. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_known_state(hpcw_clog2_log *log, int32_t state,
                                                                const char *name, const char *colour,
                                                                const char *format, hpcw_error *err);

/** Defines an event without duration. As hpcw_clog2_log_state; numbers count from HPCW_CLOG2_USER_SOLO. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_solo(hpcw_clog2_log *log, const char *name,
                                                         const char *colour, const char *format, int32_t *event,
                                                         hpcw_error *err);

/** What kind of communicator. */
typedef enum hpcw_clog2_comm_kind {
    HPCW_CLOG2_INTER = 0,
    HPCW_CLOG2_INTRA = 1,
    HPCW_CLOG2_LOCAL_HALF = 2, /**< an inter-communicator is three: itself, and its halves right after it */
    HPCW_CLOG2_REMOTE_HALF = 3
} hpcw_clog2_comm_kind;

/** A new identity for a communicator, to be sent to its other members. Any thread. */
HPCW_API void hpcw_clog2_log_comm_id(hpcw_clog2_log *log, hpcw_clog2_comm_id *id);

/**
 * Makes a communicator known, on each of its processes, with the same identity. Not collective. Communicator 0 is the
 * one that the log was opened with, 1 is this process alone.
 *
 * @param timeline    where this is recorded
 * @param parent  number of the communicator that it was made from
 * @param rank    of this process in it; not used for a remote half
 * @param comm    out: its number on this process
 * @return HPCW_OK, HPCW_EINVAL, HPCW_ERANGE or HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_comm(hpcw_clog2_timeline *timeline, uint32_t parent,
                                                         hpcw_clog2_comm_kind kind,
                                                         const hpcw_clog2_comm_id *id, uint32_t rank,
                                                         uint32_t *comm, hpcw_error *err);

/** The same for a communicator of this library, whose process 0 makes the identity. Collective over `members`. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_comm_of(hpcw_clog2_timeline *timeline, uint32_t parent,
                                                            hpcw_comm *members, uint32_t *comm,
                                                            hpcw_error *err);

/**
 * The calling thread begins to record. Timelines are numbered as they come: the first one is thread 0. Timelines belong to
 * their log, and to one thread at a time.
 *
 * @return HPCW_OK, HPCW_EINVAL, HPCW_ERANGE (more than 32767 threads), HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_thread(hpcw_clog2_log *log, hpcw_clog2_timeline **out,
                                                           hpcw_error *err);

/* ------------------------------------------------------------------------------------------------------------
 *  Recording
 * --------------------------------------------------------------------------------------------------------- */

/** Private: what the calls below need. A record is two words or more: the clock, then kind, communicator and event. */
struct hpcw_clog2_timeline {
    uint64_t *next; /* of the next record; between `next` and `end` there is room for the largest one */
    uint64_t *end;
    double (*now)(void); /* NULL: the counter */
};

/** Private: words of a record of each kind. */
enum { HPCW_CLOG2_WORDS_BARE = 2, HPCW_CLOG2_WORDS_MESSAGE = 4, HPCW_CLOG2_WORDS_CARGO = 7 };

/** Private: the slow part of a record, when a chunk is full. */
HPCW_API void hpcw_clog2_timeline_next(hpcw_clog2_timeline *timeline);

/** Private: the clock of a timeline that does not use the counter. */
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

/** Records an event: start (2s) or end (2s + 1) of a state s, or a solo event. `comm`: where it happens. */
static inline void hpcw_clog2_log_event(hpcw_clog2_timeline *timeline, uint32_t comm, int32_t event) {
    uint64_t *p = timeline->next;
    p[0] = hpcw_clog2_timeline_clock(timeline);
    p[1] = hpcw_clog2_timeline_word(HPCW_CLOG2_BARE, comm, event);
    timeline->next = p + HPCW_CLOG2_WORDS_BARE;
    if (__builtin_expect(timeline->next >= timeline->end, 0)) {
        hpcw_clog2_timeline_next(timeline);
    }
}

/** A state begins. States of a thread nest; one that is inside itself is shown as two that overlap. */
static inline void hpcw_clog2_log_begin(hpcw_clog2_timeline *timeline, uint32_t comm, int32_t state) {
    hpcw_clog2_log_event(timeline, comm, 2 * state);
}

/** A state ends. */
static inline void hpcw_clog2_log_end(hpcw_clog2_timeline *timeline, uint32_t comm, int32_t state) {
    hpcw_clog2_log_event(timeline, comm, 2 * state + 1);
}

/** Records an event with cargo; of a state, the cargo of its end is shown. Cargo that does not have the pieces of the
 * event's format is counted and left out: the event is then bare. */
HPCW_API void hpcw_clog2_log_cargo(hpcw_clog2_timeline *timeline, uint32_t comm, int32_t event,
                                   const hpcw_clog2_cargo *cargo);

/** Private: both kinds of message. */
static inline void hpcw_clog2_timeline_message(hpcw_clog2_timeline *timeline, uint32_t comm, int32_t event,
                                               uint32_t peer_comm, int32_t peer, int32_t tag, uint64_t size) {
    uint64_t *p = timeline->next;
    p[0] = hpcw_clog2_timeline_clock(timeline);
    p[1] = hpcw_clog2_timeline_word(HPCW_CLOG2_MESSAGE, comm, event);
    p[2] = (uint64_t)(uint32_t)peer << 32 | (uint32_t)tag;
    p[3] = (uint64_t)peer_comm << 32 | (size > INT32_MAX ? (uint64_t)INT32_MAX : size);
    timeline->next = p + HPCW_CLOG2_WORDS_MESSAGE;
    if (__builtin_expect(timeline->next >= timeline->end, 0)) {
        hpcw_clog2_timeline_next(timeline);
    }
}

/** Records that a message was sent to rank `peer` of `comm`. Sizes of 2 GiB and more are shown as 2^31 - 1. */
static inline void hpcw_clog2_log_send(hpcw_clog2_timeline *timeline, uint32_t comm, int32_t peer, int32_t tag,
                                       uint64_t size) {
    hpcw_clog2_timeline_message(timeline, comm, HPCW_CLOG2_SEND, comm, peer, tag, size);
}

/** Records that a message was received, with its actual source and tag. */
static inline void hpcw_clog2_log_receive(hpcw_clog2_timeline *timeline, uint32_t comm, int32_t peer,
                                          int32_t tag, uint64_t size) {
    hpcw_clog2_timeline_message(timeline, comm, HPCW_CLOG2_RECEIVE, comm, peer, tag, size);
}

/**
 * Writes what this timeline has recorded so far to the local file, and waits until it is on the disk: it survives whatever
 * happens to this process, and the machine.
 *
 * @return HPCW_OK; HPCW_ESTATE: no directory for local files; the system's errors
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_flush(hpcw_clog2_timeline *timeline, hpcw_error *err);

/* ------------------------------------------------------------------------------------------------------------
 *  The end
 * --------------------------------------------------------------------------------------------------------- */

/** What was recorded and what was not. Counts are those of all processes together. */
typedef struct hpcw_clog2_log_report {
    uint64_t records;     /**< in the file */
    uint64_t lost;        /**< for want of memory or disk */
    uint64_t undefined;   /**< left out: events, communicators or messages that are not defined */
    uint64_t end_alone;   /**< left out: ends of states that had not begun */
    uint64_t start_alone; /**< states that did not end; kept */
    uint64_t bad_cargo;   /**< cargo left out */
    uint64_t spilled;     /**< bytes written to local files */
    uint64_t stalls;      /**< waits for the disk */
    /* Of this process: offsets are what its clock lacks to that of process 0. */
    int64_t begin_offset_ns, end_offset_ns;
    uint64_t begin_round_trip_ns, end_round_trip_ns; /**< of the quickest message to and fro */
    double drift;    /**< seconds per second that its clock runs slower than that of process 0 */
    bool same_clock; /**< it reads the very clock of process 0: offsets, round trips and drift are exactly 0 */
    hpcw_clog2_clock clock; /**< the one that was used */
    double tick_ns;         /**< length of a tick of it */
} hpcw_clog2_log_report;

/**
 * Ends the recording: compares the clocks again, corrects all times for offset and drift, merges and writes the log.
 * Collective; no thread may record any more. Local files are removed if that succeeds.
 *
 * @param report  out, may be NULL; valid also if it says that records were lost
 * @return HPCW_OK; HPCW_EMISMATCH: the processes' definitions differ; HPCW_ESTATE; HPCW_ECOMM; HPCW_ENOMEM; the
 * system's errors. Local files then stay
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_log_finish(hpcw_clog2_log *log, hpcw_clog2_log_report *report,
                                                           hpcw_error *err);

/** Frees a recording and its timelines, in any state, NULL allowed. What was not finished is thrown away, but for local
 * files. */
HPCW_API void hpcw_clog2_log_free(hpcw_clog2_log *log);

/* ------------------------------------------------------------------------------------------------------------
 *  After a crash
 * --------------------------------------------------------------------------------------------------------- */

/** What hpcw_clog2_recover found. */
typedef struct hpcw_clog2_recovered {
    uint64_t records;   /**< in the log */
    uint64_t left_out;  /**< as `undefined` and `end_alone` of a report */
    uint32_t files;     /**< that were used */
    uint32_t truncated; /**< of these, how many end in the middle of what was being written */
} hpcw_clog2_recovered;

/**
 * Makes a log of the local files of a run that did not come to its end: those of this library, or those of MPE2
 * (clog2_*_taskID=*). Not collective. Clocks are corrected as far as they had been compared.
 *
 * @param path   of the log
 * @param local  [count] paths of local files, all of one run
 * @param found  out, may be NULL
 * @return HPCW_OK; HPCW_EINVAL; HPCW_EFORMAT: not a local file, files of different runs, the same rank twice;
 * HPCW_ENOMEM; the system's errors
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_recover(const char *path, const char *const *local,
                                                        size_t count, hpcw_clog2_recovered *found,
                                                        hpcw_error *err);

#ifdef __cplusplus
}
#endif

#endif
