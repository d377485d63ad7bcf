/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * SIONlib's calls for MPI programs, which link hpcw-sionlib-mpi instead of hpcw-sionlib. All calls are collective
 * over the processes that open the container. See sion.h, which includes this header.
 */
#ifndef HPCW_SIONLIB_SION_MPI_H
#define HPCW_SIONLIB_SION_MPI_H

#include <mpi.h>
#include <sion.h>

#ifdef __cplusplus
extern "C" {
#endif

/* MPI's types for the integers of SIONlib. */
#define SION_MPI_INT32 MPI_INT
#define SION_MPI_INT64 MPI_LONG_LONG

/**
 * Opens a container with one task per process. The rank of a task is the rank of its process in gComm.
 *
 * @param file_mode   as in sion_open; also collective, collsize=N and cmerge. Without collsize, or with -1,
 *                    SIONlib's rule determines the sizes of groups
 * @param numFiles    number of files; for "w" in: the ranks are divided among the files. 0 or less becomes the
 *                    number of different lComm, and each gets a file; for "r" out
 * @param lComm       the processes that share a file with this process, in the order of their tasks; only used if
 *                    numFiles is 0 or less. Files are numbered in the order of their first processes in gComm
 * @param chunksize   chunk size, bytes; for "w" in, at least 0; for "r" out
 * @param fsblksize   file system block size, bytes; for "w" in, and -1 is replaced by the size that the file system
 *                    reports; for "r" out
 * @param globalrank  out: the rank of this process in gComm
 * @param fileptr     out: the stream; may be NULL
 * @param newfname    out: the name of the physical file of this process, from malloc; may be NULL
 * @return the handle, or -1 on all processes
 */
SION_API int sion_paropen_mpi(const char *fname, const char *file_mode, int *numFiles, MPI_Comm gComm,
                              const MPI_Comm *lComm, sion_int64 *chunksize, sion_int32 *fsblksize,
                              int *globalrank, FILE **fileptr, char **newfname);

/** Closes a container. @return SION_SUCCESS; SION_NOT_SUCCESS on all processes: no file got its name */
SION_API int sion_parclose_mpi(int sid);

/** Restarts a container that is being written, with other chunk sizes. All data written so far are lost. */
SION_API int sion_parreinit_mpi(int sid, sion_int64 chunksize);

/**
 * Opens a container with any number of tasks per process. sion_seek selects a task by its global rank. Arrays have
 * `*nlocaltasks` entries. If an array is written and the pointer to it is NULL, the array is allocated with malloc.
 *
 * @param numFiles         number of files; for "w" in, at least 1; for "r" out
 * @param nlocaltasks      number of tasks of this process. For "r", -1 is replaced by the number of tasks
 *                         in a share of all tasks, which the process then gets
 * @param globalranks      ranks of the tasks of this process; out for a share, otherwise in. For "w", the ranks of
 *                         all processes together are 0 .. N-1, each once
 * @param chunksizes       chunk sizes, bytes; for "w" in; for "r" out
 * @param mapping_filenrs  number of each task's file; for "w" in; for "r" out
 * @param mapping_lranks   index of each task in its file, from 0 on without a gap; for "w" in; for "r" out
 *
 * Other parameters as sion_paropen_mpi.
 */
SION_API int sion_paropen_mapped_mpi(const char *fname, const char *file_mode, int *numFiles, MPI_Comm gComm,
                                     int *nlocaltasks, int **globalranks, sion_int64 **chunksizes,
                                     int **mapping_filenrs, int **mapping_lranks, sion_int32 *fsblksize,
                                     FILE **fileptr);

SION_API int sion_parclose_mapped_mpi(int sid);

/** The same as sion_coll_fwrite. */
SION_API size_t sion_coll_fwrite_mpi(const void *data, size_t size, size_t nitems, int sid);

/** The same as sion_coll_fread. */
SION_API size_t sion_coll_fread_mpi(void *data, size_t size, size_t nitems, int sid);

#ifdef __cplusplus
}
#endif

#endif
