/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks and positions of tasks. For a writer, the blocks are computed by the rules by which hpcw_sion places
 * records. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/sionlib/handles/task.h"

bool sionlib_reserve_blocks(struct sionlib_task *t, sion_int64 more) {
    sion_int64 need = t->blocks + more;
    if (need <= t->capacity) {
        return true;
    }
    sion_int64 capacity = need < 2 * (sion_int64)t->capacity ? 2 * (sion_int64)t->capacity : need;
    sion_int64 *used = capacity > INT_MAX ? NULL : realloc(t->used, (size_t)capacity * sizeof *used);
    if (used == NULL) {
        sionlib_report("sion: expected memory for %" PRId64 " blocks of task %u, got none", (int64_t)capacity,
                       t->rank);
        return false;
    }
    memset(used + t->capacity, 0, (size_t)(capacity - t->capacity) * sizeof *used);
    t->used = used;
    t->capacity = (int)capacity;
    return true;
}

void sionlib_next_block(struct sionlib_task *t) {
    t->block = t->blocks++;
    t->at = 0;
    t->counted = 0;
}

void sionlib_count(struct sionlib_task *t, sion_int64 size) {
    if (size > t->chunk - t->at) {
        sionlib_next_block(t);
    }
    sionlib_look(t);
    t->at += size;
    t->written += size;
    t->used[t->block] = t->at;
}

bool sionlib_reserve_for_record(struct sionlib_handle *h, sion_int64 more) {
    bool reserved = sionlib_reserve_blocks(sionlib_current(h), more);
    if (!reserved) {
        hpcw_sion_abandon(h->writer, &(hpcw_error){.code = HPCW_ENOMEM, .message = "no memory for a record"});
    }
    return reserved;
}

bool sionlib_write(struct sionlib_handle *h, const void *data, size_t size) {
    struct sionlib_task *t = sionlib_current(h);
    hpcw_error err;
    if (!sionlib_reserve_for_record(h, 1)) {
        return false;
    }
    if (hpcw_sion_write(h->writer, t->number, data, size, &err) != HPCW_OK) {
        sionlib_report("%s", err.message);
        return false;
    }
    sionlib_count(t, (sion_int64)size);
    return true;
}

void sionlib_task_of_reader(struct sionlib_task *t, const hpcw_sion_task *from) {
    *t = (struct sionlib_task){
        .rank = from->rank,
        .file = from->file,
        .index = from->index,
        .chunk = (sion_int64)from->chunk_size,
        .start = (sion_int64)from->start,
        .stride = -1,
        .blocks = (int)from->blocks,
    };
}

bool sionlib_load_blocks(struct sionlib_handle *h, struct sionlib_task *t) {
    if (t->used != NULL) {
        return true;
    }
    hpcw_error err;
    sion_int64 *used = malloc((size_t)t->blocks * sizeof *used);
    if (used == NULL) {
        sionlib_report("sion: expected memory for %d blocks of task %u, got none", t->blocks, t->rank);
        return false;
    }
    for (int b = 0; b < t->blocks; b++) {
        uint64_t size;
        if (hpcw_sion_reader_block_size(h->reader, t->rank, (uint32_t)b, &size, &err) != HPCW_OK) {
            sionlib_report("%s", err.message);
            free(used);
            return false;
        }
        used[b] = (sion_int64)size;
    }
    t->used = used;
    t->capacity = t->blocks;
    return true;
}

uint64_t sionlib_offset(const struct sionlib_task *t) {
    sion_int64 offset = t->at;
    for (int b = 0; b < t->block; b++) {
        offset += t->used[b];
    }
    return (uint64_t)offset;
}

void sionlib_move(struct sionlib_task *t, uint64_t offset) {
    t->block = 0;
    t->at = (sion_int64)offset;
    while (t->block < t->blocks - 1 && t->at > t->used[t->block]) {
        t->at -= t->used[t->block++];
    }
}

bool sionlib_read(struct sionlib_handle *h, void *data, size_t size, size_t *got) {
    struct sionlib_task *t = sionlib_current(h);
    hpcw_error err;
    size = sionlib_left(t) <= 0 ? 0 : size < (size_t)sionlib_left(t) ? size : (size_t)sionlib_left(t);
    *got = 0;
    if (size == 0) {
        return true;
    }
    uint64_t offset = t->next_block == t->block && t->next_at == t->at ? t->next : sionlib_offset(t);
    hpcw_status s = HPCW_OK;
    if (hpcw_sion_reader_position(h->reader, t->rank) != offset) {
        s = hpcw_sion_reader_seek(h->reader, t->rank, offset, &err);
    }
    if (s == HPCW_OK) {
        s = hpcw_sion_reader_read(h->reader, t->rank, data, size, got, &err);
    }
    if (s != HPCW_OK) {
        sionlib_report("%s", err.message);
        return false;
    }
    t->at += (sion_int64)*got;
    t->next_block = t->block;
    t->next_at = t->at;
    t->next = offset + *got;
    return true;
}

bool sionlib_at_end(struct sionlib_handle *h) {
    struct sionlib_task *t = sionlib_current(h);
    if (h->writer != NULL) {
        return true;
    }
    if (sionlib_left(t) > 0) {
        return false;
    }
    if (t->block == t->blocks - 1) {
        return true;
    }
    bool follows = t->next_block == t->block && t->next_at == t->at;
    t->block++;
    t->at = 0;
    if (follows) {
        t->next_block = t->block;
        t->next_at = 0;
    }
    if (h->stream != NULL) {
        clearerr(h->stream);
    }
    return false;
}
