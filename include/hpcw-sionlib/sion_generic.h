/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * SIONlib's calls for processes that communicate by a program's own callbacks. See sion.h, which includes this
 * header.
 *
 * A program makes an interface and registers its callbacks. The program then opens containers with the number of
 * the interface and with a pointer to a group of processes. The callbacks get this pointer, and all opens and
 * closes are collective over the group.
 */
#ifndef HPCW_SIONLIB_SION_GENERIC_H
#define HPCW_SIONLIB_SION_GENERIC_H

#include <sion.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Types of the items that callbacks transfer. */
#define _SION_INT32 10 /**< items of 4 bytes */
#define _SION_INT64 11 /**< items of 8 bytes */
#define _SION_CHAR 12  /**< items of 1 byte */

/** @return the number of a new interface, at least 0, or -1 */
SION_API int sion_generic_create_api(char *name);

/** Frees an interface whose containers are closed. @return SION_SUCCESS or SION_NOT_SUCCESS */
SION_API int sion_generic_free_api(int aid);

/*
 * Each of the next eight functions registers a callback, and must be called once. They return SION_SUCCESS or
 * SION_NOT_SUCCESS. A callback is collective over its group and returns 0. `root` is a rank in the group.
 */

/** The callback makes the group of the processes that share a physical file. */
SION_API int sion_generic_register_create_local_commgroup_cb(int aid,
                                                             int create(void **local, void *global, int grank,
                                                                        int gsize, int lrank, int lsize,
                                                                        int filenumber, int numfiles));
SION_API int sion_generic_register_free_local_commgroup_cb(int aid, int free_group(void *local));
/** The callback is not called: processes that must wait for each other do so in other callbacks. */
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
/** In this callback `out` is what the root sends, and `in` is what each process receives. */
SION_API int sion_generic_register_scattervr_cb(int aid,
                                                int scatterv(void *in, void *out, void *group, int type,
                                                             int *counts, int items, int root));

/** Registers a callback that names the physical files. It gets the container's name and a file number, and returns
 * a name from malloc. @return 0; -1: a callback is registered already */
SION_API int sion_generic_register_get_multi_filename_cb(int aid, char *name(const char *, int));

typedef int sion_generic_gather_execute(const void *, sion_int64 *, int, sion_int64, void *, int, int, int, int,
                                        int process(const void *, sion_int64 *, int));
typedef int sion_generic_execute_scatter(void *, sion_int64 *, int, sion_int64, void *, int, int, int, int,
                                         int process(void *, sion_int64 *, int));

/*
 * The next three callbacks allow collective containers. The callback execute_and_scatter must not be the last one
 * that is registered. `capability` returns 50 for a process that can collect data, 51 for a process that can only
 * send.
 *
 * `gather_and_execute` is called for merged containers (mode "cmerge"). It sends `spec[1]` bytes of data of each
 * process from first to last to the collector, which calls `process` with each piece. `execute_and_scatter` is not
 * called, as each process reads its own chunks.
 */
SION_API int sion_generic_register_gather_and_execute_cb(int aid, sion_generic_gather_execute *call);
SION_API int sion_generic_register_execute_and_scatter_cb(int aid, sion_generic_execute_scatter *call);
SION_API int sion_generic_register_get_capability_cb(int aid, int capability(void *group));

/**
 * Opens a container with one task per process. The rank of a task is the rank of its process in the group.
 *
 * @param filenumber  number of this process's file; for "w" in; for "r" out
 * @param numfiles    number of files; for "w" in; for "r" out
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
