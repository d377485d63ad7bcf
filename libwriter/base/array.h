/* SPDX-License-Identifier: BSD-3-Clause */
/* F0: room for one more item. An array is a pointer, its number of items and its capacity, wherever its owner keeps them. */
#ifndef HPCW_BASE_ARRAY_H
#define HPCW_BASE_ARRAY_H

#include <stddef.h>

/*
 * The array with a capacity of at least `least` > 0 items of `size` bytes, in a new place if it must grow; growth is
 * geometric. NULL when memory runs out: `items` and `*capacity` are then as before.
 *
 *     struct point *grown = hpcw_i_grow(list->point, &list->capacity, list->points + 1, sizeof *grown);
 *     if (grown == NULL) {
 *         return hpcw_i_fail_memory(...);
 *     }
 *     list->point = grown;
 */
void *hpcw_i_grow(void *items, size_t *capacity, size_t least, size_t size);

#endif
