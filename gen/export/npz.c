/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/npz.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gen/export/text.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/crc32.h"
#include "libwriter/base/status.h"

/* Constants of ZIP. Each entry has its sizes and its offset in an extra field of ZIP64, even if they are small,
 * so that all entries have the same layout. */
enum {
    LOCAL = 0x04034b50,
    DESCRIPTOR = 0x08074b50,
    CENTRAL = 0x02014b50,
    END_64 = 0x06064b50,
    LOCATOR_64 = 0x07064b50,
    END = 0x06054b50,
    VERSION_64 = 45,
    SIZES_FOLLOW = 8, /* flag: sizes and CRC-32 follow the data */
    EXTRA_64 = 1,
    FIRST_DAY = 1 << 5 | 1, /* 1980-01-01, so that bytes do not depend on the clock */
};

/* ---- values ---- */

static size_t size_of(const struct gen_npz_field *f) {
    static const size_t size[] = {[GEN_NPZ_BOOL] = 1, [GEN_NPZ_U8] = 1,  [GEN_NPZ_I32] = 4, [GEN_NPZ_U32] = 4,
                                  [GEN_NPZ_U64] = 8,  [GEN_NPZ_F64] = 8, [GEN_NPZ_TEXT] = 4};
    return size[f->type] * (f->type == GEN_NPZ_TEXT ? f->width : 1) * (f->repeat > 0 ? f->repeat : 1);
}

static size_t size_of_row(const struct gen_npz_field *field, size_t fields) {
    size_t size = 0;
    for (size_t i = 0; i < fields; i++) {
        size += size_of(&field[i]);
    }
    return size;
}

/* Returns the character at *text and advances past it. */
static uint32_t next_character(const unsigned char **text) {
    enum { REPLACEMENT = 0xfffd };
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *p = *text;
    const unsigned more = p[0] < 0x80   ? 0
                          : p[0] < 0xc0 ? 4
                          : p[0] < 0xe0 ? 1
                          : p[0] < 0xf0 ? 2
                          : p[0] < 0xf8 ? 3
                                        : 4;
    uint32_t c = more == 0 ? p[0] : p[0] & (0x3fu >> more);
    *text = p + 1;
    if (more == 4) {
        return REPLACEMENT;
    }
    for (unsigned i = 1; i <= more; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return REPLACEMENT;
        }
        c = c << 6 | (p[i] & 0x3fu);
    }
    if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
        return REPLACEMENT;
    }
    *text = p + 1 + more;
    return c;
}

size_t gen_npz_width(const char *text) {
    size_t width = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; width++) {
        (void)next_character(&p);
    }
    return width;
}

static void put_text(unsigned char *to, const char *text, size_t width) {
    const unsigned char *p = (const unsigned char *)text;
    for (size_t i = 0; i < width; i++) {
        hpcw_i_put_u32(to + 4 * i, *p == '\0' ? 0 : next_character(&p), false);
    }
}

static void put_value(unsigned char *to, const struct gen_npz_field *f, size_t i) {
    switch (f->type) {
    case GEN_NPZ_BOOL:
        *to = ((const bool *)f->values)[i];
        break;
    case GEN_NPZ_U8:
        *to = ((const unsigned char *)f->values)[i];
        break;
    case GEN_NPZ_I32:
        hpcw_i_put_u32(to, (uint32_t)((const int32_t *)f->values)[i], false);
        break;
    case GEN_NPZ_U32:
        hpcw_i_put_u32(to, ((const uint32_t *)f->values)[i], false);
        break;
    case GEN_NPZ_U64:
        hpcw_i_put_u64(to, ((const uint64_t *)f->values)[i], false);
        break;
    case GEN_NPZ_F64:
        hpcw_i_put_f64(to, ((const double *)f->values)[i], false);
        break;
    case GEN_NPZ_TEXT:
        put_text(to, ((const char *const *)f->values)[i], f->width);
        break;
    }
}

/* ---- .npy ---- */

static bool add_type(struct hpcw_i_buf *b, const struct gen_npz_field *f) {
    static const char *const type[] = {
        [GEN_NPZ_BOOL] = "|b1", [GEN_NPZ_U8] = "|u1",  [GEN_NPZ_I32] = "<i4", [GEN_NPZ_U32] = "<u4",
        [GEN_NPZ_U64] = "<u8",  [GEN_NPZ_F64] = "<f8", [GEN_NPZ_TEXT] = "<U"};
    return hpcw_i_buf_append_str(b, "'") && hpcw_i_buf_append_str(b, type[f->type]) &&
           (f->type != GEN_NPZ_TEXT || gen_export_u64(b, f->width)) && hpcw_i_buf_append_str(b, "'");
}

static bool add_field(struct hpcw_i_buf *b, const struct gen_npz_field *f) {
    bool good = hpcw_i_buf_append_str(b, "('") && hpcw_i_buf_append_str(b, f->name) &&
                hpcw_i_buf_append_str(b, "', ") && add_type(b, f);
    if (f->repeat > 0) {
        good = good && hpcw_i_buf_append_str(b, ", (") && gen_export_u64(b, f->repeat) &&
               hpcw_i_buf_append_str(b, ",)");
    }
    return good && hpcw_i_buf_append_str(b, "), ");
}

static bool add_shape(struct hpcw_i_buf *b, const struct gen_npz_shape *shape) {
    bool good = true;
    for (unsigned i = 0; good && i < shape->dimensions; i++) {
        good = hpcw_i_buf_append_str(b, i > 0 ? " " : "") && gen_export_u64(b, shape->size[i]) &&
               (i + 1 == shape->dimensions && i > 0 ? true : hpcw_i_buf_append_str(b, ","));
    }
    return good;
}

/* The heading has the magic, the version, the length of the rest, and a Python dictionary. Blanks and a line
 * feed pad it to a multiple of 64 bytes. */
bool gen_npy_heading(struct hpcw_i_buf *b, const struct gen_npz_field *field, size_t fields,
                     const struct gen_npz_shape *shape) {
    enum { MAGIC = 10, MULTIPLE = 64 };
    unsigned char blanks[MULTIPLE];
    const size_t start = b->size;
    memset(blanks, ' ', sizeof blanks);
    bool good = hpcw_i_buf_append(b, "\x93NUMPY\x01\0\0\0", MAGIC) && hpcw_i_buf_append_str(b, "{'descr': ");
    if (field->name == NULL) {
        good = good && add_type(b, field);
    } else {
        good = good && hpcw_i_buf_append_str(b, "[");
        for (size_t i = 0; good && i < fields; i++) {
            good = add_field(b, &field[i]);
        }
        good = good && hpcw_i_buf_append_str(b, "]");
    }
    good = good && hpcw_i_buf_append_str(b, ", 'fortran_order': False, 'shape': (") && add_shape(b, shape) &&
           hpcw_i_buf_append_str(b, "), }") &&
           hpcw_i_buf_append(b, blanks, MULTIPLE - 1 - (b->size - start) % MULTIPLE) &&
           hpcw_i_buf_append_str(b, "\n");
    if (good) {
        const size_t rest = b->size - start - MAGIC; /* far below 65536, as arrays have only a few fields */
        b->data[start + MAGIC - 2] = (unsigned char)(rest & 0xff);
        b->data[start + MAGIC - 1] = (unsigned char)(rest >> 8);
    }
    return good;
}

/* ---- .npz ---- */

struct zip_number {
    uint64_t value;
    size_t size;
};

/* Appends little-endian numbers. */
static bool add_numbers(struct hpcw_i_buf *b, const struct zip_number *number, size_t count) {
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        unsigned char bytes[8];
        hpcw_i_put_u64(bytes, number[i].value, false);
        good = hpcw_i_buf_append(b, bytes, number[i].size);
    }
    return good;
}

#define ADD(b, ...)                                                                                            \
    add_numbers((b), (const struct zip_number[]){__VA_ARGS__},                                                 \
                sizeof(const struct zip_number[]){__VA_ARGS__} / sizeof(struct zip_number))

static bool add_name(struct gen_npz *z, struct hpcw_i_buf *b) {
    return hpcw_i_buf_append_str(b, z->name) && hpcw_i_buf_append_str(b, ".npy");
}

static uint64_t name_size(const struct gen_npz *z) {
    return strlen(z->name) + strlen(".npy");
}

/* Counts bytes in the size and the CRC-32 of the current array: those from offset `from` to the end of the
 * buffer. Writes the buffer if it is large. */
static hpcw_status take(struct gen_npz *z, size_t from, hpcw_error *err) {
    struct hpcw_i_buf *b = &z->out.buf;
    z->crc = hpcw_i_crc32(z->crc, b->data + from, b->size - from);
    z->written += b->size - from;
    return gen_stream_flush(&z->out, GEN_STREAM_PIECE, err);
}

hpcw_status gen_npz_begin(struct gen_npz *z, const char *name, const struct gen_npz_field *field, size_t fields,
                          const struct gen_npz_shape *shape, hpcw_error *err) {
    struct hpcw_i_buf *b = &z->out.buf;
    z->name = name;
    z->start = z->out.at + b->size;
    z->crc = 0;
    z->written = 0;
    bool good = ADD(b, {LOCAL, 4}, {VERSION_64, 2}, {SIZES_FOLLOW, 2}, {0, 2}, {0, 2}, {FIRST_DAY, 2}, {0, 4},
                    {UINT32_MAX, 4}, {UINT32_MAX, 4}, {name_size(z), 2}, {20, 2}) &&
                add_name(z, b) && ADD(b, {EXTRA_64, 2}, {16, 2}, {0, 8}, {0, 8});
    const size_t from = b->size;
    good = good && gen_npy_heading(b, field, fields, shape);
    uint64_t data = size_of_row(field, fields);
    for (unsigned i = 0; i < shape->dimensions; i++) {
        data *= shape->size[i];
    }
    z->size = b->size - from + data;
    return good ? take(z, from, err) : gen_export_no_memory(err);
}

hpcw_status gen_npz_rows(struct gen_npz *z, const struct gen_npz_field *field, size_t fields, size_t rows,
                         hpcw_error *err) {
    struct hpcw_i_buf *b = &z->out.buf;
    const size_t from = b->size, size = size_of_row(field, fields);
    if (rows > SIZE_MAX / size || !hpcw_i_buf_reserve(b, rows * size)) {
        return gen_export_no_memory(err);
    }
    if (fields == 1 && field->type == GEN_NPZ_U8) {
        (void)hpcw_i_buf_append(b, field->values, rows);
        return take(z, from, err);
    }
    size_t at = 0;
    for (size_t f = 0; f < fields; f++) {
        const size_t repeat = field[f].repeat > 0 ? field[f].repeat : 1, one = size_of(&field[f]) / repeat;
        for (size_t i = 0; i < rows * repeat; i++) {
            put_value(b->data + from + i / repeat * size + at + i % repeat * one, &field[f], i);
        }
        at += repeat * one;
    }
    b->size += rows * size;
    return take(z, from, err);
}

hpcw_status gen_npz_end(struct gen_npz *z, hpcw_error *err) {
    if (z->written != z->size) {
        return hpcw_i_fail(err, HPCW_EIO,
                           "export: %s: expected %" PRIu64 " bytes as before, got %" PRIu64
                           ": the input has changed meanwhile",
                           z->name, z->size, z->written);
    }
    struct hpcw_i_buf *d = &z->directory;
    const bool good = ADD(&z->out.buf, {DESCRIPTOR, 4}, {z->crc, 4}, {z->size, 8}, {z->size, 8}) &&
                      ADD(d, {CENTRAL, 4}, {VERSION_64, 2}, {VERSION_64, 2}, {SIZES_FOLLOW, 2}, {0, 2}, {0, 2},
                          {FIRST_DAY, 2}, {z->crc, 4}, {UINT32_MAX, 4}, {UINT32_MAX, 4}, {name_size(z), 2},
                          {28, 2}, {0, 2}, {0, 2}, {0, 2}, {0, 4}, {UINT32_MAX, 4}) &&
                      add_name(z, d) &&
                      ADD(d, {EXTRA_64, 2}, {24, 2}, {z->size, 8}, {z->size, 8}, {z->start, 8});
    z->arrays++;
    return good ? HPCW_OK : gen_export_no_memory(err);
}

hpcw_status gen_npz_close(struct gen_npz *z, hpcw_error *err) {
    struct hpcw_i_buf *b = &z->out.buf;
    const uint64_t start = z->out.at + b->size, end = start + z->directory.size;
    const uint64_t few = z->arrays < UINT16_MAX ? z->arrays : UINT16_MAX;
    const bool good =
        hpcw_i_buf_append(b, z->directory.data, z->directory.size) &&
        ADD(b, {END_64, 4}, {44, 8}, {VERSION_64, 2}, {VERSION_64, 2}, {0, 4}, {0, 4}, {z->arrays, 8},
            {z->arrays, 8}, {z->directory.size, 8}, {start, 8}) &&
        ADD(b, {LOCATOR_64, 4}, {0, 4}, {end, 8}, {1, 4}) &&
        ADD(b, {END, 4}, {0, 2}, {0, 2}, {few, 2}, {few, 2}, {UINT32_MAX, 4}, {UINT32_MAX, 4}, {0, 2});
    return good ? gen_stream_flush(&z->out, 0, err) : gen_export_no_memory(err);
}

void gen_npz_free(struct gen_npz *z) {
    hpcw_i_buf_free(&z->out.buf);
    hpcw_i_buf_free(&z->directory);
}
