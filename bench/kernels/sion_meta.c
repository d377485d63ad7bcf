/* SPDX-License-Identifier: BSD-3-Clause */
/* Cost of a container besides its data: opening, closing, metadata. */
#include <string.h>

#include <hpcw/sion.h>

#include "bench/kernels/kernels.h"
#include "bench/measure/machine.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

struct meta_work {
    struct bench_common common; /* file[2]: final name of the baseline's file */
    uint32_t tasks;             /* tasks of the container */
    uint32_t count;             /* tasks of this process */
    uint32_t chunk;
    uint32_t fs_block;
    uint32_t blocks; /* blocks of each task in the current run */
    size_t front;    /* bytes of metadata before the data */
    uint64_t data_start, meta2_start;
    unsigned char *words; /* process 0: metadata that the baseline writes */
    size_t words_size;
    hpcw_sion *sion;
    bool to_null;
};

static void meta_teardown(void *work) {
    struct meta_work *w = work;
    hpcw_sion_free(w->sion);
    hpcw_i_free(w->words);
}

/* Removes the files and frees the memory of the last run. If `plain`, fills `words` with the metadata that the
 * baseline writes. */
static hpcw_status meta_fresh(struct meta_work *w, bool plain, uint64_t warm, hpcw_error *err) {
    hpcw_sion_free(w->sion);
    w->sion = NULL;
    hpcw_i_free(w->words);
    w->words = NULL;
    hpcw_status s = bench_fresh(&w->common, 7, warm, err);
    hpcw_sion_shape shape;
    if (s == HPCW_OK) {
        uint64_t chunk = (w->chunk + (uint64_t)w->fs_block - 1) / w->fs_block * w->fs_block;
        s = hpcw_sion_shape_of(w->tasks, w->fs_block, chunk * w->tasks, w->blocks, UINT64_MAX, &shape, err);
    }
    if (s == HPCW_OK) {
        w->front = (size_t)shape.meta1_size;
        w->data_start = shape.data_start;
        w->meta2_start = shape.meta2_start;
    }
    if (s != HPCW_OK || !plain || w->common.place->processes->process != 0) {
        return s;
    }
    w->words_size = w->front + (size_t)(shape.file_size - shape.meta2_start);
    w->words = hpcw_i_malloc(w->words_size);
    if (w->words == NULL) {
        return hpcw_i_fail_memory(err, NULL, w->words_size, "bytes to write");
    }
    memset(w->words, 1, w->words_size);
    return HPCW_OK;
}

static hpcw_status meta_open(void *work, hpcw_error *err) {
    struct meta_work *w = work;
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = w->count;
    o.chunk_size = w->chunk;
    o.fs_block_size = w->fs_block;
    o.durability = HPCW_SYNC_NONE;
    o.sink_source.open = w->to_null ? bench_null_sink : NULL;
    return hpcw_sion_open(w->common.path[0], w->common.place->processes->comm, &o, &w->sion, err);
}

static hpcw_status meta_close(void *work, hpcw_error *err) {
    return hpcw_sion_close(((struct meta_work *)work)->sion, err);
}

/* Writes two pieces: META1 at the front, META2 after the data. */
static hpcw_status plain_write(void *work, hpcw_error *err) {
    const struct meta_work *w = work;
    if (w->common.place->processes->process != 0) {
        return HPCW_OK;
    }
    size_t front = w->front;
    hpcw_status s = bench_plain_write(w->common.fd, w->words, front, 0, err);
    return s == HPCW_OK
               ? bench_plain_write(w->common.fd, w->words + front, w->words_size - front, w->meta2_start, err)
               : s;
}

static hpcw_status plain_close(void *work, hpcw_error *err) {
    struct meta_work *w = work;
    hpcw_status s = bench_plain_close(w, err);
    if (s != HPCW_OK || w->common.place->processes->process != 0) {
        return s;
    }
    int e = hpcw_i_sys_rename(w->common.path[1], w->common.path[2]);
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot rename", w->common.path[1]);
}

/* ---- a million tasks in one process ---- */

static hpcw_status million_setup(void *work, const void *parameter, struct bench_amount *amount,
                                 hpcw_error *err) {
    (void)parameter;
    (void)err;
    struct meta_work *w = work;
    w->tasks = w->count = (uint32_t)bench_scaled(w->common.place, 1048576, 1);
    w->chunk = 4096;
    w->fs_block = w->common.place->machine.block_size;
    w->blocks = 1;
    *amount = (struct bench_amount){.items = w->tasks};
    return HPCW_OK;
}

enum { CONTAINER = 0, PLAIN = 1 };

static hpcw_status million_prepare(void *work, uint64_t side, hpcw_error *err) {
    struct meta_work *w = work;
    return meta_fresh(w, side == PLAIN, (uint64_t)w->tasks * 150, err);
}

#define OPEN_CLOSE {BENCH_PHASE("open", meta_open), BENCH_PHASE("close", meta_close)}, NULL, NULL
#define OPEN_WRITE_CLOSE                                                                                       \
    {BENCH_PHASE("open", bench_plain_open), BENCH_PHASE("write", plain_write),                                 \
     BENCH_PHASE("close", plain_close)},                                                                       \
        NULL, NULL

static const struct bench_side million_sides[] = {
    {"hpcw", "this library", CONTAINER, million_prepare, OPEN_CLOSE},
    {"loop", "two plain pwrites of as many bytes of metadata", PLAIN, million_prepare, OPEN_WRITE_CLOSE},
};

static const struct bench_figure million_figures[] = {
    {"open + close", BENCH_SECONDS, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 0.10, false},
    {"memory", BENCH_MEMORY, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 64.0 * 1048576, false},
    {"hpcw / loop", BENCH_RATIO, {1, 0}, {0, 0}, {2, 0}, {0, 0}, 0, false},
};

const struct bench_kernel bench_million_tasks = {
    .name = "million-tasks",
    .what = "open and close of a container of 1 048 576 tasks without data",
    .needs = BENCH_ONE_PROCESS,
    .file = {"meta.sion", "meta.plain", "meta.named"},
    .size = sizeof(struct meta_work),
    .setup = million_setup,
    .teardown = meta_teardown,
    .subject = {BENCH_ROWS(million_sides), NULL},
    BENCH_FIGURES(million_figures),
};

/* ---- open and close by many processes, few and many blocks ---- */

enum { SMALL_CHUNK = 512 };

static hpcw_status open_close_setup(void *work, const void *parameter, struct bench_amount *amount,
                                    hpcw_error *err) {
    (void)parameter;
    (void)err;
    struct meta_work *w = work;
    w->tasks = (uint32_t)w->common.place->processes->count;
    w->count = 1;
    w->chunk = w->fs_block = SMALL_CHUNK;
    *amount = (struct bench_amount){.items = w->tasks};
    return HPCW_OK;
}

/* bench_side.parameter is the destination | the number of blocks. */
#define TO_FILE UINT64_C(0)
#define TO_NULL (UINT64_C(1) << 32)
#define TO_PLAIN (UINT64_C(2) << 32)

static hpcw_status open_close_prepare(void *work, uint64_t parameter, hpcw_error *err) {
    struct meta_work *w = work;
    uint64_t to = parameter >> 32 << 32;
    w->blocks = (uint32_t)bench_scaled(w->common.place, parameter - to, 1);
    w->to_null = to == TO_NULL;
    return meta_fresh(w, to == TO_PLAIN, (uint64_t)(w->blocks + 64) * SMALL_CHUNK * 5 / 4, err);
}

static hpcw_status fill_blocks(void *work, hpcw_error *err) {
    const struct meta_work *w = work;
    unsigned char record[SMALL_CHUNK];
    memset(record, w->common.place->processes->process, sizeof record);
    hpcw_status s = HPCW_OK;
    for (uint32_t b = 0; b < w->blocks && s == HPCW_OK; b++) {
        s = hpcw_sion_write(w->sion, hpcw_sion_first_rank(w->sion), record, sizeof record, err);
    }
    return s;
}

/* Fills the file of the baseline with as many bytes as our container has. The times of a write and of a rename
 * depend on the content of the file. */
static hpcw_status fill_plain(void *work, hpcw_error *err) {
    const struct meta_work *w = work;
    unsigned char record[SMALL_CHUNK];
    memset(record, w->common.place->processes->process, sizeof record);
    hpcw_status s = HPCW_OK;
    for (uint32_t b = 0; b < w->blocks && s == HPCW_OK; b++) {
        uint64_t chunk = (uint64_t)b * w->tasks + (uint64_t)w->common.place->processes->process;
        s = bench_plain_write(w->common.fd, record, sizeof record, w->data_start + chunk * SMALL_CHUNK, err);
    }
    return s;
}

#define CONTAINER_PHASES                                                                                       \
    {BENCH_PHASE("open", meta_open), BENCH_UNTIMED_TOGETHER("fill", fill_blocks),                              \
     BENCH_TOGETHER("close", meta_close)},                                                                     \
        NULL, NULL
#define PLAIN_PHASES                                                                                           \
    {BENCH_UNTIMED("open", bench_plain_open), BENCH_UNTIMED_TOGETHER("fill", fill_plain),                      \
     BENCH_TOGETHER("write", plain_write), BENCH_PHASE("close", plain_close)},                                 \
        NULL, NULL
#define TO_SIDES(name, what, to, phases)                                                                       \
    {name "-1", what ", 1 block", to | 1, open_close_prepare, phases},                                         \
        {name "-100", what ", 100 blocks", to | 100, open_close_prepare, phases},                              \
        {name "-1000", what ", 1000 blocks", to | 1000, open_close_prepare, phases}, {                         \
        name "-5000", what ", 5000 blocks", to | 5000, open_close_prepare, phases                              \
    }

static const struct bench_side open_close_sides[] = {
    TO_SIDES("hpcw", "this library", TO_FILE, CONTAINER_PHASES),
    TO_SIDES("null", "this library, the bytes go nowhere", TO_NULL, CONTAINER_PHASES),
    TO_SIDES("loop",
             "the same data; process 0 writes as many bytes of metadata with two plain pwrites and renames",
             TO_PLAIN, PLAIN_PHASES),
};

enum { OPEN = 1, CLOSE = 3, WRITE = 3 };

#define CLOSE_FIGURES(blocks, i)                                                                               \
    {"open, " blocks, BENCH_SECONDS, {i, OPEN}, {0, 0}, {0, 0}, {0, 0}, 0, false},                             \
        {"close, " blocks, BENCH_SECONDS, {i, CLOSE}, {0, 0}, {0, 0}, {0, 0}, 0, false}, {                     \
        "close - metadata, " blocks, BENCH_SECONDS, {i, CLOSE}, {i + 8, WRITE}, {0, 0}, {0, 0}, 0, false       \
    }

#define CLOSE_RATIO(name, ...)                                                                                 \
    { name, BENCH_RATIO, __VA_ARGS__, 1.2, false }

static const struct bench_figure open_close_figures[] = {
    CLOSE_FIGURES("1 block", 1),
    CLOSE_FIGURES("100 blocks", 2),
    CLOSE_FIGURES("1000 blocks", 3),
    CLOSE_FIGURES("5000 blocks", 4),
    CLOSE_RATIO("close - metadata, 5000 blocks / 1 block", {4, CLOSE}, {12, WRITE}, {1, CLOSE}, {9, WRITE}),
    CLOSE_RATIO("the same - file's close and rename, too", {4, CLOSE}, {12, 0}, {1, CLOSE}, {9, 0}),
    CLOSE_RATIO("close to nowhere, 5000 blocks / 1 block", {8, CLOSE}, {0, 0}, {5, CLOSE}, {0, 0}),
};

const struct bench_kernel bench_open_close = {
    .name = "open-close",
    .what = "open and close, one task per process, after 1 to 5000 blocks of 512 bytes",
    .needs = BENCH_SEVERAL_PROCESSES,
    .file = {"meta.sion", "meta.plain", "meta.named"},
    .size = sizeof(struct meta_work),
    .setup = open_close_setup,
    .teardown = meta_teardown,
    .subject = {BENCH_ROWS(open_close_sides), NULL},
    BENCH_FIGURES(open_close_figures),
};
