/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "bindings/sionlib/handles/records.h"
#include "bindings/sionlib/handles/report.h"

void sionlib_keys_free(struct sionlib_keys *keys) {
    if (keys != NULL) {
        free(keys->record);
        free(keys->key);
        free(keys->slot);
        free(keys);
    }
}

static size_t slot_of(const struct sionlib_keys *k, uint64_t key) {
    uint64_t hash = key * 0x9E3779B97F4A7C15u;
    size_t s = (size_t)(hash >> 32) & (k->slots - 1);
    while (k->slot[s] != SIONLIB_NONE && k->key[k->slot[s]].key != key) {
        s = (s + 1) & (k->slots - 1);
    }
    return s;
}

struct sionlib_key *sionlib_key_find(const struct sionlib_keys *k, uint64_t key) {
    size_t i = k->slots == 0 ? SIONLIB_NONE : k->slot[slot_of(k, key)];
    return i == SIONLIB_NONE ? NULL : &k->key[i];
}

static bool no_memory(void) {
    sionlib_report("sion: expected memory for a list of records, got none");
    return false;
}

/* Doubles the capacity for keys. The hash table has twice as many slots. */
static bool grow_keys(struct sionlib_keys *k) {
    size_t capacity = k->key_capacity == 0 ? 32 : 2 * k->key_capacity;
    struct sionlib_key *key = realloc(k->key, capacity * sizeof *key);
    if (key != NULL) {
        k->key = key;
    }
    size_t *slot = realloc(k->slot, 2 * capacity * sizeof *slot);
    if (slot != NULL) {
        k->slot = slot;
    }
    if (key == NULL || slot == NULL) {
        return no_memory();
    }
    k->key_capacity = capacity;
    k->slots = 2 * capacity;
    for (size_t s = 0; s < k->slots; s++) {
        k->slot[s] = SIONLIB_NONE;
    }
    for (size_t i = 0; i < k->keys; i++) {
        k->slot[slot_of(k, k->key[i].key)] = i;
    }
    return true;
}

bool sionlib_record_add(struct sionlib_keys *k, const hpcw_sion_record *found) {
    if (k->records == k->record_capacity) {
        size_t capacity = k->record_capacity == 0 ? 32 : 2 * k->record_capacity;
        struct sionlib_record *record = realloc(k->record, capacity * sizeof *record);
        if (record == NULL) {
            return no_memory();
        }
        k->record = record;
        k->record_capacity = capacity;
    }
    if (k->keys == k->key_capacity && !grow_keys(k)) {
        return false;
    }
    size_t r = k->records;
    size_t s = slot_of(k, found->key);
    bool first = k->slot[s] == SIONLIB_NONE;
    if (first) {
        k->slot[s] = k->keys;
        k->key[k->keys++] = (struct sionlib_key){.key = found->key, .first = r, .current = SIONLIB_NONE};
    }
    struct sionlib_key *key = &k->key[k->slot[s]];
    k->record[r] = (struct sionlib_record){
        .size = found->size, .offset = found->offset, .key = k->slot[s], .next = SIONLIB_NONE};
    if (!first) {
        k->record[r].before = k->record[key->last].before + k->record[key->last].size;
        k->record[key->last].next = r;
    }
    if (key->current == SIONLIB_NONE) {
        key->current = r;
        key->at = 0;
    }
    key->last = r;
    key->records++;
    k->records++;
    return true;
}
