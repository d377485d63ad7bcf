/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: numbers and sums of the tasks of neighbouring processes. */
#ifndef HPCW_FORMAT_SION_PLACEMENT_CENSUS_H
#define HPCW_FORMAT_SION_PLACEMENT_CENSUS_H

#include "libwriter/comm/comm.h"
#include "libwriter/format/sion/placement/task.h"

/*
 * Numbers and sums of the tasks of some neighbouring processes. The censuses of neighbours combine to that of both. So
 * one collective (hpcw_i_comm_fold) gives every process the census of all and of those below it.
 */
struct hpcw_i_sion_census {
    uint64_t tasks;
    uint64_t bytes;     /* of their chunks as far as known; INT64_MAX: too many to count */
    uint64_t lists;     /* 0: no process has a list of tasks, and the fields below mean nothing */
    uint64_t low, high; /* lowest and highest number in a list */
    uint64_t ascending; /* 1: the lists ascend from process to process */
    uint64_t
        gapless;   /* 1: also, each task in a list follows its neighbour, on this process or the one before */
    uint64_t base; /* gapless: number of the first of all these tasks, modulo 2^64 */
};

enum { HPCW_I_SION_CENSUS_WORDS = sizeof(struct hpcw_i_sion_census) / sizeof(uint64_t) };

/* Census of the own tasks. `block_size`: chunks are rounded up to it. */
struct hpcw_i_sion_census hpcw_i_sion_census_of(uint32_t count, const uint32_t *ranks,
                                                const struct hpcw_i_sion_task *task, uint32_t block_size);

/* Appends the census of the following processes. */
void hpcw_i_sion_census_add(struct hpcw_i_sion_census *left, const struct hpcw_i_sion_census *right);

/* `all`: in this process's own census, out that of all; `below`: out. Collective. */
hpcw_status hpcw_i_sion_census_take(hpcw_comm *comm, struct hpcw_i_sion_census *all,
                                    struct hpcw_i_sion_census *below, hpcw_error *err);

/* Fails with HPCW_ERANGE if the chunks have too many bytes to count. */
hpcw_status hpcw_i_sion_census_check(const struct hpcw_i_sion_census *all, hpcw_error *err);

#endif
