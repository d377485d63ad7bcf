/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * VOM: load-balancing data of DARMA/vt ("Virtual Object Map", JSON type LBDatafile), one file per rank, plain or
 * compressed with brotli. It says which objects a rank held in each phase, how long they worked, and which object
 * sent to which.
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

#define HPCW_VOM_MAX_RANKS 32768u                       /**< 16-bit signed rank in id, home and node */
#define HPCW_VOM_MAX_ELEMENTS ((UINT64_C(1) << 46) - 1) /**< elements per home rank over the job */
/** 16-bit number, of which the highest is reserved */
#define HPCW_VOM_MAX_SUBPHASES 65535u
/** dimensions of an index; a limit of this library, vt's own types have 1 to 4 */
#define HPCW_VOM_MAX_DIMENSIONS 16u

/* ------------------------------------------------------------------------------------------------------------
 *  Ids (doc/formats/vom.md, "Bits of an id"; vt uses the bits, LBAF uses the fields)
 * --------------------------------------------------------------------------------------------------------- */

/** Kind of an entity: the two lowest bits of its id, or the id 0. */
typedef enum hpcw_vom_kind {
    HPCW_VOM_GROUP = 0,   /**< this rank's member of an object group */
    HPCW_VOM_HANDLER = 1, /**< the plain message handler of a rank, one per rank */
    HPCW_VOM_FIXED = 2,   /**< a collection element that never moves; vt 1.6.0 makes none */
    HPCW_VOM_ELEMENT = 3, /**< a collection element that may move */
    /** id 0: sender of messages before any entity ran; vt lists it on every rank in phase 0 */
    HPCW_VOM_NOBODY = 4
} hpcw_vom_kind;

/** The parts of an id. */
typedef struct hpcw_vom_id {
    hpcw_vom_kind kind; /**< kind of the entity */
    /** rank in the id: the rank that made an element, or on which a handler or group member lives */
    uint32_t home;
    /** element: counts from 0 over all collections of its home rank; group: the group's number */
    uint64_t number;
    bool collective; /**< groups only: all ranks made the group together */
} hpcw_vom_id;

/**
 * Makes the id of an element.
 *
 * @param home        rank that made it
 * @param number      0 for the first element of this rank, then counting up over all its collections
 * @param migratable  whether it may move to another rank
 * @return the id; 0 for an argument beyond the limits above
 */
HPCW_API uint64_t hpcw_vom_element_id(uint32_t home, uint64_t number, bool migratable);

/** Makes the id of a rank's plain message handler; 0 for a rank beyond the limits above. */
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
 * An entity that worked, sent or received. The builders below fill it. `home` and `migratable` repeat bits of the
 * id. In a task, an element has its collection and index, and a group member its group. At an end of an edge, vt
 * names them only for entities that live on the writing rank.
 */
typedef struct hpcw_vom_entity {
    uint64_t id;            /**< vt's id of the entity */
    uint64_t collection_id; /**< 0: absent */
    uint64_t objgroup_id;   /**< 0: absent */
    const uint64_t *index;  /**< [dimensions] position in the collection, unique over all ranks; NULL: absent */
    uint32_t dimensions;    /**< of `index` */
    uint32_t home;          /**< the rank in the id, not the present one */
    bool migratable;        /**< exactly for HPCW_VOM_ELEMENT */
    /** identified by seq_id instead of id, see HPCW_VOM_ALLOW_SEQ_IDS; `id` must be 0 then */
    bool by_seq_id;
    uint64_t seq_id; /**< a plain number, unique over all ranks, below 2^46 */
} hpcw_vom_entity;

/** Makes a migratable element with all members that a task needs. `index` [dimensions] must stay valid until the
 * record is added. */
HPCW_API hpcw_vom_entity hpcw_vom_element(uint32_t home, uint64_t number, uint64_t collection_id,
                                          const uint64_t *index, uint32_t dimensions);
/** Makes the plain message handler of a rank. */
HPCW_API hpcw_vom_entity hpcw_vom_handler(uint32_t rank);
/** Makes a member of an object group, with its group. */
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
    /** true or false. As an attribute, this type and the next one need HPCW_VOM_ALLOW_TEXT_VALUES */
    HPCW_VOM_BOOLEAN = 3,
    HPCW_VOM_JSON = 4 /**< any other value as JSON text: null, an array, an object */
} hpcw_vom_type;

/** A named value of an entity or of a rank. */
typedef struct hpcw_vom_value {
    const char *key;    /**< its name */
    hpcw_vom_type type; /**< type; says which member below is valid */
    /** an attribute without that flag: -2^31 .. 2^31 - 1; a boolean: 0 is false, 1 is true */
    int64_t integer;
    double number; /**< finite; always written as a float */
    /** UTF-8. JSON is written without its blanks, otherwise unchanged. It has at most 24 levels of nesting, and its
     * numbers must fit into a double */
    const char *text;
} hpcw_vom_value;

/**
 * The work of one entity in one phase. Times are seconds as doubles (written with the fewest digits that read back
 * to the same double) or whole nanoseconds (written exactly).
 */
typedef struct hpcw_vom_task {
    hpcw_vom_entity entity;   /**< the entity that worked */
    bool whole_ns;            /**< true: the members in ns are valid; false: those in s */
    double time_s;            /**< seconds, >= 0 */
    uint64_t time_ns;         /**< nanoseconds */
    const double *subphase_s; /**< [subphases] seconds, >= 0 */
    /** [subphases] nanoseconds; a strict check wants their sum to be at most time_ns */
    const uint64_t *subphase_ns;
    /** number of subphases; 0: the key is left out, as vt does for entities that never ran */
    uint32_t subphases;
    const char *resource;             /**< NULL: "cpu", the only one that vt writes */
    const hpcw_vom_value *attributes; /**< [attribute_count] or NULL */
    size_t attribute_count;           /**< length of `attributes` */
    /** [value_count] or NULL: "user_defined". Balancers know these keys, all with numbers: shared_id, shared_bytes,
     * home_rank, task_footprint_bytes, task_working_bytes, task_serialized_bytes, rank_working_bytes. LBAF takes
     * the last one from the last task of a phase: put it into every task. */
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
 * All messages of one category from one end to another in a phase. It occurs once per phase and file.
 *
 * The category decides which rank records an edge (doc/formats/vom.md, "Edge"). A SendRecv to an element is
 * recorded by the rank of the receiver, a SendRecv to a group or handler by that of the sender. A Broadcast is
 * recorded by the rank of the receiver. Categories 2, 3, 5 and 6 are recorded by that of the object, 9 and 10 by
 * that of the task that declared the block. LBAF and vt-tv use SendRecv only. The link check of vt's script knows
 * objects only, so it reports every edge of the categories 2, 3, 5, 6, 9 and 10.
 */
typedef struct hpcw_vom_edge {
    hpcw_vom_category category; /**< category; says which members below are valid */
    hpcw_vom_entity from;       /**< sender, if the category says object */
    hpcw_vom_entity to;         /**< receiver, if the category says object */
    uint32_t node;              /**< the node's rank; 9 and 10: home rank of the shared block */
    int32_t shared_id;          /**< 9 and 10: number of the block, >= 0 */
    double bytes;               /**< total bytes, >= 0 */
    uint64_t messages;          /**< number of messages */
} hpcw_vom_edge;

/* ------------------------------------------------------------------------------------------------------------
 *  Options
 * --------------------------------------------------------------------------------------------------------- */

/** Data that are refused unless a flag in hpcw_vom_options.allow allows them. */
enum {
    /** Entities with seq_id, as in LBAF's hand-made data. LBAF and vt-tv take a seq_id as a global number. */
    HPCW_VOM_ALLOW_SEQ_IDS = 1 << 0,
    /** Values of a whole phase (hpcw_vom_end_phase). The schema allows them, but vt's reader throws on them. */
    HPCW_VOM_ALLOW_PHASE_VALUES = 1 << 1,
    /** Two kinds of data that vt never writes. First, texts, booleans and JSON in a task's values: vt's TemperedLB
     * aborts on a text there. Second, booleans, JSON and integers of 64 bits as attributes. */
    HPCW_VOM_ALLOW_TEXT_VALUES = 1 << 2,
    /** Edges in the file of another rank than the one that should record them (doc/formats/vom.md#vom-26). Readers
     * accept them, a strict check does not. */
    HPCW_VOM_ALLOW_FOREIGN_EDGES = 1 << 3,
    /** Migratable tasks of one phase with different numbers of subphases. The replay of vt throws when it moves
     * one. */
    HPCW_VOM_ALLOW_UNEVEN_SUBPHASES = 1 << 4,
    /** Missing phases between others that are not listed as skipped or identical. OfflineLB aborts on them. A
     * specification (see `spec`) implies this flag, as vt itself then writes such files. */
    HPCW_VOM_ALLOW_GAPS = 1 << 5,
    /** Tasks before edges, for programs that know them in this order. All readers accept it, but the layout is not
     * vt's: the keys of the phase are then not in byte order. */
    HPCW_VOM_ALLOW_TASKS_FIRST = 1 << 6
};

/** The phases from first to last. */
typedef struct hpcw_vom_range {
    uint64_t first; /**< the first phase */
    uint64_t last;  /**< the last phase */
} hpcw_vom_range;

/** A rank's position among the physical nodes (hosts). No reader uses it. */
typedef struct hpcw_vom_node {
    /** number of the node, 0 .. num_nodes - 1, in the order of the lowest rank on each */
    uint32_t id;
    uint32_t num_nodes; /**< number of nodes of the job */
    uint32_t rank;      /**< position on the node, 0 .. size - 1 */
    uint32_t size;      /**< number of ranks on the node */
} hpcw_vom_node;

/** Makes the node of a rank if every node has the next `per_node` ranks, and the last node the rest. */
HPCW_API hpcw_vom_node hpcw_vom_node_of(uint32_t ranks, uint32_t per_node, uint32_t rank);

/** The phases for which a vt specification file switches the output on; see hpcw_vom_spec_parse. */
typedef struct hpcw_vom_spec hpcw_vom_spec;

/** Encoding of a file. To recognise it, vt and vt-tv look at the content; LBAF tries brotli first. */
typedef enum hpcw_vom_content {
    HPCW_VOM_BY_NAME = 0, /**< brotli if the name ends in ".br", otherwise plain */
    HPCW_VOM_PLAIN = 1,
    HPCW_VOM_BROTLI = 2 /**< under any name: LBAF's program opens data.<rank>.json only */
} hpcw_vom_content;

/** Options of a file. Initialise with hpcw_vom_options_init, then set what differs. */
typedef struct hpcw_vom_options {
    size_t size;        /**< of this struct; hpcw_vom_options_init sets it (hpcw.h) */
    uint32_t rank;      /**< number of ranks of the job, 1 .. 32768 */
    uint32_t ranks;     /**< of the job, 1 .. 32768 */
    hpcw_vom_node node; /**< size 0 (default): every rank alone on its node */

    /** [skipped_count] phases without data, ascending; the same on all ranks. The placement in a skipped phase is
     * unknown. In an identical phase it is that of the nearest earlier phase with data, so phase 0 is never
     * identical. */
    const hpcw_vom_range *skipped;
    size_t skipped_count;            /**< length of `skipped` */
    const hpcw_vom_range *identical; /**< [identical_count] see `skipped` */
    size_t identical_count;          /**< length of `identical` */
    /** last phase + 1, written as "count"; 0: not written. No reader uses it */
    uint64_t phase_count;
    /** phases to write; phases that it switches off are checked but not written. Borrowed until free. NULL: all
     * phases */
    const hpcw_vom_spec *spec;

    /** [attribute_count] attributes of the rank; vt 1.6.0 reads but never writes them */
    const hpcw_vom_value *attributes;
    size_t attribute_count; /**< length of `attributes` */
    bool has_rank_alpha;    /**< write rank_alpha, which only LBAF knows; only its newer schemas allow it */
    double rank_alpha;      /**< weight of the rank's load, >= 0 */

    unsigned allow; /**< flags HPCW_VOM_ALLOW_..., default none */
    /**
     * Also check rules that need a memory of the phase: a task or an edge occurs twice, or the recorder of an edge
     * is no task of this rank. This takes at most 24 bytes per record of the phase. Ids are compared exactly,
     * edges by 72 bits of a hash (with a million edges one false alarm in 10^10 phases). Iterations are not
     * checked.
     */
    bool check;

    hpcw_vom_content content; /**< default HPCW_VOM_BY_NAME */
    /** defaults: those of hpcw_brotli_options_init. Windows of 16 and 21 bits are refused: readers could take
     * such a stream for plain text */
    hpcw_brotli_options brotli;
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
 * Makes the name of a rank's file, by vt's rule: the first "%p" becomes the rank; without it the rank is put at
 * the end. A compressed file gets ".br" at the end, unless the name has it already.
 *
 * @param name        out: the name with its NUL; empty after a failure
 * @param size        size of `name`
 * @param pattern     may begin with directories; NULL: "data.%p.json" (vt's default). vt-tv reads the rank between
 *                    the first and the second dot of the base name, so it must be there; vt's schema
 *                    script guesses it from the numbers in the name, so leave digits out of the stem
 * @param rank        0 .. 32767
 * @param compressed  whether to add ".br"; false also for LBAF's form, brotli under the plain name
 * @return HPCW_OK, HPCW_EINVAL (a pattern whose files vt-tv misreads), HPCW_ERANGE (`size` too small, rank too
 *     high)
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_file_name(char *name, size_t size, const char *pattern,
                                                        uint32_t rank, bool compressed, hpcw_error *err);

/**
 * Makes the directory of a data set as vt does. One process makes it, with mode 0700, but not its parents. An
 * existing directory is accepted. Collective over `comm` (NULL: this process alone); `path` must agree.
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
 * Begins a phase. All ranks have the same phases. One rank cannot check two rules of vt's OfflineLB: in every
 * phase with data, every rank has a migratable task, and all ranks have the same number of subphases.
 *
 * @param id  above that of the phase before; phases left out must be listed in the options
 * @return HPCW_OK; HPCW_EINVAL (not ascending, listed as without data, an unlisted gap, an identical phase before
 *         the first one with data); HPCW_ESTATE; and errors of the sink
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_begin_phase(hpcw_vom *v, uint64_t id, hpcw_error *err);

/**
 * Adds a task to the open phase (or iteration). Every entity that existed on this rank needs one, even if it was
 * idle.
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

/** Bytes of JSON text so far; after the close, of the whole text. 0 for NULL. */
HPCW_API uint64_t hpcw_vom_text_size(const hpcw_vom *v);

/**
 * Ends the text and gives the file its name. Not collective.
 *
 * @return HPCW_OK; HPCW_EINVAL (a phase is missing before a listed one, or below the count), HPCW_ESTATE (a phase
 * is open, the handle is closed or broken); HPCW_ENOMEM, HPCW_ENOSPC, HPCW_EACCES, HPCW_EIO: the file did not get
 * its name
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_close(hpcw_vom *v, hpcw_error *err);

/**
 * Closes the files of a whole set, or of this program's part of it. All get their names; if one of them could not
 * be written or was broken before, none does. Collective over `comm` (NULL: this process alone).
 *
 * The files get their names together if they are in one directory and their names differ in the rank alone, as
 * hpcw_vom_file_name makes them. An older file of the lowest rank is removed first, and the new one of that rank
 * gets its name last. So a reader can keep the file of the lowest rank open. If it still has its name after the
 * others were opened, all are files of one set. A file ".hpcw-set-STEM.json" lists the files meanwhile.
 *
 * If the program dies meanwhile, or a rename fails, the next hpcw_vom_open of any of these names gives all files
 * their names. Somebody may have put another file of the lowest rank there since, as from a backup. If then no new
 * file has its name, the open removes the rest of the set instead. HPCW_ETRUNCATED: a new file is gone. Memory:
 * one process holds the names of all files.
 *
 * @param handles  [count] the open files of this process, any number; NULL entries are skipped. This call does not
 *                 know of a file that could not be opened: agree on the opens before
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
 * @param name  name in messages, for instance its path
 * @param text  [size] bytes
 * @param out   to be freed with hpcw_vom_spec_free; NULL on failure
 * @return HPCW_OK; HPCW_EFORMAT (line and reason in the message: a field that is no number, a positive first or
 *         negative second offset, every multiple of 0, the same number twice in the same form); HPCW_EINVAL;
 *         HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_vom_spec_parse(const char *name, const char *text, size_t size,
                                                         hpcw_vom_spec **out, hpcw_error *err);

/** Returns whether the output is on for a phase. True for NULL. Many threads may call it. */
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
    double min; /**< number of values */
    double npr; /**< number of values other than 0 */
    double skw; /**< third moment / (sample variance)^(3/2) */
    double std; /**< square root of var */
    double sum; /**< of all values */
    double var; /**< population variance (vt's own is up to 2^-24 off: it rounds 1 / car to a float) */
} hpcw_vom_figures;

/**
 * Computes the figures of value[0 .. count - 1], added up in this order. Figures that would divide by zero are 0:
 * imb if all values are zero; skw and kur of one value, or of equal ones. Without values all figures are 0.
 */
HPCW_API hpcw_vom_figures hpcw_vom_figures_of(const double *value, size_t count);

/** The quantities that have figures. The last two are optional in the file. */
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
    bool has_strategy_loads;                       /**< write the two optional quantities */
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
 * @param id          above that of the phase before
 * @param migrations  NULL: not written
 * @param before      "pre-LB"
 * @param after       "post-LB"; NULL: not written
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
