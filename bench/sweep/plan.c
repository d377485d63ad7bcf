/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/layout/layout.h"
#include "bench/sweep/sweep.h"
#include "libwriter/base/array.h"
#include "libwriter/base/status.h"
#include "ui/cli/text.h"

/* A record of a real program is no power of two. */
#define RECORD (UINT64_C(47) << 10)

struct planner {
    const struct bench_options *o;
    const char *no_direct;
    struct bench_results *r;
    struct bench_planned *planned;
    size_t point_capacity, planned_capacity;
    struct ui_sizes blocks, records, files;
    hpcw_status status;
    hpcw_error *err;
};

/* What is important: the file system's own block size, what is durable, pairs that can be compared. */
enum {
    FIRST = 0,
    PLAIN = 1,
    MPIIO = 3,
    BLOCKS = 10, /* + 2 * distance from the file system's block size */
    MODES = 60,
    FILES = 70,
    RECORDS = 75,
    MODELS = 80,
};

static uint32_t ranks_of(const struct bench_options *o, const struct bench_results *r) {
    return o->ranks != 0 ? o->ranks : r->processes > 64 ? (uint32_t)r->processes : 64;
}

static uint32_t distance(uint64_t a, uint64_t b) {
    uint32_t d = 0;
    for (uint64_t low = a < b ? a : b, high = a < b ? b : a; low > 0 && low < high && d < 20; low *= 2) {
        d++;
    }
    return d;
}

static void cannot(struct bench_point *p, struct bench_planned *planned, const char *why) {
    p->fate = BENCH_LEFT_OUT;
    (void)snprintf(p->reason, sizeof p->reason, "%s", why);
    planned->active = false;
}

static void add(struct planner *pl, enum bench_layout layout, enum bench_mode mode, uint64_t block,
                uint64_t record, uint32_t files, uint32_t priority) {
    const struct bench_layout_row *row = bench_layout_row(layout);
    struct bench_results *r = pl->r;
    if (pl->status != HPCW_OK || (row->modes >> mode & 1) == 0) {
        return;
    }
    struct bench_point *point = hpcw_i_grow(r->point, &pl->point_capacity, r->points + 1, sizeof *point);
    r->point = point != NULL ? point : r->point;
    struct bench_planned *planned =
        hpcw_i_grow(pl->planned, &pl->planned_capacity, r->points + 1, sizeof *planned);
    pl->planned = planned != NULL ? planned : pl->planned;
    if (point == NULL || planned == NULL) {
        pl->status = hpcw_i_fail_memory(pl->err, NULL, r->points + 1, "points");
        return;
    }
    struct bench_point *p = &r->point[r->points];
    *p = (struct bench_point){.layout = layout,
                              .mode = mode,
                              .block_size = block,
                              .record_size = record,
                              .files = files,
                              .twin = SIZE_MAX,
                              .failed_process = -1};
    char size[UI_TEXT_SIZE];
    (void)snprintf(p->id, sizeof p->id, "%s/%s/%s%s", bench_layout_name[layout], bench_mode_name[mode],
                   row->model    ? "real"
                   : row->aligns ? ""
                                 : "records-",
                   row->model ? "" : ui_text_size(size, row->aligns ? block : record));
    if (row->offers_files && files != (uint32_t)pl->files.at[0]) {
        size_t n = strlen(p->id);
        (void)snprintf(p->id + n, sizeof p->id - n, "/%u-files", files);
    }
    pl->planned[r->points] = (struct bench_planned){.priority = priority, .active = true};
    if (row->needs_mpi && r->left_out_mpi[0] != '\0') {
        cannot(p, &pl->planned[r->points], r->left_out_mpi);
    } else if (mode == BENCH_DIRECT && pl->no_direct[0] != '\0') {
        cannot(p, &pl->planned[r->points], pl->no_direct);
    }
    r->points++;
}

/* Everything of one layout in one mode. */
static void add_layout(struct planner *pl, enum bench_layout layout, enum bench_mode mode) {
    const struct bench_layout_row *row = bench_layout_row(layout);
    bool everywhere = mode == BENCH_FSYNC || pl->o->modes != 0;
    uint64_t own = pl->r->fs.block_size;
    uint32_t less = mode == BENCH_FSYNC ? 0 : MODES;
    if (row->model) {
        add(pl, layout, mode, 0, 0, 1, MODELS);
        return;
    }
    if (!row->aligns) {
        for (size_t i = 0; i < pl->records.count && (everywhere || i == 0); i++) {
            add(pl, layout, mode, 0, pl->records.at[i], 1,
                (i > 0            ? RECORDS
                 : row->needs_mpi ? MPIIO
                                  : PLAIN) +
                    (i > 0 ? 0 : less));
        }
        return;
    }
    for (size_t i = 0; i < pl->blocks.count; i++) {
        uint64_t block = pl->blocks.at[i];
        if (!everywhere && block != own) {
            continue;
        }
        uint32_t away = distance(block, own);
        add(pl, layout, mode, block, pl->records.at[0], (uint32_t)pl->files.at[0],
            (away == 0 && layout == BENCH_SION_ALIGNED ? FIRST
                                                       : BLOCKS + 2 * away + (layout == BENCH_SION_PACKED)) +
                less);
    }
    for (size_t i = 1; i < pl->files.count && pl->files.at[i] <= ranks_of(pl->o, pl->r) && everywhere &&
                       layout == BENCH_SION_ALIGNED;
         i++) {
        add(pl, layout, mode, own, pl->records.at[0], (uint32_t)pl->files.at[i], FILES);
    }
}

static void find_twins(struct bench_results *r) {
    for (size_t i = 0; i < r->points; i++) {
        for (size_t k = 0; k < r->points; k++) {
            struct bench_point *a = &r->point[i];
            struct bench_point *b = &r->point[k];
            if (a->layout == BENCH_SION_ALIGNED && b->layout == BENCH_SION_SHIFTED && a->mode == b->mode &&
                a->block_size == b->block_size && a->files == b->files) {
                a->twin = k;
                b->twin = i;
            }
        }
    }
}

static int by_size(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void add_size(struct ui_sizes *sizes, uint64_t size) {
    for (size_t i = 0; i < sizes->count; i++) {
        if (sizes->at[i] == size) {
            return;
        }
    }
    if (sizes->count < UI_SIZES_MAX) {
        sizes->at[sizes->count++] = size;
    }
}

/* Those that were given, or the defaults. */
static void choose(struct ui_sizes *sizes, const struct ui_sizes *given, const uint64_t *usual, size_t count) {
    const uint64_t *size = given->count > 0 ? given->at : usual;
    for (size_t i = 0; i < (given->count > 0 ? given->count : count); i++) {
        add_size(sizes, size[i]);
    }
}

static void choose_sizes(struct planner *pl) {
    const struct bench_options *o = pl->o;
    static const uint64_t blocks[] = {4096, 16384, 65536, 262144, 1048576, 4194304, 16777216};
    static const uint64_t records[] = {RECORD, 4096, 1048576}, files[] = {1, 4};
    choose(&pl->blocks, &o->block_sizes, blocks, sizeof blocks / sizeof blocks[0]);
    if (o->block_sizes.count == 0) {
        add_size(&pl->blocks, pl->r->fs.block_size);
    }
    qsort(pl->blocks.at, pl->blocks.count, sizeof pl->blocks.at[0], by_size);
    choose(&pl->records, &o->records, records, sizeof records / sizeof records[0]);
    choose(&pl->files, &o->files, files, sizeof files / sizeof files[0]);
}

hpcw_status bench_sweep_plan(const struct bench_options *o, const char *no_direct, struct bench_results *r,
                             struct bench_planned **planned, hpcw_error *err) {
    struct planner pl = {.o = o, .no_direct = no_direct, .r = r, .err = err};
    choose_sizes(&pl);
    for (size_t m = 0; m < BENCH_MODES; m++) {
        /* What is durable first, then the rest in the order of the list. */
        enum bench_mode mode = m == 0             ? BENCH_FSYNC
                               : m <= BENCH_FSYNC ? (enum bench_mode)(m - 1)
                                                  : (enum bench_mode)m;
        if (o->modes != 0 && (o->modes >> mode & 1) == 0) {
            continue;
        }
        for (int l = 0; l < BENCH_LAYOUTS; l++) {
            if (o->layouts == 0 || (o->layouts >> l & 1) != 0) {
                add_layout(&pl, (enum bench_layout)l, mode);
            }
        }
    }
    *planned = pl.planned;
    for (size_t i = 0; pl.status == HPCW_OK && i < o->files.count; i++) {
        if (o->files.at[i] > ranks_of(o, r)) {
            pl.status = hpcw_i_fail(err, HPCW_EINVAL,
                                    "--files: expected at most one for each of %u ranks, got %" PRIu64,
                                    ranks_of(o, r), o->files.at[i]);
        }
    }
    if (pl.status == HPCW_OK && r->points == 0) {
        pl.status =
            hpcw_i_fail(err, HPCW_EINVAL, "nothing to measure: none of the layouts has one of these modes");
    }
    if (pl.status == HPCW_OK) {
        find_twins(r);
    }
    return pl.status;
}

/* At most that many records, such that they fill more than half of their last block and not all of it: then no rank
 * ends where a block does, and half a block later its end is in the block of the next one. */
static uint64_t whole_records(uint64_t most, uint64_t record, uint64_t block) {
    enum { TRIES = 1000 };
    most = most == 0 ? 1 : most;
    for (uint64_t n = most; n > 0 && most - n < TRIES; n--) {
        if (n * record % block > block / 2) {
            return n * record;
        }
    }
    return most * record;
}

void bench_sweep_sizes(const struct bench_options *o, struct bench_results *r, uint64_t bytes) {
    uint32_t ranks = ranks_of(o, r);
    uint64_t record = o->records.count > 0 ? o->records.at[0] : RECORD;
    uint64_t rank_size =
        o->per_rank != 0 ? o->per_rank : whole_records(bytes / ranks / record, record, r->fs.block_size);
    for (size_t i = 0; i < r->points; i++) {
        struct bench_point *p = &r->point[i];
        const struct bench_layout_row *row = bench_layout_row(p->layout);
        if (row->model) {
            continue;
        }
        p->ranks = ranks;
        p->rank_size = rank_size;
        p->record_size = p->record_size < rank_size ? p->record_size : rank_size;
        p->files = p->layout == BENCH_TASK_LOCAL ? ranks : p->files;
        p->bytes = rank_size * ranks;
    }
}

/* ---- the budget ---- */

/* What a point costs counts as much as how dispensable it is: of two that are equally so the longer one goes. */
enum { IMPORTANT = 10 };

double bench_sweep_scale(const struct bench_results *r, const struct bench_planned *planned, uint64_t left_ns,
                         uint32_t runs) {
    double fixed = 0;
    double scalable = 0;
    for (size_t i = 0; i < r->points; i++) {
        const struct bench_planned *p = &planned[i];
        double ns = !p->active || p->runs == 0 ? 0 : (double)p->spent_ns / p->runs * runs;
        if (bench_layout_row(r->point[i].layout)->model) {
            fixed += ns;
        } else {
            scalable += ns;
        }
    }
    return scalable > 0 && (double)left_ns > fixed ? ((double)left_ns - fixed) / scalable : 1;
}

static uint64_t pair_ns(const struct bench_planned *p, uint64_t guess_ns) {
    return p->runs == 0 ? guess_ns : p->spent_ns / p->runs;
}

bool bench_sweep_fit(const struct bench_options *o, struct bench_results *r, struct bench_planned *planned,
                     uint32_t runs, uint64_t left_ns, uint64_t guess_ns) {
    for (;;) {
        uint64_t all = 0;
        size_t worst = SIZE_MAX;
        double most = 0;
        bool any = false;
        for (size_t i = 0; i < r->points; i++) {
            const struct bench_planned *p = &planned[i];
            any = any || p->active;
            if (p->active && p->runs < runs) {
                all += (runs - p->runs) * pair_ns(p, guess_ns);
                double cost =
                    (double)(runs - p->runs) * (double)pair_ns(p, guess_ns) * (IMPORTANT + p->priority);
                worst = worst == SIZE_MAX || cost >= most ? i : worst;
                most = worst == i ? cost : most;
            }
        }
        if (all <= left_ns) {
            return any;
        }
        char budget[UI_TEXT_SIZE], pair[UI_TEXT_SIZE], why[256];
        (void)snprintf(why, sizeof why, "the budget of %s is too small for it: a run with its ceiling takes %s",
                       ui_text_duration(budget, o->budget),
                       ui_text_duration(pair, (double)pair_ns(&planned[worst], guess_ns) * 1e-9));
        cannot(&r->point[worst], &planned[worst], why);
    }
}
