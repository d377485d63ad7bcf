/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints: maps of many ranks, written and read back, and data files with CRC compared with a plain loop. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/rank2file.h>

#include "bench/kernels/kernels.h"
#include "bench/measure/workdir.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

/* ---- maps ---- */

struct map_work {
    struct bench_common common; /* file[0] is the prefix directory */
    uint32_t ranks;
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
    int e = hpcw_i_sys_mkdir(path, 0777);
    return e == 0 || e == EEXIST ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot make the directory", path);
}

static hpcw_status map_setup(void *work, const void *parameter, struct bench_amount *amount, hpcw_error *err) {
    struct map_work *w = work;
    (void)err;
    w->ranks = (uint32_t)bench_scaled(w->common.place, *(const uint32_t *)parameter, 1);
    hpcw_rank2file_options_init(&w->options);
    w->options.dataset.id = 1;
    *amount = (struct bench_amount){.items = w->ranks};
    (void)snprintf(w->root, sizeof w->root, "%s/scr.dataset.1/.scr/rank2file.scr", w->common.path[0]);
    return HPCW_OK;
}

static void map_teardown(void *work) {
    struct map_work *w = work;
    hpcw_rank2file_map_free(w->map);
    hpcw_rank2file_restart_free(w->restart);
}

enum { WRITE, READ };

static hpcw_status map_prepare(void *work, uint64_t side, hpcw_error *err) {
    struct map_work *w = work;
    hpcw_rank2file_map_free(w->map);
    hpcw_rank2file_restart_free(w->restart);
    w->map = NULL;
    w->restart = NULL;
    hpcw_status s = HPCW_OK;
    if (side == WRITE) { /* the side READ needs the map that is there */
        bench_remove(w->common.place, w->common.path[0]);
        s = make_directory(w->common.path[0], "", err);
        s = s == HPCW_OK ? make_directory(w->common.path[0], "scr.dataset.1", err) : s;
        s = s == HPCW_OK ? make_directory(w->common.path[0], "scr.dataset.1/.scr", err) : s;
    }
    return s == HPCW_OK ? bench_fresh(&w->common, 0, 0, err) : s;
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
        (void)snprintf(path, sizeof path, "%s/%s", w->common.path[0], node.path);
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

/* Checks that the map read equals the map written. */
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

#define TWO_PHASES(first, second)                                                                              \
    {BENCH_PHASE(#first, map_##first), BENCH_PHASE(#second, map_##second)}, NULL, NULL

static const struct bench_side map_sides[] = {
    {"write", "the map, one file per rank", WRITE, map_prepare, TWO_PHASES(shape, nodes)},
    {"read", "all of it", READ, map_prepare, TWO_PHASES(open, load)},
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

#define MAP_KERNEL(name_, what_, figures_, ranks_)                                                             \
    {                                                                                                          \
        .name = name_, .what = what_, .needs = BENCH_ONE_PROCESS, .file = {"run"},                             \
        .size = sizeof(struct map_work), .parameter = &(const uint32_t){ranks_}, .setup = map_setup,           \
        .teardown = map_teardown, .subject = {BENCH_ROWS(map_sides), map_check}, BENCH_FIGURES(figures_),      \
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
    struct bench_common common; /* file[0] is the prefix directory, file[1] the directory of the plain files */
    uint64_t size;              /* bytes of this process's file, a multiple of PIECE */
    unsigned char *source;
    char mine[BENCH_PATH + 64]; /* plain file of this process */
    hpcw_rank2file *w;
    bool compared;
};

static hpcw_status payload_setup(void *work, const void *parameter, struct bench_amount *amount,
                                 hpcw_error *err) {
    struct payload_work *w = work;
    const struct bench_processes *p = w->common.place->processes;
    uint64_t processes = (uint64_t)p->count;
    uint64_t total = *(const uint64_t *)parameter;
    w->size = PIECE * bench_scaled(w->common.place, total / PIECE / processes, 1);
    w->source = bench_source((size_t)PIECE, p->process);
    *amount = (struct bench_amount){.bytes = w->size * processes, .items = w->size / PIECE};
    (void)snprintf(w->mine, sizeof w->mine, "%s/%d", w->common.path[1], p->process);
    return w->source == NULL ? hpcw_i_fail_memory(err, NULL, PIECE, "bytes to write") : HPCW_OK;
}

static void payload_teardown(void *work) {
    struct payload_work *w = work;
    hpcw_rank2file_free(w->w);
    hpcw_i_free(w->source);
}

static hpcw_status payload_prepare(void *work, uint64_t side, hpcw_error *err) {
    struct payload_work *w = work;
    hpcw_rank2file_free(w->w);
    w->w = NULL;
    if (w->compared || side == 0) {
        bench_remove(w->common.place, w->common.path[0]);
    }
    if (w->compared || side == 1) {
        bench_remove(w->common.place, w->common.path[1]);
    }
    hpcw_status s = HPCW_OK;
    if (side == 1 && w->common.place->processes->process == 0) {
        s = make_directory(w->common.path[1], "", err);
    }
    return s == HPCW_OK ? bench_fresh(&w->common, 0, w->size, err) : s;
}

static hpcw_status ours_open(void *work, hpcw_error *err) {
    struct payload_work *w = work;
    hpcw_rank2file_options o;
    hpcw_rank2file_options_init(&o);
    o.dataset.id = 1;
    o.count = 1;
    o.durability = HPCW_SYNC_NONE;
    return hpcw_rank2file_open(w->common.path[0], w->common.place->processes->comm, &o, &w->w, err);
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

static hpcw_status mine_open(void *work, hpcw_error *err) {
    struct payload_work *w = work;
    return bench_plain_open_path(&w->common, w->mine, err);
}

static hpcw_status mine_write(void *work, hpcw_error *err) {
    const struct payload_work *w = work;
    return bench_plain_pieces(w->common.fd, w->source, PIECE, 0, w->size, err);
}

static hpcw_status payload_check(void *work, hpcw_error *err) {
    struct payload_work *w = work;
    char path[BENCH_PATH + 64];
    w->compared = true;
    (void)snprintf(path, sizeof path, "%s/scr.dataset.1/rank_%d.ckpt", w->common.path[0],
                   w->common.place->processes->process);
    return bench_same_bytes(path, w->mine, 0, w->size, err);
}

#define OPEN_WRITE_CLOSE(opening, write, close)                                                                \
    {opening, BENCH_PHASE("write", write), BENCH_PHASE("close", close)}, NULL, NULL

static const struct bench_side payload_sides[] = {
    {"hpcw", "this library: CRC, map, index", 0, payload_prepare,
     OPEN_WRITE_CLOSE(BENCH_PHASE("open", ours_open), ours_write, ours_close)},
    {"loop", "plain pwrites of 4 MiB, a file per process, no CRC", 1, payload_prepare,
     OPEN_WRITE_CLOSE(BENCH_TOGETHER("open", mine_open), mine_write, bench_plain_close)},
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
    .file = {"run", "plain"},
    .size = sizeof(struct payload_work),
    .parameter = &(const uint64_t){4096 * MIB},
    .setup = payload_setup,
    .teardown = payload_teardown,
    .subject = {BENCH_ROWS(payload_sides), payload_check},
    BENCH_FIGURES(payload_figures),
};
