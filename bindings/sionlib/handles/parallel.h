/* SPDX-License-Identifier: BSD-3-Clause */
/* The parallel part of a handle. The processes are those of MPI, or of a program's callbacks. */
#ifndef HPCW_BINDINGS_SIONLIB_HANDLES_PARALLEL_H
#define HPCW_BINDINGS_SIONLIB_HANDLES_PARALLEL_H

#include "bindings/sionlib/handles/group.h"
#include "bindings/sionlib/handles/handle.h"
#include "bindings/sionlib/handles/mode.h"

enum sionlib_reduction { SIONLIB_LEAST, SIONLIB_MOST, SIONLIB_SUM };

/* The processes that open a container. */
struct sionlib_processes {
    int rank, size;
    void *context; /* first argument of the calls below, which are collective */
    /* Reduces a value. Returns -1 after reporting an error of the communication. */
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
    int rank_in_file; /* index of its task in the file */
    /* [files] tasks of each file; NULL: as sionlib_divide_by_number divides them */
    uint32_t *file_tasks;
    uint32_t number;                   /* number of the first task of this process in hpcw_sion */
    bool renamed;                      /* some tasks have ranks that differ from their numbers */
    bool again;                        /* sion_parreinit_mpi opens the container again */
    int block_size;                    /* bytes */
    const struct sionlib_names *names; /* NULL: SIONlib's names. Must outlive all handles */
    /* Sets chunk and group of the task in a collective container. NULL: no groups. Returns false after reporting
     * an error. */
    bool (*group)(struct sionlib_handle *h, struct sionlib_member *own, hpcw_sion_options *options);
};

/* Makes the parallel part of a handle. It owns `processes`, also on failure. Collective. Returns NULL on all
 * processes after reporting an error: a process has no memory, or the mode is unknown. */
struct sionlib_parallel *sionlib_parallel_new(const char *path, const char *mode,
                                              const struct sionlib_processes *processes);

/* Frees the parallel part. Collective, as it may free communicators. NULL is allowed. */
void sionlib_parallel_free(struct sionlib_parallel *p);

/* Returns whether `well` is true on all processes. Collective. */
bool sionlib_agree(const struct sionlib_processes *processes, bool well);

/* Sets the block size to `given`. If that is none, process 0 asks the file system. Collective. */
void sionlib_parallel_block_size(struct sionlib_parallel *p, int given);

/* Sets the option by which a writer's files get the program's names, if the program gives names. */
void sionlib_parallel_names(struct sionlib_parallel *p, hpcw_sion_options *options);

/* Returns the name of a physical file, from malloc, or NULL without memory. */
char *sionlib_parallel_name(const struct sionlib_parallel *p, int file);

/* Calls hpcw_sion_reader_open for the container, with the program's names of files if it has any. */
hpcw_status sionlib_parallel_reader(const struct sionlib_parallel *p, hpcw_comm *comm, uint32_t count,
                                    const uint32_t *ranks, hpcw_sion_reader **out, hpcw_error *err);

/* Divides the processes among `files` files. Returns false after reporting an error. */
bool sionlib_divide_by_number(struct sionlib_parallel *p, int files);

/* Sets the options for chunks that sionlib_group_tasks has set. */
void sionlib_group_options(hpcw_sion_options *options);

/* Adds up the tasks of each file. `tasks` [files]: in, those of this process; out, those of all. Collective.
 * Returns false after reporting an error. */
bool sionlib_count_tasks(const struct sionlib_parallel *p, uint32_t *tasks, int files);

/* Puts the process into file `file`, at index `place` among its processes. Each process has `tasks` tasks. `well`:
 * whether the caller succeeded so far. Collective. Returns false after reporting an error. */
bool sionlib_divide_by_place(struct sionlib_parallel *p, bool well, int files, int file, int place, int tasks);

/*
 * Opens a container with a task per process. The other arguments and the result are those of sion_paropen_mpi.
 * `well`: to write, the processes are divided among files; to read, always true. The handle owns `p`, also on
 * failure. Collective.
 */
int sionlib_open_each(struct sionlib_parallel *p, bool well, int *files, sion_int64 *chunk,
                      sion_int32 *block_size, FILE **stream, char **name);

/* Does the work of sion_parreinit_mpi. h: NULL if this process has reported an error; it still takes part.
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

/* Opens a container with any number of tasks per process. The arguments are those of sion_paropen_mapped_mpi. As
 * SIONlib, it does not return the block size. */
int sionlib_open_mapped(struct sionlib_parallel *p, int *files, const struct sionlib_mapping *a,
                        sion_int32 block_size, FILE **stream);

#endif
