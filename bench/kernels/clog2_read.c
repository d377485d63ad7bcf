/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading an event log against plain preads of the same bytes. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <hpcw/clog2_read.h>

#include "bench/kernels/kernels.h"
#include "libreader/clog2/clog2.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

enum { RANKS = 4096, PIECE = 4 << 20, ROWS = 4096 };

struct clog2_reading {
    struct bench_generator generator;
    char ranks[16], path[BENCH_PATH + 64];
    unsigned char *piece; /* [PIECE] */
    uint64_t bytes;
    uint64_t *number; /* [ROWS * 8] for the columns of either table */
};

static hpcw_status reading_setup(void *work, const void *parameter, struct bench_amount *amount,
                                 hpcw_error *err) {
    (void)parameter;
    struct clog2_reading *w = work;
    (void)snprintf(w->ranks, sizeof w->ranks, "%u",
                   (unsigned)bench_scaled(w->generator.common.place, RANKS, 16));
    const char *argument[] = {"--formats=clog2", "--ranks", w->ranks, "--seed=1", NULL};
    memcpy(w->generator.argument, argument, sizeof argument);
    w->piece = hpcw_i_malloc(PIECE);
    w->number = hpcw_i_malloc((size_t)ROWS * 8 * sizeof *w->number);
    if (w->piece == NULL || w->number == NULL) {
        return hpcw_i_fail_memory(err, NULL, PIECE, "bytes");
    }
    hpcw_status s = bench_generator_run(w, err);
    (void)snprintf(w->path, sizeof w->path, "%s/clog2/app.clog2", w->generator.common.path[0]);
    hpcw_clog2_reader *reader = NULL;
    s = s == HPCW_OK ? hpcw_clog2_reader_open(w->path, &reader, err) : s;
    hpcw_clog2_record record;
    for (bool more = true; s == HPCW_OK && more; amount->items += more) {
        s = hpcw_clog2_reader_next(reader, &record, &more, err);
    }
    if (s == HPCW_OK) {
        const hpcw_clog2_info *info = hpcw_clog2_reader_info(reader);
        w->bytes = amount->bytes = hpcw_clog2_file_size(info->blocks, info->block_size, info->comms);
    }
    hpcw_clog2_reader_free(reader);
    return s;
}

static void reading_teardown(void *work) {
    struct clog2_reading *w = work;
    hpcw_i_free(w->piece);
    hpcw_i_free(w->number);
}

static hpcw_status nothing(void *work, uint64_t parameter, hpcw_error *err) {
    (void)work;
    (void)parameter;
    (void)err;
    return HPCW_OK;
}

/* ---- sides ---- */

static hpcw_status read_strictly(void *work, hpcw_error *err) {
    const struct clog2_reading *w = work;
    struct read_clog2 *reader;
    hpcw_status s = read_clog2_open(w->path, &reader, err);
    if (s == HPCW_OK) {
        s = read_clog2_verify(reader, READ_CLOG2_STRICT, err);
        read_clog2_free(reader);
    }
    return s;
}

static hpcw_status read_records(void *work, hpcw_error *err) {
    const struct clog2_reading *w = work;
    hpcw_clog2_reader *reader;
    hpcw_clog2_record record;
    hpcw_status s = hpcw_clog2_reader_open(w->path, &reader, err);
    for (bool more = true; s == HPCW_OK && more;) {
        s = hpcw_clog2_reader_next(reader, &record, &more, err);
    }
    hpcw_clog2_reader_free(reader);
    return s;
}

static hpcw_status read_states(void *work, hpcw_error *err) {
    const struct clog2_reading *w = work;
    hpcw_clog2_reader *reader;
    const hpcw_clog2_states columns = {.definition = (uint32_t *)w->number,
                                       .rank = (uint32_t *)(w->number + ROWS),
                                       .depth = (uint32_t *)(w->number + 2 * ROWS),
                                       .from = (double *)(w->number + 3 * ROWS),
                                       .to = (double *)(w->number + 4 * ROWS)};
    size_t count = 1;
    hpcw_status s = hpcw_clog2_reader_open(w->path, &reader, err);
    s = s == HPCW_OK ? hpcw_clog2_reader_select(reader, HPCW_CLOG2_TABLE_STATES, NULL, err) : s;
    while (s == HPCW_OK && count > 0) {
        s = hpcw_clog2_reader_states(reader, &columns, ROWS, &count, err);
    }
    hpcw_clog2_reader_free(reader);
    return s;
}

static hpcw_status read_messages(void *work, hpcw_error *err) {
    const struct clog2_reading *w = work;
    hpcw_clog2_reader *reader;
    const hpcw_clog2_messages columns = {.from = (uint32_t *)w->number,
                                         .to = (uint32_t *)(w->number + ROWS),
                                         .size = (int32_t *)(w->number + 2 * ROWS),
                                         .sent = (double *)(w->number + 3 * ROWS),
                                         .received = (double *)(w->number + 4 * ROWS)};
    size_t count = 1;
    hpcw_status s = hpcw_clog2_reader_open(w->path, &reader, err);
    s = s == HPCW_OK ? hpcw_clog2_reader_select(reader, HPCW_CLOG2_TABLE_MESSAGES, NULL, err) : s;
    while (s == HPCW_OK && count > 0) {
        s = hpcw_clog2_reader_messages(reader, &columns, ROWS, &count, err);
    }
    hpcw_clog2_reader_free(reader);
    return s;
}

static hpcw_status read_bytes(void *work, hpcw_error *err) {
    const struct clog2_reading *w = work;
    int fd;
    const int e = hpcw_i_sys_open(w->path, O_RDONLY, 0, &fd);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot open", w->path);
    }
    ssize_t got = 1;
    uint64_t at = 0;
    while (got > 0) {
        got = pread(fd, w->piece, PIECE, (off_t)at);
        at += got > 0 ? (uint64_t)got : 0;
    }
    (void)hpcw_i_sys_close(fd);
    return at == w->bytes ? HPCW_OK : hpcw_i_fail(err, HPCW_EIO, "%s: expected other bytes to read", w->path);
}

#define SIDE(name, what, run)                                                                                  \
    { name, what, 0, nothing, {BENCH_PHASE("read", run)}, NULL, NULL }

static const struct bench_side reading_sides[] = {
    SIDE("strict", "all rules of the format", read_strictly),
    SIDE("records", "hpcw_clog2_reader_next", read_records),
    SIDE("states", "columns of states", read_states),
    SIDE("messages", "columns of messages", read_messages),
    SIDE("loop", "plain preads of 4 MiB", read_bytes),
};

static const struct bench_figure reading_figures[] = {
    {"strict", BENCH_RATE, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 1e9, false},
    {"strict, a record", BENCH_PER_ITEM, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"records", BENCH_RATE, {2, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"states", BENCH_RATE, {3, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"messages", BENCH_RATE, {4, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"strict / loop", BENCH_RATIO, {1, 0}, {0, 0}, {5, 0}, {0, 0}, 0, false},
    {"memory, strict", BENCH_MEMORY, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
};

const struct bench_kernel bench_clog2_read = {
    .name = "clog2-read",
    .what = "reading the log of hpcgen --ranks 4096 --formats clog2 --seed 1",
    .needs = BENCH_ONE_PROCESS,
    .item = "record",
    .file = {"dataset", "dataset.plain"},
    .size = sizeof(struct clog2_reading),
    .setup = reading_setup,
    .teardown = reading_teardown,
    .subject = {BENCH_ROWS(reading_sides), NULL},
    BENCH_FIGURES(reading_figures),
};
