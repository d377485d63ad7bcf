/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/report/page_charts.h"
#include "ui/cli/text.h"

/* ---- Side by side ---- */

/* Returns the block size of the sweep that is nearest to the block size of the file system, or 0 if the sweep
 * has no block size. */
static double typical_block(const struct bench_page_drawing *d) {
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

/* Bars of points. A category is a layout with its record size or number of files, and has a bar for each mode. */
struct bars {
    char text[MOST_CATEGORIES][CATEGORY];
    const char *category[MOST_CATEGORIES];
    size_t categories;
    double median[BENCH_MODES][MOST_CATEGORIES], low[BENCH_MODES][MOST_CATEGORIES],
        high[BENCH_MODES][MOST_CATEGORIES];
    bool doubtful[BENCH_MODES][MOST_CATEGORIES];
    bool used[BENCH_MODES];
};

/* Writes the id of a point without mode and block size: "sion-aligned", "shared-posix, records-4K". */
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
    if (bench_rate_is_spread(rate)) {
        b->low[p->mode][at] = rate->stats.ci_low;
        b->high[p->mode][at] = rate->stats.ci_high;
    }
    b->doubtful[p->mode][at] = p->noisy;
    b->used[p->mode] = true;
}

/* Returns whether a point has the block size `block`, or no block size. */
static bool beside(const struct bench_point *p, double block) {
    return block > 0 && (p->block_size == 0 || (double)p->block_size == block);
}

static void draw_bars(struct bench_page_drawing *d, double block, size_t rate, const char *title,
                      const char *caption, const char *label) {
    struct bars b = {.categories = 0};
    for (size_t i = 0; i < d->r->points; i++) {
        const struct bench_point *p = &d->r->point[i];
        if (beside(p, block) && bench_page_rate(p, rate)->there) {
            add_bar(&b, p, bench_page_rate(p, rate));
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

/* Draws the rates with the flush, and the rates into the page cache. at: end of the titles, as " at blocks of
 * 4K". */
static void draw_both_rates(struct bench_page_drawing *d, double block, const char *what, const char *at,
                            const char *caption) {
    char title[128];
    (void)snprintf(title, sizeof title, "Throughput of %s with the flush%s", what, at);
    draw_bars(d, block, BENCH_PAGE_DURABLE, title, caption, "throughput with the flush");
    (void)snprintf(title, sizeof title, "Throughput of %s into the page cache%s", what, at);
    draw_bars(d, block, BENCH_PAGE_CACHED, title, "The same points, before any flush.",
              "throughput into the page cache");
}

void bench_page_side_by_side(struct bench_page_drawing *d) {
    const double block = typical_block(d);
    if (block > 0) {
        char size[UI_TEXT_SIZE], at[UI_TEXT_SIZE + 16];
        (void)snprintf(at, sizeof at, " at blocks of %s", ui_text_size(size, (uint64_t)block));
        ui_page_heading(d->page, "Layouts side by side");
        draw_both_rates(d, block, "every layout", at,
                        "The block size is the measured one that is nearest to the file system's. Whiskers: "
                        "confidence interval of the median. Pale: noisy.");
    }
}

/* ---- Where the time goes ---- */

/* Returns the trial of a point with the median total time; of two in the middle, the faster one. */
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
    return p->fate == BENCH_MEASURED && p->trials > 0 && beside(p, block);
}

void bench_page_times(struct bench_page_drawing *d) {
    const double block = typical_block(d);
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
