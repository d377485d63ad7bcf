/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * VOM: load-balancing data of DARMA/vt ("Virtual Object Map", JSON type LBDatafile), one file per rank, plain or
 * compressed with brotli: which objects a rank held in each phase, how long they worked, and who sent to whom.
 *
 *     hpcw_vom_options o;
 *     hpcw_vom_options_init(&o);
 *     o.rank = rank;  o.ranks = ranks;
 *     hpcw_vom_file_name(name, sizeof name, "lb_data/data.%p.json", rank, true, &err);  // ...data.17.json.br
 *     hpcw_vom_open(name, &o, &v, &err);
 *     for (phase ...) {
 *         hpcw_vom_begin_phase(v, phase, &err);
 *         for (message ...) hpcw_vom_edge_add(v, &edge, &err);      // edges first, then tasks
 *         for (object ...) hpcw_vom_task_add(v, &task, &err);
 *         hpcw_vom_end_phase(v, NULL, 0, &err);
 *     }
 *     hpcw_vom_close(v, &err);                  // or hpcw_vom_close_set for many ranks: all files or none
 *     hpcw_vom_free(v);
 *
 * Records go directly to the file: memory does not depend on their number. The text has the layout of vt 1.6.0:
 * one line, keys in byte order, so that the edges of a phase come before its tasks.
 *
 * A call refuses what a reader could not handle, with the expected and the actual value; the handle is then
 * unchanged. HPCW_VOM_ALLOW_... are the exceptions that can be allowed, each with the readers that fail.
 *
 * Readers: vt 1.6.0 (replay, OfflineLB), LBAF 1.6.0, vt-tv 1.6.0. doc/formats/vom.md describes the format, its
 * rules and what surprises these readers.
 */
#ifndef HPCW_VOM_H
#define HPCW_VOM_H

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
 *  Limits
 * --------------------------------------------------------------------------------------------------------- */

#define HPCW_VOM_MAX_RANKS 32768u                       /**< 16-bit signed rank in id, home and node */
#define HPCW_VOM_MAX_ELEMENTS ((UINT64_C(1) << 46) - 1) /**< per home rank over the job */
#define HPCW_VOM_MAX_SUBPHASES 65535u                   /**< 16-bit number, the highest is reserved */
#define HPCW_VOM_MAX_DIMENSIONS 16u                     /**< of an index; ours, vt's own types have 1 to 4 */

/* ------------------------------------------------------------------------------------------------------------
 *  Ids (doc/formats/vom.md, "Bits of an id"; vt believes the bits, LBAF believes the fields)
 * --------------------------------------------------------------------------------------------------------- */

/** The two lowest bits of an id, and the id 0. */
typedef enum hpcw_vom_kind {
    HPCW_VOM_GROUP = 0,   /**< this rank's member of an object group */
    HPCW_VOM_HANDLER = 1, /**< the plain message handler of a rank, one per rank */
    HPCW_VOM_FIXED = 2,   /**< a collection element that never moves; vt 1.6.0 makes none */
    HPCW_VOM_ELEMENT = 3, /**< a collection element that may move */
    HPCW_VOM_NOBODY = 4   /**< id 0: messages sent before anything ran; vt lists it on every rank in phase 0 */
} hpcw_vom_kind;

/** The parts of an id. */
typedef struct hpcw_vom_id {
    hpcw_vom_kind kind; /**< what it names */
    uint32_t home;      /**< rank in the id: where an element was made, where a handler or group member lives */
    uint64_t number;    /**< elements: from 0, per home rank over all collections; groups: the group's number */
    bool collective;    /**< groups only */
} hpcw_vom_id;

/**
 * The id of an element.
 *
 * @param home        rank that made it
 * @param number      0 for the first that this rank made, then counting up over all its collections
 * @param migratable  whether it may move to another rank
 * @return the id; 0 for an argument beyond the limits above
 */
HPCW_API uint64_t hpcw_vom_element_id(uint32_t home, uint64_t number, bool migratable);

/** The id of a rank's plain message handling; 0 for a rank beyond the limits above. */
HPCW_API uint64_t hpcw_vom_handler_id(uint32_t rank);

/**
 * The id of a rank's member of an object group.
 *
 * @param number      of the group, below 2^32
 * @param rank        where the member lives
 * @param collective  whether all ranks made the group together
 * @return the id; 0 for a number or rank beyond the limits
 */
HPCW_API uint64_t hpcw_vom_group_id(uint64_t number, uint32_t rank, bool collective);

/** The collection_id of the `number`-th ordinary collection of a job, counting from 0: 7, 524295, ... */
HPCW_API uint64_t hpcw_vom_collection_id(uint32_t number);

/** The objgroup_id that belongs to a group member's id; 0 for other ids. */
HPCW_API uint64_t hpcw_vom_objgroup_id(uint64_t id);

/**
 * Splits an id into its parts.
 *
 * @param parts  out
 * @return HPCW_OK, or HPCW_EINVAL if no id of vt has these bits (or parts is NULL)
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_id_parts(uint64_t id, hpcw_vom_id *parts, hpcw_error *err);

/* ------------------------------------------------------------------------------------------------------------
 *  Records
 * --------------------------------------------------------------------------------------------------------- */

/**
 * Who worked, or sent, or received. The builders below fill it; home and migratable repeat bits of the id.
 * As a task, an element has its collection and index and a group member its group. As an end point of an edge
 * vt names them only for entities that live on the writing rank.
 */
typedef struct hpcw_vom_entity {
    uint64_t id;            /**< vt's id of the entity */
    uint64_t collection_id; /**< 0: absent */
    uint64_t objgroup_id;   /**< 0: absent */
    const uint64_t *index;  /**< [dimensions] position in the collection, unique over all ranks; NULL: absent */
    uint32_t dimensions;    /**< of `index` */
    uint32_t home;          /**< the rank in the id, not the present one */
    bool migratable;        /**< exactly for HPCW_VOM_ELEMENT */
    bool by_seq_id;         /**< seq_id instead of id, see HPCW_VOM_ALLOW_SEQ_IDS; `id` must be 0 then */
    uint64_t seq_id;        /**< a plain number, unique over all ranks, below 2^46 */
} hpcw_vom_entity;

/** A migratable element with everything a task needs. `index` [dimensions] is borrowed until the record's call. */
HPCW_API hpcw_vom_entity hpcw_vom_element(uint32_t home, uint64_t number, uint64_t collection_id,
                                          const uint64_t *index, uint32_t dimensions);
/** The bare handler of a rank. */
HPCW_API hpcw_vom_entity hpcw_vom_handler(uint32_t rank);
/** A member of an object group, with its group. */
HPCW_API hpcw_vom_entity hpcw_vom_group(uint64_t number, uint32_t rank, bool collective);
/** Id 0; vt lists it last in phase 0 of each rank, and nowhere else. */
HPCW_API hpcw_vom_entity hpcw_vom_nobody(void);
/** An entity of another rank: only what its id contains. */
HPCW_API hpcw_vom_entity hpcw_vom_far(uint64_t id);

/** Types of named values. Keys and texts are UTF-8. */
typedef enum hpcw_vom_type {
    HPCW_VOM_INTEGER = 0,
    HPCW_VOM_FLOAT = 1,
    HPCW_VOM_TEXT = 2,
    HPCW_VOM_BOOLEAN =
        3,            /**< true or false; an attribute with HPCW_VOM_ALLOW_TEXT_VALUES alone, as the next one */
    HPCW_VOM_JSON = 4 /**< any other value as JSON text: null, an array, an object */
} hpcw_vom_type;

/** One of them, of an entity or of a rank. */
typedef struct hpcw_vom_value {
    const char *key;    /**< its name */
    hpcw_vom_type type; /**< which of the following counts */
    int64_t integer; /**< attributes without that flag: -2^31 .. 2^31 - 1; a boolean: 0 is false, 1 is true */
    double number;   /**< finite; always written as a float */
    /** UTF-8. JSON is written without its blanks, otherwise as it is; at most 24 levels of nesting, and numbers
     * that a double can hold */
    const char *text;
} hpcw_vom_value;

/**
 * The work of one entity in one phase. Times are seconds as doubles (written with the fewest digits that read back
 * to the same double) or whole nanoseconds (written exactly).
 */
typedef struct hpcw_vom_task {
    hpcw_vom_entity entity;           /**< who worked */
    bool whole_ns;                    /**< which of the two pairs below counts */
    double time_s;                    /**< seconds, >= 0 */
    uint64_t time_ns;                 /**< nanoseconds */
    const double *subphase_s;         /**< [subphases] seconds, >= 0 */
    const uint64_t *subphase_ns;      /**< [subphases] nanoseconds; strict checks need a sum up to time_ns */
    uint32_t subphases;               /**< 0: the key is left out, as vt does for entities that never ran */
    const char *resource;             /**< NULL: "cpu", vt's only one */
    const hpcw_vom_value *attributes; /**< [attribute_count] or NULL */
    size_t attribute_count;           /**< length of `attributes` */
    /** [value_count] or NULL: "user_defined". Keys that balancers know, all numbers: shared_id, shared_bytes,
     * home_rank, task_footprint_bytes, task_working_bytes, task_serialized_bytes, rank_working_bytes (LBAF takes
     * the last from the last task of a phase: put it into every task). */
    const hpcw_vom_value *values;
    size_t value_count; /**< length of `values` */
} hpcw_vom_task;

/** Categories of edges, with vt's numbers; 7 and 8 never occur in a file. */
typedef enum hpcw_vom_category {
    HPCW_VOM_SEND_RECV = 1,                /**< object to object */
    HPCW_VOM_COLLECTION_TO_NODE = 2,       /**< object to node */
    HPCW_VOM_NODE_TO_COLLECTION = 3,       /**< node to object */
    HPCW_VOM_BROADCAST = 4,                /**< object to object, one record per recipient */
    HPCW_VOM_COLLECTION_TO_NODE_BCAST = 5, /**< object to node */
    HPCW_VOM_NODE_TO_COLLECTION_BCAST = 6, /**< node to object */
    HPCW_VOM_WRITE_SHARED = 9,             /**< shared block to its home rank */
    HPCW_VOM_READ_ONLY_SHARED = 10         /**< shared block to its home rank */
} hpcw_vom_category;

/**
 * All messages of one category from one end to another in a phase; once per phase and file.
 *
 * Recorded by: SendRecv to an element: the rank that holds the receiver; SendRecv to a group or handler: the one
 * that holds the sender; Broadcast: the receiver's; categories 2, 3, 5 and 6: the object's; 9 and 10: the rank of
 * the task that declared it (doc/formats/vom.md, "Edge"). LBAF and vt-tv use SendRecv only. The link check of vt's
 * script knows objects only, and so complains about every edge of the categories 2, 3, 5, 6, 9 and 10.
 */
typedef struct hpcw_vom_edge {
    hpcw_vom_category category; /**< selects the fields below that count */
    hpcw_vom_entity from;       /**< if the category says object */
    hpcw_vom_entity to;         /**< if the category says object */
    uint32_t node;              /**< the node's rank; 9 and 10: home rank of the shared block */
    int32_t shared_id;          /**< 9 and 10: number of the block, >= 0 */
    double bytes;               /**< in all, >= 0 */
    uint64_t messages;          /**< their number */
} hpcw_vom_edge;

/* ------------------------------------------------------------------------------------------------------------
 *  Options
 * --------------------------------------------------------------------------------------------------------- */

/** What is refused unless it is allowed; flags of hpcw_vom_options.allow. */
enum {
    /** Entities with seq_id, as LBAF's hand-made data: LBAF and vt-tv take them as global numbers. */
    HPCW_VOM_ALLOW_SEQ_IDS = 1 << 0,
    /** Values of a whole phase (hpcw_vom_end_phase): legal by the schema, but vt's reader throws on them. */
    HPCW_VOM_ALLOW_PHASE_VALUES = 1 << 1,
    /** Texts, booleans and JSON in a task's values, on texts among which vt's TemperedLB aborts; booleans, JSON and
     * integers of 64 bits as attributes. vt writes none of them. */
    HPCW_VOM_ALLOW_TEXT_VALUES = 1 << 2,
    /** Edges on a rank that holds neither end that should record them: readers accept, a strict check does not. */
    HPCW_VOM_ALLOW_FOREIGN_EDGES = 1 << 3,
    /** Migratable tasks of one phase with different numbers of subphases: the replay of vt throws when it moves
     * one. */
    HPCW_VOM_ALLOW_UNEVEN_SUBPHASES = 1 << 4,
    /** Phases that are missing between others without being listed as skipped or identical: OfflineLB aborts.
     * Implied by a specification (see `spec`), which makes vt itself write such files. */
    HPCW_VOM_ALLOW_GAPS = 1 << 5,
    /** Tasks before edges, for programs that know them in this order: all readers accept it, but the layout is not
     * vt's (the keys of the phase are then not in byte order). */
    HPCW_VOM_ALLOW_TASKS_FIRST = 1 << 6
};

/** Phases first .. last. */
typedef struct hpcw_vom_range {
    uint64_t first; /**< the first phase */
    uint64_t last;  /**< the last phase */
} hpcw_vom_range;

/** A rank's place among the physical nodes (hosts); no reader uses it. */
typedef struct hpcw_vom_node {
    uint32_t id;        /**< 0 .. num_nodes - 1, in the order of the lowest rank on each */
    uint32_t num_nodes; /**< in the whole job */
    uint32_t rank;      /**< position on the node, 0 .. size - 1 */
    uint32_t size;      /**< ranks on the node */
} hpcw_vom_node;

/** The node of a rank if every node has the next `per_node` ranks, and the last node the rest. */
HPCW_API hpcw_vom_node hpcw_vom_node_of(uint32_t ranks, uint32_t per_node, uint32_t rank);

/** The phases for which a vt specification file switches the output on; see hpcw_vom_spec_parse. */
typedef struct hpcw_vom_spec hpcw_vom_spec;

/** What a file contains. vt and vt-tv look at the content, LBAF tries brotli first. */
typedef enum hpcw_vom_content {
    HPCW_VOM_BY_NAME = 0, /**< brotli if the name ends in ".br", otherwise plain */
    HPCW_VOM_PLAIN = 1,
    HPCW_VOM_BROTLI = 2 /**< under any name: LBAF's program opens data.<rank>.json only */
} hpcw_vom_content;

/** Options of a file. Initialise with hpcw_vom_options_init, then set what differs. */
typedef struct hpcw_vom_options {
    size_t size;        /**< of this struct; hpcw_vom_options_init sets it (hpcw.h) */
    uint32_t rank;      /**< of this file */
    uint32_t ranks;     /**< of the job, 1 .. 32768 */
    hpcw_vom_node node; /**< size 0 (default): every rank alone on its node */

    /** [..] phases without data, ascending; the same on all ranks. Skipped: unknown; identical: placed as in the
     * nearest earlier phase that has data, so never phase 0. */
    const hpcw_vom_range *skipped;
    size_t skipped_count;            /**< length of `skipped` */
    const hpcw_vom_range *identical; /**< [identical_count] see `skipped` */
    size_t identical_count;          /**< length of `identical` */
    uint64_t phase_count;            /**< written as "count" if not 0: last phase + 1. No reader uses it */
    const hpcw_vom_spec *spec; /**< phases it switches off are checked but not written; borrowed until free */

    const hpcw_vom_value *attributes; /**< [attribute_count] rank-wide; vt 1.6.0 reads but never writes them */
    size_t attribute_count;           /**< length of `attributes` */
    bool has_rank_alpha; /**< write rank_alpha: only LBAF knows it, and only its newer schemas allow it */
    double rank_alpha;   /**< weight of the rank's load, >= 0 */

    unsigned allow; /**< HPCW_VOM_ALLOW_..., default none */
    /**
     * Also check what needs a memory of the phase: a task or an edge that occurs twice, and edges whose recorder is
     * no task of this rank. At most 24 bytes per record of the phase. Ids are compared exactly; edges by 72 bits of
     * a hash (with a million edges one false alarm in 10^10 phases). Not inside lb_iterations.
     */
    bool check;

    hpcw_vom_content content;     /**< default HPCW_VOM_BY_NAME */
    hpcw_brotli_options brotli;   /**< default: that of hpcw_brotli_options_init. Windows of 16 and 21 bits are
                                       refused: readers could take such a stream for plain text */
    hpcw_durability durability;   /**< default HPCW_SYNC_FILE */
    hpcw_sink_source sink_source; /**< where bytes go; zeroed: files */
} hpcw_vom_options;

/** Private: fills in the defaults of a struct of this size. */
HPCW_API void hpcw_vom_options_fill(hpcw_vom_options *options, size_t size);

/** Fills in the defaults: rank 0 of 1. */
static inline void hpcw_vom_options_init(hpcw_vom_options *options) {
    hpcw_vom_options_fill(options, sizeof *options);
}

/* ------------------------------------------------------------------------------------------------------------
 *  Names and directories
 * --------------------------------------------------------------------------------------------------------- */

/**
 * The name of a rank's file, by vt's rule: the first "%p" becomes the rank, without it the rank is put at the end;
 * a compressed file gets ".br" unless it ends so already.
 *
 * @param name        out: the name with its NUL; empty after a failure
 * @param size        size of `name`
 * @param pattern     may begin with directories; NULL: "data.%p.json" (vt's default). vt-tv reads the rank between
 *                    the first and the second dot of the base name, so it must be there; vt's schema
 *                    script guesses it from the numbers in the name, so leave digits out of the stem
 * @param rank        0 .. 32767
 * @param compressed  false also for LBAF's way, brotli under the plain name
 * @return HPCW_OK, HPCW_EINVAL (a pattern whose files vt-tv misreads), HPCW_ERANGE (`size` too small, rank too
 *     high)
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_file_name(char *name, size_t size, const char *pattern,
                                                        uint32_t rank, bool compressed, hpcw_error *err);

/**
 * Makes the directory of a data set as vt does: by one process, one level, mode 0700, an existing one is accepted.
 * Collective over `comm` (NULL: this process alone); `path` must agree.
 *
 * Keep one set, in one form, in a directory: vt-tv counts the files.
 *
 * @return HPCW_OK; HPCW_EINVAL; HPCW_EMISMATCH; HPCW_EEXIST (something else has this name), HPCW_ENOENT,
 * HPCW_EACCES, HPCW_ENOSPC, HPCW_EIO; HPCW_ECOMM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_make_directory(const char *path, hpcw_comm *comm,
                                                             hpcw_error *err);

/* ------------------------------------------------------------------------------------------------------------
 *  Writing
 * --------------------------------------------------------------------------------------------------------- */

/** An opaque file of one rank, open for writing. Distinct handles may be used on different threads. */
typedef struct hpcw_vom hpcw_vom;

/**
 * Creates a rank's file under a temporary name and starts its text. Not collective. Every rank of a job needs one,
 * even without work. Memory: half a MiB; compressed: 7 MiB more with the default options.
 *
 * @param path     final name, see hpcw_vom_file_name; an existing file is replaced at close
 * @param options  NULL: the defaults; copied, with everything it points to except `spec`
 * @param out      the handle, to be freed with hpcw_vom_free; NULL on failure
 * @return HPCW_OK; HPCW_EINVAL, HPCW_ERANGE (options); HPCW_ENOMEM; HPCW_ENOENT, HPCW_EACCES, HPCW_ENOSPC, HPCW_EIO
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_open(const char *path, const hpcw_vom_options *options,
                                                   hpcw_vom **out, hpcw_error *err);

/**
 * Begins a phase. The same phases on all ranks. This call cannot check what one rank does not know: the OfflineLB
 * of vt needs a migratable task on every rank in every phase with data, and the same number of subphases on all
 * ranks.
 *
 * @param id  above the last one's; phases left out must be listed in the options
 * @return HPCW_OK; HPCW_EINVAL (not ascending, listed as without data, an unlisted gap, an identical phase before
 *         the first one with data); HPCW_ESTATE; and what the sink reports
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_begin_phase(hpcw_vom *v, uint64_t id, hpcw_error *err);

/**
 * Adds a task to the open phase (or iteration): every entity that existed on this rank, even an idle one.
 *
 * @return HPCW_OK; HPCW_EINVAL (with the reason in the message), HPCW_ERANGE (a limit above): nothing is written
 *         and the handle stays usable; HPCW_ESTATE (no open phase, a broken handle); HPCW_ENOMEM with `check`;
 *         HPCW_ENOMEM, HPCW_ENOSPC or HPCW_EIO from the sink: the handle is broken
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_task_add(hpcw_vom *v, const hpcw_vom_task *task, hpcw_error *err);

/** Adds an edge to the open phase (or iteration), before its first task. Results as hpcw_vom_task_add. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_edge_add(hpcw_vom *v, const hpcw_vom_edge *edge, hpcw_error *err);

/**
 * Begins an entry of "lb_iterations" in the open phase: an intermediate placement, as LBAF and vt-tv show it; vt
 * ignores it and never writes one. It comes after the edges of the phase and before its tasks.
 *
 * @param id  above that of the phase's last iteration
 * @return as hpcw_vom_task_add
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_begin_iteration(hpcw_vom *v, uint64_t id, hpcw_error *err);

/** Ends the open iteration. `values` [count] are its "user_defined"; NULL and 0: none. Results as
 * hpcw_vom_task_add. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_end_iteration(hpcw_vom *v, const hpcw_vom_value *values,
                                                            size_t count, hpcw_error *err);

/**
 * Ends the open phase.
 *
 * @param values  [count] the phase's "user_defined", with HPCW_VOM_ALLOW_PHASE_VALUES only; NULL and 0: none
 * @return as hpcw_vom_task_add; with `check` also HPCW_EINVAL for edges whose recorder is no task of the phase:
 *         they are in the text already, so the handle is broken
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_end_phase(hpcw_vom *v, const hpcw_vom_value *values, size_t count,
                                                        hpcw_error *err);

/** Bytes of JSON text so far; of all of it after close. 0 for NULL. */
HPCW_API uint64_t hpcw_vom_text_size(const hpcw_vom *v);

/**
 * Ends the text and gives the file its name. Not collective.
 *
 * @return HPCW_OK; HPCW_EINVAL (phases are missing before listed ones, or below the count), HPCW_ESTATE (a phase
 * is open, closed before, broken); HPCW_ENOMEM, HPCW_ENOSPC, HPCW_EACCES, HPCW_EIO: no file has the name
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_close(hpcw_vom *v, hpcw_error *err);

/**
 * Closes the files of a whole set, or of this program's part of it: all get their names, or none, if one of them
 * could not be written or was broken before. Collective over `comm` (NULL: this process alone).
 *
 * If all are files in one directory with names that differ in the rank alone, as hpcw_vom_file_name makes them,
 * they get their names together: the file of the lowest rank is the last, and an older one of its name is removed
 * before. So a reader that keeps this file open, and finds it under its name after it opened others, has files of
 * one set. A file ".hpcw-set-STEM.json" lists them meanwhile. If the program dies in between, or a rename fails,
 * the next hpcw_vom_open of any of these names gives all of them theirs; if somebody put another file of the
 * lowest rank there since, as from a backup, and no new one has its name, it removes what is left of the set
 * instead. HPCW_ETRUNCATED: a new file is gone. Process memory: the names of all files, on one process.
 *
 * @param handles  [count] the open files of this process, any number; NULL entries are skipped. A file that could
 *                 not be opened is not known here: agree on the opens before
 * @return HPCW_OK; the first failure of any process otherwise
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_close_set(hpcw_vom *const *handles, size_t count, hpcw_comm *comm,
                                                        hpcw_error *err);

/** Frees a handle in any state, NULL allowed. Discards the file if it was not closed; a child of fork() touches
 * none. */
HPCW_API void hpcw_vom_free(hpcw_vom *v);

/* ------------------------------------------------------------------------------------------------------------
 *  Which phases: vt's specification file
 * --------------------------------------------------------------------------------------------------------- */

/**
 * Reads the text of a specification (vt: --vt_lb_spec_file): one rule per line, `[%] phase offset- offset+`
 * separated by blanks. Without `%` the output is on for the phases p + offset- .. p + offset+, with `%` for the
 * same span around every multiple of p. All other phases are off. Offsets left out are 0, empty lines are ignored.
 *
 * @param name  name in messages, for instance its path
 * @param text  [size] bytes
 * @param out   to be freed with hpcw_vom_spec_free; NULL on failure
 * @return HPCW_OK; HPCW_EFORMAT (line and reason in the message: a field that is no number, a positive first or
 *         negative second offset, every multiple of 0, the same number twice in the same form); HPCW_EINVAL;
 *         HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_spec_parse(const char *name, const char *text, size_t size,
                                                         hpcw_vom_spec **out, hpcw_error *err);

/** Whether the output is on for a phase. Read-only: many threads may call it. True for NULL. */
HPCW_API bool hpcw_vom_spec_on(const hpcw_vom_spec *spec, uint64_t phase);

/** Frees a specification, NULL allowed. */
HPCW_API void hpcw_vom_spec_free(hpcw_vom_spec *spec);

/* ------------------------------------------------------------------------------------------------------------
 *  The statistics file (JSON type LBStatsfile): one per job, not part of the data set
 * --------------------------------------------------------------------------------------------------------- */

/** Eleven figures of a distribution (vt 1.6.0, LoadData; doc/formats/vom.md, "Statistics file"). */
typedef struct hpcw_vom_figures {
    double avg; /**< mean */
    double car; /**< number of values */
    double imb; /**< max / avg - 1 */
    double kur; /**< excess kurtosis: fourth moment / (sample variance)^2 - 3 */
    double max; /**< largest value */
    double min; /**< smallest value */
    double npr; /**< number of values other than 0 */
    double skw; /**< third moment / (sample variance)^(3/2) */
    double std; /**< square root of var */
    double sum; /**< of all values */
    double var; /**< population variance (vt's own is up to 2^-24 off: it rounds 1 / car to a float) */
} hpcw_vom_figures;

/**
 * The figures of value[0 .. count - 1], added up in this order. Figures that would divide by zero (imb if all are
 * zero; skw and kur of one value or equal ones) are 0. Without values all are 0.
 */
HPCW_API hpcw_vom_figures hpcw_vom_figures_of(const double *value, size_t count);

/** The quantities with figures. The last two are optional in the file. */
typedef enum hpcw_vom_quantity {
    HPCW_VOM_OBJECT_COMM,
    HPCW_VOM_OBJECT_LOAD_MODELED,
    HPCW_VOM_OBJECT_LOAD_RAW,
    HPCW_VOM_OBJECT_STRATEGY_LOAD,
    HPCW_VOM_RANK_COMM,
    HPCW_VOM_RANK_LOAD_MODELED,
    HPCW_VOM_RANK_LOAD_RAW,
    HPCW_VOM_RANK_STRATEGY_LOAD,
    HPCW_VOM_QUANTITIES
} hpcw_vom_quantity;

/** The figures before or after a migration. */
typedef struct hpcw_vom_balance {
    hpcw_vom_figures figures[HPCW_VOM_QUANTITIES]; /**< by hpcw_vom_quantity */
    bool has_strategy_loads;                       /**< write the two optional ones */
} hpcw_vom_balance;

/** An opaque statistics file open for writing. */
typedef struct hpcw_vom_stats hpcw_vom_stats;

/**
 * Creates a statistics file under a temporary name. Keep it out of the data directory, where readers would take it
 * for a rank's file. `options`: only content, brotli, durability and sink_source count; NULL: the defaults.
 * Results as hpcw_vom_open.
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_stats_open(const char *path, const hpcw_vom_options *options,
                                                         hpcw_vom_stats **out, hpcw_error *err);

/**
 * Adds a phase.
 *
 * @param id          above the last one's
 * @param migrations  NULL: not written
 * @param before      "pre-LB"
 * @param after       "post-LB"; NULL: not written
 * @return HPCW_OK; HPCW_EINVAL (not ascending, before is NULL, a figure that is not finite); HPCW_ESTATE; and what
 *         the sink reports: the handle is then broken
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_stats_phase(hpcw_vom_stats *stats, uint64_t id,
                                                          const uint64_t *migrations,
                                                          const hpcw_vom_balance *before,
                                                          const hpcw_vom_balance *after, hpcw_error *err);

/** Ends the text and gives the file its name. Results as hpcw_vom_close. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_stats_close(hpcw_vom_stats *stats, hpcw_error *err);

/** Frees a handle in any state, NULL allowed. Discards the file if it was not closed; a child of fork() touches
 * none. */
HPCW_API void hpcw_vom_stats_free(hpcw_vom_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
