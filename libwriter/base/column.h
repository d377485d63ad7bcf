/* SPDX-License-Identifier: BSD-3-Clause */
/* Helper for functions that fill columns: arrays of the caller, each of which may be NULL. */
#ifndef HPCW_BASE_COLUMN_H
#define HPCW_BASE_COLUMN_H

/* Sets a row of a column, unless the column is NULL. */
#define HPCW_I_COLUMN_PUT(column, row, value)                                                                  \
    do {                                                                                                       \
        if ((column) != NULL) {                                                                                \
            (column)[row] = (value);                                                                           \
        }                                                                                                      \
    } while (0)

#endif
