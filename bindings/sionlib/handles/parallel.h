/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of a handle for containers that several processes open. The processes communicate by MPI or by a
 * program's callbacks. */
#ifndef HPCW_BINDINGS_SIONLIB_HANDLES_PARALLEL_H
#define HPCW_BINDINGS_SIONLIB_HANDLES_PARALLEL_H

#include "bindings/sionlib/handles/group.h"
#include "bindings/sionlib/handles/handle.h"
#include "bindings/sionlib/handles/mode.h"

enum sionlib_reduction { SIONLIB_LEAST, SIONLIB_MOST, SIONLIB_SUM };

/* The processes that open a container. */
struct sionlib_processes {
    int rank, size;
    void *context; /* first argument of the following functions, which are collective */
    /* Reduces a value over all processes. Returns -1 after reporting a failed communication. */
    int64_t (*reduce)(void *context, int64_t mine, enum sionlib_reduction how);
    hpcw_status (*comm)(void *context, hpcw_comm **out, hpcw_error *err);
    void (*free)(void *context);
};

/* A program's callback for the names of physical files. */
struct sionlib_names {
    char *(*of)(const char *path, int file); /* returns a name from malloc */
};

struct sionlib_parallel {
    char *path;
    struct sionlib_mode mode;
    struct sionlib_processes processes;
    int files, file;  /* number of physical files, and the file of this process */
    int rank_in_file; /* index of this process's first task in the file */
    /* [files] number of tasks of each file; NULL: the division of sionlib_divide_by_number */
    uint32_t *file_tasks;
    uint32_t number; /* task number that hpcw_sion has for the first task of this process */
    bool renamed;    /* true: some task has a rank that differs from its task number */
    bool again;      /* true: sion_parreinit_mpi has restarted the container */
    int block_size;  /* bytes */
    /* callback for file names, which must outlive all handles; NULL: SIONlib's names */
    const struct sionlib_names *names;
    /* Sets chunk and group of this process's task in a container with mode "collective". Returns false after
     * reporting an error. NULL: there are no groups. */
    bool (*group)(struct sionlib_handle *h, struct sionlib_member *own, hpcw_sion_options *options);
};

/* Makes the parallel part of a handle. The function takes ownership of `processes`, also on failure. Collective.
 * Returns NULL on all processes after reporting an error: a process has no memory, or the mode is unknown. */
struct sionlib_parallel *sionlib_parallel_new(const char *path, const char *mode,
                                              const struct sionlib_processes *processes);

/* Frees the parallel part. Collective, as it may free communicators. NULL is allowed. */
void sionlib_parallel_free(struct sionlib_parallel *p);

/* Returns whether `well` is true on all processes. Collective. */
bool sionlib_agree(const struct sionlib_processes *processes, bool well);

/* Sets the block size to `given`. If `given` is 0 or less, process 0 asks the file system. Collective. */
void sionlib_parallel_block_size(struct sionlib_parallel *p, int given);

/* If the program has a callback for file names, sets the option that gives a writer's files these names. */
void sionlib_parallel_names(struct sionlib_parallel *p, hpcw_sion_options *options);

/* Returns the name of a physical file, from malloc, or NULL without memory. */
char *sionlib_parallel_name(const struct sionlib_parallel *p, int file);

/* Opens a reader of the container as hpcw_sion_reader_open does. The program's callback, if any, names the
 * files. */
hpcw_status sionlib_parallel_reader(const struct sionlib_parallel *p, hpcw_comm *comm, uint32_t count,
                                    const uint32_t *ranks, hpcw_sion_reader **out, hpcw_error *err);

/* Divides the processes among `files` files, the same number for each file and the remainder in the last one.
 * Returns false after reporting an error. */
bool sionlib_divide_by_number(struct sionlib_parallel *p, int files);

/* Sets the options of a writer whose groups sionlib_group_tasks has made. */
void sionlib_group_options(hpcw_sion_options *options);

/* Adds up the tasks of each file. tasks [files]: in, count of this process's tasks in each file; out, count of
 * all tasks in each file. Collective. Returns false after reporting an error. */
bool sionlib_count_tasks(const struct sionlib_parallel *p, uint32_t *tasks, int files);

/* Assigns this process to file `file`, as process `place` of the file. Each process has `tasks` tasks. well:
 * whether the caller succeeded so far. Collective. Returns false after reporting an error. */
bool sionlib_divide_by_place(struct sionlib_parallel *p, bool well, int files, int file, int place, int tasks);

/*
 * Opens a container with a task per process. The other arguments and the result are those of sion_paropen_mpi.
 * well: for an open to write, whether the processes have been divided among files; for an open to read, true. The
 * function takes ownership of `p`, also on failure. Collective.
 */
int sionlib_open_each(struct sionlib_parallel *p, bool well, int *files, sion_int64 *chunk,
                      sion_int32 *block_size, FILE **stream, char **name);

/* Does the work of sion_parreinit_mpi. h: NULL if this process has reported an error; the process still takes part.
 * Collective. */
int sionlib_reinit(struct sionlib_handle *h, sion_int64 chunk, const char *call);

/* The caller's arrays in an open with any number of tasks per process. */
struct sionlib_mapping {
    int *count;
    int **ranks;
    sion_int64 **chunks;
    int **files;
    int **places;
};

/* Checks that the pointers which an open needs are not NULL. Returns false after reporting an error. */
bool sionlib_mapping_check(const struct sionlib_mapping *mapping, const char *path, const char *mode,
                           const int *files, const sion_int32 *block_size);

/* Opens a container with any number of tasks per process. The arguments are those of sion_paropen_mapped_mpi. As in
 * SIONlib, the block size is not returned. */
int sionlib_open_mapped(struct sionlib_parallel *p, int *files, const struct sionlib_mapping *a,
                        sion_int32 block_size, FILE **stream);

#endif
