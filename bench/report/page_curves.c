/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "bench/report/page_charts.h"

/* ---- series ---- */

static void begin_series(struct bench_page_drawing *d, const char *name, unsigned colour, bool line,
                         bool dashed) {
    d->series[d->count] = (struct ui_page_series){
        .name = name, .colour = colour, .line = line, .dashed = dashed, .point = d->point + d->points};
}

static void add_point(struct bench_page_drawing *d, const struct ui_page_point *p) {
    d->point[d->points++] = *p;
    d->series[d->count].points++;
}

/* Keeps the series if it has points. */
static void end_series(struct bench_page_drawing *d) {
    d->count += d->series[d->count].points > 0;
}

static void add_rate(struct bench_page_drawing *d, double x, const struct bench_point *p,
                     const struct bench_rate *rate) {
    const bool spread = bench_rate_is_spread(rate);
    add_point(d, &(struct ui_page_point){.x = x,
                                         .y = rate->stats.median,
                                         .low = spread ? rate->stats.ci_low : (double)NAN,
                                         .high = spread ? rate->stats.ci_high : (double)NAN,
                                         .note = p->noisy ? "noisy" : NULL,
                                         .doubtful = p->noisy});
}

/*
 * Returns the point that a curve shows for a layout at a block size, or NULL if none was measured. block: 0 for
 * layouts without a block size. Of several points, the first one is shown; later points have other record sizes
 * or numbers of files.
 */
static const struct bench_point *main_point(const struct bench_page_drawing *d, enum bench_layout layout,
                                            enum bench_mode mode, double block, size_t rate) {
    for (size_t i = 0; i < d->r->points; i++) {
        const struct bench_point *p = &d->r->point[i];
        if (p->layout == layout && p->mode == mode && (double)p->block_size == block) {
            return bench_page_rate(p, rate)->there ? p : NULL;
        }
    }
    return NULL;
}

/* Adds the curve of one layout and mode over the block size: a horizontal line if the layout has no block size. */
static void add_curve(struct bench_page_drawing *d, enum bench_layout layout, enum bench_mode mode, size_t rate,
                      const char *name, unsigned colour, bool dashed) {
    begin_series(d, name, colour, true, dashed);
    for (size_t t = 0; t < d->ticks; t++) {
        const struct bench_point *p = main_point(d, layout, mode, d->tick[t], rate);
        if (p != NULL) {
            add_rate(d, d->tick[t], p, bench_page_rate(p, rate));
        }
    }
    const struct bench_point *p = d->ticks == 0 ? NULL : main_point(d, layout, mode, 0, rate);
    d->alike = d->alike && d->series[d->count].points < 2;
    for (size_t t = 0; p != NULL && t < 2 && d->series[d->count].points < 2; t++) {
        add_rate(d, t == 0 ? d->tick[0] : d->tick[d->ticks - 1], p, bench_page_rate(p, rate));
    }
    end_series(d);
}

static void draw_over_block_size(struct bench_page_drawing *d, const char *title, const char *caption,
                                 enum ui_page_origin origin, struct ui_page_axis y,
                                 const struct ui_page_mark *more) {
    struct ui_page_mark mark[2];
    size_t marks = 0;
    const struct bench_fs *fs = &d->r->fs;
    if (fs->block_size != 0) {
        mark[marks++] =
            (struct ui_page_mark){.vertical = true, .at = (double)fs->block_size, .label = "file system block"};
    }
    if (more != NULL) {
        mark[marks++] = *more;
    }
    if (d->count > 0 && !d->alike) {
        ui_page_xy(d->page, &(struct ui_page_xy){.title = title,
                                                 .caption = caption,
                                                 .origin = origin,
                                                 .x = {.label = "block size of the layout",
                                                       .unit = UI_PAGE_BYTES,
                                                       .log = true,
                                                       .tick = d->tick,
                                                       .ticks = d->ticks,
                                                       .divide = (double)fs->block_size,
                                                       .divided_label = "block size in file system blocks"},
                                                 .y = y,
                                                 .series = d->series,
                                                 .count = d->count,
                                                 .mark = mark,
                                                 .marks = marks});
    }
    d->count = 0;
    d->points = 0;
    d->alike = true;
}

static const struct ui_page_axis rate_axis = {.label = "throughput with the flush", .unit = UI_PAGE_RATE};

/* A chart for each mode, with a curve for each layout. */
struct curves {
    const char *heading, *text;
    size_t rate;
    const char *title[BENCH_MODES]; /* title by mode; NULL: no chart for the mode */
    const char *caption;
    struct ui_page_axis y;
    const struct ui_page_mark *mark; /* NULL: none */
};

static const struct curves durable_curves = {
    .heading = "Durable throughput",
    .text = "The number of bytes divided by the time from the common start until the last process has closed "
            "its file and the data are on the disk. A point shows the median of its repetitions, "
            "its whiskers the confidence interval of that median.",
    .rate = BENCH_PAGE_DURABLE,
    .title = {[BENCH_FSYNC] = "Written and flushed (fsync)"},
    .caption = "Median of the repetitions and its confidence interval.",
    .y = {.label = "durable throughput", .unit = UI_PAGE_RATE},
};

static const struct curves mode_curves = {
    .heading = "Other modes",
    .text = "The same, if the data go past the page cache, or into space that was allocated before.",
    .rate = BENCH_PAGE_DURABLE,
    .title = {[BENCH_DIRECT] = "Without the page cache (O_DIRECT, fsync)",
              [BENCH_PREALLOCATED] = "Preallocated, written and flushed"},
    .caption = "Median of the repetitions and its confidence interval.",
    .y = {.label = "throughput with the flush", .unit = UI_PAGE_RATE},
};

static const struct curves cached_curves = {
    .heading = "Into the page cache",
    .text =
        "How fast the system accepted the data, before any flush. Do not compare these rates with those above.",
    .rate = BENCH_PAGE_CACHED,
    .title = {[BENCH_BUFFERED] = "Written, not flushed",
              [BENCH_FSYNC] = "Before the flush (fsync)",
              [BENCH_PREALLOCATED] = "Preallocated, before the flush"},
    .caption = "Median of the repetitions and its confidence interval.",
    .y = {.label = "throughput into the page cache", .unit = UI_PAGE_RATE},
};

static const struct curves ratio_curves = {
    .heading = "Comparison with the ceiling",
    .text = "The ceiling of a point is a plain loop of large writes of the same bytes to the same "
            "offsets, measured in the same repetition. A ratio of 1 means that the layout costs nothing.",
    .rate = BENCH_PAGE_RATIO,
    .title = {[BENCH_BUFFERED] = "Not flushed: ratio of page cache rates",
              [BENCH_FSYNC] = "fsync: ratio of rates with the flush",
              [BENCH_DIRECT] = "O_DIRECT: ratio of rates with the flush",
              [BENCH_PREALLOCATED] = "Preallocated: ratio of rates with the flush"},
    .caption = "Median of the ratios within each repetition and its confidence interval.",
    .y = {.label = "rate / rate of the ceiling", .unit = UI_PAGE_PLAIN},
    .mark = &(const struct ui_page_mark){.at = 1, .label = "ceiling"},
};

/* Draws a heading and the charts, or nothing if there is no chart. Returns whether it has drawn a chart. */
static bool draw_curves(struct bench_page_drawing *d, const struct curves *c) {
    bool drawn = false;
    for (enum bench_mode m = 0; m < BENCH_MODES; m++) {
        for (enum bench_layout k = 0; k < BENCH_LAYOUTS && c->title[m] != NULL; k++) {
            add_curve(d, k, m, c->rate, bench_layout_name[k], k, k == BENCH_SION_SHIFTED);
        }
        if (d->count > 0 && !d->alike && !drawn) {
            bench_page_introduce(d->page, c->heading, c->text);
            drawn = true;
        }
        draw_over_block_size(d, c->title[m], c->caption, UI_PAGE_MEASURED, c->y, c->mark);
    }
    return drawn;
}

bool bench_page_durable(struct bench_page_drawing *d) {
    struct curves c = durable_curves;
    if (bench_fs_is_memory(&d->r->fs)) {
        c.heading = "Throughput into memory";
        c.text =
            "The number of bytes divided by the time from the common start until the last process has closed "
            "its "
            "file. A point shows the median of its repetitions, its whiskers the confidence interval of that "
            "median.";
        c.y.label = "throughput into memory";
    }
    return draw_curves(d, &c);
}

void bench_page_modes(struct bench_page_drawing *d) {
    (void)draw_curves(d, &mode_curves);
}

void bench_page_cached(struct bench_page_drawing *d) {
    (void)draw_curves(d, &cached_curves);
}

void bench_page_ratios(struct bench_page_drawing *d) {
    (void)draw_curves(d, &ratio_curves);
}

void bench_page_twins(struct bench_page_drawing *d) {
    static const char *const name[BENCH_MODES][2] = {
        [BENCH_FSYNC] = {"fsync, aligned", "fsync, shifted"},
        [BENCH_DIRECT] = {"direct, aligned", "direct, shifted"},
        [BENCH_PREALLOCATED] = {"preallocated, aligned", "preallocated, shifted"}};
    for (enum bench_mode m = BENCH_FSYNC; m < BENCH_MODES; m++) {
        add_curve(d, BENCH_SION_ALIGNED, m, BENCH_PAGE_DURABLE, name[m][0], m, false);
        add_curve(d, BENCH_SION_SHIFTED, m, BENCH_PAGE_DURABLE, name[m][1], m, true);
    }
    if (d->count > 0 && !d->alike) {
        ui_page_heading(d->page, "Aligned against misaligned");
    }
    draw_over_block_size(d, "Chunks at multiples of the block size, and two thirds of a block after them",
                         "Solid lines: aligned. Dashed lines: the same bytes and writes, with every offset two "
                         "thirds of a block later, at an odd byte.",
                         UI_PAGE_MEASURED, rate_axis, NULL);
}

/* Returns the first point of a layout at a block size that has a count of blocks. All modes have the same count. */
static const struct bench_point *counted_point(const struct bench_page_drawing *d, enum bench_layout layout,
                                               double block) {
    for (size_t i = 0; i < d->r->points; i++) {
        const struct bench_point *p = &d->r->point[i];
        if (p->layout == layout && p->blocks.counted && (double)p->block_size == block) {
            return p;
        }
    }
    return NULL;
}

void bench_page_shared_blocks(struct bench_page_drawing *d) {
    for (enum bench_layout k = 0; k < BENCH_LAYOUTS && d->ticks > 0; k++) {
        const struct bench_point *level = counted_point(d, k, 0);
        begin_series(d, bench_layout_name[k], k, true, k == BENCH_SION_SHIFTED);
        for (size_t t = 0; t < d->ticks; t++) {
            const struct bench_point *p = counted_point(d, k, d->tick[t]);
            p = p == NULL && (t == 0 || t + 1 == d->ticks) ? level : p;
            if (p != NULL) {
                add_point(d, &(struct ui_page_point){
                                 .x = d->tick[t], .y = (double)p->blocks.shared, .low = NAN, .high = NAN});
            }
        }
        d->alike = false;
        end_series(d);
    }
    if (d->count > 0) {
        bench_page_introduce(
            d->page, "Shared blocks",
            "File system blocks that two or more ranks write to. On a parallel file system, the lock "
            "of such a block moves between nodes.");
    }
    draw_over_block_size(d, "File system blocks shared by two or more ranks",
                         "Computed from the layout and the block size of the file system, without I/O.",
                         UI_PAGE_COUNTED,
                         (struct ui_page_axis){.label = "shared blocks", .unit = UI_PAGE_COUNT}, NULL);
}

/* ---- runs ---- */

void bench_page_samples(struct bench_page_drawing *d) {
    for (enum bench_mode m = 0; m < BENCH_MODES; m++) {
        begin_series(d, bench_mode_name[m], m, false, false);
        for (size_t i = 0; i < d->r->points; i++) {
            const struct bench_point *p = &d->r->point[i];
            for (size_t k = 0; p->mode == m && k < p->trials; k++) {
                add_point(d, &(struct ui_page_point){.x = p->trial[k].order,
                                                     .y = (double)p->trial[k].total_ns / 1e9,
                                                     .low = NAN,
                                                     .high = NAN,
                                                     .note = p->id,
                                                     .doubtful = p->noisy});
            }
        }
        end_series(d);
    }
    if (d->count > 0) {
        ui_page_heading(d->page, "Raw samples");
        ui_page_xy(
            d->page,
            &(struct ui_page_xy){
                .title = "Total time of every run, in the order of the runs",
                .caption =
                    "If all bands rise, fall or jump together, the cause is the machine and not a layout. "
                    "Hollow: noisy points.",
                .origin = UI_PAGE_MEASURED,
                .x = {.label = "order of the runs", .unit = UI_PAGE_COUNT},
                .y = {.label = "total time", .unit = UI_PAGE_SECONDS, .log = true},
                .series = d->series,
                .count = d->count});
    }
    d->count = 0;
    d->points = 0;
}
