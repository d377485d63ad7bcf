/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a container: options, open, close, free. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/bytes.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/sion/buffer.h"
#include "libwriter/io/fsinfo.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/sys.h"

#define LARGEST_CHUNK ((uint64_t)INT64_MAX / 4)

void hpcw_sion_options_init(hpcw_sion_options *options) {
    *options = (hpcw_sion_options){
        .count = 1,
        .chunk_size = 1 << 20,
        .files = 1,
        .buffer_size = 64 << 20,
        .durability = HPCW_SYNC_FILE,
    };
}

uint32_t hpcw_sion_tasks(const hpcw_sion *h) {
    return h == NULL ? 0 : h->tasks;
}

uint32_t hpcw_sion_first_rank(const hpcw_sion *h) {
    if (h == NULL) {
        return 0;
    }
    return h->options.count == 0 ? h->tasks : hpcw_i_sion_rank(h, 0);
}

/* ------------------------------------------------------------------------------------------------------------------
 *  Arguments
 * ---------------------------------------------------------------------------------------------------------------
 */

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
            return hpcw_i_fail(err, HPCW_EINVAL, "%s: option %s: wanted 0 to %u, got %u", path, choice[i].name,
                               choice[i].largest, choice[i].value);
        }
    }
    if (o->flavour == HPCW_SION_SERIAL && o->files != 1) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: the serial flavour has one file, got files = %u", path,
                           o->files);
    }
    if (o->set_tasks != 0 &&
        (o->files == 0 || o->set_files == 0 || o->set_first_file >= o->files ||
         o->set_files > o->files - o->set_first_file || (o->size_of == NULL && o->all_sizes == NULL))) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "%s: a part of a set: wanted files inside 0 to files - 1 and sizes of all tasks, got %u files "
            "from %u on of %u",
            path, o->set_files, o->set_first_file, o->files);
    }
    if (o->fs_block_size > INT32_MAX) {
        return hpcw_i_fail(err, HPCW_ERANGE, "%s: wanted a file system block size of at most %d, got %u", path,
                           INT32_MAX, o->fs_block_size);
    }
    return HPCW_OK;
}

static hpcw_status check_path(const char *path, hpcw_error *err) {
    const char *slash = path == NULL ? NULL : strrchr(path, '/');
    const char *base = slash == NULL ? path : slash + 1;
    if (path == NULL || *base == '\0') {
        return hpcw_i_fail(err, HPCW_EINVAL, "sion: wanted the path of a file, got \"%s\"",
                           path == NULL ? "NULL" : path);
    }
    if (strlen(base) > HPCW_SION_MAX_NAME) {
        return hpcw_i_fail(err, HPCW_ERANGE, "sion: wanted a file name of at most %u bytes, got %zu",
                           HPCW_SION_MAX_NAME, strlen(base));
    }
    return HPCW_OK;
}

/* Copies what the caller lends for the call only, and the requested sizes into the tasks. */
static hpcw_status copy_tasks(struct hpcw_sion *h, const hpcw_sion_options *o, hpcw_error *err) {
    h->task = hpcw_i_calloc(o->count, sizeof *h->task);
    if (o->ranks != NULL) {
        h->ranks = hpcw_i_malloc(o->count * sizeof *h->ranks);
    }
    if (o->content == HPCW_SION_KEYVAL) {
        h->tail_dropped = hpcw_i_calloc(o->count, sizeof *h->tail_dropped);
    }
    if (o->files > 0) {
        h->place.file = hpcw_i_calloc(o->files, sizeof *h->place.file);
    }
    if (h->task == NULL || (o->ranks != NULL && h->ranks == NULL) || (o->files > 0 && h->place.file == NULL) ||
        (o->content == HPCW_SION_KEYVAL && h->tail_dropped == NULL)) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for %u tasks", h->path, o->count);
    }
    if (o->ranks != NULL) {
        memcpy(h->ranks, o->ranks, o->count * sizeof *h->ranks);
        for (uint32_t i = 1; i < o->count; i++) {
            if (h->ranks[i - 1] >= h->ranks[i]) {
                return hpcw_i_fail(err, HPCW_EINVAL, "%s: wanted ascending task numbers, got %u behind %u",
                                   h->path, h->ranks[i], h->ranks[i - 1]);
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
                               "%s: wanted chunks of at most 2^61 bytes in all, got %llu for own task %u",
                               h->path, (unsigned long long)size, i);
        }
        sum += size;
        h->task[i].chunk = size;
    }
    return HPCW_OK;
}

/* One past the highest task that the processes own together. */
static uint32_t end_of_own_tasks(const struct hpcw_sion *h) {
    const hpcw_sion_options *o = &h->options;
    return o->set_tasks == 0
               ? h->tasks
               : hpcw_sion_first_task_of_file(h->tasks, o->files, o->set_first_file + o->set_files);
}

/* Whether all processes are ready and mean the same. Fills in what one of them says for all. */
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
        {.name = "durability", .number = o->durability, .words = "none file directory"},
        {.name = "set_tasks", .number = o->set_tasks},
        {.name = "set_first_file", .number = o->set_first_file},
        {.name = "set_files", .number = o->set_files},
        {.name = "source of chunk sizes",
         .number = o->size_of != NULL     ? 1
                   : o->all_sizes != NULL ? 2
                                          : 0,
         .words = "own size_of all_sizes"},
    };
    bool first = h->comm->process == 0;
    uint64_t leader = o->count > 0 ? (uint64_t)h->comm->process : UINT64_MAX;
    /* The lowest process with tasks; of process 0 the block size, which only it asks for, and the temporary name. */
    uint64_t word[3] = {leader, h->block_size, first && h->comm->size > 1 ? hpcw_i_sink_fresh_tag() : 0};
    struct hpcw_i_words words = {.mins = 1, .maxs = 2, .word = word};
    s = hpcw_i_agree_same(h->comm, s, h->path, same, sizeof same / sizeof same[0], &words, err);
    if (s == HPCW_OK) {
        h->leader = (int)word[0];
        h->block_size = (uint32_t)word[1];
        h->tag = word[2];
    }
    return s;
}

/* Counts the tasks of all processes, and checks that they make a container. `below`: of the processes below this one. */
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
                           "%s: wanted 1 to %u tasks in all, got %llu", h->path, UINT32_MAX - 1,
                           (unsigned long long)tasks);
    }
    h->tasks = o->set_tasks != 0 ? o->set_tasks : (uint32_t)tasks;
    if (files > h->tasks) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: wanted at most one file per task, got %u files for %u tasks",
                           h->path, files, h->tasks);
    }
    if (o->set_tasks != 0) {
        h->place.first = hpcw_sion_first_task_of_file(h->tasks, files, o->set_first_file);
        uint32_t end = end_of_own_tasks(h);
        if (tasks != end - h->place.first) {
            return hpcw_i_fail(err, HPCW_EMISMATCH,
                               "%s: a part of a set: wanted the %u tasks of its files, got %llu", h->path,
                               end - h->place.first, (unsigned long long)tasks);
        }
    }
    return HPCW_OK;
}

/* Offsets, sizes and counts that the format or its readers hold in too few bits (doc/formats/sion.md, "Rules"). Same
 * result on all processes. */
static hpcw_status check_limits(const struct hpcw_sion *h, hpcw_error *err) {
    for (uint32_t f = 0; f < h->place.files; f++) {
        const struct hpcw_i_sion_file *file = &h->place.file[f];
        if (file->tasks > HPCW_SION_MAX_TASKS) {
            return hpcw_i_fail(err, HPCW_ERANGE, "%s: wanted at most %u tasks per file, got %u in file %u",
                               h->path, HPCW_SION_MAX_TASKS, file->tasks, f);
        }
        hpcw_sion_shape shape;
        hpcw_status s = hpcw_sion_shape_of(file->tasks, h->block_size, file->stride, 1,
                                           hpcw_i_sion_mapping_of(h, f), &shape, err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    return HPCW_OK;
}

/* ------------------------------------------------------------------------------------------------------------------
 *  Open
 * ---------------------------------------------------------------------------------------------------------------
 */

static char *name_of_file(const struct hpcw_sion *h, uint32_t file) {
    size_t size = strlen(h->path) + 16;
    char *name = hpcw_i_malloc(size);
    if (name != NULL && file == 0) {
        memcpy(name, h->path, strlen(h->path) + 1);
    } else if (name != NULL) {
        (void)snprintf(name, size, "%s.%06u", h->path, file);
    }
    return name;
}

static hpcw_status make_sink(const struct hpcw_sion *h, uint32_t file, hpcw_sink **sink, hpcw_error *err) {
    char *name = name_of_file(h, file);
    if (name == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", h->path);
    }
    const hpcw_sink_source *source = &h->options.sink_source;
    hpcw_status s;
    if (source->open != NULL) {
        s = source->open(source->context, name, h->tag, sink, err);
    } else if (h->tag != 0) {
        s = hpcw_sink_open_shared_file(name, h->tag, h->options.durability, sink, err);
    } else {
        s = hpcw_sink_open_file(name, h->options.durability, sink, err);
    }
    hpcw_i_free(name);
    return s;
}

hpcw_status hpcw_i_sion_open_sink(struct hpcw_sion *h, uint32_t file, hpcw_sink **sink, hpcw_error *err) {
    for (uint32_t p = 0; p < h->parts; p++) {
        if (h->part[p].file == file) {
            *sink = h->part[p].sink;
            return HPCW_OK;
        }
    }
    struct hpcw_i_sion_part *grown = hpcw_i_realloc(h->part, (h->parts + 1) * sizeof *grown);
    if (grown == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", h->path);
    }
    h->part = grown;
    h->part[h->parts] = (struct hpcw_i_sion_part){.file = file};
    hpcw_status s = make_sink(h, file, &h->part[h->parts].sink, err);
    if (s == HPCW_OK) {
        *sink = h->part[h->parts++].sink;
    }
    return s;
}

/* Cuts the own tasks into runs of one file each, and makes starts absolute. */
static hpcw_status make_parts(struct hpcw_sion *h, hpcw_error *err) {
    uint32_t count = h->options.count;
    uint32_t parts = 0;
    for (int pass = 0; pass < 2; pass++) {
        uint32_t last = UINT32_MAX;
        parts = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t file = h->options.files == 0 ? h->place.own_file
                            : h->place.files == 1
                                ? 0
                                : hpcw_i_sion_file_of_task(h->tasks, h->place.files, hpcw_i_sion_rank(h, i));
            if (i == 0 || file != last) {
                if (pass == 1) {
                    h->part[parts] = (struct hpcw_i_sion_part){
                        .file = file, .begin = i, .end = i, .stride = h->place.file[file].stride};
                }
                parts++;
                last = file;
            }
            if (pass == 1) {
                h->part[parts - 1].end = i + 1;
                if (h->part_of != NULL) {
                    h->part_of[i] = parts - 1;
                }
                h->task[i].start += hpcw_i_sion_data_start(h->place.file[file].tasks, h->block_size);
            }
        }
        if (pass == 0) {
            h->part = hpcw_i_calloc(parts, sizeof *h->part);
            h->part_of = parts > 1 ? hpcw_i_calloc(count, sizeof *h->part_of) : NULL;
            if (h->part == NULL || (parts > 1 && h->part_of == NULL)) {
                return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for %u files", h->path, parts);
            }
        }
    }
    h->parts = parts;
    for (uint32_t p = 0; p < parts; p++) {
        hpcw_status s = make_sink(h, h->part[p].file, &h->part[p].sink, err);
        if (s != HPCW_OK) {
            return s;
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
    struct hpcw_i_sion_request r = {
        .comm = h->comm,
        .all = *all,
        .below = *below,
        .tasks = h->tasks,
        .end = end_of_own_tasks(h),
        .files = o->files,
        .block_size = h->block_size,
        .per_group = o->tasks_per_group,
        .layout = o->layout,
        .part_of_set = o->set_tasks != 0,
        .size_of = o->size_of,
        .size_context = o->size_context,
        .colour = o->colour,
        .count = o->count,
        .ranks = h->ranks,
        .task = h->task,
    };
    if (o->size_of == NULL && o->all_sizes != NULL) {
        r.size_of = size_from_array;
        /* Read only; the type of a context cannot say so. */
        r.size_context = (void *)(uintptr_t)o->all_sizes;
    }
    hpcw_status s = hpcw_i_sion_place(&r, &h->place, err);
    if (s == HPCW_OK) {
        s = check_limits(h, err);
    }
    if (s != HPCW_OK) {
        hpcw_i_fail_about(err, h->path);
    }
    return s;
}

static void free_handle(struct hpcw_sion *h) {
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
    hpcw_i_free(h->place.file);
    hpcw_i_free(h->place.column);
    hpcw_i_free(h->task);
    hpcw_i_free(h->ranks);
    hpcw_i_free(h->tail_dropped);
    hpcw_i_free(h->path);
    (void)pthread_mutex_destroy(&h->slot_lock);
    (void)pthread_mutex_destroy(&h->failure_lock);
    hpcw_i_free(h);
}

/* Everything that can be told without the other processes. */
static hpcw_status prepare(struct hpcw_sion *h, const char *path, const hpcw_sion_options *o, hpcw_error *err) {
    hpcw_status s = check_path(path, err);
    if (s == HPCW_OK) {
        s = check_choices(path, o, err);
    }
    if (s != HPCW_OK) {
        h->options.count = 0; /* so that nobody looks for its arrays */
        return s;
    }
    h->path = hpcw_i_strdup(path);
    if (h->path == NULL) {
        h->options.count = 0;
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", path);
    }
    s = copy_tasks(h, o, err);
    if (s == HPCW_OK && o->fs_block_size == 0 && h->comm->process == 0) {
        s = hpcw_i_fs_block_size(path, &h->block_size, err);
    }
    return s;
}

hpcw_status hpcw_sion_open(const char *path, hpcw_comm *comm, const hpcw_sion_options *options, hpcw_sion **out,
                           hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    comm = hpcw_i_comm_or_self(comm);
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    if (options != NULL) {
        o = *options;
    }
    hpcw_status s = HPCW_OK;
    struct hpcw_sion *h = hpcw_i_calloc(1, sizeof *h);
    if (h != NULL) {
        (void)pthread_mutex_init(&h->slot_lock, NULL);
        (void)pthread_mutex_init(&h->failure_lock, NULL);
    }
    if (out == NULL || h == NULL) {
        s = out == NULL ? hpcw_i_fail(err, HPCW_EINVAL, "sion: wanted a place for the handle, got NULL")
                        : hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", path == NULL ? "sion" : path);
    }
    /* Without a handle this process still takes part in the first agreement, with an empty one in its place. */
    struct hpcw_sion nobody = {.comm = comm};
    struct hpcw_sion *self = s == HPCW_OK ? h : &nobody;
    self->comm = comm;
    if (s == HPCW_OK) {
        *out = NULL;
        h->options = o;
        h->block_size = o.fs_block_size;
        s = prepare(h, path, &o, err);
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
    s = make_parts(h, err);
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
    if (h != NULL) {
        free_handle(h);
    }
    if (out != NULL) {
        *out = NULL;
    }
    return s;
}

/* ------------------------------------------------------------------------------------------------------------------
 *  Close
 * ---------------------------------------------------------------------------------------------------------------
 */

/* What is known of each file after the data: its blocks, and the processes that have tasks in it. */
struct extent {
    uint64_t *blocks;  /* [files] largest number of any task */
    uint64_t *lowest;  /* [files] */
    uint64_t *highest; /* [files] */
};

static hpcw_status agree_on_extent(struct hpcw_sion *h, hpcw_status s, struct extent *e, hpcw_error *err) {
    uint32_t files = h->place.files;
    /* Minima first, then maxima, as the reduction wants it. */
    uint64_t single[3];
    uint64_t *word = single;
    if (files > 1) {
        word = hpcw_i_malloc(3 * (size_t)files * sizeof *word);
        if (word == NULL && s == HPCW_OK) {
            s = hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for %u files", h->path, files);
        }
        s = hpcw_i_agree(h->comm, s, NULL, err);
        if (s != HPCW_OK) {
            hpcw_i_free(word);
            return s;
        }
    }
    for (uint32_t f = 0; f < files; f++) {
        word[f] = UINT64_MAX;
        word[files + f] = word[2 * (size_t)files + f] = 0;
    }
    for (uint32_t p = 0; p < h->parts; p++) {
        uint64_t blocks = 0;
        for (uint32_t i = h->part[p].begin; i < h->part[p].end; i++) {
            blocks = h->task[i].block + (uint64_t)1 > blocks ? h->task[i].block + (uint64_t)1 : blocks;
        }
        word[h->part[p].file] = word[files + h->part[p].file] = (uint64_t)h->comm->process;
        word[2 * (size_t)files + h->part[p].file] = blocks;
    }
    struct hpcw_i_words words = {.mins = files, .maxs = 2 * files, .word = word};
    s = files == 1 ? hpcw_i_agree(h->comm, s, &words, err) : hpcw_i_comm_allreduce(h->comm, &words, err);
    if (s == HPCW_OK) {
        memcpy(e->lowest, word, files * sizeof *word);
        memcpy(e->highest, word + files, files * sizeof *word);
        memcpy(e->blocks, word + 2 * (size_t)files, files * sizeof *word);
    }
    if (word != single) {
        hpcw_i_free(word);
    }
    return s;
}

hpcw_status hpcw_i_sion_check_blocks(const struct hpcw_sion *h, const uint64_t *blocks, hpcw_error *err) {
    for (uint32_t f = 0; f < h->place.files; f++) {
        const struct hpcw_i_sion_file *file = &h->place.file[f];
        uint64_t mapping = hpcw_i_sion_mapping_of(h, f);
        if (blocks[f] == 0) {
            continue; /* another run's file */
        }
        /* doc/formats/sion.md#sion-26 */
        if (mapping != UINT64_MAX && mapping > 0 && blocks[f] * file->tasks > INT32_MAX) {
            return hpcw_i_fail(
                err, HPCW_ERANGE,
                "%s: SIONlib finds the mapping behind at most 2^31 - 1 table entries, got %u tasks with up "
                "to %llu blocks",
                h->path, file->tasks, (unsigned long long)blocks[f]);
        }
        hpcw_sion_shape shape;
        hpcw_status s = hpcw_sion_shape_of(file->tasks, h->block_size, file->stride, (uint32_t)blocks[f],
                                           mapping, &shape, err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    return HPCW_OK;
}

/* The process that owns a file's first task leads the file: it writes the head, commits and names it. */
static bool leads(const struct hpcw_sion *h, const struct hpcw_i_sion_part *part) {
    return part->begin < part->end && hpcw_i_sion_column(h, part->begin) == 0;
}

static hpcw_status shape_of_part(const struct hpcw_sion *h, const struct hpcw_i_sion_part *part,
                                 const struct extent *e, hpcw_sion_shape *shape, hpcw_error *err) {
    const struct hpcw_i_sion_file *file = &h->place.file[part->file];
    return hpcw_sion_shape_of(file->tasks, h->block_size, file->stride, (uint32_t)e->blocks[part->file],
                              hpcw_i_sion_mapping_of(h, part->file), shape, err);
}

static hpcw_status write_head(struct hpcw_sion *h, const struct hpcw_i_sion_part *part, const struct extent *e,
                              hpcw_error *err) {
    unsigned char head[HPCW_I_SION_TABLES_AT];
    hpcw_sion_shape shape;
    hpcw_status s = shape_of_part(h, part, e, &shape, err);
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_i_sion_encode_head(h, part->file, head);
    s = hpcw_sink_write_at(part->sink, 0, head, sizeof head, err);
    uint64_t mapping = hpcw_i_sion_mapping_of(h, part->file);
    if (s == HPCW_OK && mapping != UINT64_MAX) {
        unsigned char entries[4];
        hpcw_i_put_u32(entries, (uint32_t)mapping, h->options.endian == HPCW_SION_BIG);
        s = hpcw_sink_write_at(part->sink, shape.file_size - 4 - 8 * mapping, entries, sizeof entries, err);
    }
    return s == HPCW_OK ? hpcw_sink_set_size(part->sink, shape.file_size, err) : s;
}

static hpcw_status commit(struct hpcw_sion *h, const struct hpcw_i_sion_part *part, const struct extent *e,
                          hpcw_error *err) {
    hpcw_sion_shape shape;
    hpcw_status s = shape_of_part(h, part, e, &shape, err);
    if (s != HPCW_OK) {
        return s;
    }
    unsigned char mark[HPCW_I_SION_COMMIT_SIZE];
    hpcw_i_sion_encode_commit(h, e->blocks[part->file], shape.meta2_start, mark);
    return hpcw_sink_write_at(part->sink, hpcw_i_sion_commit_at(h->place.file[part->file].tasks), mark,
                              sizeof mark, err);
}

/* Heads by the leaders; everybody else is done with its files, and late errors of its writes show now. */
static hpcw_status finish_parts(struct hpcw_sion *h, const struct extent *e, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t p = 0; s == HPCW_OK && p < h->parts; p++) {
        s = leads(h, &h->part[p]) ? write_head(h, &h->part[p], e, err) : hpcw_sink_detach(h->part[p].sink, err);
    }
    return s;
}

static hpcw_status publish_parts(struct hpcw_sion *h, const struct extent *e, bool base, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t p = 0; s == HPCW_OK && p < h->parts; p++) {
        if (leads(h, &h->part[p]) && (h->part[p].file == 0) == base) {
            s = commit(h, &h->part[p], e, err);
            if (s == HPCW_OK) {
                s = hpcw_sink_publish(h->part[p].sink, err);
            }
        }
    }
    return s;
}

/* The base file last. Once it has its name the container is complete, whatever becomes of the directory. */
static hpcw_status publish_base(struct hpcw_sion *h, const struct extent *e, hpcw_error *err) {
    hpcw_status mine = publish_parts(h, e, true, err);
    bool named = mine == HPCW_OK || h->part[0].sink->named;
    hpcw_status s = hpcw_i_agree(h->comm, named ? HPCW_OK : mine, NULL, err);
    if (s == HPCW_OK && h->options.durability >= HPCW_SYNC_DIRECTORY) {
        h->named = true;
        s = hpcw_i_agree(h->comm, mine, NULL, err);
    }
    return s;
}

/* Takes the name away from an older base file, so that no moment shows old and new members of a set together.
 */
static hpcw_status retire_old_base(struct hpcw_sion *h, hpcw_error *err) {
    bool lead_base = h->parts > 0 && h->part[0].file == 0 && leads(h, &h->part[0]);
    if (!lead_base || h->options.sink_source.open != NULL) {
        return HPCW_OK;
    }
    int e = hpcw_i_sys_unlink(h->path);
    return e == 0 || hpcw_i_status_of_errno(e) == HPCW_ENOENT
               ? HPCW_OK
               : hpcw_i_fail_sys(err, e, "%s: cannot remove the older file of this name", h->path);
}

/* Sinks that were detached before it turned out that they are needed for the metadata. */
static hpcw_status reopen_parts(struct hpcw_sion *h, hpcw_error *err) {
    for (uint32_t p = 0; p < h->parts; p++) {
        if (h->part[p].sink->finished) {
            hpcw_sink *sink;
            hpcw_status s = make_sink(h, h->part[p].file, &sink, err);
            if (s != HPCW_OK) {
                return s;
            }
            hpcw_sink_free(h->part[p].sink);
            h->part[p].sink = sink;
        }
    }
    return HPCW_OK;
}

static hpcw_status close_handle(struct hpcw_sion *h, struct extent *e, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    if (atomic_load(&h->broken)) {
        *err = h->failure;
        s = h->failure.code;
    } else {
        s = hpcw_i_sion_flush_all(h, err);
    }
    if (hpcw_i_sion_has_leader(h)) {
        bool large = false;
        s = hpcw_i_sion_gather_meta(h, s, &large, err);
        if (!large) {
            return s;
        }
        s = reopen_parts(h, err);
    }
    s = agree_on_extent(h, s, e, err);
    if (s == HPCW_OK) {
        s = hpcw_i_sion_check_blocks(h, e->blocks, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    bool agreed;
    s = hpcw_i_sion_write_meta(h, e->blocks, e->lowest, e->highest, &agreed, err);
    if (agreed) {
        return s; /* a second agreement would name another process */
    }
    if (s == HPCW_OK) {
        s = finish_parts(h, e, err);
    }
    s = hpcw_i_agree(h->comm, s, NULL, err);
    if (s == HPCW_OK && h->place.files > 1) {
        s = hpcw_i_agree(h->comm, retire_old_base(h, err), NULL, err);
        if (s == HPCW_OK) {
            s = hpcw_i_agree(h->comm, publish_parts(h, e, false, err), NULL, err);
        }
    }
    if (s == HPCW_OK) {
        s = publish_base(h, e, err);
    }
    return s;
}

hpcw_status hpcw_sion_close(hpcw_sion *h, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    if (h == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "sion: wanted an open container, got NULL");
    }
    if (h->closed) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: the container is closed", h->path);
    }
    h->closed = true;
    atomic_store(&h->quick, 0); /* every write is looked at, and refused */
    uint64_t single[3];
    struct extent e = {single, single + 1, single + 2};
    uint64_t *word = NULL;
    hpcw_status s = HPCW_OK;
    if (h->place.files > 1) {
        uint32_t files = h->place.files;
        word = hpcw_i_malloc(3 * (size_t)files * sizeof *word);
        s = word == NULL ? hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for %u files", h->path, files)
                         : HPCW_OK;
        s = hpcw_i_agree(h->comm, s, NULL, err);
        e = (struct extent){word, word + files, word + 2 * (size_t)files};
    }
    if (s == HPCW_OK) {
        s = close_handle(h, &e, err);
    }
    hpcw_i_free(word);
    if (s != HPCW_OK) {
        hpcw_i_fail_about(err, h->path);
        for (uint32_t p = 0; p < h->parts; p++) {
            hpcw_sink_discard(h->part[p].sink);
            if (h->place.files > 1 && !h->named) { /* members that were named before another failed */
                hpcw_i_sink_withdraw(h->part[p].sink);
            }
        }
    }
    return s;
}

void hpcw_sion_free(hpcw_sion *h) {
    if (h != NULL) {
        free_handle(h);
    }
}
