/* SPDX-License-Identifier: BSD-3-Clause */
/* Containers with one task per process. */
#include <inttypes.h>
#include <string.h>

#include "bindings/sionlib/handles/parallel.h"
#include "bindings/sionlib/handles/stream.h"

/* Opens a container for writing in mode p->mode. A repeated call for a handle uses the communicator and the task
 * that the handle has. Collective. Returns false after reporting an error. */
static bool create(struct sionlib_handle *h, sion_int64 chunk) {
    struct sionlib_parallel *p = h->parallel;
    struct sionlib_task *t = &h->task[0];
    struct sionlib_member own = {.chunk = chunk};
    hpcw_sion_options o;
    hpcw_error err;
    sionlib_mode_options(&p->mode, p->path, p->block_size, &o);
    o.files = (uint32_t)p->files;
    if (p->file_tasks != NULL) {
        o.file_tasks = p->file_tasks;
        o.ranks = &t->number;
        o.global_ranks = p->renamed ? &t->rank : NULL;
    }
    sionlib_parallel_names(p, &o);
    h->merge = NULL;
    if (p->mode.collective && !p->group(h, &own, &o)) {
        return false;
    }
    o.chunk_size = (uint64_t)own.chunk;
    /* sion_parreinit_mpi makes the new container in the directory of the old one, even if the working directory
     * has changed. */
    o.instead_of = h->writer;
    if (h->comm == NULL && p->processes.comm(p->processes.context, &h->comm, &err) != HPCW_OK) {
        sionlib_report("%s", err.message);
        return false;
    }
    if (hpcw_sion_open(p->path, h->comm, &o, &h->writer, &err) != HPCW_OK) {
        sionlib_report_error(h->comm, &err);
        return false;
    }
    t->chunk = (sion_int64)hpcw_sion_chunk_size(h->writer, t->number);
    if (p->again) {
        /* SIONlib rounds the chunk in the file up, but fills only the bytes that the program asked for. */
        if (hpcw_sion_limit(h->writer, t->number, (uint64_t)chunk, &err) != HPCW_OK) {
            sionlib_report("%s", err.message);
            return false;
        }
        t->chunk = chunk;
    }
    t->blocks = 1;
    t->block = 0;
    t->at = 0;
    t->written = 0;
    t->counted = 0;
    memset(t->used, 0, (size_t)t->capacity * sizeof *t->used);
    return true;
}

/* Makes the handle of a writing process. Its task has no chunk yet. Returns NULL after reporting an error. */
static struct sionlib_handle *new_writer(const struct sionlib_parallel *p) {
    struct sionlib_handle *h = sionlib_handle_new(SIONLIB_PARALLEL, 1);
    if (h == NULL) {
        return NULL;
    }
    h->task[0] =
        (struct sionlib_task){.start = -1,
                              .stride = -1,
                              .rank = (uint32_t)p->processes.rank,
                              .number = p->file_tasks != NULL ? p->number : (uint32_t)p->processes.rank,
                              .file = (uint32_t)p->file,
                              .index = (uint32_t)p->rank_in_file,
                              .blocks = 1};
    if (!sionlib_reserve_blocks(&h->task[0], 1)) {
        sionlib_handle_free(h);
        return NULL;
    }
    h->keys = p->mode.keys;
    h->big_data = p->mode.data == HPCW_SION_BIG;
    h->files = p->files;
    h->file = p->file;
    return h;
}

/* Opens a container for writing. Takes ownership of `p`, also on failure. Collective. Returns NULL after reporting
 * an error. */
static struct sionlib_handle *open_to_write(struct sionlib_parallel *p, bool well, int *files, sion_int64 chunk,
                                            sion_int32 *block_size) {
    if (chunk < 0) {
        sionlib_report("%s: expected a chunk of at least 0 bytes, got %" PRId64, p->path, (int64_t)chunk);
        well = false;
    }
    struct sionlib_handle *h = well ? new_writer(p) : NULL;
    if (!sionlib_agree(&p->processes, h != NULL)) {
        sionlib_handle_free(h);
        sionlib_parallel_free(p);
        return NULL;
    }
    h->parallel = p;
    sionlib_parallel_block_size(p, *block_size);
    if (!create(h, chunk)) {
        sionlib_handle_free(h);
        return NULL;
    }
    *files = p->files;
    *block_size = p->block_size;
    return h;
}

/* Opens a container for reading. Takes ownership of `p`, also on failure. Collective. Returns NULL after reporting
 * an error. */
static struct sionlib_handle *open_to_read(struct sionlib_parallel *p, int *files, sion_int64 *chunk,
                                           sion_int32 *block_size) {
    hpcw_comm *comm = NULL;
    hpcw_sion_reader *reader = NULL;
    hpcw_error err;
    struct sionlib_handle *h = NULL;
    uint32_t rank = (uint32_t)p->processes.rank;
    hpcw_status s = p->processes.comm(p->processes.context, &comm, &err);
    if (s == HPCW_OK) {
        s = sionlib_parallel_reader(p, comm, 1, &rank, &reader, &err);
    }
    if (s != HPCW_OK) {
        sionlib_report_error(comm, &err);
        goto failed;
    }
    h = sionlib_handle_of_reader(SIONLIB_PARALLEL, reader);
    if (!sionlib_agree(&p->processes, h != NULL)) {
        goto failed;
    }
    h->comm = comm;
    h->parallel = p;
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

int sionlib_open_each(struct sionlib_parallel *p, bool well, int *files, sion_int64 *chunk,
                      sion_int32 *block_size, FILE **stream, char **name) {
    struct sionlib_handle *h = p->mode.write ? open_to_write(p, well, files, *chunk, block_size)
                                             : open_to_read(p, files, chunk, block_size);
    if (h == NULL) {
        return SION_ID_NOT_VALID;
    }
    if (stream != NULL) {
        *stream = sionlib_stream(h);
    }
    if (name != NULL) {
        *name = sionlib_parallel_name(h->parallel, h->file);
    }
    return h->sid;
}

int sionlib_reinit(struct sionlib_handle *h, sion_int64 chunk, const char *call) {
    if (h == NULL) {
        return SION_ID_NOT_VALID;
    }
    if (h->writer == NULL) {
        sionlib_report("%s: expected a container open for writing", call);
        return SION_NOT_SUCCESS;
    }
    hpcw_sion *older = h->writer;
    h->parallel->again = true;
    bool well = create(h, chunk);
    hpcw_sion_free(older);
    return well ? SION_SUCCESS : SION_NOT_SUCCESS;
}
