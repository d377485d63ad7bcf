/* SPDX-License-Identifier: BSD-3-Clause */
/* An open container as SIONlib sees it: it has tasks, and a task has blocks and a position. */
#ifndef HPCW_BINDINGS_SIONLIB_HANDLES_TASK_H
#define HPCW_BINDINGS_SIONLIB_HANDLES_TASK_H

#include <stdbool.h>

#include <hpcw/sion_read.h>
#include <sion.h>

#include "bindings/sionlib/handles/report.h"

/* Size of the key and the length at the start of a key-value record, bytes. */
enum { SIONLIB_RECORD_HEADER = 16 };

struct sionlib_keys;
struct sionlib_parallel;

/* A task as SIONlib sees it: its blocks, and a position in one of them. The position of a writer is at the end. */
struct sionlib_task {
    uint32_t rank;      /* global rank */
    uint32_t number;    /* task number that hpcw_sion has for the task */
    uint32_t file;      /* physical file */
    uint32_t index;     /* index of the task in its physical file */
    sion_int64 chunk;   /* size of the task's chunks, bytes; for a writer, the part that the program may fill */
    sion_int64 start;   /* offset in the file of the task's chunk in block 0; -1: not known */
    sion_int64 stride;  /* bytes from one block to the next in the file; -1: not known */
    sion_int64 *used;   /* [blocks] used bytes of each chunk; in a reader NULL until needed */
    int blocks;         /* number of blocks, at least 1 */
    int capacity;       /* capacity of `used` */
    int block;          /* block in which the position is */
    sion_int64 at;      /* offset of the position in its chunk */
    sion_int64 written; /* writer: total bytes in all blocks */
    /* writer: older value of `at`, for sion_bytes_avail_in_chunk; set by sionlib_look */
    sion_int64 counted;
    uint64_t next;  /* reader: offset in the task's stream after the last read */
    int next_block; /* reader: block that contains the offset `next` */
    /* reader: offset of `next` in its chunk. So a sequential read needs no sum over all blocks */
    sion_int64 next_at;
    struct sionlib_keys *keys; /* list of key-value records; NULL until needed */
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
    bool big_data; /* the container states that the user's data is big-endian */
    FILE *stream;
    /* struct sionlib_team of the threads that share a writer; the team owns the writer; NULL: no threads */
    void *team;
    sion_int64 *table;   /* result of sion_get_locations and sion_get_current_locations */
    sion_int32 *mapping; /* result of sion_get_mapping */
    /* Function for collective writes to a merged container: sends the records of a group to the first task of the
     * group. NULL: the container is not merged. */
    bool (*merge)(struct sionlib_handle *h, const void *data, size_t size);
    struct sionlib_parallel *parallel; /* parallel part of a handle of several processes; otherwise NULL */
    bool duplicate;                    /* made by sion_dup */
};

static inline struct sionlib_task *sionlib_current(const struct sionlib_handle *h) {
    return &h->task[h->current];
}

/* Copies `at` of a writer to `counted`. SIONlib does this before each write, and when a program flushes or asks for
 * the bytes written. */
static inline void sionlib_look(struct sionlib_task *t) {
    t->counted = t->at;
}

/* Returns the bytes from the position of a reader to the end of the used bytes of the chunk. */
static inline sion_int64 sionlib_left(const struct sionlib_task *t) {
    return t->used[t->block] - t->at;
}

/* Appends a record to the current task. Returns false after reporting an error. */
bool sionlib_write(struct sionlib_handle *h, const void *data, size_t size);

/* Makes room for `more` blocks in the block list of a task. Returns false after reporting an error. */
bool sionlib_reserve_blocks(struct sionlib_task *t, sion_int64 more);

/* Does the same for a record of the current task. Without memory the record is lost, so the close will fail. */
bool sionlib_reserve_for_record(struct sionlib_handle *h, sion_int64 more);

/* Begins the next block of a writer. Call sionlib_reserve_blocks first. */
void sionlib_next_block(struct sionlib_task *t);

/* Advances the position of a writer by the bytes of a written record. Call sionlib_reserve_blocks first. */
void sionlib_count(struct sionlib_task *t, sion_int64 size);

/* Fills in a task from the reader's description of it. */
void sionlib_task_of_reader(struct sionlib_task *t, const hpcw_sion_task *from);

/* Loads the used bytes of each block from the reader, once. Returns false after reporting an error. */
bool sionlib_load_blocks(struct sionlib_handle *h, struct sionlib_task *t);

/* Returns the position as an offset in the stream of the task. */
uint64_t sionlib_offset(const struct sionlib_task *t);

/* Moves the position to an offset in the stream of the task. */
void sionlib_move(struct sionlib_task *t, uint64_t offset);

/* Returns whether the current task is at the end of its stream. At the end of an earlier chunk, moves to the next
 * chunk. */
bool sionlib_at_end(struct sionlib_handle *h);

/* Reads up to `size` bytes of the current chunk. Returns false after reporting an error. */
bool sionlib_read(struct sionlib_handle *h, void *data, size_t size, size_t *got);

#endif
