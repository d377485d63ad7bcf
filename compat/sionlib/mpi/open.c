/* SPDX-License-Identifier: BSD-3-Clause */
/* Containers with one task per process. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hpcw/mpi.h>

#include "compat/sionlib/mpi/groups.h"
#include "compat/sionlib/stream.h"

/* Opens for writing, with p->mode and so on. The handle has its communicator and task after the first time. Collective.
 * False: reported. */
static bool create(struct sionlib_handle *h, sion_int64 chunk) {
    struct sionlib_parallel *p = h->parallel;
    struct sionlib_task *t = &h->task[0];
    hpcw_sion_options o;
    hpcw_error err;
    sionlib_mode_options(&p->mode, p->block_size, &o);
    o.chunk_size = (uint64_t)chunk;
    o.files = p->by_colour ? 0 : (uint32_t)p->files;
    o.colour = p->colour;
    if (p->mode.collective) {
        struct sionlib_member own = {.chunk = chunk};
        if (!sionlib_group(p, &own, 1, &o)) {
            return false;
        }
        o.chunk_size = (uint64_t)own.chunk;
        if (p->mode.merge) {
            (void)MPI_Comm_split(p->of_file, (int)own.collector, p->rank, &p->of_group);
        }
    }
    if (h->comm == NULL && hpcw_comm_from_mpi(p->all, &h->comm, &err) != HPCW_OK) {
        sionlib_report("%s", err.message);
        return false;
    }
    if (hpcw_sion_open(p->path, h->comm, &o, &h->writer, &err) != HPCW_OK) {
        sionlib_report_error(h->comm, &err);
        return false;
    }
    t->chunk = (sion_int64)hpcw_sion_chunk_size(h->writer, t->rank);
    t->blocks = 1;
    t->block = 0;
    t->at = 0;
    t->written = 0;
    memset(t->used, 0, (size_t)t->capacity * sizeof *t->used);
    h->merge = p->mode.collective && p->mode.merge ? sionlib_merge_write : NULL;
    return true;
}

/* A handle for a process that writes: its task has no chunk yet. NULL: reported. */
static struct sionlib_handle *new_writer(struct sionlib_parallel *p) {
    struct sionlib_handle *h = sionlib_handle_new(SIONLIB_PARALLEL, 1);
    if (h == NULL) {
        return NULL;
    }
    h->task[0] = (struct sionlib_task){.start = -1, .stride = -1, .rank = (uint32_t)p->rank, .blocks = 1};
    if (!sionlib_reserve_blocks(&h->task[0], 1)) {
        sionlib_handle_free(h);
        return NULL;
    }
    h->keys = p->mode.keys;
    h->big_data = p->mode.data == HPCW_SION_BIG;
    return h;
}

/* Collective. NULL: reported. */
static struct sionlib_handle *open_to_write(struct sionlib_parallel *p, int *files, const MPI_Comm *part,
                                            sion_int64 chunk, sion_int32 *block_size) {
    bool well = *files > 0 ? sionlib_divide_by_number(p, *files) : sionlib_divide_by_comm(p, *part);
    if (chunk < 0) {
        sionlib_report("%s: expected a chunk of at least 0 bytes, got %" PRId64, p->path, (int64_t)chunk);
        well = false;
    }
    struct sionlib_handle *h = well ? new_writer(p) : NULL;
    if (!sionlib_parallel_agree(p->all, h != NULL)) {
        sionlib_handle_free(h);
        sionlib_parallel_free(p);
        return NULL;
    }
    h->parallel = p;
    h->parallel_free = sionlib_parallel_free;
    h->files = p->files;
    h->file = p->file;
    h->task[0].file = (uint32_t)p->file;
    h->task[0].index = (uint32_t)p->rank_in_file;
    sionlib_parallel_block_size(p, *block_size);
    if (!create(h, chunk)) {
        sionlib_handle_free(h);
        return NULL;
    }
    *files = p->files;
    *block_size = p->block_size;
    return h;
}

/* Collective. NULL: reported. */
static struct sionlib_handle *open_to_read(struct sionlib_parallel *p, int *files, sion_int64 *chunk,
                                           sion_int32 *block_size) {
    hpcw_comm *comm = NULL;
    hpcw_sion_reader *reader = NULL;
    hpcw_error err;
    struct sionlib_handle *h = NULL;
    uint32_t rank = (uint32_t)p->rank;
    hpcw_status s = hpcw_comm_from_mpi(p->all, &comm, &err);
    if (s == HPCW_OK) {
        s = hpcw_sion_reader_open(p->path, comm, 1, &rank, &reader, &err);
    }
    if (s != HPCW_OK) {
        sionlib_report_error(comm, &err);
        goto failed;
    }
    h = sionlib_handle_of_reader(SIONLIB_PARALLEL, reader);
    if (!sionlib_parallel_agree(p->all, h != NULL)) {
        goto failed;
    }
    h->comm = comm;
    h->parallel = p;
    h->parallel_free = sionlib_parallel_free;
    *files = h->files;
    *chunk = h->task[0].chunk;
    *block_size = (sion_int32)hpcw_sion_reader_info(reader)->fs_block_size;
    return h;
failed:
    sionlib_handle_free(h);
    hpcw_comm_free(comm);
    sionlib_parallel_free(p);
    return NULL;
}

int sion_paropen_mpi(const char *fname, const char *file_mode, int *numFiles, MPI_Comm gComm,
                     const MPI_Comm *lComm, sion_int64 *chunksize, sion_int32 *fsblksize, int *globalrank,
                     FILE **fileptr, char **newfname) {
    if (fname == NULL || file_mode == NULL || numFiles == NULL || lComm == NULL || chunksize == NULL ||
        fsblksize == NULL || globalrank == NULL) {
        sionlib_report("sion_paropen_mpi: expected pointers, got NULL");
        return SION_ID_NOT_VALID;
    }
    struct sionlib_parallel *p = sionlib_parallel_new(fname, file_mode, gComm);
    if (!sionlib_parallel_ready(p, gComm, file_mode)) {
        return SION_ID_NOT_VALID;
    }
    int rank = p->rank;
    struct sionlib_handle *h = p->mode.write ? open_to_write(p, numFiles, lComm, *chunksize, fsblksize)
                                             : open_to_read(p, numFiles, chunksize, fsblksize);
    if (h == NULL) {
        return SION_ID_NOT_VALID;
    }
    *globalrank = rank;
    if (fileptr != NULL) {
        *fileptr = sionlib_stream(h);
    }
    if (newfname != NULL) {
        *newfname = sionlib_file_name(fname, h->file);
    }
    return h->sid;
}

/* The handle of several processes. NULL: reported. */
static struct sionlib_handle *of_several(int sid, enum sionlib_opened opened, const char *call) {
    struct sionlib_handle *h = sionlib_handle_of(sid, call);
    if (h != NULL && (h->opened != opened || h->team != NULL)) {
        sionlib_report("%s: expected a container of %s", call,
                       opened == SIONLIB_MAPPED ? "sion_paropen_mapped_mpi" : "sion_paropen_mpi");
        return NULL;
    }
    return h;
}

int sion_parclose_mpi(int sid) {
    struct sionlib_handle *h = of_several(sid, SIONLIB_PARALLEL, "sion_parclose_mpi");
    return h == NULL ? SION_NOT_SUCCESS : sionlib_handle_close(h);
}

int sion_parclose_mapped_mpi(int sid) {
    struct sionlib_handle *h = of_several(sid, SIONLIB_MAPPED, "sion_parclose_mapped_mpi");
    return h == NULL ? SION_NOT_SUCCESS : sionlib_handle_close(h);
}

int sion_parreinit_mpi(int sid, sion_int64 chunksize) {
    struct sionlib_handle *h = of_several(sid, SIONLIB_PARALLEL, "sion_parreinit_mpi");
    if (h == NULL || h->writer == NULL) {
        if (h != NULL) {
            sionlib_report("sion_parreinit_mpi: expected a container open for writing");
        }
        return SION_NOT_SUCCESS;
    }
    hpcw_sion_free(h->writer);
    h->writer = NULL;
    return create(h, chunksize) ? SION_SUCCESS : SION_NOT_SUCCESS;
}

size_t sion_coll_fwrite_mpi(const void *data, size_t size, size_t nitems, int sid) {
    return sion_coll_fwrite(data, size, nitems, sid);
}

size_t sion_coll_fread_mpi(void *data, size_t size, size_t nitems, int sid) {
    return sion_coll_fread(data, size, nitems, sid);
}
