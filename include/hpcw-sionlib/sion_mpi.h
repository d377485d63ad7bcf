/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * SIONlib's calls for MPI programs, which link hpcw-sionlib-mpi instead of hpcw-sionlib. All are collective over
 * the processes of the open. See sion.h, which includes this.
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
 * Opens a container with one task per process. The task's rank is that of the process in gComm.
 *
 * @param file_mode   as in sion_open; also collective with collsize=N, and with cmerge. Without collsize, or with
 *                    -1, the sizes of groups follow SIONlib's rule
 * @param numFiles    for "w" the number of files, among which the ranks are divided. 0 or less: one file for each
 *                    lComm, and out: their number. For "r" out
 * @param lComm       the processes of this file, in the order of their tasks; only used if numFiles is 0 or less.
 *                    Files are numbered in the order of their first processes in gComm
 * @param chunksize   for "w" bytes, at least 0; for "r" out
 * @param fsblksize   bytes. For "w" in; -1 is replaced by that of the file system. For "r" out
 * @param globalrank  out: the rank in gComm
 * @param fileptr     out: the stream; may be NULL
 * @param newfname    out: the name of the physical file of this process, from malloc; may be NULL
 * @return the handle, or -1 on all processes
 */
SION_API int sion_paropen_mpi(const char *fname, const char *file_mode, int *numFiles, MPI_Comm gComm,
                              const MPI_Comm *lComm, sion_int64 *chunksize, sion_int32 *fsblksize,
                              int *globalrank, FILE **fileptr, char **newfname);

/** Closes a container. @return SION_SUCCESS; SION_NOT_SUCCESS on all processes: no file got its name */
SION_API int sion_parclose_mpi(int sid);

/** Restarts a container that is being written, with other chunk sizes. What was written is lost. */
SION_API int sion_parreinit_mpi(int sid, sion_int64 chunksize);

/**
 * Opens a container with any number of tasks per process. sion_seek selects them by their global ranks. Arrays
 * have `*nlocaltasks` entries.
 *
 * @param numFiles         for "w" in, at least 1; for "r" out
 * @param nlocaltasks      number of own tasks; for "r" -1 asks for a share of all tasks, and the number is out
 * @param globalranks      ranks of the own tasks. For "w", all processes together have each of 0 .. N-1 once. Out
 *                         for a share
 * @param chunksizes       for "w" bytes; for "r" out
 * @param mapping_filenrs  for "w" the file of each task; for "r" out
 * @param mapping_lranks   for "w" the task's index in its file, from 0 on without a gap; for "r" out
 *
 * Arrays that are out come from malloc if they are NULL. Other parameters as sion_paropen_mpi.
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
