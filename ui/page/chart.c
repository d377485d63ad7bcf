/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Charts of a page. A chart is a figure element. It has a caption, the canvas on which page/charts.js draws, the
 * data as JSON, and the same data as a table.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/status.h"
#include "ui/page/private.h"

/* ---- The figure around a chart ---- */

void ui_page_open_figure(struct ui_page *page, const char *title, const char *caption,
                         enum ui_page_origin origin, size_t lines) {
    char text[64];
    (void)snprintf(text, sizeof text, "<figure id=\"chart-%u\">\n<figcaption><strong>", ++page->charts);
    ui_page_open_element(page, text, "</figure>\n");
    ui_page_escaped(page, title);
    ui_page_raw(page, "</strong>");
    ui_page_badge(page, origin);
    ui_page_escaped(page, caption);
    ui_page_raw(page, "</figcaption>\n<div class=\"plot");
    ui_page_raw(page, lines == UI_PAGE_SQUARE ? " square\"" : "\"");
    if (lines > 0 && lines != UI_PAGE_SQUARE) {
        (void)snprintf(text, sizeof text, " style=\"height: %zurem\"", lines);
        ui_page_raw(page, text);
    }
    ui_page_raw(page, "><canvas role=\"img\" aria-label=\"");
    ui_page_escaped(page, title);
    ui_page_raw(page, "\"></canvas></div>\n<script type=\"application/json\">");
}

void ui_page_begin_json(struct ui_page *page, struct hpcw_i_json *j, const char *kind) {
    page->scratch.size = 0;
    hpcw_i_json_open_buf(j, &page->scratch, &(struct hpcw_i_json_options){.replace_bad_utf8 = true});
    hpcw_i_json_begin_object(j);
    hpcw_i_json_put_str(j, "kind", kind);
}

void ui_page_end_json(struct ui_page *page, struct hpcw_i_json *j) {
    hpcw_i_json_end_object(j);
    hpcw_error e;
    hpcw_status s = hpcw_i_json_finish(j, &e);
    if (s == HPCW_OK) {
        ui_page_json(page, (const char *)page->scratch.data, page->scratch.size);
    } else if (page->status == HPCW_OK) {
        page->status = s;
        page->error = e;
    }
    ui_page_raw(page, "</script>\n");
}

static void number(struct hpcw_i_json *j, double v) {
    if (isfinite(v)) {
        hpcw_i_json_f64(j, v);
    } else {
        hpcw_i_json_null(j);
    }
}

static void numbers(struct hpcw_i_json *j, const char *key, const double *v, size_t n) {
    hpcw_i_json_key_array(j, key);
    for (size_t i = 0; i < n; i++) {
        number(j, v[i]);
    }
    hpcw_i_json_end_array(j);
}

/* Writes a colour as text, "c3". A number would look like a figure of the chart: all integers in the JSON of a
 * chart also stand in its table. */
void ui_page_put_colour(struct hpcw_i_json *j, unsigned colour) {
    char text[16];
    (void)snprintf(text, sizeof text, "c%u", colour);
    hpcw_i_json_put_str(j, "colour", text);
}

static void optional(struct hpcw_i_json *j, const char *key, const char *text) {
    if (text != NULL) {
        hpcw_i_json_put_str(j, key, text);
    }
}

/* ---- Curves and points ---- */

static void put_axis(struct hpcw_i_json *j, const char *key, const struct ui_page_axis *axis) {
    hpcw_i_json_key_object(j, key);
    hpcw_i_json_put_str(j, "label", axis->label);
    hpcw_i_json_put_str(j, "unit", ui_page_unit_name[axis->unit]);
    hpcw_i_json_put_bool(j, "log", axis->log);
    if (axis->tick != NULL) {
        numbers(j, "ticks", axis->tick, axis->ticks);
    }
    if (axis->divide > 0) {
        hpcw_i_json_put_f64(j, "divide", axis->divide);
        hpcw_i_json_put_str(j, "divided", axis->divided_label);
    }
    hpcw_i_json_end_object(j);
}

static void put_series(struct hpcw_i_json *j, const struct ui_page_series *s) {
    hpcw_i_json_begin_object(j);
    hpcw_i_json_put_str(j, "name", s->name);
    ui_page_put_colour(j, s->colour);
    hpcw_i_json_put_bool(j, "line", s->line);
    hpcw_i_json_put_bool(j, "dashed", s->dashed);
    hpcw_i_json_key_array(j, "points");
    for (size_t i = 0; i < s->points; i++) {
        const struct ui_page_point *p = &s->point[i];
        hpcw_i_json_begin_object(j);
        hpcw_i_json_key(j, "x");
        number(j, p->x);
        hpcw_i_json_key(j, "y");
        number(j, p->y);
        if (isfinite(p->low) && isfinite(p->high)) {
            hpcw_i_json_put_f64(j, "low", p->low);
            hpcw_i_json_put_f64(j, "high", p->high);
        }
        optional(j, "note", p->note);
        if (p->doubtful) {
            hpcw_i_json_put_bool(j, "doubtful", true);
        }
        hpcw_i_json_end_object(j);
    }
    hpcw_i_json_end_array(j);
    hpcw_i_json_end_object(j);
}

static void table_of_xy(struct ui_page *page, const struct ui_page_xy *chart) {
    bool intervals = false;
    bool notes = false;
    for (size_t k = 0; k < chart->count; k++) {
        for (size_t i = 0; i < chart->series[k].points; i++) {
            const struct ui_page_point *p = &chart->series[k].point[i];
            intervals = intervals || (isfinite(p->low) && isfinite(p->high));
            notes = notes || p->note != NULL || p->doubtful;
        }
    }
    const char *title[7] = {"series", chart->x.label, chart->y.label};
    size_t n = 3;
    if (intervals) {
        title[n++] = "from";
        title[n++] = "to";
    }
    if (notes) {
        title[n++] = "note";
    }
    ui_page_table(page, "Figures of this chart", chart->origin, true);
    ui_page_columns(page, title);
    for (size_t k = 0; k < chart->count; k++) {
        for (size_t i = 0; i < chart->series[k].points; i++) {
            const struct ui_page_point *p = &chart->series[k].point[i];
            ui_page_row(page, NULL, p->doubtful);
            ui_page_text_cell(page, "%s", chart->series[k].name);
            ui_page_number_cell(page, chart->x.unit, p->x);
            ui_page_number_cell(page, chart->y.unit, p->y);
            if (intervals) {
                ui_page_number_cell(page, chart->y.unit, p->low);
                ui_page_number_cell(page, chart->y.unit, p->high);
            }
            if (notes) {
                ui_page_text_cell(page, "%s", p->note == NULL ? "" : p->note);
            }
            ui_page_end(page);
        }
    }
    ui_page_end(page);
}

void ui_page_xy(struct ui_page *page, const struct ui_page_xy *chart) {
    struct hpcw_i_json j;
    ui_page_open_figure(page, chart->title, chart->caption, chart->origin, 0);
    ui_page_begin_json(page, &j, "xy");
    put_axis(&j, "x", &chart->x);
    put_axis(&j, "y", &chart->y);
    hpcw_i_json_key_array(&j, "series");
    for (size_t k = 0; k < chart->count; k++) {
        put_series(&j, &chart->series[k]);
    }
    hpcw_i_json_end_array(&j);
    hpcw_i_json_key_array(&j, "marks");
    for (size_t k = 0; k < chart->marks; k++) {
        hpcw_i_json_begin_object(&j);
        hpcw_i_json_put_bool(&j, "vertical", chart->mark[k].vertical);
        hpcw_i_json_put_f64(&j, "at", chart->mark[k].at);
        hpcw_i_json_put_str(&j, "label", chart->mark[k].label);
        hpcw_i_json_end_object(&j);
    }
    hpcw_i_json_end_array(&j);
    ui_page_end_json(page, &j);
    table_of_xy(page, chart);
    ui_page_end(page);
}

/* ---- Bars ---- */

static void put_bar(struct hpcw_i_json *j, const struct ui_page_bar *bar, size_t categories) {
    hpcw_i_json_begin_object(j);
    hpcw_i_json_put_str(j, "name", bar->name);
    ui_page_put_colour(j, bar->colour);
    optional(j, "stack", bar->stack);
    hpcw_i_json_put_bool(j, "faint", bar->faint);
    numbers(j, "values", bar->value, categories);
    if (bar->low != NULL && bar->high != NULL) {
        numbers(j, "low", bar->low, categories);
        numbers(j, "high", bar->high, categories);
    }
    hpcw_i_json_key_array(j, "doubtful");
    for (size_t i = 0; bar->doubtful != NULL && i < categories; i++) {
        hpcw_i_json_bool(j, bar->doubtful[i]);
    }
    hpcw_i_json_end_array(j);
    hpcw_i_json_end_object(j);
}

static void table_of_bars(struct ui_page *page, const struct ui_page_bars *chart) {
    const char *title[] = {chart->category_label, "part", chart->label, "from", "to", NULL};
    bool intervals = false;
    for (size_t k = 0; k < chart->count; k++) {
        intervals = intervals || chart->bar[k].low != NULL;
    }
    title[3] = intervals ? "from" : NULL;
    ui_page_table(page, "Figures of this chart", chart->origin, true);
    ui_page_columns(page, title);
    for (size_t i = 0; i < chart->categories; i++) {
        for (size_t k = 0; k < chart->count; k++) {
            const struct ui_page_bar *bar = &chart->bar[k];
            if (isnan(bar->value[i])) {
                continue;
            }
            ui_page_row(page, NULL, bar->doubtful != NULL && bar->doubtful[i]);
            ui_page_text_cell(page, "%s", chart->category[i]);
            ui_page_text_cell(page, "%s%s%s", bar->name, bar->stack == NULL ? "" : ", ",
                              bar->stack == NULL ? "" : bar->stack);
            ui_page_number_cell(page, chart->unit, bar->value[i]);
            if (intervals) {
                ui_page_number_cell(page, chart->unit, bar->low == NULL ? NAN : bar->low[i]);
                ui_page_number_cell(page, chart->unit, bar->high == NULL ? NAN : bar->high[i]);
            }
            ui_page_end(page);
        }
    }
    ui_page_end(page);
}

/* Returns the number of bars beside each other in one category. */
static size_t bars_of_category(const struct ui_page_bars *chart) {
    size_t n = 0;
    for (size_t k = 0; k < chart->count; k++) {
        bool seen = false;
        for (size_t i = 0; i < k && chart->bar[k].stack != NULL; i++) {
            seen =
                seen || (chart->bar[i].stack != NULL && strcmp(chart->bar[i].stack, chart->bar[k].stack) == 0);
        }
        n += !seen;
    }
    return n;
}

void ui_page_bars(struct ui_page *page, const struct ui_page_bars *chart) {
    struct hpcw_i_json j;
    ui_page_open_figure(page, chart->title, chart->caption, chart->origin,
                        7 + chart->categories * (1 + bars_of_category(chart)));
    ui_page_begin_json(page, &j, "bars");
    hpcw_i_json_put_str(&j, "label", chart->label);
    hpcw_i_json_put_str(&j, "unit", ui_page_unit_name[chart->unit]);
    hpcw_i_json_key_array(&j, "categories");
    for (size_t i = 0; i < chart->categories; i++) {
        hpcw_i_json_str(&j, chart->category[i]);
    }
    hpcw_i_json_end_array(&j);
    hpcw_i_json_key_array(&j, "bars");
    for (size_t k = 0; k < chart->count; k++) {
        put_bar(&j, &chart->bar[k], chart->categories);
    }
    hpcw_i_json_end_array(&j);
    ui_page_end_json(page, &j);
    table_of_bars(page, chart);
    ui_page_end(page);
}

/* ---- Heat maps ---- */

static void put_side(struct hpcw_i_json *j, const char *key, const struct ui_page_side *side, uint64_t span,
                     uint64_t all) {
    hpcw_i_json_key_object(j, key);
    hpcw_i_json_put_str(j, "label", side->label);
    hpcw_i_json_put_str(j, "unit", ui_page_unit_name[side->unit]);
    hpcw_i_json_put_f64(j, "from", side->from);
    hpcw_i_json_put_f64(j, "to", side->to);
    hpcw_i_json_put_f64(j, "cell", (side->to - side->from) / (double)all * (double)span);
    hpcw_i_json_put_bool(j, "index", side->index);
    hpcw_i_json_end_object(j);
}

/*
 * A cell is written as an integer: its value divided by a power of ten. Returns this power of ten. The smallest
 * cell keeps four digits, or fewer if the largest integer would otherwise not be exact in a double.
 */
static double worth(const struct ui_raster *r) {
    double least = INFINITY;
    double most = 0;
    for (size_t i = 0; i < (size_t)r->width * r->height; i++) {
        double v = fabs(r->cell[i]);
        if (v > 0 && isfinite(v)) {
            least = v < least ? v : least;
            most = v > most ? v : most;
        }
    }
    if (most == 0) {
        return 1;
    }
    double power = floor(log10(least)) - 3;
    double floor_of_most = ceil(log10(most)) - 15;
    return pow(10, power > floor_of_most ? power : floor_of_most);
}

static void put_cells(struct hpcw_i_json *j, const struct ui_raster *r) {
    double one = worth(r);
    hpcw_i_json_put_f64(j, "worth", one);
    hpcw_i_json_key_array(j, "cells");
    for (size_t i = 0; i < (size_t)r->width * r->height; i++) {
        if (isfinite(r->cell[i])) {
            hpcw_i_json_i64(j, llround(r->cell[i] / one));
        } else {
            hpcw_i_json_null(j);
        }
    }
    hpcw_i_json_end_array(j);
}

/* Prints the position of a cell on its axis, as text for the table. */
static void place_cell(struct ui_page *page, const struct ui_page_side *side, uint64_t all, uint64_t first,
                       uint64_t end) {
    double step = (side->to - side->from) / (double)all;
    end = end < all ? end : all;
    ui_page_cell(page);
    if (side->index) {
        ui_page_number(page, side->unit, ceil(side->from + (double)first * step));
        if (end - first > 1) {
            ui_page_text(page, " to ");
            ui_page_number(page, side->unit, ceil(side->from + (double)end * step) - 1);
        }
    } else {
        ui_page_text(page, "from ");
        ui_page_number(page, side->unit, side->from + (double)first * step);
    }
    ui_page_end(page);
}

enum { TABLE_CELLS = 16 };

/* Prints the cells as a table, reduced to fewer cells if there are too many. */
static void table_of_heat(struct ui_page *page, const struct ui_page_heat *chart) {
    const struct ui_raster *r = chart->raster;
    struct ui_raster few;
    hpcw_error e;
    hpcw_status s = ui_raster_init(&few, r->width, r->height, TABLE_CELLS, r->reduce, &e);
    if (s != HPCW_OK) {
        page->status = page->status == HPCW_OK ? s : page->status;
        page->error = e;
        return;
    }
    for (uint32_t y = 0; y < r->height; y++) {
        for (uint32_t x = 0; x < r->width; x++) {
            ui_raster_add(&few, x, y, r->cell[(size_t)y * r->width + x]);
        }
    }
    ui_raster_finish(&few);
    char said[96];
    char caption[160];
    ui_raster_said(&few, said);
    (void)snprintf(caption, sizeof caption, "Figures of this chart%s%s", said[0] == '\0' ? "" : ": ", said);
    ui_page_table(page, caption, chart->origin, true);
    ui_page_columns(page, (const char *const[]){chart->y.label, chart->x.label, chart->label, NULL});
    const uint64_t span_x = few.span_x * r->span_x, span_y = few.span_y * r->span_y;
    for (uint32_t y = 0; y < few.height; y++) {
        for (uint32_t x = 0; x < few.width; x++) {
            ui_page_row(page, NULL, false);
            place_cell(page, &chart->y, r->rows, y * span_y, (y + 1) * span_y);
            place_cell(page, &chart->x, r->columns, x * span_x, (x + 1) * span_x);
            ui_page_number_cell(page, chart->unit, few.cell[(size_t)y * few.width + x]);
            ui_page_end(page);
        }
    }
    ui_page_end(page);
    ui_raster_free(&few);
}

void ui_page_put_areas(struct hpcw_i_json *j, const struct ui_page_area *area, size_t areas) {
    hpcw_i_json_key_array(j, "areas");
    for (size_t i = 0; i < areas; i++) {
        hpcw_i_json_begin_object(j);
        hpcw_i_json_put_f64(j, "left", area[i].left);
        hpcw_i_json_put_f64(j, "right", area[i].right);
        hpcw_i_json_put_f64(j, "top", area[i].top);
        hpcw_i_json_put_f64(j, "bottom", area[i].bottom);
        hpcw_i_json_put_str(j, "label", area[i].label);
        hpcw_i_json_end_object(j);
    }
    hpcw_i_json_end_array(j);
}

void ui_page_heat(struct ui_page *page, const struct ui_page_heat *chart) {
    const struct ui_raster *r = chart->raster;
    struct hpcw_i_json j;
    char said[96];
    char caption[1024];
    ui_raster_said(r, said);
    (void)snprintf(caption, sizeof caption, "%s%s%s", chart->caption, said[0] == '\0' ? "" : "; ", said);
    /* A matrix of ranks by ranks is a square. */
    const bool matrix = chart->x.index && chart->y.index && chart->raster->columns == chart->raster->rows;
    ui_page_open_figure(page, chart->title, caption, chart->origin, matrix ? UI_PAGE_SQUARE : 34);
    ui_page_begin_json(page, &j, "heat");
    put_side(&j, "x", &chart->x, r->span_x, r->columns);
    put_side(&j, "y", &chart->y, r->span_y, r->rows);
    hpcw_i_json_put_str(&j, "label", chart->label);
    hpcw_i_json_put_str(&j, "unit", ui_page_unit_name[chart->unit]);
    hpcw_i_json_put_u64(&j, "width", r->width);
    hpcw_i_json_put_u64(&j, "height", r->height);
    put_cells(&j, r);
    ui_page_put_areas(&j, chart->area, chart->areas);
    ui_page_end_json(page, &j);
    table_of_heat(page, chart);
    ui_page_end(page);
}

void ui_page_link_chart(struct ui_page *page, const char *text) {
    char id[32];
    (void)snprintf(id, sizeof id, "chart-%u", page->charts);
    ui_page_link(page, id, text);
}
