/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds a count or a time to the nearest whole number, at least 1. */
#ifndef HPCW_GEN_MODEL_LOAD_ROUND_H
#define HPCW_GEN_MODEL_LOAD_ROUND_H

#include <stdint.h>

static inline uint64_t model_load_at_least_1(double x) {
    return x < 1 ? 1 : x < 0x1p62 ? (uint64_t)(x + 0.5) : UINT64_C(1) << 62;
}

#endif
