/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/base/numfmt.h"

#include <assert.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libwriter/base/bytes.h"
#include "libwriter/base/pow10.h"
#include "libwriter/base/status.h"

#define E8 UINT64_C(100000000)
#define E16 UINT64_C(10000000000000000)
#define ASCII_ZEROS UINT64_C(0x3030303030303030)

/* ---- Integers ------------------------------------------------------------------------------------------- */

/* Returns the eight decimal digits of v < 10^8, the first digit in the lowest byte. Splits all groups of four
 * digits at once, then all groups of two. The factors are 2^20/100 and 2^10/10 rounded up; within the ranges here,
 * this gives exact quotients. */
static inline uint64_t digits8(uint32_t v) {
    uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32;
    uint64_t tens = (x * 10486) >> 20 & UINT64_C(0x0000007f0000007f);
    x = tens | (x - 100 * tens) << 16;
    tens = (x * 103) >> 10 & UINT64_C(0x000f000f000f000f);
    return tens | (x - 10 * tens) << 8;
}

static inline char *put8(char *p, uint64_t v) {
    hpcw_i_put_u64(p, digits8((uint32_t)v) + ASCII_ZEROS, false);
    return p + 8;
}

/* Writes v < 10^8 without leading zeros; overwrites up to 8 bytes. The length is computed without the digits, so
 * that the address of the text after the number is known early. */
static inline char *put_head(char *p, uint64_t v) {
    uint32_t x = (uint32_t)v;
    int length = 1 + (x >= 10) + (x >= 100) + (x >= 1000) + (x >= 10000) + (x >= 100000) + (x >= 1000000) +
                 (x >= 10000000);
    hpcw_i_put_u64(p, (digits8(x) + ASCII_ZEROS) >> 8 * (8 - length), false);
    return p + length;
}

static inline char *put_u64(char *p, uint64_t v) {
    if (v < 10) { /* the most frequent numbers: flags, counts, small indices */
        *p = (char)('0' + v);
        return p + 1;
    }
    if (v < E8) {
        return put_head(p, v);
    }
    if (v < E16) {
        p = put_head(p, v / E8);
        return put8(p, v % E8);
    }
    p = put_head(p, v / E16);
    p = put8(p, v / E8 % E8);
    return put8(p, v % E8);
}

char *hpcw_i_fmt_u64(char *p, uint64_t v) {
    return put_u64(p, v);
}

char *hpcw_i_fmt_i64(char *p, int64_t v) {
    *p = '-';
    return put_u64(p + (v < 0), v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

char *hpcw_i_fmt_u64_width(char *p, uint64_t v, unsigned width) {
    assert(width <= 20);
    char digits[HPCW_I_FMT_ROOM];
    size_t n = (size_t)(put_u64(digits, v) - digits);
    size_t zeros = width > n ? width - n : 0;
    memset(p, '0', zeros);
    memcpy(p + zeros, digits, n);
    return p + zeros + n;
}

char *hpcw_i_fmt_hex(char *p, uint64_t v, unsigned width) {
    assert(width <= 16);
    unsigned n = (unsigned)(67 - __builtin_clzll(v | 1)) / 4;
    if (n < width) {
        n = width;
    }
    for (unsigned i = n; i-- > 0; v >>= 4) {
        p[i] = "0123456789abcdef"[v & 15];
    }
    return p + n;
}

char *hpcw_i_fmt_seconds(char *p, uint64_t time_ns) {
    uint64_t fraction = time_ns % 1000000000;
    p = put_u64(p, time_ns / 1000000000);
    *p++ = '.';
    *p++ = (char)('0' + fraction / E8);
    fraction %= E8;
    if (fraction == 0) {
        return p;
    }
    uint64_t digits = digits8((uint32_t)fraction);
    hpcw_i_put_u64(p, digits + ASCII_ZEROS, false);
    return p + 8 - __builtin_clzll(digits) / 8;
}

/* ---- Shortest digits of a double --------------------------------------------------------------------------
 *
 * Schubfach (R. Giulietti, "The Schubfach way to render doubles", 2020). Let v = c * 2^q, and choose k so that the
 * doubles around v are between 1 and 10 units of 10^k apart. Then some multiple of 10^k reads back as v, and at
 * most one multiple of 10^(k+1) does. There are four candidates next to v. Comparing them with the ends of the
 * interval that rounds to v finds the answer. The ends are known as integers only, but the comparisons are exact:
 * the integers have two more binary digits and are rounded to odd, so an odd last digit means that the true value
 * is not an integer. */

__extension__ typedef unsigned __int128 uint128;

/* Returns floor(p) rounded to odd; p is m times a power of ten, divided by 2^128, and g the power from the table.
 *
 * g is rounded up by less than one, and m < 2^59, so the computed p is too large by less than 2^-69: if p is an
 * integer, the 64 bits of the computed fraction are zero. Any other p that occurs here has a fraction of at least
 * 2^-63.6 and at most 1 - 2^-61.5, so that these bits are not zero and nothing is carried. The one exception is
 * 8887055249355788 * 2^664: its fraction is 2^-65.4, and its integer is odd. (Found by the Euclidean algorithm on
 * 2^q * 10^-k modulo 1, for all q and all multipliers up to 2^55.) */
static inline uint64_t scale(const uint64_t g[2], uint64_t m) {
    uint64_t low = (uint64_t)((uint128)g[1] * m >> 64);
    uint128 product = (uint128)g[0] * m + low;
    return (uint64_t)(product >> 64) | ((uint64_t)product != 0);
}

struct decimal {
    uint64_t digits; /* the 17 digits: 10^16 <= digits < 10^17 */
    int point;       /* number of the 17 digits before the decimal point */
};

/* Finds the shortest digits of a positive finite double. `fraction` and `biased` are the fields of the double. */
static inline struct decimal shortest(uint64_t fraction, int biased) {
    uint64_t c = biased == 0 ? fraction : fraction | UINT64_C(1) << 52;
    int q = biased == 0 ? -1074 : biased - 1075;

    /* Just below a power of two, doubles are twice as dense. */
    bool uneven = fraction == 0 && biased > 1;
    /* floor(log10(2^q)), or floor(log10(3/4 * 2^q)) if uneven; then floor(log2(10^-k)). Both are exact for all q
     * and k that occur. */
    int k = (q * 1262611 - (uneven ? 524031 : 0)) >> 22;
    int shift = q + ((-k * 1741647) >> 19) + 1;
    const uint64_t *g = hpcw_i_pow10[-k - HPCW_I_POW10_MIN];

    /* v and the two ends of the interval that rounds to v, in quarters of 10^k. If c is even, the ends themselves
     * read back as v. */
    uint64_t odd = c & 1;
    uint64_t value = scale(g, 4 * c << shift);
    uint64_t lower = scale(g, (4 * c - (uneven ? 1 : 2)) << shift) + odd;
    uint64_t upper = scale(g, (4 * c + 2) << shift) - odd;

    /* The results of the comparisons are as random as the digits of v, so use selections instead of branches. */
    uint64_t s = value / 4;
    bool below = lower <= 4 * s;
    bool above = 4 * s + 4 <= upper;
    bool upper_nearer = (value & 3) + (s & 1) > 2; /* if both candidates are equally near, the even one wins */
    uint64_t digits = s + (below != above ? above : upper_nearer);

    uint64_t tens = s - s % 10;
    bool tens_below = lower <= 4 * tens;
    bool tens_above = 4 * tens + 40 <= upper;
    uint64_t shorter = tens + (tens_above ? 10 : 0);
    digits = tens_below != tens_above ? shorter : digits;

    /* There are 16 or 17 digits. Only subnormal numbers have fewer. */
    bool sixteen = digits < E16;
    digits *= 1 + 9 * (uint64_t)sixteen;
    int point = k + 17 - sixteen;
    while (digits < E16) {
        digits *= 10;
        point--;
    }
    return (struct decimal){digits, point};
}

/* ---- Layout of a double ---------------------------------------------------------------------------------- */

/* Writes the exponent with its sign and at least `least` digits. */
static inline char *put_exponent(char *p, int exponent, int least) {
    p[0] = 'e';
    p[1] = exponent < 0 ? '-' : '+';
    uint32_t e = (uint32_t)(exponent < 0 ? -exponent : exponent);
    int count = 1 + (e >= 10) + (e >= 100);
    count = count < least ? least : count;
    uint32_t text = (e / 100 | (e / 10 % 10) << 8 | (e % 10) << 16) + 0x303030;
    hpcw_i_put_u32(p + 2, text >> 8 * (3 - count), false);
    return p + 2 + count;
}

char *hpcw_i_fmt_f64(char *p, double v, enum hpcw_i_float_style style) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    int biased = (int)(bits >> 52 & 0x7ff);
    if (biased == 0x7ff) {
        return p;
    }
    *p = '-';
    p += bits >> 63;

    bool json = style == HPCW_I_FLOAT_JSON;
    /* A whole number below 10^15 is its own shortest form: any number with fewer digits differs by at least 1. */
    double size = fabs(v);
    if (size < 1e15 && size == (double)(int64_t)size) {
        p = put_u64(p, (uint64_t)size);
        memcpy(p, ".0", 2);
        return json ? p + 2 : p;
    }

    /* Make the first digit, and the other sixteen digits as characters in two registers. `count` is 16 minus the
     * number of zeros at the end. Nothing that was just written is read back from memory. */
    struct decimal d = shortest(bits & ((UINT64_C(1) << 52) - 1), biased);
    char first = (char)('0' + d.digits / E16);
    uint64_t high = digits8((uint32_t)(d.digits / E8 % E8));
    uint64_t low = digits8((uint32_t)(d.digits % E8));
    int count = low != 0 ? 16 - __builtin_clzll(low) / 8 : high != 0 ? 8 - __builtin_clzll(high) / 8 : 0;
    high += ASCII_ZEROS;
    low += ASCII_ZEROS;

    bool fixed = d.point > (json ? -4 : -6) && d.point <= (json ? 15 : 21);
    if (fixed && d.point <= 0) {
        memcpy(p, "0.000000", 8);
        p += 2 - d.point;
        *p++ = first;
        hpcw_i_put_u64(p, high, false);
        hpcw_i_put_u64(p + 8, low, false);
        return p + count;
    }

    *p++ = first;
    hpcw_i_put_u64(p, high, false);
    hpcw_i_put_u64(p + 8, low, false);
    /* number of digits after the first one that are before the decimal point */
    int before = fixed ? d.point - 1 : 0;
    if (before >= count) {
        /* A whole number of 16 to 21 digits, or a single digit with an exponent. */
        memcpy(p + 16, "0000", 4);
        p += before;
    } else {
        uint128 rest = ((uint128)low << 64 | high) >> 8 * before;
        p[before] = '.';
        hpcw_i_put_u64(p + before + 1, (uint64_t)rest, false);
        hpcw_i_put_u64(p + before + 9, (uint64_t)(rest >> 64), false);
        p += count + 1;
    }
    return fixed ? p : put_exponent(p, d.point - 1, json ? 2 : 1);
}

/* ---- Parsing --------------------------------------------------------------------------------------------- */

static const char *skip_digits(const char *s) {
    while (*s >= '0' && *s <= '9') {
        s++;
    }
    return s;
}

hpcw_status hpcw_i_parse_u64(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *out,
                             hpcw_error *err) {
    const char *end = skip_digits(text);
    hpcw_status code = end == text || *end != '\0' ? HPCW_EINVAL : HPCW_OK;
    uint64_t v = 0;
    for (const char *s = text; s < end && code == HPCW_OK; s++) {
        if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v)) {
            code = HPCW_ERANGE;
        }
    }
    code = code == HPCW_OK && (v < min || v > max) ? HPCW_ERANGE : code;
    if (code != HPCW_OK) {
        return hpcw_i_fail(err, code,
                           "%s: expected a whole number from %" PRIu64 " to %" PRIu64 ", got \"%.200s\"", what,
                           min, max, text);
    }
    *out = v;
    return HPCW_OK;
}

static bool looks_like_f64(const char *s) {
    const char *end = skip_digits(s += *s == '-');
    if (end == s) {
        return false;
    }
    if (*end == '.') {
        s = end + 1;
        end = skip_digits(s);
        if (end == s) {
            return false;
        }
    }
    if (*end == 'e' || *end == 'E') {
        s = end + 1;
        s += *s == '-' || *s == '+';
        end = skip_digits(s);
        if (end == s) {
            return false;
        }
    }
    return *end == '\0';
}

hpcw_status hpcw_i_parse_f64(const char *what, const char *text, double min, double max, double *out,
                             hpcw_error *err) {
    double v = 0;
    hpcw_status code = HPCW_EINVAL;
    if (looks_like_f64(text)) {
        /* The locale of the process may have a decimal comma, so parse with the C locale. Making it costs nothing:
         * glibc has one C locale for all callers. */
        locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        if (c_locale == (locale_t)0) {
            return hpcw_i_fail_memory(err, what, 0, NULL);
        }
        v = strtod_l(text, NULL, c_locale);
        freelocale(c_locale);
        code = isfinite(v) && v >= min && v <= max ? HPCW_OK : HPCW_ERANGE;
    }
    if (code != HPCW_OK) {
        char range[2][HPCW_I_FMT_ROOM];
        const double bound[2] = {min, max};
        for (int i = 0; i < 2; i++) {
            if (isfinite(bound[i])) {
                *hpcw_i_fmt_f64(range[i], bound[i], HPCW_I_FLOAT_COMPACT) = '\0';
            } else {
                strcpy(range[i], bound[i] < 0 ? "-infinity" : "infinity");
            }
        }
        return hpcw_i_fail(err, code, "%s: expected a number from %s to %s, got \"%.200s\"", what, range[0],
                           range[1], text);
    }
    *out = v;
    return HPCW_OK;
}
