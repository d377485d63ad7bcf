/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * SIONlib's calls for processes that communicate by a program's own callbacks. See sion.h, which includes this.
 *
 * A program makes an interface and registers its callbacks. It then opens containers with the number of the
 * interface and with a group of processes of its own. The callbacks get this group, and all opens and closes are
 * collective over it.
 */
#ifndef HPCW_SIONLIB_SION_GENERIC_H
#define HPCW_SIONLIB_SION_GENERIC_H

#include <sion.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Types of the items of a callback: 4 bytes, 8 bytes, 1 byte. */
#define _SION_INT32 10
#define _SION_INT64 11
#define _SION_CHAR 12

/** @return the number of a new interface, at least 0, or -1 */
SION_API int sion_generic_create_api(char *name);

/** Frees an interface whose containers are closed. @return SION_SUCCESS or SION_NOT_SUCCESS, as all calls below */
SION_API int sion_generic_free_api(int aid);

/*
 * Registration, once for each callback. The following eight callbacks are necessary. Each is collective over its
 * group and returns 0. `root` is a rank in the group.
 */

/** Makes the group of the processes of a file. */
SION_API int sion_generic_register_create_local_commgroup_cb(int aid,
                                                             int create(void **local, void *global, int grank,
                                                                        int gsize, int lrank, int lsize,
                                                                        int filenumber, int numfiles));
SION_API int sion_generic_register_free_local_commgroup_cb(int aid, int free_group(void *local));
/** This callback is not called: processes that must wait do so in another callback. */
SION_API int sion_generic_register_barrier_cb(int aid, int barrier(void *group));
SION_API int sion_generic_register_bcastr_cb(int aid,
                                             int bcast(void *data, void *group, int type, int items, int root));
SION_API int sion_generic_register_gatherr_cb(int aid, int gather(void *in, void *out, void *group, int type,
                                                                  int items, int root));
/** Only the root has `counts`. */
SION_API int sion_generic_register_gathervr_cb(int aid, int gatherv(void *in, void *out, void *group, int type,
                                                                    int *counts, int items, int root));
SION_API int sion_generic_register_scatterr_cb(int aid, int scatter(void *in, void *out, void *group, int type,
                                                                    int items, int root));
/** Here `out` is what the root sends, and `in` is what each process receives. */
SION_API int sion_generic_register_scattervr_cb(int aid,
                                                int scatterv(void *in, void *out, void *group, int type,
                                                             int *counts, int items, int root));

/** Registers the program's names of files. The callback returns a name, from malloc, for the container's name and a
 * file number. @return 0; -1: a callback is registered already */
SION_API int sion_generic_register_get_multi_filename_cb(int aid, char *name(const char *, int));

typedef int sion_generic_gather_execute(const void *, sion_int64 *, int, sion_int64, void *, int, int, int, int,
                                        int process(const void *, sion_int64 *, int));
typedef int sion_generic_execute_scatter(void *, sion_int64 *, int, sion_int64, void *, int, int, int, int,
                                         int process(void *, sion_int64 *, int));

/*
 * These three callbacks allow collective containers. The second one must not be the last callback that is
 * registered. `capability` returns 50 for a process that can collect, 51 for one that can only send.
 *
 * `gather_and_execute` is called for merged containers. It brings data[spec[1]] of processes first to last to the
 * collector, which calls `process` with each piece. `execute_and_scatter` is not called, as each process reads its
 * own chunks.
 */
SION_API int sion_generic_register_gather_and_execute_cb(int aid, sion_generic_gather_execute *call);
SION_API int sion_generic_register_execute_and_scatter_cb(int aid, sion_generic_execute_scatter *call);
SION_API int sion_generic_register_get_capability_cb(int aid, int capability(void *group));

/**
 * Opens a container with one task per process. The task's rank is that of the process in the group.
 *
 * @param filenumber  for "w" the file of this process; for "r" out
 * @param numfiles    for "w" the number of files; for "r" out
 * @param lrank       for "w" the index of this process in its file, from 0 on without a gap
 * @param lsize       not used
 *
 * Other parameters as sion_paropen_mpi. @return the handle; -1 on all processes
 */
SION_API int sion_generic_paropen(int aid, const char *fname, const char *file_mode, sion_int64 *chunksize,
                                  sion_int32 *fsblksize, void *gcommgroup, int grank, int gsize,
                                  int *filenumber, int *numfiles, const int *lrank, const int *lsize,
                                  FILE **fileptr, char **newfname);

/** Closes a container. @return SION_SUCCESS; SION_NOT_SUCCESS on all processes: no file got its name */
SION_API int sion_generic_parclose(int sid);

/** Opens a container with any number of tasks per process, as sion_paropen_mapped_mpi. */
SION_API int sion_generic_paropen_mapped(int aid, char *fname, const char *file_mode, int *numFiles,
                                         void *gcommgroup, int grank, int gsize, int *nlocaltasks,
                                         int **globalranks, sion_int64 **chunksizes, int **mapping_filenrs,
                                         int **mapping_lranks, sion_int32 *fsblksize, FILE **fileptr);

SION_API int sion_generic_parclose_mapped(int sid);

/** Works as sion_parreinit_mpi. */
SION_API int sion_generic_parreinit(int sid, sion_int64 chunksize);

#ifdef __cplusplus
}
#endif

#endif
