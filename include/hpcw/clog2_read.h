/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Reading CLOG-2 event logs: those of <hpcw/clog2.h> and <hpcw/clog2_log.h>, and merged logs of MPE2.
 *
 * There are four ways, from records to figures:
 *
 * - hpcw_clog2_reader_next gives the records one by one, in the order of the file, as hpcw_clog2_write takes them.
 * - hpcw_clog2_reader_watch puts starts and ends together, and calls back for each state and message.
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
 * Open and next refuse what does not let the records be found: preamble, table of communicators, chain of blocks,
 * lengths. Broken rules of the content (a state that does not end) are left to the caller; `hpcgen verify` and
 * `hpcgen info` name them.
 *
 * Memory: a block (65536 bytes unless the writer chose another size), 40 bytes per communicator, and while
 * watching, what is open at a time: timelines, states, messages on their way. Sizes that a file cannot hold are
 * refused.
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

/** Closes and frees, NULL allowed. */
HPCW_API void hpcw_clog2_reader_free(hpcw_clog2_reader *reader);

/** What the preamble says. Later versions may add members at the end. */
typedef struct hpcw_clog2_info {
    uint32_t ranks;       /**< of the world */
    uint32_t threads;     /**< the largest number of threads of a rank */
    uint32_t states;      /**< user states, numbered from HPCW_CLOG2_USER_STATE */
    uint32_t solos;       /**< solo events of the user, numbered from HPCW_CLOG2_USER_SOLO */
    uint32_t known_solos; /**< solo events of MPE, numbered from HPCW_CLOG2_KNOWN_SOLO */
    uint32_t block_size;  /**< bytes */
    uint64_t blocks;      /**< number of blocks */
    uint32_t comms;       /**< entries of the table of communicators */
} hpcw_clog2_info;

/** Valid as long as the handle. NULL for NULL. */
HPCW_API const hpcw_clog2_info *hpcw_clog2_reader_info(const hpcw_clog2_reader *reader);

/** Entry `index` of the table of communicators; false, and nothing filled in, from `comms` on. */
HPCW_API bool hpcw_clog2_reader_comm(const hpcw_clog2_reader *reader, uint32_t index,
                                     hpcw_clog2_comm_entry *entry);

/* ------------------------------------------------------------------------------------------------------------
 *  Records
 * --------------------------------------------------------------------------------------------------------- */

/**
 * The next record.
 *
 * Its pointers are valid until the next call on the handle: texts end in NUL, `format` is never NULL, `id` is NULL
 * if the identity is all zero. The size of cargo is not stored: it is always HPCW_CLOG2_CARGO. Kinds 8 and 10 of
 * MPE, which no program writes, have no member of `as`. Values are as stored: a rank, an event or a time may be
 * any.
 *
 * After a failure every call fails in the same way, until hpcw_clog2_reader_rewind.
 *
 * @param record  out, if there is one
 * @param more    out: false after the last one
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ESTATE (called by a callback); HPCW_EFORMAT or HPCW_ETRUNCATED; and what the
 *         system says
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_reader_next(hpcw_clog2_reader *reader,
                                                            hpcw_clog2_record *record, bool *more,
                                                            hpcw_error *err);

/** Back to the first record. NULL allowed. */
HPCW_API void hpcw_clog2_reader_rewind(hpcw_clog2_reader *reader);

/* ------------------------------------------------------------------------------------------------------------
 *  States and messages
 * --------------------------------------------------------------------------------------------------------- */

/** A state, or a piece of it. Rank, communicator and thread together are its timeline. */
typedef struct hpcw_clog2_stretch {
    int32_t state;    /**< number of the state, as in its definition */
    const char *name; /**< of the state; valid for the call. "" if it is not defined */
    uint32_t rank;    /**< of the world */
    int32_t comm;     /**< communicator, as logged: an entry of the table, 0 is the world */
    int32_t thread;   /**< of the rank, as logged */
    double from;      /**< seconds */
    double to;        /**< seconds */
    /** [HPCW_CLOG2_CARGO] of the event that ends the state, valid for the call; NULL: none */
    const unsigned char *cargo;
} hpcw_clog2_stretch;

/** A send or a receive, and with it the message, if the other end came before. */
typedef struct hpcw_clog2_end {
    uint32_t rank; /**< of the world: who sends or receives */
    uint32_t peer; /**< of the world: the other end */
    int32_t tag;   /**< as logged */
    int32_t size;  /**< bytes */
    bool send;     /**< false: a receive */
    double time;   /**< seconds */
    bool meets;    /**< the other end came before */
    double other;  /**< its time; 0 unless it came before */
} hpcw_clog2_end;

/**
 * What to call, in the order of the records. Each may be NULL.
 *
 * A callback returns HPCW_OK, or another status, which ends the run and is its result. It may ask the handle for
 * hpcw_clog2_reader_info and hpcw_clog2_reader_comm only: other calls are HPCW_ESTATE, a rewind does nothing, and
 * the handle must not be freed.
 */
typedef struct hpcw_clog2_watch {
    void *context; /**< first argument of all */
    /** A state was the innermost one of its timeline. Those of one timeline never overlap, and together they are
     * the whole time of its states. Those of several threads or communicators of a rank may overlap. No cargo. */
    hpcw_status (*stretch)(void *context, const hpcw_clog2_stretch *stretch);
    /** A whole state, when it ends, with the time of those nested in it. */
    hpcw_status (*state)(void *context, const hpcw_clog2_stretch *state);
    /** An end of a message. */
    hpcw_status (*message)(void *context, const hpcw_clog2_end *end);
} hpcw_clog2_watch;

/**
 * Reads all records, from the first one on, and calls back. What breaks a rule is passed over, as viewers do: the
 * end of a state that did not begin, a rank that no communicator event introduced. Definitions and ranks of
 * communicators hold for the whole log, wherever they stand. Afterwards the handle is after the last record that
 * was read.
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
 *  What breaks a rule is passed over, as by hpcw_clog2_reader_watch. Definitions and ranks of communicators hold
 *  for the whole log, wherever they stand.
 * --------------------------------------------------------------------------------------------------------- */

/** What rows are of. */
typedef enum hpcw_clog2_table {
    HPCW_CLOG2_TABLE_STATES = 1,
    HPCW_CLOG2_TABLE_MESSAGES = 2, /**< of which both ends are in the log */
    HPCW_CLOG2_TABLE_SOLOS = 3     /**< solo events */
} hpcw_clog2_table;

/** Which rows: those that have a part in [from, to), of some ranks of the world. */
typedef struct hpcw_clog2_window {
    double from;         /**< seconds */
    double to;           /**< seconds */
    uint32_t first_rank; /**< of the state or event, or of one of the ends of a message */
    uint32_t last_rank;  /**< the same */
} hpcw_clog2_window;

/** All times and ranks. */
HPCW_API void hpcw_clog2_window_init(hpcw_clog2_window *window);

/**
 * Starts to read rows from the beginning of the log. Any other call on the handle but hpcw_clog2_reader_info,
 * hpcw_clog2_reader_comm, hpcw_clog2_reader_definition and the one that fills columns of this table ends it.
 *
 * Memory until then: 200 KiB, and what is open at a time. A state may begin long before the window, so the log is
 * read from its first block, but only until all states or messages that began before the end of the window have
 * ended.
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
    uint32_t *rank;       /**< of the world */
    int32_t *thread;      /**< of the rank, as logged */
    int32_t *comm;        /**< communicator, as logged */
    uint32_t *depth;      /**< other states of the thread of the rank that were open when it began */
    double *from;         /**< seconds */
    double *to;           /**< seconds */
    unsigned char *cargo; /**< [capacity][HPCW_CLOG2_CARGO] of the event that ends it; zeros: none */
} hpcw_clog2_states;

/** Arrays for the columns of messages; each may be NULL. Rows are in the order of the later ends. */
typedef struct hpcw_clog2_messages {
    uint32_t *from;   /**< rank of the world */
    uint32_t *to;     /**< rank of the world */
    int32_t *comm;    /**< communicator of the send, as logged */
    int32_t *tag;     /**< as logged */
    int32_t *size;    /**< bytes, as the send says */
    double *sent;     /**< seconds */
    double *received; /**< seconds */
} hpcw_clog2_messages;

/** Arrays for the columns of solo events; each may be NULL. Rows are in the order of the log. */
typedef struct hpcw_clog2_solos {
    uint32_t *definition; /**< see hpcw_clog2_reader_definition */
    uint32_t *rank;       /**< of the world */
    int32_t *thread;      /**< of the rank, as logged */
    int32_t *comm;        /**< communicator, as logged */
    double *time;         /**< seconds */
    unsigned char *cargo; /**< [capacity][HPCW_CLOG2_CARGO]; zeros: none */
} hpcw_clog2_solos;

/**
 * The next rows, up to `capacity`.
 *
 * @param columns  arrays of `capacity` elements each
 * @param count    out: rows filled in; 0 only after the last one, or after a failure
 * @return HPCW_OK; HPCW_EINVAL (a pointer is NULL, a capacity of 0); HPCW_ESTATE (another table is selected, or
 *         none); HPCW_ENOMEM; and as hpcw_clog2_reader_next. After a failure every call fails in the same way
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_reader_states(hpcw_clog2_reader *reader,
                                                              const hpcw_clog2_states *columns, size_t capacity,
                                                              size_t *count, hpcw_error *err);

/** The same for messages. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_reader_messages(hpcw_clog2_reader *reader,
                                                                const hpcw_clog2_messages *columns,
                                                                size_t capacity, size_t *count,
                                                                hpcw_error *err);

/** The same for solo events. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_reader_solos(hpcw_clog2_reader *reader,
                                                             const hpcw_clog2_solos *columns, size_t capacity,
                                                             size_t *count, hpcw_error *err);

/** What a definition says. An event without definition has empty texts. */
typedef struct hpcw_clog2_definition {
    bool state;         /**< false: of a solo event */
    int32_t number;     /**< of the state, or the event */
    const char *name;   /**< valid until the next call on the handle */
    const char *colour; /**< the same */
    const char *format; /**< of cargo; the same */
} hpcw_clog2_definition;

/** The definition with the index that rows of the table selected give; false, and nothing filled in, for an index
 * that no row had. */
HPCW_API bool hpcw_clog2_reader_definition(const hpcw_clog2_reader *reader, uint32_t index,
                                           hpcw_clog2_definition *definition);

/* ------------------------------------------------------------------------------------------------------------
 *  Figures
 * --------------------------------------------------------------------------------------------------------- */

/** A state, or a solo event, of one rank. */
typedef struct hpcw_clog2_share {
    bool state;       /**< false: a solo event */
    int32_t number;   /**< of the state, or the event */
    const char *name; /**< as in its definition; valid for the call */
    uint32_t rank;    /**< of the world */
    uint64_t count;   /**< how often */
    double seconds;   /**< together, nested states included; 0 for a solo event */
} hpcw_clog2_share;

/** The messages from one rank to another. */
typedef struct hpcw_clog2_flow {
    uint32_t from;  /**< of the world */
    uint32_t to;    /**< of the world */
    uint64_t count; /**< messages of which both ends are in the log */
    uint64_t bytes; /**< together */
} hpcw_clog2_flow;

/** What to call: all shares, by definition and rank, then all flows, by ranks. Each may be NULL, and has the rules
 * of the callbacks of hpcw_clog2_watch. */
typedef struct hpcw_clog2_profile {
    void *context; /**< first argument of both */
    hpcw_status (*share)(void *context,
                         const hpcw_clog2_share *share); /**< for each state or event and rank that has it */
    hpcw_status (*flow)(void *context,
                        const hpcw_clog2_flow *flow); /**< for each pair of ranks with messages */
} hpcw_clog2_profile;

/**
 * Reads all records, from the first one on, and adds up. Memory: also up to 200 bytes for each share and each flow.
 *
 * @return as hpcw_clog2_reader_watch
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_clog2_reader_profile(hpcw_clog2_reader *reader,
                                                               const hpcw_clog2_profile *profile,
                                                               hpcw_error *err);

#ifdef __cplusplus
}
#endif

#endif
