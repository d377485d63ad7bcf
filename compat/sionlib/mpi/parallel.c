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

bool sionlib_parallel_ready(struct sionlib_parallel *p, MPI_Comm all, const char *mode) {
    bool known = p != NULL && (p->mode.write || p->mode.read);
    if (p != NULL && p->rank == 0) {
        /* All have the same mode, so one says it. */
        if (!known) {
            sionlib_report("%s: mode: expected r or w, got \"%s\"", p->path, mode);
        }
        known = sionlib_mode_check(&p->mode, p->path) && known;
    }
    if (!sionlib_parallel_agree(all, known)) {
        sionlib_parallel_free(p);
        return false;
    }
    return true;
}

bool sionlib_divide_by_number(struct sionlib_parallel *p, int files) {
    if (files > p->size) {
        sionlib_report("%s: expected at most one file per process, got %d files for %d processes", p->path,
                       files, p->size);
        return false;
    }
    int each = p->size / files;
    p->files = files;
    p->file = p->rank / each < files ? p->rank / each : files - 1;
    p->rank_in_file = p->rank - p->file * each;
    return true;
}

bool sionlib_divide_by_comm(struct sionlib_parallel *p, MPI_Comm part) {
    if (part == MPI_COMM_NULL) {
        p->rank_in_file = p->rank;
        return true;
    }
    int rank, highest, first = 0, before = 0;
    (void)MPI_Comm_rank(part, &rank);
    int leads = rank == 0;
    /* A file has its tasks in the order of their ranks. */
    (void)MPI_Scan(&p->rank, &highest, 1, MPI_INT, MPI_MAX, part);
    (void)MPI_Allreduce(&leads, &p->files, 1, MPI_INT, MPI_SUM, p->all);
    (void)MPI_Exscan(&leads, &before, 1, MPI_INT, MPI_SUM, p->all);
    p->file = p->rank == 0 ? 0 : before;
    first = p->rank;
    (void)MPI_Bcast(&p->file, 1, MPI_INT, 0, part);
    (void)MPI_Bcast(&first, 1, MPI_INT, 0, part);
    p->rank_in_file = rank;
    p->by_colour = true;
    p->colour = (uint32_t)first;
    if (highest != p->rank) {
        sionlib_report(
            "%s: expected the processes of a file in the order of their ranks, got rank %d before rank %d",
            p->path, highest, p->rank);
    }
    return highest == p->rank;
}
