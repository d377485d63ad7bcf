/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and frees containers. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "libwriter/base/hash.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/options.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/sion/data/buffer.h"
#include "libwriter/format/sion/meta/meta.h"
#include "libwriter/io/fsinfo.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/sink_set.h"
#include "libwriter/io/sys.h"

uint32_t hpcw_sion_tasks(const hpcw_sion *h) {
    return h == NULL ? 0 : h->tasks;
}

uint32_t hpcw_sion_first_rank(const hpcw_sion *h) {
    if (h == NULL) {
        return 0;
    }
    return h->options.count == 0 ? h->tasks : hpcw_i_sion_rank(h, 0);
}

/* Returns one past the highest task that the processes own together. */
static uint32_t end_of_own_tasks(const struct hpcw_sion *h) {
    const hpcw_sion_options *o = &h->options;
    return o->set_tasks == 0 ? h->tasks
                             : hpcw_i_sion_first_task(&h->division, o->set_first_file + o->set_files);
}

/* Checks that all processes are ready and have the same options. Fills in values that one process determines for
 * all. */
static hpcw_status agree_on_options(struct hpcw_sion *h, hpcw_status s, hpcw_error *err) {
    const hpcw_sion_options *o = &h->options;
    const struct hpcw_i_same same[] = {
        {.name = "path", .text = h->path},
        {.name = "layout", .number = o->layout, .words = "aligned packed"},
        {.name = "tasks_per_group", .number = o->tasks_per_group},
        {.name = "content", .number = o->content, .words = "records stream keyval"},
        {.name = "endian", .number = o->endian, .words = "little big"},
        {.name = "data_endian", .number = o->data_endian, .words = "little big"},
        {.name = "flavour", .number = o->flavour, .words = "parallel serial mapped"},
        {.name = "fs_block_size", .number = o->fs_block_size},
        {.name = "files", .number = o->files},
        {.name = "tasks_per_file", .number = o->tasks_per_file},
        {.name = "name", .text = h->name},
        {.name = "file_tasks", .number = h->file_first == NULL ? 0 : h->file_first[o->files]},
        {.name = "global_ranks", .number = o->global_ranks != NULL, .words = "none list"},
        {.name = "mark_unused", .number = o->mark_unused, .words = "no yes"},
        {.name = "durability", .number = o->durability, .words = "none file directory"},
        {.name = "set_tasks", .number = o->set_tasks},
        {.name = "set_first_file", .number = o->set_first_file},
        {.name = "set_files", .number = o->set_files},
        {.name = "instead_of", .number = o->instead_of != NULL, .words = "none another"},
        {.name = "source of chunk sizes",
         .number = o->size_of != NULL     ? 1
                   : o->all_sizes != NULL ? 2
                                          : 0,
         .words = "own size_of all_sizes"},
    };
    bool first = h->comm->process == 0;
    uint64_t leader = o->count > 0 ? (uint64_t)h->comm->process : UINT64_MAX;
    uint64_t host = hpcw_i_sys_host();
    /*
     * Words that are reduced over all processes.
     * Minima: lowest process with tasks; number of the host.
     * Maxima: block size, for which only process 0 asks; random part of the temporary names, which process 0
     * draws; number of the host.
     */
    uint64_t word[5] = {leader, host, h->block_size, first ? hpcw_i_sink_random() : 0, host};
    struct hpcw_i_words words = {.mins = 2, .maxs = 3, .word = word};
    s = hpcw_i_agree_same(h->comm, s, h->path, same, sizeof same / sizeof same[0], &words, err);
    if (s == HPCW_OK) {
        h->leader = (int)word[0];
        h->block_size = (uint32_t)word[2];
        h->tag = h->comm->size > 1 ? hpcw_i_sink_tag(word[3], word[1], word[4]) : 0;
    }
    return s;
}

/* Counts the tasks of all processes, and checks that they make a container. `below` is the census of the processes
 * below. */
static hpcw_status agree_on_arguments(struct hpcw_sion *h, hpcw_status s, struct hpcw_i_sion_census *census,
                                      struct hpcw_i_sion_census *below, hpcw_error *err) {
    const hpcw_sion_options *o = &h->options;
    s = agree_on_options(h, s, err);
    if (s != HPCW_OK) {
        return s;
    }
    *census =
        hpcw_i_sion_census_of(o->count, h->ranks, h->task, o->layout == HPCW_SION_ALIGNED ? h->block_size : 1);
    s = hpcw_i_sion_census_take(h->comm, census, below, err);
    if (s != HPCW_OK) {
        return s;
    }
    uint64_t tasks = census->tasks;
    uint32_t files = o->files == 0 ? 1 : o->files;
    if (tasks == 0 || tasks > UINT32_MAX - 1) {
        return hpcw_i_fail(err, tasks == 0 ? HPCW_EINVAL : HPCW_ERANGE,
                           "%s: expected 1 to %u tasks in all, got %" PRIu64, h->path, UINT32_MAX - 1, tasks);
    }
    h->tasks = o->set_tasks != 0 ? o->set_tasks : (uint32_t)tasks;
    if (files > h->tasks) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: expected at most one file per task, got %u files for %u tasks", h->path, files,
                           h->tasks);
    }
    h->division = (struct hpcw_i_sion_division){
        h->tasks, files, files > 1 && o->tasks_per_file != 0 ? o->tasks_per_file : h->tasks / files,
        h->file_first};
    if (h->file_first != NULL && h->file_first[files] != h->tasks) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: option file_tasks: expected as many tasks as the processes own, %u, got %u",
                           h->path, h->tasks, h->file_first[files]);
    }
    if (h->file_first == NULL && (uint64_t)h->division.each * (files - 1) >= h->tasks) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "%s: option tasks_per_file: expected a task for each of the %u files, got %u tasks with "
            "%u in a file",
            h->path, files, h->tasks, h->division.each);
    }
    if (o->set_tasks != 0) {
        h->placement.first = hpcw_i_sion_first_task(&h->division, o->set_first_file);
        uint32_t end = end_of_own_tasks(h);
        if (tasks != end - h->placement.first) {
            return hpcw_i_fail(err, HPCW_EMISMATCH,
                               "%s: a part of a set: expected the %u tasks of its files, got %" PRIu64, h->path,
                               end - h->placement.first, tasks);
        }
    }
    return HPCW_OK;
}

static uint64_t size_from_array(void *context, uint32_t rank) {
    return ((const uint64_t *)context)[rank];
}

static hpcw_status place_tasks(struct hpcw_sion *h, const hpcw_sion_options *o,
                               const struct hpcw_i_sion_census *all, const struct hpcw_i_sion_census *below,
                               hpcw_error *err) {
    hpcw_sion_options options = *o;
    if (o->size_of == NULL && o->all_sizes != NULL) {
        options.size_of = size_from_array;
        /* The array is only read, though the type of a context is not const. */
        options.size_context = (void *)(uintptr_t)o->all_sizes;
    }
    bool has_mapping =
        o->files > 1 || o->flavour == HPCW_SION_MAPPED; /* a mapping has an entry for each rank */
    struct hpcw_i_sion_request r = {
        .comm = h->comm,
        .all = *all,
        .below = *below,
        .division = h->division,
        .end = end_of_own_tasks(h),
        .block_size = h->block_size,
        .options = &options,
        .count = o->count,
        .ranks = h->ranks,
        .task = h->task,
        .global = has_mapping ? h->global : NULL,
        .by_global = h->by_global,
    };
    hpcw_status s = hpcw_i_sion_placement_make(&r, &h->placement, err);
    if (s == HPCW_OK) {
        s = hpcw_i_sion_check_limits(h, NULL, err);
    }
    if (s != HPCW_OK) {
        hpcw_i_fail_about(err, h->path);
    }
    return s;
}

void hpcw_sion_free(hpcw_sion *h) {
    if (h == NULL) {
        return;
    }
    for (uint32_t p = 0; p < h->parts; p++) {
        hpcw_sink_discard(h->part[p].sink);
        hpcw_sink_free(h->part[p].sink);
    }
    for (uint32_t i = 0; h->task != NULL && i < h->options.count; i++) {
        hpcw_i_free(h->task[i].earlier);
    }
    hpcw_i_sion_buffers_free(h);
    hpcw_i_free(h->part);
    hpcw_i_free(h->part_of);
    hpcw_i_free(h->placement.file);
    hpcw_i_free(h->placement.column);
    hpcw_i_free(h->task);
    hpcw_i_free(h->ranks);
    hpcw_i_free(h->file_first);
    hpcw_i_free(h->global);
    hpcw_i_free(h->by_global);
    hpcw_i_dir_release(h->dir);
    hpcw_i_free(h->path);
    hpcw_i_free(h->name);
    (void)pthread_mutex_destroy(&h->slots.lock);
    (void)pthread_mutex_destroy(&h->failure_lock);
    hpcw_i_free(h);
}

/* Opens and holds the directory of the path. If a writer died there while it named the files of a set, process 0
 * finishes this work. */
static hpcw_status find_directory(struct hpcw_sion *h, hpcw_error *err) {
    const hpcw_sion *other = h->options.instead_of;
    int e = 0;
    if (other != NULL && other->dir != NULL) {
        h->dir = hpcw_i_dir_again(other->dir);
    } else if (h->options.sink_source.open == NULL) {
        e = hpcw_i_dir_hold_of(h->path, &h->dir);
    }
    if (h->dir == NULL) { /* if the directory is missing, the file's create fails later and reports it */
        return e == 0 || e == ENOENT || e == ENOTDIR
                   ? HPCW_OK
                   : hpcw_i_fail_sys(err, e, "%s: cannot open its directory", h->path);
    }
    return h->comm->process == 0 ? hpcw_i_set_finish(h->dir, h->path, err) : HPCW_OK;
}

/* Asks for the block size of the held directory, as its path may lead elsewhere by now. */
static hpcw_status ask_block_size(struct hpcw_sion *h, hpcw_error *err) {
    int at = AT_FDCWD;
    int e = h->dir == NULL ? 0 : hpcw_i_dir_fd(h->dir, &at);
    return e == 0 ? hpcw_i_fs_block_size_at(at, h->path, &h->block_size, err)
                  : hpcw_i_fail_sys(err, e, "%s: cannot ask its directory for its block size", h->path);
}

hpcw_status hpcw_sion_open(const char *path, hpcw_comm *comm, const hpcw_sion_options *options, hpcw_sion **out,
                           hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    comm = hpcw_i_comm_or_self(comm);
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    hpcw_status s =
        options == NULL ? HPCW_OK : hpcw_i_options_take(&o, sizeof o, options, "hpcw_sion_options", err);
    struct hpcw_sion *h = hpcw_i_calloc(1, sizeof *h);
    if (h != NULL) {
        (void)pthread_mutex_init(&h->slots.lock, NULL);
        (void)pthread_mutex_init(&h->failure_lock, NULL);
    }
    if (s == HPCW_OK && (out == NULL || h == NULL)) {
        s = out == NULL ? hpcw_i_fail(err, HPCW_EINVAL, "sion: handle: expected a pointer, got NULL")
                        : hpcw_i_fail_memory(err, path == NULL ? "sion" : path, 0, NULL);
    }
    /* A process without a handle still takes part in the first agreement, with an empty handle. */
    struct hpcw_sion nobody = {.comm = comm};
    struct hpcw_sion *self = s == HPCW_OK ? h : &nobody;
    self->comm = comm;
    if (s == HPCW_OK) {
        *out = NULL;
        h->options = o;
        h->block_size = o.fs_block_size;
        s = hpcw_i_sion_prepare(h, path, &o, err);
    }
    if (s == HPCW_OK) {
        s = find_directory(h, err);
    }
    if (s == HPCW_OK && o.fs_block_size == 0 && comm->process == 0) {
        s = ask_block_size(h, err);
    }
    struct hpcw_i_sion_census all;
    struct hpcw_i_sion_census below;
    s = agree_on_arguments(self, s, &all, &below, err);
    if (s != HPCW_OK) {
        goto fail;
    }
    s = place_tasks(h, &o, &all, &below, err);
    if (s != HPCW_OK) {
        goto fail;
    }
    s = hpcw_i_agree(comm, hpcw_i_sion_files_create(h, err), NULL, err);
    if (s != HPCW_OK) {
        goto fail;
    }
    s = hpcw_i_sion_files_join(h, err);
    if (s == HPCW_OK) {
        s = hpcw_i_sion_buffers_new(h, err);
    }
    s = hpcw_i_agree(comm, s, NULL, err);
    if (s != HPCW_OK) {
        goto fail;
    }
    *out = h;
    return HPCW_OK;
fail:
    hpcw_sion_free(h);
    if (out != NULL) {
        *out = NULL;
    }
    return s;
}
