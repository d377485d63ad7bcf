/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Real formats: what hpcgen writes for a fixed dataset, by the same code, as far as all files are there. Their ceiling
 * writes files of the same sizes.
 */
#include <fcntl.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/status.h"
#include "comm/agree.h"
#include "format.h"
#include "io/fsinfo.h"
#include "io/sys.h"
#include "layout.h"

enum { RANKS = 64 };
#define MACHINE "dfplus-hdr200"

struct model {
    const struct hpcw_i_format *format;
    struct hpcw_i_dataset dataset;
    uint64_t units;
};

static const struct hpcw_i_format *format_of(enum bench_layout layout) {
    return layout == BENCH_LINKTEST ? &hpcw_i_format_linktest
           : layout == BENCH_VOM    ? &hpcw_i_format_vom
           : layout == BENCH_CLOG2  ? &hpcw_i_format_clog2
                                    : &hpcw_i_format_rank2file;
}

static hpcw_status build(struct bench_work *w, struct model *m, hpcw_error *err) {
    struct hpcw_i_dataset *d = &m->dataset;
    m->format = format_of(w->shape.layout);
    hpcw_status s = hpcw_i_dataset_init(d, MACHINE, HPCW_I_SCALE_SMALL, err);
    d->ranks = RANKS;
    d->seed = w->shape.seed;
    for (size_t f = 0; f < hpcw_i_format_count; f++) {
        d->formats |= hpcw_i_format[f] == m->format ? UINT64_C(1) << f : 0;
    }
    s = s == HPCW_OK ? hpcw_i_dataset_build(d, err) : s;
    m->units = s == HPCW_OK ? m->format->units(d) : 0;
    return s;
}

static hpcw_status room_for(const struct bench_work *w, const struct model *m, hpcw_error *err) {
    uint64_t wanted = 0, space = 0;
    hpcw_status s = hpcw_i_fs_space(w->directory, &space, err);
    for (uint64_t k = 0; s == HPCW_OK && k < m->units; k++) {
        struct hpcw_i_unit unit;
        s = m->format->unit(&m->dataset, k, &unit, err);
        wanted += s == HPCW_OK ? unit.allocated : 0;
    }
    return s == HPCW_OK ? bench_work_room(wanted, space, w->shape.max_bytes, err) : s;
}

static hpcw_status model_prepare(struct bench_work *w, hpcw_error *err) {
    struct model *m = hpcw_i_calloc(1, sizeof *m);
    w->model = m;
    if (m == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "out of memory");
    }
    hpcw_status s = build(w, m, err);
    if (s == HPCW_OK) {
        s = room_for(w, m, err);
    }
    if (s == HPCW_OK && w->processes->process == 0) {
        char path[BENCH_PATH];
        (void)snprintf(path, sizeof path, "%s/%s", w->directory, hpcw_i_format_folder(m->format));
        int e = hpcw_i_sys_mkdir(path, 0777);
        s = e == 0 ? s : hpcw_i_fail_sys(err, e, "%s: cannot make the directory", path);
    }
    return s;
}

static void no_progress(void *context, uint64_t bytes) {
    (void)context;
    (void)bytes;
}

static hpcw_status nothing(struct bench_work *w, hpcw_error *err) {
    (void)w;
    (void)err;
    return HPCW_OK;
}

static hpcw_status model_write(struct bench_work *w, hpcw_error *err) {
    const struct model *m = w->model;
    struct hpcw_i_buf text = {0};
    struct hpcw_i_json partial;
    bool first = w->processes->process == 0;
    const struct hpcw_i_write write = {.dataset = &m->dataset,
                                       .directory = w->directory,
                                       .comm = w->processes->comm,
                                       .jobs = 1,
                                       .end = m->units,
                                       .durability = HPCW_SYNC_NONE,
                                       .progress = no_progress};
    if (first) {
        hpcw_i_json_open_buf(&partial, &text, NULL);
        hpcw_i_json_begin_object(&partial);
    }
    hpcw_status s = m->format->write(&write, first ? &partial : NULL, err);
    if (first) {
        hpcw_i_json_free(&partial);
        hpcw_i_buf_free(&text);
    }
    return s;
}

/* Path of a file of the dataset. */
static hpcw_status unit_path(const struct bench_work *w, uint64_t index, char path[BENCH_PATH],
                             hpcw_error *err) {
    const struct model *m = w->model;
    struct hpcw_i_unit unit;
    hpcw_status s = m->format->unit(&m->dataset, index, &unit, err);
    if (s == HPCW_OK) {
        (void)snprintf(path, BENCH_PATH, "%s/%s", w->directory, unit.path);
    }
    return s;
}

/* Each file by one process. */
static hpcw_status model_flush(struct bench_work *w, hpcw_error *err) {
    const struct model *m = w->model;
    char path[BENCH_PATH];
    hpcw_status s = HPCW_OK;
    for (uint64_t k = (uint64_t)w->processes->process; s == HPCW_OK && !w->gone_wrong && k < m->units;
         k += (uint64_t)w->processes->count) {
        int fd = -1;
        s = unit_path(w, k, path, err);
        int e = s == HPCW_OK ? hpcw_i_sys_open(path, O_RDONLY, 0, &fd) : 0;
        e = fd >= 0 ? hpcw_i_sys_fsync(fd) : e;
        if (fd >= 0) {
            (void)hpcw_i_sys_close(fd);
        }
        s = e == 0 ? s : hpcw_i_fail_sys(err, e, "%s: cannot write the data back to the disk", path);
    }
    return s;
}

static hpcw_status model_sizes(struct bench_work *w, struct bench_sizes *sizes, hpcw_error *err) {
    const struct model *m = w->model;
    hpcw_i_free(sizes->size);
    *sizes = (struct bench_sizes){.size = hpcw_i_calloc(m->units + 1, sizeof *sizes->size), .ranks = RANKS};
    if (sizes->size == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "out of memory for %llu files", (unsigned long long)m->units);
    }
    sizes->files = (uint32_t)m->units;
    hpcw_status s = HPCW_OK;
    for (uint64_t k = 0; s == HPCW_OK && k < m->units; k++) {
        char path[BENCH_PATH];
        int fd = -1;
        s = unit_path(w, k, path, err);
        int e = s == HPCW_OK ? hpcw_i_sys_open(path, O_RDONLY, 0, &fd) : 0;
        e = fd >= 0 ? hpcw_i_sys_size(fd, &sizes->size[k]) : e;
        if (fd >= 0) {
            (void)hpcw_i_sys_close(fd);
        }
        s = e == 0 ? s : hpcw_i_fail_sys(err, e, "%s: cannot ask for its size", path);
    }
    return s;
}

static void model_clear(struct bench_work *w) {
    struct model *m = w->model;
    if (m != NULL) {
        hpcw_i_dataset_free(&m->dataset);
        hpcw_i_free(m);
        w->model = NULL;
    }
}

#define ROW                                                                                                    \
    {                                                                                                          \
        .model = true, .modes = 1u << BENCH_FSYNC, .prepare = model_prepare,                                   \
        .step = {nothing, model_write, model_flush, nothing}, .sizes = model_sizes, .clear = model_clear,      \
    }

const struct bench_layout_row bench_row_linktest = ROW;
const struct bench_layout_row bench_row_vom = ROW;
const struct bench_layout_row bench_row_clog2 = ROW;
const struct bench_layout_row bench_row_rank2file = ROW;
