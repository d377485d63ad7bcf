/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions exp and log2 that use only + - * / in a fixed order, so that every IEEE 754 machine computes the same
 * bits. Build without contraction to FMA (the project's flag -ffp-contract=off). The library's sqrt() can be used
 * as it is: IEEE 754 demands the exactly rounded result.
 *
 * The unit test finds a difference to glibc of at most 1 unit in the last place for exp, and of 3 for log2.
 */
#ifndef HPCW_BASE_DETMATH_H
#define HPCW_BASE_DETMATH_H

/* e^x for any x. It overflows to infinity, underflows gradually to 0, and returns NaN for NaN. */
double hpcw_i_exp(double x);

/* Logarithm to base 2, exact for powers of two. -infinity for 0, NaN for negative x; infinity and NaN are returned
 * unchanged. */
double hpcw_i_log2(double x);

/* Constants of hpcw_i_exp, for vector code that repeats its operations:
 * - LN2_HIGH + LN2_LOW is ln 2. LN2_HIGH has 32 trailing zero bits, so its product with an exponent is exact.
 * - EXP_SHIFT: adding and subtracting it rounds to an integer.
 * - The coefficients are 1/n! from 13! down to 2!. The first term left out is below 2^-55 of the result. */
#define HPCW_I_LN2_HIGH 0x1.62e42feep-1
#define HPCW_I_LN2_LOW 0x1.a39ef35793c76p-33
#define HPCW_I_ONE_OVER_LN2 0x1.71547652b82fep+0
#define HPCW_I_EXP_SHIFT 0x1.8p52
enum { HPCW_I_EXP_TERMS = 12 };
static const double hpcw_i_exp_term[HPCW_I_EXP_TERMS] = {
    1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
    1.0 / 5040,       1.0 / 720,       1.0 / 120,      1.0 / 24,      1.0 / 6,      0.5};

#endif
