/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A strict, independent reader of vt's load-balancing data (JSON of type LBDatafile, "VOM"), written from
 * doc/formats/vom.md alone. The JSON is plain or inside one brotli stream; the content tells which.
 *
 * The reader never holds a whole text: it reads and parses the text in pieces and passes on each record. Memory:
 * 150 KiB, the largest record (strings are shorter than 1 MiB), and for compressed files the window of the stream
 * (at most 16 MiB). A large text of more than a thousand times the size of its stream is refused, so that a small
 * file cannot keep the reader busy for hours.
 *
 * The reader refuses text that is not JSON or breaks the schema: types, ranges, unknown, missing and repeated keys.
 * Floats must have a point or an exponent, and integers are exact to 64 bits. Also refused are ids whose bits
 * contradict other fields, and end points that contradict the category. set/verify.h checks rules between records.
 *
 * A message names the file, the path of the value in the text, its offset in the inflated text, and what was
 * expected:
 *
 *     vom/data.3.json.br: phases[2].communications[17].from.home at offset 40312: expected 5 ..., got 4
 */
#ifndef HPCW_LIBREADER_VOM_VOM_H
#define HPCW_LIBREADER_VOM_VOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "libreader/vom/json/json.h"

struct read_vom;

#define READ_VOM_MOST_RANKS 32768u
#define READ_VOM_MOST_SUBPHASES 65535u
/* Limits of this reader, not of the format. HPCW_ERANGE beyond them. */
#define READ_VOM_MOST_INDEX 16u                   /* numbers in an index */
#define READ_VOM_MOST_PHASES (UINT64_C(1) << 20)  /* phases in one file */
#define READ_VOM_MOST_INTERVALS ((size_t)1 << 20) /* intervals of skipped and identical phases together */
/* bytes of the user_defined or of the attributes of one record */
#define READ_VOM_MOST_MEMBER_BYTES ((size_t)4 << 20)

/* ---- Records --------------------------------------------------------------------------------------------- */

/* Categories, with vt's numbers. */
enum read_vom_category {
    READ_VOM_SEND_RECV = 1,
    READ_VOM_COLLECTION_TO_NODE = 2,
    READ_VOM_NODE_TO_COLLECTION = 3,
    READ_VOM_BROADCAST = 4,
    READ_VOM_COLLECTION_TO_NODE_BCAST = 5,
    READ_VOM_NODE_TO_COLLECTION_BCAST = 6,
    READ_VOM_COLLECTIVE_TO_COLLECTION_BCAST = 7, /* never in a file */
    READ_VOM_LOCAL_INVOKE = 8,                   /* never in a file */
    READ_VOM_WRITE_SHARED = 9,
    READ_VOM_READ_ONLY_SHARED = 10,
    READ_VOM_CATEGORIES
};

/* Returns the name of a category in the files; NULL for any other number. */
const char *read_vom_category_name(enum read_vom_category category);

/* The two lowest bits of an id. */
enum read_vom_control {
    READ_VOM_GROUP = 0,
    READ_VOM_HANDLER = 1,
    READ_VOM_FIXED_ELEMENT = 2,
    READ_VOM_MIGRATABLE_ELEMENT = 3,
};

enum read_vom_kind {
    READ_VOM_OBJECT,
    READ_VOM_NODE, /* the id is a rank; only an end point of a communication has this kind */
    /* the id is a block of shared memory; only an end point of a communication has this kind */
    READ_VOM_SHARED_ID,
    READ_VOM_KINDS
};

/* The entity of a task, or an end point of a communication. */
struct read_vom_entity {
    enum read_vom_kind kind;
    bool has_id, has_seq_id, has_home, has_migratable, has_collection_id, has_objgroup_id;
    bool migratable;
    uint64_t id; /* packed id of an object, or number of a rank or of a block of shared memory */
    uint64_t seq_id;
    uint32_t home;
    uint64_t collection_id, objgroup_id;
    uint32_t dimensions; /* length of `index`; 0: no index */
    uint64_t index[READ_VOM_MOST_INDEX];
};

/* Returns whether the entity is an element of a collection. */
bool read_vom_is_element(const struct read_vom_entity *e);

/* A key and value of attributes or user_defined. Texts end in a NUL, but may contain other NULs. */
struct read_vom_member {
    const char *key;
    size_t key_size;
    enum read_vom_value_type type;
    const char *text; /* number: as in the file; string: decoded; other values: JSON without blanks */
    size_t text_size;
    double number; /* value of an integer or float, rounded */
};
struct read_vom_members {
    bool present; /* the file has the key of these members, possibly with an empty object */
    const struct read_vom_member *item;
    size_t count;
};

struct read_vom_task {
    uint64_t number; /* index in the array of tasks */
    struct read_vom_entity entity;
    uint32_t node;
    const char *resource;
    double time; /* seconds */
    bool has_subphases;
    uint32_t subphases;
    const double *subphase_time; /* [subphases] times of the subphases, seconds; their ids are 0, 1, ... */
    struct read_vom_members attributes, user_defined;
};

struct read_vom_communication {
    uint64_t number; /* index in the array of communications */
    enum read_vom_category category;
    double bytes;
    uint64_t messages;
    struct read_vom_entity from, to;
};

/* A complete phase or lb_iteration. */
struct read_vom_phase {
    uint64_t number; /* index in the array of phases or lb_iterations */
    uint64_t id;
    uint64_t tasks, communications; /* numbers of records of the phase */
    bool has_communications;        /* the phase has the key "communications" */
    uint64_t iterations;
    struct read_vom_members user_defined;
};

struct read_vom_interval {
    uint64_t first, last; /* phase numbers, both included */
};
struct read_vom_intervals {
    struct read_vom_interval *item;
    size_t count, capacity;
};

struct read_vom_metadata {
    bool has_type, has_rank, has_rank_alpha, has_phases, has_count, has_shared_node;
    uint32_t rank;
    double rank_alpha;
    struct {
        uint32_t id, num_nodes, rank, size;
    } shared_node;
    uint64_t count; /* metadata.phases.count */
    struct read_vom_intervals identical_list, identical_range, skipped_list, skipped_range;
    struct read_vom_members attributes;
};

/*
 * Callbacks, called in the order of the file. Each may be NULL. Arguments are valid for the call. If a callback
 * returns another status than HPCW_OK, the reader stops and returns this status.
 *
 * In files of vt, communications come before the id and the tasks of their phase.
 */
struct read_vom_events {
    void *context;
    hpcw_status (*metadata)(void *context, const struct read_vom_metadata *metadata, hpcw_error *err);
    hpcw_status (*phase_begin)(void *context, uint64_t number, hpcw_error *err);
    hpcw_status (*task)(void *context, const struct read_vom_task *task, hpcw_error *err);
    hpcw_status (*communication)(void *context, const struct read_vom_communication *communication,
                                 hpcw_error *err);
    hpcw_status (*phase_end)(void *context, const struct read_vom_phase *phase, hpcw_error *err);
    /* Called around the records of an lb_iteration. Without iteration_begin the reader checks these records, but
     * reports none. */
    hpcw_status (*iteration_begin)(void *context, uint64_t number, hpcw_error *err);
    hpcw_status (*iteration_end)(void *context, const struct read_vom_phase *iteration, hpcw_error *err);
};

/* ---- One file -------------------------------------------------------------------------------------------- */

/* How strict reading and verifying are (doc/formats/vom.md, "Rules"). Without flags, the known faults of real
 * writers are accepted. */
enum {
    /* Also check the conventions of hpcw's own writer: complete metadata, every missing phase listed, packed ids,
     * and keys in byte order. All tasks have the same number of subphases, whose sum does not exceed the time.
     * Each rank has a migratable task in each phase. Communications are in the file of the rank that must record
     * them. Id 0 is in phase 0 only. There is no user_defined of phases, no foreign file in the directory, and no
     * compressed file whose last byte vt would lose. */
    READ_VOM_STRICT = 1,
    /* Parse every record token by token, and read none in one step. The result is the same, only slower. For tests
     * and benchmarks. */
    READ_VOM_PARSED = 2,
    /* Continue where data of other programs break a rule but have only one meaning; doc/formats/vom.md, "Rules",
     * lists the cases. read_vom_facts counts the records that the reader repairs, and read_vom_warn names the first
     * of them. */
    READ_VOM_LENIENT = 4,
};

/* Opens a file and looks at its first bytes. `rank` is the rank to which the file must belong, or
 * READ_VOM_ANY_RANK. Fails with HPCW_ENOMEM and as read_source_open does. */
#define READ_VOM_ANY_RANK UINT32_MAX
hpcw_status read_vom_open(const char *path, uint32_t rank, unsigned flags, struct read_vom **out,
                          hpcw_error *err);

/* Opens `size` bytes of the caller, which must outlive the handle, in the way of read_vom_open. */
hpcw_status read_vom_open_memory(const char *name, const void *data, size_t size, uint32_t rank, unsigned flags,
                                 struct read_vom **out, hpcw_error *err);
void read_vom_free(struct read_vom *reader);

/*
 * Reads at most `phases` more phases (UINT64_MAX: all), and stops before the next one or at the end of the file.
 * At the end it checks the rules of the whole file. Fails with HPCW_EFORMAT, HPCW_ETRUNCATED (the text or the
 * brotli stream ends too early), HPCW_ERANGE (the limits above), HPCW_ENOMEM, HPCW_EIO, or with the result of a
 * callback. After a failure the handle reads no further.
 */
hpcw_status read_vom_run(struct read_vom *reader, uint64_t phases, const struct read_vom_events *events,
                         hpcw_error *err);

/* Facts about the file, as far as it was read. */
struct read_vom_facts {
    bool ended; /* the end of the file was reached */
    bool compressed;
    bool old_form;      /* the file has no metadata, and the outermost object has the key "type" */
    uint64_t file_size; /* bytes on disk */
    uint64_t text_size; /* bytes of the JSON text read so far */
    uint64_t phases;    /* number of phases read so far */
    uint32_t rank;      /* rank of the file; READ_VOM_ANY_RANK: unknown */
    /* number of faults that only READ_VOM_LENIENT accepts, in records or in the file as a whole */
    uint64_t mended;
};
void read_vom_facts(const struct read_vom *reader, struct read_vom_facts *facts);

/*
 * A position between two phases, after a successful run. Another handle for the same file can continue there. With
 * positions, a program can read many files phase by phase without keeping them open. A compressed file is then
 * decompressed again up to the position.
 */
struct read_vom_position {
    uint64_t offset;
    uint64_t phases;
    uint64_t last_id;
    uint32_t seen; /* keys of the outermost object read so far, as bits */
    uint32_t rank;
    bool typed, has_metadata, ended;
};
void read_vom_position(const struct read_vom *reader, struct read_vom_position *position);
hpcw_status read_vom_resume(struct read_vom *reader, const struct read_vom_position *position, hpcw_error *err);

/* Sets *warning, unless it is set already, to a message about the first repaired record, if there is one. */
void read_vom_warn(const struct read_vom *reader, hpcw_error *warning);

/* For callbacks: fails with a message about the record that the callback got. */
hpcw_status read_vom_wrong(const struct read_vom *reader, hpcw_error *err, const char *fmt, ...)
    HPCW_PRINTF(3, 4);

/* Returns the offset in the text of the record that the callback got. */
uint64_t read_vom_at(const struct read_vom *reader);

#endif
