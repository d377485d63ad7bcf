/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the rules of key-value streams, and of bytes that no stream uses: doc/formats/sion.md, "Rules". */
#include <inttypes.h>
#include <string.h>

#include "libreader/sion/rules.h"
#include "libwriter/base/status.h"

hpcw_status read_sion_key_rules(struct read_sion *reader, struct read_sion_file *f, uint32_t file,
                                hpcw_error *err) {
    struct read_sion_keys keys;
    for (uint32_t index = 0; index < f->info.tasks; index++) {
        struct read_sion_task task;
        hpcw_status status = read_sion_file_task(f, index, &task, err);
        if (status != HPCW_OK) {
            return status;
        }
        task.file = file;
        read_sion_keys_begin(&keys, &task);
        struct read_sion_record record = {0};
        bool more = true;
        while (more) {
            if ((status = read_sion_keys_next(reader, &keys, &record, &more, err)) != HPCW_OK) {
                return status;
            }
        }
    }
    return HPCW_OK;
}

struct gap_check {
    struct read_sion_file *f;
    /* [data_from, data_to) is a part of the file without holes, which the last search for data found */
    uint64_t data_from, data_to;
    uint64_t known_from; /* [known_from, data_from) is a hole */
};

static hpcw_status zero_range(struct gap_check *g, uint64_t from, uint64_t to, hpcw_error *err) {
    static const unsigned char zeros[16384];
    unsigned char bytes[sizeof zeros];
    while (from < to) {
        if (from < g->known_from || from >= g->data_to) {
            hpcw_status status = read_source_data(g->f->source, from, &g->data_from, &g->data_to, err);
            if (status != HPCW_OK) {
                return status;
            }
            g->known_from = from;
        }
        if (from < g->data_from) {
            from = g->data_from;
            continue;
        }
        uint64_t end = to < g->data_to ? to : g->data_to;
        size_t part = end - from < sizeof bytes ? (size_t)(end - from) : sizeof bytes;
        hpcw_status status = read_source_read(g->f->source, from, bytes, part, "a gap", err);
        if (status != HPCW_OK) {
            return status;
        }
        if (memcmp(bytes, zeros, part) != 0) {
            size_t i = 0;
            while (bytes[i] == 0) {
                i++;
            }
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: byte at offset %" PRIu64 ", which no stream uses: expected 0, got %02x",
                               read_sion_file_name(g->f), from + i, bytes[i]);
        }
        from += part;
    }
    return HPCW_OK;
}

/* Checks the unused bytes of the chunks of one block, for the tasks of the window. */
static hpcw_status gap_row(struct gap_check *g, uint32_t block, const unsigned char *row, hpcw_error *err) {
    const struct read_sion_file *f = g->f;
    hpcw_status status = HPCW_OK;
    for (uint32_t i = 0; i < f->window.count && status == HPCW_OK; i++) {
        bool used = block < f->window.blocks[i];
        uint64_t size = used ? hpcw_i_get_u64(row + 8 * (size_t)i, f->info.meta_big) : 0;
        uint64_t start = f->window.start[i] + block * f->info.block_stride;
        status = zero_range(g, start + size, start + f->window.chunk[i], err);
    }
    return status;
}

/* Checks the blocks from `block` to end - 1, in which the tasks of the window have no data: all bytes of their
 * chunks are unused. */
static hpcw_status gap_blocks(struct gap_check *g, uint32_t block, uint32_t end, hpcw_error *err) {
    const struct read_sion_info *info = &g->f->info;
    uint32_t last = g->f->window.count - 1;
    uint64_t from = g->f->window.start[0], to = g->f->window.start[last] + g->f->window.chunk[last];
    if (from == to) {
        return HPCW_OK;
    }
    while (block < end) {
        uint64_t shift = block * info->block_stride;
        hpcw_status status = zero_range(g, from + shift, to + shift, err);
        if (status != HPCW_OK) {
            return status;
        }
        /* Files with unused blocks are usually sparse: continue with the block in which the next data begins. */
        block++;
        uint64_t data = g->data_from > info->data_start ? g->data_from - info->data_start : 0;
        if (data / info->block_stride > block) {
            block = data / info->block_stride < end ? (uint32_t)(data / info->block_stride) : end;
        }
    }
    return HPCW_OK;
}

hpcw_status read_sion_gap_rules(struct read_sion_file *f, hpcw_error *err) {
    struct gap_check g = {.f = f, .known_from = UINT64_MAX};
    hpcw_status status = zero_range(&g, f->info.meta1_size, f->info.data_start, err);
    for (uint32_t first = 0; first < f->info.tasks && status == HPCW_OK; first += READ_SION_WINDOW) {
        status = read_sion_file_load(f, first, err);
        struct read_sion_rows rows = read_sion_rows_begin(f, first, f->window.count, f->info.blocks, err);
        for (uint32_t next = 0; next < f->info.blocks && status == HPCW_OK;) {
            uint32_t block = f->info.blocks;
            const unsigned char *row = read_sion_rows_next(&rows, &block);
            status = rows.status == HPCW_OK ? gap_blocks(&g, next, block, err) : rows.status;
            if (status == HPCW_OK && row != NULL) {
                status = gap_row(&g, block, row, err);
            }
            next = block < f->info.blocks ? block + 1 : block;
        }
    }
    return status;
}
