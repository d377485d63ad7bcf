/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Reading SION containers: those of <hpcw/sion.h>, and those of SIONlib in file format version 5 (SIONlib 1.5 to
 * 1.7) and 2 to 4 (before): single files and sets, both byte orders, plain and key-value content, buddy copies.
 * Later versions are read like version 5.
 *
 *     hpcw_sion_reader *r; hpcw_sion_reader_open("particles.sion", comm, 0, NULL, &r, &err);      // collective;
 *     this process's share of tasks for (uint32_t i = 0; i < hpcw_sion_reader_count(r); i++) {
 *         const hpcw_sion_task *task = hpcw_sion_reader_task(r, i); size_t got; hpcw_sion_reader_read(r,
 *         task->rank, data, size, &got, &err);      // any number of times; got 0: the end
 *     }
 *     hpcw_sion_reader_free(r);
 *
 * The number of processes need not be that which wrote the container: its tasks are shared out among those that
 * read. Every task has a stream with a position of its own. The stream is what the task wrote, without the gaps
 * between chunks.
 *
 * The reader is strict and needs no trust in the file: whatever breaks a rule of the format that a stream depends
 * on is HPCW_EFORMAT or HPCW_ETRUNCATED, with file, field, offset, expected and actual value, and no content makes
 * it allocate more than 112 MiB. `hpcgen verify` checks all rules.
 *
 * Memory of a process: 80 bytes for each of its tasks, up to 64 for each physical file that has them, up to 65 MiB
 * of buffers, and less than 1 MiB; of process 0 during the open up to 7 MiB more.
 *
 * Reads of 32 KiB and more go straight into the caller's memory. Smaller ones come from buffers, which are filled
 * with reads that become larger, up to 1 MiB, as long as a stream is read on. Tasks that are read one after the
 * other take turns with one buffer of 1 MiB. A task that is read again after another one has a buffer of its own,
 * out of 64 MiB: 16 KiB if the process has 4096 tasks. Of more than 16384 tasks, several share one: when they are
 * read in turn, each small read brings 4 KiB from the file again.
 *
 * One thread at a time may use a handle. Several handles may read the same container.
 *
 * A writer may replace the container meanwhile. What the handle has open stays readable: all files of a process,
 * unless it has tasks in more than 64. What needs a further open then fails with HPCW_EIO, as does an open between
 * the two: no handle ever reads files of both.
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

/** Most tasks of one process in one open, shared out or named. To read more, name them in several opens. */
#define HPCW_SION_READER_MAX_SHARE 262144u

/* ------------------------------------------------------------------------------------------------------------
 *  Open
 * --------------------------------------------------------------------------------------------------------- */

/** An opaque container open for reading. */
typedef struct hpcw_sion_reader hpcw_sion_reader;

/** Writes the path of physical file `file` of the container at `path` to `name` [size]. Called whenever a file is
 * opened, so `context` must live as long as the handle. @return false: there is no name, or it is too long; the
 * open then fails */
typedef bool hpcw_sion_name_of_file(void *context, const char *path, uint32_t file, char *name, size_t size);

/**
 * Opens a container. Collective over `comm`.
 *
 * Process 0 reads the headers and the tables, checks them, and broadcasts them in parts; each process keeps what
 * it needs for its own tasks. Then each process opens the physical files that have its tasks. Of the tables it
 * reads only sizes of blocks, 4 KiB at a time, when it comes to a block of a stream that has several.
 *
 * Which tasks a process reads:
 * - ranks == NULL: a share. Process p of P gets the tasks from N p / P up to N (p + 1) / P (without that one), in
 *   order of their ranks. With as many processes as tasks, each gets one. With more, some get none. One process
 *   alone gets all.
 * - ranks != NULL: `ranks[0 .. count-1]`. Several processes may name the same task, and a task may be named by
 *   none. For one task of many, a process alone names it.
 * A share of a single file without a mapping is a part of its tables instead: SIONlib's serial writer may store
 * any ranks there, in any order.
 *
 * Communication: a constant number of collectives, and one for each file and for each 2048 tasks. Twice as many if
 * the shares of several processes come from a table whose ranks do not ascend: it is broadcast again to find ranks
 * that occur twice.
 *
 * @param path   name of file 0 (agree); a relative one holds although the working directory changes later. A file
 *               k > 0 of a set can be opened alone: the container has its tasks then
 * @param comm   the processes; NULL: this process alone
 * @param count  number of ranks; not used without them
 * @param ranks  [count] strictly ascending, or NULL (agree which of the two)
 * @param out    the handle, to be freed with hpcw_sion_reader_free; NULL on failure
 * @return HPCW_OK; HPCW_EINVAL (a bad argument, a task that does not exist, not a regular file); HPCW_EMISMATCH;
 *         HPCW_ERANGE (more than HPCW_SION_READER_MAX_SHARE tasks of one process); HPCW_EFORMAT (a rule of the
 *         format, own ranks that occur twice, or a file of another size than process 0 sees); HPCW_ETRUNCATED (cut
 *         short, or never closed by its writer); HPCW_ENOTSUP (a variant that no program reads); HPCW_ENOMEM;
 *         HPCW_ECOMM; and the system's HPCW_ENOENT, HPCW_EACCES, HPCW_EIO; HPCW_EIO also if the container was
 *         replaced during the open: open it again. All processes get the first failure of any
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_reader_open(const char *path, hpcw_comm *comm, uint32_t count,
                                                           const uint32_t *ranks, hpcw_sion_reader **out,
                                                           hpcw_error *err);

/** As hpcw_sion_reader_open, for a container whose files have other names. `name_of` gives them all, also that of
 * file 0. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_reader_open_named(const char *path,
                                                                 hpcw_sion_name_of_file *name_of, void *context,
                                                                 hpcw_comm *comm, uint32_t count,
                                                                 const uint32_t *ranks, hpcw_sion_reader **out,
                                                                 hpcw_error *err);

/** Closes and frees, NULL allowed. Not collective. */
HPCW_API void hpcw_sion_reader_free(hpcw_sion_reader *reader);

/* ------------------------------------------------------------------------------------------------------------
 *  What there is
 * --------------------------------------------------------------------------------------------------------- */

/** The container as a whole. Later versions may add members at the end. */
typedef struct hpcw_sion_info {
    uint32_t tasks; /**< of the whole container: N */
    uint32_t files; /**< physical files */
    bool keys;      /**< key-value records, for hpcw_sion_reader_next_key and hpcw_sion_reader_find_key */
    hpcw_sion_endian endian;      /**< of the metadata; the reader converts */
    hpcw_sion_endian data_endian; /**< as the writer marked its data; the reader does not convert */
    uint32_t fs_block_size;       /**< bytes; chunks of the aligned layout start at multiples of it */
    int32_t format;               /**< file format version, 5 since SIONlib 1.5 */
    int32_t library_version;      /**< 1000 * major + minor of the library that wrote it: 1007 */
    int32_t library_patch;        /**< its patch level */
    char name[1025];              /**< that the container had when it was written, with SIONlib a path */
} hpcw_sion_info;

/** The same on all processes; valid as long as the handle. NULL for NULL. */
HPCW_API const hpcw_sion_info *hpcw_sion_reader_info(const hpcw_sion_reader *reader);

/** A task. Later versions may add members at the end. */
typedef struct hpcw_sion_task {
    uint32_t rank;       /**< global rank */
    uint32_t file;       /**< its physical file, 0 .. files - 1 */
    uint32_t index;      /**< its place among the tasks of this file */
    uint32_t blocks;     /**< blocks that it used, at least 1 */
    uint64_t chunk_size; /**< bytes of its chunk in every block */
    uint64_t start;      /**< offset in the file of its chunk in block 0 */
    uint64_t size;       /**< bytes of its stream */
} hpcw_sion_task;

/** Number of tasks that this process reads. 0 for NULL. */
HPCW_API uint32_t hpcw_sion_reader_count(const hpcw_sion_reader *reader);

/** Own task `index`, in order of ranks; valid as long as the handle. NULL from hpcw_sion_reader_count on. */
HPCW_API const hpcw_sion_task *hpcw_sion_reader_task(const hpcw_sion_reader *reader, uint32_t index);

/** The own task with a rank; NULL if this process does not read it. */
HPCW_API const hpcw_sion_task *hpcw_sion_reader_find(const hpcw_sion_reader *reader, uint32_t rank);

/**
 * Bytes that an own task used in block `block`, below its number of blocks. Not collective.
 *
 * @return HPCW_OK; HPCW_EINVAL; HPCW_EFORMAT or HPCW_ETRUNCATED (the file changed); and what the system says
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
 * At the end of the stream, or of the value of a key-value record (see below), there are less than `size`, and
 * then none. A failure moves nothing: the position is as before, `*got` is 0.
 *
 * @param rank  a task that this process reads
 * @param data  [size] out; may be NULL if size is 0
 * @param got   out: bytes read, up to `size`
 * @return HPCW_OK; HPCW_EINVAL (not an own task, a pointer is NULL); HPCW_ENOMEM; HPCW_EFORMAT or HPCW_ETRUNCATED
 *         (the file changed after the open); and what the system says
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_reader_read(hpcw_sion_reader *reader, uint32_t rank, void *data,
                                                           size_t size, size_t *got, hpcw_error *err);

/** Whether the position of an own task is at the end: of the value, after hpcw_sion_reader_next_key or
 * hpcw_sion_reader_find_key, otherwise of the stream. true if it is not an own task. */
HPCW_API bool hpcw_sion_reader_at_end(const hpcw_sion_reader *reader, uint32_t rank);

/** Offset of the next byte in the stream of an own task. 0 if it is not one. */
HPCW_API uint64_t hpcw_sion_reader_position(const hpcw_sion_reader *reader, uint32_t rank);

/** Moves forward by `size` bytes without reading them. @return as hpcw_sion_reader_seek; the limit is the end of
 * the value in a key-value record */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_reader_skip(hpcw_sion_reader *reader, uint32_t rank,
                                                           uint64_t size, hpcw_error *err);

/**
 * Moves to a place of the stream. Going back is slow in a stream of very many blocks: it looks for the block from
 * the first one on.
 *
 * @param offset  0 .. size of the stream. In a key-value container that of a record: 0, or hpcw_sion_record.offset
 * @return HPCW_OK; HPCW_EINVAL (not an own task); HPCW_ERANGE (beyond the end: nothing moved)
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_reader_seek(hpcw_sion_reader *reader, uint32_t rank,
                                                           uint64_t offset, hpcw_error *err);

/**
 * Bytes from the position to the end of what the task wrote into its current chunk; 0 at the end of the stream. A
 * writer of records keeps each of them in one chunk, so this is where a record without a length of its own can
 * end. At the end of a chunk it is about the next one.
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
    uint64_t key;    /**< as it was written; a key may occur more than once */
    uint64_t size;   /**< bytes of the value */
    uint64_t offset; /**< of the record in the stream, for hpcw_sion_reader_seek */
} hpcw_sion_record;

/**
 * Goes to the record after the current one of an own task; hpcw_sion_reader_read then reads its value, of which
 * the next call passes over what is left. Without a current record, after the open or a seek, it goes to the one
 * that begins at the position: the first one after the open. Not collective.
 *
 * @param record  out, if there is one
 * @param more    out: whether there is one
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ENOTSUP (the container has no records); HPCW_EFORMAT (the stream does not end
 *         with a value); and as hpcw_sion_reader_read. A failure moves nothing
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_reader_next_key(hpcw_sion_reader *reader, uint32_t rank,
                                                               hpcw_sion_record *record, bool *more,
                                                               hpcw_error *err);

/**
 * Goes to the next record that has a key, as hpcw_sion_reader_next_key called again and again. Keys may repeat:
 * each call finds another record. hpcw_sion_reader_seek(reader, rank, 0, err) makes the first record the next one.
 * No index is stored or made: it reads the headers of the records in between.
 *
 * @param record  out, if there is one
 * @param found   out: whether there is one. If not, the position is at the end of the stream
 * @return as hpcw_sion_reader_next_key; a failure leaves the position at the value of the last whole record before
 *         the damage
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sion_reader_find_key(hpcw_sion_reader *reader, uint32_t rank,
                                                               uint64_t key, hpcw_sion_record *record,
                                                               bool *found, hpcw_error *err);

#ifdef __cplusplus
}
#endif

#endif
