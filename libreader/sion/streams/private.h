/* SPDX-License-Identifier: BSD-3-Clause */
/* The private part of <hpcw/sion_read.h>: its handle. It uses the strict reader of libreader/sion for the tasks of
 * one process. */
#ifndef HPCW_LIBREADER_SION_STREAMS_PRIVATE_H
#define HPCW_LIBREADER_SION_STREAMS_PRIVATE_H

#include <hpcw/sion_read.h>

#include "libreader/sion/file.h"
#include "libwriter/comm/comm.h"

/* Most physical files that a process has open at the same time. */
#define READ_SION_POOL 64u

/* Bytes of the large buffer, and most bytes of any other buffer. */
#define READ_SION_LARGE ((size_t)1 << 20)

/* One of the tasks that this process reads, called its own tasks. */
struct read_sion_own {
    hpcw_sion_task task;
    uint32_t part;     /* index of the task's physical file in the array `part` of the handle */
    bool began;        /* some bytes of the task have been in a buffer */
    uint64_t position; /* read position in the task's stream */
    /* end of the current key-value record in the stream; 0: no current record */
    uint64_t record_end;
    struct read_sion_cursor cursor; /* position of the last read */
};

/* A physical file with tasks of this process, as process 0 found it. */
struct read_sion_part {
    uint32_t number, tasks;
    uint64_t meta2_start, block_stride, file_size;
};

/* A buffer with bytes [from, from + size) of the stream of `owner`, an own task of this process. */
struct read_sion_buffer {
    uint32_t owner;
    size_t size;
    uint64_t from;
    unsigned char *data; /* NULL until the buffer is used; a small buffer gets a part of the memory `block` */
};

struct hpcw_sion_reader {
    struct read_sion_place place;
    hpcw_sion_info info;
    struct read_sion_own *own; /* [count] the tasks that this process reads, by rank */
    uint32_t count;
    struct read_sion_part *part;
    uint32_t parts;
    size_t part_capacity;
    /* file 0, kept open if this process reads more files than the pool can hold */
    struct read_source *first;
    struct read_sion_file *pool[READ_SION_POOL]; /* open files: part p is at index p mod READ_SION_POOL */

    /* [buffers] the small buffers; own task i uses number i mod buffers. A task first uses the large buffer, so
     * that tasks which are read one after the other need no small buffer. If another task has taken the large
     * buffer when the task is read again, the task uses its small buffer from then on. */
    struct read_sion_buffer *buffer;
    unsigned char *block; /* memory of all small buffers; NULL until one of them is used */
    uint32_t buffers;
    size_t buffer_size;
    struct read_sion_buffer large;
    uint32_t last_filled; /* own task for which bytes were read from a file last */
};

/* Returns the index in r->own of the task with this rank, or UINT32_MAX if this process does not read it. */
static inline uint32_t read_sion_own_index(const struct hpcw_sion_reader *r, uint32_t rank) {
    if (r == NULL || r->count == 0) {
        return UINT32_MAX;
    }
    /* The ranks of a process are nearly always consecutive: first try the index that follows from this. */
    uint32_t begin = 0, end = r->count, guess = rank - r->own[0].task.rank;
    if (guess < end && r->own[guess].task.rank == rank) {
        return guess;
    }
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;
        if (r->own[middle].task.rank == rank) {
            return middle;
        }
        if (r->own[middle].task.rank < rank) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return UINT32_MAX;
}

/* A message that process 0 broadcasts, with the table entries of up to READ_SION_WINDOW tasks. */
struct read_sion_window {
    uint32_t failed; /* process 0 failed and stops */
    uint32_t count;
    hpcw_sion_task task[READ_SION_WINDOW];
};

/*
 * Finds the tasks that this process reads, and fills in reader->own and reader->part. Collective, also after
 * failures; the result may differ between processes, so call hpcw_i_agree after it. `container` is the open
 * container on process 0, and NULL elsewhere. `ranks` [reader->count]: the ranks to read; NULL: a share of all
 * tasks.
 */
hpcw_status read_sion_share(struct hpcw_sion_reader *reader, hpcw_comm *comm, struct read_sion *container,
                            const uint32_t *ranks, bool by_rank, struct read_sion_window *window,
                            hpcw_error *err);

/* Returns the physical file of a part, and opens it if necessary. Valid until the next call. */
hpcw_status read_sion_part_file(struct hpcw_sion_reader *reader, uint32_t part, struct read_sion_file **out,
                                hpcw_error *err);

/* Opens a container in memory, on one process. */
hpcw_status read_sion_reader_open_memory(const struct read_sion_image *images, uint32_t count,
                                         hpcw_sion_reader **out, hpcw_error *err);

#endif
