/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "compat/sionlib/mpi/parallel.h"

struct sionlib_parallel *sionlib_parallel_new(const char *path, const char *mode, MPI_Comm all) {
    struct sionlib_parallel *p = calloc(1, sizeof *p);
    char *copy = strdup(path == NULL ? "" : path);
    if (p == NULL || copy == NULL) {
        sionlib_report("%s: expected memory for an open container, got none", path == NULL ? "sion" : path);
        free(p);
        free(copy);
        return NULL;
    }
    p->path = copy;
    p->all = all;
    p->of_file = MPI_COMM_NULL;
    p->of_group = MPI_COMM_NULL;
    p->files = 1;
    (void)MPI_Comm_rank(all, &p->rank);
    (void)MPI_Comm_size(all, &p->size);
    sionlib_mode_of(mode == NULL ? "" : mode, &p->mode);
    return p;
}

void sionlib_parallel_forget_groups(struct sionlib_parallel *p) {
    if (p->of_group != MPI_COMM_NULL) {
        (void)MPI_Comm_free(&p->of_group);
    }
    if (p->of_file != MPI_COMM_NULL) {
        (void)MPI_Comm_free(&p->of_file);
    }
}

void sionlib_parallel_free(void *parallel) {
    struct sionlib_parallel *p = parallel;
    if (p != NULL) {
        sionlib_parallel_forget_groups(p);
        free(p->path);
        free(p);
    }
}

bool sionlib_parallel_agree(MPI_Comm all, bool well) {
    int mine = well;
    int least;
    (void)MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, all);
    return least != 0;
}

void sionlib_parallel_block_size(struct sionlib_parallel *p, int given) {
    p->block_size = given > 0 || p->rank > 0 ? given : sionlib_block_size(p->path);
    if (given <= 0) {
        (void)MPI_Bcast(&p->block_size, 1, MPI_INT, 0, p->all);
    }
}
