/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that share a container. To write, the master thread opens one writer with a task for each thread. To
 * read, each thread has a reader of its own, because only one thread may use a reader.
 */
#ifndef HPCW_BINDINGS_SIONLIB_OMP_TEAM_H
#define HPCW_BINDINGS_SIONLIB_OMP_TEAM_H

#include <stdatomic.h>

#include "bindings/sionlib/handles/parallel.h"

struct sionlib_team {
    int threads;
    struct sionlib_member *member; /* [threads] */
    uint64_t *chunk;               /* [threads] chunk sizes for the options */
    uint32_t *number, *rank;       /* [threads] task numbers and ranks for the options */
    struct sionlib_piece *record;  /* [threads] records of a collective write to a merged container */
    struct sionlib_handle *master; /* handle of the master thread */
    const char *path;              /* path that was passed to the open */
    struct sionlib_mode mode;
    uint32_t first;        /* rank of the master thread's task */
    uint32_t first_number; /* task number that hpcw_sion has for the master thread's task */
    int files, file;       /* number of physical files, and the file of the team */
    int first_in_file;     /* index of the master thread's task in the file */
    int block_size;
    hpcw_comm *comm; /* communicator of the writer; NULL: one process */
    hpcw_sion *writer;
    atomic_bool failed;
    int closed; /* result of the close */
    /* Opens the writer. Called by the master thread. Returns false after reporting an error. */
    bool (*create)(struct sionlib_team *team);
    /* Writes the records of a merged container. Called by the master thread. Returns false after reporting an
     * error. */
    bool (*merge)(struct sionlib_team *team);
    bool merged; /* result of `merge` */
    /* Returns whether the teams of all processes succeeded. NULL: there is one team. */
    bool (*agree)(struct sionlib_team *team, bool well);
    struct sionlib_parallel *parallel; /* parallel part of the handle; NULL: one process */
};

/* Makes the team of the calling threads. Called by one thread. Returns NULL after reporting an error. */
struct sionlib_team *sionlib_team_new(const char *path, const char *mode);

/* Frees the team. Called by one thread. NULL is allowed. */
void sionlib_team_free(struct sionlib_team *team);

/* Sets the options of the team's writer, except those for processes and groups. */
void sionlib_team_options(struct sionlib_team *team, hpcw_sion_options *options);

/* Opens the container and returns the number of the handle, or -1. All threads call with the same team, which is
 * freed on failure. */
int sionlib_team_open(struct sionlib_team *team, sion_int64 *chunk, sion_int32 *block_size, int *rank,
                      FILE **stream, char **name);

/* Closes the container. Called by all threads. */
int sionlib_team_close(int sid, const char *call);

#endif
