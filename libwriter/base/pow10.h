/* SPDX-License-Identifier: BSD-3-Clause */
/* The powers of ten for converting doubles to decimal digits. The build computes the table by pow10.py. */
#ifndef HPCW_BASE_POW10_H
#define HPCW_BASE_POW10_H

#include <stdint.h>

#define HPCW_I_POW10_MIN (-292)
#define HPCW_I_POW10_MAX 324

/* 10^k, scaled by a power of two into [2^127, 2^128) and rounded up to a whole number: index k - HPCW_I_POW10_MIN
 * holds {high, low} of ceil(10^k * 2^(127 - floor(log2(10^k)))). */
extern const uint64_t hpcw_i_pow10[HPCW_I_POW10_MAX - HPCW_I_POW10_MIN + 1][2];

#endif
