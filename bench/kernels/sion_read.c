/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the streams of a SION container, compared with plain preads of the same bytes. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <hpcw/sion.h>
#include <hpcw/sion_read.h>

#include "bench/kernels/kernels.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

#define MIB ((uint64_t)1 << 20)
#define PIECE (4 * MIB) /* bytes per pread of the baseline loop */

struct read_shape {
    uint64_t tasks;
    uint64_t records; /* records of each task */
    uint64_t record;  /* bytes */
    /* read a record of each task in turn, not one task after the other */
    bool in_turn;
};

struct read_work {
    struct bench_common common;
    struct read_shape shape;
    unsigned char *data; /* [PIECE] buffer for reading */
    hpcw_sion_reader *reader;
    /* first_at: offset of the chunk of task 0; chunk: distance between chunks of neighbouring tasks, bytes */
    uint64_t first_at, chunk;
    uint64_t sum[2]; /* [side] checksum of the bytes that the side has read */
};

static hpcw_status write_container(const struct read_work *w, hpcw_error *err) {
    unsigned char *source = bench_source((size_t)PIECE, 0);
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = (uint32_t)w->shape.tasks;
    o.chunk_size = w->shape.records * w->shape.record;
    o.durability = HPCW_SYNC_NONE;
    hpcw_sion *sion = NULL;
    hpcw_status s = source == NULL ? hpcw_i_fail_memory(err, NULL, PIECE, "bytes to write")
                                   : hpcw_sion_open(w->common.path[0], NULL, &o, &sion, err);
    for (uint32_t t = 0; s == HPCW_OK && t < o.count; t++) {
        for (uint64_t k = 0; s == HPCW_OK && k < w->shape.records; k++) {
            uint64_t from = (t + k) * w->shape.record % (PIECE - w->shape.record + 1);
            s = hpcw_sion_write(sion, t, source + from, (size_t)w->shape.record, err);
        }
    }
    if (s == HPCW_OK) {
        s = hpcw_sion_close(sion, err);
    }
    hpcw_sion_free(sion);
    hpcw_i_free(source);
    return s;
}

static hpcw_status read_setup(void *work, const void *parameter, struct bench_amount *amount, hpcw_error *err) {
    struct read_work *w = work;
    w->shape = *(const struct read_shape *)parameter;
    w->shape.records = bench_scaled(w->common.place, w->shape.records, 1);
    w->data = hpcw_i_malloc((size_t)PIECE);
    if (w->data == NULL) {
        return hpcw_i_fail_memory(err, NULL, PIECE, "bytes to read");
    }
    memset(w->data, 0, (size_t)PIECE);
    *amount = (struct bench_amount){.bytes = w->shape.tasks * w->shape.records * w->shape.record,
                                    .items = w->shape.tasks * w->shape.records};
    return write_container(w, err);
}

static hpcw_status read_prepare(void *work, uint64_t side, hpcw_error *err) {
    struct read_work *w = work;
    w->sum[side] = 0;
    hpcw_sion_reader_free(w->reader);
    w->reader = NULL;
    return bench_fresh(&w->common, 0, 0, err);
}

static void read_teardown(void *work) {
    struct read_work *w = work;
    hpcw_sion_reader_free(w->reader);
    hpcw_i_free(w->data);
}

/* Adds up one byte of each record, so that the compiler cannot remove the read. */
static void look(struct read_work *w, int side, uint64_t size) {
    for (uint64_t at = 0; at < size; at += w->shape.record) {
        w->sum[side] += w->data[at];
    }
}

/* ---- ours ---- */

static hpcw_status ours_open(void *work, hpcw_error *err) {
    struct read_work *w = work;
    hpcw_status s = hpcw_sion_reader_open(w->common.path[0], NULL, 0, NULL, &w->reader, err);
    if (s == HPCW_OK) {
        const hpcw_sion_task *task = hpcw_sion_reader_task(w->reader, 0);
        w->first_at = task->start;
        w->chunk = task->chunk_size;
    }
    return s;
}

static hpcw_status ours_read(void *work, hpcw_error *err) {
    struct read_work *w = work;
    const struct read_shape *s = &w->shape;
    size_t got = 0;
    hpcw_status status = HPCW_OK;
    for (uint64_t i = 0; status == HPCW_OK && i < s->tasks * s->records; i++) {
        uint64_t task = s->in_turn ? i % s->tasks : i / s->records;
        status = hpcw_sion_reader_read(w->reader, (uint32_t)task, w->data, (size_t)s->record, &got, err);
        look(w, 0, got);
    }
    return status;
}

/* ---- the baseline loop of plain preads ---- */

static hpcw_status plain_open(void *work, hpcw_error *err) {
    struct read_work *w = work;
    int e = hpcw_i_sys_open(w->common.path[0], O_RDONLY, 0, &w->common.fd);
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot open", w->common.path[0]);
}

static hpcw_status plain_read(void *work, hpcw_error *err) {
    struct read_work *w = work;
    uint64_t size = w->shape.records * w->shape.record, most = PIECE / w->shape.record * w->shape.record;
    for (uint64_t t = 0; t < w->shape.tasks; t++) {
        for (uint64_t at = 0; at < size; at += most) {
            size_t part = (size_t)(size - at < most ? size - at : most);
            uint64_t from = w->first_at + t * w->chunk + at;
            if (pread(w->common.fd, w->data, part, (off_t)from) != (ssize_t)part) {
                return hpcw_i_fail_sys(err, EIO, "%s: cannot read", w->common.path[0]);
            }
            look(w, 1, part);
        }
    }
    return HPCW_OK;
}

static hpcw_status read_check(void *work, hpcw_error *err) {
    const struct read_work *w = work;
    return w->sum[0] == w->sum[1]
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_ECHECKSUM, "%s: the sides have read different bytes", w->common.path[0]);
}

/* ---- rows ---- */

static const struct bench_side sides[] = {
    {"hpcw",
     "this library",
     0,
     read_prepare,
     {BENCH_PHASE("open", ours_open), BENCH_PHASE("read", ours_read)},
     NULL,
     NULL},
    {"loop",
     "plain preads, as large as 4 MiB and the chunk allow",
     1,
     read_prepare,
     {BENCH_PHASE("open", plain_open), BENCH_PHASE("read", plain_read),
      BENCH_PHASE("close", bench_plain_close)},
     NULL,
     NULL},
};

/* Target: 0.9 of the rate of the baseline loop. */
static const struct bench_figure large_figures[] = {
    {"hpcw / loop", BENCH_RATIO, {1, 0}, {0, 0}, {2, 0}, {0, 0}, 1 / 0.9, true},
    {"hpcw", BENCH_RATE, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
};
static const struct bench_figure small_figures[] = {
    {"hpcw / loop", BENCH_RATIO, {1, 0}, {0, 0}, {2, 0}, {0, 0}, 0, false},
    {"hpcw, a record", BENCH_PER_ITEM, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 50, false},
    {"hpcw, memory", BENCH_MEMORY, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 16.0 * 1048576, false},
};
static const struct bench_figure turn_figures[] = {
    {"hpcw / loop", BENCH_RATIO, {1, 0}, {0, 0}, {2, 0}, {0, 0}, 3, false},
    {"hpcw, a record", BENCH_PER_ITEM, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"hpcw, memory", BENCH_MEMORY, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 80.0 * 1048576, false},
};

#define READ_KERNEL(name_, what_, figures_, ...)                                                               \
    {                                                                                                          \
        .name = name_, .what = what_, .needs = BENCH_ONE_PROCESS, .file = {"records.sion"},                    \
        .size = sizeof(struct read_work), .parameter = &(const struct read_shape)__VA_ARGS__,                  \
        .setup = read_setup, .teardown = read_teardown, .subject = {BENCH_ROWS(sides), read_check},            \
        BENCH_FIGURES(figures_),                                                                               \
    }

const struct bench_kernel bench_read_large =
    READ_KERNEL("read-large", "1 GiB in records of 4 MiB, one task", large_figures, {1, 256, PIECE, false});
const struct bench_kernel bench_read_small =
    READ_KERNEL("read-small", "1 GiB in records of 64 bytes, one task", small_figures, {1, 1 << 24, 64, false});
const struct bench_kernel bench_read_in_turn =
    READ_KERNEL("read-in-turn", "4096 tasks of 1000 records of 64 bytes, a record of each task in turn",
                turn_figures, {4096, 1000, 64, true});
