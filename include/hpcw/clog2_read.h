/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Reads CLOG-2 event logs: logs of <hpcw/clog2.h> and <hpcw/clog2_log.h>, and merged logs of MPE2.
 *
 * There are four ways, from records to figures:
 *
 * - hpcw_clog2_reader_next gives the records one by one, in the order of the file, as hpcw_clog2_write takes them.
 * - hpcw_clog2_reader_watch matches starts with ends, and sends with receives. It calls a function for each state
 *   and message.
 * - hpcw_clog2_reader_select and the calls after it fill arrays with states, messages or solo events of a window.
 * - hpcw_clog2_reader_profile adds up the states of each rank and the messages of each pair of ranks.
 *
 *     hpcw_clog2_reader *r;
 *     hpcw_clog2_reader_open("app.clog2", &r, &err);
 *     hpcw_clog2_record record;
 *     for (bool more = true; more && status == HPCW_OK;) {
 *         status = hpcw_clog2_reader_next(r, &record, &more, &err);
 *         if (status == HPCW_OK && more && record.kind == HPCW_CLOG2_MESSAGE)
 *             ...record.as.message.size...
 *     }
 *     hpcw_clog2_reader_free(r);
 *
 * Nothing here is collective. One thread at a time may use a handle. Several handles may read the same log.
 *
 * hpcw_clog2_reader_open and hpcw_clog2_reader_next fail for faults after which records cannot be found: in the
 * preamble, the table of communicators, the chain of blocks, or a length. They accept wrong content, such as a
 * state that does not end. `hpcgen verify` and `hpcgen info` name such faults.
 *
 * Memory: a block (65536 bytes unless the writer chose another size) and 40 bytes per communicator.
 * hpcw_clog2_reader_watch also keeps timelines, open states, and messages in flight. A log that states a
 * size larger than the file is refused.
 *
 * The bytes: doc/formats/clog2.md.
 */
#ifndef HPCW_CLOG2_READ_H
#define HPCW_CLOG2_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/clog2.h>
#include <hpcw/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An opaque log open for reading. */
typedef struct hpcw_clog2_reader hpcw_clog2_reader;

/**
 * Opens a log.
 *
 * @param out  the handle, to be freed with hpcw_clog2_reader_free; NULL on failure
 * @return HPCW_OK; HPCW_EINVAL (a pointer is NULL, not a regular file); HPCW_EFORMAT; HPCW_ETRUNCATED;
 *         HPCW_ENOTSUP (the local file of a process, see hpcw_clog2_recover); HPCW_ENOMEM; and the system's
 *         HPCW_ENOENT, HPCW_EACCES, HPCW_EIO
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_reader_open(const char *path, hpcw_clog2_reader **out,
                                                            hpcw_error *err);

/** Closes a handle and frees it. NULL is allowed. */
HPCW_API void hpcw_clog2_reader_free(hpcw_clog2_reader *reader);

/** Content of the preamble. Later versions may add members at the end. */
typedef struct hpcw_clog2_info {
    uint32_t ranks;       /**< number of ranks of the world */
    uint32_t threads;     /**< the largest number of threads of a rank */
    uint32_t states;      /**< number of user states, numbered from HPCW_CLOG2_USER_STATE */
    uint32_t solos;       /**< number of user solo events, numbered from HPCW_CLOG2_USER_SOLO */
    uint32_t known_solos; /**< number of MPE's solo events, numbered from HPCW_CLOG2_KNOWN_SOLO */
    uint32_t block_size;  /**< bytes */
    uint64_t blocks;      /**< number of blocks */
    uint32_t comms;       /**< length of the table of communicators */
} hpcw_clog2_info;

/** Returns the preamble, valid as long as the handle; NULL if `reader` is NULL. */
HPCW_API const hpcw_clog2_info *hpcw_clog2_reader_info(const hpcw_clog2_reader *reader);

/** Gets entry `index` of the table of communicators. Returns false and fills in nothing if `index` is not below
 * `comms` of the preamble. */
HPCW_API bool hpcw_clog2_reader_comm(const hpcw_clog2_reader *reader, uint32_t index,
                                     hpcw_clog2_comm_entry *entry);

/* ------------------------------------------------------------------------------------------------------------
 *  Records
 * --------------------------------------------------------------------------------------------------------- */

/**
 * Gets the next record.
 *
 * The pointers in the record are valid until the next call on the handle: texts end in NUL, `format` is never NULL,
 * `id` is NULL if the identity is all zero. Files do not store the size of cargo: `size` is always
 * HPCW_CLOG2_CARGO. Kinds 8 and 10 of MPE, which no program writes, have no member of `as`. Values are as stored,
 * without a check: ranks, events and times may be any number.
 *
 * After a failure every call fails in the same way, until hpcw_clog2_reader_rewind.
 *
 * @param record  out: the record, if there is one
 * @param more    out: false after the last record
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ESTATE (called by a callback); HPCW_EFORMAT or HPCW_ETRUNCATED; and errors of
 *         the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_reader_next(hpcw_clog2_reader *reader,
                                                            hpcw_clog2_record *record, bool *more,
                                                            hpcw_error *err);

/** Goes back to the first record. NULL is allowed. */
HPCW_API void hpcw_clog2_reader_rewind(hpcw_clog2_reader *reader);

/* ------------------------------------------------------------------------------------------------------------
 *  States and messages
 * --------------------------------------------------------------------------------------------------------- */

/** A state, or a part of a state. Rank, communicator and thread together identify the timeline of the state. */
typedef struct hpcw_clog2_stretch {
    int32_t state;    /**< number of the state, as in its definition */
    const char *name; /**< name of the state, valid for the call; "" if the state is not defined */
    uint32_t rank;    /**< rank in the world */
    int32_t comm;     /**< communicator as logged: index in the table of communicators, 0 is the world */
    int32_t thread;   /**< thread of the rank, as logged */
    double from;      /**< begin, seconds */
    double to;        /**< end, seconds */
    /** [HPCW_CLOG2_CARGO] cargo of the event that ends the state, valid for the call; NULL: none */
    const unsigned char *cargo;
} hpcw_clog2_stretch;

/** A send or a receive. If the log has the other end of the message earlier, the struct describes the whole
 * message. */
typedef struct hpcw_clog2_end {
    uint32_t rank; /**< rank in the world of the process that sends or receives */
    uint32_t peer; /**< rank in the world of the other end */
    int32_t tag;   /**< as logged */
    int32_t size;  /**< bytes */
    bool send;     /**< false: a receive */
    double time;   /**< seconds */
    bool meets;    /**< true: the other end of the message is earlier in the log */
    double other;  /**< time of the other end, seconds; 0 unless `meets` */
} hpcw_clog2_end;

/**
 * Callbacks of hpcw_clog2_reader_watch, called in the order of the records. Each may be NULL.
 *
 * A callback returns HPCW_OK or another status. Another status ends the reading, and the call returns it. A
 * callback may call only hpcw_clog2_reader_info and hpcw_clog2_reader_comm on the handle. Other calls return
 * HPCW_ESTATE, a rewind does nothing, and the handle must not be freed.
 */
typedef struct hpcw_clog2_watch {
    void *context; /**< first argument of all callbacks */
    /** Called for each time span in which a state was the innermost one of its timeline. Spans of one timeline
     * never overlap, and together they cover the whole time of its states. Spans of several threads or
     * communicators of a rank may overlap. Spans have no cargo. */
    hpcw_status (*stretch)(void *context, const hpcw_clog2_stretch *stretch);
    /** Called for each whole state when it ends. The time of a state includes the states nested in it. */
    hpcw_status (*state)(void *context, const hpcw_clog2_stretch *state);
    /** Called for each send and each receive. */
    hpcw_status (*message)(void *context, const hpcw_clog2_end *end);
} hpcw_clog2_watch;

/**
 * Reads all records, from the first one on, and calls the callbacks. As viewers do, it skips records that break a
 * rule: the end of a state that did not begin, or a rank that no communicator event introduced. Definitions
 * and communicator events apply to the whole log, also to records before them. Afterwards the position is after
 * the last record that was read.
 *
 * @return as hpcw_clog2_reader_next; HPCW_ENOMEM; HPCW_ESTATE (called by a callback); the status of a callback
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_reader_watch(hpcw_clog2_reader *reader,
                                                             const hpcw_clog2_watch *watch, hpcw_error *err);

/* ------------------------------------------------------------------------------------------------------------
 *  Columns
 *
 *      hpcw_clog2_window window;
 *      hpcw_clog2_window_init(&window);
 *      window.from = 0.5;
 *      window.to = 0.6;
 *      double from[ROWS], to[ROWS];
 *      uint32_t rank[ROWS];
 *      const hpcw_clog2_states columns = {.rank = rank, .from = from, .to = to};
 *      size_t count = 1;
 *      status = hpcw_clog2_reader_select(r, HPCW_CLOG2_TABLE_STATES, &window, &err);
 *      while (status == HPCW_OK && count > 0) {
 *          status = hpcw_clog2_reader_states(r, &columns, ROWS, &count, &err);
 *          ...count rows...
 *      }
 *
 *  Records that break a rule are skipped, as by hpcw_clog2_reader_watch. Definitions and communicator events
 *  apply to the whole log, also to records before them.
 * --------------------------------------------------------------------------------------------------------- */

/** Tables that a log can be read as. */
typedef enum hpcw_clog2_table {
    HPCW_CLOG2_TABLE_STATES = 1,
    HPCW_CLOG2_TABLE_MESSAGES = 2, /**< messages with both ends in the log */
    HPCW_CLOG2_TABLE_SOLOS = 3     /**< solo events */
} hpcw_clog2_table;

/** Selects rows: those that overlap [from, to), of some ranks of the world. */
typedef struct hpcw_clog2_window {
    double from; /**< seconds */
    double to;   /**< seconds */
    /** lowest rank. A message is selected if its sender or its receiver is in the range of ranks */
    uint32_t first_rank;
    uint32_t last_rank; /**< highest rank; see first_rank */
} hpcw_clog2_window;

/** Selects all times and ranks. */
HPCW_API void hpcw_clog2_window_init(hpcw_clog2_window *window);

/**
 * Starts to read rows from the beginning of the log. The selection lasts until another call on the handle, except
 * hpcw_clog2_reader_info, hpcw_clog2_reader_comm, hpcw_clog2_reader_definition, and the call that fills columns of
 * this table.
 *
 * Memory during the selection: 200 KiB, and the states and messages that are open at the same time. A state may
 * begin long before the window, so the log is read from its first block. It is read until all states or messages
 * that began before the end of the window have ended.
 *
 * @param window  NULL: all times and ranks
 * @return HPCW_OK; HPCW_EINVAL (a pointer is NULL, no such table, an empty window); HPCW_ESTATE (called by a
 *         callback); HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_reader_select(hpcw_clog2_reader *reader, hpcw_clog2_table table,
                                                              const hpcw_clog2_window *window, hpcw_error *err);

/** Arrays for the columns of states; each may be NULL. Rows are in the order in which states end. */
typedef struct hpcw_clog2_states {
    uint32_t *definition; /**< see hpcw_clog2_reader_definition */
    uint32_t *rank;       /**< rank in the world */
    int32_t *thread;      /**< thread of the rank, as logged */
    int32_t *comm;        /**< communicator, as logged */
    uint32_t *depth;      /**< number of other states that were open on the same thread when the state began */
    double *from;         /**< begin, seconds */
    double *to;           /**< end, seconds */
    /** [capacity][HPCW_CLOG2_CARGO] cargo of the event that ends the state; zeros: none */
    unsigned char *cargo;
} hpcw_clog2_states;

/** Arrays for the columns of messages; each may be NULL. Rows are in the order of the later of the two ends of a
 * message. */
typedef struct hpcw_clog2_messages {
    uint32_t *from;   /**< rank in the world of the sender */
    uint32_t *to;     /**< rank in the world of the receiver */
    int32_t *comm;    /**< communicator of the send, as logged */
    int32_t *tag;     /**< as logged */
    int32_t *size;    /**< bytes, according to the send */
    double *sent;     /**< seconds */
    double *received; /**< seconds */
} hpcw_clog2_messages;

/** Arrays for the columns of solo events; each may be NULL. Rows are in the order of the log. */
typedef struct hpcw_clog2_solos {
    uint32_t *definition; /**< see hpcw_clog2_reader_definition */
    uint32_t *rank;       /**< rank in the world */
    int32_t *thread;      /**< thread of the rank, as logged */
    int32_t *comm;        /**< communicator, as logged */
    double *time;         /**< seconds */
    unsigned char *cargo; /**< [capacity][HPCW_CLOG2_CARGO] cargo; zeros: none */
} hpcw_clog2_solos;

/**
 * Fills columns with the next rows, up to `capacity`.
 *
 * @param columns  arrays of `capacity` elements each
 * @param count    out: number of rows filled in; 0 only after the last row, or after a failure
 * @return HPCW_OK; HPCW_EINVAL (a pointer is NULL, a capacity of 0); HPCW_ESTATE (another table is selected, or
 *         none); HPCW_ENOMEM; and the failures of hpcw_clog2_reader_next. After a failure every call fails in the
 *         same way
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_reader_states(hpcw_clog2_reader *reader,
                                                              const hpcw_clog2_states *columns, size_t capacity,
                                                              size_t *count, hpcw_error *err);

/** As hpcw_clog2_reader_states, for messages. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_reader_messages(hpcw_clog2_reader *reader,
                                                                const hpcw_clog2_messages *columns,
                                                                size_t capacity, size_t *count,
                                                                hpcw_error *err);

/** As hpcw_clog2_reader_states, for solo events. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_reader_solos(hpcw_clog2_reader *reader,
                                                             const hpcw_clog2_solos *columns, size_t capacity,
                                                             size_t *count, hpcw_error *err);

/** A definition of a state or a solo event. If the log has no definition, the texts are empty. */
typedef struct hpcw_clog2_definition {
    bool state;         /**< true: a state; false: a solo event */
    int32_t number;     /**< number of the state or event */
    const char *name;   /**< its name, valid until the next call on the handle */
    const char *colour; /**< its colour, valid until the next call on the handle */
    const char *format; /**< format of its cargo, valid until the next call on the handle */
} hpcw_clog2_definition;

/** Gets the definition with an index that a row of the selected table has. Returns false and fills in nothing for
 * any other index. */
HPCW_API bool hpcw_clog2_reader_definition(const hpcw_clog2_reader *reader, uint32_t index,
                                           hpcw_clog2_definition *definition);

/* ------------------------------------------------------------------------------------------------------------
 *  Figures
 * --------------------------------------------------------------------------------------------------------- */

/** Count and time of a state, or of a solo event, on one rank. */
typedef struct hpcw_clog2_share {
    bool state;       /**< false: a solo event */
    int32_t number;   /**< number of the state or event */
    const char *name; /**< name of the state or event; valid for the call */
    uint32_t rank;    /**< rank in the world */
    uint64_t count;   /**< number of times that the state or event occurs */
    double seconds;   /**< total time in the state, nested states included; 0 for a solo event */
} hpcw_clog2_share;

/** The messages from one rank to another. */
typedef struct hpcw_clog2_flow {
    uint32_t from;  /**< rank in the world of the sender */
    uint32_t to;    /**< rank in the world of the receiver */
    uint64_t count; /**< number of messages with both ends in the log */
    uint64_t bytes; /**< total bytes of these messages */
} hpcw_clog2_flow;

/** Callbacks of hpcw_clog2_reader_profile: first `share` for all states and events, sorted by definition and rank,
 * then `flow` for all pairs of ranks, sorted by rank. Each callback may be NULL. The rules of hpcw_clog2_watch for
 * callbacks hold here, too. */
typedef struct hpcw_clog2_profile {
    void *context; /**< first argument of both callbacks */
    /** called for each state or event, and each rank that has it */
    hpcw_status (*share)(void *context, const hpcw_clog2_share *share);
    /** called for each pair of ranks with messages */
    hpcw_status (*flow)(void *context, const hpcw_clog2_flow *flow);
} hpcw_clog2_profile;

/**
 * Reads all records, from the first one on, and adds up states, events and messages. Memory: as
 * hpcw_clog2_reader_watch, and up to 200 bytes for each call of `share` and `flow`.
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_reader_profile(hpcw_clog2_reader *reader,
                                                               const hpcw_clog2_profile *profile,
                                                               hpcw_error *err);

#ifdef __cplusplus
}
#endif

#endif
