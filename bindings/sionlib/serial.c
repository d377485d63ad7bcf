/* SPDX-License-Identifier: BSD-3-Clause */
/* Containers of one process. */
#include <inttypes.h>
#include <stdlib.h>

#include "bindings/sionlib/handles/handle.h"
#include "bindings/sionlib/handles/mode.h"
#include "bindings/sionlib/handles/stream.h"

/* Copies chunk sizes and ranks into the caller's arrays. Arrays that are NULL are allocated. Returns false after
 * reporting an error. */
static bool hand_out(const struct sionlib_handle *h, sion_int64 **chunksizes, int **globalranks) {
    sion_int64 *sizes = chunksizes == NULL ? NULL : *chunksizes;
    int *ranks = globalranks == NULL ? NULL : *globalranks;
    bool new_sizes = chunksizes != NULL && sizes == NULL;
    bool new_ranks = globalranks != NULL && ranks == NULL;
    sizes = new_sizes ? malloc(h->count * sizeof *sizes) : sizes;
    ranks = new_ranks ? malloc(h->count * sizeof *ranks) : ranks;
    if ((new_sizes && sizes == NULL) || (new_ranks && ranks == NULL)) {
        sionlib_report("sion_open: expected memory for %u tasks, got none", h->count);
        if (new_sizes) {
            free(sizes);
        }
        if (new_ranks) {
            free(ranks);
        }
        return false;
    }
    for (uint32_t i = 0; sizes != NULL && i < h->count; i++) {
        sizes[i] = h->task[i].chunk;
    }
    for (uint32_t i = 0; ranks != NULL && i < h->count; i++) {
        ranks[i] = (int)h->task[i].rank;
    }
    if (new_sizes) {
        *chunksizes = sizes;
    }
    if (new_ranks) {
        *globalranks = ranks;
    }
    return true;
}

/* Sets the distance from one block to the next in each file: the sum of the chunk sizes of the file. The handle has
 * all tasks. Returns false after reporting an error. */
static bool set_strides(struct sionlib_handle *h) {
    sion_int64 *sum = calloc((size_t)h->files, sizeof *sum);
    if (sum == NULL) {
        sionlib_report("sion_open: expected memory for %d files, got none", h->files);
        return false;
    }
    for (uint32_t i = 0; i < h->count; i++) {
        sum[h->task[i].file] += h->task[i].chunk;
    }
    for (uint32_t i = 0; i < h->count; i++) {
        h->task[i].stride = sum[h->task[i].file];
    }
    free(sum);
    return true;
}

/* Returns a chunk size from the caller's array. The open has checked that no size is negative. */
static uint64_t chunk_of(void *chunksizes, uint32_t task) {
    return (uint64_t)((const sion_int64 *)chunksizes)[task];
}

/* Returns whether the ranks are 0, 1, 2 and so on. */
static bool in_order(const int *ranks, uint32_t count) {
    uint32_t i = 0;
    while (i < count && (uint32_t)ranks[i] == i) {
        i++;
    }
    return i == count;
}

static struct sionlib_handle *create(const char *path, const struct sionlib_mode *mode, int ntasks,
                                     sion_int64 *chunksizes, const int *ranks, sion_int32 *fsblksize) {
    struct sionlib_handle *h = sionlib_handle_new(SIONLIB_SERIAL, (uint32_t)ntasks);
    if (h == NULL) {
        return NULL;
    }
    int block_size = *fsblksize > 0 ? *fsblksize : sionlib_block_size(path);
    hpcw_sion_options o;
    hpcw_error err;
    hpcw_sion_shape shape;
    sion_int64 stride = 0;
    sionlib_mode_options(mode, path, block_size, &o);
    /* a single process makes no collective writes, for which chunks would be packed */
    o.layout = HPCW_SION_ALIGNED;
    o.flavour = HPCW_SION_SERIAL;
    o.count = (uint32_t)ntasks;
    o.size_of = chunk_of;
    o.size_context = chunksizes;
    /* No rank is negative, as checked before. Ranks 0, 1, 2, ... need no option, and the close is then faster. */
    o.global_ranks = in_order(ranks, h->count) ? NULL : (const uint32_t *)(const void *)ranks;
    if (hpcw_sion_open(path, NULL, &o, &h->writer, &err) != HPCW_OK) {
        goto failed;
    }
    for (uint32_t i = 0; i < h->count; i++) {
        h->task[i] = (struct sionlib_task){
            .rank = (uint32_t)ranks[i],
            .number = i,
            .index = i,
            .chunk = (sion_int64)hpcw_sion_chunk_size(h->writer, i),
            .start = stride,
            .blocks = 1,
        };
        stride += h->task[i].chunk;
        if (!sionlib_reserve_blocks(&h->task[i], 1)) {
            goto reported;
        }
    }
    if (hpcw_sion_shape_of(h->count, (uint32_t)block_size, stride == 0 ? 1 : (uint64_t)stride, 1, UINT64_MAX,
                           &shape, &err) != HPCW_OK) {
        goto failed;
    }
    for (uint32_t i = 0; i < h->count; i++) {
        h->task[i].start += (sion_int64)shape.data_start;
        h->task[i].stride = stride;
    }
    h->files = 1;
    h->file = 1; /* the serial writer gives a single file the number 1: doc/formats/sion.md, "Sets" */
    h->keys = mode->keys;
    h->big_data = mode->data == HPCW_SION_BIG;
    *fsblksize = block_size;
    return h;
failed:
    sionlib_report("%s", err.message);
reported:
    sionlib_handle_free(h);
    return NULL;
}

/* Compares tasks by their index in the file, for qsort. The tasks of a single file are returned in this order, the
 * tasks of a set by rank. */
static int by_index(const void *a, const void *b) {
    const struct sionlib_task *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

static struct sionlib_handle *open_existing(const char *path) {
    hpcw_sion_reader *reader;
    hpcw_error err;
    if (hpcw_sion_reader_open(path, NULL, 0, NULL, &reader, &err) != HPCW_OK) {
        sionlib_report("%s", err.message);
        return NULL;
    }
    struct sionlib_handle *h = sionlib_handle_of_reader(SIONLIB_SERIAL, reader);
    if (h == NULL) {
        return NULL;
    }
    if (!set_strides(h)) {
        sionlib_handle_free(h);
        return NULL;
    }
    bool one_file = true;
    for (uint32_t i = 1; i < h->count; i++) {
        one_file = one_file && h->task[i].file == h->task[0].file;
    }
    if (one_file) {
        qsort(h->task, h->count, sizeof *h->task, by_index);
    }
    return h;
}

/* Checks the arguments of an open for writing. Returns false after reporting an error. */
static bool check(const char *path, const struct sionlib_mode *mode, const int *ntasks, const int *nfiles,
                  sion_int64 **chunksizes, int **globalranks) {
    if (ntasks == NULL || *ntasks < 1) {
        sionlib_report("%s: expected at least 1 task, got %d", path, ntasks == NULL ? 0 : *ntasks);
        return false;
    }
    if (nfiles == NULL || *nfiles > 1) {
        sionlib_report("%s: expected 1 file, as one process writes no sets, got %d", path,
                       nfiles == NULL ? 0 : *nfiles);
        return false;
    }
    if (chunksizes == NULL || *chunksizes == NULL || globalranks == NULL || *globalranks == NULL) {
        sionlib_report("%s: expected arrays of chunk sizes and of ranks, got NULL", path);
        return false;
    }
    if (!sionlib_mode_check(mode, path)) {
        return false;
    }
    for (int i = 0; i < *ntasks; i++) {
        if ((*chunksizes)[i] < 0 || (*globalranks)[i] < 0) {
            sionlib_report(
                "%s: task %d: expected a chunk of at least 0 bytes and a rank of at least 0, got %" PRId64
                " bytes and rank %d",
                path, i, (int64_t)(*chunksizes)[i], (*globalranks)[i]);
            return false;
        }
    }
    return true;
}

int sion_open(const char *fname, const char *file_mode, int *ntasks, int *nfiles, sion_int64 **chunksizes,
              sion_int32 *fsblksize, int **globalranks, FILE **fileptr) {
    struct sionlib_mode mode;
    if (fname == NULL || file_mode == NULL || fsblksize == NULL) {
        sionlib_report("sion_open: expected a name, a mode and a block size, got NULL");
        return SION_ID_UNDEF;
    }
    sionlib_mode_of(file_mode, &mode);
    struct sionlib_handle *h = NULL;
    if (mode.write) {
        if (check(fname, &mode, ntasks, nfiles, chunksizes, globalranks)) {
            h = create(fname, &mode, *ntasks, *chunksizes, *globalranks, fsblksize);
        }
    } else {
        h = open_existing(fname);
        if (h != NULL && !hand_out(h, chunksizes, globalranks)) {
            sionlib_handle_free(h);
            h = NULL;
        }
        if (h != NULL) {
            *ntasks = (int)h->count;
            *nfiles = h->files;
            *fsblksize = (sion_int32)hpcw_sion_reader_info(h->reader)->fs_block_size;
        }
    }
    if (h != NULL && fileptr != NULL) {
        *fileptr = sionlib_stream(h);
    }
    return h == NULL ? SION_ID_UNDEF : h->sid;
}

int sion_open_rank(const char *fname, const char *file_mode, sion_int64 *chunksize, sion_int32 *fsblksize,
                   int *rank, FILE **fileptr) {
    struct sionlib_mode mode;
    hpcw_sion_reader *reader;
    hpcw_error err;
    if (fname == NULL || file_mode == NULL || chunksize == NULL || fsblksize == NULL || rank == NULL) {
        sionlib_report(
            "sion_open_rank: expected a name, a mode, a chunk size, a block size and a rank, got NULL");
        return SION_ID_UNDEF;
    }
    sionlib_mode_of(file_mode, &mode);
    if (mode.write || *rank < 0) {
        sionlib_report("%s: expected mode \"r\" and a rank, got \"%s\" and %d", fname, file_mode, *rank);
        return SION_ID_UNDEF;
    }
    if (hpcw_sion_reader_open(fname, NULL, 1, &(uint32_t){(uint32_t)*rank}, &reader, &err) != HPCW_OK) {
        sionlib_report("%s", err.message);
        return SION_ID_UNDEF;
    }
    struct sionlib_handle *h = sionlib_handle_of_reader(SIONLIB_RANK, reader);
    if (h == NULL) {
        return SION_ID_UNDEF;
    }
    *chunksize = h->task[0].chunk;
    *fsblksize = (sion_int32)hpcw_sion_reader_info(reader)->fs_block_size;
    if (fileptr != NULL) {
        *fileptr = sionlib_stream(h);
    }
    return h->sid;
}

int sion_close(int sid) {
    struct sionlib_handle *h = sionlib_handle_of(sid, "sion_close");
    if (h == NULL || h->opened == SIONLIB_PARALLEL || h->opened == SIONLIB_MAPPED) {
        if (h != NULL) {
            sionlib_report("sion_close: expected a container of sion_open or sion_open_rank, got one of "
                           "several processes");
        }
        return SION_NOT_SUCCESS;
    }
    return sionlib_handle_close(h);
}
