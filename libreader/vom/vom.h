/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F4: a strict, independent, streaming reader of vt's load-balancing data (JSON type LBDatafile, "VOM") and
 * of its statistics file (LBStatsfile), written from the description of the format alone. Plain or inside one
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
 * wanted and what is there:
 *
 *     vom/data.3.json.br: phases[2].communications[17].from.home at offset 40312: wanted 5 ..., got 4
 */
#ifndef HPCW_LIBREADER_VOM_VOM_H
#define HPCW_LIBREADER_VOM_VOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

struct hpcw_i_json;
struct hpcw_i_vom_reader;

#define HPCW_I_VOM_MOST_RANKS 32768u
#define HPCW_I_VOM_MOST_SUBPHASES 65535u
/* Limits of this reader, not of the format; beyond them HPCW_ERANGE. */
#define HPCW_I_VOM_MOST_INDEX 16u                      /* numbers in an index */
#define HPCW_I_VOM_MOST_PHASES (UINT64_C(1) << 20)     /* in one file */
#define HPCW_I_VOM_MOST_INTERVALS ((size_t)1 << 20)    /* of skipped or identical phases */
#define HPCW_I_VOM_MOST_MEMBER_BYTES ((size_t)4 << 20) /* user_defined or attributes of one owner */

/* ---- Records --------------------------------------------------------------------------------------------- */

enum hpcw_i_vom_category { /* vt's numbers */
                           HPCW_I_VOM_SEND_RECV = 1,
                           HPCW_I_VOM_COLLECTION_TO_NODE = 2,
                           HPCW_I_VOM_NODE_TO_COLLECTION = 3,
                           HPCW_I_VOM_BROADCAST = 4,
                           HPCW_I_VOM_COLLECTION_TO_NODE_BCAST = 5,
                           HPCW_I_VOM_NODE_TO_COLLECTION_BCAST = 6,
                           HPCW_I_VOM_COLLECTIVE_TO_COLLECTION_BCAST = 7, /* never in a file */
                           HPCW_I_VOM_LOCAL_INVOKE = 8,                   /* never in a file */
                           HPCW_I_VOM_WRITE_SHARED = 9,
                           HPCW_I_VOM_READ_ONLY_SHARED = 10,
};

/* The name in the files; NULL for no category. */
const char *hpcw_i_vom_category_name(enum hpcw_i_vom_category category);

/* Low two bits of an id. */
enum hpcw_i_vom_control {
    HPCW_I_VOM_GROUP = 0,
    HPCW_I_VOM_HANDLER = 1,
    HPCW_I_VOM_FIXED_ELEMENT = 2,
    HPCW_I_VOM_MIGRATABLE_ELEMENT = 3,
};

enum hpcw_i_vom_kind {
    HPCW_I_VOM_OBJECT,
    HPCW_I_VOM_NODE,      /* id is a rank; end points only */
    HPCW_I_VOM_SHARED_ID, /* id is a memory block; end points only */
};

/* Who: the entity of a task, or an end point of a communication. */
struct hpcw_i_vom_entity {
    enum hpcw_i_vom_kind kind;
    bool has_id, has_seq_id, has_home, has_migratable, has_collection_id, has_objgroup_id;
    bool migratable;
    uint64_t id; /* packed; or the number of a rank or block */
    uint64_t seq_id;
    uint32_t home;
    uint64_t collection_id, objgroup_id;
    uint32_t dimensions; /* of index, 0 without */
    uint64_t index[HPCW_I_VOM_MOST_INDEX];
};

/* Whether the entity is an element of a collection. */
bool hpcw_i_vom_is_element(const struct hpcw_i_vom_entity *e);

enum hpcw_i_vom_value_type {
    HPCW_I_VOM_NULL,
    HPCW_I_VOM_BOOL,
    HPCW_I_VOM_INTEGER,
    HPCW_I_VOM_FLOAT,
    HPCW_I_VOM_STRING,
    HPCW_I_VOM_NESTED, /* an object or array; its content is checked but not kept */
};

/* One of attributes or user_defined. Texts are NUL-terminated and may hold NULs before that. */
struct hpcw_i_vom_member {
    const char *key;
    size_t key_size;
    enum hpcw_i_vom_value_type type;
    const char *text; /* as it stands in the file (numbers), decoded (strings), "true", "false", "null", "" */
    size_t text_size;
    double number; /* of integers and floats, rounded */
};
struct hpcw_i_vom_members {
    bool present; /* the key is there, maybe with an empty object */
    const struct hpcw_i_vom_member *item;
    size_t count;
};

struct hpcw_i_vom_task {
    uint64_t number; /* place in its array */
    struct hpcw_i_vom_entity entity;
    uint32_t node;
    const char *resource;
    double time; /* seconds */
    bool has_subphases;
    uint32_t subphases;
    const double *subphase_time; /* [subphases], seconds; their ids are 0, 1, ... */
    struct hpcw_i_vom_members attributes, user_defined;
};

struct hpcw_i_vom_communication {
    uint64_t number; /* place in its array */
    enum hpcw_i_vom_category category;
    double bytes;
    uint64_t messages;
    struct hpcw_i_vom_entity from, to;
};

/* A phase or an lb_iteration, complete. */
struct hpcw_i_vom_phase {
    uint64_t number; /* place in its array */
    uint64_t id;
    uint64_t tasks, communications; /* how many there were */
    bool has_communications;        /* the key is there */
    uint64_t iterations;
    struct hpcw_i_vom_members user_defined;
};

struct hpcw_i_vom_interval {
    uint64_t first, last; /* phase numbers, both included */
};
struct hpcw_i_vom_intervals {
    const struct hpcw_i_vom_interval *item;
    size_t count;
};

struct hpcw_i_vom_metadata {
    bool has_type, has_rank, has_rank_alpha, has_phases, has_count, has_shared_node;
    uint32_t rank;
    double rank_alpha;
    struct {
        uint32_t id, num_nodes, rank, size;
    } shared_node;
    uint64_t count; /* metadata.phases.count */
    struct hpcw_i_vom_intervals identical_list, identical_range, skipped_list, skipped_range;
    struct hpcw_i_vom_members attributes;
};

/*
 * What a reader tells while it reads, in the order of the file; all it points to lives for the call. Any of
 * them may be NULL. What one returns, if not HPCW_OK, ends the reading and is its result.
 *
 * In vt's own layout communications come before the id and the tasks of their phase.
 */
struct hpcw_i_vom_events {
    void *context;
    hpcw_status (*metadata)(void *context, const struct hpcw_i_vom_metadata *metadata, hpcw_error *err);
    hpcw_status (*phase_begin)(void *context, uint64_t number, hpcw_error *err);
    hpcw_status (*task)(void *context, const struct hpcw_i_vom_task *task, hpcw_error *err);
    hpcw_status (*communication)(void *context, const struct hpcw_i_vom_communication *communication,
                                 hpcw_error *err);
    hpcw_status (*phase_end)(void *context, const struct hpcw_i_vom_phase *phase, hpcw_error *err);
    /* Around the records of an lb_iteration; without iteration_begin they are checked but not told. */
    hpcw_status (*iteration_begin)(void *context, uint64_t number, hpcw_error *err);
    hpcw_status (*iteration_end)(void *context, const struct hpcw_i_vom_phase *iteration, hpcw_error *err);
};

/* ---- One file -------------------------------------------------------------------------------------------- */

/* How severe a reader and verify are. Without flags they accept what real writers are known to leave
 * behind. */
enum {
    /* What a strict check of a data set enforces on top, and what hpcw's own writer obeys: complete
     * metadata, no gap in the phase numbers that is not listed, packed ids, keys in byte order, subphases
     * of equal number that do not exceed the time, a migratable task per rank and phase, communications in
     * the file of the rank that has to record them, id 0 in phase 0 only, no user_defined of phases, no
     * foreign file in the directory, and no compressed file whose last byte vt would lose. */
    HPCW_I_VOM_STRICT = 1
};

/*
 * Opens a file and looks at its first bytes. `rank` is the one it must belong to, or HPCW_I_VOM_ANY_RANK. The
 * failures of hpcw_i_source_open, HPCW_ENOMEM.
 */
#define HPCW_I_VOM_ANY_RANK UINT32_MAX
hpcw_status hpcw_i_vom_reader_open(const char *path, uint32_t rank, unsigned flags,
                                   struct hpcw_i_vom_reader **out, hpcw_error *err);

/* The same for `size` bytes that stay the caller's and must outlive the handle. */
hpcw_status hpcw_i_vom_reader_open_memory(const char *name, const void *data, size_t size, uint32_t rank,
                                          unsigned flags, struct hpcw_i_vom_reader **out, hpcw_error *err);
void hpcw_i_vom_reader_free(struct hpcw_i_vom_reader *reader);

/*
 * Reads on: at most `phases` more phases (UINT64_MAX: all), up to the next one or the end of the file. At the
 * end all that concerns the whole file is checked. HPCW_EFORMAT, HPCW_ETRUNCATED (the text or the brotli
 * stream ends too early), HPCW_ERANGE (limits above), HPCW_ENOMEM, HPCW_EIO, or what an event returned; the
 * handle then reads no further.
 */
hpcw_status hpcw_i_vom_reader_run(struct hpcw_i_vom_reader *reader, uint64_t phases,
                                  const struct hpcw_i_vom_events *events, hpcw_error *err);

/* Whether the end of the file was reached, and what is known then. */
struct hpcw_i_vom_facts {
    bool ended;
    bool compressed;
    bool old_form;      /* no metadata; the type stands at the top */
    uint64_t file_size; /* bytes on disk */
    uint64_t text_size; /* of the JSON text as far as it was read */
    uint64_t phases;    /* read so far */
    uint32_t rank;      /* HPCW_I_VOM_ANY_RANK if nothing tells it */
};
void hpcw_i_vom_reader_facts(const struct hpcw_i_vom_reader *reader, struct hpcw_i_vom_facts *facts);

/*
 * A place between two phases, after a successful run: another handle for the same file goes on there, so that
 * many files can be read in step without being open at the same time. Plain files are read from there,
 * compressed ones inflated again up to there.
 */
struct hpcw_i_vom_place {
    uint64_t offset;
    uint64_t phases;
    uint64_t last_id;
    uint32_t seen; /* keys of the outermost object */
    uint32_t rank;
    bool typed, has_metadata, ended;
};
void hpcw_i_vom_reader_place(const struct hpcw_i_vom_reader *reader, struct hpcw_i_vom_place *place);
hpcw_status hpcw_i_vom_reader_resume(struct hpcw_i_vom_reader *reader, const struct hpcw_i_vom_place *place,
                                     hpcw_error *err);

/* For events: fails with the place of the record that is being told in front of the message. */
hpcw_status hpcw_i_vom_reader_wrong(const struct hpcw_i_vom_reader *reader, hpcw_error *err, const char *fmt,
                                    ...) HPCW_PRINTF(3, 4);

/* Offset of that record in the text. */
uint64_t hpcw_i_vom_reader_at(const struct hpcw_i_vom_reader *reader);

/* ---- Files and directories as a whole -------------------------------------------------------------------- */

enum hpcw_i_vom_file_type { HPCW_I_VOM_UNKNOWN_FILE, HPCW_I_VOM_DATA_FILE, HPCW_I_VOM_STATISTICS_FILE };

/* What a file seems to be, by its first 64 KiB of text. Never fails. */
enum hpcw_i_vom_file_type hpcw_i_vom_file_type(const char *path);

/*
 * Checks one file, of either type: all that can be said without the other ranks. The rank is also compared
 * with a name of the form STEM.RANK.json or STEM.RANK.json.br. Memory: that of a reader, and 80 to 120 bytes
 * per entity of a phase, 16 to 32 per communication of a phase.
 */
hpcw_status hpcw_i_vom_verify(const char *path, unsigned flags, hpcw_error *err);
hpcw_status hpcw_i_vom_verify_memory(const char *name, const void *data, size_t size, unsigned flags,
                                     hpcw_error *err);

/*
 * Checks a directory: the files of ranks 0 .. N-1, each by itself and all of them together. The files are
 * read in step, some phases at a time, one file being open; `budget` bytes (0: 48 MiB) decide how many phases
 * at a time. Memory: that of a reader, 100 bytes per rank, 8 per phase, the larger of the budget and the
 * entities of one phase over all ranks (80 to 120 bytes each), and the communications of one rank and phase
 * (16 to 32 bytes each). Plain files are read once; compressed ones are inflated again for each round.
 */
hpcw_status hpcw_i_vom_verify_directory(const char *path, unsigned flags, size_t budget, hpcw_error *err);

/*
 * What is in a file of either type or in a directory, as members of an open object; failures as above, the
 * object is then incomplete. Per phase: counts and the figures of Object_load, Rank_load, Object_comm,
 * Rank_comm. Memory: that of a reader and 300 bytes per phase.
 */
hpcw_status hpcw_i_vom_info(const char *path, struct hpcw_i_json *json, hpcw_error *err);

/* ---- Figures --------------------------------------------------------------------------------------------- */

/* The eleven figures of the statistics file, in its order. */
enum hpcw_i_vom_figure {
    HPCW_I_VOM_AVG, /* mean */
    HPCW_I_VOM_CAR, /* how many values */
    HPCW_I_VOM_IMB, /* max / avg - 1 */
    HPCW_I_VOM_KUR, /* excess kurtosis: fourth central moment over the square of the sample variance, less 3 */
    HPCW_I_VOM_MAX,
    HPCW_I_VOM_MIN,
    HPCW_I_VOM_NPR, /* how many are not 0 */
    HPCW_I_VOM_SKW, /* skewness: third central moment over the cube of the sample standard deviation */
    HPCW_I_VOM_STD, /* sqrt(var) */
    HPCW_I_VOM_SUM,
    HPCW_I_VOM_VAR, /* second central moment (of the population) */
    HPCW_I_VOM_FIGURES
};

/* "avg", "car", ... */
const char *hpcw_i_vom_figure_name(enum hpcw_i_vom_figure figure);

/* Central moments of a stream of values; a zeroed struct has seen none. */
struct hpcw_i_vom_moments {
    uint64_t count, nonzero;
    double mean, m2, m3, m4; /* sums of powers of the distance from the mean */
    double min, max, sum;
};
void hpcw_i_vom_moments_add(struct hpcw_i_vom_moments *m, double value);

/* All of them; what would divide by 0 is 0. */
void hpcw_i_vom_moments_figures(const struct hpcw_i_vom_moments *m, double figure[HPCW_I_VOM_FIGURES]);

enum hpcw_i_vom_quantity {
    HPCW_I_VOM_OBJECT_LOAD, /* time of every task but id 0 */
    HPCW_I_VOM_RANK_LOAD,   /* their sum per rank */
    HPCW_I_VOM_OBJECT_COMM, /* bytes of every SendRecv that is no self edge */
    /* Per rank, bytes that left it as vt counts them: SendRecv to a handler or group elsewhere, messages to
     * another node, and all shared memory records; what arrives for elements is not in it. */
    HPCW_I_VOM_RANK_COMM,
    HPCW_I_VOM_QUANTITIES
};
const char *hpcw_i_vom_quantity_name(enum hpcw_i_vom_quantity quantity);

/* Counts and moments of a phase over all ranks. */
struct hpcw_i_vom_phase_summary {
    uint64_t id;
    uint64_t tasks, migratable, communications, messages;
    double bytes;
    struct hpcw_i_vom_moments quantity[HPCW_I_VOM_QUANTITIES];
};
struct hpcw_i_vom_summary {
    uint32_t ranks, compressed;
    uint64_t file_bytes, text_bytes;
    struct hpcw_i_vom_phase_summary *phase; /* [phases], the summary's */
    size_t phases;
};

/* Sums up a data file or a directory of them. Freed by hpcw_i_vom_summary_free, also after a failure. */
hpcw_status hpcw_i_vom_summarise(const char *path, struct hpcw_i_vom_summary *summary, hpcw_error *err);
void hpcw_i_vom_summary_free(struct hpcw_i_vom_summary *summary);

/* ---- The statistics file --------------------------------------------------------------------------------- */

struct hpcw_i_vom_statistics_events {
    void *context;
    /* One of "pre-LB" (after = false) and "post-LB". `quantity` is a name such as "Object_load_raw". */
    hpcw_status (*quantity)(void *context, bool after, const char *quantity,
                            const double figure[HPCW_I_VOM_FIGURES], hpcw_error *err);
    /* `groups`: how many of the two there were. `migrations` is UINT64_MAX where the file has no number. */
    hpcw_status (*phase_end)(void *context, uint64_t id, uint64_t migrations, unsigned groups, hpcw_error *err);
};
hpcw_status hpcw_i_vom_statistics_read(const char *path, const struct hpcw_i_vom_statistics_events *events,
                                       hpcw_error *err);
hpcw_status hpcw_i_vom_statistics_read_memory(const char *name, const void *data, size_t size,
                                              const struct hpcw_i_vom_statistics_events *events,
                                              hpcw_error *err);

#endif
