/* SPDX-License-Identifier: BSD-3-Clause */
/* An open container as SIONlib sees it: tasks, and in each of them blocks and a position. */
#ifndef HPCW_BINDINGS_SIONLIB_HANDLES_TASK_H
#define HPCW_BINDINGS_SIONLIB_HANDLES_TASK_H

#include <stdbool.h>

#include <hpcw/sion_read.h>
#include <sion.h>

#include "bindings/sionlib/handles/report.h"

/* Key and length of a record, bytes. */
enum { SIONLIB_RECORD_HEADER = 16 };

struct sionlib_keys;
struct sionlib_parallel;

/* A task as SIONlib sees it: blocks, and a position in one of them. A writer is always at the end. */
struct sionlib_task {
    uint32_t rank;             /* global */
    uint32_t number;           /* of hpcw_sion */
    uint32_t file;             /* physical file */
    uint32_t index;            /* place in it */
    sion_int64 chunk;          /* bytes; of a writer, those that the program may fill */
    sion_int64 start;          /* offset in the file of the chunk in block 0; -1: not known */
    sion_int64 stride;         /* from block to block; -1: not known */
    sion_int64 *used;          /* [blocks] bytes in each; a reader's NULL until they are needed */
    int blocks;                /* at least 1 */
    int capacity;              /* of `used` */
    int block;                 /* position: block */
    sion_int64 at;             /* position: byte in it */
    sion_int64 written;        /* bytes of all blocks, of a writer */
    sion_int64 counted;        /* of a writer: `at` when SIONlib last noted it, for sion_bytes_avail_in_chunk */
    uint64_t next;             /* offset in the stream of the position after the last read, */
    int next_block;            /* which was here: */
    sion_int64 next_at;        /* so that a program that reads on adds up no blocks */
    struct sionlib_keys *keys; /* NULL until they are needed */
};

enum sionlib_opened { SIONLIB_SERIAL, SIONLIB_RANK, SIONLIB_PARALLEL, SIONLIB_MAPPED };

struct sionlib_handle {
    int sid;
    enum sionlib_opened opened;
    hpcw_sion *writer;        /* one of the two */
    hpcw_sion_reader *reader; /* is not NULL */
    hpcw_comm *comm;          /* the handle's own; NULL: one process */
    struct sionlib_task *task;
    uint32_t count;   /* tasks */
    uint32_t current; /* the selected one */
    int files, file;  /* physical files, and the one of the current task */
    bool keys;
    bool big_data; /* the mark for the user's data */
    FILE *stream;
    void *team;          /* of threads that have one writer, which is the team's */
    sion_int64 *table;   /* for sion_get_locations and sion_get_current_locations */
    sion_int32 *mapping; /* for sion_get_mapping */
    /* Collective calls of a merged container: the group's first task gets what all of it write. */
    bool (*merge)(struct sionlib_handle *h, const void *data, size_t size);
    struct sionlib_parallel *parallel; /* of several processes; otherwise NULL */
    bool duplicate;                    /* of sion_dup */
};

static inline struct sionlib_task *sionlib_current(const struct sionlib_handle *h) {
    return &h->task[h->current];
}

/* SIONlib notes the position of a writer before each write, and when a program flushes or asks for the bytes written. */
static inline void sionlib_look(struct sionlib_task *t) {
    t->counted = t->at;
}

/* Bytes from the position of a reader to the end of the block. */
static inline sion_int64 sionlib_left(const struct sionlib_task *t) {
    return t->used[t->block] - t->at;
}

/* Appends a record to the current task. False: reported. */
bool sionlib_write(struct sionlib_handle *h, const void *data, size_t size);

/* Space for `more` blocks in the list of a task. False: reported. */
bool sionlib_reserve_blocks(struct sionlib_task *t, sion_int64 more);

/* Lets a writer begin the next block. After sionlib_reserve_blocks. */
void sionlib_next_block(struct sionlib_task *t);

/* Counts the bytes of a record that was written. After sionlib_reserve_blocks. */
void sionlib_count(struct sionlib_task *t, sion_int64 size);

/* Fills in a task of the reader. */
void sionlib_task_of_reader(struct sionlib_task *t, const hpcw_sion_task *from);

/* The bytes of its blocks, which it asks the reader for once. False: reported. */
bool sionlib_load_blocks(struct sionlib_handle *h, struct sionlib_task *t);

/* Offset of the position in the stream of the task. */
uint64_t sionlib_offset(const struct sionlib_task *t);

/* Moves to an offset in the stream. */
void sionlib_move(struct sionlib_task *t, uint64_t offset);

/* Whether the current task is at its end. At the end of another chunk, it moves to the next one. */
bool sionlib_at_end(struct sionlib_handle *h);

/* Reads up to `size` bytes of the current chunk. False: reported. */
bool sionlib_read(struct sionlib_handle *h, void *data, size_t size, size_t *got);

#endif
