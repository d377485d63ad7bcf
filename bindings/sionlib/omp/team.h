/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that have a container together. When they write, the master thread opens one writer with a task for each of them;
 * when they read, each has a reader of its own, as a reader is for one thread.
 */
#ifndef HPCW_BINDINGS_SIONLIB_OMP_TEAM_H
#define HPCW_BINDINGS_SIONLIB_OMP_TEAM_H

#include <stdatomic.h>

#include "bindings/sionlib/handles/parallel.h"

struct sionlib_team {
    int threads;
    struct sionlib_member *member; /* [threads] */
    uint64_t *chunk;               /* [threads] for the options */
    uint32_t *number, *rank;       /* [threads] the same */
    struct sionlib_piece *record;  /* [threads] what they write in a merged container */
    struct sionlib_handle *master; /* handle of the master thread */
    const char *path;              /* of the open */
    struct sionlib_mode mode;
    uint32_t first;        /* rank of the master's task */
    uint32_t first_number; /* and its number of hpcw_sion */
    int files, file;       /* physical files, and that of the team */
    int first_in_file;     /* place of the master's task */
    int block_size;
    hpcw_comm *comm; /* NULL: one process */
    hpcw_sion *writer;
    atomic_bool failed;
    int closed; /* result of the close */
    /* Of the master thread. Opens the writer: reports and returns false. */
    bool (*create)(struct sionlib_team *team);
    /* Of the master thread. Writes the records of a merged container. Reports and returns false. */
    bool (*merge)(struct sionlib_team *team);
    bool merged; /* its result */
    /* Whether the teams of all processes are well; NULL: there is one. */
    bool (*agree)(struct sionlib_team *team, bool well);
    struct sionlib_parallel *parallel; /* of several processes; NULL: one */
};

/* For the calling team: one thread calls. NULL: reported. */
struct sionlib_team *sionlib_team_new(const char *path, const char *mode);

/* NULL is allowed. One thread calls. */
void sionlib_team_free(struct sionlib_team *team);

/* Options of its writer, without those of processes and groups. */
void sionlib_team_options(struct sionlib_team *team, hpcw_sion_options *options);

/* All threads call, with the same team, which is freed on failure. The number of the handle, or -1. */
int sionlib_team_open(struct sionlib_team *team, sion_int64 *chunk, sion_int32 *block_size, int *rank,
                      FILE **stream, char **name);

/* All threads call. */
int sionlib_team_close(int sid, const char *call);

#endif
