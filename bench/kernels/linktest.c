/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels for LinkTest results: the model of times and the encoder alone, and a whole run of hpcgen. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/linktest.h>

#include "bench/kernels/kernels.h"
#include "bench/measure/machine.h"
#include "gen/model/linktest/linktest.h"
#include "gen/model/machine/machine.h"
#include "gen/model/network/network.h"
#include "libreader/sion/sion.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Returns the number of tasks. It grows with the root of the scale, since the number of timings grows with the
 * square of the tasks. */
static uint32_t tasks_at(double scale) {
    uint32_t half = (uint32_t)(2048 * sqrt(scale));
    return half < 2 ? 4 : 2 * half;
}

/* ---- model and encoder, each alone, on one processor ---- */

enum { BEST, SCALAR }; /* instruction set of the model */

struct part_work {
    struct bench_common common;
    uint32_t tasks;
    struct model_machine machine;
    struct model_network network;
    struct model_linktest model;
    struct model_linktest_scratch *scratch;
    hpcw_linktest_params params;
    hpcw_linktest_schedule *schedule;
    uint32_t *partner;
    uint64_t *time_ps;
    /* sum of the results, so that the compiler cannot remove the work */
    uint64_t check;
    hpcw_linktest *lt;
};

static hpcw_status part_setup(void *work, const void *parameter, struct bench_amount *amount, hpcw_error *err) {
    (void)parameter;
    struct part_work *w = work;
    uint32_t tasks = w->tasks = tasks_at(w->common.place->scale);
    struct model_machine_params mp;
    struct model_linktest_params lp;
    model_linktest_params_init(&lp);
    hpcw_status s = model_machine_params_init(&mp, model_machine_preset[0].name, err);
    if (s == HPCW_OK) {
        s = model_machine_init(&w->machine, &mp, tasks, 1, err);
    }
    if (s == HPCW_OK) {
        model_network_init(&w->network, &w->machine);
        s = model_linktest_init(&w->model, &w->network, &lp, err);
    }
    if (s == HPCW_OK) {
        s = model_linktest_scratch_new(&w->model, &w->scratch, err);
    }
    if (s == HPCW_OK) {
        hpcw_linktest_params_init(&w->params);
        w->params.tasks = w->params.count = tasks;
        w->params.fs_block_size = w->common.place->machine.block_size;
        w->params.durability = HPCW_SYNC_NONE;
        w->params.sink_source.open = bench_null_sink;
        s = hpcw_linktest_schedule_new(&w->params, 0, &w->schedule, err);
    }
    if (s == HPCW_OK) {
        w->partner = hpcw_i_malloc(tasks * sizeof *w->partner);
        w->time_ps = hpcw_i_malloc(tasks * sizeof *w->time_ps);
        if (w->partner == NULL || w->time_ps == NULL) {
            return hpcw_i_fail_memory(err, NULL, tasks, "timings");
        }
        /* The variant that measures the encoder alone writes this row of times for all ranks. */
        hpcw_linktest_partners(w->schedule, 0, w->partner);
        model_linktest_row(&w->model, w->scratch, 0, 0, 0, tasks - 1, w->partner, w->time_ps, NULL, NULL);
    }
    *amount = (struct bench_amount){.items = (uint64_t)tasks * (tasks - 1)};
    return s;
}

static void part_teardown(void *work) {
    struct part_work *w = work;
    hpcw_linktest_free(w->lt);
    hpcw_linktest_schedule_free(w->schedule);
    model_linktest_scratch_free(w->scratch);
    model_machine_free(&w->machine);
    hpcw_i_free(w->partner);
    hpcw_i_free(w->time_ps);
}

static hpcw_status part_prepare(void *work, uint64_t simd, hpcw_error *err) {
    struct part_work *w = work;
    if (!model_linktest_use(&w->model, simd == SCALAR ? MODEL_SIMD_NONE : model_simd_best())) {
        return hpcw_i_fail(err, HPCW_EINTERNAL, "the model lacks its instruction set");
    }
    hpcw_linktest_free(w->lt);
    w->lt = NULL;
    bench_machine_trim();
    return HPCW_OK;
}

static hpcw_status schedule_rows(void *work, hpcw_error *err) {
    (void)err;
    struct part_work *w = work;
    for (uint32_t rank = 0; rank < w->tasks; rank++) {
        hpcw_linktest_partners(w->schedule, rank, w->partner);
        w->check += w->partner[rank % (w->tasks - 1)];
    }
    return HPCW_OK;
}

static hpcw_status model_rows(void *work, hpcw_error *err) {
    (void)err;
    struct part_work *w = work;
    for (uint32_t rank = 0; rank < w->tasks; rank++) {
        hpcw_linktest_partners(w->schedule, rank, w->partner);
        model_linktest_row(&w->model, w->scratch, rank, 0, 0, w->tasks - 1, w->partner, w->time_ps, NULL, NULL);
        w->check += w->time_ps[rank % (w->tasks - 1)];
    }
    return HPCW_OK;
}

static hpcw_status encode_open(void *work, hpcw_error *err) {
    struct part_work *w = work;
    return hpcw_linktest_open(HPCW_LINKTEST_FILE_NAME, NULL, &w->params, &w->lt, err);
}

static hpcw_status encode(struct part_work *w, bool with_model, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t rank = 0; s == HPCW_OK && rank < w->tasks; rank++) {
        hpcw_linktest_partners(w->schedule, rank, w->partner);
        if (with_model) {
            model_linktest_row(&w->model, w->scratch, rank, 0, 0, w->tasks - 1, w->partner, w->time_ps, NULL,
                               NULL);
        }
        s = hpcw_linktest_task(w->lt, rank, "node00001", 0, err);
        if (s == HPCW_OK) {
            s = hpcw_linktest_timings(w->lt, rank, w->time_ps, w->partner, 0, err);
        }
    }
    return s == HPCW_OK
               ? hpcw_linktest_end_permutation(w->lt, "2000-01-01T00:00:00Z", "2000-01-01T00:00:01Z", NULL, err)
               : s;
}

static hpcw_status encode_rows(void *work, hpcw_error *err) {
    return encode(work, false, err);
}

static hpcw_status model_and_encode_rows(void *work, hpcw_error *err) {
    return encode(work, true, err);
}

static hpcw_status encode_close(void *work, hpcw_error *err) {
    return hpcw_linktest_close(((struct part_work *)work)->lt, err);
}

#define ROWS(run) {BENCH_PHASE("rows", run)}, NULL, NULL
#define ENCODE(rows)                                                                                           \
    {BENCH_PHASE("open", encode_open), BENCH_PHASE("rows", rows), BENCH_PHASE("close", encode_close)}, NULL,   \
        NULL

static const struct bench_side part_sides[] = {
    {"schedule", "partner lists", BEST, part_prepare, ROWS(schedule_rows)},
    {"model", "partner lists, timings", BEST, part_prepare, ROWS(model_rows)},
    {"encode", "partner lists, a container that goes nowhere", BEST, part_prepare, ENCODE(encode_rows)},
    {"all", "partner lists, timings, a container that goes nowhere", BEST, part_prepare,
     ENCODE(model_and_encode_rows)},
    {"model, scalar", "as model, without lanes", SCALAR, part_prepare, ROWS(model_rows)},
};

static const struct bench_figure part_figures[] = {
    {"schedule, a timing", BENCH_PER_ITEM, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"model, a timing", BENCH_PER_ITEM, {2, 0}, {1, 0}, {0, 0}, {0, 0}, 0, false},
    {"model, scalar, a timing", BENCH_PER_ITEM, {5, 0}, {1, 0}, {0, 0}, {0, 0}, 0, false},
    {"encode, a timing", BENCH_PER_ITEM, {3, 0}, {1, 0}, {0, 0}, {0, 0}, 0, false},
    {"all, a timing", BENCH_PER_ITEM, {4, 0}, {0, 0}, {0, 0}, {0, 0}, 8, false},
};

const struct bench_kernel bench_linktest_parts = {
    .name = "linktest-parts",
    .what = "LinkTest of 4096 tasks on one processor, no file",
    .needs = BENCH_ONE_PROCESS,
    .size = sizeof(struct part_work),
    .setup = part_setup,
    .teardown = part_teardown,
    .subject = {BENCH_ROWS(part_sides), NULL},
    BENCH_FIGURES(part_figures),
};

/* ---- a whole run of hpcgen ---- */

struct stream_extent {
    uint64_t at, size;
};

struct linktest_run_work {
    struct bench_generator generator;
    char ranks[16];
    struct stream_extent *extent; /* [extents] streams in hpcgen's file: one chunk of one task each */
    uint32_t extents;
    unsigned char *source; /* [longest extent] */
};

/* Finds the positions of the streams in hpcgen's file. The baseline loop writes to the same positions. */
static hpcw_status read_extents(struct linktest_run_work *w, hpcw_error *err) {
    char path[BENCH_PATH + 64];
    (void)snprintf(path, sizeof path, "%s/linktest/%s", w->generator.common.path[0], HPCW_LINKTEST_FILE_NAME);
    struct read_sion *reader = NULL;
    hpcw_status s = read_sion_open(path, &reader, err);
    uint64_t longest = 0;
    if (s == HPCW_OK) {
        w->extents = read_sion_tasks(reader);
        w->extent = hpcw_i_calloc(w->extents, sizeof *w->extent);
        s = w->extent == NULL ? hpcw_i_fail_memory(err, NULL, w->extents, "chunks") : s;
    }
    for (uint32_t i = 0; s == HPCW_OK && i < w->extents; i++) {
        struct read_sion_task task;
        s = read_sion_task(reader, 0, i, &task, err);
        if (s == HPCW_OK && task.blocks != 1) {
            s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected tasks of one block, got %u", path, task.blocks);
        }
        if (s == HPCW_OK) {
            w->extent[i] = (struct stream_extent){task.start, task.size};
            w->generator.bytes += task.size;
            longest = task.size > longest ? task.size : longest;
        }
    }
    read_sion_free(reader);
    if (s == HPCW_OK) {
        w->source = bench_source((size_t)longest, 0);
        s = w->source == NULL ? hpcw_i_fail_memory(err, NULL, 0, "a chunk") : s;
    }
    return s;
}

static hpcw_status run_setup(void *work, const void *parameter, struct bench_amount *amount, hpcw_error *err) {
    (void)parameter;
    struct linktest_run_work *w = work;
    uint32_t tasks = tasks_at(w->generator.common.place->scale);
    (void)snprintf(w->ranks, sizeof w->ranks, "%u", tasks);
    const char *argument[] = {"--formats=linktest", "--ranks", w->ranks, NULL};
    memcpy(w->generator.argument, argument, sizeof argument);
    hpcw_status s = bench_generator_run(w, err);
    s = s == HPCW_OK ? read_extents(w, err) : s;
    *amount = (struct bench_amount){.bytes = w->generator.bytes, .items = (uint64_t)tasks * (tasks - 1)};
    return s;
}

static void run_teardown(void *work) {
    struct linktest_run_work *w = work;
    hpcw_i_free(w->extent);
    hpcw_i_free(w->source);
}

static hpcw_status plain_write(void *work, hpcw_error *err) {
    const struct linktest_run_work *w = work;
    hpcw_status s = HPCW_OK;
    for (uint32_t i = 0; i < w->extents && s == HPCW_OK; i++) {
        s = bench_plain_write(w->generator.common.fd, w->source, (size_t)w->extent[i].size, w->extent[i].at,
                              err);
    }
    return s;
}

static const struct bench_side run_sides[] = {
    BENCH_HPCGEN(bench_generator_prepare),
    {"loop", "plain pwrites of whole streams, one thread", 0, bench_generator_prepare, BENCH_LOOP(plain_write)},
};

static const struct bench_figure run_figures[] = {
    {"hpcgen / loop", BENCH_RATIO, {1, 0}, {0, 0}, {2, 0}, {0, 0}, 2, false},
    {"hpcgen, a timing", BENCH_PER_ITEM, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"hpcgen, memory", BENCH_MEMORY, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 300.0 * 1e6, false},
};

const struct bench_kernel bench_linktest_run = {
    .name = "linktest-run",
    .what = "hpcgen --ranks 4096 --formats linktest --no-checksums",
    .needs = BENCH_ONE_PROCESS,
    .file = {"dataset", "dataset.plain"},
    .size = sizeof(struct linktest_run_work),
    .setup = run_setup,
    .teardown = run_teardown,
    .subject = {BENCH_ROWS(run_sides), NULL},
    BENCH_FIGURES(run_figures),
};
