/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that grow, and a binary search. The owner of a growing array keeps three values: the pointer, the number
 * of items and the capacity. */
#ifndef HPCW_BASE_ARRAY_H
#define HPCW_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/*
 * Gives an array a capacity of at least `least` > 0 items of `size` bytes, and returns its address, which may
 * change. Growth is geometric. NULL when memory runs out; `items` and `*capacity` are then as before.
 *
 *     struct point *grown = hpcw_i_grow(list->point, &list->capacity, list->points + 1, sizeof *grown);
 *     if (grown == NULL) {
 *         return hpcw_i_fail_memory(...);
 *     }
 *     list->point = grown;
 */
void *hpcw_i_grow(void *items, size_t *capacity, size_t least, size_t size);

/* Returns the index of a value among `count` ascending ones, or UINT32_MAX if it is missing. */
uint32_t hpcw_i_find_ascending(const uint32_t *item, uint32_t count, uint32_t value);

#endif
