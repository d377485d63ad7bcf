/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F3: from what each process owns to where every own task's chunk lies. Collective. Memory O(own tasks + N /
 * processes
 * + files), a constant number of collectives.
 */
#ifndef HPCW_FORMAT_SION_PLACE_H
#define HPCW_FORMAT_SION_PLACE_H

#include "libwriter/comm/comm.h"
#include "libwriter/format/sion/layout.h"

/* Bytes used in the blocks of a task before the current one. */
struct hpcw_i_sion_blocks {
    uint64_t alike; /* the last so many used the same, so that a close need not look at each of them */
    uint64_t used[];
};

/* One task of this process. */
struct hpcw_i_sion_task {
    uint64_t start; /* of its chunk: first within the block, later (open) in the file, block 0 */
    uint64_t chunk; /* bytes: first as requested, then as in the file */
    uint64_t used;  /* bytes of the current block without those that wait in a buffer */
    struct hpcw_i_sion_blocks *earlier; /* of `block` blocks; NULL: none */
    uint32_t block;                     /* current block */
};

/*
 * A summary of the tasks of some neighbouring processes. The censuses of neighbours combine to that of both.
 */
struct hpcw_i_sion_census {
    uint64_t tasks;
    uint64_t bytes;     /* of their chunks as far as known; INT64_MAX: too many to count */
    uint64_t lists;     /* 0: no process named its tasks by a list, and nothing below is of use */
    uint64_t low, high; /* lowest and highest number in a list */
    uint64_t ascending; /* 1: the lists ascend from process to process */
    uint64_t
        gapless;   /* 1: and each task in a list has its neighbours beside it, on whatever process they are */
    uint64_t base; /* gapless: number that the first of all these tasks has, modulo 2^64 */
};

enum { HPCW_I_SION_CENSUS_WORDS = sizeof(struct hpcw_i_sion_census) / sizeof(uint64_t) };

/* Census of the own tasks. `block_size`: chunks are rounded up to it. */
struct hpcw_i_sion_census hpcw_i_sion_census_of(uint32_t count, const uint32_t *ranks,
                                                const struct hpcw_i_sion_task *task, uint32_t block_size);

/* Appends the census of the processes that follow. */
void hpcw_i_sion_census_add(struct hpcw_i_sion_census *left, const struct hpcw_i_sion_census *right);

/* Collective. `all`: in: the own census, out: that of all processes. `below`: out: of the processes below this one. */
hpcw_status hpcw_i_sion_census_take(hpcw_comm *comm, struct hpcw_i_sion_census *all,
                                    struct hpcw_i_sion_census *below, hpcw_error *err);

/* What is to be placed, the same on all processes unless marked as own. */
struct hpcw_i_sion_request {
    hpcw_comm *comm;
    struct hpcw_i_sion_census all;
    struct hpcw_i_sion_census below; /* own: of the processes below */
    uint32_t tasks;                  /* N, of the whole container */
    uint32_t end;                    /* one past the highest task that is owned: N, or less with part_of_set */
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
    uint32_t *column;              /* by colour: [count] index of each own task in its file; else NULL */
};

/*
 * Fills in `task[].start` (within the block) and `task[].chunk`, and the placement, whose arrays are the
 * caller's to free (hpcw_i_free), also after a failure. All processes return the same status. `err` is not NULL.
 */
hpcw_status hpcw_i_sion_place(const struct hpcw_i_sion_request *request,
                              struct hpcw_i_sion_placement *placement, hpcw_error *err);

#endif
