/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * SIONlib's calls for OpenMP programs, which link hpcw-sionlib-omp. All threads of a team call them, outside of
 * worksharing constructs. Each thread has a task and a handle of its own, which other threads must not use. See
 * sion.h, which includes this header if SION_OMP is defined.
 */
#ifndef HPCW_SIONLIB_SION_OMP_H
#define HPCW_SIONLIB_SION_OMP_H

#include <sion.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Opens a container as sion_paropen_mpi does, with threads in place of processes, and one file. @return the
 * handle, or -1 on all threads */
SION_API int sion_paropen_omp(const char *fname, const char *file_mode, sion_int64 *chunksize,
                              sion_int32 *fsblksize, int *globalrank, FILE **fileptr, char **newfname);

/** Closes a container. @return SION_SUCCESS; SION_NOT_SUCCESS on all threads: the file did not get its name */
SION_API int sion_parclose_omp(int sid);

#ifdef __cplusplus
}
#endif

#endif
