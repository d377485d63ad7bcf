/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints: maps of many ranks, written and read back, and data files with their CRC beside a plain loop. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <hpcw/rank2file.h>

#include "bench/kernels/kernels.h"
#include "bench/kernels/table.h"
#include "bench/measure/workdir.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"

static uint32_t scaled(uint64_t full, double scale) {
    double n = (double)full * scale;
    return n < 1 ? 1 : (uint32_t)n;
}

/* On one process for all. */
static void remove_tree(const struct bench_site *place, const char *path) {
    if (place->processes->process == 0 && path[0] != '\0') {
        bench_remove_tree(path);
    }
}

/* ---- maps ---- */

struct map_work {
    const struct bench_site *place;
    uint32_t ranks;
    char prefix[BENCH_PATH];
    char root[BENCH_PATH + HPCW_RANK2FILE_PATH];
    hpcw_rank2file_options options;
    hpcw_rank2file_map *map;
    hpcw_rank2file_restart *restart;
    char name[64];
    hpcw_rank2file_entry entry;
};

static size_t entries_of(void *context, uint32_t rank, const hpcw_rank2file_entry **entry) {
    struct map_work *w = context;
    memcpy(w->name, "rank_", 5);
    memcpy(hpcw_i_fmt_u64(w->name + 5, rank), ".ckpt", 6);
    w->entry = (hpcw_rank2file_entry){
        .name = w->name, .size = 524288 + rank % 1000, .crc = rank * 2654435761u, .has_crc = true};
    *entry = &w->entry;
    return 1;
}

static hpcw_status make_directory(const char *prefix, const char *name, hpcw_error *err) {
    char path[BENCH_PATH + HPCW_RANK2FILE_PATH];
    (void)snprintf(path, sizeof path, "%s/%s", prefix, name);
    return mkdir(path, 0777) == 0 || errno == EEXIST
               ? HPCW_OK
               : hpcw_i_fail_sys(err, errno, "%s: cannot make the directory", path);
}

static hpcw_status map_setup(const struct bench_site *place, const void *parameter, void **out,
                             struct bench_amount *amount, hpcw_error *err) {
    struct map_work *w = hpcw_i_calloc(1, sizeof *w);
    *out = w;
    if (w == NULL) {
        return hpcw_i_fail_memory(err, NULL, 0, NULL);
    }
    w->place = place;
    w->ranks = scaled(*(const uint32_t *)parameter, place->scale);
    hpcw_rank2file_options_init(&w->options);
    w->options.dataset.id = 1;
    *amount = (struct bench_amount){.items = w->ranks};
    hpcw_status s = bench_path(w->prefix, place, "run", err);
    (void)snprintf(w->root, sizeof w->root, "%s/scr.dataset.1/.scr/rank2file.scr", w->prefix);
    return s;
}

static void map_teardown(void *work) {
    struct map_work *w = work;
    if (w != NULL) {
        hpcw_rank2file_map_free(w->map);
        hpcw_rank2file_restart_free(w->restart);
        remove_tree(w->place, w->prefix);
        hpcw_i_free(w);
    }
}

enum { WRITE, READ };

static hpcw_status map_prepare(void *work, uint64_t side, hpcw_error *err) {
    struct map_work *w = work;
    hpcw_rank2file_map_free(w->map);
    hpcw_rank2file_restart_free(w->restart);
    w->map = NULL;
    w->restart = NULL;
    hpcw_status s = HPCW_OK;
    if (side == WRITE) { /* else the map stays, to be read */
        remove_tree(w->place, w->prefix);
        s = make_directory(w->prefix, "", err);
        s = s == HPCW_OK ? make_directory(w->prefix, "scr.dataset.1", err) : s;
        s = s == HPCW_OK ? make_directory(w->prefix, "scr.dataset.1/.scr", err) : s;
    }
    return s == HPCW_OK ? bench_fresh(w->place, NULL, 0, 0, err) : s;
}

static hpcw_status map_shape(void *work, hpcw_error *err) {
    struct map_work *w = work;
    return hpcw_rank2file_map_new(&w->options, 0, w->ranks, entries_of, w, &w->map, err);
}

static hpcw_status map_nodes(void *work, hpcw_error *err) {
    struct map_work *w = work;
    hpcw_status s = HPCW_OK;
    for (uint32_t i = 0; s == HPCW_OK && i < hpcw_rank2file_map_nodes(w->map); i++) {
        char path[BENCH_PATH + HPCW_RANK2FILE_PATH];
        hpcw_rank2file_node node;
        hpcw_sink *sink = NULL;
        hpcw_rank2file_map_node(w->map, i, &node);
        (void)snprintf(path, sizeof path, "%s/%s", w->prefix, node.path);
        s = hpcw_sink_open_file(path, HPCW_SYNC_NONE, &sink, err);
        if (s == HPCW_OK) {
            s = hpcw_rank2file_map_write(w->map, i, entries_of, w, sink, err);
        }
        if (s == HPCW_OK) {
            s = hpcw_sink_publish(sink, err);
        }
        hpcw_sink_free(sink);
    }
    return s;
}

static hpcw_status map_open(void *work, hpcw_error *err) {
    struct map_work *w = work;
    return hpcw_rank2file_restart_open_root(w->root, NULL, &w->restart, err);
}

static hpcw_status map_load(void *work, hpcw_error *err) {
    return hpcw_rank2file_restart_load(((struct map_work *)work)->restart, 0, NULL, err);
}

/* What was read is what was written. */
static hpcw_status map_check(void *work, hpcw_error *err) {
    struct map_work *w = work;
    hpcw_status s = hpcw_rank2file_restart_files(w->restart) == w->ranks
                        ? HPCW_OK
                        : hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected %u files", w->root, w->ranks);
    for (uint32_t rank = 0; s == HPCW_OK && rank < w->ranks; rank++) {
        const hpcw_rank2file_entry *entry;
        hpcw_rank2file_found f;
        (void)entries_of(w, rank, &entry);
        s = hpcw_rank2file_restart_file(w->restart, rank, &f, err);
        if (s == HPCW_OK && (f.rank != rank || f.size != entry->size || f.crc != entry->crc)) {
            s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: rank %u has another file", w->root, rank);
        }
    }
    return s;
}

static const struct bench_side map_sides[] = {
    {"write",
     "the map, one file per rank",
     WRITE,
     map_prepare,
     {{"shape", map_shape, 0, 0}, {"nodes", map_nodes, 0, 0}},
     NULL,
     NULL},
    {"read", "all of it", READ, map_prepare, {{"open", map_open, 0, 0}, {"load", map_load, 0, 0}}, NULL, NULL},
};

static const struct bench_figure small_map_figures[] = {
    {"write, a rank", BENCH_PER_ITEM, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 150, false},
    {"read, a rank", BENCH_PER_ITEM, {2, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
};
static const struct bench_figure large_map_figures[] = {
    {"write", BENCH_SECONDS, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 0.3, false},
    {"write, memory", BENCH_MEMORY, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 64.0 * 1048576, false},
    {"read", BENCH_SECONDS, {2, 0}, {0, 0}, {0, 0}, {0, 0}, 1, false},
    {"write, a rank", BENCH_PER_ITEM, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"read, a rank", BENCH_PER_ITEM, {2, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
};

#define MAP_KERNEL(name_, what_, figure_, ranks_)                                                              \
    {                                                                                                          \
        .name = name_, .what = what_, .needs = BENCH_ONE_PROCESS, .item = "rank",                              \
        .parameter = &(const uint32_t){ranks_}, .setup = map_setup, .teardown = map_teardown,                  \
        .subject = {map_sides, sizeof map_sides / sizeof map_sides[0], map_check}, .figure = figure_,          \
        .figures = sizeof figure_ / sizeof figure_[0],                                                         \
    }

const struct bench_kernel bench_map_4096 =
    MAP_KERNEL("map-4096", "a rank2file map of 4096 ranks, and back", small_map_figures, 4096);
const struct bench_kernel bench_map_8192 =
    MAP_KERNEL("map-8192", "the same of 8192 ranks, one full leaf", small_map_figures, 8192);
const struct bench_kernel bench_map_million =
    MAP_KERNEL("map-million", "the same of 1048576 ranks", large_map_figures, 1048576);

/* ---- data files ---- */

#define MIB ((uint64_t)1 << 20)
#define PIECE (4 * MIB)

struct payload_work {
    const struct bench_site *place;
    uint64_t size; /* of this process's file, a multiple of PIECE */
    unsigned char *source;
    char prefix[BENCH_PATH];
    char plain[BENCH_PATH];
    char mine[BENCH_PATH + 64]; /* the plain file of this process */
    hpcw_rank2file *w;
    int fd;
    bool compared;
};

static hpcw_status payload_setup(const struct bench_site *place, const void *parameter, void **out,
                                 struct bench_amount *amount, hpcw_error *err) {
    struct payload_work *w = hpcw_i_calloc(1, sizeof *w);
    *out = w;
    if (w == NULL) {
        return hpcw_i_fail_memory(err, NULL, 0, NULL);
    }
    uint64_t processes = (uint64_t)place->processes->count;
    uint64_t total = *(const uint64_t *)parameter;
    w->place = place;
    w->fd = -1;
    w->size = PIECE * scaled(total / PIECE / processes, place->scale);
    w->source = bench_source((size_t)PIECE, place->processes->process);
    if (w->source == NULL) {
        return hpcw_i_fail_memory(err, NULL, PIECE, "bytes to write");
    }
    *amount = (struct bench_amount){.bytes = w->size * processes, .items = w->size / PIECE};
    hpcw_status s = bench_path(w->prefix, place, "run", err);
    s = s == HPCW_OK ? bench_path(w->plain, place, "plain", err) : s;
    (void)snprintf(w->mine, sizeof w->mine, "%s/%d", w->plain, place->processes->process);
    return s;
}

static void payload_teardown(void *work) {
    struct payload_work *w = work;
    hpcw_error ignored;
    if (w != NULL) {
        hpcw_rank2file_free(w->w);
        (void)bench_plain_close(&w->fd, &ignored);
        hpcw_i_free(w->source);
        remove_tree(w->place, w->prefix);
        remove_tree(w->place, w->plain);
        hpcw_i_free(w);
    }
}

static hpcw_status payload_prepare(void *work, uint64_t side, hpcw_error *err) {
    struct payload_work *w = work;
    hpcw_rank2file_free(w->w);
    w->w = NULL;
    if (w->compared || side == 0) {
        remove_tree(w->place, w->prefix);
    }
    if (w->compared || side == 1) {
        remove_tree(w->place, w->plain);
    }
    hpcw_status s = HPCW_OK;
    if (side == 1 && w->place->processes->process == 0) {
        s = make_directory(w->plain, "", err);
    }
    return s == HPCW_OK ? bench_fresh(w->place, NULL, 0, w->size, err) : s;
}

static hpcw_status ours_open(void *work, hpcw_error *err) {
    struct payload_work *w = work;
    hpcw_rank2file_options o;
    hpcw_rank2file_options_init(&o);
    o.dataset.id = 1;
    o.count = 1;
    o.durability = HPCW_SYNC_NONE;
    return hpcw_rank2file_open(w->prefix, w->place->processes->comm, &o, &w->w, err);
}

static hpcw_status ours_write(void *work, hpcw_error *err) {
    struct payload_work *w = work;
    uint32_t rank = hpcw_rank2file_first_rank(w->w);
    hpcw_rank2file_file *file;
    char name[32];
    (void)snprintf(name, sizeof name, "rank_%u.ckpt", rank);
    hpcw_status s = hpcw_rank2file_create(w->w, rank, name, &file, err);
    for (uint64_t at = 0; s == HPCW_OK && at < w->size; at += PIECE) {
        s = hpcw_rank2file_file_write(file, w->source, (size_t)PIECE, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_rank2file_file_close(file, err);
    }
    hpcw_rank2file_file_free(file);
    return s;
}

static hpcw_status ours_close(void *work, hpcw_error *err) {
    return hpcw_rank2file_close(((struct payload_work *)work)->w, err);
}

static hpcw_status plain_open(void *work, hpcw_error *err) {
    struct payload_work *w = work;
    return bench_plain_open(w->mine, &w->fd, err);
}

static hpcw_status plain_write(void *work, hpcw_error *err) {
    struct payload_work *w = work;
    hpcw_status s = HPCW_OK;
    for (uint64_t at = 0; s == HPCW_OK && at < w->size; at += PIECE) {
        s = bench_plain_write(w->fd, w->source, (size_t)PIECE, at, err);
    }
    return s;
}

static hpcw_status plain_close(void *work, hpcw_error *err) {
    return bench_plain_close(&((struct payload_work *)work)->fd, err);
}

static hpcw_status payload_check(void *work, hpcw_error *err) {
    struct payload_work *w = work;
    char path[BENCH_PATH + 64];
    w->compared = true;
    (void)snprintf(path, sizeof path, "%s/scr.dataset.1/rank_%d.ckpt", w->prefix, w->place->processes->process);
    return bench_same_bytes(path, w->mine, 0, w->size, err);
}

static const struct bench_side payload_sides[] = {
    {"hpcw",
     "this library: CRC, map, index",
     0,
     payload_prepare,
     {{"open", ours_open, 0, 0}, {"write", ours_write, 0, 0}, {"close", ours_close, 0, 0}},
     NULL,
     NULL},
    {"loop",
     "plain pwrites of 4 MiB, a file per process, no CRC",
     1,
     payload_prepare,
     {{"open", plain_open, 0, true}, {"write", plain_write, 0, 0}, {"close", plain_close, 0, 0}},
     NULL,
     NULL},
};
static const struct bench_figure payload_figures[] = {
    {"hpcw / loop", BENCH_RATIO, {1, 0}, {0, 0}, {2, 0}, {0, 0}, 1 / 0.9, true},
    {"hpcw", BENCH_RATE, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"loop", BENCH_RATE, {2, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
};

const struct bench_kernel bench_checkpoint = {
    .name = "checkpoint",
    .what = "4 GiB of checkpoint, one file per process, with CRC-32",
    .needs = BENCH_SEVERAL_PROCESSES,
    .parameter = &(const uint64_t){4096 * MIB},
    .setup = payload_setup,
    .teardown = payload_teardown,
    .subject = {payload_sides, sizeof payload_sides / sizeof payload_sides[0], payload_check},
    .figure = payload_figures,
    .figures = sizeof payload_figures / sizeof payload_figures[0],
};
