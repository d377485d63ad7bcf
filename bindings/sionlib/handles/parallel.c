/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "bindings/sionlib/handles/parallel.h"

bool sionlib_agree(const struct sionlib_processes *processes, bool well) {
    return processes->reduce(processes->context, well, SIONLIB_LEAST) == 1;
}

/* Checks the mode. All processes have the same mode, so only process 0 reports an error. */
static bool check_mode(const struct sionlib_parallel *p, const char *mode) {
    bool known = p->mode.write || p->mode.read;
    if (p->processes.rank > 0) {
        return known;
    }
    if (!known) {
        sionlib_report("%s: mode: expected r or w, got \"%s\"", p->path, mode);
    }
    return sionlib_mode_check(&p->mode, p->path) && known;
}

struct sionlib_parallel *sionlib_parallel_new(const char *path, const char *mode,
                                              const struct sionlib_processes *processes) {
    struct sionlib_parallel *p = calloc(1, sizeof *p);
    char *copy = strdup(path);
    bool well = p != NULL && copy != NULL;
    if (well) {
        *p = (struct sionlib_parallel){.path = copy, .processes = *processes, .files = 1};
        sionlib_mode_of(mode, &p->mode);
        well = check_mode(p, mode);
    } else {
        sionlib_report("%s: expected memory for an open container, got none", path);
    }
    well = sionlib_agree(processes, well) && well;
    if (!well) {
        processes->free(processes->context);
        free(p);
        free(copy);
        return NULL;
    }
    return p;
}

void sionlib_parallel_free(struct sionlib_parallel *p) {
    if (p != NULL) {
        p->processes.free(p->processes.context);
        free(p->file_tasks);
        free(p->path);
        free(p);
    }
}

void sionlib_parallel_block_size(struct sionlib_parallel *p, int given) {
    p->block_size = given;
    if (given <= 0) {
        int64_t mine = p->processes.rank > 0 ? 0 : sionlib_block_size(p->path);
        p->block_size = (int)p->processes.reduce(p->processes.context, mine, SIONLIB_MOST);
    }
}

bool sionlib_divide_by_number(struct sionlib_parallel *p, int files) {
    int rank = p->processes.rank;
    int size = p->processes.size;
    if (files > size) {
        sionlib_report("%s: expected at most one file per process, got %d files for %d processes", p->path,
                       files, size);
        return false;
    }
    int each = size / files;
    p->files = files;
    p->file = rank / each < files ? rank / each : files - 1;
    p->rank_in_file = rank - p->file * each;
    return true;
}

void sionlib_group_options(hpcw_sion_options *options) {
    /* sionlib_group_tasks has made the groups, and chunks have their final sizes. For hpcw_sion all tasks are one
     * group, so that only the end of the last chunk is rounded up. */
    options->layout = HPCW_SION_PACKED;
    options->tasks_per_group = HPCW_SION_MAX_TASKS;
}

bool sionlib_count_tasks(const struct sionlib_parallel *p, uint32_t *tasks, int files) {
    bool well = true;
    for (int f = 0; f < files; f++) {
        int64_t all = p->processes.reduce(p->processes.context, tasks[f], SIONLIB_SUM);
        well = well && all > 0 && all <= INT32_MAX;
        tasks[f] = (uint32_t)all;
    }
    if (!well) {
        sionlib_report("%s: expected a task or more, and less than 2^31, in each of %d files, got others",
                       p->path, files);
    }
    return well;
}

bool sionlib_divide_by_place(struct sionlib_parallel *p, bool well, int files, int file, int place, int tasks) {
    const struct sionlib_processes *all = &p->processes;
    int64_t least = all->reduce(all->context, files, SIONLIB_LEAST);
    int64_t most = all->reduce(all->context, files, SIONLIB_MOST);
    bool fits = least == most && files > 0 && files <= all->size && file >= 0 && file < files && place >= 0;
    if (well && !fits) {
        sionlib_report(
            "%s: expected a place in one of 1 to %d files, and as many on all processes, got place %d in "
            "file %d of %d",
            p->path, all->size, place, file, files);
    }
    p->file_tasks = well && fits ? calloc((size_t)files, sizeof *p->file_tasks) : NULL;
    if (!sionlib_agree(all, p->file_tasks != NULL)) {
        return false;
    }
    p->file_tasks[file] = (uint32_t)tasks;
    well = sionlib_count_tasks(p, p->file_tasks, files);
    p->files = files;
    p->file = file;
    p->rank_in_file = place;
    p->number = (uint32_t)(place * tasks);
    for (int f = 0; f < file; f++) {
        p->number += p->file_tasks[f];
    }
    bool renamed = p->number != (uint32_t)(all->rank * tasks);
    p->renamed = all->reduce(all->context, renamed, SIONLIB_MOST) == 1;
    return well;
}
