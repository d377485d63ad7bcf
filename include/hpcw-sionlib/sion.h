/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The calls of SIONlib 1.7. Programs written for SIONlib compile and link unchanged (pkg-config hpcw-sionlib, with
 * MPI hpcw-sionlib-mpi), write the same bytes, and read what either library wrote. New programs use <hpcw/sion.h>
 * and <hpcw/sion_read.h>, which do more and explain errors.
 *
 * Calls, results and effects of errors are as in SIONlib. doc/compatibility.md lists the differences and the
 * missing calls. In short:
 * - A container gets its name when it is closed. Until then its bytes are in a temporary file beside it.
 * - Nothing is printed. See sion_hpcw_on_error.
 * - A `FILE *` reads and writes the chunks of a task: fwrite, fread, ftell and similar calls work, fileno does not.
 *   Positions in the stream count the bytes of the task. A write that does not fit into the chunk fails. The stream
 *   is closed with the container.
 *
 * The MPI calls are declared if mpi.h is included before, or SION_MPI is defined. The OpenMP calls are declared if
 * SION_OMP is defined.
 */
#ifndef HPCW_SIONLIB_SION_H
#define HPCW_SIONLIB_SION_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__GNUC__)
#define SION_API __attribute__((visibility("default")))
#else
#define SION_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef int sion_int32;
typedef unsigned int sion_uint32;
typedef long long sion_int64;
typedef unsigned long long sion_uint64;

/* ------------------------------------------------------------------------------------------------------------
 *  Constants
 * --------------------------------------------------------------------------------------------------------- */

#define SION_SUCCESS 1
#define SION_NOT_SUCCESS 0
#define SION_STD_SUCCESS 0
#define SION_STD_NOT_SUCCESS 1
#define SION_SMALLEST_VALID_ID 0
#define SION_ID_UNDEF -1
#define SION_ID_NOT_VALID -1
#define SION_UNKNOWN -1
#define SION_AUTOMATIC -1
#define SION_SIZE_NOT_VALID -1
#define SION_ANSI_SIZE_NOT_VALID 0

#define SION_MAIN_VERSION 1
#define SION_SUB_VERSION 7
#define SION_VERSION_PATCHLEVEL 6
#define SION_FILEFORMAT_VERSION 5

#define SION_MAX_FSBLOCKSIZE (32 * 1024 * 1024)
#define SION_DEFAULT_FSBLOCKSIZE (2 * 1024 * 1024)
#define SION_FILENAME_LENGTH 1024

#define SION_CURRENT_RANK -101
#define SION_CURRENT_BLK -102
#define SION_CURRENT_CHUNK -102
#define SION_CURRENT_BLOCK -102
#define SION_CURRENT_POS -103
#define SION_ABSOLUTE_POS -104
#define SION_END_POS -105

#define SION_KEYVAL_NONE 50
#define SION_KEYVAL_INLINE 51
#define SION_KEYVAL_META 52
#define SION_KEYVAL_HASH 53
#define SION_KEYVAL_UNKNOWN 54
#define SION_KEYVAL_NOTSET 55

/* ------------------------------------------------------------------------------------------------------------
 *  Errors
 * --------------------------------------------------------------------------------------------------------- */

/** Receives a message of one line, without newline. `message` is valid for the call. */
typedef void sion_hpcw_report(void *context, const char *message);

/**
 * Sets the function that is called for each error. This call is not part of SIONlib, which prints errors. NULL, the
 * initial value: messages are appended to the file that the environment variable HPCW_SIONLIB_ERRORS names, for
 * instance /dev/stderr. Without the variable, errors are silent, except that a refusal of buddy checkpointing goes
 * to stderr. The setting holds for the whole program; make it before other threads call the library.
 */
SION_API void sion_hpcw_on_error(sion_hpcw_report *report, void *context);

/* ------------------------------------------------------------------------------------------------------------
 *  Open and close
 * --------------------------------------------------------------------------------------------------------- */

/**
 * Opens a container with all tasks in one process.
 *
 * @param file_mode  words separated by commas: w, r (wb, bw, rb, br), keyval, keyval=inline, endianness=big,
 *                   endianness=little; other words have no effect
 * @param ntasks     number of tasks; for "w" in, at least 1; for "r" out
 * @param nfiles     number of files; for "w" in, 1; for "r" out
 * @param chunksizes   [*ntasks] chunk sizes, bytes; for "w" in; for "r" out. For "r" it may be NULL. If it points
 *                     to NULL, the array is allocated with malloc
 * @param fsblksize    file system block size, bytes; for "w" in, and -1 is replaced by the size that the file
 *                     system reports; for "r" out
 * @param globalranks  [*ntasks] ranks, as chunksizes; for "w" any numbers >= 0. Other calls name a task by its
 *                     index in this array
 * @param fileptr      out: the stream, see the top of this header; may be NULL
 * @return the handle, at least 0, or -1
 */
SION_API int sion_open(const char *fname, const char *file_mode, int *ntasks, int *nfiles,
                       sion_int64 **chunksizes, sion_int32 *fsblksize, int **globalranks, FILE **fileptr);

/** Opens one task, `*rank`, of an existing container in one process. Only mode "r". Other parameters as
 * sion_open. */
SION_API int sion_open_rank(const char *fname, const char *file_mode, sion_int64 *chunksize,
                            sion_int32 *fsblksize, int *rank, FILE **fileptr);

/** Closes a container that sion_open or sion_open_rank opened. @return SION_SUCCESS, or SION_NOT_SUCCESS: no file
 * got its name */
SION_API int sion_close(int sid);

/* ------------------------------------------------------------------------------------------------------------
 *  Write and read
 * --------------------------------------------------------------------------------------------------------- */

/** Appends a record, which is kept in one chunk. @return items written: nitems, or 0 */
SION_API size_t sion_fwrite(const void *data, size_t size, size_t nitems, int sid);

/** Moves to the next block unless `bytes` fit into the rest of the chunk. @return SION_SUCCESS; SION_NOT_SUCCESS,
 * also if `bytes` exceed a whole chunk */
SION_API int sion_ensure_free_space(int sid, sion_int64 bytes);

/** Reads from the rest of the chunk, or, at the end of a chunk, from the next chunk. @return items read; 0 if they
 * exceed the rest of the chunk */
SION_API size_t sion_fread(void *data, size_t size, size_t nitems, int sid);

/** Returns whether the position is at the end of the task. At the end of an earlier chunk, moves to the next chunk.
 * @return 1 or 0 */
SION_API int sion_feof(int sid);

/** @return bytes from the position to the end of the data in the chunk, or -1 */
SION_API sion_int64 sion_bytes_avail_in_block(int sid);

/** The same as sion_bytes_avail_in_block. */
SION_API sion_int64 sion_bytes_avail_in_chunk(int sid);

/**
 * Selects a task, and a position in the task.
 *
 * @param rank            the task, or SION_CURRENT_RANK
 * @param currentblocknr  SION_CURRENT_BLK, or, in mode "r", the number of a block. SION_ABSOLUTE_POS: posinblk
 *                        counts from the start of the task. SION_END_POS: posinblk counts from the end of the task,
 *                        and is 0 or negative
 * @param posinblk        SION_CURRENT_POS, or, in mode "r", an offset in the block, bytes
 */
SION_API int sion_seek(int sid, int rank, int currentblocknr, sion_int64 posinblk);

/** Does what sion_seek does, and gets the stream. All tasks share one stream, which follows the selected task. */
SION_API int sion_seek_fp(int sid, int rank, int currentblocknr, sion_int64 posinblk, FILE **fileptr);

/** Does nothing: written data is in the file when the container is closed. @return SION_NOT_SUCCESS while the chunk
 * is empty */
SION_API int sion_flush(int sid);

/**
 * Writes as sion_fwrite. All processes of the container call it. In a merged container (mode "cmerge") the first
 * task of a group stores the bytes.
 */
SION_API size_t sion_coll_fwrite(const void *data, size_t size, size_t nitems, int sid);

/** Reads as sion_fread. All processes of the container call it. */
SION_API size_t sion_coll_fread(void *data, size_t size, size_t nitems, int sid);

/* ------------------------------------------------------------------------------------------------------------
 *  Keys and values (keyval=inline)
 * --------------------------------------------------------------------------------------------------------- */

/** Appends a record of a key. @return items written, or (size_t)-1 */
SION_API size_t sion_fwrite_key(const void *data, uint64_t key, size_t size, size_t nitems, int sid);

/** Reads from the current position in the values of a key, at most to the end of a value. @return items read, or
 * 0 */
SION_API size_t sion_fread_key(void *data, uint64_t key, size_t size, size_t nitems, int sid);

/** Makes sion_fread_key_iterator_next start again with the first record. */
SION_API int sion_fread_key_iterator_reset(int sid);

/** Gets the next record, in the order of writing. sion_fread_key then reads its value. @return SION_SUCCESS;
 * SION_NOT_SUCCESS at the end */
SION_API int sion_fread_key_iterator_next(int sid, uint64_t *key, size_t *size);

/** Moves the position in the values of a key to offset `posinentry` of value `entrynum`. `entrynum` may be
 * SION_CURRENT_BLOCK, or SION_ABSOLUTE_POS: `posinentry` then counts over all values. */
SION_API int sion_seek_key(int sid, uint64_t key, int entrynum, sion_int64 posinentry);

/** Finds all records, for sion_key_list_iterator_next and sion_key_get_stat. */
SION_API int sion_key_full_scan(int sid);

SION_API int sion_key_list_iterator_reset(int sid);

/** Gets the next key, in the order of the keys' first records. */
SION_API int sion_key_list_iterator_next(int sid, uint64_t *keyptr);

typedef struct _sion_key_stat_struct {
    uint64_t key;
    sion_int64 num_blocks; /* number of records */
    sion_int64 total_size; /* bytes of the values of all records */
} sion_key_stat_t;

/** Gets number and size of the records of a key that was found. */
SION_API int sion_key_get_stat(int sid, uint64_t key, sion_key_stat_t *stat);

/** @return SION_KEYVAL_NONE or SION_KEYVAL_INLINE; SION_KEYVAL_UNKNOWN if `sid` is no handle */
SION_API int sion_get_keyval_mode(int sid);

/** @return the name of a SION_KEYVAL_... constant; a static text */
SION_API char *sion_keyval_type_to_str(int type);

/* ------------------------------------------------------------------------------------------------------------
 *  Properties of a container
 * --------------------------------------------------------------------------------------------------------- */

/** Gets the layout of all tasks of a container that sion_open opened. The handle owns the arrays; later calls may
 * change them. */
SION_API int sion_get_locations(int sid, int *ntasks, int *maxblocks, sion_int64 *globalskip,
                                sion_int64 *start_of_varheader, sion_int64 **sion_chunksizes,
                                sion_int64 **sion_globalranks, sion_int64 **sion_blockcount,
                                sion_int64 **sion_blocksizes);

/** Gets the position of each task of a container that sion_open opened: the offset in the file, and the block. */
SION_API int sion_get_current_locations(int sid, int *ntasks, sion_int64 **sion_currentpos,
                                        sion_int64 **sion_currentblocknr);

/** Gets the position of the selected task. `*chunksizes` is an array with the number of used bytes in each of the
 * task's `*maxchunks` blocks. The array is valid until the next call. */
SION_API int sion_get_current_location(int sid, int *currentblock, sion_int64 *currentpos, int *maxchunks,
                                       sion_int64 **chunksizes);

/** Gets two numbers for each task of a set: its file, and its index in the file. `*mapping_size` is -1 if there is
 * only one file. */
SION_API int sion_get_mapping(int sid, int *mapping_size, sion_int32 **mapping, int *numfiles);

SION_API int sion_get_number_of_files(int sid);
SION_API int sion_get_filenumber(int sid);
SION_API int sion_is_serial_opened(int sid);

/** @return bytes that the selected task has written, or -1 in "r" */
SION_API sion_int64 sion_get_bytes_written(int sid);

/** @return bytes before the position of the selected task, or -1 in "w" */
SION_API sion_int64 sion_get_bytes_read(int sid);

/** @return 1 if the container states that its data is big-endian, 0 for little-endian */
SION_API int sion_get_file_endianness(int sid);

/** @return whether the byte order that the container states for its data differs from that of this machine */
SION_API int sion_endianness_swap_needed(int sid);

/** @return 1 if this machine is big-endian, 0 if it is little-endian */
SION_API int sion_get_endianness(void);

/** Reverses the bytes of `n` items of `size` bytes, in place or into another array. Without do_swap it only
 * copies. */
SION_API void sion_swap(void *target, void *source, int size, int n, int do_swap);

SION_API int sion_get_version(int *main_version, int *sub_version, int *patch_level, int *fileformat_version);

/** @return 1: threads may use different handles at the same time */
SION_API int sion_is_thread_safe(void);

/** @return 0 */
SION_API int sion_using_hints(int sid);

/** Does nothing. */
SION_API int sion_optimize_fp_buffer(int sid);

/** Gets the bytes of memory of a handle and the number of physical files that it uses. @return SION_SUCCESS, or
 * -1 */
SION_API int sion_get_sizeof(int sid, int *numbytes, int *numfds);

/** @return -1, because streams have no file descriptor here. SIONlib also returns -1 unless the mode has `posix` */
SION_API int sion_get_fd(int sid);

/**
 * Returns the position in the physical file.
 *
 * @return bytes, or -1 if it is not known. The position is known in containers that sion_open opened. In other
 *     containers it is known for readers, in the first chunk of a task
 */
SION_API sion_int64 sion_get_position(int sid);

#define SION_ROLE_NONE 0
#define SION_ROLE_COLLECTOR 1
#define SION_ROLE_SENDER 2
#define SION_ROLE_WRITER 4
#define SION_ROLE_NOWRITER 8
#define SION_ROLE_READER 16
#define SION_ROLE_NOREADER 32
#define SION_ROLE_COLLECTOR_READER 64
#define SION_GET_IO_INFO_FLAG_NONE 0

typedef struct _sion_io_stat_struct {
    int nfiles;
    const char **names;
    size_t *sizes;
    int *roles;
} sion_io_stat_t;

/** Lists the files of buddy checkpointing, which is not supported. @return NULL, as SIONlib without buddy
 * checkpointing */
SION_API sion_io_stat_t *sion_get_io_info(int sid);
SION_API sion_io_stat_t *sion_get_io_info_by_spec(int sid, int roles, int flag);
SION_API int sion_free_io_info(sion_io_stat_t *info);

#define SION_DUP_ALL -201
#define SION_DUP_RANK -202
#define SION_DUP_RANK_KEY -203

/**
 * Makes a second handle for tasks of a container that several processes read. The new handle starts at the same
 * positions; the values of keys start from the first record. Not collective.
 *
 * @param mode  SION_DUP_ALL: all tasks; any other: only task `rank`
 * @param key   not used
 * @return the handle, for sion_dedup, or -1
 */
SION_API int sion_dup(int sid, int mode, int rank, uint64_t key);

/** Frees a handle of sion_dup. */
SION_API int sion_dedup(int sid);

/** @return the stream, or NULL if the open did not ask for it */
SION_API FILE *sion_get_fp(int sid);

#ifdef __cplusplus
}
#endif

#include <sion_debug.h>
#include <sion_generic.h>

#if defined(MPI_VERSION) || defined(SION_MPI)
#include <sion_mpi.h>
#endif

#if defined(MPI_VERSION) || defined(SION_OMPI)
#include <sion_ompi.h>
#endif

#ifdef SION_OMP
#include <sion_omp.h>
#endif

#endif
