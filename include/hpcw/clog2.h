/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * CLOG-2 event logs ("CLOG-02.44", as MPE2 2.4.9b writes them): one file with the time-stamped events of all
 * ranks, in order of time. clog2TOslog2 turns it into SLOG-2, which Jumpshot shows.
 *
 * There are three ways to write a log, from simple to fast:
 *
 * - hpcw_clog2_write, below: one call for records that are in memory.
 * - <hpcw/clog2_log.h>: a running program records what it does; the library merges the records of all processes.
 * - Slices, at the end of this header: many threads and processes write known records to one log at once.
 *
 * A whole program:
 *
 *     hpcw_clog2_record record[] = {
 *         {.kind = HPCW_CLOG2_STATE_DEF, .as.state = {300, 600, 601, "blue", "Compute", NULL}},
 *         {.time = 0.5, .kind = HPCW_CLOG2_BARE, .as.event = 600},   // rank 0 begins to compute
 *         {.time = 1.5, .kind = HPCW_CLOG2_BARE, .as.event = 601},   // and ends
 *     };
 *     hpcw_clog2_options options;
 *     hpcw_clog2_options_init(&options);
 *     options.ranks = 1;
 *     options.states = 1;
 *     status = hpcw_clog2_write("app.clog2", &options, record, 3, &error);
 *
 * Records are sorted by time, then by rank in the world, then by thread. Records that are equal in all three are
 * in the order in which they happened.
 *
 * Readers: <hpcw/clog2_read.h>, clog2_print, clog2TOslog2, Jumpshot of MPE2 2.4.9b. The format to the byte:
 * doc/formats/clog2.md.
 */
#ifndef HPCW_CLOG2_H
#define HPCW_CLOG2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/comm.h>
#include <hpcw/sink.h>
#include <hpcw/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------------
 *  Simple: a log in one call
 * --------------------------------------------------------------------------------------------------------- */

typedef struct hpcw_clog2_options hpcw_clog2_options; /**< see "Options" */
typedef struct hpcw_clog2_record hpcw_clog2_record;   /**< see "Records" */

/**
 * Writes a whole log. Not collective: one process does it.
 *
 * @param path     path of the log, which appears once it is complete
 * @param options  set `ranks`, and `states` and `solos` if `record` has definitions of the user. If `comm_of` is
 *                 NULL, the communicators are the world and one for each rank, and the records that introduce
 *                 them (HPCW_CLOG2_COMM_EVENT at time 0) are written before `record`
 * @param record   [count] in the order of the file: definitions, then events
 * @return HPCW_OK; the failures of hpcw_clog2_open and hpcw_clog2_slice_put; HPCW_ENOMEM; errors of the
 * system. A failure leaves an older file of that name as it was
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_write(const char *path, const hpcw_clog2_options *options,
                                                      const hpcw_clog2_record *record, size_t count,
                                                      hpcw_error *err);

/* ------------------------------------------------------------------------------------------------------------
 *  Limits and numbers (doc/formats/clog2.md, "Limits" and "Events and states")
 * --------------------------------------------------------------------------------------------------------- */

/** number of records of a segment: each slice begins at a record whose number is a multiple of it */
#define HPCW_CLOG2_SEGMENT 65536u
#define HPCW_CLOG2_LAST 100000000.0 /**< 1e8 s: time of the last record; all others are earlier */
#define HPCW_CLOG2_COLOUR 23u       /**< longest name of a colour, bytes without NUL */
#define HPCW_CLOG2_NAME 31u         /**< longest name of a state or event, bytes without NUL */
#define HPCW_CLOG2_FORMAT 39u       /**< longest format of cargo, bytes without NUL */
#define HPCW_CLOG2_CARGO 32u        /**< size of the cargo (the user data) of an event, bytes */
#define HPCW_CLOG2_HOST 20u         /**< size of the host name in a communicator's id, bytes */
/** largest number of user states; event numbers from 5000 on belong to solo events */
#define HPCW_CLOG2_STATES 2200u
#define HPCW_CLOG2_SOLOS 1000000u       /**< largest number of user solo events, a limit of this library */
#define HPCW_CLOG2_MIN_BLOCK 256u       /**< smallest block size, bytes; block sizes are multiples of 8 */
#define HPCW_CLOG2_MAX_BLOCK (1u << 30) /**< largest block size, bytes */

/**
 * State s has two events: its start, 2s, and its end, 2s + 1. MPE defines states 0 to 299; the user's states begin
 * at 300. A solo event has no duration. The user's solo events begin at 5000.
 */
#define HPCW_CLOG2_USER_STATE 300
#define HPCW_CLOG2_USER_EVENT 600 /**< first event of the user's states */
#define HPCW_CLOG2_USER_SOLO 5000 /**< first solo event of the user */
/** lowest solo event of MPE: MPE_Comm_init is -10, MPE_Comm_finalize is -9 */
#define HPCW_CLOG2_KNOWN_SOLO (-10)
#define HPCW_CLOG2_SPILL_STATE 280 /**< state CLOG_Buffer_write2disk: the log waits for the disk */

/** Events of messages. */
enum { HPCW_CLOG2_SEND = -101, HPCW_CLOG2_RECEIVE = -102 };

/** Events of communicators. */
enum {
    HPCW_CLOG2_WORLD_CREATE = 0,
    HPCW_CLOG2_SELF_CREATE = 1,
    HPCW_CLOG2_COMM_FREE = 10,
    HPCW_CLOG2_INTRA_CREATE = 100,
    HPCW_CLOG2_LOCAL_CREATE = 101,
    HPCW_CLOG2_REMOTE_CREATE = 102,
    HPCW_CLOG2_INTER_CREATE = 1000
};

/* ------------------------------------------------------------------------------------------------------------
 *  Records (doc/formats/clog2.md, "Records")
 * --------------------------------------------------------------------------------------------------------- */

/**
 * Kinds of record, with their numbers in the file. MPE's kinds 8 and 10 are left out: no tool shows such records,
 * and MPE's C and Java programs disagree about their layout.
 */
typedef enum hpcw_clog2_kind {
    HPCW_CLOG2_STATE_DEF = 2,
    HPCW_CLOG2_EVENT_DEF = 3,
    HPCW_CLOG2_CONST_DEF = 4,
    HPCW_CLOG2_BARE = 5,
    HPCW_CLOG2_WITH_CARGO = 6,
    HPCW_CLOG2_MESSAGE = 7,
    HPCW_CLOG2_COMM_EVENT = 9,
    HPCW_CLOG2_TIME_SHIFT = 11
} hpcw_clog2_kind;

/** Identity of a communicator. Two communicators with equal identities are the same one. All zero: no
 * communicator. */
typedef struct hpcw_clog2_comm_id {
    int32_t random; /**< random number that rank 0 of the communicator drew */
    double created; /**< time of creation on the clock of rank 0 of the communicator, s */
    /** host name of rank 0 of the communicator; padded with zeros, without NUL if the name fills the field */
    char host[HPCW_CLOG2_HOST];
} hpcw_clog2_comm_id;

/** One record. Its pointers are borrowed for the call. */
struct hpcw_clog2_record {
    double time;          /**< s since the log's start, 0 <= time < HPCW_CLOG2_LAST; never decreases */
    int32_t comm;         /**< index in the table of communicators; 0 is the world */
    int32_t rank;         /**< rank in the communicator `comm` */
    int32_t thread;       /**< 0 .. threads - 1; 0 is the main thread */
    hpcw_clog2_kind kind; /**< says which member of `as` is valid */
    union {
        int32_t event; /**< for HPCW_CLOG2_BARE: number of a state's start or end, or of a solo event */
        struct {
            int32_t event;
            uint32_t size;                         /**< bytes in use; the rest of `bytes` is written as zeros */
            unsigned char bytes[HPCW_CLOG2_CARGO]; /**< packed by hpcw_clog2_cargo */
        } cargo;                                   /**< for HPCW_CLOG2_WITH_CARGO */
        struct {
            int32_t event; /**< HPCW_CLOG2_SEND or HPCW_CLOG2_RECEIVE */
            /** index of the communicator in which `peer_rank` counts. For a message through an inter-communicator,
             * this is the remote half */
            int32_t peer_comm;
            int32_t peer_rank; /**< actual rank of the peer, never a wildcard */
            int32_t tag;       /**< actual tag, >= 0 */
            int32_t size;      /**< bytes, >= 0 */
        } message;             /**< for HPCW_CLOG2_MESSAGE */
        struct {
            int32_t state;      /**< number of the state, whose events are start and end */
            int32_t start, end; /**< 2 * state, 2 * state + 1 */
            const char *colour; /**< name of an X11 colour, 1 .. 23 bytes of printable ASCII */
            const char *name;   /**< 1 .. 31 bytes */
            const char *format; /**< format of the cargo, see hpcw_clog2_format_check; NULL or "": no cargo */
        } state;                /**< for HPCW_CLOG2_STATE_DEF */
        struct {
            int32_t event;
            const char *colour, *name, *format; /**< as the members of `state` with these names */
        } solo;                                 /**< for HPCW_CLOG2_EVENT_DEF */
        struct {
            int32_t value;
            const char *name; /**< 1 .. 31 bytes */
        } constant;           /**< for HPCW_CLOG2_CONST_DEF */
        struct {
            int32_t event; /**< HPCW_CLOG2_WORLD_CREATE ... */
            int32_t comm;  /**< index of the new communicator; -999999999 if a communicator is freed */
            /** rank in the new communicator; -1 for the remote half of an inter-communicator, or if a communicator
             * is freed */
            int32_t rank;
            int32_t world_rank; /**< rank in the world; -1 if a communicator is freed */
            /** identity of the new communicator. NULL stands for all zero, which is written if a communicator is
             * freed */
            const hpcw_clog2_comm_id *id;
        } comm;       /**< for HPCW_CLOG2_COMM_EVENT, which a rank needs before its records in a communicator */
        double shift; /**< for HPCW_CLOG2_TIME_SHIFT: original local time = time + shift */
    } as;             /**< content of the record */
};

/** An entry of the table of communicators (doc/formats/clog2.md, "Communicators"). */
typedef struct hpcw_clog2_comm_entry {
    hpcw_clog2_comm_id id; /**< identity of the communicator */
    int32_t index;         /**< index of this entry, or of the first entry with the same id */
    int32_t kind;          /**< 1: intra, 0: inter, 2: local half, 3: remote half, -1: not known */
} hpcw_clog2_comm_entry;

/** Fills in entry `index` of the table. A pure function: it gives the same result at any time and on any
 * process. */
typedef void hpcw_clog2_comm_of(void *context, uint32_t index, hpcw_clog2_comm_entry *entry);

/* ------------------------------------------------------------------------------------------------------------
 *  Cargo (doc/formats/clog2.md, "Cargo")
 * --------------------------------------------------------------------------------------------------------- */

/**
 * Cargo: up to 32 bytes of user data in an event. It consists of values, packed in the order of the event's format.
 * A zeroed struct is empty. hpcw_clog2_cargo_i32 and similar calls add one value each. If a value does not fit, the
 * struct remembers the failure, and the cargo is refused when the event is recorded or written.
 */
typedef struct hpcw_clog2_cargo {
    /** private: types of the values, four bits each; the last value has the lowest bits */
    uint64_t pieces;
    uint32_t size;                         /**< bytes in use; above HPCW_CLOG2_CARGO: a value did not fit */
    unsigned char bytes[HPCW_CLOG2_CARGO]; /**< the values, encoded as in the file */
} hpcw_clog2_cargo;

HPCW_API void hpcw_clog2_cargo_i16(hpcw_clog2_cargo *cargo, int16_t value);  /**< %h */
HPCW_API void hpcw_clog2_cargo_i32(hpcw_clog2_cargo *cargo, int32_t value);  /**< %d */
HPCW_API void hpcw_clog2_cargo_i64(hpcw_clog2_cargo *cargo, int64_t value);  /**< %l */
HPCW_API void hpcw_clog2_cargo_x32(hpcw_clog2_cargo *cargo, uint32_t value); /**< %x */
HPCW_API void hpcw_clog2_cargo_x64(hpcw_clog2_cargo *cargo, uint64_t value); /**< %X */
HPCW_API void hpcw_clog2_cargo_f32(hpcw_clog2_cargo *cargo, float value);    /**< %e */
HPCW_API void hpcw_clog2_cargo_f64(hpcw_clog2_cargo *cargo, double value);   /**< %E */
/** Adds a text for %s, which takes `size` + 2 bytes. The text need not end in NUL. */
HPCW_API void hpcw_clog2_cargo_text(hpcw_clog2_cargo *cargo, const char *text, size_t size);

/** Replaces the cargo by bytes that the caller has encoded as in the file. The library only checks that there are
 * enough bytes for the values of the format. An event without a format keeps the bytes, too. */
HPCW_API void hpcw_clog2_cargo_packed(hpcw_clog2_cargo *cargo, const void *bytes, size_t size);

/**
 * Checks that a cargo has the values of a format, in the same order.
 *
 * @return HPCW_OK; HPCW_ERANGE if the cargo is longer than HPCW_CLOG2_CARGO; HPCW_EINVAL if the types of the values
 * differ (the message lists both), or for a format that hpcw_clog2_format_check refuses
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_cargo_check(const hpcw_clog2_cargo *cargo, const char *format,
                                                            hpcw_error *err);

/**
 * Checks a format of cargo: a text that may contain %s %h %d %l %x %X %e %E. No other conversion of printf is
 * allowed, and no plain per cent sign. A per cent sign at the end crashes MPE's converter; another letter makes
 * Jumpshot fail.
 *
 * @return HPCW_OK; HPCW_ERANGE if the format is longer than HPCW_CLOG2_FORMAT or its values do not fit into a
 * cargo; HPCW_EINVAL for anything else
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_format_check(const char *format, hpcw_error *err);

/**
 * Checks a colour: one of the names that X11 knows, such as "red", "SteelBlue" or "DarkOliveGreen2". Upper and
 * lower case differ. MPE's converter warns of any other name and uses white.
 *
 * @return HPCW_OK, HPCW_EINVAL or HPCW_ERANGE
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_colour_check(const char *colour, hpcw_error *err);

/* ------------------------------------------------------------------------------------------------------------
 *  Options
 * --------------------------------------------------------------------------------------------------------- */

/** Options of a log. All members must be the same on all processes. Initialise them with
 * hpcw_clog2_options_init. */
struct hpcw_clog2_options {
    size_t size;      /**< size of this struct; hpcw_clog2_options_init sets it (hpcw.h) */
    uint32_t ranks;   /**< number of ranks of the world, >= 1 */
    uint32_t threads; /**< the largest number of threads of a rank, >= 1; default 1 */
    /** number of user states, numbered from HPCW_CLOG2_USER_STATE; at most HPCW_CLOG2_STATES */
    uint32_t states;
    uint32_t solos;               /**< number of user solo events, numbered from HPCW_CLOG2_USER_SOLO */
    uint32_t known_solos;         /**< number of MPE's solo events: 2 if the log uses -10 and -9, otherwise 0 */
    uint32_t block_size;          /**< default 65536 */
    uint32_t comms;               /**< length of the table of communicators, >= 1 */
    hpcw_clog2_comm_of *comm_of;  /**< fills in the entries of the table; process 0 calls it at the close */
    void *comm_context;           /**< first argument of `comm_of` */
    hpcw_durability durability;   /**< default HPCW_SYNC_FILE */
    hpcw_sink_source sink_source; /**< where the bytes go; all zero: to files */
};

/** Private: fills in the defaults of a struct of this size. */
HPCW_API void hpcw_clog2_options_fill(hpcw_clog2_options *options, size_t size);

/** Fills in the defaults. */
static inline void hpcw_clog2_options_init(hpcw_clog2_options *options) {
    hpcw_clog2_options_fill(options, sizeof *options);
}

/**
 * Checks options without opening anything.
 *
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ERANGE: too many states, or more (communicators x ranks x threads) than a
 * Java reader can number in 31 bits
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_options_check(const hpcw_clog2_options *options,
                                                              hpcw_error *err);

/* ------------------------------------------------------------------------------------------------------------
 *  Advanced: a log that is open for writing
 * --------------------------------------------------------------------------------------------------------- */

/** An opaque log open for writing. */
typedef struct hpcw_clog2 hpcw_clog2;

/**
 * Creates a log. Collective. `options` is copied. Process 0 creates the file, under a temporary name beside `path`;
 * the other processes must see the file there.
 *
 * @return HPCW_OK; the failures of hpcw_clog2_options_check; HPCW_EMISMATCH (also if `path` leads processes to
 * different directories), HPCW_ECOMM; HPCW_EEXIST if `path` is a local file of a recording (clog2_log.h), whose
 * records may be nowhere else; HPCW_ENOMEM; errors of the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_open(const char *path, hpcw_comm *comm,
                                                     const hpcw_clog2_options *options, hpcw_clog2 **out,
                                                     hpcw_error *err);

/**
 * Finishes the log: writes its preamble and table, and gives the file its name. Collective. All slices must
 * have ended.
 *
 * @param blocks  number of blocks that *this process* wrote. The slices of all processes together must cover blocks
 *                0 .. sum - 1 of the file, where sum is the total over all processes
 * @return HPCW_OK; HPCW_EINVAL: there is no block; HPCW_ESTATE: the log is closed, or an earlier call failed;
 * errors of the system, also those of a slice that could not be written. A failure leaves an older file of that
 * name as it was
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_close(hpcw_clog2 *log, uint64_t blocks, hpcw_error *err);

/**
 * Reports that this process cannot complete its slices: the close then fails on all processes with this reason;
 * with HPCW_ESTATE if `reason` is NULL or its code HPCW_OK. Not collective.
 */
HPCW_API void hpcw_clog2_abandon(hpcw_clog2 *log, const hpcw_error *reason);

/** Frees a log in any state. Free its slices before. NULL is allowed. A log that was not closed is discarded. In
 * a child of fork(), no file is touched. */
HPCW_API void hpcw_clog2_free(hpcw_clog2 *log);

/** Returns the size of a log with `blocks` blocks and `comms` communicators, bytes. */
HPCW_API uint64_t hpcw_clog2_file_size(uint64_t blocks, uint32_t block_size, uint32_t comms);

/* ------------------------------------------------------------------------------------------------------------
 *  Advanced: slices
 *
 *  One process or thread that writes all records needs one slice:
 *
 *      hpcw_clog2_open("app.clog2", NULL, &options, &log, &error);
 *      hpcw_clog2_slice_new(log, 0, &slice, &error);
 *      hpcw_clog2_slice_place(slice, 0, &error);
 *      hpcw_clog2_slice_put(slice, records, count, &error);             // any number of times
 *      hpcw_clog2_slice_end(slice, HPCW_CLOG2_LAST, &error);
 *      hpcw_clog2_close(log, hpcw_clog2_slice_blocks(slice), &error);
 *
 *  Many threads and processes can write at once, each its own slices. A slice begins at a record whose number in
 *  the whole file is a multiple of HPCW_CLOG2_SEGMENT. Each such record begins a new block, whoever writes it, so
 *  the blocks of a slice depend on its own records alone, except the time in its last block end, the `next_time` of
 *  hpcw_clog2_slice_end. To place their slices, writers only need to tell each other how many blocks they have.
 * --------------------------------------------------------------------------------------------------------- */

/**
 * An opaque slice: a run of blocks that one thread fills. Different slices may be filled on different threads at
 * the same time. A slice stays in memory until hpcw_clog2_slice_place sets its position. From then on each full
 * block goes to the file.
 */
typedef struct hpcw_clog2_slice hpcw_clog2_slice;

/**
 * Begins a slice.
 *
 * @param log           the log to which the slice belongs
 * @param first_record  number of the slice's first record in the whole file, a multiple of HPCW_CLOG2_SEGMENT
 * @param out           to be freed with hpcw_clog2_slice_free; NULL on failure
 * @return HPCW_OK, HPCW_EINVAL or HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_slice_new(hpcw_clog2 *log, uint64_t first_record,
                                                          hpcw_clog2_slice **out, hpcw_error *err);

/** Begins another slice in the memory of a slice that has ended. Results as hpcw_clog2_slice_new. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_slice_again(hpcw_clog2_slice *slice, uint64_t first_record,
                                                            hpcw_error *err);

/**
 * Adds records.
 *
 * @param record  [count] in the order of the file
 * @return HPCW_OK; HPCW_EINVAL: a value out of its range, or a missing text; HPCW_ERANGE: a text or cargo is too
 * long; HPCW_ESTATE: the slice has ended or failed; HPCW_ENOMEM; errors of the sink. The records before the refused
 * record are in the slice. After HPCW_EINVAL or HPCW_ERANGE the slice accepts further records
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_slice_put(hpcw_clog2_slice *slice,
                                                          const hpcw_clog2_record *record, size_t count,
                                                          hpcw_error *err);

/**
 * Sets the position of the slice in the file. Call it once, at any time.
 *
 * @param first_block  number of blocks in the file before this slice
 * @return HPCW_OK, HPCW_ESTATE, errors of the sink
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_slice_place(hpcw_clog2_slice *slice, uint64_t first_block,
                                                            hpcw_error *err);

/**
 * Ends a slice.
 *
 * @param next_time  time of the first record after the slice; HPCW_CLOG2_LAST after the last slice of the file
 * @return HPCW_OK; HPCW_EINVAL: `next_time` is earlier than the last record, or the slice is not the last one and
 * its number of records is no multiple of HPCW_CLOG2_SEGMENT; HPCW_ESTATE; errors of the sink
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_slice_end(hpcw_clog2_slice *slice, double next_time,
                                                          hpcw_error *err);

/** Returns the number of blocks of the slice so far; final once the slice has ended. */
HPCW_API uint64_t hpcw_clog2_slice_blocks(const hpcw_clog2_slice *slice);

/** Returns the number of records of the slice so far. */
HPCW_API uint64_t hpcw_clog2_slice_records(const hpcw_clog2_slice *slice);

/** Frees a slice in any state; NULL is allowed. Blocks that were not written are lost. If the slice has not ended,
 * the close of the log fails. */
HPCW_API void hpcw_clog2_slice_free(hpcw_clog2_slice *slice);

#ifdef __cplusplus
}
#endif

#endif
