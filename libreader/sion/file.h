/* SPDX-License-Identifier: BSD-3-Clause */
/* F4, private to the SION reader: one physical file and windows into its tables. */
#ifndef HPCW_LIBREADER_SION_FILE_H
#define HPCW_LIBREADER_SION_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libreader/sion/sion.h"
#include "libreader/source.h"

/* Tasks whose table entries are in memory at a time. */
#define READ_SION_WINDOW 2048u

/* Most tasks of one physical file, doc/formats/sion.md#sion-6. */
#define READ_SION_MOST_TASKS 134217659u

struct read_sion_file {
    struct read_source *source;
    struct read_sion_info info;
    uint64_t ranks_at;  /* offset of the table of global ranks */
    uint64_t chunks_at; /* offset of the table of chunk sizes */
    uint64_t *marks;    /* start of the first task of every window */

    /* The window: entries of tasks [first, first + count), count == 0 before the first use. */
    struct {
        uint32_t first, count;
        int64_t *rank;
        uint64_t *chunk; /* rounded up as formats 2 and 3 want it */
        uint64_t *start;
        int64_t *blocks; /* as stored, unchecked */
        uint64_t *size;  /* of the stream; UINT64_MAX if blocks or a block's size breaks a rule */
    } window;

    unsigned char *raw; /* bytes of tables on their way into the window */
    size_t raw_size;

    unsigned char near[4096]; /* bytes around the table entry that was last asked for by itself */
    uint64_t near_from;
    size_t near_size;

    /* Where the last read of a stream ended: block `block` of task `task` starts at byte `at` of the stream. */
    struct {
        uint32_t task, block;
        uint64_t at;
    } cursor;
};

/* Takes the source over, on failure too. */
hpcw_status read_sion_file_open(struct read_source *source, struct read_sion_file **out, hpcw_error *err);
void read_sion_file_free(struct read_sion_file *f);

/* A stored chunk size as readers use it. False if it is no size. */
bool read_sion_chunk_size(const struct read_sion_info *info, int64_t stored, uint64_t *chunk);

/* Fills the window with the entries of task `index` and its neighbours. Rules are not checked here. */
hpcw_status read_sion_file_load(struct read_sion_file *f, uint32_t index, hpcw_error *err);

/* Global rank of a task, without its block sizes. */
hpcw_status read_sion_file_rank(struct read_sion_file *f, uint32_t index, int64_t *rank, hpcw_error *err);

hpcw_status read_sion_file_task(struct read_sion_file *f, uint32_t index, struct read_sion_task *task,
                                hpcw_error *err);
hpcw_status read_sion_file_block_size(struct read_sion_file *f, const struct read_sion_task *task,
                                      uint32_t block, uint64_t *size, hpcw_error *err);
hpcw_status read_sion_file_read(struct read_sion_file *f, const struct read_sion_task *task, uint64_t offset,
                                void *data, size_t size, hpcw_error *err);

/* Entry `rank` of the full mapping, as stored. */
hpcw_status read_sion_file_mapping(struct read_sion_file *f, uint32_t rank, int32_t *file, int32_t *index,
                                   hpcw_error *err);

/*
 * Walks the rows of block sizes for tasks [first, first + count). Rows in a hole of the file are left out: they
 * are zero. Uses f->raw, so only one walk at a time and no load in between.
 */
struct read_sion_rows {
    struct read_sion_file *f;
    uint64_t base;   /* offset of the first expected size in row 0 */
    uint64_t stride; /* from row to row */
    size_t piece;    /* bytes expected of each row */
    uint32_t next, end;
    uint32_t filled_from, filled_to; /* rows in f->raw */
    uint64_t data_from, data_to;     /* stretch of the file known to hold data */
};
void read_sion_rows_begin(struct read_sion_rows *rows, struct read_sion_file *f, uint32_t first, uint32_t count,
                          uint32_t blocks);
/* `*row` is NULL behind the last one; else count stored sizes of block `*block`. */
hpcw_status read_sion_rows_next(struct read_sion_rows *rows, uint32_t *block, const unsigned char **row,
                                hpcw_error *err);

/* Offset of the stored size of a task in a block. */
uint64_t read_sion_file_size_at(const struct read_sion_file *f, uint32_t index, uint32_t block);

/* Offset of the stored block count of a task. */
uint64_t read_sion_file_count_at(const struct read_sion_file *f, uint32_t index);

/* Physical file `index` of a container, opened if it is not. Stays valid until another one is asked for. */
hpcw_status read_sion_physical(struct read_sion *reader, uint32_t index, struct read_sion_file **out,
                               hpcw_error *err);

#endif
