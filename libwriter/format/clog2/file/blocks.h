/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts records into blocks, in memory (doc/formats/clog2.md, "Blocks"). A new block begins where MPE's fill rule
 * demands it (MPE2 2.4.9b, CLOG_Buffer_save_*: the record and the record that ends the block fit, and at least one
 * byte stays free). A new block also begins at every record whose number is a multiple of HPCW_CLOG2_SEGMENT. So
 * writers that start at such numbers make the same blocks as one writer of the whole file.
 */
#ifndef HPCW_FORMAT_CLOG2_FILE_BLOCKS_H
#define HPCW_FORMAT_CLOG2_FILE_BLOCKS_H

#include "libwriter/format/clog2/file/records.h"

/* A run of blocks. Block k of the buffer begins at data + k * block_size; the last one is open. */
struct hpcw_i_clog2_blocks {
    unsigned char *data;
    size_t capacity; /* a multiple of block_size */
    size_t start;    /* offset of the open block */
    size_t used;     /* bytes of the open block in use */
    uint32_t block_size;
    bool open;        /* whether the last block is open, even if none of its bytes is in use */
    uint64_t records; /* number of the next record in the whole file */
    uint64_t gone;    /* number of blocks that hpcw_i_clog2_blocks_drop has removed */
};

/* Makes an empty run from a zeroed struct. */
void hpcw_i_clog2_blocks_begin(struct hpcw_i_clog2_blocks *b, uint32_t block_size, uint64_t first_record);
void hpcw_i_clog2_blocks_free(struct hpcw_i_clog2_blocks *b);

/* The slow path of hpcw_i_clog2_blocks_space: ends the open block, if there is one, and opens another. False: out
 * of memory. */
bool hpcw_i_clog2_blocks_next(struct hpcw_i_clog2_blocks *b, double time);

/*
 * Returns space for the next records. Up to `room` bytes and `most` records fit without another check. The first
 * record has `size` bytes and the time `time`; it may need a new block. NULL: out of memory. The space is valid
 * until the next call. Report what was written with hpcw_i_clog2_blocks_took.
 */
static inline unsigned char *hpcw_i_clog2_blocks_space(struct hpcw_i_clog2_blocks *b, uint32_t size,
                                                       double time, size_t *room, size_t *most) {
    bool fits = b->used + size + HPCW_I_CLOG2_HEAD < b->block_size;
    bool cut = b->records % HPCW_CLOG2_SEGMENT == 0;
    if ((!fits || cut || !b->open) && !hpcw_i_clog2_blocks_next(b, time)) {
        return NULL;
    }
    *room = b->block_size - HPCW_I_CLOG2_HEAD - 1 - b->used;
    *most = HPCW_CLOG2_SEGMENT - (size_t)(b->records % HPCW_CLOG2_SEGMENT);
    return b->data + b->start + b->used;
}

static inline void hpcw_i_clog2_blocks_took(struct hpcw_i_clog2_blocks *b, size_t bytes, size_t records) {
    b->used += bytes;
    b->records += records;
}

/* Ends the last block with `next_time`, the time of the record that follows in the file; HPCW_CLOG2_LAST ends
 * the log. A run without any record gets one block if it ends the log. False: out of memory. */
bool hpcw_i_clog2_blocks_end(struct hpcw_i_clog2_blocks *b, double next_time);

/* Returns the bytes at the begin of `data` that are whole blocks, ready to be written. */
size_t hpcw_i_clog2_blocks_ready(const struct hpcw_i_clog2_blocks *b);

/* Removes the ready blocks after they were written. */
void hpcw_i_clog2_blocks_drop(struct hpcw_i_clog2_blocks *b);

/* Returns the number of all blocks so far, including the open one. */
uint64_t hpcw_i_clog2_blocks_count(const struct hpcw_i_clog2_blocks *b);

#endif
