/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table from keys of a few words to values of one size. */
#ifndef HPCW_BASE_TABLE_H
#define HPCW_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HPCW_I_TABLE_KEY = 3 }; /* words of the longest key */

/* Empty if all but the first three are zero. A key takes 1.25 to 1.9 times the bytes of itself, its value and one
 * more; growing needs both the old slots and the new ones. There are at most 2^32 - 1 slots. */
struct hpcw_i_table {
    uint32_t key_words;  /* 1 to HPCW_I_TABLE_KEY */
    uint32_t value_size; /* bytes; a multiple of 8 if values must be aligned; may be 0 */
    uint64_t seed;       /* random for keys out of files, so that nobody can make a file whose keys collide */
    size_t count;        /* keys */
    size_t slots;
    unsigned char *slot;
};

/* A random seed. */
uint64_t hpcw_i_table_random(void);

/* The value of a key; NULL if the key is not there. Values move when keys are added or removed. */
void *hpcw_i_table_find(const struct hpcw_i_table *t, const uint64_t *key);

/* The same; a missing key is added with a value of zeros (*fresh, which may be NULL). NULL when memory runs out. */
void *hpcw_i_table_add(struct hpcw_i_table *t, const uint64_t *key, bool *fresh);

/* Spreads every bit over all others: the finaliser of MurmurHash3. */
static inline uint64_t hpcw_i_table_mix(uint64_t x) {
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

/* The hash of a key, for the next two: who knows a key some time before the call can have its memory fetched
 * meanwhile. */
static inline uint64_t hpcw_i_table_hash(const struct hpcw_i_table *t, const uint64_t *key) {
    uint64_t hash = hpcw_i_table_mix(key[0] ^ t->seed);
    for (uint32_t i = 1; i < t->key_words; i++) {
        hash = hpcw_i_table_mix(hash + key[i]);
    }
    return hash;
}
void hpcw_i_table_fetch(const struct hpcw_i_table *t, uint64_t hash);
void *hpcw_i_table_add_hashed(struct hpcw_i_table *t, const uint64_t *key, uint64_t hash, bool *fresh);

/* Removes the key of this value. */
void hpcw_i_table_remove(struct hpcw_i_table *t, void *value);

/* All values with their keys, in no particular order: *at starts at 0. NULL after the last. */
void *hpcw_i_table_next(const struct hpcw_i_table *t, size_t *at, uint64_t *key);

/* Removes all keys. Keeps the memory, unless hardly any of it was used. */
void hpcw_i_table_clear(struct hpcw_i_table *t);

void hpcw_i_table_free(struct hpcw_i_table *t);

/* The memory it has. */
size_t hpcw_i_table_bytes(const struct hpcw_i_table *t);

#endif
