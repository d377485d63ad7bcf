/* SPDX-License-Identifier: BSD-3-Clause */
/* F4: a hash map from three words to values of one size, for the CLOG-2 reader. */
#ifndef HPCW_LIBREADER_CLOG2_MAP_H
#define HPCW_LIBREADER_CLOG2_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { READ_CLOG2_KEY = 3 };

/* A zeroed struct with `value_size` set is an empty map. */
struct read_clog2_map {
    size_t value_size; /* a multiple of 8 */
    size_t count;
    size_t slots; /* a power of two, or 0 */
    uint64_t *slot;
};

/* The value of a key; NULL if there is none. Values move when keys are added or removed. */
void *read_clog2_map_find(const struct read_clog2_map *map, const uint64_t key[READ_CLOG2_KEY]);

/* The same, added with a value of zeros if there was none (*fresh, which may be NULL). NULL: out of memory. */
void *read_clog2_map_add(struct read_clog2_map *map, const uint64_t key[READ_CLOG2_KEY], bool *fresh);

/* Removes the key whose value this is. */
void read_clog2_map_remove(struct read_clog2_map *map, void *value);

/* All keys, in no particular order: *at starts at 0. NULL after the last. */
void *read_clog2_map_next(const struct read_clog2_map *map, size_t *at, const uint64_t **key);

/* Removes all keys; keeps the memory of a small map. */
void read_clog2_map_clear(struct read_clog2_map *map);

void read_clog2_map_free(struct read_clog2_map *map);

#endif
