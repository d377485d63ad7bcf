/* SPDX-License-Identifier: BSD-3-Clause */
/* An open container as SIONlib sees it: it has tasks, and a task has blocks and a position. */
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

/* A task as SIONlib sees it: its blocks, and a position in one of them. The position of a writer is at the end. */
struct sionlib_task {
    uint32_t rank;      /* global */
    uint32_t number;    /* number of the task in hpcw_sion */
    uint32_t file;      /* physical file */
    uint32_t index;     /* index in its physical file */
    sion_int64 chunk;   /* bytes; for a writer, the bytes that the program may fill */
    sion_int64 start;   /* offset in the file of the chunk of block 0; -1: not known */
    sion_int64 stride;  /* bytes from a block to the next; -1: not known */
    sion_int64 *used;   /* [blocks] used bytes; a reader's is NULL until it is needed */
    int blocks;         /* at least 1 */
    int capacity;       /* capacity of `used` */
    int block;          /* block of the position */
    sion_int64 at;      /* offset of the position in its block */
    sion_int64 written; /* writer: bytes in all blocks */
    /* writer: the value of `at` that sion_bytes_avail_in_chunk uses, see sionlib_look */
    sion_int64 counted;
    uint64_t next;             /* reader: offset in the task's stream after the last read */
    int next_block;            /* reader: block of that offset */
    sion_int64 next_at;        /* reader: offset in that block. A sequential read needs no sum over blocks */
    struct sionlib_keys *keys; /* NULL until they are needed */
};

enum sionlib_opened { SIONLIB_SERIAL, SIONLIB_RANK, SIONLIB_PARALLEL, SIONLIB_MAPPED };

struct sionlib_handle {
    int sid;
    enum sionlib_opened opened;
    hpcw_sion *writer;        /* NULL in a reader */
    hpcw_sion_reader *reader; /* NULL in a writer */
    hpcw_comm *comm;          /* owned by the handle; NULL: one process */
    struct sionlib_task *task;
    uint32_t count;   /* tasks */
    uint32_t current; /* index of the selected task */
    int files, file;  /* number of physical files, and the file of the current task */
    bool keys;
    bool big_data; /* the container is marked as holding big-endian user data */
    FILE *stream;
    void *team;          /* team of threads, which owns their common writer; NULL: none */
    sion_int64 *table;   /* result of sion_get_locations and sion_get_current_locations */
    sion_int32 *mapping; /* result of sion_get_mapping */
    /* Collective write to a merged container: sends the records of the group to its first task. */
    bool (*merge)(struct sionlib_handle *h, const void *data, size_t size);
    struct sionlib_parallel *parallel; /* parallel part of a handle of several processes; otherwise NULL */
    bool duplicate;                    /* made by sion_dup */
};

static inline struct sionlib_task *sionlib_current(const struct sionlib_handle *h) {
    return &h->task[h->current];
}

/* Notes the position of a writer. SIONlib does so before each write, and when a program flushes or asks for the
 * bytes written. */
static inline void sionlib_look(struct sionlib_task *t) {
    t->counted = t->at;
}

/* Bytes from the position of a reader to the end of the block. */
static inline sion_int64 sionlib_left(const struct sionlib_task *t) {
    return t->used[t->block] - t->at;
}

/* Appends a record to the current task. Returns false after reporting an error. */
bool sionlib_write(struct sionlib_handle *h, const void *data, size_t size);

/* Makes room for `more` blocks in the block list of a task. Returns false after reporting an error. */
bool sionlib_reserve_blocks(struct sionlib_task *t, sion_int64 more);

/* Begins the next block of a writer. Call sionlib_reserve_blocks first. */
void sionlib_next_block(struct sionlib_task *t);

/* Counts the bytes of a written record. Call sionlib_reserve_blocks first. */
void sionlib_count(struct sionlib_task *t, sion_int64 size);

/* Fills in a task from the reader's description of it. */
void sionlib_task_of_reader(struct sionlib_task *t, const hpcw_sion_task *from);

/* Loads the used bytes of each block from the reader, once. Returns false after reporting an error. */
bool sionlib_load_blocks(struct sionlib_handle *h, struct sionlib_task *t);

/* Returns the position as an offset in the stream of the task. */
uint64_t sionlib_offset(const struct sionlib_task *t);

/* Moves to an offset in the stream. */
void sionlib_move(struct sionlib_task *t, uint64_t offset);

/* Returns whether the current task is at the end of its stream. At the end of an earlier chunk, moves to the next
 * chunk. */
bool sionlib_at_end(struct sionlib_handle *h);

/* Reads up to `size` bytes of the current chunk. Returns false after reporting an error. */
bool sionlib_read(struct sionlib_handle *h, void *data, size_t size, size_t *got);

#endif
