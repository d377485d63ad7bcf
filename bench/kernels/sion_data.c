/* SPDX-License-Identifier: BSD-3-Clause */
/* Data path of a SION container, compared with plain pwrites of the same bytes at the same offsets. */
#include <stdio.h>
#include <string.h>

#include <hpcw/sion.h>

#include "bench/kernels/kernels.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

#define MIB ((uint64_t)1 << 20)
#define PIECE (4 * MIB) /* bytes per pwrite of the baseline loop */

struct shape {
    uint64_t tasks;   /* 0: one task per process */
    uint64_t total;   /* bytes of all tasks; 0 if `tasks` is set */
    uint64_t records; /* records of each task, if `tasks` is set */
    uint64_t record;  /* bytes */
    /* write a record of each task in turn, not one task after the other */
    bool in_turn;
};

struct data_work {
    struct bench_common common;
    struct shape shape;
    uint64_t tasks;        /* tasks of this process */
    uint64_t records;      /* records of each task */
    uint64_t chunk;        /* distance between the chunks of neighbouring tasks, bytes */
    uint64_t first_at;     /* offset of this process's first chunk */
    unsigned char *source; /* [period] bytes, written repeatedly */
    uint64_t period;
    bool compared;
    hpcw_sion *sion;
};

static uint64_t round_up(uint64_t x, uint64_t m) {
    return (x + m - 1) / m * m;
}

static hpcw_status data_setup(void *work, const void *parameter, struct bench_amount *amount, hpcw_error *err) {
    struct data_work *w = work;
    const struct bench_site *place = w->common.place;
    w->shape = *(const struct shape *)parameter;
    uint64_t processes = (uint64_t)place->processes->count;
    uint64_t process = (uint64_t)place->processes->process;
    const struct shape *s = &w->shape;
    w->tasks = s->tasks == 0 ? 1 : bench_scaled(place, s->tasks, 1);
    w->records = s->tasks == 0 ? bench_scaled(place, s->total / s->record / processes, 1) : s->records;
    uint64_t size = w->records * s->record;
    w->chunk = round_up(size, place->machine.block_size);
    hpcw_sion_shape shape;
    hpcw_status st = hpcw_sion_shape_of((uint32_t)(w->tasks * processes), place->machine.block_size,
                                        w->chunk * w->tasks * processes, 1, UINT64_MAX, &shape, err);
    if (st != HPCW_OK) {
        return st;
    }
    w->first_at = shape.data_start + w->chunk * w->tasks * process;
    w->period = s->tasks == 0 ? round_up(PIECE, s->record) : size;
    w->source = bench_source((size_t)w->period, place->processes->process);
    if (w->source == NULL) {
        return hpcw_i_fail_memory(err, NULL, w->period, "bytes to write");
    }
    *amount = (struct bench_amount){.bytes = size * w->tasks * processes, .items = w->records * w->tasks};
    return HPCW_OK;
}

static void data_teardown(void *work) {
    struct data_work *w = work;
    hpcw_sion_free(w->sion);
    hpcw_i_free(w->source);
}

enum { CONTAINER = 0, PLAIN = 1 };

static hpcw_status data_prepare(void *work, uint64_t side, hpcw_error *err) {
    struct data_work *w = work;
    hpcw_sion_free(w->sion);
    w->sion = NULL;
    /* The files of all sides stay until they are compared. After that, each run starts without any file. */
    return bench_fresh(&w->common, w->compared ? 3 : 1u << side, w->chunk * w->tasks, err);
}

/* ---- ours ---- */

static hpcw_status ours_open(void *work, hpcw_error *err) {
    struct data_work *w = work;
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = (uint32_t)w->tasks;
    o.chunk_size = w->records * w->shape.record;
    o.durability = HPCW_SYNC_NONE;
    return hpcw_sion_open(w->common.path[CONTAINER], w->common.place->processes->comm, &o, &w->sion, err);
}

static hpcw_status write_tasks(const struct data_work *w, uint32_t first, hpcw_error *err) {
    size_t record = (size_t)w->shape.record;
    hpcw_status s = HPCW_OK;
    for (uint32_t t = 0; t < w->tasks; t++) {
        uint64_t at = 0;
        for (uint64_t k = 0; k < w->records && s == HPCW_OK; k++) {
            s = hpcw_sion_write(w->sion, first + t, w->source + at, record, err);
            at += record;
            at = at == w->period ? 0 : at;
        }
    }
    return s;
}

static hpcw_status write_in_turn(const struct data_work *w, uint32_t first, hpcw_error *err) {
    size_t record = (size_t)w->shape.record;
    hpcw_status s = HPCW_OK;
    for (uint64_t k = 0; k < w->records; k++) {
        for (uint32_t t = 0; t < w->tasks && s == HPCW_OK; t++) {
            s = hpcw_sion_write(w->sion, first + t, w->source + k * record, record, err);
        }
    }
    return s;
}

static hpcw_status ours_write(void *work, hpcw_error *err) {
    const struct data_work *w = work;
    uint32_t first = hpcw_sion_first_rank(w->sion);
    return w->shape.in_turn ? write_in_turn(w, first, err) : write_tasks(w, first, err);
}

static hpcw_status ours_close(void *work, hpcw_error *err) {
    return hpcw_sion_close(((struct data_work *)work)->sion, err);
}

/* ---- the baseline loop of plain pwrites ---- */

static hpcw_status plain_write(void *work, hpcw_error *err) {
    const struct data_work *w = work;
    uint64_t size = w->records * w->shape.record;
    hpcw_status s = HPCW_OK;
    for (uint64_t t = 0; t < w->tasks && s == HPCW_OK; t++) {
        s = bench_plain_pieces(w->common.fd, w->source, w->period, w->first_at + t * w->chunk, size, err);
    }
    return s;
}

static hpcw_status data_check(void *work, hpcw_error *err) {
    struct data_work *w = work;
    w->compared = true;
    return bench_same_bytes(w->common.path[CONTAINER], w->common.path[PLAIN], w->first_at,
                            (w->tasks - 1) * w->chunk + w->records * w->shape.record, err);
}

/* ---- rows ---- */

#define PHASES(who, closing)                                                                                   \
    {BENCH_PHASE("open", who##_open), BENCH_PHASE("write", who##_write), BENCH_PHASE("close", closing)}, NULL, \
        NULL

static const struct bench_side sides[] = {
    {"hpcw", "this library", CONTAINER, data_prepare, PHASES(ours, ours_close)},
    {"loop", "plain pwrites, as large as 4 MiB and the chunk allow", PLAIN, data_prepare,
     BENCH_LOOP(plain_write)},
};

static const struct bench_figure large_figures[] = {
    {"hpcw / loop", BENCH_RATIO, {1, 0}, {0, 0}, {2, 0}, {0, 0}, 1.03, true},
};
static const struct bench_figure small_figures[] = {
    {"hpcw / loop", BENCH_RATIO, {1, 0}, {0, 0}, {2, 0}, {0, 0}, 1.2, false},
    {"hpcw, a record", BENCH_PER_ITEM, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"loop, a record", BENCH_PER_ITEM, {2, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
};
static const struct bench_figure task_figures[] = {
    {"hpcw / loop", BENCH_RATIO, {1, 0}, {0, 0}, {2, 0}, {0, 0}, 1.5, false},
    {"hpcw, a record", BENCH_PER_ITEM, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"hpcw, memory", BENCH_MEMORY, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 128.0 * 1048576, false},
};

static const struct bench_figure turn_figures[] = {
    {"hpcw / loop", BENCH_RATIO, {1, 0}, {0, 0}, {2, 0}, {0, 0}, 2.0, false},
    {"hpcw, a record", BENCH_PER_ITEM, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"hpcw, memory", BENCH_MEMORY, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 128.0 * 1048576, false},
};

#define DATA_KERNEL(name_, what_, needs_, sides_, figures_, ...)                                               \
    {                                                                                                          \
        .name = name_, .what = what_, .needs = needs_, .file = {"records.sion", "records.plain"},              \
        .size = sizeof(struct data_work), .parameter = &(const struct shape)__VA_ARGS__, .setup = data_setup,  \
        .teardown = data_teardown, .subject = {BENCH_ROWS(sides_), data_check}, BENCH_FIGURES(figures_),       \
    }

const struct bench_kernel bench_large_records =
    DATA_KERNEL("large-records", "2 GiB in records of 4 MiB, one task per process", BENCH_SEVERAL_PROCESSES,
                sides, large_figures, {.total = 2048 * MIB, .record = PIECE});
const struct bench_kernel bench_small_records =
    DATA_KERNEL("small-records", "2 GiB in records of 64 bytes, one task per process", BENCH_SEVERAL_PROCESSES,
                sides, small_figures, {.total = 2048 * MIB, .record = 64});
const struct bench_kernel bench_task_after_task =
    DATA_KERNEL("task-after-task", "4096 tasks of 1000 records of 64 bytes, task after task", BENCH_ONE_PROCESS,
                sides, task_figures, {.tasks = 4096, .records = 1000, .record = 64});
const struct bench_kernel bench_round_robin = DATA_KERNEL(
    "round-robin", "4096 tasks of 1000 records of 64 bytes, a record of each task in turn", BENCH_ONE_PROCESS,
    sides, turn_figures, {.tasks = 4096, .records = 1000, .record = 64, .in_turn = true});
