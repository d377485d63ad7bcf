/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/layout/layout.h"
#include "bench/sweep/sweep.h"
#include "libwriter/base/array.h"
#include "libwriter/base/status.h"
#include "ui/cli/text.h"

/* Default size of a record, bytes. It is no power of two, as the records of real programs. */
#define RECORD (UINT64_C(47) << 10)

struct planner {
    const struct bench_options *o;
    const char *no_direct;
    struct bench_results *r;
    struct bench_planned *planned;
    size_t point_capacity, planned_capacity;
    struct ui_sizes blocks, records, files;
    uint32_t ranks;
    uint64_t rank_size;
    hpcw_status status;
    hpcw_error *err;
};

/*
 * Priorities of points. Points get their share of the budget in ascending order. The main question is the block
 * size. So sion-aligned and sion-shifted (unaligned) come first: at BENCH_QUESTION_SIZES block sizes, then at the
 * other sizes. Points that could change the advice follow, and all other points are last.
 */
enum {
    QUESTION = 0, /* + 2 * number of the block size; + 1 for sion-shifted */
    STEPS = 10,   /* as QUESTION, for the other block sizes */
    PLAIN = 200,
    PACKED = 201,
    MPIIO = 202,
    MODES = 203, /* aligned containers with preallocation or O_DIRECT, which may be fastest */
    RECORDS = 210,
    FILES = 211,
    PACKED_STEPS = 212,
    OTHERS = 300,
};

/* The first size of records. The other sizes are for plain files only. */
#define FIRST_RECORD(o) ((o)->records.count > 0 ? (o)->records.at[0] : RECORD)

uint32_t bench_sweep_ranks(const struct bench_options *o, const struct bench_results *r) {
    return o->ranks != 0 ? o->ranks : r->processes > 64 ? (uint32_t)r->processes : 64;
}

/* Returns the bytes of a rank: whole records, at least `least` bytes, that do not end at the end of a block.
 * The unused end of the last block is shorter than the shift of sion-shifted. So ranks of sion-shifted share
 * blocks if the block of the container is that of the file system. */
static uint64_t whole_records(uint64_t least, uint64_t record, uint64_t block) {
    enum { TRIES = 1000 };
    uint64_t first = least <= record ? 1 : (least - 1) / record + 1;
    for (uint64_t n = first; n < first + TRIES; n++) {
        if (n * record % block > block - bench_layout_shift(BENCH_SION_SHIFTED, block)) {
            return n * record;
        }
    }
    return first * record;
}

static uint64_t rank_size_of(const struct bench_options *o, const struct bench_results *r, uint64_t bytes) {
    return o->per_rank != 0 ? o->per_rank
                            : whole_records((bytes + bench_sweep_ranks(o, r) - 1) / bench_sweep_ranks(o, r),
                                            FIRST_RECORD(o), r->fs.block_size);
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
    if (record > pl->rank_size) {
        record = pl->rank_size; /* no write is larger than the data of a rank */
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
                   row->aligns ? "" : "records-", ui_text_size(size, row->aligns ? block : record));
    if (row->offers_files && files != (uint32_t)pl->files.at[0]) {
        size_t n = strlen(p->id);
        (void)snprintf(p->id + n, sizeof p->id - n, "/%u-files", files);
    }
    if (bench_results_find(r, p->id) != NULL) {
        return; /* the point exists already */
    }
    pl->planned[r->points] = (struct bench_planned){.priority = priority, .active = true};
    if (row->missing != NULL) {
        cannot(p, &pl->planned[r->points], row->missing);
    } else if (row->needs_mpi && r->left_out_mpi[0] != '\0') {
        cannot(p, &pl->planned[r->points], r->left_out_mpi);
    } else if (pl->o->stonewall > 0 && row->together) {
        cannot(p, &pl->planned[r->points], "its processes cannot stop at --stonewall");
    } else if (mode == BENCH_DIRECT && pl->no_direct[0] != '\0') {
        cannot(p, &pl->planned[r->points], pl->no_direct);
    }
    r->points++;
}

/* Returns the position of a block size in the order of measuring. The block size of the file system is first, the
 * largest size is second. Each next size is the one that is farthest from all sizes before. size: index in
 * pl->blocks, which is ascending. */
static uint32_t place_of(const struct planner *pl, size_t size) {
    bool taken[UI_SIZES_MAX] = {false};
    size_t next = 0;
    for (size_t i = 1; i < pl->blocks.count; i++) {
        next = pl->blocks.at[i] <= pl->r->fs.block_size ? i : next;
    }
    for (uint32_t place = 0;; place++) {
        if (next == size) {
            return place;
        }
        taken[next] = true;
        /* After the first size, take the largest one, then always the size that is farthest from all taken
         * sizes. */
        size_t farthest = 0;
        next = pl->blocks.count - 1;
        for (size_t i = 0; i < pl->blocks.count && (place > 0 || taken[next]); i++) {
            size_t away = SIZE_MAX;
            for (size_t k = 0; k < pl->blocks.count; k++) {
                const size_t d = i > k ? i - k : k - i;
                away = taken[k] && d < away ? d : away;
            }
            next = away > farthest ? i : next;
            farthest = away > farthest ? away : farthest;
        }
    }
}

static uint32_t priority_of(const struct planner *pl, enum bench_layout layout, enum bench_mode mode,
                            size_t size) {
    const uint32_t place = place_of(pl, size);
    return mode != BENCH_FSYNC ? (layout == BENCH_SION_ALIGNED && place == 0 ? MODES : OTHERS)
           : layout == BENCH_SION_PACKED
               ? (place == 0 ? PACKED : PACKED_STEPS)
               : (place < BENCH_QUESTION_SIZES ? QUESTION : STEPS) + 2 * place + (layout == BENCH_SION_SHIFTED);
}

/* Adds all points of one layout in one mode. */
static void add_layout(struct planner *pl, enum bench_layout layout, enum bench_mode mode) {
    const struct bench_layout_row *row = bench_layout_row(layout);
    bool everywhere = mode == BENCH_FSYNC || pl->o->modes != 0;
    uint64_t own = pl->r->fs.block_size;
    if (!row->aligns) {
        for (size_t i = 0; i < pl->records.count && (everywhere || i == 0); i++) {
            add(pl, layout, mode, 0, pl->records.at[i], 1,
                mode != BENCH_FSYNC ? OTHERS
                : i > 0             ? RECORDS
                : row->needs_mpi    ? MPIIO
                                    : PLAIN);
        }
        return;
    }
    for (size_t i = 0; i < pl->blocks.count; i++) {
        uint64_t block = pl->blocks.at[i];
        if (everywhere || block == own) {
            add(pl, layout, mode, block, pl->records.at[0], (uint32_t)pl->files.at[0],
                priority_of(pl, layout, mode, i));
        }
    }
    for (size_t i = 1;
         i < pl->files.count && pl->files.at[i] <= pl->ranks && everywhere && layout == BENCH_SION_ALIGNED;
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

/* Copies the sizes that the user gave, or the defaults. */
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

/* Returns whether a layout or a mode is measured. By default, all are measured that can change the advice. The mode
 * buffered cannot, since runs with fsync have its rates, too. HDF5 cannot, since it writes by MPI-IO, which has
 * layouts of its own. */
static bool chosen(uint64_t given, int index, bool usual) {
    return given == 0 ? usual : (given >> index & 1) != 0;
}

hpcw_status bench_sweep_plan(const struct bench_options *o, const char *no_direct, uint64_t bytes,
                             struct bench_results *r, struct bench_planned **planned, hpcw_error *err) {
    struct planner pl = {.o = o,
                         .no_direct = no_direct,
                         .r = r,
                         .err = err,
                         .ranks = bench_sweep_ranks(o, r),
                         .rank_size = rank_size_of(o, r, bytes)};
    choose_sizes(&pl);
    for (size_t m = 0; m < BENCH_MODES; m++) {
        /* fsync comes first, the other modes in the order of the list. */
        enum bench_mode mode = m == 0             ? BENCH_FSYNC
                               : m <= BENCH_FSYNC ? (enum bench_mode)(m - 1)
                                                  : (enum bench_mode)m;
        if (!chosen(o->modes, (int)mode, mode != BENCH_BUFFERED)) {
            continue;
        }
        for (int l = 0; l < BENCH_LAYOUTS; l++) {
            if (chosen(o->layouts, l, l < BENCH_HDF5_INDEPENDENT)) {
                add_layout(&pl, (enum bench_layout)l, mode);
            }
        }
    }
    *planned = pl.planned;
    for (size_t i = 0; pl.status == HPCW_OK && i < o->files.count; i++) {
        if (o->files.at[i] > pl.ranks) {
            pl.status = hpcw_i_fail(err, HPCW_EINVAL,
                                    "--files: expected at most one for each of %u ranks, got %" PRIu64,
                                    pl.ranks, o->files.at[i]);
        }
    }
    if (pl.status == HPCW_OK && r->points == 0) {
        pl.status =
            hpcw_i_fail(err, HPCW_EINVAL, "nothing to measure: none of the layouts has one of these modes");
    }
    if (pl.status == HPCW_OK) {
        find_twins(r);
        bench_sweep_sizes(o, r, bytes);
    }
    return pl.status;
}

void bench_sweep_sizes(const struct bench_options *o, struct bench_results *r, uint64_t bytes) {
    uint32_t ranks = bench_sweep_ranks(o, r);
    uint64_t rank_size = rank_size_of(o, r, bytes);
    for (size_t i = 0; i < r->points; i++) {
        struct bench_point *p = &r->point[i];
        p->ranks = ranks;
        p->rank_size = rank_size;
        p->files = p->layout == BENCH_TASK_LOCAL ? ranks : p->files;
        p->bytes = rank_size * ranks;
        p->blocks.counted = false;
    }
}

/* ---- the budget ---- */

static uint64_t pair_ns(const struct bench_planned *p) {
    return p->runs == 0 ? 0 : p->spent_ns / p->runs;
}

static void no_time(const struct bench_options *o, struct bench_point *p, struct bench_planned *planned) {
    char budget[UI_TEXT_SIZE], why[96];
    (void)snprintf(why, sizeof why, "%s%s is too small for it", bench_results_budget,
                   ui_text_duration(budget, o->budget));
    cannot(p, planned, why);
}

/* Returns the number of runs that must fit into the budget for a point to stay. Points of priority QUESTION need
 * fewer runs than others, because neither sion-aligned nor sion-shifted shows anything alone. */
static uint32_t runs_of(const struct bench_planned *p, uint32_t runs) {
    const bool question = p->priority < STEPS;
    return question && runs > BENCH_FEWEST_REPEAT + 1 ? BENCH_FEWEST_REPEAT + 1 : runs;
}

bool bench_sweep_admit(const struct bench_options *o, struct bench_results *r, struct bench_planned *planned,
                       size_t index, uint32_t runs, uint64_t left_ns, uint64_t guess_ns) {
    uint64_t needed = 0, warm = 0, warm_ns = 0;
    for (size_t i = 0; i < r->points; i++) {
        if (planned[i].active && planned[i].runs > 0) {
            warm++;
            warm_ns += pair_ns(&planned[i]);
        }
        needed += planned[i].active && planned[i].runs > 0
                      ? (runs_of(&planned[i], runs) - 1) * pair_ns(&planned[i])
                      : 0;
    }
    needed += runs_of(&planned[index], runs) * (warm > 0 ? warm_ns / warm : guess_ns);
    if (warm == 1) {
        /* One point alone shows nothing, and its warm-up run, the first run of all, may be slower than the others.
         * So the second point needs time for its warm-up run only. bench_sweep_fit counts again after that. */
        needed = warm_ns;
    }
    if (planned[index].active && needed > left_ns) {
        no_time(o, &r->point[index], &planned[index]);
    }
    return planned[index].active;
}

uint32_t bench_sweep_repeat(const struct bench_results *r, const struct bench_planned *planned,
                            uint64_t left_ns, uint32_t least, uint32_t most) {
    uint64_t each = 1;
    for (size_t i = 0; i < r->points; i++) {
        each += planned[i].active ? pair_ns(&planned[i]) : 0;
    }
    uint64_t fits = left_ns / each;
    return fits < least ? least : fits > most ? most : (uint32_t)fits;
}

bool bench_sweep_fit(const struct bench_options *o, struct bench_results *r, struct bench_planned *planned,
                     uint32_t runs, uint64_t left_ns) {
    for (;;) {
        uint64_t all = 0, most = 0;
        size_t worst = SIZE_MAX;
        bool any = false;
        for (size_t i = 0; i < r->points; i++) {
            const struct bench_planned *p = &planned[i];
            any = any || p->active;
            if (p->active && p->runs < runs_of(p, runs)) {
                const uint64_t ns = (runs_of(p, runs) - p->runs) * pair_ns(p);
                const bool less = worst == SIZE_MAX || p->priority > planned[worst].priority;
                all += ns;
                if (less || (p->priority == planned[worst].priority && ns >= most)) {
                    worst = i;
                    most = ns;
                }
            }
        }
        if (all <= left_ns) {
            return any;
        }
        no_time(o, &r->point[worst], &planned[worst]);
    }
}

/* ---- the differences that a budget can show ---- */

/* Share of the budget that all runs would take if they were plain writes. The rest is for opening, removing and the
 * like, and for layouts that are slower than plain writes. */
#define PLAIN_SHARE 0.4

double bench_sweep_run_seconds(double budget, double most) {
    const double each = PLAIN_SHARE * budget / (2 * BENCH_QUESTION_POINTS * (BENCH_LEAST_REPEAT + 1));
    return each < BENCH_LEAST_SECONDS ? BENCH_LEAST_SECONDS : each > most ? most : each;
}

uint64_t bench_sweep_pair_ns(uint64_t plain_ns) {
    return (uint64_t)((double)plain_ns / PLAIN_SHARE);
}

double bench_sweep_seen(size_t points, uint32_t rounds, double scatter) {
    /* The trimmed mean of n normal values has 0.6 n - 1 degrees of freedom. Its variance is 1.1 / n times the
     * variance of the values. The factor is 1.3 / n here, since the rule takes the larger of two variances. */
    const double n = rounds, others = (double)(points > 1 ? points - 1 : 1);
    const double df = others * fmax(0.6 * n - 1, 0), level = BENCH_RULE_LEVEL / 2 / others;
    const double t = bench_stats_student((size_t)df, level) + bench_stats_student((size_t)df, 0.1);
    return expm1(t * sqrt(2 * 1.3 / n) * scatter);
}
