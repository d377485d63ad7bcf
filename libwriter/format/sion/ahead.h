/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F3: storage ahead of small pieces. Where buffers are small because tasks are many, a chunk goes to the file in a few
 * pieces between those of thousands of others. A file system that looks for storage piece by piece (sink.h says which
 * do) spends more time on that than on the data; asked once for a larger range it does not.
 *
 * What was taken and not used in the end is given back, so that a file stores what it would have stored anyway. A file
 * system that refuses is not asked again: without all this the same bytes are written.
 */
#ifndef HPCW_FORMAT_SION_AHEAD_H
#define HPCW_FORMAT_SION_AHEAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

struct hpcw_sion;

/* What was taken for a task; changed under the lock. */
struct hpcw_i_sion_taken {
    /* Never lowered: storage was taken up to this offset of the file, or is not wanted any more, and nobody takes any
     * before it. In the task's current block or the next one, or behind the one before; 0: none so far. */
    _Atomic(uint64_t) upto;
    uint32_t block; /* that the task has come to */
};

struct hpcw_i_sion_ahead {
    atomic_bool on;    /* more may be taken */
    atomic_bool taken; /* some was */
    pthread_mutex_t lock;
    struct hpcw_i_sion_taken *of; /* [count] */
    uint64_t most;                /* bytes that can be taken and unused at one time; 0: not summed up yet */
};

void hpcw_i_sion_ahead_init(struct hpcw_sion *h);
void hpcw_i_sion_ahead_free(struct hpcw_sion *h);

/* The slots have their size. Fails with HPCW_ENOMEM. */
hpcw_status hpcw_i_sion_ahead_start(struct hpcw_sion *h, hpcw_error *err);

/* What waits in the slot of own task i is about to be written, and more will follow in the same chunk. */
void hpcw_i_sion_ahead_of_piece(struct hpcw_sion *h, uint32_t i);

/* Own task i goes on to its next block, and all of the current one is written. */
void hpcw_i_sion_ahead_of_block(struct hpcw_sion *h, uint32_t i);

/* All is written. */
void hpcw_i_sion_ahead_end(struct hpcw_sion *h);

#endif
