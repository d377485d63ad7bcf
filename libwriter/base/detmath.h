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

/* ln 2 = HIGH + LOW. The high part has 32 trailing zero bits, so its product with an exponent is exact. */
#define HPCW_I_LN2_HIGH 0x1.62e42feep-1
#define HPCW_I_LN2_LOW 0x1.a39ef35793c76p-33

#endif
