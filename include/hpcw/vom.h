/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * VOM: load-balancing data of DARMA/vt ("Virtual Object Map", JSON type LBDatafile), one file per rank, plain or
 * compressed with brotli. A file says which objects a rank had in each phase, how long each object worked, and
 * which objects sent messages to which.
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
 * A call refuses data that a reader could not handle, with the expected and the actual value; the handle is then
 * unchanged. The flags HPCW_VOM_ALLOW_... allow exceptions; each flag names the readers that fail.
 *
 * Readers: vt 1.6.0 (replay, OfflineLB), LBAF 1.6.0, vt-tv 1.6.0. doc/formats/vom.md describes the format, its
 * rules, and data that these readers do not expect.
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

/** largest number of ranks: vt stores a rank as a signed 16-bit number */
#define HPCW_VOM_MAX_RANKS 32768u
/** largest number of elements that one rank makes in a job */
#define HPCW_VOM_MAX_ELEMENTS ((UINT64_C(1) << 46) - 1)
/** largest number of subphases of a task: vt numbers them with 16 bits, and reserves the highest number */
#define HPCW_VOM_MAX_SUBPHASES 65535u
/** largest number of dimensions of an index; a limit of this library. vt's own types have 1 to 4 dimensions */
#define HPCW_VOM_MAX_DIMENSIONS 16u

/* ------------------------------------------------------------------------------------------------------------
 *  Ids (doc/formats/vom.md, "Bits of an id"; vt uses the bits, LBAF uses the fields)
 * --------------------------------------------------------------------------------------------------------- */

/** Kind of an entity: the two lowest bits of its id, or the id 0. */
typedef enum hpcw_vom_kind {
    HPCW_VOM_GROUP = 0,   /**< a rank's member of an object group */
    HPCW_VOM_HANDLER = 1, /**< the plain message handler of a rank, one per rank */
    HPCW_VOM_FIXED = 2,   /**< a collection element that never moves; vt 1.6.0 makes none */
    HPCW_VOM_ELEMENT = 3, /**< a collection element that may move */
    /** the entity with id 0, which sends the messages before any other entity runs; vt lists it on every rank in
     * phase 0 */
    HPCW_VOM_NOBODY = 4
} hpcw_vom_kind;

/** The parts of an id. */
typedef struct hpcw_vom_id {
    hpcw_vom_kind kind; /**< kind of the entity */
    /** rank in the id: the rank that made an element, or the rank of a handler or group member */
    uint32_t home;
    /** of an element: its number among all elements of its home rank, from 0 on; of a group member: the number of
     * the group */
    uint64_t number;
    bool collective; /**< groups only: all ranks made the group together */
} hpcw_vom_id;

/**
 * Makes the id of an element.
 *
 * @param home        rank that made the element
 * @param number      0 for the first element of this rank, 1 for the second one, and so on over all collections
 * @param migratable  whether the element may move to another rank
 * @return the id; 0 for an argument beyond HPCW_VOM_MAX_RANKS or HPCW_VOM_MAX_ELEMENTS
 */
HPCW_API uint64_t hpcw_vom_element_id(uint32_t home, uint64_t number, bool migratable);

/** Makes the id of a rank's plain message handler; 0 for a rank beyond HPCW_VOM_MAX_RANKS. */
HPCW_API uint64_t hpcw_vom_handler_id(uint32_t rank);

/**
 * Makes the id of a rank's member of an object group.
 *
 * @param number      number of the group, below 2^32
 * @param rank        rank on which the member lives
 * @param collective  whether all ranks made the group together
 * @return the id; 0 for a number or rank beyond the limits
 */
HPCW_API uint64_t hpcw_vom_group_id(uint64_t number, uint32_t rank, bool collective);

/** Returns the collection_id of the `number`-th ordinary collection of a job, counting from 0: 7, 524295, ... */
HPCW_API uint64_t hpcw_vom_collection_id(uint32_t number);

/** Returns the objgroup_id that belongs to a group member's id; 0 for other ids. */
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
 * An entity that worked, sent or received. hpcw_vom_element and the functions after it fill in the struct. `home`
 * and `migratable` repeat bits of the id. In a task, an element has `collection_id` and `index`, and a group member
 * has `objgroup_id`. At an end of an edge, vt writes these members only for entities on the rank of the file.
 */
typedef struct hpcw_vom_entity {
    uint64_t id;            /**< vt's id of the entity */
    uint64_t collection_id; /**< 0: absent */
    uint64_t objgroup_id;   /**< 0: absent */
    const uint64_t *index;  /**< [dimensions] position in the collection, unique over all ranks; NULL: absent */
    uint32_t dimensions;    /**< number of dimensions of `index` */
    uint32_t home;          /**< rank in the id; the entity may be on another rank now */
    bool migratable;        /**< true exactly for HPCW_VOM_ELEMENT */
    /** true: the entity has a seq_id instead of an id, see HPCW_VOM_ALLOW_SEQ_IDS; `id` must then be 0 */
    bool by_seq_id;
    uint64_t seq_id; /**< number of the entity, unique over all ranks, below 2^46 */
} hpcw_vom_entity;

/** Makes a migratable element with all members that a task needs. `index` [dimensions] must stay valid until the
 * task or edge is added. */
HPCW_API hpcw_vom_entity hpcw_vom_element(uint32_t home, uint64_t number, uint64_t collection_id,
                                          const uint64_t *index, uint32_t dimensions);
/** Makes the plain message handler of a rank. */
HPCW_API hpcw_vom_entity hpcw_vom_handler(uint32_t rank);
/** Makes a member of object group `number`, with its objgroup_id. */
HPCW_API hpcw_vom_entity hpcw_vom_group(uint64_t number, uint32_t rank, bool collective);
/** Makes the entity with id 0. vt lists it last in phase 0 of each rank, and nowhere else. */
HPCW_API hpcw_vom_entity hpcw_vom_nobody(void);
/** Makes an entity of another rank, with only the members that its id contains. */
HPCW_API hpcw_vom_entity hpcw_vom_far(uint64_t id);

/** Types of named values. Keys and texts are UTF-8. */
typedef enum hpcw_vom_type {
    HPCW_VOM_INTEGER = 0,
    HPCW_VOM_FLOAT = 1,
    HPCW_VOM_TEXT = 2,
    /** true or false. Attributes of this type need HPCW_VOM_ALLOW_TEXT_VALUES */
    HPCW_VOM_BOOLEAN = 3,
    /** null, an array or an object, as JSON text. Attributes of this type need HPCW_VOM_ALLOW_TEXT_VALUES */
    HPCW_VOM_JSON = 4
} hpcw_vom_type;

/** A named value of an entity or of a rank. */
typedef struct hpcw_vom_value {
    const char *key;    /**< its name */
    hpcw_vom_type type; /**< type, which says whether `integer`, `number` or `text` is valid */
    /** integer or boolean (0: false, 1: true). An attribute outside of -2^31 .. 2^31 - 1 needs
     * HPCW_VOM_ALLOW_TEXT_VALUES */
    int64_t integer;
    double number; /**< finite; always written as a float */
    /** text or JSON in UTF-8. JSON is written without blanks, otherwise unchanged. It has at most 24 levels of
     * nesting, and its numbers must fit into a double */
    const char *text;
} hpcw_vom_value;

/**
 * The work of one entity in one phase. Times are seconds as doubles (written with the fewest digits that read back
 * to the same double) or whole nanoseconds (written exactly).
 */
typedef struct hpcw_vom_task {
    hpcw_vom_entity entity; /**< the entity that worked */
    /** true: time_ns and subphase_ns are valid; false: time_s and subphase_s are valid */
    bool whole_ns;
    double time_s;            /**< seconds, >= 0 */
    uint64_t time_ns;         /**< nanoseconds */
    const double *subphase_s; /**< [subphases] times of the subphases, s, >= 0 */
    /** [subphases] times of the subphases, ns; by rule vom-19 of doc/formats/vom.md, at most time_ns in total */
    const uint64_t *subphase_ns;
    /** number of subphases; 0: the key "subphases" is left out, as vt does for entities that never ran */
    uint32_t subphases;
    /** resource that the task used; NULL: "cpu", the only resource that vt writes */
    const char *resource;
    const hpcw_vom_value *attributes; /**< [attribute_count] attributes of the task, or NULL */
    size_t attribute_count;           /**< length of `attributes` */
    /** [value_count] values of "user_defined", or NULL. Load balancers know these keys, all with numbers:
     * shared_id, shared_bytes, home_rank, task_footprint_bytes, task_working_bytes, task_serialized_bytes,
     * rank_working_bytes. LBAF reads rank_working_bytes from the last task of a phase, so give it to every task. */
    const hpcw_vom_value *values;
    size_t value_count; /**< length of `values` */
} hpcw_vom_task;

/** Categories of edges, with vt's numbers; 7 and 8 never occur in a file. An object is an entity, and a node is a
 * rank. */
typedef enum hpcw_vom_category {
    HPCW_VOM_SEND_RECV = 1,                /**< object to object */
    HPCW_VOM_COLLECTION_TO_NODE = 2,       /**< object to node */
    HPCW_VOM_NODE_TO_COLLECTION = 3,       /**< node to object */
    HPCW_VOM_BROADCAST = 4,                /**< object to object, one edge for each receiver */
    HPCW_VOM_COLLECTION_TO_NODE_BCAST = 5, /**< object to node */
    HPCW_VOM_NODE_TO_COLLECTION_BCAST = 6, /**< node to object */
    HPCW_VOM_WRITE_SHARED = 9,             /**< shared block to its home rank */
    HPCW_VOM_READ_ONLY_SHARED = 10         /**< shared block to its home rank */
} hpcw_vom_category;

/**
 * All messages of one category from one sender to one receiver in a phase. An edge occurs once per phase and file.
 *
 * The category decides which rank records an edge (doc/formats/vom.md, "Edge"). The rank of the receiver records a
 * SendRecv to an element, and a Broadcast. The rank of the sender records a SendRecv to a group member or handler.
 * The rank of the object records categories 2, 3, 5 and 6. The rank of the task that declared the shared block
 * records categories 9 and 10. LBAF and vt-tv use SendRecv only. vt's JSON_data_files_validator.py knows only
 * objects as ends, so it reports every edge of the categories 2, 3, 5, 6, 9 and 10.
 */
typedef struct hpcw_vom_edge {
    hpcw_vom_category category; /**< category, which says which other members are valid */
    hpcw_vom_entity from;       /**< sender, if the category sends from an object */
    hpcw_vom_entity to;         /**< receiver, if the category sends to an object */
    uint32_t node;              /**< rank of the node; categories 9 and 10: home rank of the shared block */
    int32_t shared_id;          /**< categories 9 and 10: number of the shared block, >= 0 */
    double bytes;               /**< total bytes, >= 0 */
    uint64_t messages;          /**< number of messages */
} hpcw_vom_edge;

/* ------------------------------------------------------------------------------------------------------------
 *  Options
 * --------------------------------------------------------------------------------------------------------- */

/** Flags for hpcw_vom_options.allow. Each flag allows data that are otherwise refused. */
enum {
    /** Entities with a seq_id instead of an id, as in LBAF's hand-made data. LBAF and vt-tv take the seq_id for a
     * number that is unique over all ranks. */
    HPCW_VOM_ALLOW_SEQ_IDS = 1 << 0,
    /** Values of a whole phase (hpcw_vom_end_phase). The schema allows them, but vt's reader throws an
     * exception. */
    HPCW_VOM_ALLOW_PHASE_VALUES = 1 << 1,
    /** Two kinds of data that vt never writes. First, texts, booleans and JSON in a task's values: vt's TemperedLB
     * aborts on a text there. Second, booleans, JSON and integers of 64 bits as attributes. */
    HPCW_VOM_ALLOW_TEXT_VALUES = 1 << 2,
    /** Edges in the file of a rank that should not record them. Readers accept such edges. Strict checks do not:
     * doc/formats/vom.md#vom-26. */
    HPCW_VOM_ALLOW_FOREIGN_EDGES = 1 << 3,
    /** Migratable tasks of one phase with different numbers of subphases. The replay of vt throws an exception when
     * it moves such a task. */
    HPCW_VOM_ALLOW_UNEVEN_SUBPHASES = 1 << 4,
    /** Gaps in the numbers of phases: missing phases that are listed neither as skipped nor as identical. OfflineLB
     * aborts on such files. A specification (see `spec`) implies this flag, as vt itself then writes such files. */
    HPCW_VOM_ALLOW_GAPS = 1 << 5,
    /** Tasks before edges, and before iterations, for programs that know the tasks first. LBAF writes phases in
     * this order: tasks, edges, iterations. All readers accept this order, but it is not vt's: the keys of the
     * phase are then not in byte order. */
    HPCW_VOM_ALLOW_TASKS_FIRST = 1 << 6
};

/** The phases from `first` to `last`, both included. */
typedef struct hpcw_vom_range {
    uint64_t first; /**< the first phase */
    uint64_t last;  /**< the last phase */
} hpcw_vom_range;

/** The place of a rank on the hosts of a job. No reader uses this information. */
typedef struct hpcw_vom_node {
    /** number of the host, 0 .. num_nodes - 1. Hosts are ordered by their lowest ranks */
    uint32_t id;
    uint32_t num_nodes; /**< number of hosts of the job */
    uint32_t rank;      /**< index of the rank on the host, 0 .. size - 1 */
    uint32_t size;      /**< number of ranks on the host */
} hpcw_vom_node;

/** Returns the place of a rank if ranks fill the hosts in ascending order, `per_node` ranks on each host. The last
 * host has the remainder. */
HPCW_API hpcw_vom_node hpcw_vom_node_of(uint32_t ranks, uint32_t per_node, uint32_t rank);

/** The phases for which a vt specification file switches the output on; see hpcw_vom_spec_parse. */
typedef struct hpcw_vom_spec hpcw_vom_spec;

/** Encoding of a file. To recognise it, vt and vt-tv look at the content; LBAF tries brotli first. */
typedef enum hpcw_vom_content {
    HPCW_VOM_BY_NAME = 0, /**< brotli if the name ends in ".br", otherwise plain */
    HPCW_VOM_PLAIN = 1,
    /** brotli, whatever the name is. LBAF needs this, as it opens only names of the form data.<rank>.json */
    HPCW_VOM_BROTLI = 2
} hpcw_vom_content;

/** Options of a file. Initialise with hpcw_vom_options_init, then set what differs. */
typedef struct hpcw_vom_options {
    size_t size;        /**< size of this struct; hpcw_vom_options_init sets it (hpcw.h) */
    uint32_t rank;      /**< rank whose data the file has, 0 .. ranks - 1 */
    uint32_t ranks;     /**< number of ranks of the job, 1 .. 32768 */
    hpcw_vom_node node; /**< place of the rank on the hosts; `size` 0 (default): each rank is alone on a host */

    /** [skipped_count] phases without data in which the placement of the objects is unknown, ascending; the same on
     * all ranks */
    const hpcw_vom_range *skipped;
    size_t skipped_count; /**< length of `skipped` */
    /** [identical_count] phases without data whose placement of the objects is that of the nearest earlier phase
     * with data, ascending; the same on all ranks. Phase 0 is never identical */
    const hpcw_vom_range *identical;
    size_t identical_count; /**< length of `identical` */
    /** last phase + 1, written as "count"; 0: not written. No reader uses the count */
    uint64_t phase_count;
    /** specification of the phases to write. The other phases are checked but not written. Borrowed until
     * hpcw_vom_free. NULL: all phases are written */
    const hpcw_vom_spec *spec;

    /** [attribute_count] attributes of the rank; vt 1.6.0 reads attributes but never writes them */
    const hpcw_vom_value *attributes;
    size_t attribute_count; /**< length of `attributes` */
    /** true: writes rank_alpha. Only LBAF uses this key. The schema of vt allows it since 1.6.0 */
    bool has_rank_alpha;
    double rank_alpha; /**< weight of the rank's load, >= 0 */

    unsigned allow; /**< sum of flags HPCW_VOM_ALLOW_...; default 0 */
    /**
     * true: also refuses records that break a rule between the records of a phase: no task and no edge occurs
     * twice, and the entity for which this rank records an edge is a task of the phase. The check needs at most 24
     * bytes of memory per record of the phase. Ids are compared exactly, edges by 72 bits of a hash (with a million
     * edges one false alarm in 10^10 phases). Iterations are not checked.
     */
    bool check;

    hpcw_vom_content content; /**< default HPCW_VOM_BY_NAME */
    /** options of the compression; defaults as hpcw_brotli_options_init. Windows of 16 and 21 bits are refused:
     * readers could take the compressed stream for plain text */
    hpcw_brotli_options brotli;
    hpcw_durability durability;   /**< default HPCW_SYNC_FILE */
    hpcw_sink_source sink_source; /**< where the bytes go; all zero: to files */
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
 * Makes the name of a rank's file, by vt's rule: the first "%p" becomes the rank; without it the rank is put at
 * the end. A compressed file gets ".br" at the end, unless the name has it already.
 *
 * @param name        out: the name with its NUL; empty after a failure
 * @param size        size of `name`
 * @param pattern     may begin with directories; NULL: "data.%p.json" (vt's default). vt-tv reads the rank between
 *                    the first and the second dot of the base name, so "%p" must be there. vt's schema script
 *                    guesses the rank from the numbers in the name, so use no digits in the stem
 * @param rank        0 .. 32767
 * @param compressed  whether to add ".br"; false also for the form that LBAF reads: brotli under a name without
 *                    ".br"
 * @return HPCW_OK, HPCW_EINVAL (a pattern whose files vt-tv misreads), HPCW_ERANGE (`size` too small, rank too
 *     high)
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_file_name(char *name, size_t size, const char *pattern,
                                                        uint32_t rank, bool compressed, hpcw_error *err);

/**
 * Makes the directory of a data set as vt does. One process makes it, with mode 0700, but not its parents. An
 * existing directory is accepted. Collective over `comm` (NULL: this process alone); `path` must be the same on all
 * processes.
 *
 * Keep only one set, in one encoding, in a directory: vt-tv counts the files.
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
 * Creates a rank's file under a temporary name and starts its text. Not collective. Every rank of a job needs a
 * file, even without work. Memory: half a MiB; compressed: 7 MiB more with the default options.
 *
 * @param path     final name, see hpcw_vom_file_name; an existing file is replaced at close
 * @param options  NULL: the defaults; copied, with everything it points to except `spec`
 * @param out      the handle, to be freed with hpcw_vom_free; NULL on failure
 * @return HPCW_OK; HPCW_EINVAL, HPCW_ERANGE (options); HPCW_ENOMEM; HPCW_ENOENT, HPCW_EACCES, HPCW_ENOSPC, HPCW_EIO
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_open(const char *path, const hpcw_vom_options *options,
                                                   hpcw_vom **out, hpcw_error *err);

/**
 * Begins a phase. All ranks have the same phases. One rank cannot check two rules of vt's OfflineLB: in every
 * phase with data, every rank has a migratable task, and all ranks have the same number of subphases.
 *
 * @param id  number of the phase, above that of the previous phase. Phases in between must be listed in the options
 * @return HPCW_OK; HPCW_EINVAL (not ascending, listed as without data, an unlisted gap, an identical phase before
 *         the first one with data); HPCW_ESTATE; and errors of the sink
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_begin_phase(hpcw_vom *v, uint64_t id, hpcw_error *err);

/**
 * Adds a task to the open phase (or iteration). Every entity that existed on this rank needs a task, even if it was
 * idle.
 *
 * @return HPCW_OK; HPCW_EINVAL (with the reason in the message), HPCW_ERANGE (a limit above): nothing is written
 *         and the handle stays usable; HPCW_ESTATE (no open phase, a broken handle); HPCW_ENOMEM, HPCW_ENOSPC or
 *         HPCW_EIO: the handle is broken
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_task_add(hpcw_vom *v, const hpcw_vom_task *task, hpcw_error *err);

/** Adds an edge to the open phase (or iteration), before its first task. Results as hpcw_vom_task_add. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_edge_add(hpcw_vom *v, const hpcw_vom_edge *edge, hpcw_error *err);

/**
 * Begins an entry of "lb_iterations" in the open phase: an intermediate placement of the tasks on ranks, as LBAF
 * and vt-tv show it; vt ignores it and never writes one. It comes after the edges of the phase and before its
 * tasks; with HPCW_VOM_ALLOW_TASKS_FIRST, all iterations of a phase may come after both.
 *
 * @param id  number of the iteration, above that of the previous iteration of the phase
 * @return as hpcw_vom_task_add
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_begin_iteration(hpcw_vom *v, uint64_t id, hpcw_error *err);

/** Ends the open iteration. `values` [count] are the values of "user_defined" of the iteration; NULL and 0: none.
 * Results as hpcw_vom_task_add. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_end_iteration(hpcw_vom *v, const hpcw_vom_value *values,
                                                            size_t count, hpcw_error *err);

/**
 * Ends the open phase.
 *
 * @param values  [count] values of "user_defined" of the phase, only with HPCW_VOM_ALLOW_PHASE_VALUES; NULL and 0:
 *                none
 * @return as hpcw_vom_task_add; with `check` also HPCW_EINVAL if this rank recorded an edge for an entity that is
 *         no task of the phase. The edge is already in the text, so the handle is broken
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_end_phase(hpcw_vom *v, const hpcw_vom_value *values, size_t count,
                                                        hpcw_error *err);

/** Returns the number of bytes of JSON text so far, or, after the close, of the whole text; 0 if `v` is NULL. */
HPCW_API uint64_t hpcw_vom_text_size(const hpcw_vom *v);

/**
 * Ends the text and gives the file its name. Not collective.
 *
 * @return HPCW_OK; HPCW_EINVAL (a phase below phase_count, or below a listed phase, was neither written nor listed
 * in the options; or no phase was written before an identical one); HPCW_ESTATE (a phase is open, the handle is
 * closed or broken); HPCW_ENOMEM, HPCW_ENOSPC, HPCW_EACCES, HPCW_EIO: the file did not get its name
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_close(hpcw_vom *v, hpcw_error *err);

/**
 * Closes the files of a whole set, or of this program's part of a set. Either all files get their names, or none,
 * if one of them could not be written or was broken before. Collective over `comm` (NULL: this process alone).
 *
 * The files get their names together if they are in one directory and their names differ in the rank alone, as
 * hpcw_vom_file_name makes them. An older file of the lowest rank is removed first, and the new file of that rank
 * gets its name last. So a reader can open the file of the lowest rank, then the other files, and then check that
 * the first file still has its name: all files then belong to one set. During the renames, a file
 * ".hpcw-set-STEM.json" lists the files of the set.
 *
 * If the program dies during the renames, or a rename fails, the next hpcw_vom_open of any of these names finishes
 * the renames. It removes the new files instead if another file of the lowest rank was put there in the meantime,
 * for instance from a backup, and no new file has its name yet. The open fails with HPCW_ETRUNCATED if a new file
 * is missing. Memory: one process holds the names of all files.
 *
 * @param handles  [count] the open files of this process, any number; NULL entries are skipped. This call does not
 *                 learn that a file could not be opened: before the call, check on all processes that every open
 *                 succeeded
 * @return HPCW_OK; the first failure of any process otherwise
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_close_set(hpcw_vom *const *handles, size_t count, hpcw_comm *comm,
                                                        hpcw_error *err);

/** Frees a handle in any state, NULL allowed. A file that was not closed is discarded. In a child of fork(), no
 * file is touched. */
HPCW_API void hpcw_vom_free(hpcw_vom *v);

/* ------------------------------------------------------------------------------------------------------------
 *  vt's specification file: which phases to write
 * --------------------------------------------------------------------------------------------------------- */

/**
 * Reads the text of a specification (vt: --vt_lb_spec_file): one rule per line, `[%] phase offset- offset+`
 * separated by blanks. Without `%` the output is on for the phases p + offset- .. p + offset+, with `%` for the
 * same span around every multiple of p. All other phases are off. An offset that is left out is 0. Empty lines are
 * ignored.
 *
 * @param name  name of the text in messages, for instance its path
 * @param text  [size] bytes
 * @param out   to be freed with hpcw_vom_spec_free; NULL on failure
 * @return HPCW_OK; HPCW_EFORMAT (line and reason in the message: a field that is no number, a positive first or
 *         negative second offset, every multiple of 0, the same number twice in the same form); HPCW_EINVAL;
 *         HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_spec_parse(const char *name, const char *text, size_t size,
                                                         hpcw_vom_spec **out, hpcw_error *err);

/** Returns whether the output is on for a phase; true if `spec` is NULL. Several threads may call this function at
 * the same time. */
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
    double std; /**< standard deviation: square root of `var` */
    double sum; /**< sum of all values */
    /** population variance (the variance that vt computes has a relative error of up to 2^-24, as vt rounds 1 /
     * `car` to a float) */
    double var;
} hpcw_vom_figures;

/**
 * Computes the figures of value[0 .. count - 1], added up in this order. Figures that would need a division by zero
 * are 0: `imb` if all values are 0; `skw` and `kur` if all values are equal or there is only one. Without values
 * all figures are 0.
 */
HPCW_API hpcw_vom_figures hpcw_vom_figures_of(const double *value, size_t count);

/** The quantities that have figures. The last two of this list are optional in the file. */
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
    /** [HPCW_VOM_QUANTITIES] figures, indexed by hpcw_vom_quantity */
    hpcw_vom_figures figures[HPCW_VOM_QUANTITIES];
    bool has_strategy_loads; /**< true: the two optional quantities are written */
} hpcw_vom_balance;

/** An opaque statistics file open for writing. */
typedef struct hpcw_vom_stats hpcw_vom_stats;

/**
 * Creates a statistics file under a temporary name. Do not put it into the data directory, where readers would
 * take it for a rank's file. Of `options` only content, brotli, durability and sink_source count; NULL: the
 * defaults. Results as hpcw_vom_open.
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_stats_open(const char *path, const hpcw_vom_options *options,
                                                         hpcw_vom_stats **out, hpcw_error *err);

/**
 * Adds a phase.
 *
 * @param id          number of the phase, above that of the previous phase
 * @param migrations  number of migrations; NULL: not written
 * @param before      figures before the migrations, key "pre-LB"
 * @param after       figures after the migrations, key "post-LB"; NULL: not written
 * @return HPCW_OK; HPCW_EINVAL (not ascending, before is NULL, a figure that is not finite); HPCW_ESTATE; and
 *         errors of the sink: the handle is then broken
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_stats_phase(hpcw_vom_stats *stats, uint64_t id,
                                                          const uint64_t *migrations,
                                                          const hpcw_vom_balance *before,
                                                          const hpcw_vom_balance *after, hpcw_error *err);

/** Ends the text and gives the file its name. Results as hpcw_vom_close. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_stats_close(hpcw_vom_stats *stats, hpcw_error *err);

/** Frees a handle in any state, NULL allowed. A file that was not closed is discarded. In a child of fork(), no
 * file is touched. */
HPCW_API void hpcw_vom_stats_free(hpcw_vom_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
