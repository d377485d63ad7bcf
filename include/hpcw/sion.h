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
 * Most tasks of one physical file: SIONlib computes the size of its header in an int (doc/formats/sion.md#sion-6).
 */
#define HPCW_SION_MAX_TASKS 134217659u
/** Smallest chunk of a task with key-value records: the size of a record's header. With smaller chunks, SIONlib's
 * reader (1.7.6) loses records whose header ends where a chunk ends. Aligned chunks are whole file system blocks.
 * See doc/formats/sion.md, "Traps". */
#define HPCW_SION_MIN_KEY_CHUNK 16u
/** Longest base name, without a directory; a set adds ".000001" to it. */
#define HPCW_SION_MAX_NAME 1016u
/** Longest name in the metadata. */
#define HPCW_SION_MAX_STORED_NAME 1023u

/* ------------------------------------------------------------------------------------------------------------
 *  Options
 * --------------------------------------------------------------------------------------------------------- */

/** An opaque container open for writing. */
typedef struct hpcw_sion hpcw_sion;

/** How requested sizes become chunks. */
typedef enum hpcw_sion_layout {
    HPCW_SION_ALIGNED = 0, /**< every chunk is rounded up to whole file system blocks (SIONlib's default) */
    /** chunks are exactly as requested. Groups of consecutive tasks share file system blocks, and only a
     * group's last chunk is rounded up (as SIONlib's collective mode) */
    HPCW_SION_PACKED = 1
} hpcw_sion_layout;

/** What a task's stream consists of. */
typedef enum hpcw_sion_content {
    HPCW_SION_RECORDS = 0, /**< hpcw_sion_write keeps each record in one chunk, as sion_fread demands */
    HPCW_SION_STREAM = 1,  /**< bytes: a write may be split over chunks anywhere */
    HPCW_SION_KEYVAL = 2   /**< key-value records (SIONlib's keyval=inline): use hpcw_sion_write_key */
} hpcw_sion_content;

/** Byte order of the metadata, and of the user's data. The latter is only a mark. */
typedef enum hpcw_sion_endian { HPCW_SION_LITTLE = 0, HPCW_SION_BIG = 1 } hpcw_sion_endian;

/** Which of SIONlib's writers to imitate in the few fields in which they differ. Readers accept all of them. */
typedef enum hpcw_sion_flavour {
    HPCW_SION_PARALLEL = 0, /**< SIONlib's MPI writer: a single file has number 0 and no mapping */
    /** SIONlib's serial writer: a single file has number 1 and an empty mapping; no sets */
    HPCW_SION_SERIAL = 1,
    /** SIONlib's mapped MPI writer: as parallel, but a single file has a full mapping, too */
    HPCW_SION_MAPPED = 2
} hpcw_sion_flavour;

/** Returns the size of the chunk of task `rank`, bytes. A pure function: it gives the same result at any time and
 * on any process. */
typedef uint64_t hpcw_sion_size_of(void *context, uint32_t rank);

/**
 * Options of a container. Initialise with hpcw_sion_options_init, then set what differs. Members marked "agree"
 * must be the same on all processes; otherwise the open fails on all of them with HPCW_EMISMATCH. For `size_of`,
 * `all_sizes` and `file_tasks` the open only compares which of them is set: equal contents are the caller's
 * responsibility.
 *
 * What a process owns: `count` tasks. Their numbers are
 * - ranks == NULL: consecutive, starting where the tasks of the process before end (one prefix sum);
 * - ranks != NULL: `ranks[0 .. count-1]`, strictly ascending. Any distribution over processes is legal; for a part
 *   of a set (see set_tasks) it must ascend from process to process. Distributions that ascend so need only the
 *   prefix sum; others use a distributed directory.
 * Together the processes own every number 0 .. N-1 exactly once, N being the sum of the counts.
 *
 * A task's number determines its position: the tasks of file 0 have the lowest numbers, then those of file 1 and
 * so on, in their order in each file. Readers name a task by its rank, which is its number unless `global_ranks`
 * gives it another one. So `file_tasks` and `global_ranks` together put any task at any position of any file.
 *
 * Chunk sizes come from the first of these that is set: `size_of` (agree), `all_sizes` [N] (agree), `sizes`
 * [count], `chunk_size`. With the first two the packed layout needs no communication. Otherwise a message of two
 * words goes from process to process, as the position of a group depends on all groups before it. A task of size 0
 * takes no data.
 */
typedef struct hpcw_sion_options {
    size_t size;                /**< of this struct; hpcw_sion_options_init sets it (hpcw.h) */
    uint32_t count;             /**< number of tasks of this process; 0 is legal if another process has some */
    const uint32_t *ranks;      /**< [count] their numbers, strictly ascending, or NULL */
    uint64_t chunk_size;        /**< requested bytes per chunk of each own task; default 1 MiB */
    const uint64_t *sizes;      /**< [count] requested bytes per own task, or NULL */
    const uint64_t *all_sizes;  /**< [N] requested bytes per task, same content everywhere, or NULL */
    hpcw_sion_size_of *size_of; /**< requested bytes of any task, or NULL */
    void *size_context;         /**< first argument of size_of */

    hpcw_sion_layout layout; /**< agree; default HPCW_SION_ALIGNED */
    /** agree; packed layout: about this many tasks form a group; 0: as many as make groups of at least one file
     * system block, at most 16 */
    uint32_t tasks_per_group;
    hpcw_sion_content content; /**< agree; default HPCW_SION_RECORDS */
    hpcw_sion_endian endian;   /**< agree; byte order of all metadata; default little */
    /** agree; byte order with which user data is marked; the library never swaps data; default little */
    hpcw_sion_endian data_endian;
    hpcw_sion_flavour flavour; /**< agree; default HPCW_SION_PARALLEL */
    /** agree; bytes, any value >= 1; 0 (default): that of the target's directory */
    uint32_t fs_block_size;

    /** agree; number of physical files, default 1. Each file gets the next floor(N/files) tasks, and the last
     * one also the rest. 0: one file per colour */
    uint32_t files;
    uint32_t colour; /**< with files = 0: processes of one colour write one file. Files are numbered by the
                          lowest task in them */

    /** agree; 0: the processes own all tasks of the set. Otherwise the set has `files` files and `set_tasks`
     * tasks, and the processes own and write only the files set_first_file .. set_first_file + set_files - 1.
     * Other runs write the other files (array jobs). Needs size_of or all_sizes. The caller must see to it that
     * file 0 gets its name last */
    uint32_t set_tasks;
    uint32_t set_first_file; /**< agree; see set_tasks */
    uint32_t set_files;      /**< agree; see set_tasks */

    /** bytes of this process's write buffers, all tasks together; default 64 MiB; 0: every write goes to the
     * sink at once */
    uint64_t buffer_size;
    hpcw_durability durability;   /**< agree; default HPCW_SYNC_FILE */
    hpcw_sink_source sink_source; /**< where bytes go; zeroed: files */
    /** agree; for `files` > 1: each file has this many tasks, and the last one has the rest, at least one. 0
     * (default): floor(N/files) */
    uint32_t tasks_per_file;
    /** agree; name in the metadata, up to HPCW_SION_MAX_STORED_NAME bytes; NULL (default): the base name of
     * `path`. SIONlib stores the path as the program passed it */
    const char *name;
    /** agree; true: the table of sizes has -1 for blocks that a task does not use, as SIONlib's mapped writer
     * leaves them. SIONlib's sionsplit and sioncat add these numbers to their totals. Default false: 0 */
    bool mark_unused;
    /** agree; [files] tasks of each file, at least 1, N in all; NULL (default): as `files` and `tasks_per_file`
     * say. Not with colours or parts of a set */
    const uint32_t *file_tasks;
    /** agree whether it is set; [count] the rank of each own task in the file; NULL (default): its number. In a
     * set, or with HPCW_SION_MAPPED, all ranks together are 0 .. N-1 in any order; otherwise they are any numbers
     * below 2^31. Not with colours or parts of a set */
    const uint32_t *global_ranks;
    /** agree whether it is set; a container of the same path that is open for writing. The new one goes into its
     * directory, wherever the program is by now. The program then frees the other one without a close. NULL
     * (default): `path` is looked up */
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
 * Touches the file system: the physical files appear under temporary names beside `path`. File 0 is `path`, file
 * k > 0 is `path` followed by "." and k in at least six digits. The process that owns the first task of a file
 * creates the file and names it at the end. The other processes of the file must see it there, and processes that
 * create another file of the set must see file 0. The directory is looked up here, once: before the close, a
 * program may change its working directory, and the directory may be renamed. <hpcw/sink.h> describes links, modes
 * of older files, and what a killed program leaves. A file that the older container does not have gets the rights
 * of that container's file 0.
 *
 * The files of a set get their names together, at the close: it removes an older file 0, then renames the other
 * files, then file 0. So meanwhile there is no container, and never a mixture of two. Before this, all data are
 * written (and synced, as `durability` says), and a file ".hpcw-set-NAME" lists the files. If the program dies
 * meanwhile, or a rename fails, the next open of this path by the same user, for writing or reading, finishes the
 * set. This works in a copy of the directory, too. Somebody may have put another file 0 there since, as from a
 * backup. Then readers take that one. The next open for writing removes the rest of the set, if no other new file
 * has its name already. If one of the new files is gone or was replaced since, the open fails with HPCW_ETRUNCATED
 * and says what to do.
 *
 * Communication: a constant number of collectives. Memory: O(own tasks + buffers + files).
 *
 * @param path     final name of file 0 (agree); an existing container is replaced at close
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

/** Number of tasks N of the whole container. 0 for NULL. */
HPCW_API uint32_t hpcw_sion_tasks(const hpcw_sion *sion);

/** Lowest task number of this process; N if it owns no task. With ranks == NULL its tasks are consecutive from
 * here. */
HPCW_API uint32_t hpcw_sion_first_rank(const hpcw_sion *sion);

/** Size of the chunk of an own task after rounding, bytes. It limits the size of a record, unless hpcw_sion_limit
 * sets a lower limit. 0 if not owned. */
HPCW_API uint64_t hpcw_sion_chunk_size(const hpcw_sion *sion, uint32_t rank);

/**
 * Limits an own task to the first `size` bytes of each of its chunks. The chunks in the file stay as large as they
 * are, and their other bytes stay empty. So a program can fill the size that it asked for, and not the rounded
 * one. SIONlib does so after sion_parreinit_mpi. Call it before the first write to the task. Not collective.
 * Threads as hpcw_sion_write.
 *
 * @param size  bytes; at most the size of the chunk, and less than it by at most UINT32_MAX
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
 * than the chunk, or a task of size 0: nothing was stored, the handle stays usable); HPCW_ESTATE; HPCW_ENOMEM;
 *         HPCW_ENOSPC or HPCW_EIO (the handle is broken and its close will fail on all processes)
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_write(hpcw_sion *sion, uint32_t rank, const void *data,
                                                     size_t size, hpcw_error *err);

/**
 * Keeps the next writes of an own task, up to `size` bytes together, in one chunk: if the rest of the current
 * chunk is smaller, the next block begins. This is for records that a program writes in pieces, and for key-value
 * records, whose header has HPCW_SION_MIN_KEY_CHUNK bytes. Threads as hpcw_sion_write.
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
 * A value may be empty: the record is in the file, and a reader of the format finds it. Two tools do not show all
 * of them (observed with 1.7.6). SIONlib's readers skip the last record of a stream, without an error, if its
 * value is empty and its header does not cross the end of a chunk. sionsplit stops a key at its first empty value.
 * For these tools, end a stream with a value that is not empty.
 *
 * A task whose chunks are smaller than HPCW_SION_MIN_KEY_CHUNK takes no record (HPCW_ERANGE: nothing was stored,
 * the handle stays usable).
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_write_key(hpcw_sion *sion, uint32_t rank, uint64_t key,
                                                         const void *value, size_t size, hpcw_error *err);

/**
 * Appends `size` bytes whose content hpcw_sion_fill sets later, for streams that begin with values known last. The
 * bytes are one record, which must fit into one chunk. Bytes that are never filled read as zero. Not in key-value
 * containers.
 *
 * @param offset  out: the position, for hpcw_sion_fill
 * @return as hpcw_sion_write
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_reserve(hpcw_sion *sion, uint32_t rank, size_t size,
                                                       uint64_t *offset, hpcw_error *err);

/**
 * Writes into bytes that hpcw_sion_reserve reserved for the same task. Threads as hpcw_sion_write.
 *
 * @param offset  from hpcw_sion_reserve, or an offset inside the reserved bytes
 * @return as hpcw_sion_write; HPCW_EINVAL also if the range lies outside the task's chunks
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_fill(hpcw_sion *sion, uint32_t rank, uint64_t offset,
                                                    const void *data, size_t size, hpcw_error *err);

/** Bytes that the stream of an own task holds so far, reserved ones included. 0 if not owned. */
HPCW_API uint64_t hpcw_sion_stream_size(const hpcw_sion *sion, uint32_t rank);

/**
 * Reports that this process cannot finish its streams. The close then fails on all processes with this reason, and
 * no file gets its name. Not collective; callable on any thread.
 *
 * @param reason  code and message; copied
 */
HPCW_API void hpcw_sion_abandon(hpcw_sion *sion, const hpcw_error *reason);

/**
 * Finishes a container: writes the buffered data, then the metadata, makes the files durable as asked, and gives
 * them their names. The commit mark is written last, and file 0 of a set is named last. Collective, with a
 * constant number of collectives for any number of blocks. If any process fails, or any write failed before, no
 * file gets its name.
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
    uint64_t data_start;   /**< offset of block 0 (start0) */
    uint64_t block_stride; /**< bytes from block to block (globalskip) */
    uint64_t meta2_start;  /**< offset of the second metadata part for the given number of blocks */
    uint64_t file_size;    /**< apparent size, bytes */
    uint64_t meta1_size;   /**< bytes of the first metadata part, from offset 0 on */
} hpcw_sion_shape;

/**
 * Computes the shape of a physical file with `tasks` tasks, `stride` bytes of chunks per block (already rounded)
 * and `blocks` blocks. `mapping` is the number of entries of the mapping block, or UINT64_MAX if the file has no
 * such block.
 *
 * @return HPCW_OK, HPCW_EINVAL (a zero among the first four) or HPCW_ERANGE (an offset beyond 2^63 - 1)
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_shape_of(uint32_t tasks, uint32_t fs_block_size, uint64_t stride,
                                                        uint32_t blocks, uint64_t mapping,
                                                        hpcw_sion_shape *shape, hpcw_error *err);

/**
 * Gets the block size that hpcw_sion_options.fs_block_size 0 stands for. It is what the file system of `path`'s
 * directory reports, or 2 MiB if that is 0 or above 32 MiB. Opens no file. Not collective.
 *
 * @return HPCW_OK, HPCW_EINVAL (a NULL), HPCW_ENOENT (no directory), HPCW_EACCES, HPCW_EIO
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_block_size(const char *path, uint32_t *block_size,
                                                          hpcw_error *err);

/**
 * Returns the most bytes of requests in a group of the packed layout, a multiple of `fs_block_size`. The tasks of
 * a file follow each other without a gap. A group takes at least one task, and then tasks until the next one would
 * exceed this limit. The chunk of its last task is extended to the next multiple of `fs_block_size`. So groups
 * never share a block of that size.
 *
 * @param requested        bytes that all tasks of the file request; below 2^63
 * @param tasks            tasks of the file
 * @param tasks_per_group  as in hpcw_sion_options
 * @param fs_block_size    bytes; 0 gives 0
 */
HPCW_API uint64_t hpcw_sion_group_share(uint64_t requested, uint32_t tasks, uint32_t tasks_per_group,
                                        uint32_t fs_block_size);

/** First task of physical file `file` if N tasks are divided among `files` files by count; N for file == files. */
HPCW_API uint32_t hpcw_sion_first_task_of_file(uint32_t tasks, uint32_t files, uint32_t file);

#ifdef __cplusplus
}
#endif

#endif
