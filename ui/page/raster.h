/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F4: a large matrix made small enough to be looked at, value by value, in memory that does not depend on its size.
 * A cell stands for `span_x` columns and `span_y` rows (fewer at the far edges).
 */
#ifndef HPCW_UI_PAGE_RASTER_H
#define HPCW_UI_PAGE_RASTER_H

#include <stdint.h>

#include <hpcw/status.h>

#define HPCW_I_RASTER_MAX 512 /* cells in a row or column that a page shows */

/* What becomes of the values that fall into one cell. */
enum hpcw_i_reduce {
    HPCW_I_REDUCE_MAX, /* the largest: what is rare and large stays visible */
    HPCW_I_REDUCE_MEAN,
    HPCW_I_REDUCE_SUM,
};

struct hpcw_i_raster {
    uint64_t columns, rows; /* of the matrix */
    uint32_t width, height; /* cells */
    uint64_t span_x, span_y;
    enum hpcw_i_reduce reduce;
    double *cell;    /* [height][width]; NaN where nothing was added */
    uint32_t *count; /* values of each cell, for the mean */
};

/* An empty raster of at most `most` by `most` cells. HPCW_EINVAL (a number is 0), HPCW_ENOMEM. */
HPCW_MUST_CHECK hpcw_status hpcw_i_raster_init(struct hpcw_i_raster *r, uint64_t columns, uint64_t rows,
                                               uint32_t most, enum hpcw_i_reduce reduce, hpcw_error *err);

/* Takes a value of the matrix; NaN is ignored. column < columns, row < rows. */
void hpcw_i_raster_add(struct hpcw_i_raster *r, uint64_t column, uint64_t row, double value);

/* When all was added: means are divided. */
void hpcw_i_raster_finish(struct hpcw_i_raster *r);

/* "each cell is the largest of 8 x 8 values", or "" where a cell is one value. */
const char *hpcw_i_raster_said(const struct hpcw_i_raster *r, char text[96]);

void hpcw_i_raster_free(struct hpcw_i_raster *r);

#endif
