/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of public calls: arrays of the caller, or NULL. */
#ifndef HPCW_BASE_COLUMN_H
#define HPCW_BASE_COLUMN_H

/* Sets a row of a column, unless it is NULL. */
#define HPCW_I_COLUMN_PUT(column, row, value)                                                                  \
    do {                                                                                                       \
        if ((column) != NULL) {                                                                                \
            (column)[row] = (value);                                                                           \
        }                                                                                                      \
    } while (0)

#endif
