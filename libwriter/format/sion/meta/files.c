/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/sion/meta/meta.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"

char *hpcw_i_sion_path_of_file(const struct hpcw_sion *h, uint32_t file) {
    size_t size = strlen(h->path) + 16;
    char *name = file == 0 ? hpcw_i_strdup(h->path) : hpcw_i_malloc(size);
    if (name != NULL && file > 0) {
        (void)snprintf(name, size, "%s.%06u", h->path, file);
    }
    return name;
}

static hpcw_status make_sink(const struct hpcw_sion *h, uint32_t file, bool creates, hpcw_sink **sink,
                             hpcw_error *err) {
    char *name = hpcw_i_sion_path_of_file(h, file);
    if (name == NULL) {
        return hpcw_i_fail_memory(err, h->path, 0, NULL);
    }
    hpcw_status s = hpcw_i_sink_open_member(&h->options.sink_source, h->dir, name, file == 0 ? NULL : h->path,
                                            h->tag, creates, h->options.durability, sink, err);
    hpcw_i_free(name);
    return s;
}

hpcw_status hpcw_i_sion_sink_of_file(struct hpcw_sion *h, uint32_t file, hpcw_sink **sink, hpcw_error *err) {
    for (uint32_t p = 0; p < h->parts; p++) {
        if (h->part[p].file == file) {
            *sink = h->part[p].sink;
            return HPCW_OK;
        }
    }
    struct hpcw_i_sion_part *grown = hpcw_i_realloc(h->part, (h->parts + 1) * sizeof *grown);
    if (grown == NULL) {
        return hpcw_i_fail_memory(err, h->path, 0, NULL);
    }
    h->part = grown;
    h->part[h->parts] = (struct hpcw_i_sion_part){.file = file};
    hpcw_status s = make_sink(h, file, false, &h->part[h->parts].sink, err);
    if (s == HPCW_OK) {
        *sink = h->part[h->parts++].sink;
    }
    return s;
}

static uint32_t file_of(const struct hpcw_sion *h, uint32_t i) {
    uint32_t files = h->placement.files;
    return h->options.files == 0 ? h->placement.own_file
           : files == 1          ? 0
                                 : hpcw_i_sion_file_of_task(&h->division, hpcw_i_sion_rank(h, i));
}

static hpcw_status make_parts(struct hpcw_sion *h, hpcw_error *err) {
    uint32_t count = h->options.count;
    uint32_t parts = 0;
    for (uint32_t i = 0; i < count; i++) {
        parts += i == 0 || file_of(h, i) != file_of(h, i - 1);
    }
    h->part = hpcw_i_calloc(parts, sizeof *h->part);
    h->part_of = parts > 1 ? hpcw_i_calloc(count, sizeof *h->part_of) : NULL;
    if (h->part == NULL || (parts > 1 && h->part_of == NULL)) {
        return hpcw_i_fail_memory(err, h->path, parts, "files");
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t file = file_of(h, i);
        if (i == 0 || file != h->part[h->parts - 1].file) {
            h->part[h->parts++] = (struct hpcw_i_sion_part){
                .file = file, .begin = i, .end = i, .stride = h->placement.file[file].stride};
        }
        h->part[h->parts - 1].end = i + 1;
        if (h->part_of != NULL) {
            h->part_of[i] = h->parts - 1;
        }
        h->task[i].start += hpcw_i_sion_data_start(h->placement.file[file].tasks, h->block_size);
    }
    return HPCW_OK;
}

static hpcw_status open_parts(struct hpcw_sion *h, bool creates, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t p = 0; s == HPCW_OK && p < h->parts; p++) {
        if (hpcw_i_sion_leads(h, &h->part[p]) == creates) {
            s = make_sink(h, h->part[p].file, creates, &h->part[p].sink, err);
        }
    }
    return s;
}

/* Removes files that a dead writer of a larger set left, from the first number after this set to the first number
 * without a file. */
static void clear_further_files(const struct hpcw_sion *h) {
    char name[HPCW_SION_MAX_NAME + 16];
    bool any = h->dir != NULL && h->parts > 0 && h->part[0].file == 0 && hpcw_i_sion_leads(h, &h->part[0]) &&
               h->options.set_tasks == 0;
    for (uint32_t f = h->placement.files; any; f++) {
        (void)snprintf(name, sizeof name, "%s.%06u", hpcw_i_sys_base_of(h->path), f);
        any = hpcw_i_sink_clear(h->dir, name);
    }
}

/* Refuses a set whose name is a symbolic link to a place with other files of a set. The new first file would
 * replace the target of the link, but the other files would be beside the link. Together they would be a mixture
 * of two containers. */
static hpcw_status refuse_mixture(const struct hpcw_sion *h, hpcw_error *err) {
    struct hpcw_i_dir *dir = NULL;
    struct hpcw_i_entry entry = {.kind = HPCW_I_NOTHING};
    char *base = NULL, name[NAME_MAX + 16] = "";
    int at;
    if (h->placement.files == 1 || h->dir == NULL || h->parts == 0 || h->part[0].file != 0) {
        return HPCW_OK;
    }
    const char *own = hpcw_i_sys_base_of(h->path);
    int e = hpcw_i_dir_follow(h->dir, own, &dir, &base);
    if (e == 0 && (dir != h->dir || strcmp(base, own) != 0)) {
        (void)snprintf(name, sizeof name, "%s.%06u", base, 1U);
        e = hpcw_i_dir_fd(dir, &at);
        e = e == 0 ? hpcw_i_sys_look_at(at, name, &entry) : e;
    }
    hpcw_i_dir_release(dir);
    hpcw_i_free(base);
    return e == ENAMETOOLONG || e == 0
               ? entry.kind == HPCW_I_NOTHING
                     ? HPCW_OK
                     : hpcw_i_fail(
                           err, HPCW_EEXIST,
                           "%s: expected a symbolic link to a container of one file, got one to a set, with "
                           "%s beside it: use the path of the set itself",
                           h->path, name)
               : hpcw_i_fail_sys(err, e, "%s: cannot look for the files beside it", h->path);
}

hpcw_status hpcw_i_sion_files_create(struct hpcw_sion *h, hpcw_error *err) {
    hpcw_status s = make_parts(h, err);
    s = s == HPCW_OK ? refuse_mixture(h, err) : s;
    s = s == HPCW_OK ? open_parts(h, true, err) : s;
    if (s == HPCW_OK) {
        clear_further_files(h);
    }
    return s;
}

/* Checks that a process that leads only other files sees the first file, too: all files of a set must be in one
 * directory. */
static hpcw_status look_for_base(const struct hpcw_sion *h, hpcw_error *err) {
    uint32_t base = h->options.set_tasks == 0 ? 0 : h->options.set_first_file;
    bool leads = false;
    for (uint32_t p = 0; p < h->parts; p++) {
        if (h->part[p].file == base) {
            return HPCW_OK;
        }
        leads = leads || hpcw_i_sion_leads(h, &h->part[p]);
    }
    hpcw_sink *sink = NULL;
    hpcw_status s =
        leads && h->options.sink_source.open == NULL ? make_sink(h, base, false, &sink, err) : HPCW_OK;
    hpcw_sink_free(sink);
    return s;
}

hpcw_status hpcw_i_sion_files_join(struct hpcw_sion *h, hpcw_error *err) {
    hpcw_status s = open_parts(h, false, err);
    return s == HPCW_OK ? look_for_base(h, err) : s;
}

hpcw_status hpcw_i_sion_files_reopen(struct hpcw_sion *h, hpcw_error *err) {
    for (uint32_t p = 0; p < h->parts; p++) {
        if (h->part[p].sink->finished) {
            hpcw_sink *sink;
            hpcw_status s = make_sink(h, h->part[p].file, false, &sink, err);
            if (s != HPCW_OK) {
                return s;
            }
            hpcw_sink_free(h->part[p].sink);
            h->part[p].sink = sink;
        }
    }
    return HPCW_OK;
}
