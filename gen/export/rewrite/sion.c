/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/rewrite/sion.h"

#include <stdbool.h>

#include <hpcw/sion.h>
#include <hpcw/sion_read.h>

#include "gen/export/text.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

enum { PIECE = 1 << 20 };

struct sion_rewrite {
    hpcw_sion_reader *reader;
    hpcw_sion *writer;
    struct hpcw_i_buf value; /* the current record, or a piece of the stream */
};

static hpcw_status put_stream(struct sion_rewrite *x, uint32_t rank, hpcw_error *err) {
    size_t got = 0;
    hpcw_status s;
    do {
        s = hpcw_sion_reader_read(x->reader, rank, x->value.data, PIECE, &got, err);
        s = s == HPCW_OK && got > 0 ? hpcw_sion_write(x->writer, rank, x->value.data, got, err) : s;
    } while (s == HPCW_OK && got == PIECE);
    return s;
}

static hpcw_status put_records(struct sion_rewrite *x, uint32_t rank, hpcw_error *err) {
    hpcw_sion_record record;
    bool more = true;
    hpcw_status s = HPCW_OK;
    while (s == HPCW_OK && more) {
        size_t got = 0;
        s = hpcw_sion_reader_next_key(x->reader, rank, &record, &more, err);
        if (s != HPCW_OK || !more) {
            break;
        }
        /* The file contains this record, so its size is plausible. */
        if (record.size > x->value.capacity && !hpcw_i_buf_reserve(&x->value, (size_t)record.size)) {
            return gen_export_no_memory(err);
        }
        s = hpcw_sion_reader_read(x->reader, rank, x->value.data, (size_t)record.size, &got, err);
        s = s == HPCW_OK ? hpcw_sion_write_key(x->writer, rank, record.key, x->value.data, got, err) : s;
    }
    return s;
}

static hpcw_status open_writer(struct sion_rewrite *x, const char *to, const struct gen_rewrite *what,
                               hpcw_error *err) {
    const hpcw_sion_info *info = hpcw_sion_reader_info(x->reader);
    hpcw_sion_options o;
    uint64_t *size = hpcw_i_malloc(info->tasks * sizeof *size);
    uint32_t *rank = hpcw_i_malloc(info->tasks * sizeof *rank);
    hpcw_status s = HPCW_ENOMEM;
    if (size != NULL && rank != NULL) {
        for (uint32_t i = 0; i < info->tasks; i++) {
            const hpcw_sion_task *task = hpcw_sion_reader_task(x->reader, i);
            size[i] = task->size;
            rank[i] = task->rank;
        }
        hpcw_sion_options_init(&o);
        o.count = info->tasks;
        o.ranks = rank;
        o.sizes = size;
        o.layout = what->form == GEN_REWRITE_PACKED ? HPCW_SION_PACKED : HPCW_SION_ALIGNED;
        o.content = info->keys ? HPCW_SION_KEYVAL : HPCW_SION_STREAM;
        o.endian = info->endian;
        o.data_endian = info->data_endian;
        o.fs_block_size = info->fs_block_size;
        o.files = what->files;
        o.durability = what->sync ? HPCW_SYNC_DIRECTORY : HPCW_SYNC_NONE;
        s = hpcw_sion_open(to, NULL, &o, &x->writer, err);
    } else {
        s = gen_export_no_memory(err);
    }
    hpcw_i_free(rank);
    hpcw_i_free(size);
    return s;
}

static hpcw_status run(const char *from, const char *to, const struct gen_rewrite *what,
                       struct gen_rewritten *done, hpcw_error *err) {
    struct sion_rewrite x = {.reader = NULL};
    *done = (struct gen_rewritten){.files = what->files, .items = "tasks"};
    hpcw_status s = hpcw_sion_reader_open(from, NULL, 0, NULL, &x.reader, err);
    if (s == HPCW_OK && !hpcw_i_buf_reserve(&x.value, PIECE)) {
        s = gen_export_no_memory(err);
    }
    s = s == HPCW_OK ? open_writer(&x, to, what, err) : s;
    for (uint32_t i = 0; s == HPCW_OK && i < hpcw_sion_reader_count(x.reader); i++) {
        const hpcw_sion_task *task = hpcw_sion_reader_task(x.reader, i);
        s = hpcw_sion_reader_info(x.reader)->keys ? put_records(&x, task->rank, err)
                                                  : put_stream(&x, task->rank, err);
        done->count++;
        done->bytes += task->size;
    }
    s = s == HPCW_OK ? hpcw_sion_close(x.writer, err) : s;
    hpcw_sion_free(x.writer);
    hpcw_sion_reader_free(x.reader);
    hpcw_i_buf_free(&x.value);
    return s;
}

const struct gen_rewriter gen_rewrite_sion = {.offer = {{GEN_REWRITE_ALIGNED, GEN_REWRITE_PACKED}, {"files"}},
                                              .run = run};
