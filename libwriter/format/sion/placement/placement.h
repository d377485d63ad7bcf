/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F3: the placement of tasks: from what each process owns to where each own task's chunk is. Collective. Memory
 * O(own tasks + N / processes + files), a constant number of collectives.
 *
 *   placement.c            chooses the way; also the one for sizes that all processes know
 *   placement_order.c      tasks whose order over the processes is the order of their numbers
 *   placement_directory.c  tasks in any order, by a distributed directory
 *   placement_colour.c     one file per colour
 */
#ifndef HPCW_FORMAT_SION_PLACEMENT_PLACEMENT_H
#define HPCW_FORMAT_SION_PLACEMENT_PLACEMENT_H

#include "libwriter/format/sion/placement/census.h"
#include "libwriter/format/sion/placement/layout.h"

/* The tasks to place. The same on all processes unless marked as own. */
struct hpcw_i_sion_request {
    hpcw_comm *comm;
    struct hpcw_i_sion_census all;
    struct hpcw_i_sion_census below; /* own: of the processes below */
    uint32_t tasks;                  /* N, of the whole container */
    uint32_t end;                    /* one past the highest owned task: N, or less with part_of_set */
    uint32_t files;                  /* 0: by colour */
    uint32_t block_size;
    uint32_t per_group;
    hpcw_sion_layout layout;
    bool part_of_set;           /* only the tasks of some files are owned; needs size_of */
    hpcw_sion_size_of *size_of; /* sizes of any task, or NULL if each process knows its own only */
    void *size_context;

    uint32_t colour;               /* own; with files == 0 */
    uint32_t count;                /* own */
    const uint32_t *ranks;         /* own [count], strictly ascending, or NULL */
    struct hpcw_i_sion_task *task; /* own [count], `chunk` as requested */
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
