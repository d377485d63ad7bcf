/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries of a handle. */
#include <limits.h>
#include <stdlib.h>

#include "bindings/sionlib/handles/handle.h"
#include "bindings/sionlib/handles/stream.h"

/* Returns a handle that sion_open opened, which has all tasks, and loads the used bytes of their blocks. Returns
 * NULL after reporting an error. */
static struct sionlib_handle *all_tasks(int sid, const char *call) {
    struct sionlib_handle *h = sionlib_handle_of(sid, call);
    if (h == NULL || h->opened != SIONLIB_SERIAL || h->count == 0) {
        if (h != NULL) {
            sionlib_report("%s: expected a container of sion_open", call);
        }
        return NULL;
    }
    for (uint32_t i = 0; h->reader != NULL && i < h->count; i++) {
        if (!sionlib_load_blocks(h, &h->task[i])) {
            return NULL;
        }
    }
    return h;
}

static bool new_table(struct sionlib_handle *h, size_t rows) {
    sion_int64 *table = h->count == 0 ? NULL : calloc(rows * h->count, sizeof *table);
    if (table == NULL) {
        sionlib_report("sion: expected memory for a table of %u tasks, got none", h->count);
        return false;
    }
    free(h->table);
    h->table = table;
    return true;
}

int sion_get_locations(int sid, int *ntasks, int *maxblocks, sion_int64 *globalskip,
                       sion_int64 *start_of_varheader, sion_int64 **sion_chunksizes,
                       sion_int64 **sion_globalranks, sion_int64 **sion_blockcount,
                       sion_int64 **sion_blocksizes) {
    struct sionlib_handle *h = all_tasks(sid, "sion_get_locations");
    if (h == NULL) {
        return SION_NOT_SUCCESS;
    }
    int most = 1;
    int most_in_first = 1;
    sion_int64 data_start = h->task[0].start;
    for (uint32_t i = 0; i < h->count; i++) {
        const struct sionlib_task *t = &h->task[i];
        most = t->blocks > most ? t->blocks : most;
        if (t->file == h->task[0].file) {
            most_in_first = t->blocks > most_in_first ? t->blocks : most_in_first;
            data_start = t->start < data_start ? t->start : data_start;
        }
    }
    if (!new_table(h, 3 + (size_t)most)) {
        return SION_NOT_SUCCESS;
    }
    sion_int64 *row = h->table;
    for (uint32_t i = 0; i < h->count; i++) {
        const struct sionlib_task *t = &h->task[i];
        row[i] = t->chunk;
        row[h->count + i] = t->rank;
        row[2 * (size_t)h->count + i] = t->blocks;
        for (int b = 0; b < t->blocks; b++) {
            row[(3 + (size_t)b) * h->count + i] = t->used[b];
        }
    }
    *ntasks = (int)h->count;
    *maxblocks = most;
    *globalskip = h->task[0].stride;
    *start_of_varheader = data_start + most_in_first * h->task[0].stride;
    *sion_chunksizes = row;
    *sion_globalranks = row + h->count;
    *sion_blockcount = row + 2 * (size_t)h->count;
    *sion_blocksizes = row + 3 * (size_t)h->count;
    return SION_SUCCESS;
}

int sion_get_current_locations(int sid, int *ntasks, sion_int64 **sion_currentpos,
                               sion_int64 **sion_currentblocknr) {
    struct sionlib_handle *h = all_tasks(sid, "sion_get_current_locations");
    if (h == NULL || !new_table(h, 2)) {
        return SION_NOT_SUCCESS;
    }
    for (uint32_t i = 0; i < h->count; i++) {
        const struct sionlib_task *t = &h->task[i];
        h->table[i] = t->start + t->block * t->stride + t->at;
        h->table[h->count + i] = t->block;
    }
    *ntasks = (int)h->count;
    *sion_currentpos = h->table;
    *sion_currentblocknr = h->table + h->count;
    return SION_SUCCESS;
}

int sion_get_current_location(int sid, int *currentblock, sion_int64 *currentpos, int *maxchunks,
                              sion_int64 **chunksizes) {
    struct sionlib_handle *h = sionlib_handle_of(sid, "sion_get_current_location");
    if (h == NULL || h->count == 0 || (h->reader != NULL && !sionlib_load_blocks(h, sionlib_current(h)))) {
        return SION_NOT_SUCCESS;
    }
    const struct sionlib_task *t = sionlib_current(h);
    *currentblock = t->block;
    *currentpos = t->at;
    *maxchunks = t->blocks;
    *chunksizes = t->used;
    return SION_SUCCESS;
}

int sion_get_mapping(int sid, int *mapping_size, sion_int32 **mapping, int *numfiles) {
    struct sionlib_handle *h = sionlib_handle_of(sid, "sion_get_mapping");
    if (h == NULL) {
        return SION_NOT_SUCCESS;
    }
    *numfiles = h->files;
    *mapping_size = -1;
    if (h->files == 1 || h->opened != SIONLIB_SERIAL) {
        return SION_SUCCESS;
    }
    if (h->mapping == NULL) {
        h->mapping = malloc(2 * (size_t)h->count * sizeof *h->mapping);
    }
    if (h->mapping == NULL) {
        sionlib_report("sion: expected memory for a mapping of %u tasks, got none", h->count);
        return SION_NOT_SUCCESS;
    }
    for (uint32_t i = 0; i < h->count; i++) {
        h->mapping[2 * (size_t)i] = (sion_int32)h->task[i].file;
        h->mapping[2 * (size_t)i + 1] = (sion_int32)h->task[i].index;
    }
    *mapping_size = (int)h->count;
    *mapping = h->mapping;
    return SION_SUCCESS;
}

int sion_get_number_of_files(int sid) {
    const struct sionlib_handle *h = sionlib_handle_of(sid, "sion_get_number_of_files");
    return h == NULL ? SION_SIZE_NOT_VALID : h->files;
}

int sion_get_filenumber(int sid) {
    const struct sionlib_handle *h = sionlib_handle_of(sid, "sion_get_filenumber");
    return h == NULL ? SION_SIZE_NOT_VALID : h->file;
}

int sion_is_serial_opened(int sid) {
    const struct sionlib_handle *h = sionlib_handle_of(sid, "sion_is_serial_opened");
    return h == NULL ? SION_SIZE_NOT_VALID : h->opened == SIONLIB_SERIAL || h->opened == SIONLIB_RANK;
}

sion_int64 sion_get_bytes_written(int sid) {
    const struct sionlib_handle *h = sionlib_handle_of(sid, "sion_get_bytes_written");
    if (h == NULL || h->writer == NULL || h->count == 0) {
        return SION_SIZE_NOT_VALID;
    }
    sionlib_look(sionlib_current(h));
    return sionlib_current(h)->written;
}

sion_int64 sion_get_bytes_read(int sid) {
    struct sionlib_handle *h = sionlib_handle_of(sid, "sion_get_bytes_read");
    if (h == NULL || h->reader == NULL || h->count == 0 || !sionlib_load_blocks(h, sionlib_current(h))) {
        return SION_SIZE_NOT_VALID;
    }
    return (sion_int64)sionlib_offset(sionlib_current(h));
}

int sion_get_file_endianness(int sid) {
    const struct sionlib_handle *h = sionlib_handle_of(sid, "sion_get_file_endianness");
    return h == NULL ? SION_SIZE_NOT_VALID : h->big_data;
}

int sion_endianness_swap_needed(int sid) {
    return sion_get_file_endianness(sid) != sion_get_endianness();
}

int sion_get_keyval_mode(int sid) {
    const struct sionlib_handle *h = sionlib_handle_of(sid, "sion_get_keyval_mode");
    return h == NULL ? SION_KEYVAL_UNKNOWN : h->keys ? SION_KEYVAL_INLINE : SION_KEYVAL_NONE;
}

int sion_using_hints(int sid) {
    return sionlib_handle_of(sid, "sion_using_hints") == NULL ? SION_SIZE_NOT_VALID : 0;
}

int sion_optimize_fp_buffer(int sid) {
    return sionlib_handle_of(sid, "sion_optimize_fp_buffer") == NULL ? SION_NOT_SUCCESS : SION_SUCCESS;
}

FILE *sion_get_fp(int sid) {
    struct sionlib_handle *h = sionlib_handle_of(sid, "sion_get_fp");
    return h == NULL || h->count == 0 ? NULL : sionlib_stream(h);
}

/* SIONlib returns a list of files only for buddy checkpointing. */
sion_io_stat_t *sion_get_io_info(int sid) {
    (void)sionlib_handle_of(sid, "sion_get_io_info");
    return NULL;
}

sion_io_stat_t *sion_get_io_info_by_spec(int sid, int roles, int flag) {
    (void)roles;
    (void)flag;
    (void)sionlib_handle_of(sid, "sion_get_io_info_by_spec");
    return NULL;
}

int sion_free_io_info(sion_io_stat_t *info) {
    (void)info;
    return SION_SUCCESS;
}

int sion_get_fd(int sid) {
    (void)sionlib_handle_of(sid, "sion_get_fd");
    return SION_ID_UNDEF;
}

sion_int64 sion_get_position(int sid) {
    const struct sionlib_handle *h = sionlib_handle_of(sid, "sion_get_position");
    const struct sionlib_task *t = h == NULL || h->count == 0 ? NULL : sionlib_current(h);
    if (t == NULL || t->start < 0 || (t->stride < 0 && t->block > 0)) {
        if (h != NULL) {
            sionlib_report(
                "sion_get_position: expected a container of sion_open, or the first chunk of one that is read");
        }
        return SION_SIZE_NOT_VALID;
    }
    return t->start + (t->block > 0 ? t->block * t->stride : 0) + t->at;
}

int sion_get_sizeof(int sid, int *numbytes, int *numfds) {
    const struct sionlib_handle *h = sionlib_handle_of(sid, "sion_get_sizeof");
    *numbytes = SION_SIZE_NOT_VALID;
    *numfds = SION_SIZE_NOT_VALID;
    if (h == NULL) {
        return SION_SIZE_NOT_VALID;
    }
    size_t bytes = sizeof *h + h->count * sizeof *h->task;
    int files = 0;
    for (uint32_t i = 0; i < h->count; i++) {
        bytes += (size_t)h->task[i].capacity * sizeof *h->task[i].used;
        files += i == 0 || h->task[i].file != h->task[i - 1].file;
    }
    *numbytes = bytes > INT_MAX ? INT_MAX : (int)bytes;
    *numfds = files;
    return SION_SUCCESS;
}
