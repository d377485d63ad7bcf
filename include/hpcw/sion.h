/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * SION containers (SIONlib file format version 5): one physical file, or a set of them, that holds the private
 * byte stream of each of many tasks.
 *
 * A container hands out space in *blocks*. Every block has one *chunk* for each task, of that task's fixed size. A
 * task that fills its chunk continues in the next block. Chunks start at multiples of the file system's block
 * size, so that no two tasks ever write to the same file system block.
 *
 *     hpcw_sion_options opt;
 *     hpcw_sion_options_init(&opt);
 *     opt.chunk_size = 1 << 20;
 *     opt.count = 1;                                // this process owns one task; it gets the next free number
 *     hpcw_sion *f;
 *     hpcw_sion_open("particles.sion", comm, &opt, &f, &err);        // collective
 *     hpcw_sion_write(f, hpcw_sion_first_rank(f), data, size, &err); // any number of times
 *     hpcw_sion_close(f, &err);                                      // collective
 *     hpcw_sion_free(f);
 *
 * The bytes of a container depend on the number of tasks, the options and the data. They do not depend on
 * how the tasks are spread over processes, or on the order of writes to different tasks.
 *
 * Readers: <hpcw/sion_read.h>, SIONlib 1.5 to 1.7 and its tools (siondump, sionsplit, sioncat, siondefrag),
 * nest-sionlib-reader. The bytes: doc/formats/sion.md.
 */
#ifndef HPCW_SION_H
#define HPCW_SION_H

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
 *  Limits (SIONlib 1.7.6: field widths of META1 and META2, int arithmetic of its readers)
 * --------------------------------------------------------------------------------------------------------- */

/**
 * Largest number of tasks of one physical file. SIONlib computes the size of its header in an int
 * (doc/formats/sion.md#sion-6).
 */
#define HPCW_SION_MAX_TASKS 134217659u
/** Smallest chunk of a task with key-value records: the size of a record's header. With smaller chunks, SIONlib's
 * reader (1.7.6) loses records whose header ends where a chunk ends. Aligned chunks are whole file system blocks.
 * See doc/formats/sion.md, "Traps". */
#define HPCW_SION_MIN_KEY_CHUNK 16u
/** Longest base name of a container, bytes, without directory and NUL. Further files of a set append ".000001" to
 * the name. */
#define HPCW_SION_MAX_NAME 1016u
/** Longest name of a container in its metadata, bytes without NUL. */
#define HPCW_SION_MAX_STORED_NAME 1023u

/* ------------------------------------------------------------------------------------------------------------
 *  Options
 * --------------------------------------------------------------------------------------------------------- */

/** An opaque container open for writing. */
typedef struct hpcw_sion hpcw_sion;

/** How chunk sizes follow from the requested sizes. */
typedef enum hpcw_sion_layout {
    HPCW_SION_ALIGNED = 0, /**< every chunk is rounded up to whole file system blocks (SIONlib's default) */
    /** every chunk has the requested size. Consecutive tasks form groups and share file system blocks; only the
     * last chunk of a group is rounded up (as in SIONlib's collective mode) */
    HPCW_SION_PACKED = 1
} hpcw_sion_layout;

/** What a task's stream consists of. */
typedef enum hpcw_sion_content {
    HPCW_SION_RECORDS = 0, /**< hpcw_sion_write keeps each record in one chunk, as sion_fread demands */
    HPCW_SION_STREAM = 1,  /**< bytes: a write may be split over chunks anywhere */
    HPCW_SION_KEYVAL = 2   /**< key-value records (SIONlib's keyval=inline): use hpcw_sion_write_key */
} hpcw_sion_content;

/** Byte order of the metadata, or byte order that the container states for the user's data. The library never swaps
 * user data. */
typedef enum hpcw_sion_endian { HPCW_SION_LITTLE = 0, HPCW_SION_BIG = 1 } hpcw_sion_endian;

/** The writer of SIONlib that is imitated. SIONlib's writers differ in a few fields. Readers accept all variants. A
 * mapping is a table that gives the file of each task. */
typedef enum hpcw_sion_flavour {
    HPCW_SION_PARALLEL = 0, /**< SIONlib's MPI writer: a single file has number 0 and no mapping */
    /** SIONlib's serial writer: a single file has number 1 and an empty mapping. This writer makes no sets */
    HPCW_SION_SERIAL = 1,
    /** SIONlib's mapped MPI writer: as HPCW_SION_PARALLEL, but a single file has a full mapping, too */
    HPCW_SION_MAPPED = 2
} hpcw_sion_flavour;

/** Returns the size of the chunk of task `rank`, bytes. A pure function: it gives the same result at any time and
 * on any process. */
typedef uint64_t hpcw_sion_size_of(void *context, uint32_t rank);

/**
 * Options of a container. Initialise with hpcw_sion_options_init, then set what differs. Each process has its own
 * `count`, `ranks`, `chunk_size`, `sizes`, `size_context`, `colour`, `buffer_size`, `sink_source`, and own contents
 * of `global_ranks` and `instead_of`. All other members must be the same on all processes; otherwise the open fails
 * on all processes with HPCW_EMISMATCH. The open does not compare the contents of `size_of`, `all_sizes` and
 * `file_tasks`: the caller must see to it that they are equal.
 *
 * A process owns `count` tasks. The numbers of these tasks are
 * - ranks == NULL: consecutive. The first number follows the last task of the previous process (one prefix sum);
 * - ranks != NULL: `ranks[0 .. count-1]`, strictly ascending. Any distribution over processes is legal; for a part
 *   of a set (see set_tasks) it must ascend from process to process. An ascending distribution needs only the
 *   prefix sum. Any other uses a distributed directory.
 * Every number 0 .. N-1 belongs to exactly one process. N is the sum of all counts.
 *
 * A task's number determines its position: the tasks of file 0 have the lowest numbers, the tasks of file 1 the
 * next ones, and so on. In each file, tasks lie in the order of their numbers. Readers name a task by its rank,
 * which is its number unless `global_ranks` gives it another one. So `file_tasks` and `global_ranks` together put
 * any task at any position of any file.
 *
 * Chunk sizes come from the first of these members that is set: `size_of`, `all_sizes`, `sizes`, `chunk_size`. With
 * `size_of` or `all_sizes` the packed layout needs no communication. Otherwise a message of two words goes from
 * process to process, because the position of a group depends on all groups before it. A task with chunk size 0
 * accepts no data.
 */
typedef struct hpcw_sion_options {
    size_t size;    /**< size of this struct; hpcw_sion_options_init sets it (hpcw.h) */
    uint32_t count; /**< number of tasks of this process; 0 is legal if another process has tasks */
    /** [count] numbers of this process's tasks, strictly ascending; NULL: consecutive numbers */
    const uint32_t *ranks;
    uint64_t chunk_size;        /**< requested chunk size of each own task, bytes; default 1 MiB */
    const uint64_t *sizes;      /**< [count] requested chunk size of each own task, bytes; or NULL */
    const uint64_t *all_sizes;  /**< [N] requested chunk size of each task, bytes; or NULL */
    hpcw_sion_size_of *size_of; /**< returns the requested chunk size of any task; or NULL */
    void *size_context;         /**< first argument of size_of */

    hpcw_sion_layout layout; /**< default HPCW_SION_ALIGNED */
    /** packed layout: approximate number of tasks in a group; 0: 16. If these tasks together request less than one
     * file system block, the group has more tasks */
    uint32_t tasks_per_group;
    hpcw_sion_content content; /**< default HPCW_SION_RECORDS */
    hpcw_sion_endian endian;   /**< byte order of all metadata; default little */
    /** byte order that the container states for the user's data; default little */
    hpcw_sion_endian data_endian;
    hpcw_sion_flavour flavour; /**< default HPCW_SION_PARALLEL */
    /** size of a file system block, bytes: any value >= 1; 0 (default): the size that the directory of the
     * container reports */
    uint32_t fs_block_size;

    /** number of physical files, default 1. Each file gets the next floor(N/files) tasks, and the last file also
     * the remainder. 0: one file for each value of `colour` */
    uint32_t files;
    /** with files = 0: processes with the same colour write one file. Files are numbered in the order of their
     * lowest tasks */
    uint32_t colour;

    /** 0: the processes own all tasks of the set. Otherwise the set has `files` files and `set_tasks` tasks, and
     * the processes own and write only the files set_first_file .. set_first_file + set_files - 1. Other runs write
     * the other files (array jobs). Needs size_of or all_sizes. The run that writes file 0 must close last */
    uint32_t set_tasks;
    uint32_t set_first_file; /**< see set_tasks */
    uint32_t set_files;      /**< see set_tasks */

    /** total size of this process's write buffers, bytes; default 64 MiB; 0: every write goes to the sink at
     * once */
    uint64_t buffer_size;
    hpcw_durability durability;   /**< default HPCW_SYNC_FILE */
    hpcw_sink_source sink_source; /**< where the bytes go; all zero: to files */
    /** number of tasks of each file if `files` > 1. The last file has the remainder, at least one task. 0
     * (default): floor(N/files) */
    uint32_t tasks_per_file;
    /** name in the metadata, up to HPCW_SION_MAX_STORED_NAME bytes; NULL (default): the base name of `path`.
     * SIONlib stores the path as the program passed it */
    const char *name;
    /** true: the table of used bytes has -1 for blocks that a task does not use, as SIONlib's mapped writer stores.
     * SIONlib's sionsplit and sioncat add these -1 to their totals. false (default): the table has 0 for such
     * blocks */
    bool mark_unused;
    /** [files] number of tasks of each file, at least 1, N in total. NULL (default): `files` and `tasks_per_file`
     * decide. Not allowed with `files` 0 or `set_tasks` */
    const uint32_t *file_tasks;
    /** [count] the rank that the file stores for each own task. NULL (default): the number of the task. NULL on all
     * processes or on none. In a set, or with HPCW_SION_MAPPED, the ranks of all processes are 0 .. N-1 in any
     * order; otherwise any numbers below 2^31. Not allowed with `files` 0 or `set_tasks` */
    const uint32_t *global_ranks;
    /** another container of the same path that is open for writing. The new container goes into the directory of
     * that container, even if the working directory has changed. The program then frees that container without a
     * close. NULL (default): `path` is looked up. NULL on all processes or on none */
    const hpcw_sion *instead_of;
} hpcw_sion_options;

/** Private: fills in the defaults of a struct of this size. */
HPCW_API void hpcw_sion_options_fill(hpcw_sion_options *options, size_t size);

/** Fills in the defaults. */
static inline void hpcw_sion_options_init(hpcw_sion_options *options) {
    hpcw_sion_options_fill(options, sizeof *options);
}

/* ------------------------------------------------------------------------------------------------------------
 *  Writing
 * --------------------------------------------------------------------------------------------------------- */

/**
 * Creates a container. Collective over `comm`.
 *
 * The physical files are created under temporary names beside `path`. File 0 is `path`, file k > 0 is `path`
 * followed by "." and k in at least six digits. The process that owns the first task of a file creates the file and
 * names it at the end. The other processes of the file must see it there, and processes that create another file of
 * the set must see file 0. This call looks up the directory once: before the close, a program may change its
 * working directory, and the directory may be renamed. <hpcw/sink.h> describes symbolic links, the modes of
 * replaced files, and the files that a killed program leaves. If the container replaces an older one with fewer
 * files, the additional files get the permissions of the older file 0.
 *
 * The close gives the files of a set their names together: it removes an older file 0, renames the other files, and
 * renames file 0 last. In between, no file has the name of file 0, so no reader finds a mixture of two containers.
 * Before the first rename, the close writes all data (and flushes them, as `durability` says) and a file
 * ".hpcw-set-NAME" that lists the files of the set.
 *
 * If the program dies during the renames, or a rename fails, the next open of this path by the same user, for
 * writing or reading, finishes the set. This also works in a copy of the directory. If another file 0 was put there
 * in the meantime, for instance from a backup, readers take this other file 0. The next open for writing then
 * removes the unfinished set, unless one of its other files already has its final name. If a file of the unfinished
 * set is missing or was replaced, the open fails with HPCW_ETRUNCATED, and the message says what to do.
 *
 * Communication: a constant number of collectives. Memory: O(own tasks + buffers + files).
 *
 * @param path     final name of file 0, the same on all processes; an existing container is replaced at close
 * @param comm     the processes; NULL: this process alone
 * @param options  NULL: the defaults with one task
 * @param out      the handle, to be freed with hpcw_sion_free; NULL on failure
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ERANGE (a limit above, or an offset beyond 2^63 - 1); HPCW_EMISMATCH (also if
 * `path` leads processes to different directories); HPCW_ENOMEM; HPCW_ECOMM; HPCW_EEXIST (another user's set of
 * this name is not finished, or the path is a symbolic link to a set elsewhere); and the system's HPCW_ENOENT,
 * HPCW_EACCES, HPCW_ENOSPC, HPCW_EIO
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_open(const char *path, hpcw_comm *comm,
                                                    const hpcw_sion_options *options, hpcw_sion **out,
                                                    hpcw_error *err);

/** Returns the number N of tasks of the whole container; 0 if `sion` is NULL. */
HPCW_API uint32_t hpcw_sion_tasks(const hpcw_sion *sion);

/** Returns the lowest task number of this process; N if the process owns no task. With ranks == NULL, the other
 * tasks of the process follow without a gap. */
HPCW_API uint32_t hpcw_sion_first_rank(const hpcw_sion *sion);

/** Returns the chunk size of an own task after rounding, bytes; 0 if this process does not own the task. A record
 * cannot be larger than the chunk, or than the limit that hpcw_sion_limit sets. */
HPCW_API uint64_t hpcw_sion_chunk_size(const hpcw_sion *sion, uint32_t rank);

/**
 * Limits an own task to the first `size` bytes of each of its chunks. The chunks in the file keep their sizes, and
 * their remaining bytes stay unused. So a program can fill only the size that it requested, and not the rounded
 * size. SIONlib does the same after sion_parreinit_mpi. Call it before the first write to the task. Not collective.
 * The rules for threads are those of hpcw_sion_write.
 *
 * @param size  bytes: at most the chunk size, and at least the chunk size - UINT32_MAX
 * @return HPCW_OK; HPCW_EINVAL (task not owned, or it holds data); HPCW_ERANGE (another size); HPCW_ESTATE
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_limit(hpcw_sion *sion, uint32_t rank, uint64_t size,
                                                     hpcw_error *err);

/**
 * Appends to the stream of an own task. Not collective. Different tasks may be written on different threads.
 *
 * HPCW_SION_RECORDS: the bytes are one record. A record that does not fit into the rest of the current chunk
 * opens the next block; the rest of the old chunk stays unused. HPCW_SION_STREAM: bytes fill chunk after chunk.
 *
 * @param rank  a task that this process owns
 * @param data  [size] bytes; may be NULL if size is 0
 * @return HPCW_OK; HPCW_EINVAL (task not owned, data NULL, key-value container); HPCW_ERANGE (a record larger
 * than the chunk, or a task of size 0: nothing was stored, the handle stays usable); HPCW_ESTATE; HPCW_ENOMEM,
 *         HPCW_ENOSPC or HPCW_EIO (the handle is broken and its close will fail on all processes)
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_write(hpcw_sion *sion, uint32_t rank, const void *data,
                                                     size_t size, hpcw_error *err);

/**
 * Keeps the next writes of an own task, up to `size` bytes together, in one chunk: if the rest of the current chunk
 * is smaller, the next block begins. This is for records that a program writes in pieces, and for key-value
 * records, whose header has HPCW_SION_MIN_KEY_CHUNK bytes. The rules for threads are those of hpcw_sion_write.
 *
 * @return as hpcw_sion_write; HPCW_ERANGE if `size` is larger than the chunk
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_keep_together(hpcw_sion *sion, uint32_t rank, size_t size,
                                                             hpcw_error *err);

/**
 * Appends a key-value record: the key, the length and the value. A key may repeat; a reader sees its values one
 * after the other. Only in HPCW_SION_KEYVAL containers; otherwise as hpcw_sion_write. Keys and lengths are written
 * in the byte order of the metadata.
 *
 * A value may be empty: the record is in the file, and a reader of the format finds it. Two tools of SIONlib do not
 * show all empty values (observed with 1.7.6). SIONlib's readers skip the last record of a stream, without an
 * error, if its value is empty and its header does not cross the end of a chunk. sionsplit stops reading a key at
 * the first empty value. For these tools, end a stream with a value that is not empty.
 *
 * A task whose chunks are smaller than HPCW_SION_MIN_KEY_CHUNK takes no record (HPCW_ERANGE: nothing was stored,
 * the handle stays usable).
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_write_key(hpcw_sion *sion, uint32_t rank, uint64_t key,
                                                         const void *value, size_t size, hpcw_error *err);

/**
 * Appends `size` bytes whose content hpcw_sion_fill sets later, for streams that begin with values which the
 * program knows only at the end. The bytes are one record, which must fit into one chunk. Bytes that are never
 * filled read as zero. Not in key-value containers.
 *
 * @param offset  out: the position, for hpcw_sion_fill
 * @return as hpcw_sion_write
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_reserve(hpcw_sion *sion, uint32_t rank, size_t size,
                                                       uint64_t *offset, hpcw_error *err);

/**
 * Writes into bytes that hpcw_sion_reserve reserved for the same task. The rules for threads are those of
 * hpcw_sion_write.
 *
 * @param offset  from hpcw_sion_reserve, or an offset inside the reserved bytes
 * @return as hpcw_sion_write; HPCW_EINVAL also if the range lies outside the task's chunks
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_fill(hpcw_sion *sion, uint32_t rank, uint64_t offset,
                                                    const void *data, size_t size, hpcw_error *err);

/** Returns the number of bytes in the stream of an own task so far, with reserved bytes; 0 if this process does not
 * own the task. */
HPCW_API uint64_t hpcw_sion_stream_size(const hpcw_sion *sion, uint32_t rank);

/**
 * Reports that this process cannot finish its streams. The close then fails on all processes with this reason, and
 * no file gets its name. Not collective; callable on any thread.
 *
 * @param reason  code and message; copied. NULL or code HPCW_OK: the close fails with HPCW_ESTATE
 */
HPCW_API void hpcw_sion_abandon(hpcw_sion *sion, const hpcw_error *reason);

/**
 * Finishes a container: writes the buffered data, then the metadata, makes the files durable as asked, and gives
 * them their names. The commit mark (two fields of the header, without which no reader accepts the file) is written
 * last. File 0 of a set gets its name last. Collective, with a constant number of collectives for any number of
 * blocks. If any process fails, or any write failed before, no file gets its name. Writes that were wrong calls
 * (HPCW_EINVAL, HPCW_ERANGE) do not count: they stored nothing.
 *
 * @return HPCW_OK; the first failure of any process otherwise; HPCW_ESTATE if closed before
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_close(hpcw_sion *sion, hpcw_error *err);

/** Frees a handle in any state, NULL allowed. Not collective. A container that was not closed is discarded. In a
 * child of fork(), no file is touched. */
HPCW_API void hpcw_sion_free(hpcw_sion *sion);

/* ------------------------------------------------------------------------------------------------------------
 *  Planning: the arithmetic of the layout, without a file
 * --------------------------------------------------------------------------------------------------------- */

/** Shape of one physical file. */
typedef struct hpcw_sion_shape {
    uint64_t data_start;   /**< offset of block 0 in the file (SIONlib: start0) */
    uint64_t block_stride; /**< bytes from one block to the next (SIONlib: globalskip) */
    uint64_t meta2_start;  /**< offset of the second part of the metadata, behind the last block */
    uint64_t file_size;    /**< size of the file, bytes, holes included */
    uint64_t meta1_size;   /**< bytes of the first part of the metadata, which begins at offset 0 */
} hpcw_sion_shape;

/**
 * Computes the shape of a physical file with `tasks` tasks, `stride` bytes of chunks per block (already rounded)
 * and `blocks` blocks. `mapping` is the number of entries of the mapping block, or UINT64_MAX if the file has no
 * such block.
 *
 * @return HPCW_OK, HPCW_EINVAL (`tasks`, `fs_block_size` or `blocks` is 0, or `shape` is NULL) or HPCW_ERANGE (an
 *         offset beyond 2^63 - 1)
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_shape_of(uint32_t tasks, uint32_t fs_block_size, uint64_t stride,
                                                        uint32_t blocks, uint64_t mapping,
                                                        hpcw_sion_shape *shape, hpcw_error *err);

/**
 * Gets the block size that hpcw_sion_options.fs_block_size 0 stands for: the size that the file system of `path`'s
 * directory reports, or 2 MiB if it reports 0 or more than 32 MiB. Opens no file. Not collective.
 *
 * @return HPCW_OK, HPCW_EINVAL (a NULL), HPCW_ENOENT (no directory), HPCW_EACCES, HPCW_EIO
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_block_size(const char *path, uint32_t *block_size,
                                                          hpcw_error *err);

/**
 * Returns the limit of a group in the packed layout: the largest sum of requested chunk sizes, bytes, a multiple of
 * `fs_block_size`. The tasks of a file follow each other without a gap. A group has at least one task, and further
 * tasks as long as their sum stays within the limit. The chunk of the last task of a group is extended to a
 * multiple of `fs_block_size`. So two groups never share a file system block.
 *
 * @param requested        sum of the requested chunk sizes of all tasks of the file, bytes; below 2^63
 * @param tasks            number of tasks of the file
 * @param tasks_per_group  as in hpcw_sion_options
 * @param fs_block_size    bytes; for 0 the function returns 0
 */
HPCW_API uint64_t hpcw_sion_group_share(uint64_t requested, uint32_t tasks, uint32_t tasks_per_group,
                                        uint32_t fs_block_size);

/** Returns floor(tasks / files) * file, the first task of a physical file; `tasks` if file >= files. */
HPCW_API uint32_t hpcw_sion_first_task_of_file(uint32_t tasks, uint32_t files, uint32_t file);

#ifdef __cplusplus
}
#endif

#endif
