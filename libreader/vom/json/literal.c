/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/vom/json/literal.h"

#include <float.h>
#include <string.h>

#include "libwriter/base/numfmt.h"

bool read_vom_looks_float(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '.' || text[i] == 'e' || text[i] == 'E') {
            return true;
        }
    }
    return false;
}

bool read_vom_count_of(const char *text, size_t size, uint64_t most, uint64_t *count) {
    uint64_t v = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';
        if (digit > 9 || v > (UINT64_MAX - digit) / 10) {
            return false;
        }
        v = 10 * v + digit;
    }
    *count = v;
    return v <= most;
}

static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* A number with few digits is the quotient of two exact doubles, which IEEE 754 rounds to the nearest. Most numbers are
 * like that. */
bool read_vom_double_of(const char *text, size_t size, double *number) {
    uint64_t digits = 0;
    size_t i = text[0] == '-' ? 1 : 0;
    size_t decimals = 0;
    bool point = false;
    for (; i < size && digits < (UINT64_C(1) << 53) / 10; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';
        if (digit <= 9) {
            digits = 10 * digits + digit;
            decimals += point;
        } else if (text[i] == '.') {
            point = true;
        } else {
            break;
        }
    }
    if (i == size && decimals < sizeof power_of_ten / sizeof power_of_ten[0]) {
        double v = (double)digits / power_of_ten[decimals];
        *number = text[0] == '-' ? -v : v;
        return true;
    }
    char copy[READ_VOM_MOST_NUMBER + 1];
    memcpy(copy, text, size);
    copy[size] = '\0';
    return hpcw_i_parse_f64("number", copy, -DBL_MAX, DBL_MAX, number, NULL) == HPCW_OK;
}

/* yajl accepts overlong forms, surrogates and numbers above U+10FFFF. */
bool read_vom_is_utf8(const unsigned char *text, size_t size) {
    for (size_t i = 0; i < size;) {
        unsigned char c = text[i];
        size_t more = c < 0x80 ? 0 : c < 0xc2 ? size : c < 0xe0 ? 1 : c < 0xf0 ? 2 : c < 0xf5 ? 3 : size;
        if (more >= size - i) {
            return false;
        }
        unsigned char low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
        unsigned char high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
        for (size_t k = 1; k <= more; k++) {
            if (text[i + k] < low || text[i + k] > high) {
                return false;
            }
            low = 0x80;
            high = 0xbf;
        }
        i += 1 + more;
    }
    return true;
}
