/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls with which MPI programs open and close containers. */
#include "bindings/sionlib/mpi/groups.h"

/* Sets the chunk and the group of this process's task. For a merged container, also makes a communicator of the
 * group. Collective. */
static bool group(struct sionlib_handle *h, struct sionlib_member *own, hpcw_sion_options *options) {
    struct sionlib_parallel *p = h->parallel;
    struct sionlib_mpi *mpi = sionlib_mpi_of(p);
    if (!sionlib_group(p, own, 1)) {
        return false;
    }
    sionlib_group_options(options);
    if (p->mode.merge) {
        (void)MPI_Comm_split(mpi->of_file, (int)own->collector, p->rank_in_file, &mpi->of_group);
        h->merge = sionlib_merge_write;
    }
    return true;
}

int sion_paropen_mpi(const char *fname, const char *file_mode, int *numFiles, MPI_Comm gComm,
                     const MPI_Comm *lComm, sion_int64 *chunksize, sion_int32 *fsblksize, int *globalrank,
                     FILE **fileptr, char **newfname) {
    struct sionlib_processes processes;
    if (fname == NULL || file_mode == NULL || numFiles == NULL || lComm == NULL || chunksize == NULL ||
        fsblksize == NULL || globalrank == NULL) {
        sionlib_report("sion_paropen_mpi: expected pointers, got NULL");
        return SION_ID_NOT_VALID;
    }
    if (!sionlib_processes_of_mpi(&processes, gComm)) {
        return SION_ID_NOT_VALID;
    }
    struct sionlib_parallel *p = sionlib_parallel_new(fname, file_mode, &processes);
    if (p == NULL) {
        return SION_ID_NOT_VALID;
    }
    p->group = group;
    bool well = true;
    if (p->mode.write) {
        well = *numFiles > 0 ? sionlib_divide_by_number(p, *numFiles) : sionlib_divide_by_comm(p, *lComm, 1);
    }
    int sid = sionlib_open_each(p, well, numFiles, chunksize, fsblksize, fileptr, newfname);
    if (sid >= 0) {
        *globalrank = processes.rank;
    }
    return sid;
}

int sion_paropen_mapped_mpi(const char *fname, const char *file_mode, int *numFiles, MPI_Comm gComm,
                            int *nlocaltasks, int **globalranks, sion_int64 **chunksizes, int **mapping_filenrs,
                            int **mapping_lranks, sion_int32 *fsblksize, FILE **fileptr) {
    const struct sionlib_mapping mapping = {nlocaltasks, globalranks, chunksizes, mapping_filenrs,
                                            mapping_lranks};
    struct sionlib_processes processes;
    if (!sionlib_mapping_check(&mapping, fname, file_mode, numFiles, fsblksize) ||
        !sionlib_processes_of_mpi(&processes, gComm)) {
        return SION_ID_NOT_VALID;
    }
    struct sionlib_parallel *p = sionlib_parallel_new(fname, file_mode, &processes);
    return p == NULL ? SION_ID_NOT_VALID : sionlib_open_mapped(p, numFiles, &mapping, *fsblksize, fileptr);
}

int sion_parclose_mpi(int sid) {
    struct sionlib_handle *h = sionlib_handle_of_several(sid, SIONLIB_PARALLEL, "sion_parclose_mpi");
    return h == NULL ? SION_ID_NOT_VALID : sionlib_handle_close(h);
}

int sion_parclose_mapped_mpi(int sid) {
    struct sionlib_handle *h = sionlib_handle_of_several(sid, SIONLIB_MAPPED, "sion_parclose_mapped_mpi");
    return h == NULL ? SION_ID_NOT_VALID : sionlib_handle_close(h);
}

int sion_parreinit_mpi(int sid, sion_int64 chunksize) {
    struct sionlib_handle *h = sionlib_handle_of_several(sid, SIONLIB_PARALLEL, "sion_parreinit_mpi");
    return sionlib_reinit(h, chunksize, "sion_parreinit_mpi");
}

size_t sion_coll_fwrite_mpi(const void *data, size_t size, size_t nitems, int sid) {
    return sion_coll_fwrite(data, size, nitems, sid);
}

size_t sion_coll_fread_mpi(void *data, size_t size, size_t nitems, int sid) {
    return sion_coll_fread(data, size, nitems, sid);
}
