/* SPDX-License-Identifier: BSD-3-Clause */
#include "ui/page/raster.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Returns the number of columns (or rows) per cell, so that at most `most` cells are needed. */
static uint64_t span_of(uint64_t n, uint32_t most) {
    return n / most + (n % most != 0);
}

hpcw_status ui_raster_init(struct ui_raster *r, uint64_t columns, uint64_t rows, uint32_t most,
                           enum ui_reduce reduce, hpcw_error *err) {
    *r = (struct ui_raster){.columns = columns, .rows = rows, .reduce = reduce};
    if (columns == 0 || rows == 0 || most == 0) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "raster: expected columns, rows and cells, got %" PRIu64 " x %" PRIu64 " in %u",
                           columns, rows, most);
    }
    r->span_x = span_of(columns, most);
    r->span_y = span_of(rows, most);
    r->width = (uint32_t)((columns - 1) / r->span_x + 1);
    r->height = (uint32_t)((rows - 1) / r->span_y + 1);
    size_t cells = (size_t)r->width * r->height;
    r->cell = hpcw_i_calloc(cells, sizeof *r->cell);
    r->count = hpcw_i_calloc(cells, sizeof *r->count);
    if (r->cell == NULL || r->count == NULL) {
        ui_raster_free(r);
        return hpcw_i_fail_memory(err, "raster", cells, "cells");
    }
    for (size_t i = 0; i < cells; i++) {
        r->cell[i] = NAN;
    }
    return HPCW_OK;
}

void ui_raster_add(struct ui_raster *r, uint64_t column, uint64_t row, double value) {
    if (isnan(value)) {
        return;
    }
    size_t i = (size_t)(row / r->span_y) * r->width + (size_t)(column / r->span_x);
    double *cell = &r->cell[i];
    bool first = r->count[i]++ == 0;
    if (!first && r->reduce != UI_REDUCE_MAX) {
        *cell += value;
    } else if (first || value > *cell) {
        *cell = value;
    }
}

void ui_raster_finish(struct ui_raster *r) {
    size_t cells = (size_t)r->width * r->height;
    for (size_t i = 0; r->reduce == UI_REDUCE_MEAN && i < cells; i++) {
        if (r->count[i] > 1) {
            r->cell[i] /= r->count[i];
        }
    }
}

const char *ui_raster_said(const struct ui_raster *r, char text[96]) {
    static const char *const what[] = {
        [UI_REDUCE_MAX] = "largest", [UI_REDUCE_MEAN] = "mean", [UI_REDUCE_SUM] = "sum"};
    text[0] = '\0';
    if (r->span_x > 1 || r->span_y > 1) {
        (void)snprintf(text, 96, "each cell is the %s of %" PRIu64 " x %" PRIu64 " values", what[r->reduce],
                       r->span_x, r->span_y);
    }
    return text;
}

void ui_raster_free(struct ui_raster *r) {
    hpcw_i_free(r->cell);
    hpcw_i_free(r->count);
    r->cell = NULL;
    r->count = NULL;
}
