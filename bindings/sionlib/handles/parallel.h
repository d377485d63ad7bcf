/* SPDX-License-Identifier: BSD-3-Clause */
/* What a container of several processes needs besides its handle. They are those of MPI, or of a program's callbacks. */
#ifndef HPCW_BINDINGS_SIONLIB_HANDLES_PARALLEL_H
#define HPCW_BINDINGS_SIONLIB_HANDLES_PARALLEL_H

#include "bindings/sionlib/handles/group.h"
#include "bindings/sionlib/handles/handle.h"
#include "bindings/sionlib/handles/mode.h"

enum sionlib_reduction { SIONLIB_LEAST, SIONLIB_MOST, SIONLIB_SUM };

/* The processes of an open. */
struct sionlib_processes {
    int rank, size;
    void *context; /* of the calls, each of which is collective */
    /* -1, reported: the communication failed. */
    int64_t (*reduce)(void *context, int64_t mine, enum sionlib_reduction how);
    hpcw_status (*comm)(void *context, hpcw_comm **out, hpcw_error *err);
    void (*free)(void *context);
};

/* A program's names of physical files. */
struct sionlib_names {
    char *(*of)(const char *path, int file); /* from malloc */
};

struct sionlib_parallel {
    char *path;
    struct sionlib_mode mode;
    struct sionlib_processes processes;
    int files, file;                   /* physical files, and that of this process */
    int rank_in_file;                  /* place of its task */
    uint32_t *file_tasks;              /* [files] tasks of each file; NULL: as sionlib_divide_by_number says */
    uint32_t number;                   /* of hpcw_sion: the first task of this process */
    bool renamed;                      /* the ranks of some tasks are not their numbers */
    bool again;                        /* the container is opened again, by sion_parreinit_mpi */
    int block_size;                    /* bytes */
    const struct sionlib_names *names; /* NULL: SIONlib's. Lives longer than all handles */
    /* Sets the chunk and the group of the task in a collective container; NULL: there are none. False: reported. */
    bool (*group)(struct sionlib_handle *h, struct sionlib_member *own, hpcw_sion_options *options);
};

/* `processes` becomes its own, also on failure. Collective. NULL, on all: reported; a process has no memory, or the mode is
 * none that there is. */
struct sionlib_parallel *sionlib_parallel_new(const char *path, const char *mode,
                                              const struct sionlib_processes *processes);

/* NULL is allowed. May free communicators, so collective. */
void sionlib_parallel_free(struct sionlib_parallel *p);

/* Whether all processes are well. Collective. */
bool sionlib_agree(const struct sionlib_processes *processes, bool well);

/* Sets the block size: `given`, or that of the file system as process 0 sees it if it is none. Collective. */
void sionlib_parallel_block_size(struct sionlib_parallel *p, int given);

/* Lets a writer give its files the program's names, if there are any. */
void sionlib_parallel_names(struct sionlib_parallel *p, hpcw_sion_options *options);

/* The name of a file, from malloc; NULL without memory. */
char *sionlib_parallel_name(const struct sionlib_parallel *p, int file);

/* hpcw_sion_reader_open of the container, by the program's names if there are any. */
hpcw_status sionlib_parallel_reader(const struct sionlib_parallel *p, hpcw_comm *comm, uint32_t count,
                                    const uint32_t *ranks, hpcw_sion_reader **out, hpcw_error *err);

/* Divides the processes among `files` files. False: reported. */
bool sionlib_divide_by_number(struct sionlib_parallel *p, int files);

/* For chunks as sionlib_group_tasks has set them. */
void sionlib_group_options(hpcw_sion_options *options);

/* Adds up the tasks of each file. `tasks`: [files], those of this process in, of all out. Collective. False: reported. */
bool sionlib_count_tasks(const struct sionlib_parallel *p, uint32_t *tasks, int files);

/* Puts the process into a file, after `place` others of it. Each process has `tasks` tasks. `well`: of the caller. Collective.
 * False: reported. */
bool sionlib_divide_by_place(struct sionlib_parallel *p, bool well, int files, int file, int place, int tasks);

/*
 * Opens a container with a task per process. `well`: the processes are divided among files, or it is read. `p` becomes the
 * handle's, also on failure. The arguments of sion_paropen_mpi; the result is its own. Collective.
 */
int sionlib_open_each(struct sionlib_parallel *p, bool well, int *files, sion_int64 *chunk,
                      sion_int32 *block_size, FILE **stream, char **name);

/* sion_parreinit_mpi; `h` may be NULL: reported. Collective. */
int sionlib_reinit(struct sionlib_handle *h, sion_int64 chunk, const char *call);

/* What the caller of an open with any number of tasks per process passes, and gets. */
struct sionlib_mapping {
    int *count;
    int **ranks;
    sion_int64 **chunks;
    int **files;
    int **places;
};

/* Whether an open has what it needs to look at it. False: reported. */
bool sionlib_mapping_check(const struct sionlib_mapping *mapping, const char *path, const char *mode,
                           const int *files, const sion_int32 *block_size);

/* The same for it: the arguments of sion_paropen_mapped_mpi. As SIONlib, it does not return the block
 * size. */
int sionlib_open_mapped(struct sionlib_parallel *p, int *files, const struct sionlib_mapping *a,
                        sion_int32 block_size, FILE **stream);

#endif
