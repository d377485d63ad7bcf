/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "compat/sionlib/parallel.h"

bool sionlib_agree(const struct sionlib_processes *processes, bool well) {
    return processes->reduce(processes->context, well, SIONLIB_LEAST) == 1;
}

/* All have the same mode, so process 0 says what is wrong with it. */
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
