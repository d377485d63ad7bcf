/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Reads SION containers of <hpcw/sion.h> and of SIONlib: file format version 5 (SIONlib 1.5 to 1.7) and versions 2
 * to 4 (earlier SIONlib), single files and sets, both byte orders, plain and key-value content, buddy copies. Later
 * format versions are read like version 5.
 *
 *     hpcw_sion_reader *r;
 *     hpcw_sion_reader_open("particles.sion", comm, 0, NULL, &r, &err);  // collective; a share of the tasks
 *     for (uint32_t i = 0; i < hpcw_sion_reader_count(r); i++) {
 *         const hpcw_sion_task *task = hpcw_sion_reader_task(r, i);
 *         size_t got;
 *         hpcw_sion_reader_read(r, task->rank, data, size, &got, &err);  // any number of times; got 0: the end
 *     }
 *     hpcw_sion_reader_free(r);
 *
 * Any number of processes can read a container: its tasks are divided among them. Every task has a stream with a
 * position of its own. The stream holds the bytes that the task wrote, without the gaps between chunks.
 *
 * The reader is strict and does not trust the file. If data break a rule of the format on which a stream depends,
 * a call fails with HPCW_EFORMAT or HPCW_ETRUNCATED; the message has file, field, offset, expected and actual
 * value. No content makes the reader allocate more than 112 MiB. `hpcgen verify` checks all rules.
 *
 * Memory of a process: 80 bytes for each of its tasks, up to 64 bytes for each physical file that has tasks of the
 * process, up to 65 MiB of buffers, and less than 1 MiB for the rest. During the open, process 0 needs up to 7 MiB
 * more.
 *
 * Reads of 32 KiB and more go straight into the caller's memory. Smaller ones are served from buffers. While a
 * stream is read sequentially, the reads that fill its buffer grow up to 1 MiB. Tasks that are read one after the
 * other share one buffer of 1 MiB. If the process reads a task again after it has read another task, the first task
 * gets its own part of a buffer of 64 MiB: 16 KiB if the process has 4096 tasks. With more than 16384 tasks,
 * several tasks share a part: if such tasks are read in turn, each small read fetches 4 KiB from the file again.
 *
 * One thread at a time may use a handle. Several handles may read the same container.
 *
 * A writer may replace the container while a handle reads it. Files that the handle has open stay readable. These
 * are all files of the process, unless it has tasks in more than 64 files. A read that has to open a file after the
 * replacement fails with HPCW_EIO. An open during the replacement fails with HPCW_EIO, too. So no handle ever reads
 * files of both containers.
 *
 * The bytes: doc/formats/sion.md.
 */
#ifndef HPCW_SION_READ_H
#define HPCW_SION_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/comm.h>
#include <hpcw/sion.h>
#include <hpcw/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Largest number of tasks that one process reads with one handle. To read more tasks, open several handles with
 * other `ranks`. */
#define HPCW_SION_READER_MAX_SHARE 1048576u

/* ------------------------------------------------------------------------------------------------------------
 *  Open
 * --------------------------------------------------------------------------------------------------------- */

/** An opaque container open for reading. */
typedef struct hpcw_sion_reader hpcw_sion_reader;

/** Writes the path of physical file `file` of the container at `path` to `name` [size]. It is called whenever a
 * file is opened, so `context` must live as long as the handle. @return false: there is no name, or it is too
 * long; the open then fails */
typedef bool hpcw_sion_name_of_file(void *context, const char *path, uint32_t file, char *name, size_t size);

/**
 * Opens a container. Collective over `comm`.
 *
 * Process 0 reads the headers and the tables, checks them, and broadcasts them in parts; each process keeps the
 * parts about its own tasks. Then each process opens the physical files that have its tasks. Later, when a stream
 * has several blocks, it reads the sizes of its blocks from the tables, 4 KiB at a time.
 *
 * Which tasks a process reads:
 * - ranks == NULL: a share. Tasks are counted in the order of their ranks, from 0 on. Process p of P gets those
 *   from floor(N p / P) to floor(N (p + 1) / P) - 1. With as many processes as tasks, each process gets one task.
 *   With more processes, some get none.
 * - ranks != NULL: `ranks[0 .. count-1]`. Several processes may name the same task, and a task need not be named by
 *   any. To read a single task of a large container, open it on one process and name the task.
 * In a single file without a mapping, tasks are counted in the order of the file's tables: SIONlib's serial writer
 * may store any ranks there, in any order.
 *
 * Communication: a constant number of collectives, plus one for each file and for each 2048 tasks. A table in
 * which ranks do not ascend is broadcast twice if several processes have shares of it, to find repeated ranks.
 *
 * @param path   name of file 0, the same on all processes. A relative path stays valid when the working directory
 *               changes later. File k > 0 of a set can be opened alone: the container then has the tasks of that
 *               file
 * @param comm   the processes; NULL: this process alone
 * @param count  length of `ranks`; not used if `ranks` is NULL
 * @param ranks  [count] strictly ascending, or NULL. NULL on all processes or on none
 * @param out    the handle, to be freed with hpcw_sion_reader_free; NULL on failure
 * @return HPCW_OK; HPCW_EINVAL (a bad argument, a task that does not exist, not a regular file); HPCW_EMISMATCH;
 *         HPCW_ERANGE (more than HPCW_SION_READER_MAX_SHARE tasks of one process); HPCW_EFORMAT (a rule of the
 *         format, own ranks that occur twice, or a file of another size than process 0 sees); HPCW_ETRUNCATED (cut
 *         short, or never closed by its writer); HPCW_ENOTSUP (a format variant that no known program reads);
 *         HPCW_ENOMEM; HPCW_ECOMM; and the system's HPCW_ENOENT, HPCW_EACCES, HPCW_EIO; HPCW_EIO also if the
 *         container was replaced during the open: open it again. All processes return the first failure of any
 *         process
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_reader_open(const char *path, hpcw_comm *comm, uint32_t count,
                                                           const uint32_t *ranks, hpcw_sion_reader **out,
                                                           hpcw_error *err);

/** Opens a container whose physical files do not have the usual names. `name_of` returns the names of all files,
 * also of file 0. Collective, and otherwise as hpcw_sion_reader_open. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_reader_open_named(const char *path,
                                                                 hpcw_sion_name_of_file *name_of, void *context,
                                                                 hpcw_comm *comm, uint32_t count,
                                                                 const uint32_t *ranks, hpcw_sion_reader **out,
                                                                 hpcw_error *err);

/** Closes a handle and frees it. NULL is allowed. Not collective. */
HPCW_API void hpcw_sion_reader_free(hpcw_sion_reader *reader);

/* ------------------------------------------------------------------------------------------------------------
 *  Properties of the container and its tasks
 * --------------------------------------------------------------------------------------------------------- */

/** Properties of the whole container. Later versions may add members at the end. */
typedef struct hpcw_sion_info {
    uint32_t tasks;          /**< number of tasks of the whole container: N */
    uint32_t files;          /**< number of physical files */
    bool keys;               /**< streams consist of key-value records; see hpcw_sion_reader_next_key */
    hpcw_sion_endian endian; /**< byte order of the metadata; the reader converts metadata */
    /** byte order that the container states for the user's data; the reader does not convert data */
    hpcw_sion_endian data_endian;
    /** file system block size, bytes; chunks of the aligned layout start at its multiples */
    uint32_t fs_block_size;
    int32_t format;          /**< file format version, 5 since SIONlib 1.5 */
    int32_t library_version; /**< 1000 * major + minor version of the writer's library, for instance 1007 */
    int32_t library_patch;   /**< patch level of the writer's library */
    char name[1025];         /**< name of the container when it was written; SIONlib stores a path */
} hpcw_sion_info;

/** Returns the properties of the container, the same on all processes and valid as long as the handle; NULL if
 * `reader` is NULL. */
HPCW_API const hpcw_sion_info *hpcw_sion_reader_info(const hpcw_sion_reader *reader);

/** A task. Later versions may add members at the end. */
typedef struct hpcw_sion_task {
    uint32_t rank;       /**< global rank */
    uint32_t file;       /**< physical file of the task, 0 .. files - 1 */
    uint32_t index;      /**< index of the task in its physical file */
    uint32_t blocks;     /**< number of blocks that the task uses, at least 1 */
    uint64_t chunk_size; /**< size of the task's chunk in each block, bytes */
    uint64_t start;      /**< offset of the task's first chunk in the physical file */
    uint64_t size;       /**< bytes of the task's stream */
} hpcw_sion_task;

/** Returns the number of tasks that this process reads; 0 if `reader` is NULL. */
HPCW_API uint32_t hpcw_sion_reader_count(const hpcw_sion_reader *reader);

/** Returns the task `index` of this process, in order of ranks, valid as long as the handle; NULL if `index` >=
 * hpcw_sion_reader_count. */
HPCW_API const hpcw_sion_task *hpcw_sion_reader_task(const hpcw_sion_reader *reader, uint32_t index);

/** Returns the task with a rank; NULL if this process does not read this task. */
HPCW_API const hpcw_sion_task *hpcw_sion_reader_find(const hpcw_sion_reader *reader, uint32_t rank);

/**
 * Gets the number of bytes that an own task uses in block `block`. `block` is below the task's number of blocks.
 * Not collective.
 *
 * @return HPCW_OK; HPCW_EINVAL; HPCW_EFORMAT or HPCW_ETRUNCATED (the file changed); and errors of the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_reader_block_size(hpcw_sion_reader *reader, uint32_t rank,
                                                                 uint32_t block, uint64_t *size,
                                                                 hpcw_error *err);

/* ------------------------------------------------------------------------------------------------------------
 *  Streams
 * --------------------------------------------------------------------------------------------------------- */

/**
 * Reads the next bytes of an own task, across chunks. Not collective.
 *
 * The read that reaches the end returns fewer than `size` bytes in `*got`, and the next read returns 0. This is
 * the end of the stream, or, after hpcw_sion_reader_next_key or hpcw_sion_reader_find_key, of the record's value.
 * After a failure the position is unchanged, and `*got` is 0.
 *
 * @param rank  a task that this process reads
 * @param data  [size] out; may be NULL if size is 0
 * @param got   out: bytes read, up to `size`
 * @return HPCW_OK; HPCW_EINVAL (not an own task, a pointer is NULL); HPCW_ENOMEM; HPCW_EFORMAT or HPCW_ETRUNCATED
 *         (the file changed after the open); and errors of the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_reader_read(hpcw_sion_reader *reader, uint32_t rank, void *data,
                                                           size_t size, size_t *got, hpcw_error *err);

/** Returns whether the position of an own task is at the end of the stream, or, after hpcw_sion_reader_next_key or
 * hpcw_sion_reader_find_key, at the end of the record's value. Returns true for a task that this process does not
 * read. */
HPCW_API bool hpcw_sion_reader_at_end(const hpcw_sion_reader *reader, uint32_t rank);

/** Returns the position of an own task: the offset of the next byte in its stream. Returns 0 for a task that this
 * process does not read. */
HPCW_API uint64_t hpcw_sion_reader_position(const hpcw_sion_reader *reader, uint32_t rank);

/** Moves forward by `size` bytes without reading them. In a key-value record, the end of the value is the limit.
 * @return as hpcw_sion_reader_seek */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_reader_skip(hpcw_sion_reader *reader, uint32_t rank,
                                                           uint64_t size, hpcw_error *err);

/**
 * Moves to an offset in the stream. Moving back is slow in a stream of very many blocks: the search for the block
 * starts at the first one.
 *
 * @param offset  0 .. size of the stream. In a key-value container it must be the offset of a record: 0, or
 *                hpcw_sion_record.offset
 * @return HPCW_OK; HPCW_EINVAL (not an own task); HPCW_ERANGE (beyond the end: nothing moved)
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_reader_seek(hpcw_sion_reader *reader, uint32_t rank,
                                                           uint64_t offset, hpcw_error *err);

/**
 * Gets the number of bytes from the position to the end of the task's data in the current chunk; 0 at the end of
 * the stream. If the position is at the end of a chunk, it gets the number of bytes in the next chunk. In
 * containers with HPCW_SION_RECORDS each record lies in one chunk, so the end of a chunk's data is the end of a
 * record.
 *
 * @return as hpcw_sion_reader_block_size
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_reader_chunk_left(hpcw_sion_reader *reader, uint32_t rank,
                                                                 uint64_t *left, hpcw_error *err);

/* ------------------------------------------------------------------------------------------------------------
 *  Keys and values
 * --------------------------------------------------------------------------------------------------------- */

/** A key-value record. */
typedef struct hpcw_sion_record {
    uint64_t key;    /**< key; several records may have the same key */
    uint64_t size;   /**< bytes of the value */
    uint64_t offset; /**< offset of the record in the stream, for hpcw_sion_reader_seek */
} hpcw_sion_record;

/**
 * Moves to the record after the current one of an own task. hpcw_sion_reader_read then reads the record's value;
 * the next call of this function skips what was not read. After the open or a seek there is no current record, and
 * the call moves to the record that begins at the position. After the open this is the first record. Not
 * collective.
 *
 * @param record  out: the record, if there is one
 * @param more    out: whether there is a record
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ENOTSUP (the container has no records); HPCW_EFORMAT (the stream does not end
 *         with a value); and as hpcw_sion_reader_read. A failure does not change the position
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_reader_next_key(hpcw_sion_reader *reader, uint32_t rank,
                                                               hpcw_sion_record *record, bool *more,
                                                               hpcw_error *err);

/**
 * Moves to the next record with a given key, as repeated calls of hpcw_sion_reader_next_key do. Several records may
 * have the key: each call finds the next one. hpcw_sion_reader_seek(reader, rank, 0, err) starts again at the first
 * record. There is no index of keys: the call reads the headers of the records in between.
 *
 * @param record  out: the record, if there is one
 * @param found   out: whether there is a record. If not, the position is at the end of the stream
 * @return as hpcw_sion_reader_next_key; after a failure, the position is at the value of the last undamaged record
 *         before the damage
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_reader_find_key(hpcw_sion_reader *reader, uint32_t rank,
                                                               uint64_t key, hpcw_sion_record *record,
                                                               bool *found, hpcw_error *err);

#ifdef __cplusplus
}
#endif

#endif
