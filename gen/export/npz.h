/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays for NumPy: .npy format version 1.0, and .npz, an uncompressed ZIP of them (PKWARE's APPNOTE.TXT 6.3.3,
 * with ZIP64).
 *
 *    gen_npz_begin, gen_npz_rows until all rows are there, gen_npz_end    for each array
 *    gen_npz_close
 *
 * Everything is written in order, so the output can be a pipe: sizes and CRC-32 of an array follow it. Values are
 * little-endian. */
#ifndef HPCW_GEN_EXPORT_NPZ_H
#define HPCW_GEN_EXPORT_NPZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/spec/stream.h"
#include "libwriter/base/buf.h"

enum gen_npz_type {
    GEN_NPZ_BOOL,
    GEN_NPZ_U8,
    GEN_NPZ_I32,
    GEN_NPZ_U32,
    GEN_NPZ_U64,
    GEN_NPZ_F64,
    GEN_NPZ_TEXT, /* const char * values, UTF-8; invalid bytes are replaced */
};

/* A column of an array. */
struct gen_npz_field {
    const char *name; /* NULL: the only column, of an array without names */
    enum gen_npz_type type;
    const void *values; /* [rows], or [rows][repeat]; borrowed */
    size_t width;       /* GEN_NPZ_TEXT: characters of the longest text, at least 1 */
    size_t repeat;      /* 0: a row has one value and not an array */
};

struct gen_npz_shape {
    unsigned dimensions; /* 0 to 2 dimensions; 0: one row */
    uint64_t size[2];
};

struct gen_npz {
    struct gen_stream out;
    uint64_t arrays;
    struct hpcw_i_buf directory; /* directory of the ZIP */
    /* Members from here on are those of the current array. */
    const char *name;
    /* start: offset of the array's entry in the ZIP
     * size: bytes of the array with its heading
     * written: how many of these bytes are written */
    uint64_t start, size, written;
    uint32_t crc;
};

/* Appends the heading of an .npy file. Returns false when memory runs out. */
bool gen_npy_heading(struct hpcw_i_buf *b, const struct gen_npz_field *field, size_t fields,
                     const struct gen_npz_shape *shape);

/* Begins an array. Borrows its name until gen_npz_end. HPCW_ENOMEM, and errors of the sink. */
hpcw_status gen_npz_begin(struct gen_npz *z, const char *name, const struct gen_npz_field *field, size_t fields,
                          const struct gen_npz_shape *shape, hpcw_error *err);

/* Appends rows with the fields of gen_npz_begin. HPCW_ENOMEM, and errors of the sink. */
hpcw_status gen_npz_rows(struct gen_npz *z, const struct gen_npz_field *field, size_t fields, size_t rows,
                         hpcw_error *err);

/* Ends an array. HPCW_EIO: the number of rows is not that of gen_npz_begin, since the input has changed.
 * HPCW_ENOMEM. */
hpcw_status gen_npz_end(struct gen_npz *z, hpcw_error *err);

/* Ends the file. HPCW_ENOMEM, and errors of the sink. */
hpcw_status gen_npz_close(struct gen_npz *z, hpcw_error *err);

void gen_npz_free(struct gen_npz *z);

/* Returns the number of characters of a text. */
size_t gen_npz_width(const char *text);

#endif
