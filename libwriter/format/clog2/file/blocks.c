/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/clog2/file/blocks.h"

#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"

/* First size of the buffer: a large page. Fuzzing sets it to a small value, as most of its logs have only a block
 * or two. */
#ifndef HPCW_I_CLOG2_FIRST_BUFFER
#define HPCW_I_CLOG2_FIRST_BUFFER (2 << 20)
#endif
enum { FIRST = HPCW_I_CLOG2_FIRST_BUFFER };

void hpcw_i_clog2_blocks_begin(struct hpcw_i_clog2_blocks *b, uint32_t block_size, uint64_t first_record) {
    if (b->block_size != block_size) {
        hpcw_i_clog2_blocks_free(b);
        b->block_size = block_size;
    }
    b->start = 0;
    b->used = 0;
    b->open = false;
    b->records = first_record;
    b->gone = 0;
}

void hpcw_i_clog2_blocks_free(struct hpcw_i_clog2_blocks *b) {
    hpcw_i_free(b->data);
    *b = (struct hpcw_i_clog2_blocks){0};
}

/* Writes the record that ends the open block, and zeros behind this record, where MPE leaves old bytes. */
static void finish_block(struct hpcw_i_clog2_blocks *b, double time, int32_t kind) {
    unsigned char *p = b->data + b->start + b->used;
    hpcw_i_clog2_put_head(p, time, 0, 0, 0, kind);
    memset(p + HPCW_I_CLOG2_HEAD, 0, b->block_size - b->used - HPCW_I_CLOG2_HEAD);
    b->start += b->block_size;
    b->used = 0;
    b->open = false;
}

static bool open_block(struct hpcw_i_clog2_blocks *b) {
    if (b->start == b->capacity) {
        /* Start large: small pages and many steps of growth would cost more than the blocks themselves. */
        size_t bytes = b->block_size < FIRST ? FIRST / b->block_size * b->block_size : b->block_size;
        if (b->capacity > 0 && !hpcw_i_mul_size(b->capacity, 2, &bytes)) {
            return false;
        }
        unsigned char *grown = hpcw_i_malloc_large(bytes);
        if (grown == NULL) {
            return false;
        }
        if (b->start > 0) {
            memcpy(grown, b->data, b->start);
        }
        hpcw_i_free(b->data);
        b->data = grown;
        b->capacity = bytes;
    }
    b->open = true;
    return true;
}

bool hpcw_i_clog2_blocks_next(struct hpcw_i_clog2_blocks *b, double time) {
    if (b->open) {
        finish_block(b, time, HPCW_I_CLOG2_END_BLOCK);
    }
    return open_block(b);
}

bool hpcw_i_clog2_blocks_end(struct hpcw_i_clog2_blocks *b, double next_time) {
    bool last = next_time == HPCW_CLOG2_LAST;
    if (!b->open && (!last || b->start > 0 || b->gone > 0)) {
        return true;
    }
    if (!b->open && !open_block(b)) {
        return false;
    }
    finish_block(b, next_time, last ? HPCW_I_CLOG2_END_LOG : HPCW_I_CLOG2_END_BLOCK);
    return true;
}

size_t hpcw_i_clog2_blocks_ready(const struct hpcw_i_clog2_blocks *b) {
    return b->start;
}

void hpcw_i_clog2_blocks_drop(struct hpcw_i_clog2_blocks *b) {
    if (b->open && b->start > 0) {
        memmove(b->data, b->data + b->start, b->used);
    }
    b->gone += b->start / b->block_size;
    b->start = 0;
}

uint64_t hpcw_i_clog2_blocks_count(const struct hpcw_i_clog2_blocks *b) {
    return b->gone + b->start / b->block_size + (b->open ? 1 : 0);
}
