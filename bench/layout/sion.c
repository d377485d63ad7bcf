/* SPDX-License-Identifier: BSD-3-Clause */
/* Containers, written by the library into sinks of the benchmark. The sinks shift every offset, bypass the
 * page cache, or preallocate. Closing a container writes what the library still buffers, so it is part of the
 * step "write". The files stay open for the later steps. */
#include <string.h>

#include "bench/layout/layout.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sink.h"

#define ALL_MODES (1u << BENCH_BUFFERED | 1u << BENCH_FSYNC | 1u << BENCH_DIRECT | 1u << BENCH_PREALLOCATED)

/* ---- the sink ---- */

struct layout_sink {
    hpcw_sink base;
    struct bench_file *file; /* borrowed from the run, which closes the file */
};

static struct bench_file *file_of(hpcw_sink *sink) {
    return ((struct layout_sink *)sink)->file;
}

static hpcw_status sink_write(hpcw_sink *sink, uint64_t offset, const struct hpcw_i_piece *piece, size_t pieces,
                              size_t size, hpcw_error *err) {
    return bench_file_write_pieces(file_of(sink), offset, piece, pieces, size, err);
}

static hpcw_status sink_set_size(hpcw_sink *sink, uint64_t size, hpcw_error *err) {
    return bench_file_set_size(file_of(sink), size, err);
}

/* The sinks have no sync operation. The step "flush" syncs the files. The directory needs no sync, since its files
 * are removed after the run. */
static const struct hpcw_i_sink_ops sink_ops = {.write = sink_write, .set_size = sink_set_size};

static hpcw_status sink_open(void *context, const char *path, uint64_t tag, bool creates, hpcw_sink **out,
                             hpcw_error *err) {
    struct bench_work *w = context;
    char name[BENCH_PATH];
    (void)tag;
    (void)creates;
    *out = NULL;
    for (uint32_t i = w->first_file; i < w->first_file + w->open_files; i++) {
        hpcw_status s = bench_work_path(w, i, name, err);
        if (s != HPCW_OK) {
            return s;
        }
        if (strcmp(name, path) != 0) {
            continue;
        }
        struct layout_sink *sink = hpcw_i_calloc(1, sizeof *sink);
        if (sink == NULL) {
            return hpcw_i_fail_memory(err, path, 0, NULL);
        }
        sink->base.ops = &sink_ops;
        s = bench_work_open_file(w, i, &sink->file, err);
        if (s == HPCW_OK) {
            *out = &sink->base;
        } else {
            hpcw_i_free(sink);
        }
        return s;
    }
    return hpcw_i_fail(err, HPCW_EINTERNAL, "%s: not a file of this run", path);
}

/* ---- the steps ---- */

static hpcw_status sion_open(struct bench_work *w, hpcw_error *err) {
    char path[BENCH_PATH];
    hpcw_sion_options o;
    hpcw_status s = bench_work_path(w, 0, path, err);
    if (s != HPCW_OK) {
        return s; /* the path is too long, on all processes */
    }
    hpcw_sion_options_init(&o);
    o.count = w->count;
    o.chunk_size = w->shape.rank_size;
    o.layout = w->shape.layout == BENCH_SION_PACKED ? HPCW_SION_PACKED : HPCW_SION_ALIGNED;
    o.fs_block_size = (uint32_t)w->shape.block_size;
    o.files = w->shape.files;
    o.durability = HPCW_SYNC_NONE;
    o.sink_source = (hpcw_sink_source){.open = sink_open, .context = w};
    return hpcw_sion_open(path, w->processes->comm, &o, &w->sion, err);
}

static hpcw_status put(struct bench_work *w, uint32_t rank, uint64_t at, const void *data, size_t size,
                       hpcw_error *err) {
    (void)at; /* a stream */
    return hpcw_sion_write(w->sion, rank, data, size, err);
}

static hpcw_status sion_write(struct bench_work *w, hpcw_error *err) {
    if (w->sion == NULL) {
        return HPCW_OK; /* all processes return here */
    }
    hpcw_error e;
    if (bench_work_write(w, put, &e) != HPCW_OK) {
        hpcw_sion_abandon(w->sion, &e);
    }
    return hpcw_sion_close(w->sion, err);
}

static void sion_clear(struct bench_work *w) {
    hpcw_sion_free(w->sion);
    w->sion = NULL;
}

static hpcw_status sion_close(struct bench_work *w, hpcw_error *err) {
    sion_clear(w);
    return bench_work_close(w, err);
}

#define ROW                                                                                                    \
    {                                                                                                          \
        .aligns = true, .offers_files = true, .modes = ALL_MODES,                                              \
        .step = {sion_open, sion_write, bench_work_flush, sion_close}, .clear = sion_clear,                    \
    }

const struct bench_layout_row bench_row_sion_aligned = ROW;
const struct bench_layout_row bench_row_sion_packed = ROW;
const struct bench_layout_row bench_row_sion_shifted = ROW;
