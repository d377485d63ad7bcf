/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions of records with the caller's own operation, in the order of the processes. `combine` combines `left`
 * and `right`, which stand for neighbouring processes, into `left`. It must be associative. All calls are
 * collective.
 */
#ifndef HPCW_COMM_REDUCE_H
#define HPCW_COMM_REDUCE_H

#include "libwriter/comm/comm.h"

/* Most words of a record. A message holds two records: with more than 30 words, a message in Open MPI's shared
 * memory takes three times as long. */
enum { HPCW_I_SCAN_WORDS = 15 };

/*
 * Combines a reduction and an exclusive scan of records of `words` <= HPCW_I_SCAN_WORDS words. `record` is in and
 * out: first the record of this process, then the reduction over all. `below` is out: the reduction over the
 * processes below this one; unchanged on process 0. Each process sends and receives once on the way up a tree and
 * once on the way down. The function needs only stack memory.
 */
hpcw_status hpcw_i_comm_reduce_scan(hpcw_comm *comm, uint64_t *record, uint64_t *below, size_t words,
                                    void (*combine)(uint64_t *left, const uint64_t *right), hpcw_error *err);

/* Reduces records of any size. `record` is in and out. */
hpcw_status hpcw_i_comm_reduce(hpcw_comm *comm, uint64_t *record, size_t words,
                               void (*combine)(void *context, uint64_t *left, const uint64_t *right),
                               void *context, hpcw_error *err);

#endif
