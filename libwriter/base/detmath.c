/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/base/detmath.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static double from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Returns 2^e; the result must be a normal number. */
static double power_of_two(int e) {
    return from_bits((uint64_t)(e + 1023) << 52);
}

static const double one_over_ln2 = 0x1.71547652b82fep+0;

double hpcw_i_exp(double x) {
    const double shift = 0x1.8p52; /* adding and subtracting it rounds to an integer */
    /* 1/n! from 13! down to 2!. The first term left out is below 2^-55 of the result. */
    static const double term[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                  1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                  1.0 / 120,        1.0 / 24,        1.0 / 6,        0.5};
    if (x != x) {
        return x;
    }
    if (x > 709.79) {
        return INFINITY;
    }
    if (x < -745.2) {
        return 0;
    }
    /* x = k ln 2 + r with |r| <= ln 2 / 2. */
    double kd = (x * one_over_ln2 + shift) - shift;
    double r_high = x - kd * HPCW_I_LN2_HIGH, r_low = kd * HPCW_I_LN2_LOW;
    double r = r_high - r_low;

    double y = term[0];
    for (int i = 1; i < (int)(sizeof term / sizeof term[0]); i++) {
        y = y * r + term[i];
    }
    /* Sum up 1 + r + r^2 y, small terms first. (r_high - r) - r_low is the rounding error of r. */
    y = (y * (r * r) + ((r_high - r) - r_low)) + r;
    y = y + 1.0;

    int k = (int)kd;
    if (k > 1023) {
        return y * power_of_two(1023) * power_of_two(k - 1023);
    }
    if (k < -1022) {
        return y * power_of_two(k + 1022) * power_of_two(-1022);
    }
    return y * power_of_two(k);
}

/* Splits a positive finite x into 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2). Returns ln(1 + f) - f. */
static double log_of_fraction(double x, int *k, double *f) {
    int e = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        e = -54;
    }
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    e += (int)(bits >> 52) - 1023;
    double m = from_bits((bits & 0xfffffffffffff) | (uint64_t)1023 << 52);
    if (m > 0x1.6a09e667f3bcdp+0) {
        m *= 0.5;
        e++;
    }
    *k = e;
    *f = m - 1.0;

    /* ln(1+f) = 2 atanh(s), s = f / (2+f), |s| <= 0.1716; and 2s = f - f^2/2 + s f^2/2. */
    double s = *f / (2.0 + *f);
    double t = s * s;
    double p = 2.0 / 21;
    for (int i = 19; i >= 3; i -= 2) {
        p = p * t + 2.0 / i;
    }
    double half_square = 0.5 * *f * *f;
    return s * (half_square + p * t) - half_square;
}

double hpcw_i_log2(double x) {
    if (!(x > 0 && x < INFINITY)) {
        return x == 0 ? -INFINITY : x < 0 ? NAN : x;
    }
    int k;
    double f;
    double rest = log_of_fraction(x, &k, &f);
    return (double)k + (rest + f) * one_over_ln2;
}
