/* SPDX-License-Identifier: BSD-3-Clause */
/* SIONlib's groups of tasks for collective calls. See doc/formats/sion.md, "Modes of SIONlib". */
#ifndef HPCW_BINDINGS_SIONLIB_HANDLES_GROUP_H
#define HPCW_BINDINGS_SIONLIB_HANDLES_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bindings/sionlib/handles/mode.h"

/* The bytes that a task writes in a collective call. */
struct sionlib_piece {
    const void *data;
    size_t size;
};

struct sionlib_member {
    int64_t chunk;     /* in: requested chunk size of the task, bytes; out: size of its chunk */
    int64_t collector; /* out: the first task of the group of this task */
    int64_t tasks;     /* out: number of tasks of the group */
    /* 1: the task stays in the group of the previous task, because the threads of a process stay together; 0: it
     * need not */
    int64_t follows;
};

/* Length of a struct sionlib_member in messages, words. */
enum { SIONLIB_MEMBER_WORDS = sizeof(struct sionlib_member) / sizeof(int64_t) };

/* Sets the chunks and groups of all tasks of a file. again: sion_parreinit_mpi was called. Threads of a process
 * may then be in different groups, and each task of a merged container gets a chunk of its own. Returns false,
 * without reporting an error, if the chunks are too large. */
bool sionlib_group_tasks(struct sionlib_member *member, int64_t tasks, const struct sionlib_mode *mode,
                         bool again, int64_t block);

#endif
