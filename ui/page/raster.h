/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduces a large matrix to an image. Values are added one by one, and the memory does not depend on the size
 * of the matrix. A cell stands for `span_x` columns and `span_y` rows of the matrix; the last cells may stand
 * for fewer.
 */
#ifndef HPCW_UI_PAGE_RASTER_H
#define HPCW_UI_PAGE_RASTER_H

#include <stdint.h>

#include <hpcw/status.h>

#define UI_RASTER_MAX 512 /* most cells in a row or column of a page's raster */

/* How the values of one cell are reduced. */
enum ui_reduce {
    UI_REDUCE_MAX, /* the largest value, so that rare large values stay visible */
    UI_REDUCE_MEAN,
    UI_REDUCE_SUM,
};

struct ui_raster {
    uint64_t columns, rows; /* size of the matrix */
    uint32_t width, height; /* size of the raster, cells */
    uint64_t span_x, span_y;
    enum ui_reduce reduce;
    double *cell;    /* [height][width]; NaN where nothing was added */
    uint32_t *count; /* values of each cell, for the mean */
};

/* Makes an empty raster of at most `most` by `most` cells. HPCW_EINVAL (a number is 0), HPCW_ENOMEM. */
HPCW_MUST_CHECK hpcw_status ui_raster_init(struct ui_raster *r, uint64_t columns, uint64_t rows, uint32_t most,
                                           enum ui_reduce reduce, hpcw_error *err);

/* Adds a value of the matrix; NaN is ignored. column < columns, row < rows. */
void ui_raster_add(struct ui_raster *r, uint64_t column, uint64_t row, double value);

/* Computes the means. Call it after the last value. */
void ui_raster_finish(struct ui_raster *r);

/* Describes the reduction: "each cell is the largest of 8 x 8 values", or "" where a cell is one value. */
const char *ui_raster_said(const struct ui_raster *r, char text[96]);

void ui_raster_free(struct ui_raster *r);

#endif
