/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A set of the keys of all records so far, with a mark for each key. A key has 72 bits. The set takes at most 24
 * bytes per key and 48 KiB.
 *
 * The set is a hash table of 256 parts with 9 bytes a slot. A part doubles its size when three quarters of its
 * slots are in use. So it is never less than 3/8 full, and doubling needs the memory of one part only. With
 * base/table in each part, records of a first phase would take 15 to 25 % longer.
 */
#ifndef HPCW_FORMAT_VOM_SEEN_H
#define HPCW_FORMAT_VOM_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#define HPCW_I_SEEN_PARTS 256

struct hpcw_i_seen_key {
    uint64_t word; /* stored and compared in full */
    uint8_t part;
};

/* A zeroed struct is an empty set. */
struct hpcw_i_seen {
    struct hpcw_i_seen_part {
        uint64_t *word;      /* [slots] */
        unsigned char *mark; /* [slots]; 0: the slot is free */
        uint32_t slots;      /* number of slots; 0 or a power of two */
        uint32_t used;
    } part[HPCW_I_SEEN_PARTS];
};

/* Returns the key of a number. It is exact: no two numbers share a key. */
struct hpcw_i_seen_key hpcw_i_seen_number(uint64_t number);

/* Returns a key that is a hash of three numbers. */
struct hpcw_i_seen_key hpcw_i_seen_hash(uint64_t a, uint64_t b, uint64_t c);

/* Returns the mark of a key; 0 if the set does not have it. */
unsigned char hpcw_i_seen_get(const struct hpcw_i_seen *set, struct hpcw_i_seen_key key);

/* Reserves memory so that the next put of this key succeeds. Returns false if memory runs out. */
bool hpcw_i_seen_reserve(struct hpcw_i_seen *set, struct hpcw_i_seen_key key);

/* Sets the mark of a key, which must not be 0. Call hpcw_i_seen_reserve for the key before. */
void hpcw_i_seen_put(struct hpcw_i_seen *set, struct hpcw_i_seen_key key, unsigned char mark);

/* Returns the lowest word with this mark; 0 if there is none. */
uint64_t hpcw_i_seen_lowest(const struct hpcw_i_seen *set, unsigned char mark);

/* Removes all keys, and keeps the memory. */
void hpcw_i_seen_clear(struct hpcw_i_seen *set);

void hpcw_i_seen_free(struct hpcw_i_seen *set);

#endif
