/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the placement of tasks. All calls are collective; all processes return the same. */
#ifndef HPCW_FORMAT_SION_PLACEMENT_PRIVATE_H
#define HPCW_FORMAT_SION_PLACEMENT_PRIVATE_H

#include "libwriter/format/sion/placement/placement.h"

/* Tasks in the order of their numbers over all processes, and their division into files. */
struct hpcw_i_sion_order {
    const struct hpcw_i_sion_request *request;
    hpcw_comm *comm;
    struct hpcw_i_sion_division division; /* division of the tasks of all processes of `comm` */
    uint32_t count;
    struct hpcw_i_sion_task *task;
    uint32_t before;               /* number of tasks on the processes below */
    struct hpcw_i_sion_file *file; /* [files] out */
};

/* Places tasks whose order over the processes is the order of their numbers. `all` is the census of all tasks.
 * `before_bytes` is the size of all tasks on the processes below, rounded up for aligned chunks. */
hpcw_status hpcw_i_sion_placement_by_order(const struct hpcw_i_sion_order *o,
                                           const struct hpcw_i_sion_census *all, uint64_t before_bytes,
                                           hpcw_error *err);

struct hpcw_i_sion_directory {
    uint64_t *out; /* messages sent: rank, requested size */
    /* [4 * processes] lengths of messages: requests sent, requests received, answers sent, answers received */
    uint64_t *words;
    uint64_t *in;    /* messages received */
    uint32_t *ranks; /* [present] owned tasks in this process's slice of task numbers, ascending */
    struct hpcw_i_sion_task *task; /* [present] */
    uint32_t *slot;                /* [slice] 1 + index into `ranks`; 0: no owner */
    uint32_t present;
};

void hpcw_i_sion_directory_free(struct hpcw_i_sion_directory *d);

/* Sends each own task to the process whose slice of task numbers contains it. Checks that no task occurs twice. All
 * processes agree on local failures. */
hpcw_status hpcw_i_sion_directory_fill(hpcw_comm *comm, const struct hpcw_i_sion_request *r, uint32_t first,
                                       struct hpcw_i_sion_directory *d, hpcw_error *err);

/* Checks that the global ranks of all processes are 0 .. N-1. */
hpcw_status hpcw_i_sion_directory_check(const struct hpcw_i_sion_request *r, hpcw_error *err);

/* Places the tasks of all slices and sends the positions to the owners. `column`: NULL, or [count] out, the index
 * of each own task in its file. */
hpcw_status hpcw_i_sion_placement_by_directory(hpcw_comm *comm, const struct hpcw_i_sion_request *r,
                                               const struct hpcw_i_sion_division *division, uint32_t first,
                                               struct hpcw_i_sion_file *file, uint32_t *column,
                                               hpcw_error *err);

hpcw_status hpcw_i_sion_placement_by_colour(const struct hpcw_i_sion_request *r, uint32_t first,
                                            struct hpcw_i_sion_placement *placement, hpcw_error *err);

#endif
