/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cargo of events, and the formats that show it. Cargo consists of pieces: numbers or texts. The type of a piece
 * has a code of four bits. So the types fit into 64 bits: the 32 bytes of a cargo hold at most 16 pieces of two
 * bytes each. Cargos with equal types have equal codes.
 */
#include "libwriter/format/clog2/file/definitions.h"

#include "libwriter/base/bytes.h"
#include "libwriter/base/status.h"

enum { NO_PIECE, PIECES = 8, PACKED = 15 /* code of a cargo that the caller packed; its pieces are unknown */ };

/* Format letter and size in bytes of each type of piece, by its code. The size of a text is that of its length
 * field. */
static const char letter[] = "?hdlxXeEs";
static const uint8_t piece_size[] = {0, 2, 4, 8, 4, 8, 4, 8, 2};

static unsigned char *add(hpcw_clog2_cargo *cargo, char which, size_t size) {
    const char *found = strchr(letter, which);
    if (cargo == NULL || cargo->size > HPCW_CLOG2_CARGO || size > HPCW_CLOG2_CARGO - cargo->size) {
        if (cargo != NULL) {
            cargo->size = HPCW_CLOG2_CARGO + 1;
        }
        return NULL;
    }
    unsigned char *p = cargo->bytes + cargo->size;
    cargo->pieces = cargo->pieces << 4 | (uint64_t)(found - letter);
    cargo->size += (uint32_t)size;
    return p;
}

static void add32(hpcw_clog2_cargo *cargo, char which, uint32_t value) {
    unsigned char *p = add(cargo, which, 4);
    if (p != NULL) {
        hpcw_i_put_u32(p, value, true);
    }
}

static void add64(hpcw_clog2_cargo *cargo, char which, uint64_t value) {
    unsigned char *p = add(cargo, which, 8);
    if (p != NULL) {
        hpcw_i_put_u64(p, value, true);
    }
}

void hpcw_clog2_cargo_i16(hpcw_clog2_cargo *cargo, int16_t value) {
    unsigned char *p = add(cargo, 'h', 2);
    if (p != NULL) {
        hpcw_i_put_u16(p, (uint16_t)value, true);
    }
}

void hpcw_clog2_cargo_i32(hpcw_clog2_cargo *cargo, int32_t value) {
    add32(cargo, 'd', (uint32_t)value);
}

void hpcw_clog2_cargo_i64(hpcw_clog2_cargo *cargo, int64_t value) {
    add64(cargo, 'l', (uint64_t)value);
}

void hpcw_clog2_cargo_x32(hpcw_clog2_cargo *cargo, uint32_t value) {
    add32(cargo, 'x', value);
}

void hpcw_clog2_cargo_x64(hpcw_clog2_cargo *cargo, uint64_t value) {
    add64(cargo, 'X', value);
}

void hpcw_clog2_cargo_f32(hpcw_clog2_cargo *cargo, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    add32(cargo, 'e', bits);
}

void hpcw_clog2_cargo_f64(hpcw_clog2_cargo *cargo, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    add64(cargo, 'E', bits);
}

void hpcw_clog2_cargo_text(hpcw_clog2_cargo *cargo, const char *text, size_t size) {
    unsigned char *p = add(cargo, 's', size > HPCW_CLOG2_CARGO ? HPCW_CLOG2_CARGO + 1 : size + 2);
    if (p != NULL) {
        hpcw_i_put_u16(p, (uint16_t)size, true);
        if (size > 0) {
            memcpy(p + 2, text, size);
        }
    }
}

void hpcw_clog2_cargo_packed(hpcw_clog2_cargo *cargo, const void *bytes, size_t size) {
    unsigned char *p = add(cargo, letter[NO_PIECE], size);
    if (p == cargo->bytes) {
        memcpy(p, bytes, size);
        cargo->pieces = PACKED;
    } else {
        cargo->size = HPCW_CLOG2_CARGO + 1;
    }
}

/* Returns whether a cargo of 32 bytes has room for the pieces of a format. */
static bool has_room(const unsigned char bytes[HPCW_CLOG2_CARGO], uint64_t pieces) {
    uint32_t at = 0;
    for (int shift = 60; shift >= 0; shift -= 4) {
        uint64_t code = pieces >> shift & 15;
        if (code == PIECES && at + piece_size[code] <= HPCW_CLOG2_CARGO) {
            at += hpcw_i_get_u16(bytes + at, true);
        }
        at += code <= PIECES ? piece_size[code] : 0;
    }
    return at > 0 && at <= HPCW_CLOG2_CARGO;
}

bool hpcw_i_clog2_cargo_fits(uint64_t pieces, const unsigned char bytes[HPCW_CLOG2_CARGO], uint64_t format) {
    return pieces == format || (pieces == PACKED && (format == 0 || has_room(bytes, format)));
}

hpcw_status hpcw_i_clog2_format_pieces(const char *format, uint64_t *pieces, hpcw_error *err) {
    *pieces = 0;
    if (format == NULL) {
        return HPCW_OK;
    }
    if (strnlen(format, HPCW_CLOG2_FORMAT + 1) > HPCW_CLOG2_FORMAT) {
        return hpcw_i_fail(err, HPCW_ERANGE, "clog2: format: expected at most %u bytes, got \"%.60s\"",
                           HPCW_CLOG2_FORMAT, format);
    }
    uint32_t size = 0;
    for (const char *c = format; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 127) {
            return hpcw_i_fail(err, HPCW_EINVAL, "clog2: format: expected no control characters, got one (%d)",
                               *c);
        }
        if (*c != '%') {
            continue;
        }
        c++;
        const char *found = *c == '\0' ? NULL : strchr(letter + 1, *c);
        if (found == NULL) {
            return hpcw_i_fail(
                err, HPCW_EINVAL,
                "clog2: format: expected one of the letters s h d l x X e E after %%, got \"%s\"", format);
        }
        *pieces = *pieces << 4 | (uint64_t)(found - letter);
        size += piece_size[found - letter];
    }
    return size <= HPCW_CLOG2_CARGO
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_ERANGE,
                             "clog2: format: expected at most %u bytes of cargo, got %u for \"%s\"",
                             HPCW_CLOG2_CARGO, size, format);
}

hpcw_status hpcw_clog2_format_check(const char *format, hpcw_error *err) {
    uint64_t pieces;
    return format == NULL ? hpcw_i_fail(err, HPCW_EINVAL, "clog2: expected a format, got NULL")
                          : hpcw_i_clog2_format_pieces(format, &pieces, err);
}

static const char *spell(uint64_t pieces, char text[3 * 16 + 1]) {
    char *p = text;
    for (int shift = 60; shift >= 0; shift -= 4) {
        uint64_t code = pieces >> shift & 15;
        if (code != NO_PIECE && code <= PIECES) {
            *p++ = '%';
            *p++ = letter[code];
            *p++ = ' ';
        }
    }
    *(p == text ? p : p - 1) = '\0';
    return text;
}

/* Checks that the pieces of a cargo fit into 32 bytes and have the types `pieces`. */
static hpcw_status check_pieces(const hpcw_clog2_cargo *cargo, uint64_t pieces, hpcw_error *err) {
    if (cargo->size > HPCW_CLOG2_CARGO) {
        return hpcw_i_fail(err, HPCW_ERANGE, "clog2: cargo: expected at most %u bytes, got more",
                           HPCW_CLOG2_CARGO);
    }
    if (!hpcw_i_clog2_cargo_fits(cargo->pieces, cargo->bytes, pieces)) {
        char want[3 * 16 + 1], got[3 * 16 + 1];
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "clog2: cargo: expected the pieces \"%s\" of the format, got \"%s\"",
                           spell(pieces, want), spell(cargo->pieces, got));
    }
    return HPCW_OK;
}

hpcw_status hpcw_clog2_cargo_check(const hpcw_clog2_cargo *cargo, const char *format, hpcw_error *err) {
    uint64_t pieces;
    if (cargo == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2: expected a cargo, got NULL");
    }
    hpcw_status s = hpcw_i_clog2_format_pieces(format, &pieces, err);
    return s == HPCW_OK ? check_pieces(cargo, pieces, err) : s;
}
