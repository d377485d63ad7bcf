/* SPDX-License-Identifier: BSD-3-Clause */
/* One open physical SION file: the table entries of a window of tasks, and the streams. */
#include "libreader/sion/file.h"

#include <inttypes.h>
#include <string.h>

#include "libwriter/base/bytes.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

void read_sion_file_free(struct read_sion_file *f) {
    if (f == NULL) {
        return;
    }
    read_source_free(f->source);
    hpcw_i_free(f->raw);
    hpcw_i_free(f->marks);
    hpcw_i_free(f->window.rank);
    hpcw_i_free(f);
}

bool read_sion_chunk_size(const struct read_sion_info *info, int64_t stored, uint64_t *chunk) {
    *chunk = (uint64_t)stored;
    if (stored < 0) {
        return false;
    }
    /* Old versions round chunks up: doc/formats/sion.md, "Older versions". */
    return info->format > 3 || hpcw_i_round_up_u64((uint64_t)stored, info->fs_block_size, chunk);
}

/* ------------------------------------------------------------------------------------------------------------
 *  Tables
 * --------------------------------------------------------------------------------------------------------- */

static uint64_t count_at(const struct read_sion_file *f, uint32_t index) {
    return f->info.meta2_start + 8 * (uint64_t)index;
}

uint64_t read_sion_file_size_at(const struct read_sion_file *f, uint32_t index, uint32_t block) {
    return f->info.meta2_start + 8 * (uint64_t)f->info.tasks * (1 + (uint64_t)block) + 8 * (uint64_t)index;
}

/* Gets a few bytes of a table. Reads the next bytes of the table at the same time, because later calls often need
 * them. */
static hpcw_status entry(struct read_sion_file *f, uint64_t offset, size_t size, const char *what,
                         const unsigned char **p, hpcw_error *err) {
    if (offset < f->near_from || offset - f->near_from > f->near_size ||
        f->near_size - (offset - f->near_from) < size) {
        uint64_t rest = offset < f->info.file_size ? f->info.file_size - offset : 0;
        size_t part = rest < sizeof f->near ? (size_t)rest : sizeof f->near;
        f->near_size = 0;
        hpcw_status status = read_source_read(f->source, offset, f->near, part < size ? size : part, what, err);
        if (status != HPCW_OK) {
            return status;
        }
        f->near_from = offset;
        f->near_size = part;
    }
    *p = f->near + (offset - f->near_from);
    return HPCW_OK;
}

hpcw_status read_sion_file_words(const struct read_sion_file *f, uint64_t at, uint32_t first, uint32_t count,
                                 const char *what, void *words, hpcw_error *err) {
    uint64_t *word = words;
    hpcw_status status =
        read_source_read(f->source, at + 8 * (uint64_t)first, word, 8 * (size_t)count, what, err);
    for (uint32_t i = 0; i < count && status == HPCW_OK; i++) {
        word[i] = hpcw_i_order64(word[i], f->info.meta_big);
    }
    return status;
}

struct read_sion_rows read_sion_rows_begin(struct read_sion_file *f, uint32_t first, uint32_t count,
                                           uint32_t blocks, hpcw_error *err) {
    return (struct read_sion_rows){
        .f = f,
        .err = err,
        .base = read_sion_file_size_at(f, first, 0),
        .stride = 8 * (uint64_t)f->info.tasks,
        .piece = 8 * (size_t)count,
        .end = blocks,
    };
}

/* Moves to the next row that is not in a hole, and reads it if it is not in memory. */
static hpcw_status find_row(struct read_sion_rows *rows) {
    struct read_sion_file *f = rows->f;
    while (rows->next < rows->end && rows->next >= rows->filled_to) {
        uint64_t offset = rows->base + rows->next * rows->stride;
        if (offset < rows->data_from || offset >= rows->data_to) {
            hpcw_status status =
                read_source_data(f->source, offset, &rows->data_from, &rows->data_to, rows->err);
            if (status != HPCW_OK) {
                return status;
            }
            uint64_t skip = (rows->data_from - rows->base) / rows->stride;
            if (rows->data_from > offset && skip > rows->next) {
                rows->next = skip < rows->end ? (uint32_t)skip : rows->end;
                continue;
            }
        }
        uint64_t many = rows->piece == rows->stride ? f->raw_size / rows->piece : 1;
        if (many > rows->end - rows->next) {
            many = rows->end - rows->next;
        }
        rows->filled_from = rows->next;
        rows->filled_to = rows->next + (uint32_t)many;
        return read_source_read(f->source, offset, f->raw, (size_t)many * rows->piece, "block sizes",
                                rows->err);
    }
    return HPCW_OK;
}

const unsigned char *read_sion_rows_next(struct read_sion_rows *rows, uint32_t *block) {
    if (rows->status == HPCW_OK) {
        rows->status = find_row(rows);
    }
    if (rows->status != HPCW_OK || rows->next == rows->end) {
        return NULL;
    }
    *block = rows->next++;
    return rows->f->raw + (size_t)(*block - rows->filled_from) * rows->piece;
}

/* Computes the stream sizes of the window: sums over the used blocks of each task (doc/formats/sion.md, "Tables at
 * the end"). */
static hpcw_status sum_sizes(struct read_sion_file *f, hpcw_error *err) {
    int64_t most = 0;
    for (uint32_t i = 0; i < f->window.count; i++) {
        bool good = f->window.blocks[i] >= 1 && f->window.blocks[i] <= (int64_t)f->info.blocks;
        f->window.size[i] = good ? 0 : UINT64_MAX;
        if (good && f->window.blocks[i] > most) {
            most = f->window.blocks[i];
        }
    }
    struct read_sion_rows rows = read_sion_rows_begin(f, f->window.first, f->window.count, (uint32_t)most, err);
    const unsigned char *row;
    uint32_t block;
    while ((row = read_sion_rows_next(&rows, &block)) != NULL) {
        for (uint32_t i = 0; i < f->window.count; i++) {
            if (f->window.size[i] == UINT64_MAX || block >= f->window.blocks[i]) {
                continue;
            }
            uint64_t size = hpcw_i_get_u64(row + 8 * (size_t)i, f->info.meta_big);
            f->window.size[i] = size <= f->window.chunk[i] ? f->window.size[i] + size : UINT64_MAX;
        }
    }
    return rows.status;
}

hpcw_status read_sion_file_load(struct read_sion_file *f, uint32_t index, hpcw_error *err) {
    uint32_t first = index - index % READ_SION_WINDOW;
    if (f->window.count > 0 && f->window.first == first) {
        return HPCW_OK;
    }
    uint32_t count = f->info.tasks - first < READ_SION_WINDOW ? f->info.tasks - first : READ_SION_WINDOW;
    f->window.count = 0;
    hpcw_status status = read_sion_file_words(f, f->ranks_at, first, count, "ranks", f->window.rank, err);
    if (status == HPCW_OK) {
        status = read_sion_file_words(f, f->chunks_at, first, count, "chunk sizes", f->window.chunk, err);
    }
    if (status == HPCW_OK) {
        status =
            read_sion_file_words(f, f->info.meta2_start, first, count, "block counts", f->window.blocks, err);
    }
    uint64_t start = f->marks[first / READ_SION_WINDOW];
    for (uint32_t i = 0; i < count && status == HPCW_OK; i++) {
        if (!read_sion_chunk_size(&f->info, (int64_t)f->window.chunk[i], &f->window.chunk[i]) ||
            f->window.chunk[i] > f->info.file_size) {
            status = hpcw_i_fail(err, HPCW_EFORMAT, "%s: the chunk sizes changed while the file was read",
                                 read_sion_file_name(f));
        }
        f->window.start[i] = start;
        start += f->window.chunk[i];
    }
    if (status == HPCW_OK) {
        f->window.first = first;
        f->window.count = count;
        status = sum_sizes(f, err);
    }
    if (status != HPCW_OK) {
        f->window.count = 0;
    }
    return status;
}

hpcw_status read_sion_file_rank(struct read_sion_file *f, uint32_t index, int64_t *rank, hpcw_error *err) {
    const unsigned char *p;
    hpcw_status status = entry(f, f->ranks_at + 8 * (uint64_t)index, 8, "global rank", &p, err);
    if (status == HPCW_OK) {
        *rank = read_sion_i64(p, f->info.meta_big);
    }
    return status;
}

static hpcw_status sizes_changed(const struct read_sion_file *f, hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_EFORMAT, "%s: the block sizes changed while the file was read",
                       read_sion_file_name(f));
}

hpcw_status read_sion_file_explain(struct read_sion_file *f, uint32_t index, hpcw_error *err) {
    uint32_t i = index - f->window.first;
    int64_t blocks = f->window.blocks[i];
    if (blocks < 1 || blocks > (int64_t)f->info.blocks) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: block count of task %" PRIu32 " at offset %" PRIu64 ": expected 1..%" PRIu32
                           ", got %" PRId64,
                           read_sion_file_name(f), index, count_at(f, index), f->info.blocks, blocks);
    }
    uint64_t chunk = f->window.chunk[i];
    struct read_sion_rows rows = read_sion_rows_begin(f, index, 1, (uint32_t)blocks, err);
    const unsigned char *row;
    uint32_t block;
    while ((row = read_sion_rows_next(&rows, &block)) != NULL) {
        int64_t size = read_sion_i64(row, f->info.meta_big);
        if (size < 0 || (uint64_t)size > chunk) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: size of task %" PRIu32 " in block %" PRIu32 " at offset %" PRIu64
                               ": expected 0..%" PRIu64 ", got %" PRId64,
                               read_sion_file_name(f), index, block, read_sion_file_size_at(f, index, block),
                               chunk, size);
        }
    }
    return rows.status != HPCW_OK ? rows.status : sizes_changed(f, err);
}

hpcw_status read_sion_file_task(struct read_sion_file *f, uint32_t index, struct read_sion_task *task,
                                hpcw_error *err) {
    if (index >= f->info.tasks) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a task below %" PRIu32 ", got %" PRIu32,
                           read_sion_file_name(f), f->info.tasks, index);
    }
    hpcw_status status = read_sion_file_load(f, index, err);
    if (status != HPCW_OK) {
        return status;
    }
    uint32_t i = index - f->window.first;
    if (f->window.size[i] == UINT64_MAX) {
        return read_sion_file_explain(f, index, err);
    }
    *task = (struct read_sion_task){
        .index = index,
        .rank = f->window.rank[i],
        .chunk_size = f->window.chunk[i],
        .start = f->window.start[i],
        .blocks = (uint32_t)f->window.blocks[i],
        .size = f->window.size[i],
    };
    return HPCW_OK;
}

hpcw_status read_sion_file_mapping(struct read_sion_file *f, uint32_t rank, int32_t *file, int32_t *index,
                                   hpcw_error *err) {
    const unsigned char *p;
    hpcw_status status = entry(f, f->info.meta2_end + read_sion_mapping_entry_at(rank), 8, "mapping", &p, err);
    if (status == HPCW_OK) {
        *file = read_sion_i32(p, f->info.meta_big);
        *index = read_sion_i32(p + READ_SION_MAPPING_INDEX_AT, f->info.meta_big);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Streams
 * --------------------------------------------------------------------------------------------------------- */

hpcw_status read_sion_file_block_size(struct read_sion_file *f, const struct read_sion_task *task,
                                      uint32_t block, uint64_t *size, hpcw_error *err) {
    if (block >= task->blocks) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: expected a block below %" PRIu32 " of task %" PRIu32 ", got %" PRIu32,
                           read_sion_file_name(f), task->blocks, task->index, block);
    }
    const unsigned char *p;
    uint64_t at = read_sion_file_size_at(f, task->index, block);
    hpcw_status status = entry(f, at, 8, "block size", &p, err);
    if (status != HPCW_OK) {
        return status;
    }
    *size = hpcw_i_get_u64(p, f->info.meta_big);
    return *size > task->chunk_size ? sizes_changed(f, err) : HPCW_OK;
}

hpcw_status read_sion_file_locate(struct read_sion_file *f, const struct read_sion_task *task, uint64_t offset,
                                  struct read_sion_cursor *cursor, uint64_t *at, uint64_t *left,
                                  hpcw_error *err) {
    if (cursor->at > offset) {
        *cursor = (struct read_sion_cursor){0};
    }
    for (;;) {
        uint64_t used = task->size;
        if (task->blocks > 1) {
            hpcw_status status = read_sion_file_block_size(f, task, cursor->block, &used, err);
            if (status != HPCW_OK) {
                return status;
            }
        }
        uint64_t skip = offset - cursor->at;
        if (skip < used) {
            *at = task->start + cursor->block * f->info.block_stride + skip;
            *left = used - skip;
            return HPCW_OK;
        }
        /* All blocks together have task->size bytes, unless another program has changed the file since. */
        if (cursor->block + 1 == task->blocks) {
            return sizes_changed(f, err);
        }
        cursor->at += used;
        cursor->block++;
    }
}

hpcw_status read_sion_file_read(struct read_sion_file *f, const struct read_sion_task *task, uint64_t offset,
                                void *data, size_t size, hpcw_error *err) {
    if (offset > task->size || size > task->size - offset) {
        return hpcw_i_fail(err, HPCW_ETRUNCATED,
                           "%s: stream of task %" PRIu32 " (global rank %" PRId64
                           "): expected %zu bytes at %" PRIu64 ", but the stream ends at %" PRIu64,
                           read_sion_file_name(f), task->index, task->rank, size, offset, task->size);
    }
    unsigned char *to = data;
    if (f->cursor_task != task->index) {
        f->cursor_task = task->index;
        f->cursor = (struct read_sion_cursor){0};
    }
    while (size > 0) {
        uint64_t at = 0, left = 0;
        hpcw_status status = read_sion_file_locate(f, task, offset, &f->cursor, &at, &left, err);
        if (status != HPCW_OK) {
            return status;
        }
        size_t part = left < size ? (size_t)left : size;
        status = read_source_read(f->source, at, to, part, "payload", err);
        if (status != HPCW_OK) {
            return status;
        }
        to += part;
        offset += part;
        size -= part;
    }
    return HPCW_OK;
}
