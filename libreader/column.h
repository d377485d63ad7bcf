/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns that the caller of a public reader gives, or leaves out. */
#ifndef HPCW_LIBREADER_COLUMN_H
#define HPCW_LIBREADER_COLUMN_H

/* Sets a row of a column, unless it is NULL. */
#define READ_COLUMN_PUT(column, row, value)                                                                    \
    do {                                                                                                       \
        if ((column) != NULL) {                                                                                \
            (column)[row] = (value);                                                                           \
        }                                                                                                      \
    } while (0)

#endif
