/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The placement of tasks: computes the position of each own task's chunk from the tasks that each process owns.
 * Collective. Memory O(own tasks + N / processes + files). A constant number of collectives, and for packed tasks a
 * message along all processes.
 *
 *   placement.c   chooses the method; also places tasks whose sizes all processes know
 *   census.c      numbers and sums of the tasks of all processes
 *   order.c       tasks whose order over the processes is the order of their numbers
 *   directory.c   tasks in any order, by a distributed directory
 *   colour.c      one file per colour
 */
#ifndef HPCW_FORMAT_SION_PLACEMENT_PLACEMENT_H
#define HPCW_FORMAT_SION_PLACEMENT_PLACEMENT_H

#include "libwriter/comm/comm.h"
#include "libwriter/format/sion/placement/layout.h"

/* ---- tasks ---- */

/* Bytes used in the blocks of a task before its current block. */
struct hpcw_i_sion_blocks {
    /* number of last blocks with equal numbers of bytes, so that a close need not look at each of them */
    uint64_t alike;
    uint64_t used[];
};

/* One task of this process. */
struct hpcw_i_sion_task {
    /* start of the task's chunk: offset in a block while tasks are placed, then offset in the file of its chunk in
     * block 0 */
    uint64_t start;
    uint64_t chunk; /* bytes of the task's chunk: as requested until the placement, then as in the file */
    uint64_t used;  /* bytes of the current block, without those in a buffer */
    struct hpcw_i_sion_blocks *earlier; /* list of the `block` earlier blocks; NULL: no earlier block */
    uint32_t block;                     /* current block */
    uint32_t spare; /* bytes at the end of each chunk that stay empty because of hpcw_sion_limit */
};

/* Returns the bytes that may be written to a chunk. */
static inline uint64_t hpcw_i_sion_usable(const struct hpcw_i_sion_task *t) {
    return t->chunk - t->spare;
}

/* ---- census.c ---- */

/*
 * A census: numbers and sums of the tasks of some neighbouring processes. Two censuses of neighbours can be
 * combined. So one collective (hpcw_i_comm_reduce_scan) gives every process the census of all processes, and that
 * of the processes below it.
 */
struct hpcw_i_sion_census {
    uint64_t tasks;
    uint64_t bytes;     /* bytes of all chunks, as far as known; INT64_MAX: too many to count */
    uint64_t lists;     /* number of processes with a list of task numbers; 0: the members below mean nothing */
    uint64_t low, high; /* lowest and highest task number in the lists */
    uint64_t ascending; /* 1: the lists ascend from process to process */
    /* 1: in addition, task numbers are consecutive in each list and from process to process */
    uint64_t gapless;
    uint64_t base; /* if gapless: number of the first task of the census, modulo 2^64 */
};

/* Counts the own tasks. The sizes of their chunks are rounded up to `block_size`. */
struct hpcw_i_sion_census hpcw_i_sion_census_of(uint32_t count, const uint32_t *ranks,
                                                const struct hpcw_i_sion_task *task, uint32_t block_size);

/* Adds to `left` the census of the processes that follow. */
void hpcw_i_sion_census_add(struct hpcw_i_sion_census *left, const struct hpcw_i_sion_census *right);

/* Combines the censuses of all processes. `all`: in, the census of this process; out, that of all processes.
 * `below`: out, that of the processes below. HPCW_ERANGE if the chunks have too many bytes to count. Collective. */
hpcw_status hpcw_i_sion_census_take(hpcw_comm *comm, struct hpcw_i_sion_census *all,
                                    struct hpcw_i_sion_census *below, hpcw_error *err);

/* ---- placement.c ---- */

/* The tasks to place. A member marked "own" has a value for this process alone; all others are the same on all
 * processes. */
struct hpcw_i_sion_request {
    hpcw_comm *comm;
    struct hpcw_i_sion_census all;
    struct hpcw_i_sion_census below; /* own: census of the processes with lower numbers */
    /* division of the N tasks of the whole container; not used with colours */
    struct hpcw_i_sion_division division;
    uint32_t end;                     /* one past the highest owned task: N, or less with set_tasks */
    uint32_t block_size;              /* bytes; never 0 */
    const hpcw_sion_options *options; /* all_sizes is replaced by a `size_of` that reads it */
    uint32_t count;                   /* own: number of tasks */
    const uint32_t *ranks;            /* own [count] task numbers, strictly ascending; NULL: consecutive */
    struct hpcw_i_sion_task *task;    /* own [count] tasks; `chunk` is the requested size */
    const uint32_t *global;    /* own [count] ranks; over all processes they must be 0 .. N-1; NULL: no check */
    const uint32_t *by_global; /* own [count] own tasks sorted by `global` */
};

/* One physical file. */
struct hpcw_i_sion_file {
    uint32_t tasks;
    uint64_t stride; /* bytes from block to block */
};

struct hpcw_i_sion_placement {
    /* in: lowest task of all processes; out: first task of this process, if its tasks are consecutive */
    uint32_t first;
    bool in_order; /* the tasks ascend from process to process */
    uint32_t files;
    /* [files] array of the caller if files are given by count, allocated here if by colour */
    struct hpcw_i_sion_file *file;
    uint32_t own_file; /* by colour: number of this process's file */
    uint32_t *column;  /* by colour: [count] index of each own task in its file; otherwise NULL */
};

/*
 * Fills in `task[].start` (within the block), `task[].chunk`, and the placement. The caller frees the placement's
 * arrays (hpcw_i_free), also after a failure. All processes return the same status. `err` is not NULL.
 */
hpcw_status hpcw_i_sion_placement_make(const struct hpcw_i_sion_request *request,
                                       struct hpcw_i_sion_placement *placement, hpcw_error *err);

#endif
