/* SPDX-License-Identifier: BSD-3-Clause */
/* Layout of a counter file: doc/formats/counter.md, "Layout". Little-endian. */
#ifndef HPCW_FORMAT_COUNTER_LAYOUT_H
#define HPCW_FORMAT_COUNTER_LAYOUT_H

#include <stdint.h>

#define HPCW_I_COUNTER_MAGIC "RANKVALS"
#define HPCW_I_COUNTER_VERSION 1u

enum {
    HPCW_I_COUNTER_AT_VERSION = 8,
    HPCW_I_COUNTER_AT_RANKS = 12,
    HPCW_I_COUNTER_AT_UNIT = 16,
    HPCW_I_COUNTER_UNIT_SIZE = 16, /* includes at least one NUL */
    HPCW_I_COUNTER_HEADER = 32,
    HPCW_I_COUNTER_VALUE = 8,
    HPCW_I_COUNTER_TRAILER = 8,
};

/* Offset of the value of `rank`; for rank = number of ranks, offset of the trailer. */
static inline uint64_t hpcw_i_counter_at(uint32_t rank) {
    return HPCW_I_COUNTER_HEADER + (uint64_t)HPCW_I_COUNTER_VALUE * rank;
}

#endif
