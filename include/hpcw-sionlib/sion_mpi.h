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

/* MPI's types for those of SIONlib. */
#define SION_MPI_INT32 MPI_INT
#define SION_MPI_INT64 MPI_LONG_LONG

/**
 * One task per process, with the process's rank in gComm.
 *
 * @param file_mode   as in sion_open; also collective with collsize=N, and with cmerge. Without collsize, or with
 *                    -1, groups of tasks get about as large as SIONlib makes them
 * @param numFiles    for "w" the number of files, among which the ranks are divided; 0 or less: one file for each
 *                    lComm, and then out; for "r" out
 * @param lComm       the processes of a file, in the order in which it has their tasks; only used if numFiles is 0
 *                    or less. Files are numbered by the ranks in gComm of the first processes
 * @param chunksize   for "w" bytes, at least 0; for "r" out
 * @param fsblksize   for "w" bytes, -1: that of the file system, which it then becomes; for "r" out
 * @param globalrank  out: the rank in gComm
 * @param fileptr     out: the stream; may be NULL
 * @param newfname    out: the name of the physical file of this process, from malloc; may be NULL
 * @return the handle; -1 on all processes
 */
SION_API int sion_paropen_mpi(const char *fname, const char *file_mode, int *numFiles, MPI_Comm gComm,
                              const MPI_Comm *lComm, sion_int64 *chunksize, sion_int32 *fsblksize,
                              int *globalrank, FILE **fileptr, char **newfname);

/** @return SION_SUCCESS; SION_NOT_SUCCESS on all processes: no file got its name */
SION_API int sion_parclose_mpi(int sid);

/** Begins anew with other chunk sizes: what was written is lost. For "w". */
SION_API int sion_parreinit_mpi(int sid, sion_int64 chunksize);

/**
 * Any number of tasks per process, selected with sion_seek by their global ranks. Arrays have `*nlocaltasks`
 * entries.
 *
 * @param numFiles         for "w" in, at least 1; for "r" out
 * @param nlocaltasks      for "r" -1: a share of all tasks, and then out
 * @param globalranks      ranks; together all processes have 0, 1, 2 and so on once when they write. Out for a
 *                         share
 * @param chunksizes       for "w" bytes; for "r" out
 * @param mapping_filenrs  for "w" the file of each task; for "r" out
 * @param mapping_lranks   for "w" the task's place in its file, from 0 on without a gap; for "r" out
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
