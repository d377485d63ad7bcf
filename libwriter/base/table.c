/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table with open addressing and linear probing. A slot holds a key and its value. After all slots there is
 * one byte for each slot, the mark: 0 if the slot is free, otherwise seven bits of the key's hash. The search
 * compares marks first, so it rarely reads the slot of another key. */
#include "libwriter/base/table.h"

#include <string.h>
#include <unistd.h>

#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"

enum { FIRST_SLOTS = 16, TAKEN = 0x80 };

uint64_t hpcw_i_table_random(void) {
    uint64_t seed;
    /* without a random seed, a file with colliding keys can only make the table slower */
    return getentropy(&seed, sizeof seed) == 0 ? seed : UINT64_C(0x9e3779b97f4a7c15);
}

static size_t slot_size(const struct hpcw_i_table *t) {
    return t->key_words * sizeof(uint64_t) + t->value_size;
}

static unsigned char *at_slot(const struct hpcw_i_table *t, size_t i) {
    return t->slot + i * slot_size(t);
}

static unsigned char *marks(const struct hpcw_i_table *t) {
    return at_slot(t, t->slots);
}

static void *value_at(const struct hpcw_i_table *t, size_t i) {
    return at_slot(t, i) + t->key_words * sizeof(uint64_t);
}

static bool same(const struct hpcw_i_table *t, const unsigned char *slot, const uint64_t *key) {
    for (uint32_t i = 0; i < t->key_words; i++) {
        uint64_t word;
        memcpy(&word, slot + i * sizeof word, sizeof word);
        if (word != key[i]) {
            return false;
        }
    }
    return true;
}

/* Maps 0 .. 2^64 - 1 to 0 .. slots - 1 without a division. */
static size_t home_of(const struct hpcw_i_table *t, uint64_t hash) {
    return (size_t)((hash >> 32) * t->slots >> 32);
}

static unsigned char mark_of(uint64_t hash) {
    return (unsigned char)(TAKEN | hash);
}

static size_t after(const struct hpcw_i_table *t, size_t i) {
    return i + 1 == t->slots ? 0 : i + 1;
}

/* Returns the slot that holds a key, or else the free slot in which to store it. A free slot always exists. */
static size_t look(const struct hpcw_i_table *t, const uint64_t *key, uint64_t hash) {
    const unsigned char *mark = marks(t), own = mark_of(hash);
    size_t i = home_of(t, hash);
    while (mark[i] != 0 && (mark[i] != own || !same(t, at_slot(t, i), key))) {
        i = after(t, i);
    }
    return i;
}

static uint64_t hash_at(const struct hpcw_i_table *t, size_t i, uint64_t *key) {
    memcpy(key, at_slot(t, i), t->key_words * sizeof *key);
    return hpcw_i_table_hash(t, key);
}

__attribute__((noinline)) static bool grow(struct hpcw_i_table *t) {
    struct hpcw_i_table larger = *t;
    size_t size;
    larger.slots = t->slots == 0 ? FIRST_SLOTS : t->slots + t->slots / 2;
    if (larger.slots > UINT32_MAX || !hpcw_i_mul_size(larger.slots, slot_size(t) + 1, &size)) {
        return false;
    }
    larger.slot = hpcw_i_malloc(size);
    if (larger.slot == NULL) {
        return false;
    }
    memset(marks(&larger), 0, larger.slots);
    for (size_t i = 0; i < t->slots; i++) {
        if (marks(t)[i] != 0) {
            uint64_t key[HPCW_I_TABLE_KEY];
            size_t to = look(&larger, key, hash_at(t, i, key));
            marks(&larger)[to] = marks(t)[i];
            memcpy(at_slot(&larger, to), at_slot(t, i), slot_size(t));
        }
    }
    hpcw_i_free(t->slot);
    *t = larger;
    return true;
}

void *hpcw_i_table_find(const struct hpcw_i_table *t, const uint64_t *key) {
    size_t i = t->count == 0 ? 0 : look(t, key, hpcw_i_table_hash(t, key));
    return t->count == 0 || marks(t)[i] == 0 ? NULL : value_at(t, i);
}

void hpcw_i_table_fetch(const struct hpcw_i_table *t, uint64_t hash) {
    if (t->slots > 0) {
        const size_t i = home_of(t, hash);
        __builtin_prefetch(marks(t) + i);
        __builtin_prefetch(at_slot(t, i));
    }
}

void *hpcw_i_table_add(struct hpcw_i_table *t, const uint64_t *key, bool *fresh) {
    return hpcw_i_table_add_hashed(t, key, hpcw_i_table_hash(t, key), fresh);
}

void *hpcw_i_table_add_hashed(struct hpcw_i_table *t, const uint64_t *key, uint64_t hash, bool *fresh) {
    size_t i = t->slots == 0 ? 0 : look(t, key, hash);
    bool added = t->slots == 0 || marks(t)[i] == 0;
    if (added) {
        /* If at most four fifths of the slots are taken, runs of taken slots stay short. */
        if (t->count >= t->slots / 5 * 4) {
            if (!grow(t)) {
                return NULL;
            }
            i = look(t, key, hash);
        }
        marks(t)[i] = mark_of(hash);
        memcpy(at_slot(t, i), key, t->key_words * sizeof *key);
        memset(value_at(t, i), 0, t->value_size);
        t->count++;
    }
    if (fresh != NULL) {
        *fresh = added;
    }
    return value_at(t, i);
}

void hpcw_i_table_remove(struct hpcw_i_table *t, void *value) {
    unsigned char *mark = marks(t);
    size_t hole = (size_t)((unsigned char *)value - (unsigned char *)value_at(t, 0)) / slot_size(t);
    for (size_t i = after(t, hole); mark[i] != 0; i = after(t, i)) {
        /* Move a key into the hole, unless the hole is before the slot in which the search for this key begins. */
        uint64_t key[HPCW_I_TABLE_KEY];
        size_t home = home_of(t, hash_at(t, i, key));
        size_t from_home = i >= home ? i - home : i + t->slots - home;
        size_t from_hole = i >= hole ? i - hole : i + t->slots - hole;
        if (from_home >= from_hole) {
            mark[hole] = mark[i];
            memcpy(at_slot(t, hole), at_slot(t, i), slot_size(t));
            hole = i;
        }
    }
    mark[hole] = 0;
    t->count--;
}

void *hpcw_i_table_next(const struct hpcw_i_table *t, size_t *at, uint64_t *key) {
    while (*at < t->slots) {
        size_t i = (*at)++;
        if (marks(t)[i] != 0) {
            memcpy(key, at_slot(t, i), t->key_words * sizeof *key);
            return value_at(t, i);
        }
    }
    return NULL;
}

void hpcw_i_table_clear(struct hpcw_i_table *t) {
    if (t->slots > FIRST_SLOTS && t->count < t->slots / 8) {
        hpcw_i_table_free(t);
    } else if (t->count > 0) {
        memset(marks(t), 0, t->slots);
        t->count = 0;
    }
}

void hpcw_i_table_free(struct hpcw_i_table *t) {
    hpcw_i_free(t->slot);
    t->slot = NULL;
    t->slots = 0;
    t->count = 0;
}

size_t hpcw_i_table_bytes(const struct hpcw_i_table *t) {
    return t->slots * (slot_size(t) + 1);
}
