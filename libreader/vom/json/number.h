/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the VOM reader: converts JSON numbers. A character that does not belong to a number must follow it. */
#ifndef HPCW_LIBREADER_VOM_JSON_NUMBER_H
#define HPCW_LIBREADER_VOM_JSON_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Powers of ten that are exact as doubles. */
#define READ_VOM_EXACT_POWER 22
extern const double read_vom_power_of_ten[READ_VOM_EXACT_POWER + 1];

/* Finds the nearest double of digits * 10^exponent, ties to even. False if this method cannot find it: the number
 * is too large, too small, or too near to the middle of two doubles. */
bool read_vom_nearest(uint64_t digits, int exponent, double *number);

/* Appends the digits at `text` to *value. Returns the end of the digits, or NULL if the value does not fit. */
static inline const unsigned char *read_vom_digits(const unsigned char *text, uint64_t *value) {
    for (; (unsigned char)(*text - '0') <= 9; text++) {
        if (__builtin_mul_overflow(*value, 10u, value) || __builtin_add_overflow(*value, *text - '0', value)) {
            return NULL;
        }
    }
    return text;
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
