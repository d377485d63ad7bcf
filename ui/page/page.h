/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A report as one HTML file with text, tables and charts. It needs no network and no other file. Chart.js, which is
 * embedded, draws the charts in the browser. Each figure of a chart is also in a table, which needs no script.
 *
 *     struct ui_page *page;
 *     status = ui_page_open(NULL, "report.html", "Title", &page, err);
 *     ui_page_heading(page, "Throughput");
 *     ui_page_begin(page, UI_PAGE_PARAGRAPH);
 *     ui_page_text(page, "%s writes ", name);
 *     ui_page_number(page, UI_PAGE_RATE, 1.5e9);
 *     ui_page_end(page);
 *     ui_page_xy(page, &chart);
 *     status = ui_page_finish(page, err);
 *     ui_page_free(page);
 *
 * As in libwriter/io/json.h, only the last call needs a check: ui_page_finish reports the first failure. It may be
 * HPCW_ENOMEM, HPCW_ESTATE for an end without a begin, or an error of the file system. Numbers go into the page as
 * they are, in the SI unit given with them; the browser rounds them for display. Any text is allowed: it is
 * escaped, and bytes that are not UTF-8 are replaced.
 */
#ifndef HPCW_UI_PAGE_PAGE_H
#define HPCW_UI_PAGE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/sink.h>
#include <hpcw/status.h>

#include "ui/page/raster.h"

struct ui_page;

/* What a number counts; it decides how the number is shown. */
enum ui_page_unit {
    UI_PAGE_PLAIN,   /* as it is: ratios, indices */
    UI_PAGE_COUNT,   /* with groups of three digits */
    UI_PAGE_BYTES,   /* sizes: KiB, MiB */
    UI_PAGE_RATE,    /* bytes per second: MB/s, GB/s */
    UI_PAGE_SECONDS, /* us, ms, s */
    UI_PAGE_SHARE,   /* a share of one, shown in per cent */
};

/* Where the figures of a chart or table come from. Shown next to each of them. */
enum ui_page_origin {
    UI_PAGE_MEASURED, /* by a clock, on this machine */
    UI_PAGE_COUNTED,  /* computed from a layout, without I/O */
    UI_PAGE_READ,     /* from files */
};

/*
 * Starts a page. The file `path` is made or replaced when the page is finished, not before. source: what opens its
 * sink; NULL: a file by its path.
 * HPCW_ENOTSUP: this build has no Chart.js, the message says what to do. HPCW_ENOMEM, and errors of the system.
 */
HPCW_MUST_CHECK hpcw_status ui_page_open(const hpcw_sink_source *source, const char *path, const char *title,
                                         struct ui_page **page, hpcw_error *err);

/* Starts a page that is written to a sink, in order. The page owns the sink: it publishes and frees it. If
 * this call fails, it frees the sink, too. */
HPCW_MUST_CHECK hpcw_status ui_page_open_sink(hpcw_sink *sink, const char *title, struct ui_page **page,
                                              hpcw_error *err);

/* Checks that this build can make pages. If not, HPCW_ENOTSUP and a message. */
HPCW_MUST_CHECK hpcw_status ui_page_available(hpcw_error *err);

/* Ends the page and writes it to a temporary file. So several files can be completed before they get their
 * final names. Returns the first failure of all calls. ui_page_finish must follow. */
HPCW_MUST_CHECK hpcw_status ui_page_settle(struct ui_page *page, hpcw_error *err);

/* Ends the page and publishes it. Returns the first failure of all calls; then there is no new file. */
HPCW_MUST_CHECK hpcw_status ui_page_finish(struct ui_page *page, hpcw_error *err);

/* Frees a page, after finish or instead of it. NULL is allowed. */
void ui_page_free(struct ui_page *page);

/* ---- Text ---- */

enum ui_page_element {
    UI_PAGE_PARAGRAPH,
    UI_PAGE_NOTE, /* a paragraph that stands out: a warning, a limit */
    UI_PAGE_LIST, /* a list of elements UI_PAGE_ITEM */
    UI_PAGE_ITEM,
    UI_PAGE_FACTS, /* a table whose lines ui_page_fact begins */
};

/* Begins and ends an element. Elements nest: the one begun last ends first. */
void ui_page_begin(struct ui_page *page, enum ui_page_element element);
void ui_page_end(struct ui_page *page);

/*
 * Begin an element that ui_page_end ends. No other element may be open. These elements appear above all
 * sections, `about` before the findings, even if they are written later. The first finding of a section begins
 * with the title of the section, as a link to the section.
 */
void ui_page_about(struct ui_page *page);
void ui_page_finding(struct ui_page *page);

/* Returns all findings so far as lines of text with rounded numbers. They are valid until the next call for the
 * page. */
const char *ui_page_said(struct ui_page *page);

/* Begins a new section, which also gets a line in the table of contents. */
void ui_page_heading(struct ui_page *page, const char *text);

/* Adds text to the open element. */
void ui_page_text(struct ui_page *page, const char *fmt, ...) HPCW_PRINTF(2, 3);
/* Adds a number to the open element. NaN and infinities are shown as a dash. */
void ui_page_number(struct ui_page *page, enum ui_page_unit unit, double value);
/* Adds a link to the table row that has this id. */
void ui_page_link(struct ui_page *page, const char *id, const char *text);

/* Begins a line of UI_PAGE_FACTS. The line is an element: what is written until ui_page_end is the value of
 * `name`. */
void ui_page_fact(struct ui_page *page, const char *name);

/* ---- Tables ---- */

/* Begins a table, an element that holds rows. folded: the table is hidden until the reader opens it. */
void ui_page_table(struct ui_page *page, const char *caption, enum ui_page_origin origin, bool folded);
/* Writes the column titles, before any row. The array ends with NULL. */
void ui_page_columns(struct ui_page *page, const char *const *title);
/* Begin an element: ui_page_row a row of cells, ui_page_cell a cell. id: target of links, made of letters,
 * digits and '-'; NULL: none. dim: the row is drawn paler, since its figures are not reliable. */
void ui_page_row(struct ui_page *page, const char *id, bool dim);
void ui_page_cell(struct ui_page *page);
/* Write a whole cell: begin, content and end. */
void ui_page_text_cell(struct ui_page *page, const char *fmt, ...) HPCW_PRINTF(2, 3);
void ui_page_number_cell(struct ui_page *page, enum ui_page_unit unit, double value);

/* ---- Charts ---- */

struct ui_page_axis {
    const char *label;
    enum ui_page_unit unit;
    bool log;
    const double *tick; /* [ticks] positions of labels, ascending; NULL: chosen by the chart */
    size_t ticks;
    /* A second axis on the opposite side, whose values are divided by this number. 0: none. */
    double divide;
    const char *divided_label;
};

struct ui_page_point {
    double x, y;      /* y is NaN for a gap in the curve */
    double low, high; /* ends of an interval around y; NaN: none */
    const char *note; /* shown with the point, NULL: none */
    bool doubtful;    /* draw the point hollow, since its value is not reliable */
};

struct ui_page_series {
    const char *name;
    unsigned colour; /* 0 to 12, 12 is grey; a thing should have the same colour in all charts */
    bool line;       /* join the points by a line */
    bool dashed;
    const struct ui_page_point *point;
    size_t points;
};

/* A line across the chart. */
struct ui_page_mark {
    bool vertical;
    double at;
    const char *label;
};

/* Curves and scattered points. */
struct ui_page_xy {
    const char *title, *caption;
    enum ui_page_origin origin;
    struct ui_page_axis x, y;
    const struct ui_page_series *series;
    size_t count;
    const struct ui_page_mark *mark;
    size_t marks;
};
void ui_page_xy(struct ui_page *page, const struct ui_page_xy *chart);

/* A horizontal bar in each category. */
struct ui_page_bar {
    const char *name;
    unsigned colour;
    const char *stack;        /* bars of the same stack lie end to end; NULL: each on its own */
    bool faint;               /* for a second stack: draw the bar paler, and leave it out of the legend */
    const double *value;      /* [categories], NaN: none */
    const double *low, *high; /* [categories] ends of an interval around each value, or NULL */
    const bool *doubtful;     /* [categories] the value is not reliable; or NULL */
};

struct ui_page_bars {
    const char *title, *caption;
    enum ui_page_origin origin;
    const char *category_label; /* what the categories are */
    const char *label;          /* label of the value axis */
    enum ui_page_unit unit;
    const char *const *category; /* [categories] */
    size_t categories;
    const struct ui_page_bar *bar;
    size_t count;
};
void ui_page_bars(struct ui_page *page, const struct ui_page_bars *chart);

/* A rectangle of columns and rows of a heat map. */
struct ui_page_area {
    double left, right, top, bottom; /* in the units of the axes */
    const char *label;
};

struct ui_page_side {
    const char *label;
    enum ui_page_unit unit;
    /* values of the axis at the begin of the first and at the end of the last column (or row) of the matrix */
    double from, to;
    bool index; /* columns are numbered things such as ranks, not ranges of a quantity such as time */
};

/* A heat map: a raster drawn as an image. Row 0 is at the top. */
struct ui_page_heat {
    const char *title, *caption;
    enum ui_page_origin origin;
    struct ui_page_side x, y;
    const char *label; /* label of the values */
    enum ui_page_unit unit;
    const struct ui_raster *raster;
    const struct ui_page_area *area;
    size_t areas;
};
void ui_page_heat(struct ui_page *page, const struct ui_page_heat *chart);

/* Adds a link to the chart that was drawn last to the open element. */
void ui_page_link_chart(struct ui_page *page, const char *text);

#endif
