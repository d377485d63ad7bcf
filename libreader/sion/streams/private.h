/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to <hpcw/sion_read.h>: the handle. It uses the strict reader of libreader/sion for the tasks of one
 * process. */
#ifndef HPCW_LIBREADER_SION_STREAMS_PRIVATE_H
#define HPCW_LIBREADER_SION_STREAMS_PRIVATE_H

#include <hpcw/sion_read.h>

#include "libreader/sion/file.h"
#include "libwriter/comm/comm.h"

/* Most physical files that a process has open at the same time. */
#define READ_SION_POOL 64u

/* Bytes of the large buffer, and most bytes of any other buffer. */
#define READ_SION_LARGE ((size_t)1 << 20)

/* One of the tasks that this process reads. */
struct read_sion_own {
    hpcw_sion_task task;
    uint32_t part;     /* index of its physical file in `part` */
    bool began;        /* some of its bytes were in a buffer before */
    uint64_t position; /* in its stream */
    /* end of the current key-value record in the stream; 0: no current record */
    uint64_t record_end;
    struct read_sion_cursor cursor; /* block that was read last */
};

/* A physical file with tasks of this process, as process 0 found it. */
struct read_sion_part {
    uint32_t number, tasks;
    uint64_t meta2_start, block_stride, file_size;
};

/* A buffer with bytes [from, from + size) of the stream of own task `owner`. */
struct read_sion_buffer {
    uint32_t owner;
    size_t size;
    uint64_t from;
    unsigned char *data; /* NULL until it is used; memory of a small buffer is a part of `block` */
};

struct hpcw_sion_reader {
    struct read_sion_place place;
    hpcw_sion_info info;
    struct read_sion_own *own; /* [count] by rank */
    uint32_t count;
    struct read_sion_part *part;
    uint32_t parts;
    size_t part_capacity;
    /* file 0, kept open if there are more parts than files in the pool */
    struct read_source *first;
    struct read_sion_file *pool[READ_SION_POOL]; /* part p is at p mod READ_SION_POOL, if it is open */

    /* A task first uses the large buffer, so that tasks read one after the other need no other. A task that is
     * read again after another has taken the large buffer uses a small one from then on: own task i has number i
     * mod buffers. */
    struct read_sion_buffer *buffer;
    unsigned char *block; /* memory of all small buffers; NULL until one of them is used */
    uint32_t buffers;
    size_t buffer_size;
    struct read_sion_buffer large;
    uint32_t last_filled; /* own task whose bytes were read from the file last */
};

/* Index of an own task; UINT32_MAX if it is not one. */
static inline uint32_t read_sion_own_index(const struct hpcw_sion_reader *r, uint32_t rank) {
    if (r == NULL || r->count == 0) {
        return UINT32_MAX;
    }
    /* Own ranks are nearly always consecutive: try that index first. */
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

/* A broadcast message with a window of tasks. */
struct read_sion_window {
    uint32_t failed; /* process 0 failed and stops */
    uint32_t count;
    hpcw_sion_task task[READ_SION_WINDOW];
};

/*
 * Finds the own tasks: reader->own and reader->part. Collective, also after failures: agree on the result after
 * it. `container` is that of process 0, and NULL elsewhere. `ranks` [reader->count]; NULL: a share of all tasks.
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
