/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of a sweep as a page with charts. Nothing is computed here: every figure is one of the results. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/report/metadata.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "ui/cli/text.h"
#include "ui/page/page.h"

enum { REASONABLE_TICKS = 64 };

/* What all charts use: memory for the points and series of the largest of them. */
struct drawing {
    const struct bench_results *r;
    struct ui_page *page;
    struct ui_page_point *point;
    size_t points;
    struct ui_page_series *series;
    size_t count;
    double tick[REASONABLE_TICKS]; /* block sizes that were measured, ascending */
    size_t ticks;
    bool alike; /* no curve so far has two block sizes: bars show the same */
    /* Of the bars of times: [r->points], and this many for each step on the slowest and the quickest process. */
    const char **category;
    double *time;
};

static bool layout_aligns(enum bench_layout layout) {
    return layout < BENCH_LINKTEST;
}

static void introduce(struct ui_page *page, const char *heading, const char *text) {
    ui_page_heading(page, heading);
    ui_page_begin(page, UI_PAGE_PARAGRAPH);
    ui_page_text(page, "%s", text);
    ui_page_end(page);
}

/* ---- What was measured, and on what ---- */

static void plain_fact(struct ui_page *page, const char *name, const char *text) {
    ui_page_fact(page, name);
    ui_page_text(page, "%s", text);
    ui_page_end(page);
}

static void file_system_facts(struct ui_page *page, const struct bench_fs *fs) {
    ui_page_fact(page, "File system");
    ui_page_text(page, "%s, ", fs->type);
    ui_page_number(page, UI_PAGE_BYTES, (double)fs->free_bytes);
    ui_page_text(page, " free");
    ui_page_end(page);
    ui_page_fact(page, "File system block");
    if (fs->block_size == 0) {
        ui_page_text(page, "unknown");
    } else {
        ui_page_number(page, UI_PAGE_BYTES, (double)fs->block_size);
        ui_page_text(page, " (source: %s)", fs->block_source);
    }
    ui_page_end(page);
    ui_page_fact(page, "Direct I/O");
    if (fs->direct_known) {
        ui_page_text(page, "memory aligned to ");
        ui_page_number(page, UI_PAGE_BYTES, fs->direct_memory);
        ui_page_text(page, ", offsets to ");
        ui_page_number(page, UI_PAGE_BYTES, fs->direct_offset);
        ui_page_text(page, " (source: %s)", fs->direct_source);
    } else {
        ui_page_text(page, "alignment unknown");
    }
    ui_page_end(page);
    if (fs->stripe_known) {
        ui_page_fact(page, "Stripes of the files");
        ui_page_number(page, UI_PAGE_COUNT, fs->stripe_count);
        ui_page_text(page, " of ");
        ui_page_number(page, UI_PAGE_BYTES, (double)fs->stripe_size);
        ui_page_text(page, " (source: %s)", fs->stripe_source);
        ui_page_end(page);
    } else {
        plain_fact(page, "Stripes", "unknown, or none");
    }
    if (fs->stripes_asked) {
        ui_page_fact(page, "Stripes requested");
        ui_page_number(page, UI_PAGE_COUNT, fs->stripe_count_asked);
        ui_page_text(page, " of ");
        ui_page_number(page, UI_PAGE_BYTES, (double)fs->stripe_size_asked);
        ui_page_end(page);
    }
}

static void facts(struct ui_page *page, const struct bench_results *r) {
    ui_page_heading(page, "What was measured");
    ui_page_begin(page, UI_PAGE_FACTS);
    ui_page_fact(page, "Machine");
    ui_page_text(page, "%s, ", r->machine.processor);
    ui_page_number(page, UI_PAGE_COUNT, r->machine.processors);
    ui_page_text(page, r->machine.processors == 1 ? " processor, " : " processors, ");
    ui_page_number(page, UI_PAGE_BYTES, (double)r->machine.memory);
    ui_page_text(page, ", %s", r->machine.system);
    ui_page_end(page);
    file_system_facts(page, &r->fs);
    ui_page_fact(page, "Processes");
    ui_page_number(page, UI_PAGE_COUNT, r->processes);
    if (r->hosts > 1) {
        ui_page_text(page, " on ");
        ui_page_number(page, UI_PAGE_COUNT, r->hosts);
        ui_page_text(page, " hosts");
    }
    ui_page_text(page, "%s%s", r->mpi[0] == '\0' ? ", without MPI" : ", ", r->mpi);
    if (r->readers != (uint32_t)r->processes) {
        ui_page_text(page, "; of them read ");
        ui_page_number(page, UI_PAGE_COUNT, r->readers);
    }
    ui_page_end(page);
    if (r->left_out_mpi[0] != '\0') {
        plain_fact(page, "MPI-IO layouts", r->left_out_mpi);
    }
    ui_page_fact(page, "Repetitions");
    ui_page_number(page, UI_PAGE_COUNT, r->repeat);
    ui_page_text(page, ", points in random order within each (seed ");
    ui_page_number(page, UI_PAGE_PLAIN, (double)r->seed);
    ui_page_text(page, ")%s", r->verify ? "; every byte read back and compared, after the time is taken" : "");
    ui_page_end(page);
    ui_page_fact(page, "Time");
    ui_page_number(page, UI_PAGE_SECONDS, (double)r->elapsed_ns / 1e9);
    ui_page_text(page, " of a budget of ");
    ui_page_number(page, UI_PAGE_SECONDS, (double)r->budget_ns / 1e9);
    ui_page_text(page, "; at most ");
    ui_page_number(page, UI_PAGE_BYTES, (double)r->max_bytes);
    ui_page_text(page, " on the disk");
    if (r->stonewall_ns != 0) {
        ui_page_text(page, "; no write begins after ");
        ui_page_number(page, UI_PAGE_SECONDS, (double)r->stonewall_ns / 1e9);
        ui_page_text(page, " of a run");
    }
    ui_page_end(page);
    if (r->variables > 0) {
        ui_page_fact(page, "Environment");
        for (size_t i = 0; i < r->variables; i++) {
            ui_page_text(page, "%s%s", i == 0 ? "" : ", ", r->variable[i]);
        }
        ui_page_end(page);
    }
    plain_fact(page, "Started", r->time);
    ui_page_fact(page, "Program");
    ui_page_text(page, "hpcw-bench %s (%s, %s) %s", r->version, r->machine.compiler, r->machine.build,
                 r->command);
    ui_page_end(page);
    ui_page_end(page);
}

static void warnings(struct ui_page *page, const struct bench_results *r) {
    size_t noisy = 0, small = 0;
    size_t fate[BENCH_FATES] = {0};
    for (size_t i = 0; i < r->points; i++) {
        fate[r->point[i].fate]++;
        noisy += r->point[i].noisy;
        small += r->point[i].fate == BENCH_MEASURED && !bench_results_counts(r, &r->point[i]);
    }
    if (r->stopped[0] != '\0') {
        ui_page_begin(page, UI_PAGE_NOTE);
        ui_page_text(page, "The sweep was %s. The page shows the results until then.", r->stopped);
        ui_page_end(page);
    }
    if (fate[BENCH_FAILED] + fate[BENCH_LEFT_OUT] + noisy + small > 0) {
        ui_page_begin(page, UI_PAGE_NOTE);
        ui_page_text(
            page,
            "Of %zu points, %zu failed, %zu were left out, %zu are too small to be compared and %zu are "
            "noisy. Noisy points are hollow or pale: do not rely on them. ",
            r->points, fate[BENCH_FAILED], fate[BENCH_LEFT_OUT], small, noisy);
        ui_page_link(page, "point-0", "All points, with reasons");
        ui_page_end(page);
    }
}

static void point_id(size_t index, char text[32]) {
    (void)snprintf(text, 32, "point-%zu", index);
}

/* A sentence and the points that it is based on. */
static void sentence(struct ui_page *page, const struct bench_results *r, const struct bench_advice *a) {
    size_t n = strlen(a->text);
    ui_page_text(page, "%s%s", a->text, n > 0 && a->text[n - 1] != '.' ? "." : "");
    for (size_t k = 0; k < a->evidences; k++) {
        char id[32];
        point_id(a->evidence[k], id);
        ui_page_text(page, k == 0 ? " Evidence: " : ", ");
        ui_page_link(page, id, r->point[a->evidence[k]].id);
    }
}

static void advice(struct ui_page *page, const struct bench_results *r) {
    ui_page_finding(page);
    sentence(page, r, &r->verdict);
    ui_page_end(page);
    if (r->advices == 0) {
        return;
    }
    ui_page_heading(page, "Recommendation");
    ui_page_begin(page, UI_PAGE_LIST);
    for (size_t i = 0; i < r->advices; i++) {
        ui_page_begin(page, UI_PAGE_ITEM);
        sentence(page, r, &r->advice[i]);
        ui_page_end(page);
    }
    ui_page_end(page);
}

/* ---- Curves over the block size ---- */

static void begin_series(struct drawing *d, const char *name, unsigned colour, bool line, bool dashed) {
    d->series[d->count] = (struct ui_page_series){
        .name = name, .colour = colour, .line = line, .dashed = dashed, .point = d->point + d->points};
}

static void add_point(struct drawing *d, const struct ui_page_point *p) {
    d->point[d->points++] = *p;
    d->series[d->count].points++;
}

/* Keeps the series if it has points. */
static void end_series(struct drawing *d) {
    d->count += d->series[d->count].points > 0;
}

static void add_rate(struct drawing *d, double x, const struct bench_point *p, const struct bench_rate *rate) {
    add_point(d, &(struct ui_page_point){.x = x,
                                         .y = rate->stats.median,
                                         .low = rate->stats.ci_low,
                                         .high = rate->stats.ci_high,
                                         .note = p->noisy ? "noisy" : NULL,
                                         .doubtful = p->noisy});
}

/* One of the rates of a point, by its offset. */
enum {
    DURABLE = offsetof(struct bench_point, durable),
    CACHED = offsetof(struct bench_point, cached),
    RATIO = offsetof(struct bench_point, ratio)
};

static const struct bench_rate *rate_of(const struct bench_point *p, size_t rate) {
    return (const struct bench_rate *)(const void *)((const char *)p + rate);
}

/*
 * The point that a curve shows for a layout at a block size (0: the layout aligns to nothing): the first one, which has
 * the sweep's own record size and number of files. Later points vary these. NULL: none was measured.
 */
static const struct bench_point *main_point(const struct drawing *d, enum bench_layout layout,
                                            enum bench_mode mode, double block, size_t rate) {
    for (size_t i = 0; i < d->r->points; i++) {
        const struct bench_point *p = &d->r->point[i];
        if (p->layout == layout && p->mode == mode && (double)p->block_size == block) {
            return rate_of(p, rate)->there ? p : NULL;
        }
    }
    return NULL;
}

/* The points of one layout and mode over the block size; a horizontal line if the layout does not depend on it. */
static void add_curve(struct drawing *d, enum bench_layout layout, enum bench_mode mode, size_t rate,
                      const char *name, unsigned colour, bool dashed) {
    begin_series(d, name, colour, true, dashed);
    for (size_t t = 0; t < d->ticks; t++) {
        const struct bench_point *p = main_point(d, layout, mode, d->tick[t], rate);
        if (p != NULL) {
            add_rate(d, d->tick[t], p, rate_of(p, rate));
        }
    }
    const struct bench_point *p = d->ticks == 0 ? NULL : main_point(d, layout, mode, 0, rate);
    d->alike = d->alike && d->series[d->count].points < 2;
    for (size_t t = 0; p != NULL && t < 2 && d->series[d->count].points < 2; t++) {
        add_rate(d, t == 0 ? d->tick[0] : d->tick[d->ticks - 1], p, rate_of(p, rate));
    }
    end_series(d);
}

static void draw_over_block_size(struct drawing *d, const char *title, const char *caption,
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

static const struct ui_page_axis rate_axis = {.label = "durable throughput", .unit = UI_PAGE_RATE};

/* A chart for each mode, with a curve for each layout. */
struct curves {
    const char *heading, *text;
    size_t rate;
    const char *title[BENCH_MODES]; /* NULL: not for this mode */
    const char *caption;
    struct ui_page_axis y;
    const struct ui_page_mark *mark; /* NULL: none */
};

static const struct curves durable_curves = {
    .heading = "Durable throughput",
    .text = "The number of bytes divided by the time from the common start until the last process has closed "
            "its file and the data are on the disk. A point shows the median of its repetitions, "
            "its whiskers the confidence interval of that median.",
    .rate = DURABLE,
    .title = {[BENCH_FSYNC] = "Written and flushed (fsync)",
              [BENCH_DIRECT] = "Without the page cache (O_DIRECT, fsync)",
              [BENCH_PREALLOCATED] = "Preallocated, written and flushed"},
    .caption = "Median of the repetitions and its confidence interval.",
    .y = {.label = "durable throughput", .unit = UI_PAGE_RATE},
};

static const struct curves cached_curves = {
    .heading = "Into the page cache",
    .text =
        "How fast the system accepted the data, before it wrote them to the disk. Do not compare these rates "
        "with durable throughput.",
    .rate = CACHED,
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
    .rate = RATIO,
    .title = {[BENCH_BUFFERED] = "Not flushed: ratio of page cache rates",
              [BENCH_FSYNC] = "fsync: ratio of durable rates",
              [BENCH_DIRECT] = "O_DIRECT: ratio of durable rates",
              [BENCH_PREALLOCATED] = "Preallocated: ratio of durable rates"},
    .caption = "Median of the ratios within each repetition and its confidence interval.",
    .y = {.label = "rate / rate of the ceiling", .unit = UI_PAGE_PLAIN},
    .mark = &(const struct ui_page_mark){.at = 1, .label = "ceiling"},
};

static void draw_curves(struct drawing *d, const struct curves *c) {
    introduce(d->page, c->heading, c->text);
    for (enum bench_mode m = 0; m < BENCH_MODES; m++) {
        for (enum bench_layout k = 0; k < BENCH_LINKTEST && c->title[m] != NULL; k++) {
            add_curve(d, k, m, c->rate, bench_layout_name[k], k, k == BENCH_SION_SHIFTED);
        }
        draw_over_block_size(d, c->title[m], c->caption, UI_PAGE_MEASURED, c->y, c->mark);
    }
}

static void twin_curves(struct drawing *d) {
    static const char *const name[BENCH_MODES][2] = {
        [BENCH_FSYNC] = {"fsync, aligned", "fsync, shifted"},
        [BENCH_DIRECT] = {"direct, aligned", "direct, shifted"},
        [BENCH_PREALLOCATED] = {"preallocated, aligned", "preallocated, shifted"}};
    for (enum bench_mode m = BENCH_FSYNC; m < BENCH_MODES; m++) {
        add_curve(d, BENCH_SION_ALIGNED, m, DURABLE, name[m][0], m, false);
        add_curve(d, BENCH_SION_SHIFTED, m, DURABLE, name[m][1], m, true);
    }
    if (d->count > 0 && !d->alike) {
        ui_page_heading(d->page, "Aligned against misaligned");
    }
    draw_over_block_size(
        d, "Chunks at multiples of the block size, and half a block after them",
        "Solid lines: aligned. Dashed lines: the same bytes and writes, with every offset half a block "
        "later.",
        UI_PAGE_MEASURED, rate_axis, NULL);
}

/* The first counted point of a layout at a block size: the count is the same in every mode. */
static const struct bench_point *counted_point(const struct drawing *d, enum bench_layout layout,
                                               double block) {
    for (size_t i = 0; i < d->r->points; i++) {
        const struct bench_point *p = &d->r->point[i];
        if (p->layout == layout && p->counted && (double)p->block_size == block) {
            return p;
        }
    }
    return NULL;
}

static void shared_blocks(struct drawing *d) {
    for (enum bench_layout k = 0; k < BENCH_LINKTEST && d->ticks > 0; k++) {
        const struct bench_point *level = counted_point(d, k, 0);
        begin_series(d, bench_layout_name[k], k, true, k == BENCH_SION_SHIFTED);
        for (size_t t = 0; t < d->ticks; t++) {
            const struct bench_point *p = counted_point(d, k, d->tick[t]);
            p = p == NULL && (t == 0 || t + 1 == d->ticks) ? level : p;
            if (p != NULL) {
                add_point(d, &(struct ui_page_point){
                                 .x = d->tick[t], .y = (double)p->shared_blocks, .low = NAN, .high = NAN});
            }
        }
        d->alike = false;
        end_series(d);
    }
    if (d->count > 0) {
        introduce(d->page, "Shared blocks",
                  "File system blocks that two or more ranks write to. On a parallel file system, the lock "
                  "of such a block moves between nodes.");
    }
    draw_over_block_size(d, "File system blocks shared by two or more ranks",
                         "Computed from the layout and the block size of the file system, without I/O.",
                         UI_PAGE_COUNTED,
                         (struct ui_page_axis){.label = "shared blocks", .unit = UI_PAGE_COUNT}, NULL);
}

/* ---- Side by side ---- */

/* The block size of the sweep that is nearest to that of the file system; 0: none. */
static double typical_block(const struct drawing *d) {
    double best = 0;
    double distance = INFINITY;
    for (size_t t = 0; t < d->ticks; t++) {
        double way =
            d->r->fs.block_size == 0 ? -d->tick[t] : fabs(log(d->tick[t] / (double)d->r->fs.block_size));
        if (way < distance) {
            distance = way;
            best = d->tick[t];
        }
    }
    return best;
}

enum { MOST_CATEGORIES = 64, CATEGORY = 96 };

/* Bars of points: a category is what is written, each of its bars a mode. */
struct bars {
    char text[MOST_CATEGORIES][CATEGORY];
    const char *category[MOST_CATEGORIES];
    size_t categories;
    double median[BENCH_MODES][MOST_CATEGORIES], low[BENCH_MODES][MOST_CATEGORIES],
        high[BENCH_MODES][MOST_CATEGORIES];
    bool doubtful[BENCH_MODES][MOST_CATEGORIES];
    bool used[BENCH_MODES];
};

/* The id without mode and block size: "sion-aligned", "shared-posix, records-4K". */
static void name_category(const struct bench_point *p, char text[CATEGORY]) {
    const char *rest = strchr(p->id, '/');
    rest = rest == NULL ? NULL : strchr(rest + 1, '/');
    if (rest != NULL && p->block_size != 0) {
        rest = strchr(rest + 1, '/');
    }
    (void)snprintf(text, CATEGORY, "%s%s%.60s", bench_layout_name[p->layout], rest == NULL ? "" : ", ",
                   rest == NULL ? "" : rest + 1);
}

static void add_bar(struct bars *b, const struct bench_point *p, const struct bench_rate *rate) {
    char text[CATEGORY];
    name_category(p, text);
    size_t at = 0;
    while (at < b->categories && strcmp(b->text[at], text) != 0) {
        at++;
    }
    if (at == MOST_CATEGORIES) {
        return;
    }
    if (at == b->categories) {
        memcpy(b->text[at], text, sizeof text);
        b->category[at] = b->text[at];
        b->categories++;
        for (size_t m = 0; m < BENCH_MODES; m++) {
            b->median[m][at] = b->low[m][at] = b->high[m][at] = NAN;
        }
    }
    b->median[p->mode][at] = rate->stats.median;
    b->low[p->mode][at] = rate->stats.ci_low;
    b->high[p->mode][at] = rate->stats.ci_high;
    b->doubtful[p->mode][at] = p->noisy;
    b->used[p->mode] = true;
}

/* Layouts at one block size with those that align to none, or (block 0) the real formats. */
static bool beside(const struct bench_point *p, double block) {
    return layout_aligns(p->layout) ? block > 0 && (p->block_size == 0 || (double)p->block_size == block)
                                    : block == 0;
}

static void draw_bars(struct drawing *d, double block, size_t rate, const char *title, const char *caption,
                      const char *label) {
    struct bars b = {.categories = 0};
    for (size_t i = 0; i < d->r->points; i++) {
        const struct bench_point *p = &d->r->point[i];
        if (beside(p, block) && rate_of(p, rate)->there) {
            add_bar(&b, p, rate_of(p, rate));
        }
    }
    struct ui_page_bar bar[BENCH_MODES];
    size_t bars = 0;
    for (size_t m = 0; m < BENCH_MODES; m++) {
        if (b.used[m]) {
            bar[bars++] = (struct ui_page_bar){.name = bench_mode_name[m],
                                               .colour = (unsigned)m,
                                               .value = b.median[m],
                                               .low = b.low[m],
                                               .high = b.high[m],
                                               .doubtful = b.doubtful[m]};
        }
    }
    if (b.categories > 0) {
        ui_page_bars(d->page, &(struct ui_page_bars){.title = title,
                                                     .caption = caption,
                                                     .origin = UI_PAGE_MEASURED,
                                                     .category_label = "layout",
                                                     .label = label,
                                                     .unit = UI_PAGE_RATE,
                                                     .category = b.category,
                                                     .categories = b.categories,
                                                     .bar = bar,
                                                     .count = bars});
    }
}

/* `what`, " at blocks of 4K": in the titles. */
static void draw_both_rates(struct drawing *d, double block, const char *what, const char *at,
                            const char *caption) {
    char title[128];
    (void)snprintf(title, sizeof title, "Durable throughput of %s%s", what, at);
    draw_bars(d, block, DURABLE, title, caption, "durable throughput");
    (void)snprintf(title, sizeof title, "Throughput of %s into the page cache%s", what, at);
    draw_bars(d, block, CACHED, title, "The same points, before any flush.", "throughput into the page cache");
}

static void side_by_side(struct drawing *d, double block) {
    if (block > 0) {
        char size[UI_TEXT_SIZE], at[UI_TEXT_SIZE + 16];
        (void)snprintf(at, sizeof at, " at blocks of %s", ui_text_size(size, (uint64_t)block));
        ui_page_heading(d->page, "Layouts side by side");
        draw_both_rates(d, block, "every layout", at,
                        "The block size is the measured one that is nearest to the file system's. Whiskers: "
                        "confidence interval of the median. Pale: noisy.");
    }
    bool formats = false;
    for (size_t i = 0; i < d->r->points; i++) {
        formats = formats || (!layout_aligns(d->r->point[i].layout) && d->r->point[i].fate == BENCH_MEASURED);
    }
    if (formats) {
        ui_page_heading(d->page, "Real formats at a fixed size");
        draw_both_rates(
            d, 0, "the real formats", "",
            "The time includes encoding, compression and metadata. Only the bytes of the data count.");
    }
}

/* ---- Where the time goes ---- */

/* The trial of a point whose total is the median one, or the one below. */
static const struct bench_trial *typical_trial(const struct bench_point *p) {
    const struct bench_trial *best = &p->trial[0];
    for (size_t i = 0; i < p->trials; i++) {
        size_t below = 0;
        for (size_t k = 0; k < p->trials; k++) {
            below += p->trial[k].total_ns < p->trial[i].total_ns ||
                     (p->trial[k].total_ns == p->trial[i].total_ns && k < i);
        }
        if (below == (p->trials - 1) / 2) {
            best = &p->trial[i];
        }
    }
    return best;
}

static bool has_times(const struct bench_point *p, double block) {
    return p->fate == BENCH_MEASURED && p->trials > 0 && (beside(p, block) || beside(p, 0));
}

static void time_split(struct drawing *d, double block) {
    struct ui_page_bar bar[2 * BENCH_STEPS];
    const size_t most = d->r->points;
    double *const last = d->time, *const first = d->time + BENCH_STEPS * most;
    for (size_t k = 0; k < BENCH_STEPS; k++) {
        struct ui_page_bar step = {.name = bench_step_name[k], .colour = (unsigned)k};
        bar[k] = bar[BENCH_STEPS + k] = step;
        bar[k].stack = "slowest process";
        bar[k].value = last + k * most;
        bar[BENCH_STEPS + k].stack = "quickest process";
        bar[BENCH_STEPS + k].faint = true;
        bar[BENCH_STEPS + k].value = first + k * most;
    }
    size_t n = 0;
    for (size_t i = 0; i < most; i++) {
        const struct bench_point *p = &d->r->point[i];
        if (!has_times(p, block)) {
            continue;
        }
        const struct bench_trial *t = typical_trial(p);
        d->category[n] = p->id;
        for (size_t k = 0; k < BENCH_STEPS; k++) {
            last[k * most + n] = (double)t->last_ns[k] / 1e9;
            first[k * most + n] = (double)t->first_ns[k] / 1e9;
        }
        n++;
    }
    if (n == 0) {
        return;
    }
    ui_page_heading(d->page, "Where the time goes");
    ui_page_bars(
        d->page,
        &(struct ui_page_bars){
            .title = "Open, write, flush, close",
            .caption =
                "From the repetition with the median total time. Upper bar: each step on the process where it "
                "took longest. Lower, paler bar: each step on the process where it was shortest.",
            .origin = UI_PAGE_MEASURED,
            .category_label = "point",
            .label = "time",
            .unit = UI_PAGE_SECONDS,
            .category = d->category,
            .categories = n,
            .bar = bar,
            .count = 2 * BENCH_STEPS});
}

/* ---- Everything ---- */

static void raw_samples(struct drawing *d) {
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

/* A number, or an empty cell. */
static void number_cell(struct ui_page *page, bool there, enum ui_page_unit unit, double value) {
    if (there) {
        ui_page_number_cell(page, unit, value);
    } else {
        ui_page_text_cell(page, "%s", "");
    }
}

static void rate_cells(struct ui_page *page, const struct bench_rate *rate) {
    number_cell(page, rate->there, UI_PAGE_RATE, rate->stats.median);
    if (rate->there) {
        ui_page_cell(page);
        ui_page_number(page, UI_PAGE_RATE, rate->stats.ci_low);
        ui_page_text(page, " to ");
        ui_page_number(page, UI_PAGE_RATE, rate->stats.ci_high);
        ui_page_end(page);
    } else {
        ui_page_text_cell(page, "%s", "");
    }
}

static void all_points(struct drawing *d) {
    struct ui_page *page = d->page;
    ui_page_heading(page, "All points");
    ui_page_table(
        page, "Medians with their confidence intervals. The last four columns are computed from the layout. ",
        UI_PAGE_MEASURED, false);
    ui_page_columns(page, (const char *const[]){"point", "state", "bytes", "a run", "durable", "interval",
                                                "page cache", "interval", "of the ceiling", "read",
                                                "read, cached", "coverage", "runs", "blocks (counted)",
                                                "shared by ranks (counted)", "by processes", "by hosts", NULL});
    for (size_t i = 0; i < d->r->points; i++) {
        const struct bench_point *p = &d->r->point[i];
        const struct bench_rate *rate = p->durable.there ? &p->durable : &p->cached;
        char id[32];
        point_id(i, id);
        ui_page_row(page, id, p->fate != BENCH_MEASURED || p->noisy);
        ui_page_text_cell(page, "%s", p->id);
        bool measured = p->fate == BENCH_MEASURED;
        ui_page_text_cell(page, "%s%s%s%s%s", bench_fate_name[p->fate], p->reason[0] == '\0' ? "" : ": ",
                          p->reason, measured && !bench_results_counts(d->r, p) ? ", too small" : "",
                          p->noisy ? ", noisy" : "");
        number_cell(page, measured, UI_PAGE_BYTES, (double)bench_results_bytes(p));
        number_cell(page, measured, UI_PAGE_SECONDS, p->seconds);
        rate_cells(page, &p->durable);
        rate_cells(page, &p->cached);
        number_cell(page, p->ratio.there, UI_PAGE_PLAIN, p->ratio.stats.median);
        number_cell(page, p->read.there && !p->read_cached, UI_PAGE_RATE, p->read.stats.median);
        number_cell(page, p->read.there && p->read_cached, UI_PAGE_RATE, p->read.stats.median);
        number_cell(page, rate->there, UI_PAGE_SHARE, rate->stats.ci_coverage);
        ui_page_text_cell(page, "%zu", p->trials);
        number_cell(page, p->counted, UI_PAGE_COUNT, (double)p->blocks);
        number_cell(page, p->counted, UI_PAGE_COUNT, (double)p->shared_blocks);
        number_cell(page, p->counted, UI_PAGE_COUNT, (double)p->process_blocks);
        number_cell(page, p->counted, UI_PAGE_COUNT, (double)p->host_blocks);
        ui_page_end(page);
    }
    ui_page_end(page);
}

/* ---- The whole ---- */

static void find_ticks(struct drawing *d) {
    for (size_t i = 0; i < d->r->points && d->ticks < REASONABLE_TICKS; i++) {
        double size = (double)d->r->point[i].block_size;
        size_t at = 0;
        while (at < d->ticks && d->tick[at] < size) {
            at++;
        }
        if (size > 0 && (at == d->ticks || d->tick[at] != size)) {
            memmove(d->tick + at + 1, d->tick + at, (d->ticks - at) * sizeof *d->tick);
            d->tick[at] = size;
            d->ticks++;
        }
    }
}

hpcw_status bench_report_page(const struct bench_results *r, const char *path, hpcw_error *err) {
    struct drawing d = {.r = r, .alike = true};
    /* A chart shows each point once, or each of its trials. */
    size_t most = r->points + 2 * (BENCH_LAYOUTS + 2 * BENCH_MODES);
    for (size_t i = 0; i < r->points; i++) {
        most += r->point[i].trials;
    }
    hpcw_status s = ui_page_open(path,
                                 r->metadatas > 0 ? "Metadata rates of files and of a container"
                                                  : "Write throughput and the block size",
                                 &d.page, err);
    if (s != HPCW_OK) {
        return s;
    }
    d.point = hpcw_i_calloc(most, sizeof *d.point);
    d.series = hpcw_i_calloc(BENCH_LAYOUTS + 2 * BENCH_MODES, sizeof *d.series);
    d.category = hpcw_i_calloc(r->points + 1, sizeof *d.category);
    d.time = hpcw_i_calloc(r->points + 1, 2 * BENCH_STEPS * sizeof *d.time);
    if (d.point == NULL || d.series == NULL || d.category == NULL || d.time == NULL) {
        s = hpcw_i_fail_memory(err, path, most, "points");
        goto done;
    }
    if (r->metadatas > 0) {
        advice(d.page, r);
        s = bench_metadata_draw(r, d.page, err);
        facts(d.page, r);
        s = s == HPCW_OK ? ui_page_finish(d.page, err) : s;
        goto done;
    }
    find_ticks(&d);
    double block = typical_block(&d);
    warnings(d.page, r);
    advice(d.page, r);
    facts(d.page, r);
    draw_curves(&d, &durable_curves);
    twin_curves(&d);
    side_by_side(&d, block);
    shared_blocks(&d);
    draw_curves(&d, &ratio_curves);
    draw_curves(&d, &cached_curves);
    time_split(&d, block);
    raw_samples(&d);
    all_points(&d);
    s = ui_page_finish(d.page, err);
done:
    hpcw_i_free(d.point);
    hpcw_i_free(d.series);
    hpcw_i_free(d.category);
    hpcw_i_free(d.time);
    ui_page_free(d.page);
    return s;
}
