/* SPDX-License-Identifier: BSD-3-Clause */
/* Open addressing with linear probing; a removal moves up what follows, so there are no tombstones. A slot is a
 * word that is 1 if it is taken, the key and the value. */
#include "libreader/clog2/map.h"

#include <string.h>

#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"

enum { FIRST_SLOTS = 64 };

static size_t words(const struct read_clog2_map *map) {
    return 1 + READ_CLOG2_KEY + map->value_size / sizeof(uint64_t);
}

/* The multipliers of SplitMix64. */
static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static size_t home(const struct read_clog2_map *map, const uint64_t *key) {
    return (size_t)mix(key[0] ^ mix(key[1] ^ mix(key[2] + 1))) & (map->slots - 1);
}

static uint64_t *at_slot(const struct read_clog2_map *map, size_t i) {
    return map->slot + i * words(map);
}

/* The slot of a key, or the free one where it would go. */
static uint64_t *look(const struct read_clog2_map *map, const uint64_t *key) {
    for (size_t i = home(map, key);; i = (i + 1) & (map->slots - 1)) {
        uint64_t *s = at_slot(map, i);
        if (s[0] == 0 || memcmp(s + 1, key, READ_CLOG2_KEY * sizeof *key) == 0) {
            return s;
        }
    }
}

static bool grow(struct read_clog2_map *map) {
    struct read_clog2_map larger = *map;
    size_t all;
    larger.slots = map->slots == 0 ? FIRST_SLOTS : 2 * map->slots;
    if (larger.slots < map->slots || !hpcw_i_mul_size(larger.slots, words(map), &all)) {
        return false;
    }
    larger.slot = hpcw_i_calloc(all, sizeof *larger.slot);
    if (larger.slot == NULL) {
        return false;
    }
    for (size_t i = 0; i < map->slots; i++) {
        const uint64_t *s = at_slot(map, i);
        if (s[0] != 0) {
            memcpy(look(&larger, s + 1), s, words(map) * sizeof *s);
        }
    }
    hpcw_i_free(map->slot);
    *map = larger;
    return true;
}

void *read_clog2_map_find(const struct read_clog2_map *map, const uint64_t key[READ_CLOG2_KEY]) {
    uint64_t *s = map->count == 0 ? NULL : look(map, key);
    return s == NULL || s[0] == 0 ? NULL : s + 1 + READ_CLOG2_KEY;
}

void *read_clog2_map_add(struct read_clog2_map *map, const uint64_t key[READ_CLOG2_KEY], bool *fresh) {
    if (4 * (map->count + 1) > 3 * map->slots && !grow(map)) {
        return NULL;
    }
    uint64_t *s = look(map, key);
    bool added = s[0] == 0;
    if (added) {
        s[0] = 1;
        memcpy(s + 1, key, READ_CLOG2_KEY * sizeof *key);
        memset(s + 1 + READ_CLOG2_KEY, 0, map->value_size);
        map->count++;
    }
    if (fresh != NULL) {
        *fresh = added;
    }
    return s + 1 + READ_CLOG2_KEY;
}

void read_clog2_map_remove(struct read_clog2_map *map, void *value) {
    uint64_t *hole = (uint64_t *)value - 1 - READ_CLOG2_KEY;
    size_t empty = (size_t)(hole - map->slot) / words(map);
    for (size_t i = (empty + 1) & (map->slots - 1); at_slot(map, i)[0] != 0; i = (i + 1) & (map->slots - 1)) {
        /* May go into the hole unless its home is after the hole. */
        size_t from_home = (i - home(map, at_slot(map, i) + 1)) & (map->slots - 1);
        size_t from_hole = (i - empty) & (map->slots - 1);
        if (from_home >= from_hole) {
            memcpy(at_slot(map, empty), at_slot(map, i), words(map) * sizeof *map->slot);
            empty = i;
        }
    }
    at_slot(map, empty)[0] = 0;
    map->count--;
}

void *read_clog2_map_next(const struct read_clog2_map *map, size_t *at, const uint64_t **key) {
    while (*at < map->slots) {
        uint64_t *s = at_slot(map, (*at)++);
        if (s[0] != 0) {
            *key = s + 1;
            return s + 1 + READ_CLOG2_KEY;
        }
    }
    return NULL;
}

void read_clog2_map_clear(struct read_clog2_map *map) {
    if (map->slots > FIRST_SLOTS) {
        read_clog2_map_free(map);
    } else if (map->count > 0) {
        memset(map->slot, 0, map->slots * words(map) * sizeof *map->slot);
    }
    map->count = 0;
}

void read_clog2_map_free(struct read_clog2_map *map) {
    hpcw_i_free(map->slot);
    map->slot = NULL;
    map->slots = 0;
    map->count = 0;
}
