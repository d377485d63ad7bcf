/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * SIONlib's calls for programs with MPI and OpenMP, which link hpcw-sionlib-ompi. All threads of a team call them,
 * on all processes, each with the same number of threads; the master thread calls MPI (MPI_THREAD_FUNNELED). See
 * sion_omp.h, and sion.h, which includes this header and sion_mpi.h.
 */
#ifndef HPCW_SIONLIB_SION_OMPI_H
#define HPCW_SIONLIB_SION_OMPI_H

#include <mpi.h>
#include <sion.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Opens a container as sion_paropen_mpi does, with a task for each thread. The tasks of a process are in one
 * file. */
SION_API int sion_paropen_ompi(const char *fname, const char *file_mode, int *numFiles, MPI_Comm gComm,
                               const MPI_Comm *lComm, sion_int64 *chunksize, sion_int32 *fsblksize,
                               int *globalrank, FILE **fileptr, char **newfname);

/** Closes a container. @return SION_SUCCESS; SION_NOT_SUCCESS on all threads of all processes: no file got its
 * name */
SION_API int sion_parclose_ompi(int sid);

#ifdef __cplusplus
}
#endif

#endif
