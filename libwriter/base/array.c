/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/base/array.h"

#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"

enum { FIRST_BYTES = 256 };

void *hpcw_i_grow(void *items, size_t *capacity, size_t least, size_t size) {
    if (least <= *capacity) {
        return items;
    }
    size_t bytes;
    size_t more = *capacity + *capacity / 2; /* no overflow: the bytes of all items fit into memory */
    more = more > FIRST_BYTES / size ? more : FIRST_BYTES / size;
    more = more > least ? more : least;
    void *grown = hpcw_i_mul_size(more, size, &bytes) ? hpcw_i_realloc(items, bytes) : NULL;
    *capacity = grown == NULL ? *capacity : more;
    return grown;
}

uint32_t hpcw_i_find_ascending(const uint32_t *item, uint32_t count, uint32_t value) {
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (item[middle] < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && item[low] == value ? low : UINT32_MAX;
}
