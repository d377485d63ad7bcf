/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/sion/handle/handle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/options.h"
#include "libwriter/base/status.h"
#include "libwriter/io/fsinfo.h"
#include "libwriter/io/sys.h"

#define LARGEST_CHUNK ((uint64_t)INT64_MAX / 4)

void hpcw_sion_options_fill(hpcw_sion_options *options, size_t size) {
    const hpcw_sion_options defaults = {
        .count = 1,
        .chunk_size = 1 << 20,
        .files = 1,
        .buffer_size = 64 << 20,
        .durability = HPCW_SYNC_FILE,
    };
    hpcw_i_options_fill(options, size, &defaults, sizeof defaults);
}

static hpcw_status check_choices(const char *path, const hpcw_sion_options *o, hpcw_error *err) {
    const struct {
        const char *name;
        unsigned value, largest;
    } choice[] = {
        {"layout", o->layout, HPCW_SION_PACKED},   {"content", o->content, HPCW_SION_KEYVAL},
        {"endian", o->endian, HPCW_SION_BIG},      {"data_endian", o->data_endian, HPCW_SION_BIG},
        {"flavour", o->flavour, HPCW_SION_MAPPED}, {"durability", o->durability, HPCW_SYNC_DIRECTORY},
    };
    for (size_t i = 0; i < sizeof choice / sizeof choice[0]; i++) {
        if (choice[i].value > choice[i].largest) {
            return hpcw_i_fail(err, HPCW_EINVAL, "%s: option %s: expected 0 to %u, got %u", path,
                               choice[i].name, choice[i].largest, choice[i].value);
        }
    }
    if (o->flavour == HPCW_SION_SERIAL && o->files != 1) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: option files: expected 1 (the serial flavour has one file), got %u", path,
                           o->files);
    }
    if (o->set_tasks != 0 &&
        (o->files == 0 || o->set_files == 0 || o->set_first_file >= o->files ||
         o->set_files > o->files - o->set_first_file || (o->size_of == NULL && o->all_sizes == NULL))) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "%s: part of a set: expected files inside 0 to files - 1 and sizes of all tasks, got %u files "
            "from %u on of %u",
            path, o->set_files, o->set_first_file, o->files);
    }
    if ((o->file_tasks != NULL || o->global_ranks != NULL) && (o->set_tasks != 0 || o->files == 0)) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "%s: options file_tasks and global_ranks: expected neither colours nor a part of a set", path);
    }
    if (o->fs_block_size > INT32_MAX) {
        return hpcw_i_fail(err, HPCW_ERANGE, "%s: file system block size: expected at most %d, got %u", path,
                           INT32_MAX, o->fs_block_size);
    }
    return HPCW_OK;
}

static hpcw_status check_names(const char *path, const char *name, hpcw_error *err) {
    const char *base = path == NULL ? NULL : hpcw_i_sys_base_of(path);
    if (path == NULL || *base == '\0') {
        return hpcw_i_fail(err, HPCW_EINVAL, "sion: path: expected the path of a file, got \"%s\"",
                           path == NULL ? "NULL" : path);
    }
    if (strlen(base) > HPCW_SION_MAX_NAME) {
        return hpcw_i_fail(err, HPCW_ERANGE, "sion: file name: expected at most %u bytes, got %zu",
                           HPCW_SION_MAX_NAME, strlen(base));
    }
    if (name != NULL && (*name == '\0' || strlen(name) > HPCW_SION_MAX_STORED_NAME)) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: option name: expected 1 to %u bytes, got %zu", path,
                           HPCW_SION_MAX_STORED_NAME, strlen(name));
    }
    return HPCW_OK;
}

static hpcw_status copy_file_tasks(struct hpcw_sion *h, const hpcw_sion_options *o, hpcw_error *err) {
    h->file_first = hpcw_i_malloc(((size_t)o->files + 1) * sizeof *h->file_first);
    if (h->file_first == NULL) {
        return hpcw_i_fail_memory(err, h->path, o->files, "files");
    }
    h->file_first[0] = 0;
    for (uint32_t f = 0; f < o->files; f++) {
        uint32_t end = h->file_first[f] + o->file_tasks[f];
        if (end <= h->file_first[f]) {
            return hpcw_i_fail(
                err, HPCW_EINVAL,
                "%s: option file_tasks: expected 1 task or more in file %u, and fewer than 2^32 in "
                "all, got %u",
                h->path, f, o->file_tasks[f]);
        }
        h->file_first[f + 1] = end;
    }
    return HPCW_OK;
}

struct ranked {
    uint32_t rank, index;
};

static int by_rank(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static hpcw_status copy_global_ranks(struct hpcw_sion *h, const hpcw_sion_options *o, hpcw_error *err) {
    struct ranked *list = hpcw_i_malloc(o->count * sizeof *list);
    h->global = hpcw_i_malloc(o->count * sizeof *h->global);
    h->by_global = hpcw_i_malloc(o->count * sizeof *h->by_global);
    if (list == NULL || h->global == NULL || h->by_global == NULL) {
        hpcw_i_free(list);
        return hpcw_i_fail_memory(err, h->path, o->count, "tasks");
    }
    hpcw_status s = HPCW_OK;
    for (uint32_t i = 0; i < o->count; i++) {
        uint32_t rank = o->global_ranks[i];
        h->global[i] = rank;
        list[i] = (struct ranked){rank, i};
        if (rank > INT32_MAX && s == HPCW_OK) {
            s = hpcw_i_fail(err, HPCW_ERANGE, "%s: global ranks: expected ranks below 2^31, got %u", h->path,
                            rank);
        }
    }
    qsort(list, o->count, sizeof *list, by_rank);
    for (uint32_t i = 0; i < o->count; i++) {
        h->by_global[i] = list[i].index;
    }
    hpcw_i_free(list);
    return s;
}

/* Copies arrays of the caller, and the requested sizes into the tasks. */
static hpcw_status copy_tasks(struct hpcw_sion *h, const hpcw_sion_options *o, hpcw_error *err) {
    h->task = hpcw_i_calloc(o->count, sizeof *h->task);
    if (o->ranks != NULL) {
        h->ranks = hpcw_i_malloc(o->count * sizeof *h->ranks);
    }
    if (o->files > 0) {
        h->placement.file = hpcw_i_calloc(o->files, sizeof *h->placement.file);
    }
    if (h->task == NULL || (o->ranks != NULL && h->ranks == NULL) ||
        (o->files > 0 && h->placement.file == NULL)) {
        return hpcw_i_fail_memory(err, h->path, o->count, "tasks");
    }
    if (o->ranks != NULL) {
        memcpy(h->ranks, o->ranks, o->count * sizeof *h->ranks);
        for (uint32_t i = 1; i < o->count; i++) {
            if (h->ranks[i - 1] >= h->ranks[i]) {
                return hpcw_i_fail(err, HPCW_EINVAL,
                                   "%s: ranks: expected ascending task numbers, got %u after %u", h->path,
                                   h->ranks[i], h->ranks[i - 1]);
            }
        }
    }
    uint64_t sum = 0;
    for (uint32_t i = 0; i < o->count; i++) {
        uint64_t size = o->size_of != NULL || o->all_sizes != NULL ? 0
                        : o->sizes != NULL                         ? o->sizes[i]
                                                                   : o->chunk_size;
        if (size > LARGEST_CHUNK || sum > LARGEST_CHUNK) {
            return hpcw_i_fail(err, HPCW_ERANGE,
                               "%s: chunks: expected at most 2^61 bytes in all, got %" PRIu64
                               " for own task %u",
                               h->path, size, i);
        }
        sum += size;
        h->task[i].chunk = size;
    }
    return HPCW_OK;
}

hpcw_status hpcw_i_sion_prepare(struct hpcw_sion *h, const char *path, const hpcw_sion_options *o,
                                hpcw_error *err) {
    hpcw_status s = check_names(path, o->name, err);
    if (s == HPCW_OK) {
        s = check_choices(path, o, err);
    }
    if (s == HPCW_OK) {
        h->path = hpcw_i_strdup(path);
        h->name = hpcw_i_strdup(o->name != NULL ? o->name : hpcw_i_sys_base_of(path));
        s = h->path == NULL || h->name == NULL ? hpcw_i_fail_memory(err, path, 0, NULL) : HPCW_OK;
    }
    if (s != HPCW_OK) {
        h->options.count = 0; /* the arrays were not copied */
        return s;
    }
    s = copy_tasks(h, o, err);
    if (s == HPCW_OK && o->file_tasks != NULL) {
        s = copy_file_tasks(h, o, err);
    }
    if (s == HPCW_OK && o->global_ranks != NULL) {
        s = copy_global_ranks(h, o, err);
    }
    return s;
}

hpcw_status hpcw_sion_block_size(const char *path, uint32_t *block_size, hpcw_error *err) {
    return path != NULL && block_size != NULL
               ? hpcw_i_fs_block_size(path, block_size, err)
               : hpcw_i_fail(err, HPCW_EINVAL, "sion: expected a path and space for a block size, got NULL");
}
