/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How SIONlib groups the tasks of a file for collective calls: doc/formats/sion.md, "What the other writer modes leave on
 * disk". The first process of the file does so for all, as the groups depend on the requests of all.
 */
#include <stdlib.h>

#include "compat/sionlib/mpi/groups.h"

/* A task: what it asks for, then its chunk; the first task of its group. */
struct member {
    int64_t chunk;
    int64_t collector;
};

static int64_t align(int64_t bytes, int64_t block) {
    return (bytes + block - 1) / block * block;
}

/* Most groups of a file when the mode does not say. */
static int64_t usual_groups(int64_t tasks) {
    return tasks >= 512 ? 32 : tasks >= 256 ? 16 : tasks >= 32 ? 8 : tasks >= 16 ? 4 : tasks;
}

/* Bytes up to which a group takes more tasks. */
static int64_t share_of_group(const struct sionlib_parallel *p, const struct member *m, int64_t tasks) {
    int64_t block = p->block_size;
    int64_t all = 0;
    for (int64_t t = 0; t < tasks; t++) {
        all += m[t].chunk;
    }
    int64_t each = p->mode.collector_size;
    int64_t groups = each > 0 ? (tasks + each - 1) / each : usual_groups(tasks);
    int64_t most = (all + block - 1) / block;
    groups = groups < most ? groups : most;
    return align(all / (groups < 1 ? 1 : groups), block);
}

/* Tasks [first, end) are a group of `bytes`. */
static void close_group(const struct sionlib_parallel *p, struct member *m, int64_t first, int64_t end,
                        int64_t bytes) {
    int64_t block = p->block_size;
    int64_t whole = align(bytes, block);
    for (int64_t t = first; t < end; t++) {
        m[t].collector = first;
        if (p->mode.merge) {
            m[t].chunk = t == first ? whole : align(m[t].chunk, block);
        }
    }
    if (!p->mode.merge) {
        m[end - 1].chunk += whole - bytes;
    }
}

static void group_all(const struct sionlib_parallel *p, struct member *m, int64_t tasks) {
    int64_t share = share_of_group(p, m, tasks);
    int64_t first = 0;
    int64_t bytes = m[0].chunk;
    for (int64_t t = 1; t < tasks; t++) {
        if (bytes + m[t].chunk > share) {
            close_group(p, m, first, t, bytes);
            first = t;
            bytes = 0;
        }
        bytes += m[t].chunk;
    }
    close_group(p, m, first, tasks, bytes);
}

bool sionlib_group(struct sionlib_parallel *p, hpcw_sion_options *options) {
    int rank, tasks;
    struct member own = {.chunk = (int64_t)options->chunk_size};
    sionlib_parallel_forget_groups(p);
    (void)MPI_Comm_split(p->all, p->file, p->rank, &p->of_file);
    (void)MPI_Comm_rank(p->of_file, &rank);
    (void)MPI_Comm_size(p->of_file, &tasks);
    struct member *all = rank == 0 ? malloc((size_t)tasks * sizeof *all) : NULL;
    bool well = sionlib_parallel_agree(p->all, rank != 0 || all != NULL);
    if (!well) {
        sionlib_report("%s: expected memory for the groups of %d tasks, got none on a process", p->path, tasks);
        free(all);
        return false;
    }
    (void)MPI_Gather(&own, 2, MPI_INT64_T, all, 2, MPI_INT64_T, 0, p->of_file);
    if (rank == 0) {
        group_all(p, all, tasks);
    }
    (void)MPI_Scatter(all, 2, MPI_INT64_T, &own, 2, MPI_INT64_T, 0, p->of_file);
    free(all);
    /* The chunks are as they are to be: of what hpcw_sion makes one group, nothing but the end is rounded up. */
    options->chunk_size = (uint64_t)own.chunk;
    options->layout = HPCW_SION_PACKED;
    options->tasks_per_group = HPCW_SION_MAX_TASKS;
    if (p->mode.merge) {
        (void)MPI_Comm_split(p->of_file, (int)own.collector, rank, &p->of_group);
    }
    return true;
}
