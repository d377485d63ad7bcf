/* SPDX-License-Identifier: BSD-3-Clause */
/* What a container of several processes needs besides its handle. */
#ifndef HPCW_COMPAT_SIONLIB_MPI_PARALLEL_H
#define HPCW_COMPAT_SIONLIB_MPI_PARALLEL_H

#include <mpi.h>

#include "compat/sionlib/handle.h"
#include "compat/sionlib/mode.h"

struct sionlib_parallel {
    char *path;
    struct sionlib_mode mode;
    MPI_Comm all;      /* the caller's */
    int rank, size;    /* in it */
    int files, file;   /* physical files, and that of this process */
    int rank_in_file;  /* place of its task */
    bool by_colour;    /* the caller's communicators divide the processes among files */
    uint32_t colour;   /* lowest rank of the file, if they do */
    int block_size;    /* bytes */
    MPI_Comm of_file;  /* the processes of this one's file; MPI_COMM_NULL: not needed */
    MPI_Comm of_group; /* those of its group, the collector first; MPI_COMM_NULL: not merged */
};

/* With the caller's communicator. NULL: reported. */
struct sionlib_parallel *sionlib_parallel_new(const char *path, const char *mode, MPI_Comm all);

/* Whether all processes have it, and a mode that there is. Otherwise it is freed. Collective. False: reported. */
bool sionlib_parallel_ready(struct sionlib_parallel *p, MPI_Comm all, const char *mode);

/* Frees communicators, so collective. NULL is allowed. */
void sionlib_parallel_free(void *parallel);
void sionlib_parallel_forget_groups(struct sionlib_parallel *p);

/* Whether all processes are well. Collective. */
bool sionlib_parallel_agree(MPI_Comm all, bool well);

/* Sets the block size: `given`, or that of the file system as process 0 sees it if it is none. Collective. */
void sionlib_parallel_block_size(struct sionlib_parallel *p, int given);

/* Divides the processes among `files` files. False: reported. */
bool sionlib_divide_by_number(struct sionlib_parallel *p, int files);

/* Divides them by the caller's communicators. Collective. False: reported. */
bool sionlib_divide_by_comm(struct sionlib_parallel *p, MPI_Comm part);

#endif
