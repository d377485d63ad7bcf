/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the VOM reader: converts JSON numbers. Eight characters are read at once, so eight bytes after a
 * number must be readable. */
#ifndef HPCW_LIBREADER_VOM_JSON_NUMBER_H
#define HPCW_LIBREADER_VOM_JSON_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libwriter/base/bytes.h"

/* Powers of ten that are exact as doubles. */
#define READ_VOM_EXACT_POWER 22
extern const double read_vom_power_of_ten[READ_VOM_EXACT_POWER + 1];

/* Finds the nearest double of digits * 10^exponent, ties to even. False if this method cannot find it: the number
 * is too large, too small, or too near to the middle of two doubles. */
bool read_vom_nearest(uint64_t digits, int exponent, double *number);

/* Appends the digits at `text` to *value. Returns the end of the digits, or NULL if the value does not fit. */
static inline const unsigned char *read_vom_digits(const unsigned char *text, uint64_t *value) {
    static const uint64_t unit[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    const uint64_t ones = UINT64_C(0x0101010101010101);
    for (;;) {
        uint64_t x = hpcw_i_get_u64(text, false) ^ ones * '0';
        /* In this sum, the first byte that is no digit has its top bit set. Only later bytes can be wrong, by a
         * carry. */
        const uint64_t others = ((x + ones * 0x76) | x) & ones * 0x80;
        const size_t count = others == 0 ? sizeof x : (size_t)__builtin_ctzll(others) / 8;
        if (count == 0) {
            return text;
        }
        x <<= 64 - 8 * count;
        /* Join digits to pairs, to fours and to all eight. The first digit is in the lowest byte. */
        x = (x * 10 + (x >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
        x = (x * 100 + (x >> 16)) & UINT64_C(0x0000ffff0000ffff);
        x = (x * 10000 + (x >> 32)) & UINT64_C(0xffffffff);
        if (__builtin_mul_overflow(*value, unit[count], value) || __builtin_add_overflow(*value, x, value)) {
            return NULL;
        }
        text += count;
        if (count < sizeof x) {
            return text;
        }
    }
}

/* Parses an integer >= 0. Returns the end of the digits. NULL: no digit, a leading zero, or a number above 2^64 -
 * 1. */
static inline const unsigned char *read_vom_count(const unsigned char *text, uint64_t *count) {
    *count = (unsigned char)(text[0] - '0');
    if (*count > 9 || (unsigned char)(text[1] - '0') > 9) {
        return *count > 9 ? NULL : text + 1; /* most numbers have one digit */
    }
    return *count == 0 ? NULL : read_vom_digits(text + 1, count);
}

/* Parses a number without a sign to the nearest double. Returns the end of the number's text. NULL: the text is not
 * a number, the digits do not fit into 64 bits, or read_vom_nearest does not find the double. *is_float: the number
 * has a point or an exponent. */
static inline const unsigned char *read_vom_double(const unsigned char *text, double *number, bool *is_float) {
    uint64_t digits;
    int exponent = 0;
    const unsigned char *at = read_vom_count(text, &digits);
    *is_float = at != NULL && (*at == '.' || *at == 'e' || *at == 'E');
    if (at != NULL && *at == '.') {
        const unsigned char *fraction = at + 1;
        at = read_vom_digits(fraction, &digits);
        if (at == NULL || at == fraction || at - fraction > 64) {
            return NULL;
        }
        exponent = (int)(fraction - at);
    }
    if (at != NULL && (*at == 'e' || *at == 'E')) {
        const bool below_one = at[1] == '-';
        const unsigned char *power = at + 1 + (below_one || at[1] == '+');
        uint64_t value = 0;
        at = read_vom_digits(power, &value);
        if (at == NULL || at == power || value > 1000) {
            return NULL;
        }
        exponent += below_one ? -(int)value : (int)value;
    }
    if (at == NULL) {
        return NULL;
    }
    /* IEEE 754 rounds the quotient or product of two exact doubles to the nearest double. Most numbers are of this
     * kind. */
    if (digits <= UINT64_C(1) << 53 && exponent <= 0 && exponent >= -READ_VOM_EXACT_POWER) {
        *number = (double)digits / read_vom_power_of_ten[-exponent];
        return at;
    }
    return read_vom_nearest(digits, exponent, number) ? at : NULL;
}

#endif
