/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The placement of tasks: from what each process owns to where each own task's chunk is. Collective. Memory O(own
 * tasks + N / processes + files), a constant number of collectives, and for packed tasks a message along all
 * processes.
 *
 *   placement.c            chooses the way; also the one for sizes that all processes know
 *   placement_order.c      tasks whose order over the processes is the order of their numbers
 *   placement_directory.c  tasks in any order, by a distributed directory
 *   placement_colour.c     one file per colour
 */
#ifndef HPCW_FORMAT_SION_PLACEMENT_PLACEMENT_H
#define HPCW_FORMAT_SION_PLACEMENT_PLACEMENT_H

#include "libwriter/comm/comm.h"
#include "libwriter/format/sion/placement/layout.h"

/* ---- tasks ---- */

/* Bytes used in the blocks of a task before the current one. */
struct hpcw_i_sion_blocks {
    uint64_t alike; /* this many of the last ones used the same, so that a close need not look at each */
    uint64_t used[];
};

/* One task of this process. */
struct hpcw_i_sion_task {
    uint64_t start; /* of its chunk: first within the block, later (open) in the file, block 0 */
    uint64_t chunk; /* bytes: first as requested, then as in the file */
    uint64_t used;  /* bytes of the current block without those in a buffer */
    struct hpcw_i_sion_blocks *earlier; /* of `block` blocks; NULL: none */
    uint32_t block;                     /* current block */
    uint32_t spare;                     /* bytes at the end of each chunk that stay empty: hpcw_sion_limit */
};

/* Bytes that a chunk takes. */
static inline uint64_t hpcw_i_sion_usable(const struct hpcw_i_sion_task *t) {
    return t->chunk - t->spare;
}

/* ---- census.c ---- */

/*
 * Numbers and sums of the tasks of some neighbouring processes. The censuses of neighbours combine to that of
 * both. So one collective (hpcw_i_comm_fold) gives every process the census of all and of those below it.
 */
struct hpcw_i_sion_census {
    uint64_t tasks;
    uint64_t bytes;     /* of their chunks as far as known; INT64_MAX: too many to count */
    uint64_t lists;     /* 0: no process has a list of tasks, and the fields below mean nothing */
    uint64_t low, high; /* lowest and highest number in a list */
    uint64_t ascending; /* 1: the lists ascend from process to process */
    /* 1: also, each task in a list follows its neighbour, on this process or the one before */
    uint64_t gapless;
    uint64_t base; /* gapless: number of the first of all these tasks, modulo 2^64 */
};

/* Census of the own tasks. `block_size`: chunks are rounded up to it. */
struct hpcw_i_sion_census hpcw_i_sion_census_of(uint32_t count, const uint32_t *ranks,
                                                const struct hpcw_i_sion_task *task, uint32_t block_size);

/* Appends the census of the following processes. */
void hpcw_i_sion_census_add(struct hpcw_i_sion_census *left, const struct hpcw_i_sion_census *right);

/* `all`: in this process's own census, out that of all; `below`: out. Collective.
 * HPCW_ERANGE if the chunks have too many bytes to count. */
hpcw_status hpcw_i_sion_census_take(hpcw_comm *comm, struct hpcw_i_sion_census *all,
                                    struct hpcw_i_sion_census *below, hpcw_error *err);

/* ---- placement.c ---- */

/* The tasks to place. The same on all processes unless marked as own. */
struct hpcw_i_sion_request {
    hpcw_comm *comm;
    struct hpcw_i_sion_census all;
    struct hpcw_i_sion_census below;      /* own: of the processes below */
    struct hpcw_i_sion_division division; /* of the N tasks of the whole container; not by colour */
    uint32_t end;                         /* one past the highest owned task: N, or less with part_of_set */
    uint32_t block_size;                  /* resolved */
    const hpcw_sion_options *options;     /* all_sizes is not read, but size_of */
    uint32_t count;                       /* own */
    const uint32_t *ranks;                /* own [count], strictly ascending, or NULL */
    struct hpcw_i_sion_task *task;        /* own [count], `chunk` as requested */
    const uint32_t *global;    /* own [count] ranks that must be 0 .. N-1 together; NULL: not to be checked */
    const uint32_t *by_global; /* own [count] own tasks in their order */
};

/* One physical file. */
struct hpcw_i_sion_file {
    uint32_t tasks;
    uint64_t stride; /* bytes from block to block */
};

struct hpcw_i_sion_placement {
    uint32_t first; /* in: lowest task of all processes; out: first own task, if they are consecutive */
    bool in_order;  /* the tasks ascend from process to process */
    uint32_t files; /* number of files */
    struct hpcw_i_sion_file *file; /* [files]; by count: the caller's array, by colour: made here */
    uint32_t own_file;             /* by colour: the one file of this process */
    uint32_t *column;              /* by colour: [count] index of each own task in its file; otherwise NULL */
};

/*
 * Fills in `task[].start` (within the block) and `task[].chunk`, and the placement, whose arrays are the
 * caller's to free (hpcw_i_free), also after a failure. All processes return the same status. `err` is not NULL.
 */
hpcw_status hpcw_i_sion_placement_make(const struct hpcw_i_sion_request *request,
                                       struct hpcw_i_sion_placement *placement, hpcw_error *err);

#endif
