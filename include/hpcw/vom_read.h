/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Reads vt's load-balancing data (LBDatafile): the file of one rank, written by <hpcw/vom.h>, vt or LBAF, plain or
 * compressed with brotli under any name.
 *
 *     hpcw_vom_reader *r;
 *     hpcw_vom_watch watch = {.context = &sums, .task = add_task, .end_phase = put_phase};
 *     hpcw_vom_reader_open("lb_data/data.17.json.br", &r, &err);
 *     hpcw_vom_reader_watch(r, UINT64_MAX, &watch, &err);
 *     hpcw_vom_reader_free(r);
 *
 * Records have the form that hpcw_vom_task_add and hpcw_vom_edge_add take, and come in the order of the file. So a
 * file of vt can be written again.
 *
 * Nothing here is collective. One thread at a time may use a handle. Several handles may read the same file.
 *
 * The reader refuses text that is not JSON or breaks the schema (types, ranges, unknown, missing and repeated
 * keys). It also refuses contradictions inside a record: between the bits of an id and the other fields, or between
 * the ends of an edge and its category. The message has the file, the path of the value, its offset, expected and
 * actual value. `hpcgen verify` also checks the rules between records.
 *
 * Memory: 150 KiB, the largest record, the window of a compressed file, and 32 bytes for each entry of the lists
 * of phases without data. It never exceeds 128 MiB, whatever the content. Beyond these limits the reader fails
 * with HPCW_ERANGE:
 * - strings and keys: below 1 MiB each
 * - named values of one task, phase or file: 4 MiB
 * - phases: 2^20; entries of the lists of phases: 2^20
 * - numbers in an index: 16; levels of nesting: 32
 * - a text of more than 64 MiB: at most a thousand times the size of its compressed stream
 *
 * The format: doc/formats/vom.md.
 */
#ifndef HPCW_VOM_READ_H
#define HPCW_VOM_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>
#include <hpcw/vom.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An opaque file open for reading. */
typedef struct hpcw_vom_reader hpcw_vom_reader;

/**
 * Opens a file and reads its first bytes, to recognise compression.
 *
 * @param out  the handle, to be freed with hpcw_vom_reader_free; NULL on failure
 * @return HPCW_OK; HPCW_EINVAL (a pointer is NULL, not a regular file); HPCW_ETRUNCATED (an empty file);
 *         HPCW_EFORMAT (a brotli stream with a large window); HPCW_ENOMEM; and the system's HPCW_ENOENT,
 *         HPCW_EACCES, HPCW_EIO
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_reader_open(const char *path, hpcw_vom_reader **out,
                                                          hpcw_error *err);

/** Closes a handle and frees it. NULL is allowed. */
HPCW_API void hpcw_vom_reader_free(hpcw_vom_reader *reader);

/** State of the file after the open, or after the last call of hpcw_vom_reader_watch. Later versions may add
 * members at the end. */
typedef struct hpcw_vom_info {
    bool ended;         /**< all phases were read, and the end of the file is correct */
    bool compressed;    /**< the file is compressed with brotli */
    bool has_rank;      /**< `rank` is known: from the metadata, or from a task */
    uint32_t rank;      /**< rank of the file */
    uint64_t phases;    /**< phases read so far */
    uint64_t text_size; /**< bytes of JSON text read so far */
    uint64_t file_size; /**< bytes of the file */
} hpcw_vom_info;

/** Returns the state of the file, valid as long as the handle; NULL if `reader` is NULL. */
HPCW_API const hpcw_vom_info *hpcw_vom_reader_info(const hpcw_vom_reader *reader);

/* ------------------------------------------------------------------------------------------------------------
 *  Records. The pointers in them are valid for the call. Members of hpcw_vom_task, hpcw_vom_edge and
 *  hpcw_vom_entity that the file does not have are 0 or NULL.
 * --------------------------------------------------------------------------------------------------------- */

/** The metadata of a file. Later versions may add members at the end. */
typedef struct hpcw_vom_metadata {
    bool has_rank;                    /**< the file has its rank; files of the old form have none */
    uint32_t rank;                    /**< rank of the file */
    hpcw_vom_node node;               /**< place of the rank on the hosts; `size` 0: not in the file */
    const hpcw_vom_range *skipped;    /**< [skipped_count] as in hpcw_vom_options, sorted by first phase */
    size_t skipped_count;             /**< length of `skipped` */
    const hpcw_vom_range *identical;  /**< [identical_count] as in hpcw_vom_options, sorted by first phase */
    size_t identical_count;           /**< length of `identical` */
    uint64_t phase_count;             /**< as in hpcw_vom_options; 0: not in the file */
    const hpcw_vom_value *attributes; /**< [attribute_count] attributes of the rank */
    size_t attribute_count;           /**< length of `attributes` */
    bool has_rank_alpha;              /**< the file has rank_alpha */
    double rank_alpha;                /**< weight of the rank's load */
} hpcw_vom_metadata;

/** A phase, or an iteration of a phase, after all its records were read. Later versions may add members at the
 * end. */
typedef struct hpcw_vom_section {
    /** index of the phase in the file, or of the iteration in the phase: 0, 1, ... */
    uint64_t number;
    uint64_t id;                  /**< number of the phase or iteration, as stored */
    uint64_t tasks;               /**< number of tasks */
    uint64_t edges;               /**< number of edges */
    uint64_t iterations;          /**< number of iterations of a phase */
    const hpcw_vom_value *values; /**< [value_count] values of "user_defined" */
    size_t value_count;           /**< length of `values` */
} hpcw_vom_section;

/**
 * Callbacks of hpcw_vom_reader_watch, called in the order of the file. Each may be NULL.
 *
 * vt writes the edges of a phase before the id of the phase, so only `end_phase` gets the id. A program that needs
 * the id before the records reads the file twice.
 *
 * A task has its times in seconds. An edge has the rank of its node in `node`. Values of user_defined: an integer
 * that does not fit into 64 bits comes as HPCW_VOM_FLOAT; null, arrays and objects come as HPCW_VOM_JSON, without
 * blanks, in ASCII with the escapes of vt.
 *
 * A callback returns HPCW_OK or another status. Another status ends hpcw_vom_reader_watch, which returns it. A
 * callback may call only hpcw_vom_reader_info on the handle. hpcw_vom_reader_watch would return HPCW_ESTATE, and
 * the handle must not be freed.
 */
typedef struct hpcw_vom_watch {
    void *context; /**< first argument of all callbacks */
    /** called once, where the metadata stands: in files of vt before the first phase, but the keys of a file may
     * have any order. Never called for files of the old form, which have no metadata */
    hpcw_status (*metadata)(void *context, const hpcw_vom_metadata *metadata);
    /** called before the first record of a phase. number: index of the phase in the file, 0, 1, ... */
    hpcw_status (*begin_phase)(void *context, uint64_t number);
    /** called for each edge: all messages of one category between two ends */
    hpcw_status (*edge)(void *context, const hpcw_vom_edge *edge);
    /** called for each task: the work of an entity */
    hpcw_status (*task)(void *context, const hpcw_vom_task *task);
    /** called after the last record of a phase */
    hpcw_status (*end_phase)(void *context, const hpcw_vom_section *phase);
    /** called before the first record of an iteration. number: index of the iteration in the phase. NULL: the
     * records of iterations are checked, but `task` and `edge` are not called for them */
    hpcw_status (*begin_iteration)(void *context, uint64_t number);
    /** called after the last record of an iteration */
    hpcw_status (*end_iteration)(void *context, const hpcw_vom_section *iteration);
} hpcw_vom_watch;

/**
 * Reads up to `phases` further phases, at most to the end of the file, and calls the callbacks. At the end of the
 * file it does nothing.
 *
 * So a program can read the files of all ranks phase by phase, with a handle for each file. In a compressed file
 * each call decompresses again what earlier calls read, so few calls with many phases each are faster.
 *
 * After a failure, also one of a callback, the handle reads no further.
 *
 * @param phases  largest number of phases to read; UINT64_MAX: all
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ESTATE (called by a callback; failed before); HPCW_EFORMAT; HPCW_ETRUNCATED;
 *         HPCW_ERANGE (a limit above); HPCW_ENOTSUP (a text that contains NUL); HPCW_ENOMEM; HPCW_EIO; the status
 *         of a callback
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_reader_watch(hpcw_vom_reader *reader, uint64_t phases,
                                                           const hpcw_vom_watch *watch, hpcw_error *err);

/* ------------------------------------------------------------------------------------------------------------
 *  Columns
 *
 *      hpcw_vom_rows rows;
 *      hpcw_vom_reader_open("lb_data/data.17.json.br", &r, &err);
 *      hpcw_vom_reader_load(r, 3, 5, &rows, &err);
 *      double *time_s = calloc(rows.tasks, sizeof *time_s);
 *      uint64_t *id = calloc(rows.tasks, sizeof *id);
 *      const hpcw_vom_tasks columns = {.id = id, .time_s = time_s};
 *      hpcw_vom_reader_tasks(r, 0, rows.tasks, &columns, &err);
 *
 *  Numbers only: positions in collections, subphases, attributes and iterations come with hpcw_vom_reader_watch.
 * --------------------------------------------------------------------------------------------------------- */

/** Numbers of the rows that hpcw_vom_reader_load has loaded. */
typedef struct hpcw_vom_rows {
    size_t tasks; /**< number of rows of tasks */
    size_t edges; /**< number of rows of edges */
} hpcw_vom_rows;

/**
 * Reads on to the end of the file, and keeps the tasks and edges of the phases with ids from `first_phase` to
 * `last_phase`. They replace the rows of an earlier call. Memory until the handle is freed: 56 bytes for each task,
 * 64 for each edge.
 *
 * @param rows  out: numbers of rows; both 0 after a failure
 * @return as hpcw_vom_reader_watch, except for statuses of callbacks
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_reader_load(hpcw_vom_reader *reader, uint64_t first_phase,
                                                          uint64_t last_phase, hpcw_vom_rows *rows,
                                                          hpcw_error *err);

/** Arrays for the columns of tasks; each may be NULL. Rows are in the order of the file. */
typedef struct hpcw_vom_tasks {
    uint64_t *phase;         /**< id of the phase */
    uint64_t *id;            /**< vt's id of the entity, or the seq_id if the entity has no id */
    uint32_t *home;          /**< rank in the id of the entity; 0: none */
    bool *migratable;        /**< whether vt may move the entity */
    uint64_t *collection_id; /**< 0: absent */
    uint64_t *objgroup_id;   /**< 0: absent */
    double *time_s;          /**< load, seconds */
} hpcw_vom_tasks;

/** Arrays for the columns of edges; each may be NULL. Rows are in the order of the file. */
typedef struct hpcw_vom_edges {
    uint64_t *phase;             /**< id of the phase */
    hpcw_vom_category *category; /**< category, which says what `from` and `to` are */
    /** sender: the id or seq_id of an object, a rank, or the number of a shared block */
    uint64_t *from;
    uint64_t *to;        /**< receiver, in the form of `from` */
    uint32_t *from_home; /**< rank in the id of the entity; 0: none */
    uint32_t *to_home;   /**< rank in the id of the entity; 0: none */
    double *bytes;       /**< total bytes */
    uint64_t *messages;  /**< number of messages */
} hpcw_vom_edges;

/**
 * Fills columns with the loaded rows `first` to `first + count` - 1.
 *
 * @param columns  arrays of `count` elements each
 * @return HPCW_OK; HPCW_EINVAL (a pointer is NULL, rows that were not loaded); HPCW_ESTATE (called by a callback)
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_reader_tasks(const hpcw_vom_reader *reader, size_t first,
                                                           size_t count, const hpcw_vom_tasks *columns,
                                                           hpcw_error *err);

/** As hpcw_vom_reader_tasks, for edges. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_reader_edges(const hpcw_vom_reader *reader, size_t first,
                                                           size_t count, const hpcw_vom_edges *columns,
                                                           hpcw_error *err);

#ifdef __cplusplus
}
#endif

#endif
