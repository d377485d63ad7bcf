/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/vom/json/number.h"

#include <string.h>

#include "libwriter/base/pow10.h"

const double read_vom_power_of_ten[READ_VOM_EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

__extension__ typedef unsigned __int128 uint128;

/*
 * Multiplies the digits, scaled to 64 bits, by the power of ten in the table hpcw_i_pow10. The product has 192
 * bits. Its first 54 bits, and whether any other bit is set, decide the result (D. Lemire, "Number parsing at a
 * gigabyte per second", 2021). Table entries are rounded up by less than 1, unless the power is exact. So the true
 * product is smaller than the computed one, by less than the scaled digits.
 */
bool read_vom_nearest(uint64_t digits, int exponent, double *number) {
    /* 5^55 < 2^128 < 5^56. */
    const int last_exact = 55;
    if (digits == 0 || exponent < HPCW_I_POW10_MIN || exponent > HPCW_I_POW10_MAX) {
        *number = 0;
        return digits == 0;
    }
    const int shift = __builtin_clzll(digits);
    const uint64_t *power = hpcw_i_pow10[exponent - HPCW_I_POW10_MIN];
    const uint64_t scaled = digits << shift;
    const uint128 low = (uint128)scaled * power[1];
    const uint128 high = (uint128)scaled * power[0] + (uint64_t)(low >> 64);
    const uint64_t first = (uint64_t)(high >> 64), second = (uint64_t)high, third = (uint64_t)low;
    const bool exact = exponent >= 0 && exponent <= last_exact;
    if (!exact && second == 0 && third < scaled) {
        return false; /* the first word of the true product may differ */
    }
    const bool rest = !exact || second != 0 || third != 0;
    const int top = (int)(first >> 63);
    const uint64_t bits = first >> (9 + top);
    const bool more = rest || bits << (9 + top) != first;
    const uint64_t mantissa = (bits >> 1) + ((bits & 1) != 0 && (more || (bits & 2) != 0));
    /* Exponent of the double, for a `mantissa` below 2^53. floor(log2(10^exponent)) is computed as in
     * base/numfmt.c. */
    const int biased = ((exponent * 1741647) >> 19) + 1 - shift + 10 + top + 1075;
    if (biased < 1 || biased > 2045) {
        return false;
    }
    /* The leading 1 of the mantissa adds 1 to the exponent, so the exponent here is `biased` - 1. A mantissa
     * rounded up to 2^53 adds 2. */
    const uint64_t all = ((uint64_t)(biased - 1) << 52) + mantissa;
    memcpy(number, &all, sizeof all);
    return true;
}
