/* SPDX-License-Identifier: BSD-3-Clause */
/* The charts of the page of a sweep. Each function takes its points from the results, and draws nothing without
 * points. */
#ifndef HPCW_BENCH_REPORT_PAGE_CHARTS_H
#define HPCW_BENCH_REPORT_PAGE_CHARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/report/results.h"
#include "ui/page/page.h"

enum { BENCH_PAGE_TICKS = 64 };

/* State of all charts, with memory for the points and series of the largest chart. */
struct bench_page_drawing {
    const struct bench_results *r;
    struct ui_page *page;
    struct ui_page_point *point;
    size_t points;
    struct ui_page_series *series;
    size_t count;
    double tick[BENCH_PAGE_TICKS]; /* block sizes that were measured, ascending */
    size_t ticks;
    bool alike; /* no curve has two block sizes, so bars suffice and curves are not drawn */
    /* For bars of times. category: [r->points] names. time: [2][BENCH_STEPS][r->points], first for the slowest
     * process, then for the quickest one. */
    const char **category;
    double *time;
};

/* A rate of a point, as its offset in struct bench_point. */
enum {
    BENCH_PAGE_DURABLE = offsetof(struct bench_point, durable),
    BENCH_PAGE_CACHED = offsetof(struct bench_point, cached),
    BENCH_PAGE_RATIO = offsetof(struct bench_point, ratio)
};

static inline const struct bench_rate *bench_page_rate(const struct bench_point *p, size_t rate) {
    return (const struct bench_rate *)(const void *)((const char *)p + rate);
}

static inline void bench_page_introduce(struct ui_page *page, const char *heading, const char *text) {
    ui_page_heading(page, heading);
    ui_page_begin(page, UI_PAGE_PARAGRAPH);
    ui_page_text(page, "%s", text);
    ui_page_end(page);
}

/* ---- page_curves.c: curves over the block size, and over the order of the runs ---- */

/* bench_page_durable draws the rates with the flush of the mode fsync, bench_page_modes those of the other modes.
 * bench_page_durable returns false if it draws no chart, because there is only one block size. */
bool bench_page_durable(struct bench_page_drawing *d);
void bench_page_modes(struct bench_page_drawing *d);
void bench_page_cached(struct bench_page_drawing *d);
void bench_page_ratios(struct bench_page_drawing *d);
void bench_page_twins(struct bench_page_drawing *d);
void bench_page_shared_blocks(struct bench_page_drawing *d);
void bench_page_samples(struct bench_page_drawing *d);

/* ---- page_bars.c: bars at the block size nearest to that of the file system ---- */

void bench_page_side_by_side(struct bench_page_drawing *d);
void bench_page_times(struct bench_page_drawing *d);

#endif
