/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table from keys of a few words to values of one size. */
#ifndef HPCW_BASE_TABLE_H
#define HPCW_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HPCW_I_TABLE_KEY = 3 }; /* most words of a key */

/* A table. It is empty if all members but the first three are zero. An entry takes 1.25 to 1.9 times the bytes of
 * its key, its value and one more byte. While the table grows, it needs the old and the new slots. A table has at
 * most 2^32 - 1 slots. */
struct hpcw_i_table {
    uint32_t key_words; /* words of a key, 1 to HPCW_I_TABLE_KEY */
    uint32_t value_size;
    uint64_t seed; /* random if keys come from files, so that nobody can make a file with colliding keys */
    size_t count;
    size_t slots;
    unsigned char *slot;
};

/* Returns a random seed. */
uint64_t hpcw_i_table_random(void);

/* Returns the value of a key; NULL if the key is missing. Values move when keys are added or removed. */
void *hpcw_i_table_find(const struct hpcw_i_table *t, const uint64_t *key);

/* Returns the value of a key. Adds a missing key, with a value of zeros, and sets *fresh. `fresh` may be NULL.
 * NULL when memory runs out. */
void *hpcw_i_table_add(struct hpcw_i_table *t, const uint64_t *key, bool *fresh);

/* Mixes bits so that each input bit affects all output bits: the finaliser of MurmurHash3. */
static inline uint64_t hpcw_i_table_mix(uint64_t x) {
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

/* Returns the hash of a key, for hpcw_i_table_fetch and hpcw_i_table_add_hashed. A caller that knows the key early
 * can call hpcw_i_table_fetch to prefetch the memory of its slot. */
static inline uint64_t hpcw_i_table_hash(const struct hpcw_i_table *t, const uint64_t *key) {
    uint64_t hash = hpcw_i_table_mix(key[0] ^ t->seed);
    for (uint32_t i = 1; i < t->key_words; i++) {
        hash = hpcw_i_table_mix(hash + key[i]);
    }
    return hash;
}
void hpcw_i_table_fetch(const struct hpcw_i_table *t, uint64_t hash);
void *hpcw_i_table_add_hashed(struct hpcw_i_table *t, const uint64_t *key, uint64_t hash, bool *fresh);

/* Removes the key whose value is at the address `value`. */
void hpcw_i_table_remove(struct hpcw_i_table *t, void *value);

/* Iterates over all values with their keys, in no particular order. *at starts at 0. NULL after the last one. */
void *hpcw_i_table_next(const struct hpcw_i_table *t, size_t *at, uint64_t *key);

/* Removes all keys. Keeps the memory, unless only a small part of it was used. */
void hpcw_i_table_clear(struct hpcw_i_table *t);

void hpcw_i_table_free(struct hpcw_i_table *t);

size_t hpcw_i_table_bytes(const struct hpcw_i_table *t);

#endif
