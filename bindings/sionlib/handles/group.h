/* SPDX-License-Identifier: BSD-3-Clause */
/* How SIONlib groups the tasks of a file for collective calls: doc/formats/sion.md, "What the other writer modes leave on
 * disk". */
#ifndef HPCW_BINDINGS_SIONLIB_HANDLES_GROUP_H
#define HPCW_BINDINGS_SIONLIB_HANDLES_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bindings/sionlib/handles/mode.h"

/* What a task writes in a collective call. */
struct sionlib_piece {
    const void *data;
    size_t size;
};

/* A task: what it asks for, then its chunk, bytes. */
struct sionlib_member {
    int64_t chunk;
    int64_t collector; /* out: the first task of its group */
    int64_t tasks;     /* out: how many the group has */
    int64_t follows;   /* it is in the group of the task before: threads stay with their process */
};

/* Words of it, in messages. */
enum { SIONLIB_MEMBER_WORDS = sizeof(struct sionlib_member) / sizeof(int64_t) };

/* Sets the chunks and groups of all tasks of a file. `again`: as sion_parreinit_mpi does, which gives also the tasks of a
 * merged container chunks of their own, and divides threads of a process. False, without a report: the chunks are too
 * large. */
bool sionlib_group_tasks(struct sionlib_member *member, int64_t tasks, const struct sionlib_mode *mode,
                         bool again, int64_t block);

#endif
