/* SPDX-License-Identifier: BSD-3-Clause */
#include "ui/page/timeline.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"
#include "ui/page/private.h"

enum {
    FIRST_COLUMNS = 1024, /* more columns than a chart has pixels on a screen of 1280 pixels */
    FIRST_ROWS = 512,
    MOST_ROWS = 4096,
    MOST_COLUMNS = 65536,
    STEP = 4, /* columns of a level / columns of the level before */
};

/* Most cells of the finest level. The page is then below 15 MB, even if all neighbours differ. */
#define MOST_CELLS ((uint32_t)1 << 23)

/* ---- Cells ---- */

static bool add_level(struct ui_timeline *t, uint32_t columns, uint32_t most_rows, bool vote) {
    struct ui_timeline_level *l = &t->level[t->levels++];
    l->columns = columns;
    l->span = (t->ranks - 1) / most_rows + 1;
    l->rows = (uint32_t)((t->ranks - 1) / l->span + 1);
    const size_t cells = (size_t)l->columns * l->rows;
    l->state = hpcw_i_malloc(cells);
    l->lead = vote ? hpcw_i_calloc(cells, sizeof *l->lead) : NULL;
    if (l->state == NULL || (vote && l->lead == NULL)) {
        return false;
    }
    memset(l->state, UI_TIMELINE_NOTHING, cells);
    return true;
}

hpcw_status ui_timeline_init(struct ui_timeline *t, double from, double to, uint64_t ranks, uint32_t states,
                             hpcw_error *err) {
    *t = (struct ui_timeline){.from = from, .to = to, .ranks = ranks, .states = states};
    uint32_t finest = MOST_COLUMNS;
    while (finest > FIRST_COLUMNS && finest * (ranks < MOST_ROWS ? ranks : MOST_ROWS) > MOST_CELLS) {
        finest /= 2;
    }
    bool good = add_level(t, FIRST_COLUMNS, FIRST_ROWS, false);
    uint32_t columns = finest;
    while (columns / STEP > FIRST_COLUMNS) {
        columns /= STEP;
    }
    for (; good && columns <= finest; columns *= STEP) {
        good = add_level(t, columns, MOST_ROWS, true);
    }
    const size_t cells = (size_t)t->level[0].columns * t->level[0].rows;
    t->time = good ? hpcw_i_calloc(cells * states, sizeof *t->time) : NULL;
    if (t->time == NULL) {
        ui_timeline_free(t);
        return hpcw_i_fail_memory(err, "timeline", cells, "cells");
    }
    return HPCW_OK;
}

/* Adds a time of a state to a cell, by the majority vote of Boyer and Moore. At the end, the cell has the state
 * that took more than half of its time, if there is one. The order of the calls does not matter. */
static void vote(struct ui_timeline_level *l, size_t cell, uint32_t state, float time) {
    if (l->state[cell] == state) {
        l->lead[cell] += time;
    } else if (l->lead[cell] >= time) {
        l->lead[cell] -= time;
    } else {
        l->state[cell] = (unsigned char)state;
        l->lead[cell] = time - l->lead[cell];
    }
}

void ui_timeline_add(struct ui_timeline *t, uint64_t rank, uint32_t state, double from, double to) {
    from = from > t->from ? from : t->from;
    to = to < t->to ? to : t->to;
    if (!(from < to) || rank >= t->ranks) {
        return;
    }
    for (uint32_t k = 0; k < t->levels; k++) {
        struct ui_timeline_level *l = &t->level[k];
        const double width = (t->to - t->from) / l->columns;
        const size_t row = (size_t)(rank / l->span) * l->columns;
        for (uint32_t x = (uint32_t)((from - t->from) / width); x < l->columns; x++) {
            const double left = t->from + x * width, right = left + width;
            if (left >= to) {
                break;
            }
            const float part = (float)((to < right ? to : right) - (from > left ? from : left));
            if (part > 0 && l->lead != NULL) {
                vote(l, row + x, state, part);
            } else if (part > 0) {
                t->time[(row + x) * t->states + state] += part;
            }
        }
    }
}

void ui_timeline_finish(struct ui_timeline *t) {
    struct ui_timeline_level *l = &t->level[0];
    for (size_t i = 0; i < (size_t)l->columns * l->rows; i++) {
        float most = 0;
        for (uint32_t k = 0; k < t->states; k++) {
            if (t->time[i * t->states + k] > most) {
                most = t->time[i * t->states + k];
                l->state[i] = (unsigned char)k;
            }
        }
    }
}

void ui_timeline_free(struct ui_timeline *t) {
    hpcw_i_free(t->time);
    for (uint32_t k = 0; k < t->levels; k++) {
        hpcw_i_free(t->level[k].state);
        hpcw_i_free(t->level[k].lead);
    }
    *t = (struct ui_timeline){0};
}

/* ---- Text of cells ---- */

/* Appends the cells row by row, as runs of equal cells. The first byte of a run has the state in its upper four
 * bits and the length - 1, at most 15, in its lower four bits. After a 15, the length - 16 follows as a
 * variable-length number: seven bits per byte, the lowest bits first. All bytes of this number except the last
 * have the highest bit set. */
static bool pack(struct hpcw_i_buf *out, const struct ui_timeline_level *l) {
    const size_t cells = (size_t)l->columns * l->rows;
    for (size_t i = 0; i < cells;) {
        size_t run = 1;
        while (i + run < cells && l->state[i + run] == l->state[i]) {
            run++;
        }
        unsigned char text[12] = {(unsigned char)(l->state[i] * 16u + (run < 16 ? run - 1 : 15))};
        size_t n = 1;
        if (run >= 16) {
            size_t rest = run - 16;
            for (; rest >= 128; rest >>= 7) {
                text[n++] = (unsigned char)(rest % 128 + 128);
            }
            text[n++] = (unsigned char)rest;
        }
        if (!hpcw_i_buf_append(out, text, n)) {
            return false;
        }
        i += run;
    }
    return true;
}

bool ui_page_base64(struct hpcw_i_buf *out, const unsigned char *data, size_t size) {
    static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        const size_t n = size - i < 3 ? size - i : 3;
        const uint32_t bits = (uint32_t)data[i] << 16 | (n > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                              (n > 2 ? (uint32_t)data[i + 2] : 0);
        const char text[4] = {letter[bits >> 18], letter[bits >> 12 & 63], n > 1 ? letter[bits >> 6 & 63] : '=',
                              n > 2 ? letter[bits & 63] : '='};
        if (!hpcw_i_buf_append(out, text, sizeof text)) {
            return false;
        }
    }
    return true;
}

static void put_level(struct ui_page *page, const struct ui_timeline_level *l) {
    struct hpcw_i_buf packed = {0};
    ui_page_raw(page, "<script type=\"application/json\">\"");
    if (!pack(&packed, l) || !ui_page_base64(&page->out, packed.data, packed.size)) {
        ui_page_fail_memory(page);
    }
    hpcw_i_buf_free(&packed);
    ui_page_raw(page, "\"</script>\n");
}

/* ---- The chart ---- */

static void put_states(struct hpcw_i_json *j, const struct ui_page_timeline *chart) {
    hpcw_i_json_key_array(j, "states");
    for (uint32_t k = 0; k < chart->timeline->states; k++) {
        hpcw_i_json_begin_object(j);
        hpcw_i_json_put_str(j, "name", chart->name[k]);
        ui_page_put_colour(j, chart->colour[k]);
        hpcw_i_json_end_object(j);
    }
    hpcw_i_json_end_array(j);
    hpcw_i_json_key_array(j, "levels");
    for (uint32_t k = 0; k < chart->timeline->levels; k++) {
        hpcw_i_json_begin_object(j);
        hpcw_i_json_put_u64(j, "columns", chart->timeline->level[k].columns);
        hpcw_i_json_put_u64(j, "rows", chart->timeline->level[k].rows);
        hpcw_i_json_put_u64(j, "span", chart->timeline->level[k].span);
        hpcw_i_json_end_object(j);
    }
    hpcw_i_json_end_array(j);
}

/*
 * Writes each cell as two bytes, the lower one first; 0: no value. The upper six bits are 63 - (e - x), with x
 * the binary exponent of the cell and e the largest exponent of all cells. The lower ten bits are the mantissa
 * without its first bit. The error is below 0.1 %, which suffices for a colour and a rounded number.
 */
static void put_quantities(struct ui_page *page, struct hpcw_i_json *j, const struct ui_raster *r) {
    const size_t cells = (size_t)r->width * r->height;
    struct hpcw_i_buf codes = {0}, text = {0};
    int most = INT_MIN, exponent;
    for (size_t i = 0; i < cells; i++) {
        if (r->cell[i] > 0) {
            (void)frexp(r->cell[i], &exponent);
            most = exponent > most ? exponent : most;
        }
    }
    bool good = true;
    for (size_t i = 0; good && i < cells; i++) {
        unsigned code = 0;
        if (r->cell[i] > 0) {
            const double part = frexp(r->cell[i], &exponent);
            const int below = most - exponent < 62 ? most - exponent : 62;
            code = (unsigned)(63 - below) << 10 | (unsigned)((part - 0.5) * 2048);
        }
        good = hpcw_i_buf_append(&codes, (const unsigned char[]){code & 255, (unsigned char)(code >> 8)}, 2);
    }
    if (!good || !ui_page_base64(&text, codes.data, codes.size) || !hpcw_i_buf_append(&text, "", 1)) {
        ui_page_fail_memory(page);
    } else {
        hpcw_i_json_put_i64(j, "exponent", most == INT_MIN ? 0 : most);
        hpcw_i_json_put_str(j, "cells", (const char *)text.data);
    }
    hpcw_i_buf_free(&codes);
    hpcw_i_buf_free(&text);
}

static void put_layers(struct ui_page *page, struct hpcw_i_json *j, const struct ui_page_timeline *chart) {
    hpcw_i_json_key_array(j, "layers");
    for (size_t k = 0; k < chart->layers; k++) {
        const struct ui_page_layer *layer = &chart->layer[k];
        hpcw_i_json_begin_object(j);
        hpcw_i_json_put_str(j, "name", layer->name);
        hpcw_i_json_put_str(j, "unit", ui_page_unit_name[layer->unit]);
        hpcw_i_json_put_u64(j, "columns", layer->raster->width);
        hpcw_i_json_put_u64(j, "rows", layer->raster->height);
        hpcw_i_json_put_u64(j, "span", layer->raster->span_y);
        put_quantities(page, j, layer->raster);
        hpcw_i_json_end_object(j);
    }
    hpcw_i_json_end_array(j);
}

static void put_places(struct hpcw_i_json *j, const struct ui_page_timeline *chart) {
    hpcw_i_json_key_array(j, "places");
    for (size_t i = 0; i < chart->places; i++) {
        const struct ui_page_place *p = &chart->place[i];
        hpcw_i_json_begin_object(j);
        hpcw_i_json_put_str(j, "name", p->name);
        hpcw_i_json_put_u64(j, "rank", p->rank);
        hpcw_i_json_put_f64(j, "from", p->from);
        hpcw_i_json_put_f64(j, "to", p->to);
        hpcw_i_json_end_object(j);
    }
    hpcw_i_json_end_array(j);
}

static void put_detail(struct hpcw_i_json *j, const struct ui_page_timeline *chart) {
    if (chart->folder == NULL) {
        return;
    }
    hpcw_i_json_put_str(j, "folder", chart->folder);
    hpcw_i_json_key_array(j, "events");
    for (size_t i = 0; i < chart->event_names; i++) {
        hpcw_i_json_str(j, chart->event_name[i]);
    }
    hpcw_i_json_end_array(j);
    hpcw_i_json_key_array(j, "scripts");
    for (size_t i = 0; i < chart->scripts; i++) {
        const struct ui_page_script *s = &chart->script[i];
        hpcw_i_json_begin_array(j);
        hpcw_i_json_u64(j, s->first_rank);
        hpcw_i_json_u64(j, s->last_rank);
        hpcw_i_json_f64(j, s->from);
        hpcw_i_json_f64(j, s->to);
        hpcw_i_json_end_array(j);
    }
    hpcw_i_json_end_array(j);
}

void ui_page_timeline(struct ui_page *page, const struct ui_page_timeline *chart) {
    const struct ui_timeline *t = chart->timeline;
    struct hpcw_i_json j;
    page->timelines++;
    ui_page_open_element(page, "<div id=\"timeline\">\n", "</div>\n");
    ui_page_open_figure(page, chart->title, chart->caption, chart->origin, 34);
    ui_page_begin_json(page, &j, "timeline");
    hpcw_i_json_put_f64(&j, "from", t->from);
    hpcw_i_json_put_f64(&j, "to", t->to);
    hpcw_i_json_put_u64(&j, "ranks", t->ranks);
    hpcw_i_json_key_object(&j, "view");
    hpcw_i_json_put_f64(&j, "from", chart->from);
    hpcw_i_json_put_f64(&j, "to", chart->to);
    hpcw_i_json_end_object(&j);
    put_states(&j, chart);
    put_layers(page, &j, chart);
    put_places(&j, chart);
    ui_page_put_areas(&j, chart->area, chart->areas);
    put_detail(&j, chart);
    ui_page_end_json(page, &j);
    for (uint32_t k = 0; k < t->levels; k++) {
        put_level(page, &t->level[k]);
    }
    ui_page_end(page);
    ui_page_end(page);
}

void ui_page_link_place(struct ui_page *page, uint64_t rank, double from, double to, const char *text) {
    char markup[160];
    char number[2][HPCW_I_FMT_ROOM + 1];
    *hpcw_i_fmt_f64(number[0], from, HPCW_I_FLOAT_COMPACT) = '\0';
    *hpcw_i_fmt_f64(number[1], to, HPCW_I_FLOAT_COMPACT) = '\0';
    (void)snprintf(markup, sizeof markup,
                   "<a href=\"#timeline\" data-rank=\"%" PRIu64 "\" data-from=\"%s\" data-to=\"%s\">", rank,
                   number[0], number[1]);
    ui_page_raw(page, markup);
    ui_page_text(page, "%s", text);
    ui_page_raw(page, "</a>");
}
