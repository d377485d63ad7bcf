/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels for load-balancing files. Each kernel writes or reads one rank with 100 000 tasks of two subphases and
 * 300 000 edges in one phase: 97.9 MB of JSON. All times are whole nanoseconds, all volumes whole bytes. */
#include <inttypes.h>

#include <brotli/encode.h>

#include <hpcw/vom.h>

#include "bench/kernels/kernels.h"
#include "bench/measure/machine.h"
#include "bench/measure/random.h"
#include "libreader/vom/set/verify.h"
#include "libreader/vom/vom.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

#define MIB ((uint64_t)1 << 20)
#define PIECE (4 * MIB) /* bytes per pwrite of the baseline loop */
#define TASKS 100000
#define EDGES_TO_EACH 3
#define FEWEST_TASKS 4 /* so that each task has three others to receive from */

/* Index in bench_kernel.file. OURS_FILE: output of the library. PLAIN_FILE: output of the baseline loop. TEXT_FILE:
 * the JSON text, as input. */
enum { OURS_FILE, PLAIN_FILE, TEXT_FILE };

struct vom_work {
    struct bench_common common;
    uint64_t tasks;
    uint64_t size; /* bytes of the JSON text */
    /* [size] JSON text in runs that need it as input; NULL in others, whose peak memory it would raise */
    unsigned char *data;
    bool compared;
    bool check; /* the library's option `check` */
    hpcw_vom *v;
    int quality, window;
    uint64_t outcome; /* bytes of the last run's output */
};

/* ---- the phase that is written ---- */

static hpcw_status add_edges(hpcw_vom *v, uint64_t tasks, uint64_t *random, hpcw_error *err) {
    uint64_t here = 0;
    uint64_t there = 0;
    hpcw_vom_edge edge = {.category = HPCW_VOM_SEND_RECV,
                          .from = hpcw_vom_element(0, 0, hpcw_vom_collection_id(0), &there, 1),
                          .to = hpcw_vom_element(0, 0, hpcw_vom_collection_id(0), &here, 1)};
    hpcw_status s = HPCW_OK;
    for (; here < tasks && s == HPCW_OK; here++) {
        edge.to.id = hpcw_vom_element_id(0, here, true);
        for (int k = 0; k < EDGES_TO_EACH && s == HPCW_OK; k++) {
            uint64_t r = bench_random(random);
            /* Edges from both neighbours and from another task. */
            uint64_t away = k == 0 ? tasks - 1 : k == 1 ? 1 : 2 + r % (tasks - 3);
            there = (here + away) % tasks;
            edge.from.id = hpcw_vom_element_id(0, there, true);
            edge.bytes = (double)(64 + (r >> 20) % 65536);
            edge.messages = 1 + (r >> 40) % 40;
            s = hpcw_vom_edge_add(v, &edge, err);
        }
    }
    return s;
}

static hpcw_status add_tasks(hpcw_vom *v, uint64_t tasks, uint64_t *random, hpcw_error *err) {
    uint64_t here = 0;
    uint64_t part_ns[2];
    hpcw_vom_task task = {.entity = hpcw_vom_element(0, 0, hpcw_vom_collection_id(0), &here, 1),
                          .whole_ns = true,
                          .subphase_ns = part_ns,
                          .subphases = 2};
    hpcw_status s = HPCW_OK;
    for (; here < tasks && s == HPCW_OK; here++) {
        uint64_t r = bench_random(random);
        task.entity.id = hpcw_vom_element_id(0, here, true);
        task.time_ns = 100000 + r % 10000000;
        part_ns[0] = task.time_ns / 3 + (r >> 40) % 10000;
        part_ns[1] = task.time_ns - part_ns[0];
        s = hpcw_vom_task_add(v, &task, err);
    }
    return s;
}

static hpcw_status open_file(struct vom_work *w, const char *path, hpcw_error *err) {
    hpcw_vom_options o;
    hpcw_vom_options_init(&o);
    o.durability = HPCW_SYNC_NONE;
    o.check = w->check;
    return hpcw_vom_open(path, &o, &w->v, err);
}

static hpcw_status add_records(void *work, hpcw_error *err) {
    const struct vom_work *w = work;
    uint64_t random = 1;
    hpcw_status s = hpcw_vom_begin_phase(w->v, 0, err);
    if (s == HPCW_OK) {
        s = add_edges(w->v, w->tasks, &random, err);
    }
    if (s == HPCW_OK) {
        s = add_tasks(w->v, w->tasks, &random, err);
    }
    return s == HPCW_OK ? hpcw_vom_end_phase(w->v, NULL, 0, err) : s;
}

static hpcw_status close_file(void *work, hpcw_error *err) {
    return hpcw_vom_close(((struct vom_work *)work)->v, err);
}

static hpcw_status write_file(struct vom_work *w, const char *path, hpcw_error *err) {
    hpcw_status s = open_file(w, path, err);
    if (s == HPCW_OK) {
        s = add_records(w, err);
    }
    if (s == HPCW_OK) {
        s = close_file(w, err);
    }
    w->size = hpcw_vom_text_size(w->v);
    hpcw_vom_free(w->v);
    w->v = NULL;
    return s;
}

/* ---- what the kernels share ---- */

static const bool verify = true; /* value of bench_kernel.parameter: setup writes OURS_FILE */

static hpcw_status vom_setup(void *work, const void *parameter, struct bench_amount *amount, hpcw_error *err) {
    struct vom_work *w = work;
    w->tasks = bench_scaled(w->common.place, TASKS, FEWEST_TASKS);
    hpcw_status s = parameter == &verify ? write_file(w, w->common.path[OURS_FILE], err) : HPCW_OK;
    if (s == HPCW_OK) {
        s = write_file(w, w->common.path[TEXT_FILE], err);
    }
    *amount = (struct bench_amount){.bytes = w->size, .items = w->tasks * (1 + EDGES_TO_EACH)};
    return s;
}

static void vom_teardown(void *work) {
    struct vom_work *w = work;
    hpcw_vom_free(w->v);
    hpcw_i_free(w->data);
}

/* Frees the memory of the last run, and trims the heap to its state before the first run. */
static void tidy(struct vom_work *w) {
    hpcw_vom_free(w->v);
    w->v = NULL;
    hpcw_i_free(w->data);
    w->data = NULL;
    bench_machine_trim();
}

static hpcw_status read_text(struct vom_work *w, hpcw_error *err) {
    const char *path = w->common.path[TEXT_FILE];
    size_t got = 0;
    hpcw_status s = bench_read_file(path, w->size, &w->data, &got, err);
    return s == HPCW_OK && got != w->size
               ? hpcw_i_fail(err, HPCW_ETRUNCATED, "%s: ends at %zu of %" PRIu64 " bytes", path, got, w->size)
               : s;
}

static hpcw_status nothing(void *work, hpcw_error *err) {
    (void)work;
    (void)err;
    return HPCW_OK;
}

static uint64_t size_of_ours(const void *work) {
    const struct vom_work *w = work;
    uint64_t size;
    return hpcw_i_sys_size_of(w->common.path[OURS_FILE], &size) == 0 ? size : 0;
}

#define NOTHING                                                                                                \
    {                                                                                                          \
        .name = "nothing", .what = "for the memory of a run that does nothing", .prepare = idle_prepare,       \
        .phase = {BENCH_UNTIMED("run", nothing)},                                                              \
    }

static hpcw_status idle_prepare(void *work, uint64_t parameter, hpcw_error *err) {
    (void)parameter;
    (void)err;
    tidy(work);
    return HPCW_OK;
}

#define VOM_KERNEL(name_, what_, ours, before, sides, check, ...)                                              \
    {                                                                                                          \
        .name = name_, .what = what_, .needs = BENCH_ONE_PROCESS,                                              \
        .file = {ours, "plain.0.json", "text.0.json"}, .size = sizeof(struct vom_work), .parameter = before,   \
        .setup = vom_setup, .teardown = vom_teardown, .subject = {BENCH_ROWS(sides), check}, __VA_ARGS__       \
    }

/* ---- plain ---- */

enum plain_side { OURS, CHECKED, LOOP };

static hpcw_status plain_prepare(void *work, uint64_t side, hpcw_error *err) {
    struct vom_work *w = work;
    tidy(w);
    w->check = side == CHECKED;
    unsigned loop = 1u << PLAIN_FILE, ours = 1u << OURS_FILE;
    /* Both files stay until they are compared. After that, each run starts without any file. */
    hpcw_status s = bench_fresh(&w->common,
                                w->compared    ? ours | loop
                                : side == LOOP ? loop
                                               : ours,
                                w->size, err);
    return s == HPCW_OK && side == LOOP ? read_text(w, err) : s;
}

static hpcw_status ours_open(void *work, hpcw_error *err) {
    struct vom_work *w = work;
    return open_file(w, w->common.path[OURS_FILE], err);
}

static hpcw_status loop_write(void *work, hpcw_error *err) {
    const struct vom_work *w = work;
    hpcw_status s = HPCW_OK;
    for (uint64_t at = 0; at < w->size && s == HPCW_OK; at += PIECE) {
        uint64_t n = w->size - at < PIECE ? w->size - at : PIECE;
        s = bench_plain_write(w->common.fd, w->data + at, (size_t)n, at, err);
    }
    return s;
}

static hpcw_status plain_check(void *work, hpcw_error *err) {
    struct vom_work *w = work;
    w->compared = true;
    return bench_same_bytes(w->common.path[OURS_FILE], w->common.path[PLAIN_FILE], 0, w->size, err);
}

#define OURS_SIDE(name_, what_, parameter_, prepare_)                                                          \
    {                                                                                                          \
        .name = name_, .what = what_, .parameter = parameter_, .prepare = prepare_,                            \
        .phase = {BENCH_PHASE("open", ours_open), BENCH_PHASE("records", add_records),                         \
                  BENCH_PHASE("close", close_file)},                                                           \
        .size = size_of_ours,                                                                                  \
    }

static const struct bench_side plain_sides[] = {
    OURS_SIDE("hpcw", "this library", OURS, plain_prepare),
    {"loop", "plain pwrites of 4 MiB", LOOP, plain_prepare, BENCH_LOOP(loop_write)},
    OURS_SIDE("hpcw, check", "this library, with its option check", CHECKED, plain_prepare),
    NOTHING,
};

static const struct bench_figure plain_figures[] = {
    {"hpcw / loop", BENCH_RATIO, {1, 0}, {0, 0}, {2, 0}, {0, 0}, 2, false},
    {"hpcw", BENCH_RATE, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 1.7e9, false},
    {"hpcw, memory", BENCH_MEMORY, {1, 0}, {4, 0}, {0, 0}, {0, 0}, 8.0 * MIB, false},
    {"hpcw, check", BENCH_RATE, {3, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"hpcw, check, memory", BENCH_MEMORY, {3, 0}, {4, 0}, {0, 0}, {0, 0}, 0, false},
};

const struct bench_kernel bench_vom_plain =
    VOM_KERNEL("vom-plain", "load-balancing data of one rank, 100 000 tasks and 300 000 edges, as plain text",
               "ours.0.json", NULL, plain_sides, plain_check, BENCH_FIGURES(plain_figures));

/* ---- compressed ---- */

#define SETTING(quality, window) ((uint64_t)(quality)*100 + (window))

static hpcw_status stream_prepare(void *work, uint64_t parameter, hpcw_error *err) {
    (void)parameter;
    struct vom_work *w = work;
    tidy(w);
    return bench_fresh(&w->common, 1u << OURS_FILE, w->size / 4, err);
}

static hpcw_status alone_prepare(void *work, uint64_t setting, hpcw_error *err) {
    struct vom_work *w = work;
    tidy(w);
    hpcw_brotli_options defaults;
    hpcw_brotli_options_init(&defaults);
    w->quality = setting == 0 ? defaults.quality : (int)(setting / 100);
    w->window = setting == 0 ? defaults.window : (int)(setting % 100);
    return read_text(w, err);
}

/* Compresses the whole text in memory at once, and discards the result. */
static hpcw_status alone(void *work, hpcw_error *err) {
    struct vom_work *w = work;
    BrotliEncoderState *state = BrotliEncoderCreateInstance(NULL, NULL, NULL);
    const uint8_t *in = w->data;
    size_t size = (size_t)w->size;
    w->outcome = 0;
    bool good = state != NULL && BrotliEncoderSetParameter(state, BROTLI_PARAM_QUALITY, (uint32_t)w->quality) &&
                BrotliEncoderSetParameter(state, BROTLI_PARAM_LGWIN, (uint32_t)w->window);
    while (good && !BrotliEncoderIsFinished(state)) {
        size_t room =
            0; /* no output buffer: the encoder keeps its output, which is then taken without a copy */
        good = BrotliEncoderCompressStream(state, BROTLI_OPERATION_FINISH, &size, &in, &room, NULL, NULL);
        size_t taken = 0;
        (void)BrotliEncoderTakeOutput(state, &taken);
        w->outcome += taken;
    }
    if (state != NULL) {
        BrotliEncoderDestroyInstance(state);
    }
    return good ? HPCW_OK : hpcw_i_fail(err, HPCW_ENOMEM, "brotli: the encoder failed");
}

static uint64_t size_of_stream(const void *work) {
    return ((const struct vom_work *)work)->outcome;
}

#define ALONE(name_, what_, setting_)                                                                          \
    {                                                                                                          \
        .name = name_, .what = what_, .parameter = setting_, .prepare = alone_prepare,                         \
        .phase = {BENCH_PHASE("compress", alone)}, .size = size_of_stream,                                     \
    }

static const struct bench_side stream_sides[] = {
    OURS_SIDE("hpcw", "this library, with its defaults", 0, stream_prepare),
    ALONE("brotli", "the encoder alone, of the same text, with the same quality and window", 0),
    ALONE("vt's setting", "the encoder alone, of the same text, quality 8, window 20", SETTING(8, 20)),
    NOTHING,
};

static const struct bench_figure stream_figures[] = {
    {"hpcw / brotli", BENCH_RATIO, {1, 0}, {0, 0}, {2, 0}, {0, 0}, 1.2, false},
    {"hpcw, text", BENCH_RATE, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 180e6, false},
    {"hpcw / vt's setting, bytes", BENCH_SIZES, {1, 0}, {0, 0}, {3, 0}, {0, 0}, 1, false},
    {"hpcw, memory", BENCH_MEMORY, {1, 0}, {4, 0}, {0, 0}, {0, 0}, 24.0 * MIB, false},
};

const struct bench_kernel bench_vom_compressed =
    VOM_KERNEL("vom-compressed", "the same, through brotli", "ours.0.json.br", NULL, stream_sides, NULL,
               BENCH_FIGURES(stream_figures));

/* Settings of brotli, quality/window, to compare with the default. */
#define FRONT(quality, window) ALONE(#quality "/" #window, "quality/window", SETTING(quality, window))

static const struct bench_side front_sides[] = {FRONT(2, 18), FRONT(3, 18), FRONT(4, 17), FRONT(4, 18),
                                                FRONT(4, 20), FRONT(4, 22), FRONT(5, 18), FRONT(5, 20),
                                                FRONT(6, 18), FRONT(7, 20), FRONT(8, 20), FRONT(9, 20)};

const struct bench_kernel bench_vom_settings =
    VOM_KERNEL("vom-settings", "its text through the encoder alone, by quality and window", "ours.0.json.br",
               NULL, front_sides, NULL, .figures = 0);

/* ---- read ---- */

static hpcw_status verify_text(void *work, hpcw_error *err) {
    return read_vom_verify(((struct vom_work *)work)->common.path[TEXT_FILE], READ_VOM_STRICT, err);
}

static hpcw_status parse_text(void *work, hpcw_error *err) {
    return read_vom_verify(((struct vom_work *)work)->common.path[TEXT_FILE], READ_VOM_STRICT | READ_VOM_PARSED,
                           err);
}

static hpcw_status verify_stream(void *work, hpcw_error *err) {
    return read_vom_verify(((struct vom_work *)work)->common.path[OURS_FILE], READ_VOM_STRICT, err);
}

#define VERIFY(run) {BENCH_PHASE("verify", run)}, NULL, NULL

static const struct bench_side verify_sides[] = {
    {"plain", "the strict check of a plain file", 0, idle_prepare, VERIFY(verify_text)},
    {"compressed", "the strict check of the same text, compressed", 0, idle_prepare, VERIFY(verify_stream)},
    {"parsed", "the strict check of the plain file, no record taken whole", 0, idle_prepare,
     VERIFY(parse_text)},
    NOTHING,
};

static const struct bench_figure verify_figures[] = {
    {"plain", BENCH_RATE, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 500e6, false},
    {"compressed, text", BENCH_RATE, {2, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"compressed / plain", BENCH_RATIO, {2, 0}, {0, 0}, {1, 0}, {0, 0}, 1 / 0.8, false},
    {"parsed", BENCH_RATE, {3, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"memory, with the ids of one phase", BENCH_MEMORY, {2, 0}, {4, 0}, {0, 0}, {0, 0}, 64.0 * MIB, false},
};

const struct bench_kernel bench_vom_verify =
    VOM_KERNEL("vom-verify", "the same, read and checked", "ours.0.json.br", &verify, verify_sides, NULL,
               BENCH_FIGURES(verify_figures));
