/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/trace/private.h"

enum { MOST_BITS = 11, MOST_DIGITS = 3 };

/* A radix sort, least significant digit first: each pass keeps the order of the one before among equal digits. */
uint64_t *model_trace_sort(uint64_t *entry, uint64_t *other, uint64_t count, uint32_t bits) {
    uint32_t start[MOST_DIGITS][1 << MOST_BITS] = {{0}};
    const uint32_t digits = (bits + MOST_BITS - 1) / MOST_BITS;
    const uint32_t width = digits == 0 ? 0 : (bits + digits - 1) / digits;
    const uint32_t mask = ((uint32_t)1 << width) - 1;
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t low = (uint32_t)entry[i];
        start[0][low & mask]++;
        start[1][low >> width & mask]++;
        start[2][low >> 2 * width & mask]++;
    }
    for (uint32_t d = 0; d < digits; d++) {
        uint32_t sum = 0;
        for (uint32_t value = 0; value <= mask; value++) {
            uint32_t here = start[d][value];
            start[d][value] = sum;
            sum += here;
        }
        for (uint64_t i = 0; i < count; i++) {
            other[start[d][(uint32_t)entry[i] >> d * width & mask]++] = entry[i];
        }
        uint64_t *swap = entry;
        entry = other;
        other = swap;
    }
    return entry;
}
