/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Real formats: what hpcgen writes for a fixed dataset, by the same code, as far as all files are there. Their ceiling
 * writes files of the same sizes.
 */
#include <fcntl.h>
#include <stdio.h>

#include "bench/layout/layout.h"
#include "gen/dataset/sample.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/fsinfo.h"
#include "libwriter/io/sys.h"

enum { RANKS = 64 };

static const char *format_of(enum bench_layout layout) {
    return layout == BENCH_LINKTEST ? "linktest"
           : layout == BENCH_VOM    ? "vom"
           : layout == BENCH_CLOG2  ? "clog2"
                                    : "rank2file";
}

static hpcw_status room_for(const struct bench_work *w, hpcw_error *err) {
    uint64_t needed = 0, space = 0;
    hpcw_status s = hpcw_i_fs_space(w->directory, &space, err);
    for (uint64_t k = 0; s == HPCW_OK && k < gen_sample_files(w->sample); k++) {
        char name[GEN_SAMPLE_PATH];
        uint64_t bytes = 0;
        s = gen_sample_file(w->sample, k, name, &bytes, err);
        needed += bytes;
    }
    return s == HPCW_OK ? bench_work_room(needed, space, w->shape.max_bytes, err) : s;
}

static hpcw_status model_prepare(struct bench_work *w, hpcw_error *err) {
    hpcw_status s = gen_sample_new(format_of(w->shape.layout), RANKS, w->shape.seed, &w->sample, err);
    if (s == HPCW_OK) {
        s = room_for(w, err);
    }
    if (s == HPCW_OK && w->processes->process == 0) {
        char path[BENCH_PATH];
        (void)snprintf(path, sizeof path, "%s/%s", w->directory, gen_sample_folder(w->sample));
        int e = hpcw_i_sys_mkdir(path, 0777);
        s = e == 0 ? s : hpcw_i_fail_sys(err, e, "%s: cannot make the directory", path);
    }
    return s;
}

static hpcw_status nothing(struct bench_work *w, hpcw_error *err) {
    (void)w;
    (void)err;
    return HPCW_OK;
}

static hpcw_status model_write(struct bench_work *w, hpcw_error *err) {
    return gen_sample_write(w->sample, w->directory, w->processes->comm, err);
}

/* Opens a file of the dataset, has `act` work on it, and closes it. `what`: that this cannot do. */
static hpcw_status with_file(const struct bench_work *w, uint64_t index, int (*act)(int fd, uint64_t *size),
                             uint64_t *size, const char *what, hpcw_error *err) {
    char name[GEN_SAMPLE_PATH], path[BENCH_PATH];
    hpcw_status s = gen_sample_file(w->sample, index, name, NULL, err);
    if (s != HPCW_OK) {
        return s;
    }
    int fd = -1;
    (void)snprintf(path, sizeof path, "%s/%s", w->directory, name);
    int e = hpcw_i_sys_open(path, O_RDONLY, 0, &fd);
    if (e == 0) {
        e = act(fd, size);
        (void)hpcw_i_sys_close(fd);
    }
    return e == 0 ? s : hpcw_i_fail_sys(err, e, "%s: cannot %s", path, what);
}

static int sync_file(int fd, uint64_t *size) {
    (void)size;
    return hpcw_i_sys_fsync(fd);
}

/* Each file by one process. */
static hpcw_status model_flush(struct bench_work *w, hpcw_error *err) {
    const uint64_t files = gen_sample_files(w->sample);
    hpcw_status s = HPCW_OK;
    for (uint64_t k = (uint64_t)w->processes->process; s == HPCW_OK && !w->gone_wrong && k < files;
         k += (uint64_t)w->processes->count) {
        s = with_file(w, k, sync_file, NULL, "write the data back to the disk", err);
    }
    return s;
}

static hpcw_status model_sizes(struct bench_work *w, struct bench_sizes *sizes, hpcw_error *err) {
    const uint64_t files = gen_sample_files(w->sample);
    hpcw_i_free(sizes->size);
    *sizes = (struct bench_sizes){.size = hpcw_i_calloc(files + 1, sizeof *sizes->size), .ranks = RANKS};
    if (sizes->size == NULL) {
        return hpcw_i_fail_memory(err, NULL, files, "files");
    }
    sizes->files = (uint32_t)files;
    hpcw_status s = HPCW_OK;
    for (uint64_t k = 0; s == HPCW_OK && k < files; k++) {
        s = with_file(w, k, hpcw_i_sys_size, &sizes->size[k], "ask for its size", err);
    }
    return s;
}

static void model_clear(struct bench_work *w) {
    gen_sample_free(w->sample);
    w->sample = NULL;
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
