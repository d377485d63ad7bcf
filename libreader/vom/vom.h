/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F4: a strict, independent, streaming reader of vt's load-balancing data (JSON type LBDatafile, "VOM") and
 * of its statistics file (LBStatsfile), written from doc/formats/vom.md alone. Plain or inside one
 * brotli stream; told apart by content, as the original readers do.
 *
 * A text is never held as a whole: it is read in pieces, parsed as it comes and handed on record by record.
 * Memory of a reader: 150 KiB, the largest record (strings of it below 1 MiB), and for compressed files the
 * window of the stream (at most 16 MiB). Streams that inflate more than a thousandfold are refused, so that a
 * small file cannot keep a reader busy for ever.
 *
 * The reader itself refuses whatever is no JSON or breaks the schema (types, unknown, missing and repeated
 * keys, ranges; floats must look like floats, integers are exact to 64 bits) or contradicts itself within one
 * record (bits of an id against its fields, end points against the category). Rules between records are
 * verify's.
 *
 * A message names the file, the place in the text as a path, its offset (in the inflated text), what was
 * expected and what is there:
 *
 *     vom/data.3.json.br: phases[2].communications[17].from.home at offset 40312: expected 5 ..., got 4
 */
#ifndef HPCW_LIBREADER_VOM_VOM_H
#define HPCW_LIBREADER_VOM_VOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

struct hpcw_i_json;
struct read_vom;

#define READ_VOM_MOST_RANKS 32768u
#define READ_VOM_MOST_SUBPHASES 65535u
/* Limits of this reader, not of the format; beyond them HPCW_ERANGE. */
#define READ_VOM_MOST_INDEX 16u                      /* numbers in an index */
#define READ_VOM_MOST_PHASES (UINT64_C(1) << 20)     /* in one file */
#define READ_VOM_MOST_INTERVALS ((size_t)1 << 20)    /* of skipped or identical phases */
#define READ_VOM_MOST_MEMBER_BYTES ((size_t)4 << 20) /* user_defined or attributes of one owner */

/* ---- Records --------------------------------------------------------------------------------------------- */

enum read_vom_category { /* vt's numbers */
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
};

/* The name in the files; NULL for no category. */
const char *read_vom_category_name(enum read_vom_category category);

/* Low two bits of an id. */
enum read_vom_control {
    READ_VOM_GROUP = 0,
    READ_VOM_HANDLER = 1,
    READ_VOM_FIXED_ELEMENT = 2,
    READ_VOM_MIGRATABLE_ELEMENT = 3,
};

enum read_vom_kind {
    READ_VOM_OBJECT,
    READ_VOM_NODE,      /* id is a rank; end points only */
    READ_VOM_SHARED_ID, /* id is a memory block; end points only */
};

/* Who: the entity of a task, or an end point of a communication. */
struct read_vom_entity {
    enum read_vom_kind kind;
    bool has_id, has_seq_id, has_home, has_migratable, has_collection_id, has_objgroup_id;
    bool migratable;
    uint64_t id; /* packed; or the number of a rank or block */
    uint64_t seq_id;
    uint32_t home;
    uint64_t collection_id, objgroup_id;
    uint32_t dimensions; /* of index, 0 without */
    uint64_t index[READ_VOM_MOST_INDEX];
};

/* Whether the entity is an element of a collection. */
bool read_vom_is_element(const struct read_vom_entity *e);

enum read_vom_value_type {
    READ_VOM_NULL,
    READ_VOM_BOOL,
    READ_VOM_INTEGER,
    READ_VOM_FLOAT,
    READ_VOM_STRING,
    READ_VOM_NESTED, /* an object or array; its content is checked but not kept */
};

/* One of attributes or user_defined. Texts are NUL-terminated and may hold NULs before that. */
struct read_vom_member {
    const char *key;
    size_t key_size;
    enum read_vom_value_type type;
    const char *text; /* as it stands in the file (numbers), decoded (strings), "true", "false", "null", "" */
    size_t text_size;
    double number; /* of integers and floats, rounded */
};
struct read_vom_members {
    bool present; /* the key is there, maybe with an empty object */
    const struct read_vom_member *item;
    size_t count;
};

struct read_vom_task {
    uint64_t number; /* place in its array */
    struct read_vom_entity entity;
    uint32_t node;
    const char *resource;
    double time; /* seconds */
    bool has_subphases;
    uint32_t subphases;
    const double *subphase_time; /* [subphases], seconds; their ids are 0, 1, ... */
    struct read_vom_members attributes, user_defined;
};

struct read_vom_communication {
    uint64_t number; /* place in its array */
    enum read_vom_category category;
    double bytes;
    uint64_t messages;
    struct read_vom_entity from, to;
};

/* A phase or an lb_iteration, complete. */
struct read_vom_phase {
    uint64_t number; /* place in its array */
    uint64_t id;
    uint64_t tasks, communications; /* how many there were */
    bool has_communications;        /* the key is there */
    uint64_t iterations;
    struct read_vom_members user_defined;
};

struct read_vom_interval {
    uint64_t first, last; /* phase numbers, both included */
};
struct read_vom_intervals {
    const struct read_vom_interval *item;
    size_t count;
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
 * What a reader tells while it reads, in the order of the file; all it points to lives for the call. Any of
 * them may be NULL. What one returns, if not HPCW_OK, ends the reading and is its result.
 *
 * In vt's own layout communications come before the id and the tasks of their phase.
 */
struct read_vom_events {
    void *context;
    hpcw_status (*metadata)(void *context, const struct read_vom_metadata *metadata, hpcw_error *err);
    hpcw_status (*phase_begin)(void *context, uint64_t number, hpcw_error *err);
    hpcw_status (*task)(void *context, const struct read_vom_task *task, hpcw_error *err);
    hpcw_status (*communication)(void *context, const struct read_vom_communication *communication,
                                 hpcw_error *err);
    hpcw_status (*phase_end)(void *context, const struct read_vom_phase *phase, hpcw_error *err);
    /* Around the records of an lb_iteration; without iteration_begin they are checked but not told. */
    hpcw_status (*iteration_begin)(void *context, uint64_t number, hpcw_error *err);
    hpcw_status (*iteration_end)(void *context, const struct read_vom_phase *iteration, hpcw_error *err);
};

/* ---- One file -------------------------------------------------------------------------------------------- */

/* How strict a reader and verify are (doc/formats/vom.md, "Rules"). Without flags they accept what real writers are
 * known to leave behind. */
enum {
    /* What a strict check of a data set enforces on top, and what hpcw's own writer obeys: complete
     * metadata, no gap in the phase numbers that is not listed, packed ids, keys in byte order, subphases
     * of equal number that do not exceed the time, a migratable task per rank and phase, communications in
     * the file of the rank that has to record them, id 0 in phase 0 only, no user_defined of phases, no
     * foreign file in the directory, and no compressed file whose last byte vt would lose. */
    READ_VOM_STRICT = 1
};

/*
 * Opens a file and looks at its first bytes. `rank` is the one it must belong to, or READ_VOM_ANY_RANK. The
 * failures of read_source_open, HPCW_ENOMEM.
 */
#define READ_VOM_ANY_RANK UINT32_MAX
hpcw_status read_vom_open(const char *path, uint32_t rank, unsigned flags, struct read_vom **out,
                          hpcw_error *err);

/* The same for `size` bytes that stay the caller's and must outlive the handle. */
hpcw_status read_vom_open_memory(const char *name, const void *data, size_t size, uint32_t rank, unsigned flags,
                                 struct read_vom **out, hpcw_error *err);
void read_vom_free(struct read_vom *reader);

/*
 * Reads on: at most `phases` more phases (UINT64_MAX: all), up to the next one or the end of the file. At the
 * end all that concerns the whole file is checked. HPCW_EFORMAT, HPCW_ETRUNCATED (the text or the brotli
 * stream ends too early), HPCW_ERANGE (limits above), HPCW_ENOMEM, HPCW_EIO, or what an event returned; the
 * handle then reads no further.
 */
hpcw_status read_vom_run(struct read_vom *reader, uint64_t phases, const struct read_vom_events *events,
                         hpcw_error *err);

/* Whether the end of the file was reached, and what is known then. */
struct read_vom_facts {
    bool ended;
    bool compressed;
    bool old_form;      /* no metadata; the type stands at the top */
    uint64_t file_size; /* bytes on disk */
    uint64_t text_size; /* of the JSON text as far as it was read */
    uint64_t phases;    /* read so far */
    uint32_t rank;      /* READ_VOM_ANY_RANK if nothing tells it */
};
void read_vom_facts(const struct read_vom *reader, struct read_vom_facts *facts);

/*
 * A place between two phases, after a successful run: another handle for the same file goes on there, so that
 * many files can be read in step without being open at the same time. Plain files are read from there,
 * compressed ones inflated again up to there.
 */
struct read_vom_position {
    uint64_t offset;
    uint64_t phases;
    uint64_t last_id;
    uint32_t seen; /* keys of the outermost object */
    uint32_t rank;
    bool typed, has_metadata, ended;
};
void read_vom_position(const struct read_vom *reader, struct read_vom_position *place);
hpcw_status read_vom_resume(struct read_vom *reader, const struct read_vom_position *place, hpcw_error *err);

/* For events: fails with the place of the record that is being told in front of the message. */
hpcw_status read_vom_wrong(const struct read_vom *reader, hpcw_error *err, const char *fmt, ...)
    HPCW_PRINTF(3, 4);

/* Offset of that record in the text. */
uint64_t read_vom_at(const struct read_vom *reader);

/* ---- Files and directories as a whole -------------------------------------------------------------------- */

enum read_vom_file_type { READ_VOM_UNKNOWN_FILE, READ_VOM_DATA_FILE, READ_VOM_STATISTICS_FILE };

/* What a file seems to be, by its first 64 KiB of text. Never fails. */
enum read_vom_file_type read_vom_file_type(const char *path);

/*
 * Checks one file, of either type: all that can be said without the other ranks. The rank is also compared
 * with a name of the form STEM.RANK.json or STEM.RANK.json.br. Memory: that of a reader, and 80 to 120 bytes
 * per entity of a phase, 16 to 32 per communication of a phase.
 */
hpcw_status read_vom_verify(const char *path, unsigned flags, hpcw_error *err);
hpcw_status read_vom_verify_memory(const char *name, const void *data, size_t size, unsigned flags,
                                   hpcw_error *err);

/*
 * Checks a directory: the files of ranks 0 .. N-1, each by itself and all of them together. The files are
 * read in step, some phases at a time, one file being open; `budget` bytes (0: 48 MiB) decide how many phases
 * at a time. Memory: that of a reader, 100 bytes per rank, 8 per phase, the larger of the budget and the
 * entities of one phase over all ranks (80 to 120 bytes each), and the communications of one rank and phase
 * (16 to 32 bytes each). Plain files are read once; compressed ones are inflated again for each round.
 */
hpcw_status read_vom_verify_directory(const char *path, unsigned flags, size_t budget, hpcw_error *err);

/*
 * What is in a file of either type or in a directory, as members of an open object; failures as above, the
 * object is then incomplete. Per phase: counts and the figures of Object_load, Rank_load, Object_comm,
 * Rank_comm. Memory: that of a reader and 300 bytes per phase.
 */
hpcw_status read_vom_info(const char *path, struct hpcw_i_json *json, hpcw_error *err);

/* ---- Figures --------------------------------------------------------------------------------------------- */

/* The eleven figures of the statistics file, in its order. */
enum read_vom_figure {
    READ_VOM_AVG, /* mean */
    READ_VOM_CAR, /* how many values */
    READ_VOM_IMB, /* max / avg - 1 */
    READ_VOM_KUR, /* excess kurtosis: fourth central moment over the square of the sample variance, less 3 */
    READ_VOM_MAX,
    READ_VOM_MIN,
    READ_VOM_NPR, /* how many are not 0 */
    READ_VOM_SKW, /* skewness: third central moment over the cube of the sample standard deviation */
    READ_VOM_STD, /* sqrt(var) */
    READ_VOM_SUM,
    READ_VOM_VAR, /* second central moment (of the population) */
    READ_VOM_FIGURES
};

/* "avg", "car", ... */
const char *read_vom_figure_name(enum read_vom_figure figure);

/* Central moments of a stream of values; a zeroed struct has seen none. */
struct read_vom_moments {
    uint64_t count, nonzero;
    double mean, m2, m3, m4; /* sums of powers of the distance from the mean */
    double min, max, sum;
};
void read_vom_moments_add(struct read_vom_moments *m, double value);

/* All of them; what would divide by 0 is 0. */
void read_vom_moments_figures(const struct read_vom_moments *m, double figure[READ_VOM_FIGURES]);

enum read_vom_quantity {
    READ_VOM_OBJECT_LOAD, /* time of every task but id 0 */
    READ_VOM_RANK_LOAD,   /* their sum per rank */
    READ_VOM_OBJECT_COMM, /* bytes of every SendRecv that is no self edge */
    /* Per rank, bytes that left it as vt counts them: SendRecv to a handler or group elsewhere, messages to
     * another node, and all shared memory records; what arrives for elements is not in it. */
    READ_VOM_RANK_COMM,
    READ_VOM_QUANTITIES
};
const char *read_vom_quantity_name(enum read_vom_quantity quantity);

/* Counts and moments of a phase over all ranks. */
struct read_vom_phase_summary {
    uint64_t id;
    uint64_t tasks, migratable, communications, messages;
    double bytes;
    struct read_vom_moments quantity[READ_VOM_QUANTITIES];
};
struct read_vom_summary {
    uint32_t ranks, compressed;
    uint64_t file_bytes, text_bytes;
    struct read_vom_phase_summary *phase; /* [phases], the summary's */
    size_t phases;
};

/* Sums up a data file or a directory of them. Freed by read_vom_summary_free, also after a failure. */
hpcw_status read_vom_summarise(const char *path, struct read_vom_summary *summary, hpcw_error *err);
void read_vom_summary_free(struct read_vom_summary *summary);

/* ---- The statistics file --------------------------------------------------------------------------------- */

struct read_vom_statistics_events {
    void *context;
    /* One of "pre-LB" (after = false) and "post-LB". `quantity` is a name such as "Object_load_raw". */
    hpcw_status (*quantity)(void *context, bool after, const char *quantity,
                            const double figure[READ_VOM_FIGURES], hpcw_error *err);
    /* `groups`: how many of the two there were. `migrations` is UINT64_MAX where the file has no number. */
    hpcw_status (*phase_end)(void *context, uint64_t id, uint64_t migrations, unsigned groups, hpcw_error *err);
};
hpcw_status read_vom_statistics_read(const char *path, const struct read_vom_statistics_events *events,
                                     hpcw_error *err);
hpcw_status read_vom_statistics_read_memory(const char *name, const void *data, size_t size,
                                            const struct read_vom_statistics_events *events, hpcw_error *err);

#endif
