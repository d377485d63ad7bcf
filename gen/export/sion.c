/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/sion.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/sion_read.h>

#include "gen/export/folder.h"
#include "gen/export/npz.h"
#include "gen/export/text.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

enum { PIECE = 1 << 20 };

struct sion_export {
    const struct gen_export *what;
    hpcw_sink *sink;
    struct gen_npz *npz; /* NULL: bytes go to `sink` */
    hpcw_sion_reader *reader;
    struct gen_exported done;
    unsigned char *piece; /* [PIECE] */
    bool counts;          /* `put` only adds up sizes */
};

/* Copies the rest of the task's stream or, if `what` has a key, the rest of the current value. */
static hpcw_status put(struct sion_export *x, uint64_t size, hpcw_error *err) {
    x->done.count++;
    if (x->counts) {
        x->done.bytes += size;
        return HPCW_OK;
    }
    size_t got = 0;
    hpcw_status s;
    do {
        s = hpcw_sion_reader_read(x->reader, x->what->task, x->piece, PIECE, &got, err);
        const struct gen_npz_field field = {.type = GEN_NPZ_U8, .values = x->piece};
        s = s != HPCW_OK     ? s
            : x->npz != NULL ? gen_npz_rows(x->npz, &field, 1, got, err)
                             : hpcw_sink_write_at(x->sink, x->done.bytes, x->piece, got, err);
        x->done.bytes += got;
    } while (s == HPCW_OK && got == PIECE);
    return s;
}

static hpcw_status put_values(struct sion_export *x, const char *path, hpcw_error *err) {
    const struct gen_export *what = x->what;
    hpcw_sion_record record;
    bool found = true;
    hpcw_status s = HPCW_OK;
    while (s == HPCW_OK && found) {
        s = hpcw_sion_reader_find_key(x->reader, what->task, what->key, &record, &found, err);
        s = s == HPCW_OK && found ? put(x, record.size, err) : s;
    }
    return s != HPCW_OK || x->done.count > 0
               ? s
               : hpcw_i_fail(err, HPCW_ENOENT,
                             "%s: task %" PRIu32 ": expected a record with key %" PRIu64 ", got none", path,
                             what->task, what->key);
}

static hpcw_status put_content(struct sion_export *x, const char *path, hpcw_error *err) {
    return x->what->has_key ? put_values(x, path, err)
                            : put(x, hpcw_sion_reader_find(x->reader, x->what->task)->size, err);
}

/* Writes the bytes of a task as an array. A first call of put_content finds the size for the heading. */
static hpcw_status put_array(struct sion_export *x, const char *path, hpcw_error *err) {
    const struct gen_export *what = x->what;
    const struct gen_npz_field field = {.type = GEN_NPZ_U8};
    struct gen_npz_shape shape = {.dimensions = 1};
    char name[sizeof "task.4294967295"];
    (void)snprintf(name, sizeof name, "task.%06" PRIu32, what->task);
    x->counts = true;
    x->done.bytes = 0;
    hpcw_status s = put_content(x, path, err);
    x->counts = false;
    shape.size[0] = x->done.bytes;
    s = s == HPCW_OK ? gen_npz_begin(x->npz, name, &field, 1, &shape, err) : s;
    s = s == HPCW_OK ? hpcw_sion_reader_seek(x->reader, what->task, 0, err) : s;
    s = s == HPCW_OK ? put_content(x, path, err) : s;
    return s == HPCW_OK ? gen_npz_end(x->npz, err) : s;
}

static hpcw_status put_npz(struct sion_export *x, const char *path, hpcw_error *err) {
    struct gen_npz npz = {.out = {.sink = x->sink}};
    struct gen_export one = *x->what;
    hpcw_status s = HPCW_OK;
    x->npz = &npz;
    x->what = &one;
    for (uint32_t i = 0; s == HPCW_OK && i < hpcw_sion_reader_count(x->reader); i++) {
        one.task = hpcw_sion_reader_task(x->reader, i)->rank;
        s = put_array(x, path, err);
    }
    s = s == HPCW_OK ? gen_npz_close(&npz, err) : s;
    x->done = (struct gen_exported){.items = "arrays", .count = npz.arrays, .bytes = npz.out.at};
    gen_npz_free(&npz);
    return s;
}

static hpcw_status run(const char *path, const struct gen_export *what, hpcw_sink *sink,
                       struct gen_exported *done, hpcw_error *err) {
    struct sion_export x = {.what = what, .sink = sink, .done = {.items = what->has_key ? "values" : "tasks"}};
    const bool npz = what->form == GEN_EXPORT_NPZ;
    hpcw_status s =
        hpcw_sion_reader_open(path, NULL, 1, npz && !what->has_task ? NULL : &what->task, &x.reader, err);
    if (s == HPCW_OK) {
        x.piece = hpcw_i_malloc(PIECE);
        s = x.piece == NULL ? gen_export_no_memory(err)
            : npz           ? put_npz(&x, path, err)
                            : put_content(&x, path, err);
    }
    *done = x.done;
    hpcw_i_free(x.piece);
    hpcw_sion_reader_free(x.reader);
    return s;
}

static hpcw_status put_task(struct sion_export *x, const struct gen_folder *folder, hpcw_error *err) {
    char path[PATH_MAX];
    const uint64_t before = x->done.bytes;
    const int size = snprintf(path, sizeof path, "%s/task.%06" PRIu32, folder->path, x->what->task);
    if (size < 0 || (size_t)size >= sizeof path) {
        return hpcw_i_fail(err, HPCW_ERANGE, "%s: expected a shorter name", folder->path);
    }
    hpcw_status s = hpcw_i_sink_open_below(folder->below.root, path + strlen(folder->path) + 1, path,
                                           HPCW_SYNC_NONE, &x->sink, err);
    if (s == HPCW_OK) {
        x->done.bytes = 0; /* offset at which `put` writes into the new file */
        s = put(x, hpcw_sion_reader_find(x->reader, x->what->task)->size, err);
        s = s == HPCW_OK ? hpcw_sink_publish(x->sink, err) : s;
        x->done.bytes += before;
    }
    hpcw_sink_free(x->sink);
    return s;
}

hpcw_status gen_export_sion_tasks(const char *path, const struct gen_export *what, const char *output,
                                  bool sync, struct gen_exported *done, hpcw_error *err) {
    struct gen_folder folder = {0};
    struct gen_export one = *what;
    struct sion_export x = {.what = &one, .done = {.items = "tasks"}};
    hpcw_status s = hpcw_sion_reader_open(path, NULL, 0, NULL, &x.reader, err);
    if (s == HPCW_OK) {
        x.piece = hpcw_i_malloc(PIECE);
        s = x.piece == NULL ? gen_export_no_memory(err) : gen_folder_open(&folder, output, err);
    }
    for (uint32_t i = 0; s == HPCW_OK && i < hpcw_sion_reader_count(x.reader); i++) {
        one.task = hpcw_sion_reader_task(x.reader, i)->rank;
        s = put_task(&x, &folder, err);
    }
    s = s == HPCW_OK ? gen_folder_publish(&folder, sync, &x.done.bytes, err) : s;
    *done = x.done;
    gen_folder_close(&folder);
    hpcw_i_free(x.piece);
    hpcw_sion_reader_free(x.reader);
    return s;
}

const struct gen_exporter gen_export_sion = {
    .offer = {{GEN_EXPORT_BYTES, GEN_EXPORT_TASKS, GEN_EXPORT_NPZ}, {"task", "key"}},
    .run = run,
    .directory_form = GEN_EXPORT_TASKS,
    .directory = gen_export_sion_tasks,
};
